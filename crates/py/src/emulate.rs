//! Emulations in real time, on Linux.

use crate::fault;
use crate::scenario::Scenario;
use crate::trace::os_error;
use live::{
    Ending, Gate, Glance, KEPT_UP, Keep, Lateness, Limits, MTU, PortReport, Refusal, Report, Watch,
    Window,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sim::Readings;
use sim::control::NoExternal;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use trace::TapeWriter;

/// The socket that receives the ports of one emulation, and its loop.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct PortGate(Mutex<Option<Gate>>, Window);

#[pymethods]
impl PortGate {
    /// Listens at this path.
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
    fn new(path: PathBuf) -> PyResult<Self> {
        let gate = Gate::new(&path).map_err(|error| os_error(&error, &path))?;
        Ok(Self(Mutex::new(Some(gate)), Window::default()))
    }

    /// Waits for the next connection; whether one came within this time.
    fn accept(&self, py: Python<'_>, within_s: f64) -> PyResult<bool> {
        let within = Duration::from_secs_f64(within_s);
        let accept = || {
            let mut gate = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            gate.as_mut().map(|gate| gate.accept(within))
        };
        py.detach(accept).ok_or_else(gone)?.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// How the emulation goes; `None` before the first glance. Another thread may ask.
    fn glance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.1.look().map(|glance| glance_of(py, &glance)).transpose()
    }

    /// Runs the emulation; see `simoom.emulate`. `ports` has name and address of each,
    /// `tape` a path, a comment, and whether all bytes are kept.
    /// `begin` starts the programs, when the network is ready. `watched` has the paths that
    /// glances tell.
    #[pyo3(signature = (
        scenario, seed, replication, ports, first_flow, tape, longest_s, least_s, strict,
        begin, watched
    ))]
    #[allow(
        clippy::needless_pass_by_value,
        clippy::too_many_arguments,
        reason = "arguments of Python functions are owned, and have names there"
    )]
    fn run<'py>(
        &self,
        py: Python<'py>,
        scenario: &Scenario,
        seed: u64,
        replication: u32,
        ports: Vec<(String, [u8; 4])>,
        first_flow: u32,
        tape: Option<(PathBuf, String, bool)>,
        longest_s: f64,
        least_s: f64,
        strict: bool,
        begin: Bound<'py, PyAny>,
        watched: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let gate = taken.ok_or_else(gone)?;
        let plan = py.detach(|| scenario.0.resolve()).map_err(fault)?;
        let emulation = sim::Emulation::new(&plan, kernel::Seed { root: seed, replication });
        let emulation = emulation.map_err(fault)?;
        let flows: Vec<String> =
            plan.flows[first_flow as usize..].iter().map(|flow| flow.name.clone()).collect();
        let open = |(path, comment, has_bytes): (PathBuf, String, bool)| {
            let file = File::create(&path);
            let writer = file.and_then(|file| {
                TapeWriter::new(BufWriter::with_capacity(1 << 18, file), &comment, &flows)
            });
            let keep = if has_bytes { Keep::Bytes } else { Keep::Headers };
            writer.map(|writer| (writer, keep)).map_err(|error| os_error(&error, &path))
        };
        let tape = tape.map(open).transpose()?;
        let [longest, least] = [longest_s, least_s].map(Duration::from_secs_f64);
        let limits = Limits { longest, least, strict };
        let readings = watched
            .map(|paths| Readings::new(&plan, &paths, &NoExternal))
            .transpose()
            .map_err(fault)?;
        let watch = readings.map(|readings| Watch::new(self.1.clone(), readings));
        begin.call0()?;
        let report = py.detach(|| gate.run(emulation, &ports, first_flow, tape, limits, watch));
        to_dict(py, &report.map_err(|error| PyOSError::new_err(error.to_string()))?)
    }
}

/// How an emulation goes, for a page.
fn glance_of<'py>(py: Python<'py>, glance: &Glance) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("at_s", glance.at.as_secs_f64())?;
    dict.set_item("step_s", glance.step.as_secs_f64())?;
    dict.set_item("handed_over", glance.handed_over[0])?;
    dict.set_item("above_1ms", glance.handed_over[1])?;
    let [latest, recent] = glance.latest.map(|latest| latest.as_secs_f64());
    dict.set_item("max_s", latest)?;
    dict.set_item("recent_max_s", recent)?;
    dict.set_item("dropped", glance.dropped)?;
    dict.set_item("fell_behind", glance.fell_behind)?;
    dict.set_item("values", &glance.values)?;
    let ports = PyList::empty(py);
    for port in &glance.ports {
        let own = port_report(py, &port.report)?;
        own.set_item("on_the_way", port.on_the_way)?;
        let [from, to] = port.delays.map(|delay| delay.map(|delay| delay.as_secs_f64()));
        own.set_item("from_s", from)?;
        own.set_item("to_s", to)?;
        ports.append(own)?;
    }
    dict.set_item("ports", ports)?;
    Ok(dict)
}

fn port_report<'py>(py: Python<'py>, port: &PortReport) -> PyResult<Bound<'py, PyDict>> {
    let own = PyDict::new(py);
    own.set_item("name", &port.name)?;
    let [[sent, sent_bytes], [received, received_bytes]] = [port.sent, port.received];
    own.set_item("sent_packets", sent)?;
    own.set_item("sent_bytes", sent_bytes)?;
    own.set_item("received_packets", received)?;
    own.set_item("received_bytes", received_bytes)?;
    let refused = PyDict::new(py);
    for (why, count) in Refusal::ALL.iter().zip(port.refused) {
        refused.set_item(why.name(), count)?;
    }
    own.set_item("refused", refused)?;
    own.set_item("not_written", port.not_written)?;
    Ok(own)
}

fn gone() -> PyErr {
    PyRuntimeError::new_err("this emulation has run")
}

fn to_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("end_s", report.end.as_secs_f64())?;
    dict.set_item(
        "ending",
        match report.ending {
            Ending::Asked => "ended",
            Ending::TimeOver => "time",
            Ending::TooLate => "late",
            Ending::TapeFull => "tape",
        },
    )?;
    dict.set_item("digest", report.digest)?;
    dict.set_item("egress_late", lateness(py, &report.egress)?)?;
    dict.set_item("event_late", lateness(py, &report.events)?)?;
    let stalls: Vec<_> = report.stalls.1.iter().map(|stall| (stall.at_s, stall.late_s)).collect();
    dict.set_item("stall_count", report.stalls.0)?;
    dict.set_item("stalls", stalls)?;
    dict.set_item("fell_behind", report.fell_behind)?;
    dict.set_item("dropped", report.dropped)?;
    dict.set_item("resident", report.resident)?;
    let ports = PyList::empty(py);
    for port in &report.ports {
        ports.append(port_report(py, port)?)?;
    }
    dict.set_item("ports", ports)?;
    Ok(dict)
}

fn lateness<'py>(py: Python<'py>, late: &Lateness) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("count", late.count())?;
    for (key, quantile) in [("p50_s", 0.5), ("p99_s", 0.99), ("p999_s", 0.999)] {
        dict.set_item(key, late.quantile_s(quantile))?;
    }
    dict.set_item("max_s", late.max_s())?;
    dict.set_item("above_1ms_fraction", late.fraction_above(KEPT_UP))?;
    Ok(dict)
}

/// The largest IP packet that enters the network, in bytes.
#[pyfunction]
pub(crate) const fn port_mtu_bytes() -> u16 {
    MTU
}

/// What a report says of the packets that a port refuses, by their key in results.
#[pyfunction]
pub(crate) fn refusals() -> Vec<(&'static str, &'static str)> {
    Refusal::ALL.iter().map(|why| (why.name(), why.label())).collect()
}
