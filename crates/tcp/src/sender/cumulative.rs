//! Recovery by cumulative acknowledgements alone: three duplicate ACKs indicate a loss (RFC 5681
//! §3.2), and `NewReno` repairs one hole per round trip (RFC 6582).

use super::ecn::Marks;
use super::gauges::State;
use super::sequence::Span;
use super::tcb::Tcb;
use super::window::{Arrival, Congestion};
use crate::{Cause, Command};
use kernel::{Duration, Instant};
use wire::Segment;

/// The number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
const DUPLICATES: u32 = 3;

/// Loss recovery without selective acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cumulative {
    phase: Phase,
    /// One past the highest sequence number sent when the last loss was detected: RFC 6582's
    /// `recover`, plus one.
    recover: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// No loss is known; `limited` bytes in flight were sent by limited transmit.
    Open { duplicates: u32, limited: u64 },
    /// Fast recovery: how much the window is inflated (RFC 6582 §3.2), and whether there was a
    /// partial acknowledgement.
    Recovery { inflation: i64, partial: bool },
    /// Slow start after a timeout.
    Loss,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Open { duplicates: 0, limited: 0 }
    }
}

/// The information of an acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
struct AckInfo {
    /// Bytes newly acknowledged.
    acked: u64,
    rtt: Option<Duration>,
    forward_delay: Option<Duration>,
    /// Whether the data that it acknowledges validates the window.
    may_grow: bool,
    /// The congestion marks that it reports.
    marks: Marks,
}

impl Cumulative {
    pub(super) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let una = tcb.snd.una;
        if segment.ack > una {
            self.on_new_ack(tcb, now, segment, out);
        } else if segment.ack == una {
            // RFC 5681 §2: outstanding data; a segment without data, SYN or FIN; the same window.
            let same = segment.window == tcb.snd.wnd;
            if !tcb.snd.is_idle() && segment.seq_len() == 0 && same {
                self.on_duplicate_ack(tcb, now, out);
            } else {
                tcb.set_peer_window(segment.window);
                self.transmit(tcb, now, out);
            }
        }
    }

    pub(super) fn on_timer(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        if !tcb.snd.is_idle() {
            self.on_timeout(tcb, now, out);
        }
    }

    pub(super) fn transmit(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        tcb.end_idle(now);
        let window = match self.phase {
            Phase::Recovery { inflation, .. } => tcb.cwnd.bytes().saturating_add_signed(inflation),
            Phase::Open { .. } | Phase::Loss => tcb.cwnd.bytes(),
        };
        loop {
            let flight = tcb.snd.nxt - tcb.snd.una;
            let Some(span) = tcb.snd.cut(flight, window) else { break };
            let leaves = match self.phase {
                Phase::Open { .. } => tcb.may_leave_new(now, flight, window, out),
                Phase::Recovery { .. } | Phase::Loss => tcb.may_leave(now, out),
            };
            if !leaves {
                break;
            }
            self.send(tcb, now, span, out);
        }
        tcb.on_transmitted(tcb.snd.nxt - tcb.snd.una, out);
        tcb.start_timer(now, out);
    }

    pub(super) fn state(&self) -> State {
        match self.phase {
            Phase::Open { .. } => State::Open,
            Phase::Recovery { .. } => State::Recovery,
            Phase::Loss => State::Loss,
        }
    }

    pub(super) fn is_disordered(&self) -> bool {
        matches!(self.phase, Phase::Open { duplicates: 1.., .. })
    }

    // ---- acknowledgements ----

    fn on_new_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let flight = tcb.snd.nxt - tcb.snd.una;
        let acked = segment.ack - tcb.snd.una;
        tcb.snd.una = segment.ack;
        tcb.snd.nxt = tcb.snd.nxt.max(segment.ack);
        tcb.set_peer_window(segment.window);
        let rtt = tcb.take_sample(now, segment, flight, out);
        let forward_delay = tcb.sampler.forward_delay(segment);
        let mut info = AckInfo { acked, rtt, forward_delay, may_grow: true, marks: Marks::None };
        if tcb.eifel.on_ack(tcb.sampler.echoed(segment), false, segment.ack == tcb.snd.max)
            && !tcb.ecn.is_echoed(segment)
        {
            self.undo(tcb, now, acked);
            info.may_grow = false;
        }
        let covered = segment.ack >= self.recover;
        // RFC 6298 (5.3). However, only the first partial acknowledgement of a recovery restarts
        // the timer (RFC 6582 §3.2, the impatient variant).
        let mut restart = true;
        match self.phase {
            Phase::Recovery { inflation, partial } if !covered => {
                restart = !partial;
                self.inform(tcb, now, &AckInfo { may_grow: false, ..info });
                self.on_partial_ack(tcb, now, inflation, acked, out);
            }
            Phase::Recovery { .. } => {
                // The data that is acknowledged was sent during recovery and does not validate the
                // window.
                self.phase = Phase::default();
                self.inform(tcb, now, &AckInfo { may_grow: false, ..info });
                leave_recovery(tcb, now);
            }
            Phase::Open { .. } | Phase::Loss => {
                if matches!(self.phase, Phase::Loss) && covered {
                    tcb.on_recovered(now);
                }
                if covered || matches!(self.phase, Phase::Open { .. }) {
                    self.phase = Phase::default();
                }
                let is_open = self.state() == State::Open;
                info.marks = tcb.on_echo(now, segment, acked, flight, is_open);
                self.inform(tcb, now, &info);
            }
        }
        let timer = if restart { tcb.timer.take() } else { tcb.timer };
        self.transmit(tcb, now, out);
        if timer.is_running() && !tcb.timer.is_running() {
            out.push(Command::Cancel(crate::TimerId::Retransmit));
        }
    }

    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        tcb.counters.duplicate_acks += 1;
        match &mut self.phase {
            Phase::Recovery { inflation, .. } => {
                // Each duplicate ACK shows that a segment has left the network.
                *inflation += tcb.snd.mss as i64;
                self.transmit(tcb, now, out);
            }
            Phase::Open { duplicates, limited } => {
                *duplicates = duplicates.saturating_add(1);
                let (duplicates, limited) = (*duplicates, *limited);
                if duplicates < DUPLICATES {
                    self.transmit_limited(tcb, now, out);
                } else if duplicates == DUPLICATES && tcb.snd.una > self.recover {
                    // RFC 6582 §3.2: only if the acknowledgement covers more than `recover`;
                    // otherwise unnecessary retransmissions may have caused the duplicate ACKs.
                    self.enter_recovery(tcb, now, limited, out);
                }
            }
            Phase::Loss => {}
        }
    }

    /// RFC 3042: one new segment for each of the first two duplicate ACKs, up to two segments
    /// beyond the window.
    fn transmit_limited(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let Phase::Open { duplicates, limited } = &mut self.phase else { return };
        if !tcb.config.limited_transmit {
            return;
        }
        let extra = u64::from(*duplicates) * tcb.snd.mss;
        let flight = tcb.snd.nxt - tcb.snd.una;
        let window = tcb.cwnd.bytes();
        if let Some(span) = tcb.snd.cut(flight, window.saturating_add(extra)) {
            if flight + span.len > window {
                *limited += span.len;
            }
            self.send(tcb, now, span, out);
        }
    }

    // ---- recovery ----

    fn enter_recovery(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        limited: u64,
        out: &mut Vec<Command>,
    ) {
        tcb.counters.fast_retransmits += 1;
        // RFC 5681 §3.2: segments sent by limited transmit are not counted.
        let flight = tcb.snd.nxt - tcb.snd.una - limited;
        let (cause, lost) = (Cause::FastRetransmit, tcb.snd.mss);
        tcb.on_loss(&Congestion { now, cause, lost, flight, repeated: false });
        self.recover = tcb.snd.max;
        let inflation = i64::from(DUPLICATES) * tcb.snd.mss as i64;
        self.phase = Phase::Recovery { inflation, partial: false };
        self.resend_first(tcb, now, out);
        // The retransmission gets a full timeout after the round trip that detected the loss. RFC
        // 6298 (5.1) would let the timer run on; BSD, Linux and ns-2 restart it.
        tcb.timer.take();
        self.transmit(tcb, now, out);
    }

    /// RFC 6582 §3.2, partial acknowledgements: retransmits the next hole, deflates the window by
    /// the acknowledged data and adds one segment.
    fn on_partial_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        mut inflation: i64,
        acked: u64,
        out: &mut Vec<Command>,
    ) {
        inflation -= acked as i64;
        if acked >= tcb.snd.mss {
            inflation += tcb.snd.mss as i64;
        }
        if tcb.cwnd.is_owned() {
            // Deflation below its window would replace the decision of the congestion control.
            inflation = inflation.max(0);
        }
        self.phase = Phase::Recovery { inflation, partial: true };
        self.resend_first(tcb, now, out);
    }

    /// The loss was spurious, as an acknowledgement of `acked` bytes shows: sending continues with
    /// new data (RFC 4015 §3.1, step (8)).
    fn undo(&mut self, tcb: &mut Tcb, now: Instant, acked: u64) {
        self.phase = Phase::default();
        self.recover = tcb.snd.una;
        tcb.snd.nxt = tcb.snd.max;
        tcb.undo(now, tcb.snd.outstanding(), acked);
    }

    /// RFC 6298 (5.4) to (5.6), and RFC 5681 §3.1: all outstanding data is retransmitted by slow
    /// start.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let repeated = tcb.on_expiry();
        let flight = tcb.snd.nxt - tcb.snd.una;
        tcb.on_loss(&Congestion { now, cause: Cause::Timeout, lost: flight, flight, repeated });
        self.recover = tcb.snd.max;
        self.phase = Phase::Loss;
        tcb.snd.nxt = tcb.snd.una;
        self.transmit(tcb, now, out);
    }

    // ---- sending ----

    /// Retransmits the first outstanding segment and leaves SND.NXT where it is.
    fn resend_first(&self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let nxt = tcb.snd.nxt;
        self.send(tcb, now, tcb.snd.first(), out);
        tcb.snd.nxt = nxt;
    }

    fn send(&self, tcb: &mut Tcb, now: Instant, span: Span, out: &mut Vec<Command>) {
        let (end, flight) = (span.end(), tcb.snd.nxt - tcb.snd.una);
        let fresh = span.seq >= tcb.snd.max;
        // RTT is measured only while no loss is known, since nothing is retransmitted then (Karn's
        // algorithm).
        if self.state() == State::Open {
            tcb.sampler.on_send(now, end);
        }
        tcb.snd.max = tcb.snd.max.max(end);
        tcb.snd.nxt = end;
        tcb.put(now, span, fresh, flight, out);
    }

    /// Passes a cumulative acknowledgement to the congestion control.
    fn inform(&self, tcb: &mut Tcb, now: Instant, info: &AckInfo) {
        let AckInfo { acked, rtt, forward_delay, may_grow, marks } = *info;
        let state = self.state();
        tcb.validate(now, acked, state);
        let arrival = Arrival {
            now,
            acked,
            delivered: acked,
            lost: 0,
            in_flight: tcb.snd.nxt - tcb.snd.una,
            rtt,
            forward_delay,
            delivery: None,
            due: tcb.pacer.due(),
            may_grow: may_grow && !tcb.cwnd.is_held_by(marks),
            may_ramp: may_grow,
            state,
            marks,
        };
        tcb.cwnd.on_ack(&arrival, &tcb.rtt);
    }
}

/// RFC 6582 §3.2, full acknowledgements, (1): min(ssthresh, max(FlightSize, SMSS) + SMSS).
fn leave_recovery(tcb: &mut Tcb, now: Instant) {
    tcb.on_recovered(now);
    if !tcb.cwnd.is_owned() {
        let in_flight = tcb.cwnd.in_segments(tcb.snd.nxt - tcb.snd.una).0;
        tcb.cwnd.start_ramp(in_flight.max(1.0) + 1.0, f64::INFINITY);
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Driven, config, segment};
    use crate::{Config, State};
    use kernel::Segments;
    use wire::{Flags, Segment};

    /// Ten segments in flight, the first of which is 1:101. The window does not grow before the
    /// first loss.
    fn ten(more: &Config) -> Driven {
        let config = Config {
            initial_window: Some(Segments(10.0)),
            initial_ssthresh: Some(Segments(10.0)),
            ..*more
        };
        let (tcp, first) = Driven::connected(&config, u64::MAX);
        assert!(first.ends_with("901:1001, rto@400"));
        tcp
    }

    #[test]
    fn two_duplicates_send_new_data_and_the_third_resends() {
        let mut tcp = ten(&config());
        assert_eq!(tcp.ack(200, 1), "1001:1101", "RFC 3042");
        assert_eq!(tcp.ack(201, 1), "1101:1201");
        assert_eq!(tcp.sender.window_segments(), 10.0, "without touching the window");
        assert_eq!(tcp.ack(202, 1), "1:101, rto@502", "fast retransmit; the timer restarts");
        // RFC 5681 §3.2: half of ten; the two segments of limited transmit are not counted.
        assert_eq!(tcp.sender.ssthresh_segments(), Some(5.0));
        assert_eq!(tcp.sender.window_segments(), 5.0);
        assert_eq!(tcp.sender.state(), State::Recovery);
        // The window is inflated to 5 + 3 = 8. Twelve segments are in flight, so that five more
        // duplicate ACKs release the next.
        for at in 203..207 {
            assert_eq!(tcp.ack(at, 1), "");
        }
        assert_eq!(tcp.ack(207, 1), "1201:1301");
        assert_eq!(tcp.ack(208, 1), "1301:1401");
        let counters = tcp.sender.counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
        assert_eq!((counters.retransmissions, counters.duplicate_acks), (1, 9));
    }

    #[test]
    fn limited_transmit_can_be_off() {
        let mut tcp = ten(&Config { limited_transmit: false, ..config() });
        assert_eq!(tcp.ack(200, 1), "");
        assert_eq!(tcp.ack(201, 1), "");
        assert_eq!(tcp.ack(202, 1), "1:101, rto@502");
    }

    #[test]
    fn a_full_acknowledgement_ends_recovery_without_a_burst() {
        let mut tcp = ten(&config());
        for at in 200..209 {
            tcp.ack(at, 1);
        }
        // `recover` is 1200. Two segments were sent after it: FlightSize is 2, so that the window
        // is min(5, 2 + 1) = 3.
        assert_eq!(tcp.ack(300, 1201), "1401:1501, rto@600");
        assert_eq!(tcp.sender.state(), State::Open);
        assert_eq!(tcp.sender.window_segments(), 3.0);
        assert_eq!(tcp.ack(310, 1301), "1501:1601, 1601:1701, rto@610", "slow start to 5");
        assert_eq!(tcp.ack(320, 1401), "1701:1801, 1801:1901, rto@620");
        assert_eq!(tcp.sender.window_segments(), 5.0);
        assert_eq!(tcp.ack(330, 1501), "rtt 30, 1901:2001, rto@641", "then congestion avoidance");
        tcp.ack(340, 1801);
        assert_eq!(tcp.sender.window_segments(), 5.0, "four of five acknowledged");
        tcp.ack(350, 1901);
        assert_eq!(tcp.sender.window_segments(), 6.0);
    }

    #[test]
    fn a_partial_acknowledgement_fills_the_next_hole() {
        let mut tcp = ten(&config());
        for at in 200..209 {
            tcp.ack(at, 1);
        }
        // Segments 1, 4 and 6 are lost. The window is inflated to 14. The acknowledgement of 300
        // bytes leaves 11, plus one is 12. Eleven segments are in flight, so that one new segment
        // leaves. The first partial acknowledgement restarts the timer …
        assert_eq!(tcp.ack(300, 301), "301:401, 1401:1501, rto@600");
        // … and the second does not: 12 - 2 + 1 = 11 with ten in flight.
        assert_eq!(tcp.ack(400, 501), "501:601, 1501:1601");
        assert_eq!(tcp.sender.state(), State::Recovery);
        assert_eq!(tcp.sender.window_segments(), 5.0);
        assert!(tcp.ack(500, 1201).ends_with("rto@800"));
        assert_eq!(tcp.sender.state(), State::Open);
        assert_eq!(tcp.sender.counters().fast_retransmits, 1, "one reduction for three losses");
    }

    #[test]
    fn less_than_a_segment_gives_none_back() {
        let mut tcp = ten(&config());
        for at in 200..209 {
            tcp.ack(at, 1);
        }
        // The window is inflated to 14 with 14 in flight. After half a segment it is 13.5 with 13.5
        // in flight.
        assert_eq!(tcp.ack(300, 51), "51:151, rto@600");
        assert_eq!(tcp.ack(310, 51), "1401:1501", "a duplicate inflates by one");
    }

    #[test]
    fn duplicates_do_not_start_recovery_until_more_than_recover_is_covered() {
        let mut tcp = ten(&config());
        for at in 200..209 {
            tcp.ack(at, 1);
        }
        tcp.ack(300, 1201);
        for at in 301..310 {
            assert!(!tcp.ack(at, 1201).contains("1201:"), "RFC 6582 §3.2, step 2");
        }
        assert_eq!(tcp.sender.state(), State::Open);
        tcp.ack(320, 1301);
        tcp.ack(321, 1301);
        tcp.ack(322, 1301);
        assert!(tcp.ack(323, 1301).starts_with("1301:1401"));
        assert_eq!(tcp.sender.counters().fast_retransmits, 2);
    }

    #[test]
    fn what_makes_a_duplicate() {
        let mut tcp = ten(&config());
        let plain = segment(false, 1, 0, 1, Flags::ACK);
        for at in 200..204 {
            tcp.segment(at, &Segment { window: 20_000 + at, ..plain });
            tcp.segment(at, &Segment { len: 10, window: 20_000 + at, ..plain });
            tcp.segment(at, &Segment { window: 20_000 + at, seq: 1, ..plain });
        }
        // Of each three acknowledgements, the first changed the window and the second has data; the
        // third is a duplicate ACK.
        assert_eq!(tcp.sender.counters().duplicate_acks, 4);
        let mut idle = Driven::new(&config());
        idle.open(0);
        idle.syn_ack(100);
        idle.ack(200, 1);
        assert_eq!(idle.sender.counters().duplicate_acks, 0, "nothing is outstanding");
    }

    #[test]
    fn a_timeout_resends_by_slow_start() {
        let mut tcp = ten(&config());
        assert_eq!(tcp.timer(400), "1:101, rto@1000", "the timeout doubles to 600");
        assert_eq!(tcp.sender.state(), State::Loss);
        assert_eq!(tcp.sender.window_segments(), 1.0);
        assert_eq!(tcp.sender.ssthresh_segments(), Some(5.0));
        assert_eq!(tcp.sender.in_flight_bytes(), 100);
        // Retransmitted data gives no RTT sample, so that the timeout stays doubled (Karn's
        // algorithm, RFC 6298 §5).
        assert_eq!(tcp.ack(500, 101), "101:201, 201:301, rto@1100");
        // The receiver had stored the other segments: SND.NXT jumps ahead.
        assert_eq!(tcp.ack(600, 901), "901:1001, 1001:1101, 1101:1201, rto@1200");
        assert_eq!(tcp.sender.window_segments(), 3.0, "RFC 3465 §2.3: L = 1 after a timeout");
        assert_eq!(tcp.sender.state(), State::Loss);
        assert_eq!(tcp.ack(700, 1001), "1201:1301, 1301:1401, rto@1300");
        assert_eq!(tcp.sender.state(), State::Open, "all that was outstanding is acknowledged");
        assert!(tcp.ack(800, 1101).contains("rto@1400"), "1001:1101 was sent before `recover`");
        assert!(tcp.ack(810, 1201).contains("rto@1410"));
        assert_eq!(tcp.ack(820, 1301), "rtt 120, 1701:1801, rto@1092", "a sample ends it");
        let counters = tcp.sender.counters();
        assert_eq!((counters.timeouts, counters.retransmissions), (1, 4));
    }

    #[test]
    fn a_timestamp_ends_the_back_off_at_once() {
        let config = Config { timestamps: true, initial_window: Some(Segments(10.0)), ..config() };
        let mut tcp = Driven::new(&config);
        tcp.open(0);
        tcp.write(0, u64::MAX);
        let timestamps = Some(wire::Timestamps::default());
        let flags = Flags::SYN.and(Flags::ACK);
        tcp.segment(100, &Segment { timestamps, ..segment(false, 0, 0, 1, flags) });
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
        assert!(tcp.ack_echo(500, 101, 400).starts_with("rtt 100, 101:201"));
        assert!(tcp.sender.rto().0 < 300_000_001);
    }

    #[test]
    fn a_segment_that_times_out_again_keeps_the_threshold() {
        let mut tcp = ten(&config());
        tcp.timer(400);
        assert_eq!(tcp.timer(1000), "1:101, rto@2200");
        assert_eq!(tcp.timer(2200), "1:101, rto@4600");
        assert_eq!(tcp.sender.ssthresh_segments(), Some(5.0));
        // An acknowledgement advances, and another segment times out: this is a new loss, with two
        // in flight.
        tcp.ack(2300, 101);
        assert_eq!(tcp.timer(4700), "101:201, rto@9500");
        assert_eq!(tcp.sender.ssthresh_segments(), Some(2.0));
    }

    #[test]
    fn after_a_timeout_echoes_of_resent_data_do_not_start_recovery() {
        let mut tcp = ten(&config());
        tcp.timer(400);
        tcp.ack(500, 101);
        for at in 501..506 {
            assert_eq!(tcp.ack(at, 101), "");
        }
        assert_eq!(tcp.sender.state(), State::Loss);
        tcp.ack(600, 1001);
        let before = tcp.sender.counters().retransmissions;
        for at in 601..606 {
            tcp.ack(at, 1001);
        }
        assert_eq!(tcp.sender.state(), State::Open);
        assert_eq!(tcp.sender.counters().retransmissions, before);
    }

    #[test]
    fn a_timeout_during_recovery_starts_over() {
        let mut tcp = ten(&config());
        for at in 200..209 {
            tcp.ack(at, 1);
        }
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
        assert_eq!(tcp.sender.state(), State::Loss);
        // RFC 5681 §4.3: a second loss lowers the window of five again. FlightSize is 14 with the
        // segments sent in recovery, half of which would raise it.
        assert_eq!(tcp.sender.ssthresh_segments(), Some(2.5));
        assert_eq!(tcp.ack(500, 1401), "1401:1501, 1501:1601, rto@1100");
        assert_eq!(tcp.sender.state(), State::Open);
    }

    #[test]
    fn the_timer_stops_with_the_last_acknowledgement() {
        let (mut tcp, _) = Driven::connected(&config(), 200);
        assert_eq!(tcp.ack(200, 101), "rtt 100, rto@450");
        assert_eq!(tcp.ack(210, 201), "rto off");
        assert_eq!(tcp.timer(450), "", "stale");
        assert_eq!(tcp.sender.counters().timeouts, 0);
    }

    #[test]
    fn a_lost_tail_with_its_fin_is_resent_with_it() {
        let (mut tcp, _) = Driven::connected(&config(), 350);
        tcp.ack(200, 101);
        assert_eq!(tcp.close(210), "F ack 1");
        assert_eq!(tcp.timer(450), "101:201, rto@950");
        assert_eq!(tcp.ack(550, 201), "201:301, 301:351 F, rto@1050");
        let (mut tcp, _) = Driven::connected(&config(), 350);
        tcp.close(110);
        tcp.ack(200, 301);
        tcp.ack(201, 301);
        tcp.ack(202, 301);
        assert_eq!(tcp.ack(203, 301), "301:351 F, rto@453", "fast retransmit");
    }
}
