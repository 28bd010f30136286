//! What all nodes of a space share, and what a node knows of another.

use super::radio::Levels;
use crate::Link;
use crate::mac::{self, Timing};
use crate::phy::Mode;
use crate::rate::RateControl;

/// Rules of medium access, and receivers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) mac: mac::Rules,
    pub(super) levels: Levels,
    pub(super) nav_reset: bool,
}

impl Rules {
    pub(super) fn timing(&self) -> &Timing {
        self.mac.timing()
    }
}

/// A node with which another exchanges frames.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) node: u32,
    pub(super) link: Link,
    /// In which frames go to it.
    pub(super) mode: Mode,
    /// None: the mode is fixed.
    pub(super) control: Option<Box<dyn RateControl>>,
    /// What it gets of the node's power on average, in milliwatts; if one of the two moves, what
    /// the last frame had.
    pub(super) power: f64,
}
