//! The modes in which a node sends to another.

use crate::phy::Mode;
use crate::rate::RateControl;

/// The mode in which a node sends to a peer.
#[derive(Debug)]
pub(crate) struct PeerRate {
    /// Only [`Self::turn_to`] changes it.
    pub(crate) mode: Mode,
    /// Its number among the modes of PPDUs to several users, if it was looked up.
    pub(crate) number: Option<u16>,
    /// The slowest mode in which the frame may have to be sent.
    pub(super) slowest: Mode,
    /// `None`: the mode is fixed.
    pub(crate) control: Option<Box<dyn RateControl>>,
}

impl PeerRate {
    pub(crate) fn fixed(mode: Mode) -> Self {
        Self { mode, number: None, slowest: mode, control: None }
    }

    /// The mode is this one from now on.
    pub(crate) fn turn_to(&mut self, mode: Mode) {
        self.mode = mode;
        self.number = None;
    }

    /// The same, if it is another; `slowest` is that in which a frame may have to be sent.
    pub(super) fn follow(&mut self, mode: Mode, slowest: Mode) {
        if mode != self.mode {
            self.turn_to(mode);
        }
        self.slowest = slowest;
    }

    #[inline]
    pub(crate) fn adapts(&self) -> bool {
        self.control.is_some()
    }
}
