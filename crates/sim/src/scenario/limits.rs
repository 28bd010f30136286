//! What several tables are held to.

/// The longest run, in seconds: beyond it nanoseconds still count, but nobody waits.
pub(super) const LONGEST_S: f64 = 1e6;
