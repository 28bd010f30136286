//! Reassociation Response frames (802.11-2020 clause 9.3.3.8).

use super::{Capture, HEADER, MacFrame, Rates, elements};
use crate::FrameKind;

/// The highest AID (clause 9.4.1.8).
const HIGHEST_AID: u32 = 2007;

/// A Reassociation Response frame, which accepts the station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassociationResponse;

impl MacFrame for ReassociationResponse {
    const KIND: FrameKind = FrameKind::ReassociationResponse;

    /// Capabilities, status, AID, rates.
    fn length(&self, rates: Rates) -> u64 {
        HEADER + 2 + 2 + 2 + rates.bytes()
    }

    fn fields(&self, capture: &Capture, out: &mut Vec<u8>) {
        elements::capabilities(out);
        out.extend(0_u16.to_le_bytes());
        // AIDs have the numbers of radios, and the two highest bits set (clause 9.4.1.8).
        out.extend((0xc000 | capture.receiver.min(HIGHEST_AID) as u16).to_le_bytes());
        elements::rates(capture, out);
    }
}
