//! Reassociation Request frames (802.11-2020 clause 9.3.3.7).

use super::elements::{self, SSID_BYTES};
use super::{Capture, HEADER, MacFrame, Rates};
use crate::FrameKind;

/// A Reassociation Request frame, by which a station moves to another access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassociationRequest {
    /// The radio of the access point with which the station is associated.
    pub current: u32,
}

impl MacFrame for ReassociationRequest {
    const KIND: FrameKind = FrameKind::ReassociationRequest;

    /// Capabilities, listen interval, current access point, SSID, rates.
    fn length(&self, rates: Rates) -> u64 {
        HEADER + 2 + 2 + 6 + SSID_BYTES + rates.bytes()
    }

    fn fields(&self, capture: &Capture, out: &mut Vec<u8>) {
        elements::capabilities(out);
        out.extend(1_u16.to_le_bytes());
        out.extend((capture.address)(self.current));
        elements::ssid(out);
        elements::rates(capture, out);
    }
}
