//! What holds a segment back that is not full.

use crate::Nagle;
use kernel::Duration;

/// What holds a small segment back.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallSegments {
    pub(super) nagle: Nagle,
    /// The application asked to wait for full segments.
    pub(super) corked: bool,
    /// One past the last small segment sent; 0 before the first.
    pub(super) end: u64,
    /// The override timeout has occurred: the next small segment leaves.
    pub(super) overridden: bool,
}

impl SmallSegments {
    pub(super) fn new(nagle: Nagle) -> Self {
        Self { nagle, corked: false, end: 0, overridden: false }
    }

    /// A small segment that ends here was sent for the first time.
    pub(super) fn on_send(&mut self, end: u64) {
        self.end = end;
    }
}

/// The bounds of the override timeout (RFC 9293 §3.8.6.2.1).
const OVERRIDE: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(1000)];

/// The override timeout: the retransmission timeout within its bounds.
pub(super) fn override_timeout(rto: Duration) -> Duration {
    rto.clamp(OVERRIDE[0], OVERRIDE[1])
}
