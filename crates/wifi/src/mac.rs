//! The distributed coordination function (clause 10.3).

mod contention;
mod exchange;
mod station;
mod timing;

pub(crate) use exchange::Request;
pub use exchange::{Exchange, Fate, Step, StepKind};
pub use timing::{BackoffDraw, Countdown, Durations, Eifs, FCS, SlotGrid, Timing};

pub(crate) use contention::Contention;
#[cfg(test)]
pub(crate) use contention::Wait;
pub(crate) use station::{Backoff, Failure, Frame, Persistence, Station};
