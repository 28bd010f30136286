//! Accumulators of a run, in fixed memory whatever the simulated time.
//!
//! The accumulators do not depend on the world. The Python package computes statistics over several
//! runs.

mod batch;
mod delay;
mod jain;
mod ledger;
mod level;
mod series;

pub use batch::{Estimate, batch_means};
pub use delay::DelayStats;
pub use jain::jain;
pub use ledger::{AirtimeGroup, AirtimeKind, Ledger};
pub use level::Level;
pub use series::SampleSeries;
