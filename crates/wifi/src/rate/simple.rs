//! The rate control of the LT-TCP study.

use super::arf::{Arf, ArfCount, Patience};
use super::{LinkModes, RateControl, Rule};
use crate::phy::error::ErrorModel;
use kernel::Rng;
use settings::Settings;

/// The rate control of the LT-TCP study: two consecutive failures lower the rate, ten consecutive
/// successes raise it, and there is no other rule.
// "Impact of Interference and Capture Effects in 802.11 Wireless Networks on TCP" (V. Subramanian
// and others, section IV-B): the rate is reduced when successive attempts fail and raised when they
// succeed. It names no numbers; these are ARF's, without its timer and without probes.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Simple {}

impl Rule for Simple {
    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        let count = ArfCount::new(10, 2, Patience::Endless);
        Some(Box::new(Arf { ladder: link.ladder(), count, probes: false }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, build};
    use super::*;

    #[test]
    fn successive_failures_count_at_any_rate() {
        let mut script = Script::new(build(&Simple {}));
        assert_eq!(script.places("++++++++++"), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(script.places("-+-"), [1, 1, 1], "neither the first nor two apart");
        assert_eq!(script.places("-"), [0]);
        assert_eq!(script.places("+-+-+-+-+-+-+-+-+-+-"), [0; 20], "nothing but runs counts");
        assert_eq!(script.places("+++++++++-++++++++++").last(), Some(&1), "ten in a row");
    }

    #[test]
    fn attempts_alone_do_not_raise_the_rate() {
        let mut script = Script::new(build(&Simple {}));
        script.places("++++-++++-++++-++++-++++-++++");
        assert_eq!(script.places("-++++"), [0; 5]);
    }
}
