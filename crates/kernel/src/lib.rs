//! Time, units, the agenda of events and the random streams: no word of networking.

mod agenda;
mod rng;
mod time;
mod timer;
mod units;

pub use agenda::{Agenda, Ranked};
pub use rng::{Rng, Seed};
pub use time::{Duration, Instant};
pub use timer::{Fired, Ticket, Timer};
pub use units::{BitRate, Bytes, Db, Dbm, Segments};
