//! `NewReno`: slow start and congestion avoidance of RFC 5681, with RFC 3465's byte counting.

use super::{Ack, Cause, Control, Loss};
use crate::Config;
use kernel::Segments;

/// What makes the window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The data acknowledged (RFC 3465): at most `limit` segments per acknowledgement in slow
    /// start, one in the slow start after a timeout (§2.3); one segment per window acknowledged
    /// in congestion avoidance (§2.1).
    Bytes {
        /// RFC 3465's L: 2 at most, 1 to be conservative.
        limit: u32,
    },
    /// The acknowledgements, whatever they cover: one segment each in slow start, 1/window each
    /// in congestion avoidance. ns-2's rule.
    Acks,
}

/// Slow start and congestion avoidance of RFC 5681; the half of RFC 6582 that holds during fast
/// recovery is the sender's.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: f64,
    ssthresh: f64,
    counting: Counting,
    /// Acknowledged in congestion avoidance since the window last grew (RFC 3465's
    /// `bytes_acked`).
    credit: f64,
    /// Whether this slow start follows a timeout (RFC 3465 §2.3).
    after_timeout: bool,
}

impl NewReno {
    /// A controller that starts with this window; `ssthresh` of `None` is arbitrarily high.
    pub fn new(initial_window: Segments, ssthresh: Option<Segments>) -> Self {
        Self {
            window: initial_window.0.max(1.0),
            ssthresh: ssthresh.map_or(f64::INFINITY, |s| s.0),
            counting: Counting::Bytes { limit: 2 },
            credit: 0.0,
            after_timeout: false,
        }
    }

    /// The same controller with another way of counting.
    #[must_use]
    pub fn counting(self, counting: Counting) -> Self {
        Self { counting, ..self }
    }

    fn slow_start(&mut self, acked: f64) {
        let step = match self.counting {
            Counting::Acks => 1.0,
            Counting::Bytes { .. } if self.after_timeout => acked.min(1.0),
            Counting::Bytes { limit } => acked.min(f64::from(limit)),
        };
        self.window = (self.window + step).min(self.ssthresh.max(self.window));
    }

    fn avoid_congestion(&mut self, acked: f64) {
        match self.counting {
            Counting::Acks => self.window += 1.0 / self.window,
            Counting::Bytes { .. } => {
                self.credit += acked;
                // One segment per round trip at most, however much one acknowledgement covers.
                if self.credit >= self.window {
                    self.credit = (self.credit - self.window).min(self.window);
                    self.window += 1.0;
                }
            }
        }
    }
}

impl From<&Config> for NewReno {
    fn from(config: &Config) -> Self {
        Self::new(config.initial_window, config.initial_ssthresh)
    }
}

impl Control for NewReno {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        if self.window < self.ssthresh {
            self.slow_start(ack.acked.0);
        } else {
            self.after_timeout = false;
            self.avoid_congestion(ack.acked.0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if !loss.repeated {
            // RFC 5681 equation (4).
            self.ssthresh = (loss.in_flight.0 / 2.0).max(2.0);
        }
        self.credit = 0.0;
        self.after_timeout = loss.cause == Cause::Timeout;
        self.window = if self.after_timeout { 1.0 } else { self.ssthresh };
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh_segments", self.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Duration, Instant};

    fn ack(acked: f64) -> Ack {
        Ack {
            now: Instant::ZERO,
            acked: Segments(acked),
            in_flight: Segments(10.0),
            rtt: None,
            srtt: Duration::ZERO,
            rtt_min: Duration::ZERO,
            delivery: None,
            app_limited: false,
            ecn_echo: false,
        }
    }

    fn loss(cause: Cause, in_flight: f64, repeated: bool) -> Loss {
        let (now, lost) = (Instant::ZERO, Segments(1.0));
        Loss { now, cause, lost, in_flight: Segments(in_flight), repeated }
    }

    fn after(control: &mut NewReno, acks: &[f64]) -> f64 {
        for &acked in acks {
            control.on_ack(&ack(acked));
        }
        control.window().0
    }

    #[test]
    fn slow_start_counts_bytes_up_to_l() {
        let mut control = NewReno::new(Segments(2.0), None);
        assert_eq!(after(&mut control, &[1.0]), 3.0);
        assert_eq!(after(&mut control, &[2.0]), 5.0);
        assert_eq!(after(&mut control, &[4.0]), 7.0, "a stretch ACK counts L = 2");
        assert_eq!(after(&mut control, &[0.5]), 7.5, "half a segment counts half");
    }

    #[test]
    fn slow_start_after_a_timeout_counts_one_segment() {
        let mut control = NewReno::new(Segments(20.0), None);
        control.on_loss(&loss(Cause::Timeout, 20.0, false));
        assert_eq!(control.window().0, 1.0);
        assert_eq!(after(&mut control, &[4.0, 4.0]), 3.0);
        assert_eq!(after(&mut control, &[1.0; 7]), 10.0, "slow start ends at half of the flight");
        assert_eq!(after(&mut control, &[10.0]), 11.0);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_per_window() {
        let mut control = NewReno::new(Segments(4.0), Some(Segments(4.0)));
        assert_eq!(after(&mut control, &[1.0; 3]), 4.0);
        assert_eq!(after(&mut control, &[1.0]), 5.0);
        assert_eq!(after(&mut control, &[2.0, 2.0]), 5.0);
        assert_eq!(after(&mut control, &[2.0]), 6.0, "and one byte-counted segment is left");
        assert_eq!(after(&mut control, &[5.0]), 7.0);
        assert_eq!(after(&mut control, &[100.0]), 8.0, "one segment, however much is covered");
    }

    #[test]
    fn counting_acks_is_the_rule_of_ns2() {
        let start = NewReno::new(Segments(1.0), Some(Segments(4.0)));
        let mut control = start.counting(Counting::Acks);
        assert_eq!(after(&mut control, &[4.0; 3]), 4.0);
        assert_eq!(after(&mut control, &[4.0]), 4.25);
        assert_eq!(after(&mut control, &[1.0]), 4.25 + 1.0 / 4.25);
    }

    #[test]
    fn a_hole_halves_what_is_outstanding() {
        let mut control = NewReno::new(Segments(40.0), None);
        control.on_loss(&loss(Cause::Sack, 17.0, false));
        assert_eq!(control.window().0, 8.5);
        control.on_loss(&loss(Cause::Ecn, 3.0, false));
        assert_eq!(control.window().0, 2.0, "never below two segments");
    }

    #[test]
    fn a_repeated_timeout_keeps_the_threshold() {
        let mut control = NewReno::new(Segments(40.0), None);
        control.on_loss(&loss(Cause::Timeout, 40.0, false));
        control.on_loss(&loss(Cause::Timeout, 1.0, true));
        assert_eq!(after(&mut control, &[1.0; 19]), 20.0);
        assert_eq!(after(&mut control, &[1.0; 19]), 20.0, "congestion avoidance from 20");
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut control = NewReno::new(Segments(4.0), None);
        control.on_ack(&Ack { app_limited: true, ..ack(1.0) });
        assert_eq!(control.window().0, 4.0);
    }

    #[test]
    fn the_threshold_is_shown() {
        let mut seen = Vec::new();
        let control = NewReno::new(Segments(4.0), Some(Segments(64.0)));
        control.gauges(&mut |name, value| seen.push((name, value)));
        assert_eq!(seen, [("ssthresh_segments", 64.0)]);
    }
}
