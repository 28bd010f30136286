//! Whether the congestion window limits the sender. A window that does not limit the sender is not
//! validated by its acknowledgements, and does not grow (RFC 7661 §1, RFC 9438 §5.8).

use super::sequence::Outstanding;

/// The use of the congestion window in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The greatest amount of data in flight.
    peak: u64,
    /// Whether less than a segment of the window was left at some time.
    is_limited: bool,
    /// The round trip ends when this sequence number is acknowledged.
    round_end: u64,
}

impl Usage {
    /// The sender has sent all that it may: `flight` bytes are in flight in a window of `window`
    /// bytes, or a window that `is_limited` although it has room. The end of what is outstanding
    /// delimits the round trip.
    pub(super) fn on_transmitted(
        &mut self,
        flight: u64,
        window: u64,
        mss: u64,
        is_limited: bool,
        round: Outstanding,
    ) {
        let is_limited = is_limited || flight + mss > window;
        if round.una >= self.round_end {
            *self = Self { peak: flight, is_limited, round_end: round.nxt };
        } else {
            self.peak = self.peak.max(flight);
            self.is_limited |= is_limited;
        }
    }

    /// Whether a window of this size may grow. In slow start the window may become twice what was
    /// in flight, as a round trip of a sender that it limits makes it.
    pub(super) fn may_grow(&self, window: u64, is_slow_start: impl FnOnce() -> bool) -> bool {
        self.is_limited || window < 2 * self.peak && is_slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_what_was_in_flight_and_avoidance_needs_a_full_window() {
        let mut usage = Usage::default();
        usage.on_transmitted(1000, 1000, 100, false, Outstanding { una: 1, nxt: 1001 });
        assert!(usage.may_grow(1900, || true));
        // The application has no more data: nine segments are in flight in a window of eleven.
        usage.on_transmitted(900, 1100, 100, false, Outstanding { una: 101, nxt: 1001 });
        assert!(usage.may_grow(1100, || false), "the window was full in this round trip");
        usage.on_transmitted(600, 2000, 100, false, Outstanding { una: 1001, nxt: 1601 });
        assert!(!usage.may_grow(2000, || true), "the next round trip uses less than half");
        assert!(usage.may_grow(1100, || true) && !usage.may_grow(1100, || false));
        usage.on_transmitted(900, 1100, 100, true, Outstanding { una: 1601, nxt: 2501 });
        assert!(usage.may_grow(1100, || false), "what the window has room for waits for more");
    }
}
