//! The scenario as Python holds it, and the calculators that need no run.

use crate::fault;
use pyo3::prelude::*;

/// A scenario as the user wrote it: immutable, compared by value.
#[pyclass(frozen, eq, module = "simoom._core")]
#[derive(PartialEq)]
pub(crate) struct Scenario(pub(crate) sim::Scenario);

#[pymethods]
impl Scenario {
    /// Reads TOML, which may be anything at all.
    #[staticmethod]
    fn parse(text: &[u8]) -> PyResult<Self> {
        sim::Scenario::parse_bytes(text).map(Self).map_err(|issue| fault(vec![issue]))
    }

    /// Reads JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        sim::Scenario::from_json(text).map(Self).map_err(|issue| fault(vec![issue]))
    }

    /// This scenario with the value at `path`, written as in TOML, replaced.
    fn set(&self, path: &str, value: &str) -> PyResult<Self> {
        self.0.set(path, value).map(Self).map_err(|issue| fault(vec![issue]))
    }

    /// The value at `path`, as JSON.
    fn get(&self, path: &str) -> PyResult<String> {
        let value = self.0.get(path).map_err(|issue| fault(vec![issue]))?;
        Ok(value.to_string())
    }

    /// Raises `ScenarioError` with every fault of the scenario.
    fn check(&self) -> PyResult<()> {
        self.0.resolve().map(drop).map_err(fault)
    }

    /// The scenario as TOML.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// The scenario as JSON with every key and its default.
    fn to_full_json(&self) -> String {
        self.0.to_full_json()
    }
}

/// The JSON schema of a scenario.
#[pyfunction]
pub(crate) fn schema() -> String {
    sim::scenario::schema()
}

/// The parts of a PPDU and how long each lasts, in microseconds.
#[pyfunction]
pub(crate) fn airtime(
    standard: String,
    rate_mbps: Option<f64>,
    psdu_bytes: u64,
    short_preamble: bool,
) -> PyResult<Vec<(&'static str, f64)>> {
    let query = sim::AirtimeQuery { standard, rate_mbps, psdu_bytes, short_preamble };
    sim::airtime(&query).map_err(fault)
}
