//! Congestion controllers from outside: what a binding needs to bring its own.

use crate::scenario::Issue;
use std::fmt::Debug;
pub use tcp::{Ack, Cause, Config, Control, Hint, Loss};

/// Makes the controllers that a scenario names by an import path.
pub trait External: Debug + Send + Sync {
    /// A controller for one connection of a flow; an issue says why there is none.
    fn control(&self, path: &str, flow: u32, config: &Config) -> Result<Box<dyn Control>, Issue>;
}

/// Where nobody brings controllers of their own.
#[derive(Debug, Default)]
pub struct NoExternal;

impl External for NoExternal {
    fn control(&self, path: &str, _: u32, _: &Config) -> Result<Box<dyn Control>, Issue> {
        let message = format!("{path:?} is written in Python, and this run knows no Python");
        Err(Issue { path: "control.python.path".to_owned(), message })
    }
}
