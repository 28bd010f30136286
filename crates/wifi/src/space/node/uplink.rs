//! An access point that triggers stations: its Trigger frames, what it receives in answer, and its
//! Multi-STA BlockAcks.

mod random;

use super::group::{Closed, NodeGroups};
use super::own::{Exchange, Own};
use super::{Node, has};
use crate::mac::mu::{
    Responders, TriggerCounters, TriggeredExchange, TriggeredUser, Triggering, Turn, UplinkShape,
};
use crate::mac::{Bitmap, ElicitedResponse, Txop};
use crate::phy::{Mode, Width};
use crate::space::frame::{OnAir, Users};
use crate::space::rules::{Peer, SpaceRules, place_of};
use crate::watch::TriggeredRecord;
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant, Seed};
use wire::FrameKind;

/// What an access point has that triggers stations.
#[derive(Debug)]
pub(in crate::space) struct NodeTriggers {
    pub(in crate::space) triggering: Triggering,
    /// In the order of the access point's peers.
    pub(in crate::space) stations: Vec<TriggeredStation>,
    /// The exchange on the air.
    pub(in crate::space) current: Option<TriggeredExchange>,
}

/// A station that the access point may trigger.
#[derive(Clone, Copy, Debug)]
pub(in crate::space) struct TriggeredStation {
    /// The mode in which it sends.
    pub(in crate::space) mode: Mode,
    /// It is associated with the access point.
    is_member: bool,
    /// It is awake at the end of the Trigger frame. True if none sends in RA-RUs.
    is_awake: bool,
}

/// The access in which an access point may trigger stations.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Its TXOP, if that is limited.
    pub(super) txop: Option<Txop>,
    /// It begins with this PPDU.
    pub(super) is_first: bool,
}

/// The stations of the access point.
struct FromPeers<'a> {
    access_point: u32,
    width: Width,
    peers: &'a [Peer],
    stations: &'a [TriggeredStation],
    /// Knows which stations are awake.
    source: &'a dyn MsduSource,
}

impl FromPeers<'_> {
    fn at(&self, station: u32) -> usize {
        place_of(self.peers, station).expect("a station of the access point")
    }
}

impl TriggeredStation {
    fn can_answer(&self, peer: &Peer) -> bool {
        self.is_member && peer.rate.mode.has_units()
    }
}

impl Responders for FromPeers<'_> {
    fn width(&self) -> Width {
        self.width
    }

    fn can_answer(&self, station: u32) -> bool {
        let at = self.at(station);
        self.stations[at].can_answer(&self.peers[at])
    }

    fn mode(&self, station: u32) -> Mode {
        self.stations[self.at(station)].mode
    }

    fn is_awake(&self, station: u32) -> bool {
        self.source.is_awake(self.access_point, station)
    }
}

impl NodeTriggers {
    /// `None` if the access point triggers nobody.
    pub(super) fn of(
        rules: &SpaceRules,
        access_point: u32,
        peers: &[Peer],
        seed: &Seed,
    ) -> Option<Box<Self>> {
        let numbers = peers.iter().map(|peer| peer.node).collect();
        let stations = peers.iter().map(|peer| TriggeredStation {
            mode: peer.rate.mode,
            is_member: !peer.is_closed,
            is_awake: true,
        });
        Some(Box::new(Self {
            triggering: Triggering::of(&rules.mac, access_point, numbers, seed)?,
            stations: stations.collect(),
            current: None,
        }))
    }
}

impl Node {
    /// A station has begun to belong to the access point, or no longer does.
    pub(in crate::space) fn change_member(&mut self, station: u32, is_member: bool) {
        let Some(place) = place_of(&self.peers, station) else { return };
        if let Some(triggers) = self.triggers_mut() {
            triggers.stations[place].is_member = is_member;
            triggers.triggering.forget(station);
        }
    }

    /// Whether it is an access point that triggers stations.
    pub(in crate::space) fn triggers(&self) -> bool {
        self.own_triggers().is_some()
    }

    /// Whether the node sends an answer next, and begins nothing of its own.
    pub(in crate::space) fn answers_others(&self) -> bool {
        self.answer.is_some()
    }

    pub(in crate::space) fn own_triggers(&self) -> Option<&NodeTriggers> {
        self.groups.as_ref()?.triggers.as_deref()
    }

    pub(in crate::space) fn triggers_mut(&mut self) -> Option<&mut NodeTriggers> {
        self.groups.as_mut()?.triggers.as_deref_mut()
    }

    /// The exchange that a Trigger frame of this access point has begun, and its shape.
    pub(in crate::space) fn triggered(&self) -> Option<(&TriggeredExchange, &UplinkShape)> {
        let triggers = self.own_triggers()?;
        let triggered = triggers.current.as_ref()?;
        Some((triggered, triggers.triggering.shape(triggered)))
    }

    /// The same for a record.
    pub(in crate::space) fn triggered_record(&self) -> Option<TriggeredRecord<'_>> {
        let (triggered, shape) = self.triggered()?;
        let settings = &self.own_triggers()?.triggering.settings;
        Some(TriggeredRecord { settings, triggered, shape })
    }

    /// The station that answers in a resource unit.
    pub(in crate::space) fn triggered_user(&self, frame: &OnAir) -> Option<&TriggeredUser> {
        let Users::Unit(unit) = frame.users else { return None };
        let (triggered, _) = self.triggered()?;
        let mut users = triggered.users.iter();
        users.find(|user| (user.unit, user.station) == (usize::from(unit), frame.from))
    }

    /// What a station answers to the Trigger frame of this access point.
    fn answer_from(&self, station: u32) -> Option<&TriggeredUser> {
        let (triggered, _) = self.triggered()?;
        triggered.users.iter().find(|user| user.station == station)
    }

    /// A station receives the Multi-STA BlockAck of this access point. Returns the access category
    /// of what it acknowledges to it, if anything.
    pub(in crate::space) fn tell(&mut self, station: u32) -> Option<u8> {
        let triggered = self.triggers_mut()?.current.as_mut()?;
        let mut users = triggered.users.iter_mut();
        let user = users.find(|user| user.station == station && user.is_acknowledged())?;
        user.hears_ack = true;
        Some(user.category)
    }

    /// What Trigger frames of this access point have done to one of its stations.
    pub(in crate::space) fn trigger_counters(&self, station: u32) -> Option<&TriggerCounters> {
        let triggers = self.own_triggers().filter(|_| self.peer(station).is_some())?;
        Some(triggers.triggering.counters_of(station))
    }

    /// A packet waits in its network: if none has before, the time begins after which the access
    /// point asks for the medium.
    pub(in crate::space) fn hear_of_packet(&mut self, now: Instant, out: &mut Vec<Command>) {
        if let Some(triggers) = self.triggers_mut()
            && !triggers.triggering.asking.has_begun()
        {
            triggers.triggering.asking.restart(now, out);
        }
    }

    /// The access point asks for the medium, if it is time and there is somebody to trigger, or
    /// withdraws what it has asked for, if it may. Returns whether it does either.
    pub(in crate::space) fn revise_asking(
        &mut self,
        now: Instant,
        may_withdraw: bool,
        rules: &SpaceRules,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Self { id, groups, peers, contenders, own, .. } = self;
        let Some(groups) = groups else { return false };
        let NodeGroups { triggers: Some(triggers), width, .. } = &mut **groups else {
            return false;
        };
        triggers.triggering.asking.take_step(now, out);
        let stations = &triggers.stations;
        let stations = FromPeers { access_point: *id, width: *width, peers, stations, source };
        let asking = &triggers.triggering.asking;
        let index = asking.category as usize;
        let (has_asked, is_due) = (asking.has(asking.category), asking.is_due(now));
        let is_in_use = own.edcaf() == Some(index) || own.goes_on(index);
        if !(has_asked || is_due) || is_in_use || !contenders[index].edcaf.is_idle() {
            return false;
        }
        let may_ask = triggers.triggering.may_ask_any(now, &stations);
        if has_asked {
            let withdraws = may_withdraw && !may_ask;
            if withdraws {
                triggers.triggering.asking.take(asking.category);
                self.asks &= !(1 << index);
            }
            return withdraws;
        }
        if !may_ask {
            return false;
        }
        triggers.triggering.asking.note(index as u32);
        self.ask(now, index, rules);
        true
    }

    /// An EDCAF contends to trigger, and has nothing to send. It backs off if the medium is busy,
    /// as with a packet (clause 10.23.2.2).
    fn ask(&mut self, now: Instant, index: usize, rules: &SpaceRules) {
        self.asks |= 1 << index;
        self.activate(index);
        let contender = &mut self.contenders[index];
        if contender.slots.wants_backoff(now, &self.carrier) {
            contender.back_off(&rules.mac);
        }
        self.listen(now);
    }

    /// When a back-off of an EDCAF ends that contends to trigger only.
    #[cold]
    #[inline(never)]
    pub(super) fn end_of_asking(&self) -> Instant {
        let asks = (0..self.contenders.len()).filter(|&index| has(self.asks, index));
        let ends = asks.filter_map(|index| self.contenders[index].slots.expiry());
        ends.min().unwrap_or(Instant::NEVER)
    }

    /// Begins an exchange with a Trigger frame, in a TXOP if it is limited, if it is its turn.
    pub(super) fn begin_triggered(
        &mut self,
        now: Instant,
        index: usize,
        Access { txop, is_first }: Access,
        rules: &SpaceRules,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let Self { id, groups, peers, contenders, .. } = self;
        let NodeGroups { triggers, width, downlink, .. } = &mut **groups.as_mut()?;
        let triggers = triggers.as_mut()?;
        if is_first {
            triggers.triggering.asking.restart(now, out);
        }
        let within = txop.map_or(Duration(u64::MAX), |txop| txop.left(now));
        let NodeTriggers { triggering, stations, .. } = &mut **triggers;
        let planned = triggering.assemble(&Turn {
            now,
            category: index as u32,
            edcaf: &contenders[index].edcaf,
            within,
            is_first,
            rules: &rules.mac,
            stations: &FromPeers { access_point: *id, width: *width, peers, stations, source },
            protected: &downlink.protected,
        });
        self.asks &= !(1 << index);
        Some(self.open_triggered(now, index, planned?, txop, rules))
    }

    /// Begins a triggered exchange and returns its first frame.
    fn open_triggered(
        &mut self,
        now: Instant,
        index: usize,
        triggered: TriggeredExchange,
        txop: Option<Txop>,
        rules: &SpaceRules,
    ) -> OnAir {
        let txop = txop.filter(|txop| !txop.is_for_answers());
        self.own = Own::Sending(Exchange { edcaf: index, opened: now, txop });
        self.counters.exchanges.begin();
        let groups = self.groups.as_mut().expect("it triggers");
        groups.has_arrived = false;
        let triggers = groups.triggers.as_mut().expect("it triggers");
        let around = triggers.triggering.shape(&triggered).around(&rules.mac, triggered.kind);
        let (opening, lasts) = (triggered.opening, around + triggered.announced);
        triggers.current = Some(triggered);
        match opening {
            Some(rts) => self.open_by(index, &rts, lasts, rules),
            None => self.trigger(now, index, rules).expect("it triggers"),
        }
    }

    /// The Trigger frame of the exchange, which begins at this instant.
    pub(super) fn trigger(
        &mut self,
        begins: Instant,
        index: usize,
        rules: &SpaceRules,
    ) -> Option<OnAir> {
        let id = self.id;
        let NodeTriggers { triggering, current, .. } = self.triggers_mut()?;
        let triggered = current.as_mut()?;
        triggering.note_sent(begins, triggered);
        let shape = triggering.shape(triggered);
        let mode = shape.mode;
        triggered.lay_out(&rules.mac, shape, begins, id);
        let psdu = triggered.trigger_bytes;
        let around = shape.around(&rules.mac, triggered.kind);
        let after = around + triggered.announced - triggered.trigger.airtime.total();
        self.contenders[index].edcaf.prepare_trigger(&rules.mac, mode, psdu);
        Some(OnAir {
            kind: FrameKind::Trigger,
            from: self.id,
            to: None,
            edcaf: index as u8,
            mode,
            psdu,
            reserves: rules.timing().reservation(after),
            answer: ElicitedResponse::BlockAck,
            beside: None,
            users: Users::Several,
        })
    }

    /// What a station that a Trigger frame asks sends in its resource unit, if its NAV permits
    /// (clause 26.5.2.5). What is in it is decided when it begins.
    pub(super) fn answer_to_trigger(&self, frame: &OnAir, station: u32) -> Option<OnAir> {
        let (triggered, _) = self.triggered().filter(|_| frame.kind == FrameKind::Trigger)?;
        let user = self.answer_from(station)?;
        Some(OnAir {
            kind: FrameKind::QosNull,
            from: station,
            to: Some(self.id),
            edcaf: triggered.category,
            mode: user.mode.with_mcs(user.mcs),
            psdu: Bytes::ZERO,
            reserves: frame.reserves,
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::Unit(user.unit as u8),
        })
    }

    /// The access point has decoded what a station sends in answer to a Trigger frame, but for
    /// MPDUs that are `lost`.
    pub(in crate::space) fn hear_answer(
        &mut self,
        now: Instant,
        frame: &OnAir,
        lost: &Bitmap,
        told: &[Option<Bytes>],
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let is_awaited = self.own.awaited().is_some();
        let Some(groups) = self.groups.as_mut().filter(|_| is_awaited) else { return };
        let Some(triggers) = &mut groups.triggers else { return };
        let Some(triggered) = &mut triggers.current else { return self.miss(now, rules, out) };
        let mut users = triggered.users.iter_mut();
        let Some(user) = users.find(|user| user.station == frame.from) else { return };
        user.arrives = true;
        if frame.kind == FrameKind::Data {
            user.lost = *lost;
        }
        let own = usize::from(user.category);
        for (category, &told) in told.iter().enumerate() {
            if frame.kind == FrameKind::QosNull || category == own {
                triggers.triggering.hear(now, frame.from, category as u32, told);
            }
        }
    }

    /// The access point has received a frame of a station alone, which tells the size of a queue.
    pub(in crate::space) fn hear_queue(
        &mut self,
        now: Instant,
        frame: &OnAir,
        told: &[Option<Bytes>],
    ) {
        if let Some(triggers) = self.triggers_mut() {
            let told = told.get(usize::from(frame.edcaf)).copied().flatten();
            triggers.triggering.hear(now, frame.from, u32::from(frame.edcaf), told);
        }
    }

    /// The answers have ended: the Multi-STA BlockAck is next, if they have data that has arrived.
    pub(super) fn acknowledge_all(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some((triggered, shape)) = self.triggered() else { return };
        let told = triggered.users.iter().filter(|user| user.is_acknowledged());
        if told.clone().next().is_none() {
            return self.end_triggered(now, true, rules, out);
        }
        let (psdu, _) = shape.ack(&rules.mac, told.map(|user| user.bits(rules.mac.window())));
        let frame = OnAir {
            kind: FrameKind::BlockAck,
            from: self.id,
            to: None,
            edcaf: triggered.category,
            mode: shape.ack_mode,
            psdu,
            reserves: Duration::ZERO,
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::Several,
        };
        self.reply(now, frame, rules);
    }

    /// The triggered exchange is over. `is_complete`: its last frame was the last that is expected.
    pub(super) fn end_triggered(
        &mut self,
        now: Instant,
        is_complete: bool,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some(groups) = &mut self.groups else { return };
        let is_opening = groups.end_opening();
        let NodeGroups { triggers: Some(triggers), downlink, .. } = &mut **groups else { return };
        let Some(triggered) = triggers.current.take() else { return };
        // A Trigger frame has been sent, unless nobody has answered an MU-RTS before.
        if !is_opening {
            triggers.triggering.settle_random(&triggered);
            triggers.triggering.count_units(&triggered, &mut downlink.counters.random);
        }
        let Some(Closed { index, used, goes_on }) = self.close(now, is_complete, rules) else {
            return;
        };
        let is_answered = triggered.is_answered();
        let sifs = rules.timing().sifs();
        let goes_on = goes_on || is_answered && self.may_follow(now, &triggered, index, sifs);
        if let Some(groups) = self.groups.as_mut().filter(|_| goes_on) {
            groups.downlink.protected.add(triggered.protects());
        }
        triggered.report(self.id, used, out);
        let is_failure = !is_answered && !triggered.asks_nobody();
        self.note_failure(is_failure);
        self.contenders[index].edcaf.end_group(&rules.mac, !is_failure);
        if let Some(triggers) = self.triggers_mut() {
            triggers.triggering.asking.take(index as u32);
        }
        if !goes_on {
            self.activate(index).back_off(&rules.mac);
        }
    }

    /// A Basic Trigger frame follows the reports in a TXOP without a limit. Returns whether it
    /// does.
    fn may_follow(
        &mut self,
        now: Instant,
        triggered: &TriggeredExchange,
        index: usize,
        sifs: Duration,
    ) -> bool {
        let edcaf = &self.contenders[index].edcaf;
        let follows = self.own_triggers().is_some_and(|triggers| {
            let is_able = |at: usize| triggers.stations[at].can_answer(&self.peers[at]);
            let can_answer = |station| place_of(&self.peers, station).is_some_and(is_able);
            triggers.triggering.may_follow(now, triggered, edcaf, can_answer)
        });
        if follows {
            self.own = Own::Holding(Txop::for_answers(index as u32, now + sifs));
        }
        follows
    }
}
