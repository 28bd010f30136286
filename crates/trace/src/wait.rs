//! What a node waits for before it transmits.

use kernel::Instant;
use wire::TrafficClass;

/// What an EDCAF or a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// Its back-off counts down: an idle slot after the other. Under EDCA a slot counts too in
    /// which another node begins to transmit (clause 10.23.2.4), even if that is the first slot and
    /// no interval passes: `before` may then be less than `after` of the interval before.
    Backoff {
        /// Slots that remain at the start.
        before: u32,
        /// Slots that remain at the end; 0 when it transmits.
        after: u32,
    },
    /// It has a frame to send, and the medium is busy, or idle for less than its interframe space.
    Defer,
    /// The node's NAV is set: another exchange reserves the medium.
    Nav,
}

/// An interval in which an EDCAF of a radio waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When it begins.
    pub start: Instant,
    /// When it ends.
    pub end: Instant,
    /// The radio.
    pub radio: u32,
    /// Its access category; best effort for a NAV, which all EDCAFs of a radio share.
    pub class: TrafficClass,
    /// What it waits for.
    pub kind: WaitKind,
}
