//! The Python extension module `simoom._core`: it converts values, releases the GIL and maps
//! errors, and has no further logic.

mod air;
mod control;
mod gym;
mod run;
mod scenario;
mod student;
mod tcp_script;
mod trace;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::air::AirFile;
    #[pymodule_export]
    use crate::control::{Ack, Delivery, Departing, Loss, cbrt};
    #[pymodule_export]
    use crate::gym::Steps;
    #[pymodule_export]
    use crate::run::{Run, run};
    #[pymodule_export]
    use crate::scenario::{
        Scenario, airtime, airtime_schema, caveats, connectivity, hearing, listing, observables,
        schema,
    };
    #[pymodule_export]
    use crate::student::{student_t_cdf, student_t_quantile};
    #[pymodule_export]
    use crate::tcp_script::{tcp_script, tcp_script_fault};
    #[pymodule_export]
    use crate::trace::{trace_formats, trace_options, trace_tables};
}

pyo3::import_exception!(simoom.issue, ScenarioError);

/// The Python exception for these faults of a scenario.
fn fault(issues: Vec<sim::Issue>) -> PyErr {
    let pairs: Vec<_> = issues.into_iter().map(|issue| (issue.path, issue.message)).collect();
    ScenarioError::new_err((pairs,))
}
