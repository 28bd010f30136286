//! Congestion controllers from outside: what a binding needs to bring its own.

use std::fmt::Debug;
use tcp::control::NewReno;
pub use tcp::{Ack, Cause, Config, Control, Hint, Loss};

/// Makes the controllers that a scenario names by an import path.
pub trait External: Debug + Send + Sync {
    /// Whether the path names a controller; the message says why not.
    fn check(&self, path: &str) -> Result<(), String>;

    /// A controller for one connection of a flow. One that cannot be made is the binding's to
    /// report; the run goes on with any other until the binding ends it.
    fn control(&self, path: &str, flow: u32, config: &Config) -> Box<dyn Control>;
}

/// Where nobody brings controllers of their own.
#[derive(Debug, Default)]
pub struct NoExternal;

impl External for NoExternal {
    fn check(&self, path: &str) -> Result<(), String> {
        Err(format!("{path:?} is written in Python; run it through the Python package"))
    }

    fn control(&self, _: &str, _: u32, config: &Config) -> Box<dyn Control> {
        Box::new(NewReno::from(config))
    }
}
