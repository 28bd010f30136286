//! Time, units, the event_queue of events and the random streams: no word of networking.

mod event_queue;
mod rng;
mod time;
mod timer;
mod units;

pub use event_queue::{EventQueue, Ranked};
pub use rng::{Rng, Seed};
pub use time::{Duration, Instant};
pub use timer::{Fired, Ticket, Timer};
pub use units::{BitRate, Bytes, Db, Dbm, Segments};
