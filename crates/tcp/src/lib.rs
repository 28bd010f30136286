//! TCP: the sender and the receiver as state machines, and the congestion controls.
//!
//! Both ends are sans-IO: the caller passes an event (`on_segment`, `on_timer`, …), and the end
//! appends [`Command`]s to the caller's vector. An end has no clock, no queue and no other
//! protocol. A [`Control`] decides how much may be in flight. The [`Sender`] decides what is lost
//! and when to retransmit.

mod accurate;
mod blocks;
mod challenge;
mod command;
mod config;
pub mod control;
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

pub use accurate::Feedback;
pub use command::{Command, TimerId};
pub use config::{
    AccurateEcn, Close, Config, DelayedAck, DynamicAck, Ecn, FixedAck, Nagle, Recovery, Reduction,
    RouteFailure, RtoRule, Sack, StandByConfig,
};
pub use control::{Ack, Cause, Control, Delivery, Hint, Loss, Lost};
pub use endpoint::{Device, Endpoint, Kernel, Linux};
pub use reassembly::Reassembly;
pub use receiver::{Receiver, ReceiverCounters};
pub use rtt::RttEstimator;
pub use sender::{Limit, LimitTimes, Sender, SenderCounters, State};
