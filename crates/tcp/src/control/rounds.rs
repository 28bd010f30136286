//! Round trips as a congestion control observes them: by the amount acknowledged, not by sequence
//! numbers.

use super::Ack;

/// Detects the end of a round trip: the first acknowledgement after which more has been delivered
/// than was outstanding at its beginning, and which therefore covers data that was sent in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    left: f64,
}

impl Rounds {
    /// Whether this acknowledgement ends a round trip and begins the next.
    pub(super) fn on_ack(&mut self, ack: &Ack) -> bool {
        self.left -= ack.delivered.0;
        // Amounts are bytes over the segment size: exact except for rounding.
        let ends = self.left < -1e-6;
        if ends {
            self.left = ack.in_flight.0;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::ack;
    use kernel::Segments;

    #[test]
    fn a_round_ends_with_the_first_that_left_in_it() {
        let mut rounds = Rounds::default();
        let mut on_ack =
            |acked, flight| rounds.on_ack(&Ack { in_flight: Segments(flight), ..ack(acked) });
        assert!(on_ack(1.0, 9.0), "the first acknowledgement begins the count");
        assert!(!on_ack(4.0, 10.0));
        assert!(!on_ack(5.0, 10.0), "the nine that had left before");
        assert!(on_ack(1.0, 10.0), "and the first that left after");
        assert!(!on_ack(10.0, 10.0));
        assert!(on_ack(2.0, 10.0));
    }
}
