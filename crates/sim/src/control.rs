//! Congestion controllers from outside: what a binding needs to bring its own.

use crate::plan::{ControlPlan, Plan};
use crate::scenario::Issue;
use std::collections::BTreeSet;
use std::fmt::Debug;
pub use tcp::control::Delivery;
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

/// Whether every controller that a plan names by an import path is there.
///
/// # Errors
/// An issue for each table of flows whose controller is not.
pub fn check(plan: &Plan, external: &dyn External) -> Result<(), Vec<Issue>> {
    let mut issues = Vec::new();
    let mut checked = BTreeSet::new();
    for flow in &plan.flows {
        let i = flow.group;
        if let Some(ControlPlan::Python { path }) = flow.tcp.as_ref().map(|tcp| &tcp.control)
            && checked.insert(i)
            && let Err(message) = external.check(path)
        {
            issues.push(Issue { path: format!("flows[{i}].control.python.path"), message });
        }
    }
    if issues.is_empty() { Ok(()) } else { Err(issues) }
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
