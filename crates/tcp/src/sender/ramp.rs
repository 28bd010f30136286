//! A sender's own slow start, below the window its controller would allow.

/// Holds the window below the controller's and lets it rise by slow start, so that a burst is
/// avoided where the acknowledgement clock has stopped: after fast recovery (RFC 6582 §3.2), after
/// an idle time (RFC 5681 §4.1) and after a lost SYN (RFC 5681 §3.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ramp {
    /// The window, in segments.
    pub(super) window: f64,
    /// Slow start up to here, congestion avoidance from here on.
    pub(super) ssthresh: f64,
}

impl Ramp {
    /// New data was acknowledged: slow start with RFC 3465's L = 2, else one segment a window.
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
