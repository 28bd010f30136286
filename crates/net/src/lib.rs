//! Queues, the wired links they feed, and what those links lose.

mod link;
mod loss;
mod queue;

pub use link::{Command, Counters, Link, LinkTimer};
pub use loss::{
    GilbertElliott, GilbertElliottPackets, List, Loss, LossModel, Lossy, Periodic, Trace, Uniform,
};
pub use queue::{
    Airtime, AirtimeFair, AirtimeFairConfig, CoDel, CoDelConfig, Discipline, DropTail, Drr,
    FqCoDel, FqCoDelConfig, Law, Limit, Measure, Per, Pie, PieConfig, Queue, Red, RedConfig,
    Signal, red_weight,
};
