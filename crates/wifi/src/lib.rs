//! IEEE 802.11: standards as values, exact PPDU durations, DCF, and the medium of one cell.
//!
//! Clauses are those of IEEE Std 802.11-2020 unless another year is named.

mod cell;
pub mod mac;
pub mod phy;
pub mod rate;

pub use cell::{ACCESS_POINT, Cell, CellConfig, Command, Counters, Link, Outcome};
