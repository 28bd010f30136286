//! What contends for the medium of a cell, and how it sends.

use crate::mac::{Access, Opening, Originator, Psdu, Timing};
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
    pub(super) opening: Opening,
    pub(super) psdu: Psdu,
    pub(super) txop_limit: Duration,
    /// Which of the windows of [`Rules::persistence`](crate::mac::Rules::persistence).
    pub(super) persistence: u8,
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
        (access, persistence): (Access, u8),
        receivers: usize,
        txop_limit: Duration,
        timing: &Timing,
        mode: Mode,
    ) -> Self {
        let (load, follows) = (Originator::new(receivers), Follows::of(timing, &mode));
        let (opening, psdu) = (Opening::None, Psdu::NONE);
        Self { access, load, mode, follows, opening, psdu, txop_limit, persistence }
    }

    pub(super) fn set_mode(&mut self, timing: &Timing, mode: &Mode) {
        if self.mode != *mode {
            self.mode = *mode;
            self.follows = Follows::of(timing, mode);
        }
    }

    /// Whether RTS and CTS go before its PSDU.
    pub(super) fn with_rts(&self) -> bool {
        self.opening == Opening::Rts
    }

    /// Mode of the first frame that it sends.
    pub(super) fn first_mode(&self, timing: &Timing) -> Mode {
        if self.opening == Opening::None { self.mode } else { timing.rts_mode(&self.mode) }
    }

    /// Mode of the last frame that it sends before it can notice that nobody answers.
    pub(super) fn exposed_mode(&self, timing: &Timing) -> Mode {
        if self.with_rts() { timing.rts_mode(&self.mode) } else { self.mode }
    }

    /// What follows that frame.
    pub(super) fn follows_exposed(&self, timing: &Timing) -> Follows {
        if self.with_rts() { Follows::of(timing, &self.exposed_mode(timing)) } else { self.follows }
    }
}
