//! One run, in slices, with the GIL released in each.

#![allow(
    clippy::disallowed_types,
    reason = "the wall clock decides when Python is asked for signals and told of progress; \
              nothing of it reaches the simulation"
)]

use crate::control::Controllers;
use crate::fault;
use crate::scenario::Scenario;
use crate::trace::Tracing;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use sim::control::External;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events between two readings of the clock, which costs a fraction of an event. An event of many
/// radios, moving stations or wide windows may take milliseconds.
const EVENTS_PER_LOOK: u64 = 64;
/// The maximum delay of an interrupt.
const SLICE: Duration = Duration::from_millis(50);
/// The minimum time between two progress reports.
const PROGRESS: Duration = Duration::from_millis(100);

/// The results of a run.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct Run(pub(crate) sim::Run);

#[pymethods]
impl Run {
    /// Path to value, in the order of the summary. Runs share the paths, which take more memory
    /// than the values. The results of another run, `like`, give those that both have, which is
    /// sooner than to look for them among all texts.
    #[pyo3(signature = (like=None))]
    fn summary<'py>(
        &self,
        py: Python<'py>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        /// Few results are in one of two runs of a scenario only.
        const AHEAD: usize = 16;
        let dict = PyDict::new(py);
        let paths: Vec<_> = like.iter().flat_map(|like| like.keys()).collect();
        let mut known = paths.as_slice();
        for (path, value) in &self.0.summary {
            let next = known.iter().take(AHEAD).position(|key| is_path(key, path));
            let path = match next {
                Some(place) => {
                    let path = known[place].clone();
                    known = &known[place + 1..];
                    path
                }
                None => PyString::intern(py, path).into_any(),
            };
            match value {
                sim::Value::Number(x) => dict.set_item(path, x)?,
                sim::Value::Count(n) => dict.set_item(path, n)?,
                sim::Value::Text(text) => dict.set_item(path, text)?,
                sim::Value::None => dict.set_item(path, py.None())?,
            }
        }
        Ok(dict)
    }

    /// For each probe: its path, the times in seconds and the values, as native 64-bit floats.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, &self.0.series)
    }

    /// A hash of what arrived when, not of all that happened: `simoom.Run.digest`.
    #[getter]
    fn digest(&self) -> u64 {
        self.0.digest
    }

    /// The number of events handled, without those that only read the state.
    #[getter]
    fn events(&self) -> u64 {
        self.0.events
    }

    /// The simulated time reached.
    #[getter]
    fn simulated_s(&self) -> f64 {
        self.0.simulated_s
    }
}

/// Whether this is the path, as Python's text.
fn is_path(key: &Bound<'_, PyAny>, path: &str) -> bool {
    key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == path))
}

/// Runs a scenario. Other Python threads run meanwhile. A signal or an exception of `progress` ends
/// the run.
#[pyfunction]
#[pyo3(signature = (
    scenario, seed, replication, probes, progress=None, check=false, trace=None, on_samples=None
))]
#[allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "arguments of Python functions are owned, and have names there"
)]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u32,
    probes: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
    check: bool,
    trace: Option<Tracing>,
    on_samples: Option<Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let plan = py.detach(|| scenario.0.resolve()).map_err(fault)?;
    let seed = kernel::Seed { root: seed, replication };
    let controllers = Controllers::default();
    let failure = Arc::clone(&controllers.failure);
    let external: Arc<dyn External> = Arc::new(controllers);
    let build = || sim::Simulation::with_external(&plan, seed, &probes, check, &external);
    let mut simulation = py.detach(build).map_err(fault)?;
    let mut trace = trace.map(|wanted| wanted.begin(&plan, &mut simulation)).transpose()?;
    report(progress.as_ref(), 0.0)?;
    let mut reported_at = Instant::now();
    let mut sampled_at = None;
    while py.detach(|| slice(&mut simulation)) {
        py.check_signals()?;
        if let Some(error) = failure.take(py, Some(&plan)) {
            return Err(error);
        }
        if let Some(trace) = &mut trace {
            trace.pass_on(py)?;
        }
        if reported_at.elapsed() >= PROGRESS {
            report(progress.as_ref(), simulation.progress())?;
            if let Some(on_samples) = &on_samples {
                let series = simulation.samples_since(sampled_at);
                sampled_at = Some(simulation.now());
                on_samples.call1((list_of(py, &series)?,))?;
            }
            reported_at = Instant::now();
        }
    }
    py.check_signals()?;
    if let Some(error) = failure.take(py, Some(&plan)) {
        return Err(error);
    }
    let run = py.detach(|| simulation.finish());
    if let Some(trace) = &mut trace {
        trace.pass_on(py)?;
    }
    Ok(Run(run))
}

/// For each probe: its path, the times in seconds and the values, as native 64-bit floats.
fn list_of<'py>(py: Python<'py>, series: &[sim::Series]) -> PyResult<Bound<'py, PyList>> {
    let floats = |values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    };
    PyList::new(py, series.iter().map(|s| (&s.path, floats(&s.time_s), floats(&s.value))))
}

/// Tells Python of the progress; an exception ends the run.
fn report(progress: Option<&Bound<'_, PyAny>>, done: f64) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1((done,)).map(drop))
}

/// Advances for at most the delay of an interrupt; true while events remain.
pub(crate) fn slice(simulation: &mut sim::Simulation) -> bool {
    let start = Instant::now();
    while simulation.advance(EVENTS_PER_LOOK) {
        if start.elapsed() >= SLICE {
            return true;
        }
    }
    false
}
