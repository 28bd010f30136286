//! Simulations that an agent steps, several in one call with the GIL released.

#![allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]

use crate::control::Controllers;
use crate::fault;
use crate::run::{self, Run};
use crate::scenario::Scenario;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sim::control::External;
use sim::{Issue, Keys, Readings, Settings, Simulation};
use std::sync::{Arc, Mutex, MutexGuard};

/// Simulations of one scenario, with settings that change during a run.
#[pyclass(frozen, module = "simoom._core")]
pub(crate) struct Steps {
    paths: Vec<String>,
    failure: Arc<crate::control::Failure>,
    state: Mutex<State>,
}

struct State {
    settings: Settings,
    choices: Vec<usize>,
    external: Arc<dyn External>,
    /// As at the start of a run.
    readings: Readings,
    step: kernel::Duration,
    runs: Vec<Option<(Simulation, Readings)>>,
    wanted: Vec<i64>,
    chosen: Vec<u32>,
    read: Vec<f64>,
    going: Vec<bool>,
}

impl State {
    fn begin(&mut self, which: usize, seed: kernel::Seed) -> Result<(), Vec<Issue>> {
        let plan = self.settings.plan();
        let simulation = Simulation::with_external(plan, seed, &[], false, &self.external)?;
        let mut readings = self.readings.clone();
        let width = self.readings.paths().count();
        simulation.read(&mut readings, &mut self.read[..width]);
        self.runs[which] = Some((simulation, readings));
        Ok(())
    }

    /// Applies the choices and advances all simulations that go on.
    fn advance(&mut self) -> Result<(), Vec<Issue>> {
        let (depth, width) = (self.choices.len(), self.readings.paths().count());
        for (i, (run, goes)) in self.runs.iter_mut().zip(&mut self.going).enumerate() {
            let Some((simulation, readings)) = run.as_mut().filter(|_| *goes) else { continue };
            let wanted = &self.wanted[i * depth..(i + 1) * depth];
            self.chosen.clear();
            self.chosen.extend(wanted.iter().map(|&choice| choice as u32));
            simulation.adopt(&self.settings.get(&self.chosen)?);
            *goes = simulation.step(self.step);
            simulation.read(readings, &mut self.read[i * width..(i + 1) * width]);
        }
        Ok(())
    }
}

#[pymethods]
impl Steps {
    /// Prepares this number of simulations, each to be begun.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        settings: Vec<Vec<Keys>>,
        observed: Vec<String>,
        step_s: f64,
        count: usize,
    ) -> PyResult<Self> {
        let controllers = Controllers::default();
        let failure = Arc::clone(&controllers.failure);
        let external: Arc<dyn External> = Arc::new(controllers);
        let settings = py.detach(|| Settings::new(&scenario.0, settings)).map_err(fault)?;
        sim::control::check(settings.plan(), &*external).map_err(fault)?;
        let readings = Readings::new(settings.plan(), &observed, &*external).map_err(fault)?;
        let paths: Vec<String> = readings.paths().map(str::to_owned).collect();
        let choices: Vec<usize> = settings.choices().collect();
        let state = State {
            wanted: vec![0; count * choices.len()],
            chosen: Vec::with_capacity(choices.len()),
            read: vec![0.0; count * paths.len()],
            going: vec![false; count],
            runs: (0..count).map(|_| None).collect(),
            step: kernel::Duration::from_secs_f64(step_s),
            settings,
            choices,
            external,
            readings,
        };
        Ok(Self { paths, failure, state: Mutex::new(state) })
    }

    /// The path of each observation.
    #[getter]
    fn paths(&self) -> Vec<String> {
        self.paths.clone()
    }

    /// Begins a simulation anew, and writes its observations.
    fn begin(
        &self,
        py: Python<'_>,
        which: usize,
        seed: u64,
        replication: u32,
        into: PyBuffer<f64>,
    ) -> PyResult<()> {
        let seed = kernel::Seed { root: seed, replication };
        let mut state = self.lock()?;
        let state = &mut *state;
        py.detach(|| state.begin(which, seed)).map_err(fault)?;
        self.check(py, state)?;
        into.copy_from_slice(py, &state.read[..self.paths.len()])
    }

    /// Advances the simulations that go on by a step each, after setting what was chosen; writes
    /// their observations and whether they go on.
    fn advance(
        &self,
        py: Python<'_>,
        choices: PyBuffer<i64>,
        going: PyBuffer<u8>,
        into: PyBuffer<f64>,
    ) -> PyResult<()> {
        let mut state = self.lock()?;
        let state = &mut *state;
        let State { wanted, choices: limits, going: goes, .. } = state;
        choices.copy_to_slice(py, wanted)?;
        let given = going.to_vec(py)?;
        goes.iter_mut().zip(given).for_each(|(goes, given)| *goes = given != 0);
        for (at, &choice) in wanted.iter().enumerate() {
            let most = limits[at % limits.len()];
            if !usize::try_from(choice).is_ok_and(|choice| choice < most) {
                let message = format!("action: {choice} is not in 0 to {}", most - 1);
                return Err(PyValueError::new_err(message));
            }
        }
        py.detach(|| state.advance()).map_err(fault)?;
        self.check(py, state)?;
        let goes: Vec<u8> = state.going.iter().map(|&goes| u8::from(goes)).collect();
        going.copy_from_slice(py, &goes)?;
        into.copy_from_slice(py, &state.read)
    }

    /// The simulated time that a simulation has reached.
    fn now_s(&self, which: usize) -> PyResult<f64> {
        let state = self.lock()?;
        Ok(state.runs[which].as_ref().map_or(f64::NAN, |(run, _)| run.now().as_secs_f64()))
    }

    /// Runs a simulation to its end and returns its results. It is to be begun again afterwards.
    fn finish(&self, py: Python<'_>, which: usize) -> PyResult<Run> {
        let mut state = self.lock()?;
        let taken = state.runs[which].take();
        let Some((mut simulation, _)) = taken else {
            return Err(PyRuntimeError::new_err("there is no run: call reset first"));
        };
        while py.detach(|| run::slice(&mut simulation)) {
            py.check_signals()?;
            self.check(py, &state)?;
        }
        self.check(py, &state)?;
        Ok(Run(py.detach(|| simulation.finish())))
    }
}

impl Steps {
    /// A thread that waited here would hold the GIL, which a congestion control in Python needs.
    fn lock(&self) -> PyResult<MutexGuard<'_, State>> {
        let taken = self.state.try_lock();
        taken.map_err(|_| PyRuntimeError::new_err("the environment is in use by another thread"))
    }

    /// Raises what a congestion control in Python has raised.
    fn check(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.failure.take(py, Some(state.settings.plan())).map_or(Ok(()), Err)
    }
}
