//! How long the PPDU of an EDCAF lasts, and the response to it: what follows from its mode and its
//! length, which mostly are those of the PPDU before.

use super::super::originator::Psdu;
use super::super::{ACK, Timing};
use crate::phy::{Airtime, Mode};
use kernel::{Bytes, Duration};
use wire::FrameKind;

/// The response that a frame of one mode elicits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    /// Mode of the response.
    pub(crate) mode: Mode,
    /// Durations of an Ack in this mode.
    pub(crate) ack: Airtime,
    /// How long the transmitter waits for the response (AckTimeout or CTSTimeout).
    pub(crate) timeout: Duration,
    /// EIFS of the nodes that could not decode the frame.
    pub(crate) eifs: Duration,
}

impl Response {
    pub(crate) fn to(timing: &Timing, mode: &Mode) -> Self {
        let response = timing.response_mode(mode);
        Self {
            mode: response,
            ack: timing.airtime(&response, ACK),
            timeout: timing.response_timeout(mode),
            eifs: timing.eifs(mode),
        }
    }
}

/// The type and the length of a frame, and how long its PPDU lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    kind: FrameKind,
    bytes: Bytes,
    pub(super) airtime: Airtime,
}

impl Ppdu {
    /// That of no PSDU.
    pub(super) const NONE: Self =
        Self { kind: FrameKind::Data, bytes: Bytes(u64::MAX), airtime: Airtime::NONE };

    pub(super) fn of(timing: &Timing, mode: &Mode, psdu: &Psdu) -> Self {
        let (kind, bytes) = (psdu.kind(), psdu.bytes);
        Self { kind, bytes, airtime: timing.frame_airtime(kind, mode, bytes) }
    }

    pub(super) fn is_of(&self, psdu: &Psdu) -> bool {
        self.bytes == psdu.bytes && self.kind == psdu.kind()
    }
}
