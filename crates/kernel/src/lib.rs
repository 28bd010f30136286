//! Time, units, the event queue and the random streams. This crate contains nothing about networks.

mod event_queue;
mod rng;
mod time;
mod timer;
mod units;

pub use event_queue::{EventQueue, Ranked};
pub use rng::{Draws, Rng, Seed};
pub use time::{Duration, Instant};
pub use timer::{Fired, Ticket, Timer};
pub use units::{BitRate, Bytes, Db, Dbm, Segments};
