//! What contends for the medium of a cell, and how it sends.

use crate::mac::{Access, Originator, Psdu, Timing};
use crate::phy::Mode;
use kernel::Duration;

/// What contends: a node's DCF, or one access category of it.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) access: Access,
    pub(super) load: Originator,
    /// How the next or present attempt is sent.
    pub(super) mode: Mode,
    pub(super) follows: Follows,
    pub(super) with_rts: bool,
    pub(super) psdu: Psdu,
    pub(super) txop_limit: Duration,
}

/// What follows a frame of a mode; it is looked up anew when the mode changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follows {
    /// Mode of the answer.
    pub(super) response: Mode,
    /// How long an answer is waited for.
    pub(super) timeout: Duration,
    /// What bystanders wait who could not decode it.
    pub(super) eifs: Duration,
}

impl Follows {
    pub(super) fn of(timing: &Timing, mode: &Mode) -> Self {
        Self {
            response: timing.response_mode(mode),
            timeout: timing.response_timeout(mode),
            eifs: timing.eifs(mode),
        }
    }
}

impl Function {
    pub(super) fn new(
        access: Access,
        receivers: usize,
        txop_limit: Duration,
        timing: &Timing,
        mode: Mode,
    ) -> Self {
        let (load, follows) = (Originator::new(receivers), Follows::of(timing, &mode));
        let (with_rts, psdu) = (false, Psdu::NONE);
        Self { access, load, mode, follows, with_rts, psdu, txop_limit }
    }

    pub(super) fn set_mode(&mut self, timing: &Timing, mode: &Mode) {
        if self.mode != *mode {
            self.mode = *mode;
            self.follows = Follows::of(timing, mode);
        }
    }

    /// What follows its first frame, which may be an RTS.
    pub(super) fn follows_first(&self, timing: &Timing) -> Follows {
        if self.with_rts { Follows::of(timing, &timing.rts_mode(&self.mode)) } else { self.follows }
    }
}
