//! PS-Polls (802.11-2020 clause 9.3.1.5), which are control frames.

use super::{MacFrame, PowerBits, Rates};
use crate::FrameKind;
use std::fmt::Write;

/// A PS-Poll, by which a station that saves power requests a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsPoll {
    /// The AID of the station.
    pub aid: u8,
}

impl MacFrame for PsPoll {
    const KIND: FrameKind = FrameKind::PsPoll;

    fn length(&self, _: Rates) -> u64 {
        16 + 4
    }

    fn power_bits(&self) -> PowerBits {
        PowerBits::POWER_MANAGEMENT
    }

    /// The AID, and the two highest bits.
    fn id(&self) -> Option<u16> {
        Some(0xc000 | u16::from(self.aid))
    }

    fn tell(&self, text: &mut String) {
        let _ = write!(text, "AID {}", self.aid);
    }
}
