//! What an originator has beside a PSDU that a Trigger frame asks for.

use super::{BLOCK_ACK_REQUEST, ElicitedResponse, Originator, Psdu};
use crate::mac::aggregation::DELIMITER;
use kernel::Bytes;

impl Psdu {
    /// A BlockAckReq.
    pub(crate) const REQUEST: Self =
        Self { bytes: BLOCK_ACK_REQUEST, mpdus: 0, answer: ElicitedResponse::BlockAck };
}

impl Originator {
    /// The bytes in service that are not in the last PSDU, with delimiters.
    pub(crate) fn beside(&self) -> Bytes {
        let waits = |place: usize| {
            let in_psdu = self.psdu.binary_search(&(place as u16)).is_ok();
            !in_psdu && !self.mpdus[place].settled
        };
        let all = (0..self.mpdus.len()).filter(|&place| waits(place));
        Bytes(all.map(|place| (self.mpdus[place].bytes + DELIMITER).0).sum())
    }

    /// The PSDU that was assembled is not sent.
    pub(crate) fn take_back(&mut self) {
        self.psdu.clear();
    }
}
