//! Combines the models: scenario, plan, world, measurement and run.

mod adjustable;
mod air;
mod airtime;
mod build;
mod caveats;
mod check;
mod connectivity;
pub mod control;
mod digest;
mod distance;
mod emulation;
mod exits;
mod flow;
mod hearing;
mod hints;
mod listing;
mod look;
pub mod measure;
mod medium;
mod meter;
pub mod mobility;
mod network;
mod notice;
mod observe;
mod observers;
mod outboxes;
pub mod plan;
mod probe;
mod rate_hints;
mod readings;
mod residents;
pub mod scenario;
mod simulation;
mod summary;
pub mod topology;
pub mod trace;
pub mod traffic;
mod world;

pub use adjustable::{Adjustable, Keys, Settings};
pub use airtime::{airtime, airtime_schema};
pub use caveats::caveats;
pub use connectivity::{Connectivity, Snapshot, connectivity};
pub use emulation::Emulation;
pub use exits::{Fate, Left};
pub use hearing::{NodePair, hearing};
pub use listing::{channels, flows, interfaces, listing};
pub use observe::{Value, observables};
pub use plan::Plan;
pub use probe::{Listed, Series, probes};
pub use readings::{Readings, airtime_uses};
pub use scenario::{Implied, Issue, Repair, Scenario};
/// The scenario as a tree of values.
pub use simulation::{Run, Simulation, run};
/// Timed scripts, run against a TCP sender or receiver.
pub use tcp::script as tcp_script;
