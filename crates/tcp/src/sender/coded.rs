//! Coded data: what is sent in blocks with parity, and what is done about holes (`LT-TCP`; Tickoo,
//! Subramanian, Kalyanaraman and Ramakrishnan, `IWQoS` 2005, where it leaves no choice).
//!
//! Every transmission, of data or of parity, has a number; acknowledgements report these, and what
//! is lost follows from them as in RFC 9002. A window is a block of N units, K of data and P of
//! parity. Holes that what is on its way will not fill are filled with more parity. Whether a loss
//! is congestion is the controller's business.

mod sending;
mod sizing;
mod timeouts;

use super::gauges::State;
use super::sampler;
use super::tcb::Tcb;
use super::timer::Deadlines;
use super::window::{Arrival, Congestion};
use crate::blocks::{Blocks, Losses, SackInfo};
use crate::delivery::DeliveryMeter;
use crate::fec::Fec;
use crate::{Cause, Command, Sack};
use kernel::{Duration, Instant};
use sizing::Sizing;
use wire::Segment;

/// The least time after which a unit may be lost (RFC 9002 §6.1.2).
const GRANULARITY: Duration = Duration(1_000_000);

/// Loss recovery by parity.
#[derive(Debug)]
pub(super) struct Coded {
    /// What the settings of selective recovery ask for, if both ends agree on it.
    sack: Option<Sack>,
    sizing: Sizing,
    phase: Phase,
    blocks: Blocks,
    meter: DeliveryMeter,
    deadlines: Deadlines,
    /// One past the units of the window whose losses the controller was told last, and of that
    /// which it has reduced last.
    noticed: u64,
    reduced: u64,
    /// The unit that tells of a reduced window, until it is known to have arrived.
    cwr_unit: Option<u64>,
    /// The unit that probes, if one is out.
    probe: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The timer expired; the unit of this number is the first that was sent since.
    Loss {
        expired: u64,
    },
}

impl Coded {
    pub(super) fn new(settings: &Fec, mss: u64, sack: Option<Sack>) -> Self {
        Self {
            sack,
            sizing: Sizing::new(settings, mss),
            phase: Phase::Open,
            blocks: Blocks::default(),
            meter: DeliveryMeter::default(),
            deadlines: Deadlines::default(),
            noticed: 0,
            reduced: 0,
            cwr_unit: None,
            probe: None,
        }
    }

    pub(super) fn on_sack_refused(&mut self) {
        self.sack = None;
    }

    /// An acknowledgement of coded data.
    pub(super) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let flight = self.blocks.in_flight();
        let acked = segment.ack.saturating_sub(tcb.snd.una);
        let known = self.blocks.top();
        let info = self.blocks.report(&segment.sack);
        if segment.ack >= tcb.snd.una {
            tcb.snd.una = segment.ack;
            tcb.set_peer_window(segment.window);
            self.blocks.acknowledge(segment.ack);
        }
        let newest = info.newest.filter(|&(number, _)| number >= known);
        let rtt = newest.map(|(_, departure)| now.since(departure.at));
        if let Some(rtt) = rtt {
            tcb.rtt.sample(rtt, sampler::samples(flight, tcb.snd.mss));
            out.push(Command::Rtt(rtt));
        }
        if let Some((number, _)) = newest {
            self.on_unit(tcb, number);
        }
        let losses = self.find_losses(tcb, now, rtt, flight);
        let echo = self.on_echo(tcb, now, segment, flight);
        self.settle(tcb, now);
        if info.delivered > 0 {
            self.inform(tcb, now, &info, losses.bytes, flight, (rtt, echo));
        }
        if info.delivered > 0 || acked > 0 {
            self.deadlines.restart();
        }
        self.transmit(tcb, now, out);
    }

    /// The connection is over.
    pub(super) fn on_closed(&mut self) {
        self.blocks.clear();
    }

    pub(super) fn wants_sack(&self) -> bool {
        self.sack.is_some()
    }

    pub(super) fn state(&self) -> State {
        match self.phase {
            Phase::Open => State::Open,
            Phase::Loss { .. } => State::Loss,
        }
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.blocks.in_flight()
    }

    /// The probability that a unit is lost, as it is estimated.
    pub(super) fn loss_estimate(&self) -> f64 {
        self.sizing.estimate.value
    }

    /// Bytes of the next block's units.
    pub(super) fn unit(&self) -> u64 {
        self.sizing.unit
    }

    /// The unit of this number is the highest yet to arrive: what that says of probe, timeout and
    /// answered mark.
    fn on_unit(&mut self, tcb: &mut Tcb, number: u64) {
        self.probe = self.probe.filter(|&probe| number < probe);
        self.cwr_unit = self.cwr_unit.filter(|&cwr_unit| number < cwr_unit);
        if let Phase::Loss { expired } = self.phase {
            self.phase = Phase::Open;
            // Numbers tell at once whether something arrived that had left before (RFC 3522).
            let spurious = number < expired;
            if spurious && self.sack.is_some_and(|sack| sack.f_rto) {
                tcb.undo();
            } else {
                tcb.cwnd.refresh();
            }
        }
    }

    /// RFC 9002 §6.1: what is lost; and tells the controller.
    fn find_losses(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        rtt: Option<Duration>,
        flight: u64,
    ) -> Losses {
        let longest = tcb.rtt.srtt().max(rtt).unwrap_or(tcb.config.rto_initial);
        let late = (longest + longest / 8).max(GRANULARITY);
        let losses = self.blocks.find_losses(now, late);
        self.deadlines.reorder = losses.next;
        self.meter.on_lost(losses.bytes);
        let Some(last) = losses.last else { return losses };
        if self.cwr_unit.is_some_and(|cwr_unit| last >= cwr_unit) {
            // What told of the reduced window may be among the lost: it is told again.
            self.cwr_unit = None;
            tcb.ecn.repeat_cwr();
        }
        // Once per window of data (RFC 5681 §4.3).
        if last >= self.noticed.max(self.reduced) && self.phase == Phase::Open {
            let before = tcb.cwnd.bytes();
            self.noticed = self.blocks.next_unit();
            tcb.counters.fast_retransmits += 1;
            let (cause, lost, repeated) = (Cause::FastRetransmit, losses.bytes, false);
            tcb.cwnd.reduce(&Congestion { now, cause, lost, flight, repeated });
            // A controller to whom a loss is no congestion has no window to recover.
            if tcb.cwnd.bytes() < before {
                self.on_reduction(tcb);
            }
        }
        losses
    }

    /// The window was reduced: the next unit tells it, and what was marked before asks no more.
    fn on_reduction(&mut self, tcb: &mut Tcb) {
        self.reduced = self.blocks.next_unit();
        self.cwr_unit = None;
        tcb.ecn.on_reduction(self.reduced);
    }

    /// RFC 3168 §6.1.2, once per window of units. While it is not known that the receiver was told,
    /// what it echoes may be the old mark.
    fn on_echo(&mut self, tcb: &mut Tcb, now: Instant, segment: &Segment, flight: u64) -> bool {
        let echo = tcb.ecn.is_echoed(segment);
        let heard = !tcb.ecn.is_cwr_pending() && self.cwr_unit.is_none();
        let newer = self.blocks.top() > tcb.ecn.reduced();
        if echo && self.phase == Phase::Open && heard && newer {
            tcb.counters.marks_answered += 1;
            let (cause, lost, repeated) = (Cause::Ecn, 0, false);
            tcb.cwnd.reduce(&Congestion { now, cause, lost, flight, repeated });
            self.sizing.on_mark();
            self.on_reduction(tcb);
        }
        echo
    }

    /// Counts the losses of blocks that have been sent, and asks for what others lack.
    fn settle(&mut self, tcb: &Tcb, now: Instant) {
        let Self { blocks, sizing: Sizing { estimate, .. }, .. } = self;
        blocks.settle(|units, lost| estimate.count(units, lost));
        blocks.ask(now, tcb.rtt.srtt().unwrap_or_default(), estimate.value);
    }

    /// Tells the controller what has arrived: units are what its window holds.
    fn inform(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        info: &SackInfo,
        lost: u64,
        flight: u64,
        (rtt, echo): (Option<Duration>, bool),
    ) {
        let delivered = info.delivered;
        let newest = info.newest.map(|(_, departure)| departure);
        let least = tcb.rtt.least();
        let delivery = self.meter.sample(now, delivered, newest.as_ref(), least, tcb.snd.mss);
        let recovery = self.blocks.top() <= self.reduced && self.reduced > 0;
        let arrival = Arrival {
            now,
            acked: delivered,
            delivered,
            lost,
            flight,
            in_flight: self.blocks.in_flight(),
            rtt,
            delivery,
            may_grow: !echo && !recovery,
            may_ramp: true,
            // What `recovery` means to controllers, that a window is being steered down, it is not.
            recovery: false,
            echo,
        };
        tcb.cwnd.on_ack(&arrival, &tcb.rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Lt, LtConfig};
    use crate::fec::{Granularity, Normal, Parity};
    use crate::harness::{Driven, config, ms, segment};
    use crate::sender::timer::Timer;
    use crate::{Config, Ecn, Recovery};
    use kernel::Segments;
    use wire::{Flags, SackBlock, SackBlocks};

    /// Ten segments of 100 bytes in the first window, in units of 50 to 100.
    fn coded(parity: Parity) -> Config {
        let granularity = Granularity { units: 5, smallest: 50, step: 20 };
        Config {
            initial_window: Segments(10.0),
            initial_ssthresh: Some(Segments(10.0)),
            recovery: Recovery::Sack(Sack::default()),
            fec: Some(Fec { parity, granularity, ..Fec::default() }),
            ..config()
        }
    }

    fn connected(config: &Config, lossy: bool, amount: u64) -> (Driven, String) {
        let lt = || Box::new(Lt::new(config, LtConfig::default()));
        let mut tcp = if lossy { Driven::with(config, lt()) } else { Driven::new(config) };
        tcp.open(0);
        tcp.write(0, amount);
        let first = tcp.syn_ack(100);
        (tcp, first)
    }

    /// What is acknowledged, and which units have arrived.
    fn ack(tcp: &mut Driven, at: u64, ack: u64, runs: &[(u64, u64)]) -> String {
        flagged(tcp, at, ack, runs, Flags::ACK)
    }

    fn flagged(tcp: &mut Driven, at: u64, ack: u64, runs: &[(u64, u64)], flags: Flags) -> String {
        let mut sack = SackBlocks::NONE;
        for &(start, end) in runs {
            sack.push(SackBlock { start, end });
        }
        tcp.segment(at, &Segment { sack, ..segment(false, 1, 0, ack, flags) })
    }

    #[test]
    fn a_window_is_a_block_and_what_waits_less_is_one_too() {
        let (mut tcp, first) = connected(&coded(Parity::None), true, 250);
        assert_eq!(first, "rtt 100, connected, 1:85, 85:169, 169:251, rto@300");
        assert_eq!(ack(&mut tcp, 200, 251, &[(0, 3)]), "rtt 100, rto off");
        assert_eq!(tcp.sender.in_flight_bytes(), 0);
        assert_eq!(tcp.sender.acknowledged_bytes(), 250);
        assert_eq!(tcp.write(210, 5), "251:256, rto@485");
    }

    #[test]
    fn a_loss_is_answered_with_parity_and_lt_keeps_its_window() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100_000);
        // The first of ten is lost: as many are in flight again, one of them parity of block 1.
        assert_eq!(
            ack(&mut tcp, 200, 1, &[(1, 4)]),
            "rtt 100, 1:101, 1001:1101, 1101:1201, \
                                                      1201:1301, rto@400"
        );
        assert_eq!(tcp.sender.counters().reactive, 1);
        assert!(tcp.sender.window_segments() >= 10.0);
        let (mut tcp, _) = connected(&coded(Parity::None), false, 100_000);
        assert_eq!(ack(&mut tcp, 200, 1, &[(1, 4)]), "rtt 100, rto@400", "NewReno halves it");
        assert_eq!(tcp.sender.window_segments(), 5.0);
        assert_eq!(ack(&mut tcp, 210, 1, &[(1, 6)]), "rtt 110, 1:101, rto@410");
    }

    #[test]
    fn the_estimate_makes_the_parity_of_the_next_block() {
        let (mut tcp, _) = connected(&coded(Parity::Normal(Normal { margin: 0.0 })), true, 100_000);
        ack(&mut tcp, 200, 201, &[(0, 2), (7, 10)]);
        assert_eq!(tcp.sender.loss_estimate(), 0.25, "half of 5 of 10");
        let before = tcp.sender.counters();
        for number in 10..40 {
            ack(&mut tcp, 300 + number, 201, &[(7, number + 1)]);
        }
        let counters = tcp.sender.counters();
        assert!(counters.proactive > before.proactive, "a fourth of the next blocks is parity");
    }

    #[test]
    fn a_mark_halves_window_and_units_once_a_round() {
        let config = Config { ecn: Ecn::Classic, ..coded(Parity::None) };
        let mut tcp = Driven::with(&config, Box::new(Lt::new(&config, LtConfig::default())));
        tcp.open(0);
        tcp.write(0, 100_000);
        let flags = Flags::SYN.and(Flags::ACK).and(Flags::ECE);
        tcp.segment(100, &segment(false, 0, 0, 1, flags));
        let echo = Flags::ACK.and(Flags::ECE);
        flagged(&mut tcp, 200, 101, &[(0, 1)], echo);
        assert_eq!((tcp.sender.window_segments(), tcp.sender.unit_bytes()), (5.0, 50));
        for number in 2..9 {
            flagged(&mut tcp, 200 + number, 100 * number + 1, &[(0, number)], echo);
        }
        assert_eq!(tcp.sender.counters().marks_answered, 1, "the same window of units");
        // Unit 10 tells that the window was reduced. Until it has arrived, an echo is old.
        flagged(&mut tcp, 300, 1001, &[(0, 10)], echo);
        assert_eq!(tcp.sender.counters().marks_answered, 1);
        flagged(&mut tcp, 310, 1051, &[(0, 12)], echo);
        assert_eq!(tcp.sender.counters().marks_answered, 2, "a new mark");
    }

    #[test]
    fn a_timeout_that_was_needless_is_taken_back() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100_000);
        assert!(tcp.timer(300).contains("1:101"), "a probe: parity of the block");
        assert_eq!(tcp.sender.counters().probes, 1);
        let timeout = tcp.timer(600);
        assert!(timeout.starts_with("1:101, rto@"), "{timeout}");
        assert_eq!((tcp.sender.counters().timeouts, tcp.sender.state()), (1, State::Loss));
        assert_eq!(tcp.sender.window_segments(), 1.0);
        // The first units arrive after all: they had left before.
        ack(&mut tcp, 650, 301, &[(0, 3)]);
        assert_eq!((tcp.sender.counters().undone, tcp.sender.state()), (1, State::Open));
        assert!(tcp.sender.window_segments() >= 10.0);
    }

    #[test]
    fn timers_of_an_idle_connection_do_nothing() {
        let (mut tcp, _) = connected(&coded(Parity::None), true, 100);
        ack(&mut tcp, 200, 101, &[(0, 1)]);
        assert_eq!(tcp.timer(5000), "");
        assert_eq!(tcp.sender.counters().timeouts, 0);
        tcp.sender.tcb.timer = Timer::Probe(ms(5000));
        assert_eq!(tcp.timer(5000), "", "nothing is left to probe with");
    }
}
