//! Queues, the wired links they feed, and what those links lose.

mod link;
mod loss;
mod queue;

pub use link::{Command, Counters, Link, LinkSettings, LinkTimer};
pub use loss::*;
pub use queue::*;
