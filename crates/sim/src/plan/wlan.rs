//! How links choose their modes.

use wifi::phy::Mode;
use wifi::rate::{LinkModes, RateControlSettings};

/// How one node sends to another.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePlan {
    /// What it can send in.
    pub link: LinkModes,
    /// How it chooses.
    pub control: RateControlSettings,
}

impl RatePlan {
    /// The mode it begins with.
    pub fn mode(&self) -> Mode {
        self.link.mode
    }

    /// Those among which it chooses by what becomes of frames.
    pub fn modes(&self) -> Vec<Mode> {
        self.control.get().modes(&self.link)
    }
}
