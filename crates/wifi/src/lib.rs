//! IEEE 802.11: standards as values, exact PPDU durations, DCF and EDCA, and two models of the
//! medium: a single cell ([`Cell`]), and nodes at positions in space ([`space`]).
//!
//! Clauses are those of IEEE Std 802.11-2020 unless another year is named.

mod cell;
pub mod interferer;
pub mod mac;
mod medium;
pub mod phy;
pub mod power_save;
pub mod rate;
pub mod roaming;
pub mod space;
pub mod watch;

pub use cell::{ACCESS_POINT, Cell, FrameOnAir};
pub use mac::{Categories, MacConfig, MsduOutcome};
pub use medium::{Command, Counters, FrameCounters, Link, Mpdus, MsduSource, NoMsduSource};
