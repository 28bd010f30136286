//! The modes of links.

use wifi::phy::Mode;
use wifi::rate::{LinkModes, RateControlSettings};

/// How one node sends to another.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePlan {
    /// The modes that it may use.
    pub link: LinkModes,
    /// How it selects the mode of a frame.
    pub control: RateControlSettings,
}

impl RatePlan {
    /// The initial mode.
    pub fn mode(&self) -> Mode {
        self.link.mode
    }

    /// The modes among which rate control selects by the outcomes of frames.
    pub fn modes(&self) -> Vec<Mode> {
        self.control.get().modes(&self.link)
    }
}
