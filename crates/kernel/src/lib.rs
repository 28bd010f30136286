//! Time, units, typed ids, the event queue and the random streams. This crate contains nothing
//! about networks.
//!
//! # Example
//!
//! A timer that is moved later schedules no further event until its pending event fires. Events of
//! one instant happen by rank, then in the order in which they were scheduled.
//!
//! ```
//! use kernel::{Duration, EventQueue, Fired, Instant, Ranked, Timer};
//!
//! #[derive(Debug, PartialEq)]
//! enum Event { Packet, Timeout { generation: u32 } }
//!
//! impl Ranked for Event {
//!     fn rank(&self) -> u8 {
//!         match self { Self::Packet => 0, Self::Timeout { .. } => 1 }
//!     }
//! }
//!
//! let at = |ms| Instant::ZERO + Duration::from_millis(ms);
//! let (mut queue, mut timer) = (EventQueue::new(), Timer::default());
//! let ticket = timer.set(at(200)).expect("no event of the timer is pending");
//! queue.at(ticket.at, Event::Timeout { generation: ticket.generation });
//! queue.at(at(200), Event::Packet);
//! assert_eq!(queue.next(), Some((at(200), Event::Packet)), "the lower rank is first");
//! assert_eq!(timer.set(at(500)), None, "the pending event will ask for another");
//! let Some((_, Event::Timeout { generation })) = queue.next() else { unreachable!() };
//! assert!(matches!(timer.fire(generation), Fired::Later(ticket) if ticket.at == at(500)));
//! ```

mod event_queue;
mod id;
mod listed;
mod outbox;
mod rng;
mod time;
mod timer;
mod units;

pub use event_queue::{EventQueue, Ranked};
pub use id::{Id, IdVec};
pub use outbox::{Outbox, Rounds, Turn, append};
pub use rng::{Draws, Rng, Seed};
pub use time::{Duration, Instant, Span};
pub use timer::{Fired, Ticket, Timer};
pub use units::{BitRate, Bytes, Db, Dbm, Segments};
