//! Collision-aware rate adaptation.

use super::arf::{ArfCount, Move, Patience};
use super::{AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Instant, Rng};
use settings::Settings;

/// Collision-aware rate adaptation (Kim and others 2006).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct CaraSettings {}

impl Rule for CaraSettings {
    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Cara::new(link.ladder())))
    }
}

/// Collision-aware rate adaptation (J. Kim, S. Kim, S. Choi, D. Qiao, INFOCOM 2006): the attempt
/// after a failure without RTS has an RTS, so that the channel and not a collision causes a second
/// failure. Only then the rate is lowered. An RTS without CTS is a collision and does not count.
#[derive(Clone, Debug)]
pub struct Cara {
    ladder: Ladder,
    count: ArfCount,
}

/// Consecutive failures that turn the RTS on.
const PROBE_AFTER: u32 = 1;

impl Cara {
    /// Ten successes, or fifteen attempts, raise the rate; two failures lower it.
    pub fn new(ladder: Ladder) -> Self {
        Self { ladder, count: ArfCount::new(10, 2, Patience::Attempts(15)) }
    }
}

impl RateControl for Cara {
    fn select(&mut self, _now: Instant, _attempt: u32) -> AttemptParameters {
        let rts = self.count.failures() >= PROBE_AFTER;
        AttemptParameters { rts, ..AttemptParameters::plain(self.ladder.mode()) }
    }

    fn on_report(&mut self, now: Instant, report: &TxReport) {
        let Some(success) = report.success() else { return };
        match self.count.on_attempt(now, success) {
            Move::Stay => {}
            Move::Up => {
                self.ladder.up();
                // A failure after the rate was raised may be a collision, so that there is no
                // probe.
                self.count.restart(now, false);
            }
            Move::Down | Move::Back => {
                self.ladder.down();
                self.count.restart(now, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, ladder};
    use super::*;

    #[test]
    fn a_failure_is_tried_with_rts() {
        let mut script = Script::new(Cara::new(ladder()));
        script.places("++++++++++");
        assert!(!script.rts());
        assert_eq!(script.places("-"), [1], "the first attempt after going up is no probe");
        assert!(script.rts());
        assert_eq!(script.places("rrr"), [1; 3], "collisions do not count");
        assert!(script.rts());
        assert_eq!(script.places("+"), [1]);
        assert!(!script.rts());
        assert_eq!(script.places("--"), [1, 0]);
        assert!(!script.rts(), "counted anew at the lower rate");
    }
}
