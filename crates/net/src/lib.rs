//! Queues, the wired links they feed, and what those links lose.

mod link;
mod loss;
mod queue;

pub use link::{Command, Counters, Link, LinkTimer};
pub use loss::{
    GilbertElliott, GilbertElliottPackets, List, Loss, LossModel, Lossy, Periodic, Trace, Uniform,
};
pub use queue::{
    Airtime, AirtimeFair, AirtimeFairConfig, Classes, CoDel, CoDelConfig, ControlLaw, Discipline,
    DropTail, Drr, FqCoDel, FqCoDelConfig, Limit, Per, Pie, PieConfig, Queue, QueueUnit, Red,
    RedConfig, Ring, Sfq, SfqConfig, Signal, Wanted, red_weight,
};
