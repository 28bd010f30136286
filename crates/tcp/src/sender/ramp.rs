//! A slow start of the sender itself, below the window of the congestion control.

/// Limits the window and lets it rise by slow start to the window of the congestion control. It
/// avoids a burst where the ACK clock has stopped: after fast recovery (RFC 6582 §3.2), after an
/// idle time (RFC 5681 §4.1), after a lost SYN (RFC 6928 §2) and after a spurious timeout (RFC 4015
/// §3.1). After a loss in an unused window it holds the window at what was used (RFC 7661 §4.4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ramp {
    /// The window, in segments.
    pub(super) window: f64,
    /// The threshold: slow start below it, congestion avoidance above it.
    pub(super) ssthresh: f64,
}

impl Ramp {
    /// New data was acknowledged: slow start with RFC 3465's L = 2 below the threshold, else one
    /// segment per window.
    pub(super) fn on_ack(&mut self, acked: f64) {
        let step = if self.window < self.ssthresh { acked.min(2.0) } else { acked / self.window };
        self.window += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_slow_start_to_its_threshold_and_then_a_segment_a_window() {
        let mut ramp = Ramp { window: 1.0, ssthresh: 4.0 };
        ramp.on_ack(1.0);
        assert_eq!(ramp.window, 2.0);
        ramp.on_ack(5.0);
        assert_eq!(ramp.window, 4.0, "RFC 3465 §2.3: L = 2");
        ramp.on_ack(2.0);
        assert_eq!(ramp.window, 4.5);
    }
}
