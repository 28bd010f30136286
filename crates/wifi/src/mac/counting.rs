//! How stations count the slots of a back-off.

use kernel::Instant;

/// How a slot counts in which another station begins to transmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusySlot {
    /// The slot does not count, because it was not idle (clause 10.3.4.3).
    Uncounted,
    /// The slot counts for stations whose interframe space has ended: they count down at the
    /// boundary where the slot begins (clause 10.23.2.4). Stations then transmit only at slot
    /// boundaries.
    Counted,
    /// Each busy period counts as one slot for all stations.
    Step,
}

/// Slots that an EDCAF counts in the present idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counting {
    /// When its first slot begins; for a frame that needs no back-off, when it is sent.
    pub(crate) start: Instant,
    /// Slots left at `start`.
    pub(crate) slots: u64,
}
