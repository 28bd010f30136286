//! An emulation in real time: packets of real programs cross a simulated network whose events
//! happen when the clock says so.
//!
//! [`Gate`] receives the ports, which are TUN interfaces in network namespaces of their own, and
//! [`Gate::run`] is the loop: one thread, which sleeps until the next event is due or a packet
//! comes, and never spins. This is the only crate that reads the clock; nothing of it reaches the
//! simulation but the instants at which packets enter, which the tape keeps.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_types,
    reason = "an emulation binds simulated time to the wall clock, which is all that it does"
)]

mod arena;
mod gate;
mod glance;
mod lateness;
mod offload;
mod ports;
mod run;

pub use gate::Gate;
pub use glance::{Glance, PortGlance, Watch, Window};
pub use lateness::{KEPT_UP, Lateness, Stall};
pub use ports::{MTU, PortReport, Refusal};
pub use run::{Ending, Keep, Limits, Report};
