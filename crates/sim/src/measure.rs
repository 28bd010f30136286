//! What a run accumulates while it goes: in fixed memory, however long the simulated time.
//!
//! These are accumulators and know nothing of the world. Inference across runs is Python's.

mod batch;
mod delay;
mod jain;
mod ledger;
mod level;
mod series;

pub use batch::{Estimate, batch_means};
pub use delay::DelayStats;
pub use jain::jain;
pub use ledger::{Air, Ledger};
pub use level::Level;
pub use series::Series;
