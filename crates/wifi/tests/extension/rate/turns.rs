//! One mode after the other.

use kernel::{Instant, Rng};
use settings::{Faults, Path, Settings};
use wifi::phy::error::ErrorModel;
use wifi::rate::{Choice, Ladder, LinkModes, RateControl, Rule, TxReport};

/// Another mode in turn.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Turns")]
pub struct TurnsSettings {
    /// After so many frames.
    #[setting(default = 2, range = 1..)]
    pub every: u32,
}

impl Rule for TurnsSettings {
    fn check(&self, link: &LinkModes, _: Instant, at: &Path, faults: &mut Faults) {
        if link.has_radio {
            faults.fault(at, "takes turns where there is no radio");
        }
    }

    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Turns { ladder: link.ladder(), every: self.every, sent: 0 }))
    }
}

#[derive(Debug)]
struct Turns {
    ladder: Ladder,
    every: u32,
    sent: u32,
}

impl RateControl for Turns {
    fn select(&mut self, _: Instant, _: u32) -> Choice {
        let mode = self.ladder.mode();
        self.sent += 1;
        if self.sent.is_multiple_of(self.every) && !self.ladder.up() {
            self.ladder.go_to(0);
        }
        Choice { mode, rts: false }
    }

    fn on_report(&mut self, _: Instant, _: &TxReport) {}
}
