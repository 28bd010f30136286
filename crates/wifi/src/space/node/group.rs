//! An access point that sends to several stations at once: its HE MU PPDUs, and the BlockAcks that
//! answer them, one after the other or in HE TB PPDUs.

mod begin;
mod chain;
mod ending;

pub(super) use ending::Closed;

use super::own::Awaited;
use super::respond::Responder;
use super::uplink::NodeTriggers;
use super::{Node, peer_mut, place_of};
use crate::Command;
use crate::mac::mu::{Downlink, MuCounters, MuExchange, Shape, Stations, UserCounters};
use crate::mac::{
    Acknowledgement, Bitmap, Edcaf, ElicitedResponse, ExchangeOutcome, Opening, Originator,
    PeerRate, Settled, block_ack,
};
use crate::phy::he::RuSize;
use crate::phy::{Airtime, Width};
use crate::space::frame::{OnAir, Reach, Users};
use crate::space::power::Levels;
use crate::space::rules::{Peer, SpaceRules};
use kernel::{BitRate, Db, Duration, Instant, Seed};
use wire::FrameKind;

/// What an access point has that sends to several stations at once.
#[derive(Debug)]
pub(in crate::space) struct NodeGroups {
    pub(in crate::space) downlink: Downlink,
    /// Of PPDUs to several users.
    pub(super) width: Width,
    /// The exchange on the air.
    current: Option<Box<MuExchange>>,
    /// The place of the user whose BlockAck is awaited in a chain.
    nth: usize,
    /// By user, what its BlockAck acknowledges.
    acked: Vec<Option<Bitmap>>,
    /// When the TXOP ends.
    until: Instant,
    /// The next BlockAckReq goes out only if the medium is idle.
    recovers: bool,
    /// Some user has received data, or a Trigger frame.
    pub(super) has_arrived: bool,
    /// An MU-RTS is on the air, or the CTSs that answer it.
    pub(super) is_opening: bool,
    /// What it has that triggers stations.
    pub(super) triggers: Option<Box<NodeTriggers>>,
}

/// The stations of the access point.
struct OfNode<'a> {
    width: Width,
    peers: &'a mut [Peer],
    levels: &'a Levels,
}

impl Stations for OfNode<'_> {
    fn width(&self) -> Width {
        self.width
    }

    fn has_units(&self, station: u32) -> bool {
        place_of(self.peers, station).is_some_and(|at| self.peers[at].rate.mode.has_units())
    }

    fn bit_rate(&self, station: u32) -> BitRate {
        let place = place_of(self.peers, station).expect("a station of the access point");
        self.peers[place].rate.mode.rate
    }

    fn rate(&mut self, station: u32) -> &mut PeerRate {
        &mut peer_mut(self.peers, station).expect("a station of the access point").rate
    }

    fn snr(&self, station: u32) -> Option<Db> {
        let Peer { rate, power, .. } = &self.peers[place_of(self.peers, station)?];
        Some(self.levels.snr(*power, &rate.mode))
    }
}

impl NodeGroups {
    /// A station has left: what an EDCAF has in service for it is flushed, when an exchange of the
    /// EDCAF with it ends, or at once. `is_in_use`: the EDCAF has an exchange on the air.
    pub(super) fn flush(
        &mut self,
        index: usize,
        edcaf: &mut Edcaf,
        station: u32,
        is_in_use: bool,
        rules: &SpaceRules,
        settled: &mut Vec<Settled>,
    ) {
        let has_triggered = self.triggers.as_ref().is_some_and(|own| own.current.is_some());
        let is_with_it = match &self.current {
            Some(group) => group.users.iter().any(|user| user.station == station),
            None => !has_triggered && edcaf.to() == Some(station),
        };
        let is_on_air = is_in_use && is_with_it;
        self.downlink.flush(index as u32, edcaf, station, is_on_air, &rules.mac, settled);
    }
}

impl Node {
    /// An access point sends to several stations at once, and triggers those that belong to an
    /// access point, if the rules say so.
    pub(in crate::space) fn form_groups(
        &mut self,
        rules: &SpaceRules,
        is_access_point: bool,
        access_point: Option<u32>,
        seed: &Seed,
    ) {
        if !is_access_point {
            self.responder = access_point.and_then(|own| Responder::of(rules, own));
            return;
        }
        let triggers = NodeTriggers::of(rules, self.id, &self.peers, seed);
        let stations: Vec<u32> = self.peers.iter().map(|peer| peer.node).collect();
        let mut modes = self.peers.iter().map(|peer| &peer.rate.mode);
        let width = modes.find(|mode| mode.has_units()).map(|mode| mode.width);
        let edcafs = self.contenders.iter_mut().map(|contender| &mut contender.edcaf);
        let downlink = Downlink::of(&rules.mac, stations, edcafs);
        self.groups = downlink.map(|downlink| {
            Box::new(NodeGroups {
                downlink,
                width: width.unwrap_or_default(),
                current: None,
                nth: 0,
                acked: Vec::new(),
                until: Instant::NEVER,
                recovers: false,
                has_arrived: false,
                is_opening: false,
                triggers,
            })
        });
    }

    /// Counters of PPDUs to several users, and those of a station; `None` without OFDMA.
    pub(in crate::space) fn mu_counters(&self) -> Option<&MuCounters> {
        self.groups.as_ref().map(|groups| &groups.downlink.counters)
    }

    pub(in crate::space) fn user_counters(&self, station: u32) -> Option<&UserCounters> {
        self.groups.as_ref()?.downlink.user_counters(station)
    }

    /// The originators that wait while another is served.
    pub(in crate::space) fn waiting_originators(&self) -> impl Iterator<Item = &Originator> {
        self.groups.iter().flat_map(|groups| groups.downlink.waiting())
    }

    /// The originator of an EDCAF for another node.
    pub(in crate::space) fn originator_to(&self, index: u8, to: u32) -> &Originator {
        let edcaf = self.edcaf(usize::from(index));
        match &self.groups {
            Some(groups) => groups.downlink.originator(u32::from(index), edcaf, to),
            None => &edcaf.originator,
        }
    }

    pub(in crate::space) fn originator_to_mut(&mut self, index: u8, to: u32) -> &mut Originator {
        let edcaf = &mut self.contenders[usize::from(index)].edcaf;
        match &mut self.groups {
            Some(groups) => groups.downlink.originator_mut(u32::from(index), edcaf, to),
            None => &mut edcaf.originator,
        }
    }

    /// The EDCAF serves this receiver from now on; `None` is all.
    pub(super) fn turn_to(&mut self, index: usize, to: Option<u32>) {
        let Some(groups) = &mut self.groups else { return };
        groups.downlink.turn_to(index as u32, &mut self.contenders[index].edcaf, to);
    }

    /// Services have ended, and perhaps not those of others.
    pub(super) fn bring_forward(&mut self) {
        let Some(groups) = &mut self.groups else { return };
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            groups.downlink.bring_forward(index as u32, &mut contender.edcaf);
        }
    }

    /// The access point sends to one station alone: its data, or an RTS first.
    pub(super) fn open_alone(&mut self, now: Instant, index: usize, rules: &SpaceRules) {
        if let Some(triggers) = self.triggers_mut() {
            triggers.triggering.note_down();
        }
        if self.edcaf(index).opening != Opening::Rts {
            self.note_single(now, index, rules);
        }
    }

    /// Data to one station begin.
    pub(super) fn note_single(&mut self, now: Instant, index: usize, rules: &SpaceRules) {
        let Some(groups) = &mut self.groups else { return };
        let edcaf = &self.contenders[index].edcaf;
        let exchange = edcaf.exchange(&rules.mac, now, ExchangeOutcome::Success);
        groups.downlink.on_sent_alone(index as u32, &exchange, edcaf.to());
    }

    /// The exchange with several users on the air, and what such PPDUs have in common.
    pub(in crate::space) fn group(&self) -> Option<(&MuExchange, &Shape)> {
        let groups = self.groups.as_ref()?;
        let group = groups.current.as_deref()?;
        Some((group, groups.downlink.shape(group)))
    }

    pub(super) fn is_in_group(&self) -> bool {
        self.group().is_some() || self.triggered().is_some()
    }

    /// How long a PPDU in resource units lasts that the node sends, or that answers it in the
    /// resource unit of a user. To others, an answer lasts as long as its LENGTH announces.
    pub(in crate::space) fn airtime_in_units(&self, users: Users) -> Option<Airtime> {
        if !users.is_unit() {
            let (group, _) = self.group()?;
            return Some(group.airtime());
        }
        let (airtime, announced) = self.answers()?;
        let rounding = announced.saturating_sub(airtime.total());
        Some(Airtime { extension: airtime.extension + rounding, ..airtime })
    }

    /// How long the HE TB PPDUs last that answer the node, and what their LENGTH announces.
    pub(in crate::space) fn answers(&self) -> Option<(Airtime, Duration)> {
        if let Some((triggered, _)) = self.triggered() {
            return Some((triggered.airtime(), triggered.announced));
        }
        let (_, shape) = self.group()?;
        Some((shape.triggered.block_acks, shape.triggered.announced))
    }

    /// The size of the resource unit of the station that sends this frame.
    pub(in crate::space) fn unit_size(&self, frame: &OnAir) -> Option<RuSize> {
        if let Some(user) = self.triggered_user(frame) {
            return Some(user.ru.size);
        }
        let Users::Unit(nth) = frame.users else { return None };
        let (group, _) = self.group()?;
        Some(group.users.get(usize::from(nth))?.ru.size)
    }

    /// The node has sent a frame to the users of its exchange, or to one of them.
    pub(super) fn sent_to_users(
        &mut self,
        now: Instant,
        frame: &OnAir,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        if frame.answers_trigger() {
            return self.await_acknowledgement(now, rules, frame);
        }
        if frame.is_mu_rts() {
            return self.await_ctss(now, frame, rules);
        }
        if let Some((_, shape)) = self.triggered() {
            let timeout = shape.timeout;
            return match frame.kind {
                FrameKind::Trigger => self.await_units(now, timeout, rules),
                _ => self.end_triggered(now, true, rules, out),
            };
        }
        if frame.is_control_response() {
            return;
        }
        let Some((group, shape)) = self.group() else { return };
        let timeout = shape.triggered.timeout;
        match (frame.kind, group.acknowledgement) {
            (FrameKind::Data, Acknowledgement::MuBar) => {
                let trigger = self.mu_bar(frame, rules);
                self.reply(now, trigger, rules);
            }
            (FrameKind::Data | FrameKind::BlockAckRequest, Acknowledgement::BarChain) => {
                self.await_user(now, frame, rules);
            }
            _ => self.await_units(now, timeout, rules),
        }
    }

    /// The MU-BAR after an HE MU PPDU.
    fn mu_bar(&self, data: &OnAir, rules: &SpaceRules) -> OnAir {
        let (_, shape) = self.group().expect("it has been sent");
        let triggered = &shape.triggered;
        let timing = rules.timing();
        let lasting = timing.sifs() + triggered.announced;
        let (mode, psdu) = (triggered.mode, triggered.bytes);
        OnAir {
            kind: FrameKind::Trigger,
            mode,
            psdu,
            reserves: timing.reservation(lasting),
            ..*data
        }
    }

    /// The node waits for HE TB PPDUs.
    fn await_units(&mut self, now: Instant, timeout: Duration, rules: &SpaceRules) {
        let sifs = rules.timing().sifs();
        self.await_response(Awaited::after(now, FrameKind::BlockAck, sifs, timeout));
    }

    /// What a user of this node's exchange answers to a frame of it; `lost` are the MPDUs of an
    /// A-MPDU that it has not decoded, after which the MU-BAR in it counts.
    pub(in crate::space) fn answer_of(
        &self,
        frame: &OnAir,
        station: u32,
        lost: &Bitmap,
        rules: &SpaceRules,
    ) -> Option<OnAir> {
        if frame.is_mu_rts() {
            return self.cts_of(frame, station, rules);
        }
        if self.triggered().is_some() {
            return self.answer_to_trigger(frame, station);
        }
        let (group, shape) = self.group()?;
        let nth = group.users.iter().position(|user| user.station == station)?;
        let user = &group.users[nth];
        let psdu = block_ack(rules.mac.window());
        match (frame.kind, group.acknowledgement) {
            (FrameKind::Data, Acknowledgement::BarChain) if nth == 0 => {
                let asked = OnAir { mode: user.mode, users: Users::Chained, ..*frame };
                return Some(asked.response(rules, station, FrameKind::BlockAck, psdu));
            }
            (FrameKind::Data, Acknowledgement::AggregatedMuBar) if !lost.has(user.mpdus()) => {}
            (FrameKind::Trigger, _) => {}
            _ => return None,
        }
        Some(OnAir {
            kind: FrameKind::BlockAck,
            from: station,
            to: Some(self.id),
            edcaf: frame.edcaf,
            mode: user.mode.with_mcs(shape.triggered.mcs[nth]),
            psdu,
            reserves: Duration::ZERO,
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::Unit(nth as u8),
        })
    }

    /// The place of the user whose answer this is, if the node waits for it.
    fn user_of(&self, frame: &OnAir) -> Option<usize> {
        let groups = self.groups.as_ref()?;
        let users = &groups.current.as_ref()?.users;
        match frame.users {
            Users::Chained => (users.get(groups.nth)?.station == frame.from).then_some(groups.nth),
            Users::Unit(nth) => Some(usize::from(nth)),
            _ => None,
        }
    }

    /// The BlockAck of a user has arrived.
    pub(super) fn hear_user(
        &mut self,
        now: Instant,
        frame: &OnAir,
        bitmap: Option<&Bitmap>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let is_awaited = self.own.awaited().is_some_and(|it| it.kind == frame.kind);
        if is_awaited && frame.answers_mu_rts() {
            self.own.stop_waiting();
            return self.follow_mu_rts(now, rules);
        }
        let Some(nth) = self.user_of(frame).filter(|_| is_awaited) else {
            return self.miss(now, rules, out);
        };
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = &mut groups.current else { return };
        groups.acked[nth] = bitmap.copied();
        (group.users[nth].is_asked, group.users[nth].is_answered) = (true, true);
        groups.has_arrived = true;
        if frame.users == Users::Chained {
            self.own.stop_waiting();
            self.ask_next(now, rules, rules.timing().sifs(), out);
        }
    }

    /// The HE TB PPDUs have ended, and it is known which of them have arrived. If none has, the
    /// node defers as after any frame that it could not decode.
    pub(in crate::space) fn end_units(
        &mut self,
        now: Instant,
        deferral: crate::mac::Deferral,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let is_awaited = self.own.awaited().is_some_and(|it| it.kind == FrameKind::BlockAck);
        let of_trigger = self.triggered().map(|(triggered, _)| triggered.is_answered());
        let answered = of_trigger.or_else(|| Some(self.group()?.0.is_answered()));
        let Some(is_answered) = answered.filter(|_| is_awaited) else {
            return self.on_decoding_error(now, deferral, rules, out);
        };
        if is_answered {
            self.own.stop_waiting();
        } else {
            self.carrier.on_decoding_error(now, deferral);
        }
        match (of_trigger, is_answered) {
            (Some(_), true) => self.acknowledge_all(now, rules, out),
            (Some(_), false) => self.end_triggered(now, false, rules, out),
            (None, _) => self.end_group(now, is_answered, rules, out),
        }
    }

    /// A frame to users of the exchange, or between it and one of them, has ended, and is known to
    /// have reached so many. Returns whether the attempt counts as lost if these are none: that is
    /// told of an HE MU PPDU, and when the exchange ends.
    pub(in crate::space) fn decides(&mut self, frame: &OnAir, reach: &Reach) -> bool {
        let is_first = match frame.kind {
            FrameKind::Data => true,
            FrameKind::Trigger if frame.is_mu_rts() => true,
            // A Trigger frame may ask nobody in particular.
            FrameKind::Trigger => self.triggered().is_some_and(|(own, _)| !own.asks_nobody()),
            _ => false,
        };
        let is_data = frame.to.is_none() && is_first;
        if let Some(groups) = self.groups.as_mut().filter(|_| is_data) {
            groups.has_arrived |= reach.decoded > 0;
        }
        is_data
    }

    /// The users of the exchange to whom its frames of this type are: a Trigger frame is for those
    /// whom it asks, and a Multi-STA BlockAck for those who have sent something.
    pub(in crate::space) fn users(&self, kind: FrameKind) -> impl Iterator<Item = u32> {
        let group = self.groups.iter().filter_map(|groups| groups.current.as_ref());
        let group = group.flat_map(|group| group.users.iter().map(|user| user.station));
        let triggered = self.triggered().into_iter().flat_map(|(all, _)| &all.users);
        let triggered = triggered.filter(move |user| match kind {
            FrameKind::Trigger => !user.is_random,
            _ => user.sends(),
        });
        group.chain(triggered.map(|user| user.station))
    }
}
