//! `QoS` Null frames (802.11-2020 clause 9.3.2.1.2).

use super::{HEADER, MacFrame, PowerBits, Rates};
use crate::FrameKind;

/// A `QoS` Null frame: a trigger frame of a station, or of an access point the end of a service
/// period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosNull {
    /// Whether it ends a service period.
    pub ends_period: bool,
}

impl MacFrame for QosNull {
    const KIND: FrameKind = FrameKind::QosNull;

    /// With `QoS` Control in the header.
    fn length(&self, _: Rates) -> u64 {
        HEADER + 2
    }

    fn power_bits(&self) -> PowerBits {
        if self.ends_period { PowerBits::EOSP } else { PowerBits::POWER_MANAGEMENT }
    }
}
