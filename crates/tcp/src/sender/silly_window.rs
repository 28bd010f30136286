//! When a segment that is not full may leave: silly window avoidance (RFC 9293 §3.8.6.2.1), Nagle's
//! algorithm (RFC 9293 §3.7.4), Minshall's variant of it, and CORK.

use super::Sender;
use super::sequence::SendSequence;
use crate::{Command, Nagle};
use kernel::Instant;

impl SendSequence {
    /// Whether the next `len` bytes, less than a full segment, may leave; `waiting` bytes wait. The
    /// numbers are those of RFC 9293 §3.8.6.2.1; (1) is a full segment.
    #[cold]
    pub(super) fn may_send_small(&self, len: u64, waiting: u64) -> bool {
        if len == 0 {
            return false;
        }
        // All that the application will ever write: nothing comes that could fill the segment.
        let last = len == waiting && self.is_closed();
        // (4).
        if last || self.small.overridden {
            return true;
        }
        // (2) all data that waits, unless the application corks it; (3) half the largest window.
        let all = len == waiting && !self.small.corked;
        let half = 2 * len >= self.max_wnd;
        (all || half) && self.passes_nagle()
    }

    fn passes_nagle(&self) -> bool {
        match self.small.nagle {
            Nagle::Off => true,
            Nagle::Nagle => self.is_idle(),
            Nagle::Minshall => self.small.end <= self.una,
        }
    }

    /// Whether data waits that is less than a full segment, and may not leave yet.
    pub(super) fn is_held(&self) -> bool {
        self.end.saturating_sub(self.nxt) < self.mss && self.cut(0, u64::MAX).is_none()
    }
}

impl Sender {
    /// The application corks the connection, so that only full segments leave, or removes the cork.
    pub fn on_cork(&mut self, now: Instant, corked: bool, out: &mut Vec<Command>) {
        self.tcb.snd.small.corked = corked;
        if !corked && self.connection.is_open() {
            self.transmit(now, out);
        }
    }

    /// The override timeout occurred.
    pub(super) fn on_override(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.tcb.snd.small.overridden = true;
        self.transmit(now, out);
        self.tcb.snd.small.overridden = false;
    }
}
