//! The PSDU of one access.

use super::super::exchange::ElicitedResponse;
use kernel::Bytes;
use wire::FrameKind;

/// The PSDU of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Psdu {
    pub(crate) bytes: Bytes,
    /// The number of MPDUs; 0: the PSDU is a BlockAckReq.
    pub(crate) mpdus: u16,
    /// How many of them were transmitted before it was assembled.
    pub(crate) repeated: u16,
    pub(crate) answer: ElicitedResponse,
}

impl Psdu {
    /// The value before a PSDU is assembled.
    pub(crate) const NONE: Self =
        Self { bytes: Bytes::ZERO, mpdus: 0, repeated: 0, answer: ElicitedResponse::None };

    /// The type of its frame.
    pub(crate) fn kind(&self) -> FrameKind {
        if self.mpdus == 0 { FrameKind::BlockAckRequest } else { FrameKind::Data }
    }
}
