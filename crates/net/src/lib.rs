//! Queues, the wired links over which they send, and the losses of these links.

mod arp;
mod driver;
mod link;
mod loss;
mod queue;
mod reorder;
pub mod route;

pub use arp::{Arp, ArpCommand, ArpRules};
pub use driver::{Driver, DriverSettings};
pub use link::{Command, Counters, Link, LinkSettings, LinkTimer};
pub use loss::*;
pub use queue::*;
pub use reorder::ReorderSettings;
