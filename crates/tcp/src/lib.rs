//! TCP: sender and receiver as machines, and the congestion controllers.
//!
//! Both ends are sans-IO: an event goes in (`on_segment`, `on_timer`, …) and [`Command`]s are
//! appended to the caller's vector. A machine owns no clock, no queue and no other protocol. How
//! much may be in flight is a [`Control`]'s business; what is lost, and when to retransmit, is
//! the [`Sender`]'s.

mod blocks;
mod command;
mod config;
pub mod control;
mod delivery;
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

pub use command::{Command, TimerId};
pub use config::{
    Close, Config, DelayedAck, DynamicAck, Ecn, FixedAck, Recovery, Reduction, RtoRule, Sack,
};
pub use control::{Ack, Cause, Control, Delivery, Hint, Loss};
pub use reassembly::Reassembly;
pub use receiver::{Receiver, ReceiverCounters};
pub use rtt::RttEstimator;
pub use sender::{Sender, SenderCounters, State};
