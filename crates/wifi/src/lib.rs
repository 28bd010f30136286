//! IEEE 802.11: standards as values, exact PPDU durations, DCF and EDCA, and two models of the
//! medium: a single cell ([`Cell`]), and nodes at positions in space ([`space`]).
//!
//! Clauses are those of IEEE Std 802.11-2020 unless another year is named.
//!
//! # Example
//!
//! A station of an 802.11b cell sends 1,000 datagrams at 11 Mb/s, one after another.
//!
//! ```
//! use kernel::{Bytes, Instant, Seed};
//! use wifi::{ACCESS_POINT, Cell, Command, Link, MacConfig, NoMsduSource, phy::DOT11B};
//! use wire::{Body, Datagram, FlowId, NodeId, Packet};
//!
//! let link = Link { mode: DOT11B.modes[3], data_loss: 0.0, ack_loss: 0.0 };
//! let seed = Seed { root: 1, replication: 0 };
//! let mut cell = Cell::new(MacConfig::of(&DOT11B), vec![link], &seed);
//! let packet = |number, now| {
//!     let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 1472, stream: 0 });
//!     Packet::new(NodeId(1), Some(NodeId(0)), Bytes(1500), now, body)
//! };
//!
//! let (mut now, mut sent, mut commands) = (Instant::ZERO, 0, Vec::new());
//! cell.on_packet(now, 1, &packet(0, now), Some(ACCESS_POINT), &mut commands);
//! // Each command that has an instant makes one event; here no two are pending at once.
//! while let Some(command) = commands.pop() {
//!     match command {
//!         Command::Access(ticket) => {
//!             now = ticket.at;
//!             cell.on_access(now, ticket.generation, &mut NoMsduSource, &mut commands);
//!         }
//!         Command::Step(at) => {
//!             now = at;
//!             cell.on_step(now, &mut NoMsduSource, &mut commands);
//!         }
//!         Command::Done { .. } => {
//!             sent += 1;
//!             if sent < 1000 {
//!                 cell.on_packet(now, 1, &packet(sent, now), Some(ACCESS_POINT), &mut commands);
//!             }
//!         }
//!         _ => {}
//!     }
//! }
//! // DIFS, 15.5 slots of back-off in the mean, the data frame, SIFS, and the Ack at 2 Mb/s.
//! let expected_us = 50.0 + 310.0 + (192.0 + 1536.0 * 8.0 / 11.0) + 10.0 + (192.0 + 56.0);
//! let mean_us = now.as_secs_f64() * 1e6 / sent as f64;
//! assert!((mean_us / expected_us - 1.0).abs() < 0.02, "{mean_us} us, not {expected_us} us");
//! ```

mod cell;
pub mod interferer;
pub mod mac;
mod medium;
pub mod phy;
pub mod power_save;
pub mod rate;
pub mod roaming;
pub mod space;
pub mod station;
pub mod watch;

pub use cell::{ACCESS_POINT, Cell, FrameOnAir};
pub use mac::{Categories, MacConfig, MsduOutcome};
pub use medium::{
    Command, Counters, FrameCounters, Link, Mpdus, MsduSource, NoMsduSource, Outlook, UsedBytes,
};
