//! Congestion controls that are defined outside the simulator: the interface for bindings.

use crate::plan::Plan;
use crate::scenario::Issue;
use std::collections::BTreeSet;
pub use tcp::control::{Delivery, External, NoExternal};
pub use tcp::{Ack, Cause, Config, Control, Hint, Loss};

/// Checks that every congestion control that a plan names by an import path exists.
///
/// # Errors
/// An issue for each table of flows whose congestion control does not exist.
pub fn check(plan: &Plan, external: &dyn External) -> Result<(), Vec<Issue>> {
    let mut issues = Vec::new();
    let mut checked = BTreeSet::new();
    for flow in &plan.flows {
        let i = flow.group;
        if let Some(path) = flow.tcp.as_ref().and_then(|tcp| tcp.control.get().import_path())
            && checked.insert(i)
            && let Err(message) = external.check(path)
        {
            issues.push(Issue { path: format!("flows[{i}].control.python.path"), message });
        }
    }
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}
