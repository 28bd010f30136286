//! A segment that was sent, with the marks of the scoreboard.

use kernel::Instant;

pub(crate) const SACKED: u8 = 1;
pub(crate) const LOST: u8 = 2;
/// Retransmitted, and not considered lost again since.
pub(crate) const RESENT: u8 = 4;
/// Retransmitted at least once.
pub(crate) const EVER: u8 = 8;

/// One segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// When it last left.
    pub(crate) at: Instant,
    pub(crate) marks: u8,
}

impl Sent {
    /// Whether it was sent more than once.
    pub(crate) fn was_resent(&self) -> bool {
        self.has(EVER)
    }

    pub(crate) fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }

    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }
}
