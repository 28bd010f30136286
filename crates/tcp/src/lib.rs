//! TCP: the sender and the receiver as state machines, and the congestion controls.
//!
//! Both ends are sans-IO: the caller passes an event (`on_segment`, `on_timer`, …), and the end
//! appends [`Command`]s to the caller's vector. An end has no clock, no queue and no other
//! protocol. A [`Control`] decides how much may be in flight. The [`Sender`] decides what is lost
//! and when to retransmit.
//!
//! # Example
//!
//! A transfer of a megabyte over a path with a delay of 10 ms in each direction. The
//! path loses nothing and ACKs are not delayed, so that no timer needs to expire.
//!
//! ```
//! use kernel::{Bytes, Duration, Instant, Segments};
//! use std::collections::VecDeque;
//! use tcp::{Command, Config, DelayedAck, Receiver, Sender, control::NewReno};
//! use wire::FlowId;
//!
//! let config = Config { delayed_ack: DelayedAck::None, ..Config::default() };
//! let control = NewReno::new(Segments(10.0), None);
//! let mut sender = Sender::new(FlowId(0), 0, &config, Box::new(control));
//! let mut receiver = Receiver::new(FlowId(0), 0, &config);
//!
//! let (mut now, mut path, mut commands) = (Instant::ZERO, VecDeque::new(), Vec::new());
//! sender.on_open(now, &mut commands);
//! sender.on_data(now, Bytes(1_000_000), &mut commands);
//! sender.on_close(now, &mut commands);
//! loop {
//!     for command in commands.drain(..) {
//!         if let Command::Send(segment) = command {
//!             path.push_back((now + Duration::from_millis(10), segment));
//!         }
//!     }
//!     let Some((arrival, segment)) = path.pop_front() else { break };
//!     now = arrival;
//!     match segment.forward {
//!         true => receiver.on_segment(now, &segment, &mut commands),
//!         false => sender.on_segment(now, &segment, &mut commands),
//!     }
//! }
//! assert_eq!(receiver.delivered_bytes(), 1_000_000);
//! // A round trip for the handshake, seven for 10, 20, 40, ... segments in slow start, and the way
//! // of the ACK of the receiver's FIN.
//! assert_eq!(now, Instant::ZERO + Duration::from_millis(20 + 7 * 20 + 10));
//! ```

mod accurate;
mod blocks;
mod challenge;
mod command;
mod config;
pub mod control;
mod defaults;
mod delivery;
mod endpoint;
pub mod fec;
#[cfg(test)]
mod harness;
mod prr;
mod rack;
mod reassembly;
mod receiver;
mod rtt;
mod scoreboard;
pub mod script;
mod sender;
mod sent;

pub use accurate::Feedback;
pub use command::{Command, TimerId};
pub use config::{
    AccurateEcn, Close, Config, DelayedAck, DynamicAck, Ecn, FixedAck, Nagle, Recovery, Reduction,
    RouteFailure, RtoRule, Sack,
};
pub use control::{Ack, Cause, Control, Delivery, Hint, Loss, Lost};
pub use endpoint::{Device, Endpoint, Kernel, Linux};
pub use reassembly::Reassembly;
pub use receiver::{Receiver, ReceiverCounters};
pub use rtt::RttEstimator;
pub use sender::{Limit, LimitTimes, Sender, SenderCounters, State};
