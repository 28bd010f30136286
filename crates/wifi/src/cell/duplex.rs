//! The access point of a cell sends to one station while it receives from another.
//!
//! The secondary frame takes the place of the next transmission of an EDCAF of the access point.
//! Its packet is the one in service; if that is for the primary transmitter, it steps aside, and
//! the packet that is sent comes into service. The success or failure of the secondary frame has
//! the consequences of an attempt of the EDCAF: the contention window returns to its minimum or
//! doubles, the retry counters follow, and a new back-off is drawn. What stepped aside returns to
//! service when the other has left. At most one receiver's packets are aside: until they have
//! returned, the access point sends to one of these two receivers or nothing.
//!
//! Under EDCA the secondary frame is of the highest access category that has a packet for another
//! station; if the access point has sent an RTS of its own, of the category of that RTS. It is as
//! long as the TXOP limit of its category allows, and both TXOPs end with the exchange.
//!
//! The CTS announces the end of the longer frame and its response, and a data frame without RTS and
//! CTS the end of its own response. This NAV holds for all but the two transmitters, and no node
//! defers for an EIFS because it could not decode two frames at once. Both transmitters wait for
//! their response from the end of the longer frame on: they find the medium busy until then. Noise
//! spares MAC headers, as it spares RTS and CTS. The cell chooses the secondary frame when the
//! exchange begins: a packet that arrives during RTS and CTS, or during the MAC header, is too
//! late.
//!
//! Where stations are full duplex, too, the secondary frame may be for the primary transmitter. If
//! the access point wins alone, its frame is the primary one; the packet that the station has in
//! service is the secondary one, whatever its size, and the consequences are those of an attempt of
//! the station.

mod ending;

use super::{ACCESS_POINT, Cell, FrameOnAir, link_direction};
use crate::mac::{
    Bitmap, DuplexCounters, Exchange, ExchangeOutcome, FullDuplex, Opening, OwnFrame, PeerRate,
    RTS, RtsCts, Rules, Secondary, SecondaryChoice, SecondaryRate, SecondaryRequest, Step, ampdu,
    block_ack, header_decoded, single,
};
use crate::medium::NodeCounters;
use crate::phy::Mode;
use crate::{Command, Link, MsduSource};
use kernel::{Bytes, Duration, Instant, Seed};

/// The state of a full-duplex access point.
#[derive(Debug)]
pub(super) struct Duplex {
    settings: FullDuplex,
    /// The mode of secondary frames to each station, while another sends.
    modes: Vec<Mode>,
    choice: SecondaryChoice,
    /// The secondary frame on the air.
    pub(super) secondary: Option<Secondary>,
    /// The MPDUs of its PSDU that noise destroys, if there are several.
    lost: Bitmap,
    /// The receiver and the mode of the RTS that the access point sent together with the primary
    /// transmitter.
    pub(super) own_rts: Option<(u32, Mode)>,
    /// The secondary frame has not ended.
    is_pending: bool,
    pub(super) counters: DuplexCounters,
    /// The secondary frames of the access point, by ascending rate.
    rates: Vec<SecondaryRate>,
    /// Idle slots up to the last busy period.
    idle_slots: u64,
}

impl Duplex {
    /// `None` if the access point is half duplex.
    pub(super) fn of(rules: &Rules, links: &[Link], seed: &Seed) -> Option<Box<Self>> {
        let settings = rules.config.full_duplex?;
        let timing = rules.timing();
        let mode = |link: &Link| settings.mode(timing, &link.mode).expect("a rate of the standard");
        let unused = |rate| SecondaryRate { rate, frames: 0, airtime: Duration::ZERO };
        let rates = settings.rates(timing, links.iter().map(|link| &link.mode));
        Some(Box::new(Self {
            settings,
            modes: links.iter().map(mode).collect(),
            choice: SecondaryChoice::new(&settings, seed.stream("mac.full_duplex", 0)),
            secondary: None,
            lost: Bitmap::default(),
            own_rts: None,
            is_pending: false,
            counters: DuplexCounters::default(),
            rates: rates.into_iter().map(unused).collect(),
            idle_slots: 0,
        }))
    }

    /// A busy period begins, before which so many idle slots were counted in all.
    fn count_steps(&mut self, idle_slots: u64) {
        let counted = idle_slots - std::mem::replace(&mut self.idle_slots, idle_slots);
        self.counters.steps += counted.max(1);
    }

    /// A secondary frame begins, beside one of this node. A BlockAckReq does not count.
    fn count_secondary(&mut self, secondary: &Secondary, primary: u32) {
        if secondary.mpdus == 0 {
            return;
        }
        let counters = &mut self.counters;
        if secondary.sender == ACCESS_POINT {
            counters.secondary += 1;
            counters.secondary_rates += secondary.mode.rate.0;
            let rate = secondary.mode.rate;
            if let Ok(at) = self.rates.binary_search_by_key(&rate, |each| each.rate) {
                self.rates[at].frames += 1;
                self.rates[at].airtime += secondary.data.airtime.total();
            }
        } else {
            counters.station_secondary += 1;
        }
        counters.bidirectional += u64::from(secondary.receiver == primary);
    }
}

impl Cell {
    /// The secondary frame on the air.
    pub fn secondary(&self) -> Option<&Secondary> {
        self.duplex.as_ref()?.secondary.as_ref()
    }

    /// The MPDUs of the secondary frame on the air; none for a BlockAckReq.
    pub fn secondary_on_air(&self) -> impl Iterator<Item = FrameOnAir<'_>> {
        self.secondary().into_iter().flat_map(move |secondary| {
            let originator = &self.edcaf(self.edcaf_of(secondary)).originator;
            (0..secondary.mpdus).map(move |i| {
                let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
                let wasted = mpdu.received || self.is_secondary_lost(i);
                FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
            })
        })
    }

    /// The EDCAF that sends a secondary frame.
    pub(super) fn edcaf_of(&self, secondary: &Secondary) -> u32 {
        self.edcafs_of(secondary.sender).start + u32::from(secondary.category)
    }

    /// Counters of the full-duplex access point, if it is one.
    pub fn duplex_counters(&self) -> Option<&DuplexCounters> {
        self.duplex.as_ref().map(|duplex| &duplex.counters)
    }

    /// The secondary frames of the access point, by ascending rate; none if it is half duplex.
    pub fn secondary_rates(&self) -> &[SecondaryRate] {
        self.duplex.as_ref().map_or(&[], |duplex| &duplex.rates)
    }

    /// Begins the exchange of the winners if the access point receives the first frame of one
    /// station in it, or a full-duplex station that of the access point, and sends a secondary
    /// frame. Returns whether it has begun: in all other cases the rules of half duplex apply.
    pub(super) fn begin_duplex(
        &mut self,
        now: Instant,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(duplex) = self.duplex.as_mut() else { return false };
        duplex.own_rts = None;
        duplex.count_steps(self.contention.idle_slots());
        let is_own = |f: u32| self.edcafs[f as usize].node == ACCESS_POINT;
        match self.winners[..] {
            [f] if is_own(f) => {
                duplex.counters.alone += 1;
                self.join_as_station(now, f, source, out)
            }
            [f] => self.join(now, f, None, source, out),
            [own, f] if is_own(own) => self.join(now, f, Some(own), source, out),
            _ => false,
        }
    }

    /// The holder of a TXOP begins another exchange. Returns whether a secondary frame joins it.
    pub(super) fn continue_duplex(
        &mut self,
        now: Instant,
        holder: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(duplex) = self.duplex.as_mut() else { return false };
        duplex.own_rts = None;
        if self.node_of(holder) == ACCESS_POINT {
            return self.join_as_station(now, holder, source, out);
        }
        self.join(now, holder, None, source, out)
    }

    /// Whether a secondary frame may join the exchange that an EDCAF begins.
    fn may_be_joined(&self, f: u32) -> bool {
        let edcaf = self.edcaf(f);
        let is_bare = || edcaf.opening == Opening::None && edcaf.to().is_some();
        let optional =
            || self.duplex.as_ref().is_some_and(|d| d.settings.rts_cts == RtsCts::Optional);
        edcaf.with_rts() || edcaf.psdu.mpdus > 0 && is_bare() && optional()
    }

    /// The access point sends to one station while it receives from another. `own` is the EDCAF of
    /// the access point that has won the contention together with the station.
    fn join(
        &mut self,
        now: Instant,
        primary: u32,
        own: Option<u32>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        if !self.may_be_joined(primary) {
            return false;
        }
        if let Some(own) = own.filter(|&own| !self.edcaf(own).with_rts()) {
            return self.join_own_data(now, primary, own, out);
        }
        if own.is_some_and(|own| !self.is_rts_over(own, primary)) {
            return false;
        }
        let own_rts = own.and_then(|own| {
            let edcaf = self.edcaf(own);
            edcaf.to().map(|to| (to, edcaf.first_mode(self.rules.timing())))
        });
        let Some(duplex) = &mut self.duplex else { return false };
        duplex.own_rts = own_rts;
        duplex.counters.primary += 1;
        duplex.counters.joint += u64::from(own.is_some());
        let sender = if self.is_in_time(now, primary) {
            self.prepare_secondary(now, primary, own, source, out)
        } else {
            None
        };
        match (sender, own) {
            (Some(sender), None) => self.begin_both(now, primary, sender, OwnFrame::None, out),
            (Some(sender), Some(_)) => self.begin_both(now, primary, sender, OwnFrame::Rts, out),
            (None, None) => return false,
            (None, Some(own)) => {
                self.txop = self.edcaf(primary).txop(now, primary);
                self.begin_exchange(now, primary, out);
                // Its RTS received no CTS, and it sends nothing else.
                self.count_attempt(own);
                self.nodes[ACCESS_POINT as usize].counters.exchanges.collisions += 1;
                self.miss(now, own, false, out);
            }
        }
        true
    }

    /// A data frame of the access point begins together with one of a station: it is the secondary
    /// frame. If the station sends an RTS, the access point cannot answer it.
    fn join_own_data(
        &mut self,
        now: Instant,
        primary: u32,
        own: u32,
        out: &mut Vec<Command>,
    ) -> bool {
        let is_bare = self.edcaf(own).opening == Opening::None && self.edcaf(own).psdu.mpdus > 0;
        if !is_bare || self.edcaf(own).to().is_none() || self.edcaf(primary).with_rts() {
            return false;
        }
        let Some(duplex) = &mut self.duplex else { return false };
        duplex.counters.primary += 1;
        duplex.counters.joint += 1;
        self.begin_both(now, primary, own, OwnFrame::Data, out);
        true
    }

    /// A full-duplex station that receives a frame of the access point sends the packet that it has
    /// in service. Returns whether there is one.
    fn join_as_station(
        &mut self,
        now: Instant,
        primary: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let bidirectional = self.duplex.as_ref().is_some_and(|d| d.settings.bidirectional);
        if !bidirectional || !self.may_be_joined(primary) || !self.is_in_time(now, primary) {
            return false;
        }
        let Some(station) = self.edcaf(primary).to() else { return false };
        let is_ready = |&f: &u32| {
            let edcaf = self.edcaf(f);
            !edcaf.is_idle() && edcaf.to() == Some(ACCESS_POINT)
        };
        let Some(sender) = self.edcafs_of(station).rev().find(is_ready) else { return false };
        self.assemble(now, sender, ACCESS_POINT, source, out);
        self.begin_both(now, primary, sender, OwnFrame::None, out);
        true
    }

    /// The mode of a secondary frame. Between two nodes that send to each other no third one
    /// interferes.
    fn secondary_mode(&self, from: u32, to: u32, primary: u32) -> Mode {
        match &self.duplex {
            Some(duplex) if to != primary => duplex.modes[to as usize - 1],
            _ => *self.mode(from, to),
        }
    }

    /// Whether the RTS of the access point ends no later than the first frame of a station, so that
    /// it can answer it.
    fn is_rts_over(&self, own: u32, station: u32) -> bool {
        let timing = self.rules.timing();
        let lasts = |f: u32| {
            let edcaf = self.edcaf(f);
            Exchange::exposed(timing, &edcaf.mode, edcaf.psdu.bytes, edcaf.opening)
        };
        lasts(own) <= lasts(station)
    }

    /// Takes the packet into service that the access point sends while it receives from a station,
    /// and assembles it. Returns its EDCAF if there is one: the highest access category with such a
    /// packet, or `own`.
    fn prepare_secondary(
        &mut self,
        now: Instant,
        primary: u32,
        own: Option<u32>,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<u32> {
        let from = self.node_of(primary);
        let all = own.map_or(self.edcafs_of(ACCESS_POINT), |own| own..own + 1);
        for f in all.rev() {
            if !self.edcaf(f).is_idle() && self.serves_other(now, f, from, source) {
                self.assemble(now, f, from, source, out);
                return Some(f);
            }
        }
        None
    }

    /// Assembles the packets in service of an EDCAF that sends a secondary frame. Aggregates are
    /// assembled for the mode of that frame.
    fn assemble(
        &mut self,
        now: Instant,
        f: u32,
        primary: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let (node, to) = (self.node_of(f), self.edcaf(f).to());
        let mut secondary = to.map(|to| PeerRate::fixed(self.secondary_mode(node, to, primary)));
        let rate = match self.rules.framing.aggregation {
            Some(_) => secondary.as_mut(),
            None => Self::rate(&mut self.rates, node, to),
        };
        self.edcafs[f as usize].begin(now, &self.rules, rate, source, out);
    }

    /// Whether the receiver of a data frame of the access point decodes it while a station sends.
    fn is_decodable(&self, own: u32, primary: u32) -> bool {
        let (edcaf, from) = (self.edcaf(own), self.node_of(primary));
        let Some(duplex) = &self.duplex else { return false };
        edcaf.to().is_some_and(|to| match to {
            _ if to == from => duplex.settings.bidirectional,
            _ => edcaf.mode.rate <= duplex.modes[to as usize - 1].rate,
        })
    }

    /// When the secondary frame begins.
    fn secondary_start(&self, now: Instant, data: &Step, primary: u32, own: OwnFrame) -> Instant {
        let (edcaf, timing) = (self.edcaf(primary), self.rules.timing());
        if edcaf.with_rts() || own == OwnFrame::Data {
            return data.start;
        }
        let header = self.rules.config.data_header();
        let header = match edcaf.psdu.mpdus {
            1 => single(edcaf.mode.class, header),
            _ => ampdu(Bytes::ZERO, header),
        };
        let decoded = header_decoded(timing, data, &edcaf.mode, header);
        let own_rts = self.duplex.as_ref().and_then(|duplex| duplex.own_rts);
        own_rts.map_or(decoded, |(_, mode)| decoded.max(now + timing.airtime(&mode, RTS).total()))
    }

    /// Whether the packet in service may be sent while a station sends and is to be sent, after
    /// another packet has come into service if necessary.
    fn serves_other(
        &mut self,
        now: Instant,
        f: u32,
        primary: u32,
        source: &mut dyn MsduSource,
    ) -> bool {
        let Some(duplex) = &mut self.duplex else { return false };
        // No frame in its queue is for the access point itself: any station may be served.
        let than = if duplex.settings.bidirectional { ACCESS_POINT } else { primary };
        let own = self.rates[link_direction(ACCESS_POINT, primary)].mode.rate;
        let modes = &duplex.modes;
        // The primary transmitter would receive at its own rate.
        let rate = |to: u32| Some(if to == primary { own } else { modes[to as usize - 1].rate });
        let (edcaf, rules) = (&mut self.edcafs[f as usize], &self.rules);
        duplex.choice.bring_into_service(now, edcaf, rules, than, rate, source)
    }

    /// Whether a secondary frame begins before the primary one ends.
    fn is_in_time(&self, now: Instant, primary: u32) -> bool {
        let edcaf = self.edcaf(primary);
        edcaf.with_rts() || {
            let exchange = edcaf.exchange(&self.rules, now, ExchangeOutcome::Success);
            let starts = |data| self.secondary_start(now, data, primary, OwnFrame::None);
            exchange.data().is_some_and(|data| starts(data) < data.end())
        }
    }

    /// The primary transmitter and its receiver send at once.
    fn begin_both(
        &mut self,
        now: Instant,
        primary: u32,
        sender: u32,
        own: OwnFrame,
        out: &mut Vec<Command>,
    ) {
        self.txop = None;
        let is_decodable = own != OwnFrame::Data || self.is_decodable(sender, primary);
        // A node may receive a data frame and then a response: it draws in this order.
        let first_lost = self.draw_data_lost(primary);
        let lost_of_first = self.lost;
        let second_lost = is_decodable && self.draw_data_lost(sender);
        let lost_of_second = std::mem::replace(&mut self.lost, lost_of_first);
        let first = self.draw_response(primary, first_lost);
        let outcome = if is_decodable {
            self.draw_response(sender, second_lost)
        } else {
            ExchangeOutcome::Collision
        };
        let mut exchange = *self.lay_out(now, primary, first);
        let request = self.request_secondary(now, &exchange, primary, sender, own, outcome);
        let secondary = Secondary::beside(&mut exchange, self.rules.timing(), &request);
        if let Some(duplex) = &mut self.duplex {
            (duplex.secondary, duplex.is_pending) = (Some(secondary), true);
            duplex.lost = lost_of_second;
            duplex.count_secondary(&secondary, exchange.sender);
        }
        let NodeCounters { exchanges, frames } =
            &mut self.nodes[secondary.sender as usize].counters;
        if own != OwnFrame::None {
            exchanges.begin();
            exchanges.decide();
        }
        exchanges.collisions += u64::from(outcome == ExchangeOutcome::Collision);
        self.edcafs[sender as usize].count_psdu(secondary.mode.rate, frames);
        self.exchange = Some(exchange);
        out.push(Command::Began);
        out.push(Command::ExchangeSent {
            node: exchange.sender,
            peer: Some(secondary.sender),
            used: exchange.end - exchange.start,
            arrived: exchange.outcome.data_arrives(),
            mpdus: self.edcaf(primary).mpdus(),
        });
        out.push(Command::ExchangeSent {
            node: secondary.sender,
            peer: Some(secondary.receiver),
            used: secondary.used(),
            arrived: outcome.data_arrives(),
            mpdus: self.edcaf(sender).mpdus(),
        });
        let first = exchange.data().map_or(exchange.end, Step::end);
        out.push(Command::Step(first.min(secondary.data.end())));
    }

    /// The secondary frame that an EDCAF sends beside the exchange of another.
    fn request_secondary(
        &self,
        now: Instant,
        exchange: &Exchange,
        primary: u32,
        sender: u32,
        own: OwnFrame,
        outcome: ExchangeOutcome,
    ) -> SecondaryRequest {
        let edcaf = self.edcaf(sender);
        let receiver = edcaf.to().expect("a secondary frame is no broadcast");
        let data = exchange.data().expect("a primary frame");
        let is_assembled_for = own == OwnFrame::Data || self.rules.framing.aggregation.is_some();
        let mode = if is_assembled_for {
            edcaf.mode
        } else {
            self.secondary_mode(edcaf.node, receiver, exchange.sender)
        };
        SecondaryRequest {
            sender: edcaf.node,
            category: (sender % self.rules.per_node) as u8,
            receiver,
            start: self.secondary_start(now, data, primary, own),
            mode,
            psdu: edcaf.psdu.bytes,
            mpdus: edcaf.psdu.mpdus,
            answer: edcaf.psdu.answer,
            block_ack: block_ack(self.rules.window()),
            outcome,
            repeated: edcaf.originator.all_received(),
            own,
            with_tone: self.duplex.as_ref().is_some_and(|duplex| duplex.settings.busy_tone),
        }
    }
}
