//! A rate control for the test of extensions: all modes in turn.

use super::{AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Instant, Rng};
use settings::{Faults, Path, Settings};

/// All modes in turn.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ToyRateConfig {
    /// The number of frames in one mode.
    #[setting(default = 2, range = 1..)]
    pub every: u32,
}

impl Rule for ToyRateConfig {
    fn check(&self, link: &LinkModes, _: Instant, at: &Path, faults: &mut Faults) {
        if link.has_radio {
            faults.fault(at, "takes turns where there is no radio");
        }
    }

    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Toy { ladder: link.ladder(), every: self.every, sent: 0 }))
    }
}

#[derive(Debug)]
struct Toy {
    ladder: Ladder,
    every: u32,
    sent: u32,
}

impl RateControl for Toy {
    fn select(&mut self, _: Instant, _: u32) -> AttemptParameters {
        let mode = self.ladder.mode();
        self.sent += 1;
        if self.sent.is_multiple_of(self.every) && !self.ladder.up() {
            self.ladder.go_to(0);
        }
        AttemptParameters::plain(mode)
    }

    fn on_report(&mut self, _: Instant, _: &TxReport) {}
}
