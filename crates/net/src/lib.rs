//! Queues and the wired links they feed.

mod link;
mod queue;

pub use link::{Command, Counters, Link, LinkTimer};
pub use queue::{Discipline, DropTail, Drr, Limit, Per, Queue, Verdict};
