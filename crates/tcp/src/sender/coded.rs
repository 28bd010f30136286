//! Coded data: what is sent in blocks with parity, and how losses are repaired (`LT-TCP`; Tickoo,
//! Subramanian, Kalyanaraman and Ramakrishnan, `IWQoS` 2005, where it specifies the behaviour).
//!
//! Every transmission of data or parity has a number. Acknowledgements report these numbers, and
//! losses are detected by them as in RFC 9002. A window is a block of N units: K of data and P of
//! parity. Losses that the units in flight cannot repair are repaired by more parity. The
//! congestion control decides whether a loss indicates congestion.
//!
//! `LT-TCP` is a controller (`control/lt.rs`) and a coder, here and in `receiver/decoding.rs`.
//! Blocks are counted, not computed; `fec.verify` computes them.

mod sending;
mod sizing;
mod timeouts;

use super::ecn::Marks;
use super::gauges::State;
use super::sampler;
use super::sequence::Outstanding;
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

/// The minimum time after which a unit may be considered lost (RFC 9002 §6.1.2).
const GRANULARITY: Duration = Duration(1_000_000);

/// Loss recovery by parity.
#[derive(Debug)]
pub(super) struct Coded {
    /// The settings of selective recovery, if both ends agree on SACK.
    sack: Option<Sack>,
    sizing: Sizing,
    phase: Phase,
    blocks: Blocks,
    meter: DeliveryMeter,
    deadlines: Deadlines,
    /// One past the units of the window whose losses were last reported to the congestion control,
    /// and of the window that was last reduced.
    noticed: u64,
    reduced: u64,
    /// The unit that carries CWR, until it is known to have arrived.
    cwr_unit: Option<u64>,
    /// The unit that serves as a probe, if one is in flight.
    probe: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The timer expired; the unit with this number is the first that was sent after it.
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

    /// Processes an acknowledgement of coded data.
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
            tcb.take_rtt(now, rtt, sampler::samples(flight, tcb.snd.mss));
            out.push(Command::Rtt(rtt));
        }
        if let Some((number, _)) = newest {
            self.on_unit(tcb, now, number, info.delivered);
        }
        let losses = self.find_losses(tcb, now, rtt, flight);
        let marks = self.on_echo(tcb, now, segment, info.delivered, flight);
        self.settle(tcb, now);
        if info.delivered > 0 {
            self.inform(tcb, now, &info, losses.bytes, rtt, marks);
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

    /// The estimated probability that a unit is lost.
    pub(super) fn loss_estimate(&self) -> f64 {
        self.sizing.estimate.value
    }

    /// The unit size of the next block in bytes.
    pub(super) fn unit(&self) -> u64 {
        self.sizing.unit
    }

    /// The unit with this number is the highest that has arrived. Updates the state of the probe,
    /// of a timeout and of CWR.
    fn on_unit(&mut self, tcb: &mut Tcb, now: Instant, number: u64, acked: u64) {
        self.probe = self.probe.filter(|&probe| number < probe);
        self.cwr_unit = self.cwr_unit.filter(|&cwr_unit| number < cwr_unit);
        if let Phase::Loss { expired } = self.phase {
            self.phase = Phase::Open;
            // The unit numbers show at once whether a unit arrived that left before the timeout
            // (RFC 3522).
            let spurious = number < expired;
            if spurious && self.sack.is_some_and(|sack| sack.f_rto) {
                tcb.undo(now, self.blocks.in_flight(), acked);
            } else {
                tcb.cwnd.refresh();
            }
        }
    }

    /// Detects losses (RFC 9002 §6.1) and reports them to the congestion control.
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
            // The unit that carried CWR may be lost: CWR is sent again.
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
            // A congestion control that does not reduce its window for a loss has no recovery.
            if tcb.cwnd.bytes() < before {
                self.on_reduction(tcb);
            }
        }
        losses
    }

    /// The window was reduced: the next unit carries CWR, and echoes of earlier marks cause no
    /// further reduction.
    fn on_reduction(&mut self, tcb: &mut Tcb) {
        self.reduced = self.blocks.next_unit();
        self.cwr_unit = None;
        tcb.ecn.on_reduction(self.reduced);
    }

    /// RFC 3168 §6.1.2, once per window of units. Until CWR is known to have arrived, the receiver
    /// may still echo the old mark.
    fn on_echo(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        delivered: u64,
        flight: u64,
    ) -> Marks {
        let sent = Outstanding { una: tcb.snd.una, nxt: tcb.snd.max };
        let marks = tcb.ecn.read(segment, delivered, tcb.snd.mss, sent);
        let heard = !tcb.ecn.is_cwr_pending() && self.cwr_unit.is_none();
        let newer = self.blocks.top() > tcb.ecn.reduced();
        if marks.any() && self.phase == Phase::Open && heard && newer {
            tcb.counters.marks_answered += 1;
            let (cause, lost, repeated) = (Cause::Ecn, 0, false);
            tcb.cwnd.reduce(&Congestion { now, cause, lost, flight, repeated });
            self.sizing.on_mark();
            self.on_reduction(tcb);
        }
        marks
    }

    /// Updates the loss estimate from blocks whose first transmission is complete, and requests the
    /// units that other blocks lack.
    fn settle(&mut self, tcb: &Tcb, now: Instant) {
        let Self { blocks, sizing: Sizing { estimate, .. }, .. } = self;
        blocks.settle(|units, lost| estimate.count(units, lost));
        blocks.ask(now, tcb.rtt.srtt().unwrap_or_default(), estimate.value);
    }

    /// Passes the acknowledgement to the congestion control, whose window counts units.
    fn inform(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        info: &SackInfo,
        lost: u64,
        rtt: Option<Duration>,
        marks: Marks,
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
            in_flight: self.blocks.in_flight(),
            rtt,
            forward_delay: None,
            delivery,
            due: tcb.pacer.due(),
            may_grow: !tcb.cwnd.is_held_by(marks) && !recovery,
            may_ramp: true,
            state: self.state(),
            marks,
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
            initial_window: Some(Segments(10.0)),
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

    /// The acknowledged sequence number, and the units that have arrived.
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
        // The first of ten is lost. As many units are in flight again, one of them parity of block
        // 1.
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
        // Unit 10 carries CWR. Until it has arrived, an echo refers to an old mark.
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
        // The first units arrive late: they left before the timeout.
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
