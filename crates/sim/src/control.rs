//! Congestion controls that are defined outside the simulator: the interface for bindings.

use crate::plan::Plan;
use crate::scenario::Issue;
pub use settings::{Faults, Path, Value};
use std::collections::BTreeSet;
pub use tcp::control::{Delivery, Departing, Event, External, NoExternal, PythonConfig, Wants};
pub use tcp::{Ack, Cause, Config, Control, Hint, Loss};

/// Checks every congestion control of a plan that is defined outside the simulator.
///
/// # Errors
/// The faults of each table of flows whose congestion control does not exist, or does not have one
/// of its parameters.
pub fn check(plan: &Plan, external: &dyn External) -> Result<(), Vec<Issue>> {
    let (mut faults, mut checked) = (Faults::default(), BTreeSet::new());
    for flow in &plan.flows {
        if let Some(python) = flow.tcp.as_ref().and_then(|tcp| tcp.control.get().external())
            && checked.insert(flow.group)
        {
            let flows = Path::default().key("flows").index(flow.group);
            external.check(python, &flows.key("control").key("python"), &mut faults);
        }
    }
    if faults.0.is_empty() { Ok(()) } else { Err(faults.0) }
}
