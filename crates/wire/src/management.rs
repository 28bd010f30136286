//! Frames that the MAC sends for itself, without an IP packet.

use crate::FrameKind;

/// A frame of the MAC that carries no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Management {
    /// A beacon of an access point (802.11-2020 clause 9.3.3.2).
    Beacon(Beacon),
}

/// What changes from beacon to beacon, or differs between networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The time between two TBTTs in time units of 1024 us (clause 9.4.1.3).
    pub interval: u16,
    /// After how many further beacons the next DTIM comes; 0: this one is a DTIM (clause 9.4.2.5).
    pub dtim_count: u8,
    /// How many beacon intervals lie between two DTIMs.
    pub dtim_period: u8,
}

impl Management {
    /// The kind of its frame.
    pub const fn kind(&self) -> FrameKind {
        match self {
            Self::Beacon(_) => FrameKind::Beacon,
        }
    }
}
