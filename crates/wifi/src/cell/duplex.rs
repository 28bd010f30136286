//! The access point of a cell sends to one station while it receives from another.
//!
//! The secondary frame takes the place of the next transmission of the access point. Its packet is
//! the one in service; if that is for the primary transmitter, it steps aside, and the packet that
//! is sent comes into service. The success or failure of the secondary frame has the consequences
//! of an attempt of the access point: the contention window returns to its minimum or doubles, the
//! retry counters follow, and a new back-off is drawn. The packet that stepped aside returns to
//! service when the other has left. At most one packet is aside: until it has returned, the access
//! point sends one of these two or nothing.
//!
//! The CTS announces the end of the longer frame and its response. Its NAV holds for all but the
//! two transmitters, and no node defers for an EIFS because it could not decode two frames at once.
//! The cell chooses the secondary frame when the exchange begins: a packet that arrives during RTS
//! and CTS is too late.
//!
//! Where stations are full duplex, too, the secondary frame may be for the primary transmitter. If
//! the access point wins alone, its frame is the primary one; the packet that the station has in
//! service is the secondary one, whatever its size, and the consequences are those of an attempt of
//! the station.

use super::ending::Resume;
use super::{ACCESS_POINT, Cell, FrameOnAir, link_direction};
use crate::mac::{
    DuplexCounters, Edcaf, Exchange, ExchangeOutcome, FullDuplex, OwnRts, Response, Secondary,
    SecondaryChoice, SecondaryRate, SecondaryRequest, Step,
};
use crate::medium::NodeCounters;
use crate::phy::Mode;
use crate::{Command, MsduSource};
use kernel::{BitRate, Duration, Instant, Rng};

/// The state of a full-duplex access point.
#[derive(Debug)]
pub(super) struct Duplex {
    settings: FullDuplex,
    /// The mode of secondary frames to each station, while another sends.
    modes: Vec<Mode>,
    choice: SecondaryChoice,
    /// The secondary frame on the air.
    pub(super) secondary: Option<Secondary>,
    /// The receiver of the RTS that the access point sent together with the primary transmitter.
    pub(super) own_rts_to: Option<u32>,
    /// The secondary frame has not ended.
    is_pending: bool,
    pub(super) counters: DuplexCounters,
    /// The secondary frames of the access point, by ascending rate.
    rates: Vec<SecondaryRate>,
    /// Idle slots up to the last busy period.
    idle_slots: u64,
}

impl Duplex {
    pub(super) fn new(
        settings: FullDuplex,
        modes: Vec<Mode>,
        rates: &[BitRate],
        draws: Rng,
    ) -> Self {
        let choice = SecondaryChoice::new(&settings, draws);
        let counters = DuplexCounters::default();
        let unused = |&rate| SecondaryRate { rate, frames: 0, airtime: Duration::ZERO };
        let rates = rates.iter().map(unused).collect();
        Self {
            settings,
            modes,
            choice,
            secondary: None,
            own_rts_to: None,
            is_pending: false,
            counters,
            rates,
            idle_slots: 0,
        }
    }

    /// A busy period begins, before which so many idle slots were counted in all.
    fn count_steps(&mut self, idle_slots: u64) {
        let counted = idle_slots - std::mem::replace(&mut self.idle_slots, idle_slots);
        self.counters.steps += counted.max(1);
    }

    /// A secondary frame begins, beside one of this node.
    fn count_secondary(&mut self, secondary: &Secondary, primary: u32) {
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

    /// The MPDU of the secondary frame on the air.
    pub fn secondary_on_air(&self) -> impl Iterator<Item = FrameOnAir<'_>> {
        self.secondary().into_iter().map(|secondary| {
            let originator = &self.edcaf(secondary.sender).originator;
            let (sequence, mpdu) = originator.frame_on_air(0);
            let wasted = mpdu.received || secondary.outcome == ExchangeOutcome::DataLost;
            FrameOnAir { sequence, bytes: mpdu.bytes, wasted, originator, mpdu }
        })
    }

    /// Counters of the full-duplex access point, if it is one.
    pub fn duplex_counters(&self) -> Option<&DuplexCounters> {
        self.duplex.as_ref().map(|duplex| &duplex.counters)
    }

    /// The secondary frames of the access point, by ascending rate; none if it is half duplex.
    pub fn secondary_rates(&self) -> &[SecondaryRate] {
        self.duplex.as_ref().map_or(&[], |duplex| &duplex.rates)
    }

    /// Begins the exchange of the winners if the access point receives the RTS of one station in
    /// it, or a full-duplex station that of the access point. Returns whether it has begun: in all
    /// other cases the rules of half duplex apply.
    pub(super) fn begin_duplex(
        &mut self,
        now: Instant,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(duplex) = self.duplex.as_mut() else { return false };
        duplex.own_rts_to = None;
        duplex.count_steps(self.contention.idle_slots());
        let (primary, own_rts) = match self.winners[..] {
            [ACCESS_POINT] => {
                duplex.counters.alone += 1;
                return self.begin_answered_by_station(now, source, out);
            }
            [station] => (station, false),
            [ACCESS_POINT, station] => (station, true),
            _ => return false,
        };
        if !self.edcaf(primary).with_rts() || own_rts && !self.is_rts_over(primary) {
            return false;
        }
        let own_rts_to = self.edcaf(ACCESS_POINT).to().filter(|_| own_rts);
        let is_ready = self.prepare_secondary(now, primary, source, out);
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        duplex.own_rts_to = own_rts_to;
        duplex.counters.primary += 1;
        duplex.counters.joint += u64::from(own_rts);
        if is_ready {
            self.begin_both(now, primary, ACCESS_POINT, own_rts, out);
        } else {
            self.begin_exchange(now, primary, out);
            if own_rts {
                // Its RTS received no CTS, and it sends nothing else.
                self.count_attempt(ACCESS_POINT);
                self.nodes[ACCESS_POINT as usize].counters.exchanges.collisions += 1;
                self.miss(now, ACCESS_POINT, false, out);
            }
        }
        true
    }

    /// The access point has won alone: a full-duplex station that answers its RTS sends the packet
    /// that it has in service. Returns whether there is one.
    fn begin_answered_by_station(
        &mut self,
        now: Instant,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let edcaf = self.edcaf(ACCESS_POINT);
        let Some(station) = edcaf.to().filter(|_| edcaf.with_rts()) else { return false };
        let edcaf = self.edcaf(station);
        let bidirectional = self.duplex.as_ref().is_some_and(|d| d.settings.bidirectional);
        if !bidirectional || edcaf.is_idle() || edcaf.to() != Some(ACCESS_POINT) {
            return false;
        }
        self.assemble(now, station, source, out);
        self.begin_both(now, ACCESS_POINT, station, false, out);
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

    /// Whether the RTS of the access point ends no later than that of a station, so that it can
    /// answer it.
    fn is_rts_over(&self, station: u32) -> bool {
        let (own, timing) = (self.edcaf(ACCESS_POINT), self.rules.timing());
        let lasts =
            |edcaf: &Edcaf| Exchange::exposed(timing, &edcaf.mode, edcaf.psdu.bytes, edcaf.opening);
        own.with_rts() && lasts(own) <= lasts(self.edcaf(station))
    }

    /// Takes the packet into service that the access point sends while it receives from a station,
    /// and assembles it. Returns whether there is one.
    fn prepare_secondary(
        &mut self,
        now: Instant,
        from: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let edcaf = &self.edcafs[ACCESS_POINT as usize];
        if edcaf.is_idle() || !self.serves_other(now, from, source) {
            return false;
        }
        self.assemble(now, ACCESS_POINT, source, out);
        true
    }

    /// Assembles the packet in service of a node that sends a secondary frame.
    fn assemble(
        &mut self,
        now: Instant,
        node: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let edcaf = &mut self.edcafs[node as usize];
        let rate = Self::rate(&mut self.rates, node, edcaf.to());
        edcaf.begin(now, &self.rules, rate, source, out);
    }

    /// Whether the packet in service may be sent while a station sends and is to be sent, after
    /// another packet has come into service if necessary.
    fn serves_other(&mut self, now: Instant, primary: u32, source: &mut dyn MsduSource) -> bool {
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        // No frame in its queue is for the access point itself: any station may be served.
        let than = if duplex.settings.bidirectional { ACCESS_POINT } else { primary };
        let own = self.rates[link_direction(ACCESS_POINT, primary)].mode.rate;
        let modes = &duplex.modes;
        // The primary transmitter would receive at its own rate.
        let rate = |to: u32| Some(if to == primary { own } else { modes[to as usize - 1].rate });
        let edcaf = (&mut self.edcafs[ACCESS_POINT as usize], &self.rules);
        duplex.choice.bring_into_service(now, edcaf, than, rate, source)
    }

    /// The primary transmitter and its receiver send at once.
    fn begin_both(
        &mut self,
        now: Instant,
        primary: u32,
        sender: u32,
        own_rts: bool,
        out: &mut Vec<Command>,
    ) {
        // A node may receive a data frame and then a response: it draws in this order.
        let [first_lost, second_lost] = [primary, sender].map(|f| self.draw_data_lost(f));
        let first = self.draw_response(primary, first_lost);
        let outcome = self.draw_response(sender, second_lost);
        let mut exchange = self.lay_out(now, primary, first);
        let edcaf = &self.edcafs[sender as usize];
        let receiver = edcaf.to().expect("a secondary frame is no broadcast");
        let request = SecondaryRequest {
            sender,
            receiver,
            mode: self.secondary_mode(sender, receiver, primary),
            psdu: edcaf.psdu.bytes,
            outcome,
            repeated: edcaf.originator.all_received(),
            own_rts,
        };
        let secondary = Secondary::beside(&mut exchange, self.rules.timing(), &request);
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        (duplex.secondary, duplex.is_pending) = (Some(secondary), true);
        duplex.count_secondary(&secondary, primary);
        let NodeCounters { exchanges, frames } = &mut self.nodes[sender as usize].counters;
        exchanges.attempts += u64::from(own_rts);
        frames.data_attempts += 1;
        frames.data_rates += secondary.mode.rate.0;
        frames.mpdus += 1;
        frames.repeated_mpdus += edcaf.originator.repeated();
        self.exchange = Some(exchange);
        let arrived = |outcome| outcome != ExchangeOutcome::DataLost;
        out.push(Command::Began);
        out.push(Command::ExchangeSent {
            node: exchange.sender,
            peer: Some(sender),
            used: exchange.end - exchange.start,
            arrived: arrived(exchange.outcome),
        });
        out.push(Command::ExchangeSent {
            node: sender,
            peer: Some(receiver),
            used: secondary.used(),
            arrived: arrived(outcome),
        });
        let first = exchange.data().map_or(exchange.end, Step::end);
        out.push(Command::Step(first.min(secondary.data.end())));
    }

    /// One of the two data frames ends, or the exchange.
    pub(super) fn on_duplex_step(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        out: &mut Vec<Command>,
    ) {
        let Some(duplex) = self.duplex.as_mut() else { return };
        let Some(secondary) = duplex.secondary else { return };
        let ends = [exchange.data().map_or(exchange.end, Step::end), secondary.data.end()];
        let primary_over = self.data_pending && now >= ends[0];
        let secondary_over = duplex.is_pending && now >= ends[1];
        self.data_pending &= !primary_over;
        duplex.is_pending &= !secondary_over;
        let pending = [self.data_pending, duplex.is_pending];
        if primary_over && exchange.outcome != ExchangeOutcome::DataLost {
            self.receive(self.sender, 0..1, out);
        }
        if secondary_over && secondary.outcome != ExchangeOutcome::DataLost {
            self.receive(secondary.sender, 0..1, out);
        }
        let next =
            ends.into_iter().zip(pending).filter_map(|(end, pending)| pending.then_some(end));
        let next = next.min().unwrap_or(exchange.end);
        if next > now {
            return out.push(Command::Step(next));
        }
        self.end_both(now, exchange, &secondary, out);
    }

    /// Both exchanges end. If a response was sent, all nodes know that the medium is idle now: who
    /// waits for another response receives this one in its place.
    fn end_both(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        secondary: &Secondary,
        out: &mut Vec<Command>,
    ) {
        if self.watch.is_some() {
            self.record_exchange(exchange);
        }
        self.exchange = None;
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        duplex.secondary = None;
        let is_sent =
            secondary.sender == ACCESS_POINT && secondary.outcome == ExchangeOutcome::Success;
        duplex.counters.secondary_sent += u64::from(is_sent);
        let timing = &self.rules.config.timing;
        let (difs, end) = (timing.difs(), exchange.end);
        let reserved_until = exchange.reserved_until(timing);
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        out.push(Command::Ended);
        let is_lost = |outcome| outcome == ExchangeOutcome::DataLost;
        let answered = !is_lost(exchange.outcome) || !is_lost(secondary.outcome);
        let first = self.edcaf(self.sender).response;
        let timing = &self.rules.config.timing;
        let second = Response::to(timing, &secondary.mode);
        // When the longer data frame ended.
        let data = exchange.data().map_or(end, Step::end);
        let sent = data.max(secondary.data.end());
        // The secondary transmitter receives the primary frame, and perhaps the reverse.
        let is_mutual = secondary.receiver == self.sender;
        for (f, outcome, response, other) in [
            (self.sender, exchange.outcome, first, is_mutual.then_some(second)),
            (secondary.sender, secondary.outcome, second, Some(first)),
        ] {
            match outcome {
                ExchangeOutcome::RtsLost | ExchangeOutcome::CtsLost => {
                    unreachable!("there are no interferers beside full duplex")
                }
                ExchangeOutcome::Success | ExchangeOutcome::Collision => {
                    self.succeed_beside(now, f, secondary, out);
                    self.resume_without_nav(end, reserved_until, f);
                }
                // The station receives the ACK of the other in place of its own.
                ExchangeOutcome::DataLost if answered && other.is_none() => {
                    self.lose(now, f, end + difs, out);
                }
                ExchangeOutcome::DataLost => {
                    let Resume { at, .. } = self.resume_after_timeout(sent, end, response.timeout);
                    // A receiver has received an erroneous frame if it sends no ACK.
                    let error = other.filter(|_| !answered);
                    let space = end + error.map_or(difs, |other| other.eifs);
                    self.lose(now, f, Resume { at, space }, out);
                }
                ExchangeOutcome::AckLost => {
                    let eifs = self.rules.config.timing.eifs(&response.mode);
                    self.lose(now, f, end + eifs, out);
                }
            }
        }
        if !answered && !is_mutual {
            // The CTS has set the NAV of the receiver of the secondary frame, too.
            let receiver = self.edcafs_of(secondary.receiver);
            self.contention.count_separately_after_nav(receiver, end + second.eifs, difs);
        }
        self.schedule_access(out);
    }

    /// The packet that stepped aside returns to service if there is no other.
    pub(super) fn resume_aside(&mut self, f: u32) {
        let edcaf = &mut self.edcafs[f as usize];
        if edcaf.is_idle() {
            edcaf.originator.swap_aside();
        }
    }

    /// The primary or the secondary frame was acknowledged.
    fn succeed_beside(
        &mut self,
        now: Instant,
        f: u32,
        secondary: &Secondary,
        out: &mut Vec<Command>,
    ) {
        let (edcaf, settled) = (&mut self.edcafs[f as usize], &mut self.settled);
        let before = edcaf.window();
        edcaf.succeed(now, &self.rules, None, None, |_| None, settled);
        let doubles = self.duplex.as_ref().is_some_and(|d| d.settings.own_rts == OwnRts::Double);
        if f == secondary.sender && secondary.own_rts && doubles {
            edcaf.double_window(&self.rules, before);
        }
        self.settle(f, out);
    }
}
