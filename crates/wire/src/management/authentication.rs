//! Authentication frames of Open System authentication (802.11-2020 clause 9.3.3.11).

use super::{Capture, HEADER, MacFrame, Rates};
use crate::FrameKind;
use std::fmt::Write;

/// An Authentication frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// Its transaction sequence number: 1 of a station, 2 of the access point that answers.
    pub transaction: u8,
}

impl MacFrame for Authentication {
    const KIND: FrameKind = FrameKind::Authentication;

    fn length(&self, _: Rates) -> u64 {
        HEADER + 6
    }

    fn tell(&self, text: &mut String) {
        let _ = write!(text, "transaction {}", self.transaction);
    }

    /// Open System, the transaction, and the status "successful".
    fn fields(&self, _: &Capture, out: &mut Vec<u8>) {
        out.extend([0, 0, self.transaction, 0, 0, 0]);
    }
}
