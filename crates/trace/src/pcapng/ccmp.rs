//! The CCMP header of a protected MPDU (802.11-2020 clause 12.5.3.2). There is no key: the frame
//! body is not encrypted, and the MIC is zeros.

use super::dot11::tid;
use crate::{Frame, Mpdu};
use std::collections::BTreeMap;

/// Bytes of the MIC of CCMP-128.
pub(super) const MIC: usize = 8;
/// The Ext IV bit of the Key ID octet; the key ID is 0.
const EXT_IV: u8 = 0x20;
/// 802.11 sequence numbers.
const NUMBERS: u64 = 4096;

/// The packet numbers of MPDUs. They follow the sequence numbers of a receiver and TID, so that a
/// retransmission repeats its own (clause 12.5.3.3.2), and a receiver finds them ascending in each
/// TID (clause 12.5.3.4.4).
#[derive(Debug, Default)]
pub(super) struct PacketNumbers {
    /// By transmitter, receiver and TID: the highest sequence number so far, which does not wrap.
    highest: BTreeMap<(u32, Option<u32>, u16), u64>,
}

impl PacketNumbers {
    /// Appends the CCMP header of an MPDU.
    pub(super) fn header(&mut self, frame: &Frame, mpdu: &Mpdu, out: &mut Vec<u8>) {
        let tid = tid(frame.class);
        let sequence = u64::from(mpdu.sequence);
        let highest = self.highest.entry((frame.from, frame.to, tid)).or_insert(NUMBERS + sequence);
        // The number nearest to the highest one.
        let ahead = (sequence + NUMBERS - *highest % NUMBERS + NUMBERS / 2) % NUMBERS;
        let number = *highest + ahead - NUMBERS / 2;
        *highest = number.max(*highest);
        // One key serves all TIDs of a transmitter.
        let number = (number << 4 | u64::from(tid)).to_le_bytes();
        out.extend(&number[..2]);
        out.extend([0, EXT_IV]);
        out.extend(&number[2..6]);
    }
}
