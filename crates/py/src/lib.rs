//! The Python extension module `simoom._core`: it converts values, releases the GIL and maps
//! errors, and has no further logic.

mod address;
mod air;
mod control;
#[cfg(target_os = "linux")]
mod emulate;
mod gym;
mod record;
mod run;
mod scenario;
mod student;
mod tcp_script;
mod trace;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::address::{chosen, covers, element, general, is_address, near, suggested};
    #[pymodule_export]
    use crate::air::AirFile;
    #[pymodule_export]
    use crate::control::{Ack, Delivery, Departing, Loss, cbrt};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulate::{PortGate, port_mtu_bytes, refusals};
    #[pymodule_export]
    use crate::gym::Steps;
    #[pymodule_export]
    use crate::record::json_lines;
    #[pymodule_export]
    use crate::run::{Run, run};
    #[pymodule_export]
    use crate::scenario::{
        Scenario, airtime, airtime_schema, caveats, connectivity, hearing, listing, observables,
        repaired, schema,
    };
    #[pymodule_export]
    use crate::student::{student_t_cdf, student_t_quantile};
    #[pymodule_export]
    use crate::tcp_script::{tcp_script, tcp_script_fault};
    #[pymodule_export]
    use crate::trace::{read_tape, trace_formats, trace_options, trace_tables};
}

pyo3::import_exception!(simoom.base.issue, ScenarioError);

/// The Python exception for these faults of a scenario.
fn fault(issues: Vec<sim::Issue>) -> PyErr {
    let rows: Vec<_> = issues.into_iter().map(row).collect();
    ScenarioError::new_err((rows,))
}

/// Path, message and remedy, the place of key and value, the repairs with their kinds, and the line
/// in a file that the scenario names.
type FaultRow = (String, String, String, PlaceRow, Vec<(&'static str, String)>, usize);
/// Line and column, and the bytes of key and value.
type PlaceRow = (usize, usize, [usize; 2], [usize; 2]);

fn row(issue: sim::Issue) -> FaultRow {
    let sim::Issue { path, said, place, file_line } = issue;
    let repairs = said.repairs.into_iter().map(|repair| match repair {
        sim::Repair::Rename(key) => ("rename", key),
        sim::Repair::Value(value) => ("value", value),
        sim::Repair::List => ("list", String::new()),
        sim::Repair::Remove => ("remove", String::new()),
    });
    let place = (place.line, place.column, place.key, place.value);
    (path, said.message, said.remedy, place, repairs.collect(), file_line)
}
