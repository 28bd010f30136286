//! Queues, the wired links over which they send, the losses of these links, and nodes that forward.
//!
//! # Example
//!
//! Two packets of 1,250 bytes on a link of 10 Mb/s with a delay of 5 ms, driven by hand.
//!
//! ```
//! use kernel::{BitRate, Bytes, Duration, Instant, Seed};
//! use net::{Command, Link, LinkSettings, LinkTimer};
//! use wire::{Body, Datagram, FlowId, NodeId, Packet};
//!
//! let settings = LinkSettings {
//!     rate: Some(BitRate(10_000_000)),
//!     delay: Duration::from_millis(5),
//!     overhead: Bytes(0),
//!     ..LinkSettings::default()
//! };
//! let seed = Seed { root: 1, replication: 0 };
//! let mut link = Link::new(&settings, seed.stream("queue", 0));
//!
//! let (mut timers, mut commands, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
//! let mut now = Instant::ZERO;
//! for number in 0..2 {
//!     let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 1222, stream: 0 });
//!     let packet = Packet::new(NodeId(0), Some(NodeId(1)), Bytes(1250), now, body);
//!     link.on_packet(now, &packet, &mut commands);
//! }
//! loop {
//!     for command in commands.drain(..) {
//!         if let Command::Set(timer, at) = command {
//!             timers.push((at, timer));
//!         }
//!     }
//!     timers.sort_by_key(|&(at, _)| std::cmp::Reverse(at));
//!     let Some((at, timer)) = timers.pop() else { break };
//!     now = at;
//!     while timer == LinkTimer::Arrival && link.first_arrived(now).is_some() {
//!         arrivals.push(now);
//!         link.remove_arrived();
//!     }
//!     link.on_timer(now, timer, &mut commands);
//! }
//! let at = |ms| Instant::ZERO + Duration::from_millis(ms);
//! assert_eq!(arrivals, [at(6), at(7)]);
//! ```

mod command;
mod driver;
mod link;
mod loss;
pub mod node;
mod queue;
mod reorder;
pub mod route;

pub use command::{Command, LinkTimer};
pub use driver::{Driver, DriverSettings};
pub use link::{Counters, Link, LinkSettings};
pub use loss::*;
pub use node::{Arp, ArpRules, Node};
pub use queue::*;
pub use reorder::ReorderSettings;
