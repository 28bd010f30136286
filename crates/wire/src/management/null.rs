//! Null frames (802.11-2020 clause 9.3.2.1.2).

use super::{HEADER, MacFrame, PowerBits, Rates};
use crate::FrameKind;

/// A Null frame: its Power Management bit says whether its transmitter saves power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Null {
    /// That bit.
    pub saves_power: bool,
}

impl MacFrame for Null {
    const KIND: FrameKind = FrameKind::Null;

    fn length(&self, _: Rates) -> u64 {
        HEADER
    }

    fn power_bits(&self) -> PowerBits {
        PowerBits::NONE.and_if(self.saves_power, PowerBits::POWER_MANAGEMENT)
    }

    fn tell(&self, text: &mut String) {
        if !self.saves_power {
            text.push_str("PM clear");
        }
    }
}
