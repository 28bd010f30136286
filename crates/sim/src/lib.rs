//! Where the sciences meet: scenario, plan, world, measurement and run.

mod airtime;
mod build;
mod check;
pub mod control;
mod flow;
mod hearing;
pub mod measure;
mod medium;
mod meter;
pub mod plan;
mod probe;
pub mod scenario;
mod simulation;
mod summary;
mod world;

pub use airtime::{AirtimeQuery, airtime};
pub use hearing::{Hearing, hearing};
pub use plan::Plan;
pub use scenario::{Issue, Scenario};
pub use simulation::{Run, Series, Simulation, run};
pub use summary::Value;
/// Scripts in time, played against a TCP sender or receiver alone.
pub use tcp::drill as tcp_script;
