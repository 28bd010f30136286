//! What an originator has beside a PSDU that a Trigger frame asks for.

use super::{BLOCK_ACK_REQUEST, ElicitedResponse, Framing, Originator, Psdu, Settled};
use crate::mac::Bitmap;
use crate::mac::aggregation::DELIMITER;
use kernel::{Bytes, Instant};

impl Psdu {
    /// A BlockAckReq.
    pub(crate) const REQUEST: Self = Self {
        bytes: BLOCK_ACK_REQUEST,
        mpdus: 0,
        repeated: 0,
        answer: ElicitedResponse::BlockAck,
    };
}

impl Originator {
    /// The bytes in service that are not in the last PSDU, with delimiters.
    pub(crate) fn beside(&self) -> Bytes {
        self.bytes_of(|place| self.psdu.binary_search(&(place as u16)).is_err())
    }

    /// The bytes in service, with delimiters.
    pub(crate) fn in_service(&self) -> Bytes {
        self.bytes_of(|_| true)
    }

    fn bytes_of(&self, counts: impl Fn(usize) -> bool) -> Bytes {
        let waits = |&place: &usize| counts(place) && !self.mpdus[place].settled;
        let all = (0..self.mpdus.len()).filter(waits);
        Bytes(all.map(|place| (self.mpdus[place].bytes + DELIMITER).0).sum())
    }

    /// A Multi-STA BlockAck acknowledges the last PSDU, which a Trigger frame has asked for: that
    /// of a single MPDU without a bitmap, so that it tells nothing of those before (clause
    /// 9.3.1.8.7).
    pub(crate) fn on_multi_sta(
        &mut self,
        framing: &Framing,
        now: Instant,
        arrived: &Bitmap,
        settled: &mut Vec<Settled>,
    ) {
        let [place] = self.psdu[..] else {
            self.on_block_ack(framing, now, arrived, settled);
            return;
        };
        let mut only = Bitmap::default();
        if arrived.has(place) {
            only.set(place);
        }
        let before = (self.request, self.doubted);
        self.on_block_ack(framing, now, &only, settled);
        if !self.is_idle() {
            (self.request, self.doubted) = before;
        }
    }

    /// The PSDU that was assembled is not sent.
    pub(crate) fn take_back(&mut self) {
        self.psdu.clear();
    }
}
