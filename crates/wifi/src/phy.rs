//! The physical layer: modes, PPDU durations, and the standards that bundle them.

mod airtime;
mod mode;
mod standard;

pub use airtime::{Airtime, Preamble, airtime};
pub use mode::{Mode, ModeClass};
pub use standard::{DOT11A, DOT11B, DOT11G, Standard};
