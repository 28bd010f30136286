//! Limits that several tables share.

/// The longest run in seconds: time in nanoseconds would allow longer runs, but they would not end
/// in practice.
pub(super) const LONGEST_S: f64 = 1e6;

/// The maximum number of stations in a cell.
pub(super) const MOST_STATIONS: u64 = 10_000;
