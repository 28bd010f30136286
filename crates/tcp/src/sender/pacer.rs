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
}

impl Pacer {
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

    /// Whether a segment that the windows allow waits for its time.
    pub(super) fn is_waiting(&self) -> bool {
        self.waits
    }

    /// A segment with this much data leaves now. Windows, and the rates computed from them, count
    /// data without headers.
    pub(super) fn on_send(&mut self, now: Instant, len: u64, rate: BitRate) {
        self.next = self.next.max(now) + BitRate(rate.0.max(1)).time_for(Bytes(len));
    }

    /// The pacing timer expired; returns whether it was expected.
    pub(super) fn on_timer(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }
}

/// The first segments of a connection are not paced by the window, as in Linux.
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
    use crate::harness::{ms, show};

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
