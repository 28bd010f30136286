//! Pacing: when the next segment may leave.

use crate::{Command, TimerId};
use kernel::{BitRate, Bytes, Duration, Instant};

/// Paces segments at a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// When the next segment may leave.
    next: Instant,
    /// By how much a segment may be early, so that segments leave in bursts.
    pub(super) burst: Duration,
    /// Whether the timer for the next segment runs.
    waits: bool,
    /// Whether a packet that leaves late takes up to half its time less (`endpoint.linux`), and by
    /// how much the one that is leaving was late, as far as it has not been credited.
    has_credit: bool,
    credit: Duration,
}

impl Pacer {
    pub(super) fn new(has_credit: bool) -> Self {
        Self { has_credit, ..Self::default() }
    }

    /// When the next segment may leave.
    pub(super) fn due(&self) -> Instant {
        self.next
    }

    /// Whether a segment may leave now; otherwise sets the timer for when it may.
    pub(super) fn may_send(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        if self.next <= now + self.burst {
            return true;
        }
        if !self.waits {
            self.waits = true;
            out.push(Command::Set(TimerId::Pacing, self.next));
        }
        false
    }

    /// A segment may leave sooner than at its time, for another reason than the rate: the timer
    /// expires now.
    pub(super) fn wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.waits = true;
        out.push(Command::Set(TimerId::Pacing, now));
    }

    /// Whether a segment that the windows allow waits for its time.
    pub(super) fn is_waiting(&self) -> bool {
        self.waits
    }

    /// A segment with this much data leaves now. Windows, and the rates computed from them, count
    /// data without headers.
    pub(super) fn on_send(&mut self, now: Instant, len: u64, rate: BitRate) {
        let mut time = BitRate(rate.0.max(1)).time_for(Bytes(len));
        if self.has_credit {
            time = self.credited(now, time);
        }
        self.next = self.next.max(now) + time;
    }

    /// What is left of a packet's time after its credit.
    #[inline(never)]
    fn credited(&mut self, now: Instant, time: Duration) -> Duration {
        if self.next <= now {
            self.credit = now.since(self.next);
        }
        let credited = self.credit.min(Duration(time.0 / 2));
        self.credit = self.credit.saturating_sub(credited);
        time.saturating_sub(credited)
    }

    /// A segment leaves now that is not paced: a later one has no credit for the time before.
    #[inline]
    pub(super) fn on_unpaced(&mut self, now: Instant) {
        if self.has_credit {
            self.next = self.next.max(now);
        }
    }

    /// The pacing timer expired; returns whether it was expected.
    pub(super) fn on_timer(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }
}

/// The first segments of a connection are not paced by the window, as in Linux. There the packet
/// that has the last of them is paced, and these segments are not paced by any rate.
pub(super) const UNPACED: u64 = 10;

/// The pacing rate of a window, in bytes and in segments, given the slow start threshold. As in
/// Linux, twice the window leaves in a round trip while the window is below half of the threshold,
/// and then 1.2 times the window (`tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`).
pub(super) fn rate_of(
    window: u64,
    segments: f64,
    ssthresh: Option<f64>,
    srtt: Duration,
) -> BitRate {
    let ratio = if ssthresh.is_none_or(|ssthresh| segments < ssthresh / 2.0) { 2.0 } else { 1.2 };
    BitRate((ratio * window as f64 * 8.0 / srtt.as_secs_f64()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Driven, config, ms, show};
    use crate::{Config, Linux};

    #[test]
    fn segments_leave_a_transmission_time_apart() {
        let (mut pacer, mut out) = (Pacer::default(), Vec::new());
        assert!(pacer.may_send(ms(5), &mut out));
        // 100 bytes at 80 kbit/s take 10 ms.
        pacer.on_send(ms(5), 100, BitRate(80_000));
        assert!(!pacer.may_send(ms(14), &mut out));
        assert!(!pacer.may_send(ms(14), &mut out));
        assert_eq!(show(&mut out), "pace@15", "the timer is set once");
        assert!(pacer.on_timer());
        assert!(!pacer.on_timer(), "a stale timer");
        assert!(pacer.may_send(ms(15), &mut out));
    }

    #[test]
    fn what_was_sent_beyond_the_rate_delays_what_follows() {
        let (mut pacer, mut out) = (Pacer::default(), Vec::new());
        pacer.on_send(ms(0), 100, BitRate(80_000));
        pacer.on_send(ms(0), 100, BitRate(80_000));
        assert!(!pacer.may_send(ms(19), &mut out) && pacer.may_send(ms(20), &mut out));
        pacer.on_send(ms(50), 100, BitRate(80_000));
        assert!(pacer.may_send(ms(60), &mut out), "time that passed unused is not saved");
    }

    #[test]
    fn a_late_packet_takes_at_most_half_of_its_time_less() {
        // 100 bytes take 10 ms.
        let rate = BitRate(80_000);
        let mut pacer = Pacer::new(true);
        pacer.on_unpaced(ms(100));
        // 3 ms late, 8 ms late, and then two segments of a packet that is 7 ms late.
        for (at, due) in [(103, 110), (118, 123), (130, 135), (130, 143), (143, 153)] {
            pacer.on_send(ms(at), 100, rate);
            assert_eq!(pacer.due(), ms(due), "at {at} ms");
        }
        let mut without = Pacer::new(false);
        without.on_unpaced(ms(100));
        without.on_send(ms(103), 100, rate);
        assert_eq!(without.due(), ms(113));
    }

    #[test]
    fn a_sender_of_linux_without_a_rate_saves_no_credit() {
        let due = |pacing_credit| {
            let linux = Linux { pacing_credit, ..Linux::default() };
            let config = Config { endpoint: crate::Endpoint::Linux(linux), ..config() };
            let (tcp, _) = Driven::connected(&config, 300);
            tcp.sender.tcb.pacer.due()
        };
        assert_eq!([due(true), due(false)], [ms(100), Instant::ZERO]);
    }

    #[test]
    fn linux_paces_from_the_packet_with_the_tenth_segment() {
        let unpaced = |gso, segments: u64| {
            let linux = Linux { gso, small_queues: false, ..Linux::default() };
            let config = Config {
                initial_window: Some(kernel::Segments(20.0)),
                endpoint: crate::Endpoint::Linux(linux),
                pacing: true,
                ..config()
            };
            let (tcp, first) = Driven::connected(&config, 100 * segments);
            (first.matches(':').count(), tcp.sender.tcb.pacer.due() > ms(100))
        };
        // In packets of two segments, the fifth is paced: it leaves, and the sixth waits.
        assert_eq!([unpaced(false, 9), unpaced(false, 20)], [(9, false), (10, true)]);
        assert_eq!([unpaced(true, 8), unpaced(true, 20)], [(8, false), (10, true)]);
        assert_eq!(unpaced(true, 9), (9, true), "its tenth segment is not written yet");
    }

    #[test]
    fn a_burst_leaves_together_and_then_waits() {
        let (mut pacer, mut out) = (Pacer::default(), Vec::new());
        pacer.burst = Duration::from_millis(25);
        for _ in 0..3 {
            assert!(pacer.may_send(ms(0), &mut out));
            pacer.on_send(ms(0), 100, BitRate(80_000));
        }
        assert!(!pacer.may_send(ms(0), &mut out));
        assert_eq!(show(&mut out), "pace@30", "when all of it has left at the rate");
    }

    #[test]
    fn the_rate_is_twice_the_window_a_round_trip_and_1_2_times_from_half_the_threshold() {
        let srtt = Duration::from_millis(100);
        assert_eq!(rate_of(10_000, 100.0, None, srtt), BitRate(1_600_000));
        assert_eq!(rate_of(10_000, 100.0, Some(201.0), srtt), BitRate(1_600_000));
        assert_eq!(rate_of(10_000, 100.0, Some(200.0), srtt), BitRate(960_000));
    }
}
