//! The scenario as Python holds it, and the calculators that need no run.

use crate::control::Controllers;
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
        let plan = self.0.resolve().map_err(fault)?;
        sim::control::check(&plan, &Controllers::default()).map_err(fault)
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

/// Who sends, who hears, power, ratio to noise, whether preambles are found; rate and part of the
/// frames that arrives.
type Heard = (String, String, Option<f64>, Option<f64>, bool, Option<f64>, Option<f64>);

/// All nodes, and who hears whom at a moment; nothing without a radio.
#[pyfunction]
pub(crate) fn hearing(
    scenario: &Scenario,
    seed: u64,
    replication: u32,
    at_s: f64,
) -> PyResult<Option<(Vec<String>, Vec<Heard>)>> {
    let plan = scenario.0.resolve().map_err(fault)?;
    let now = kernel::Instant::ZERO + kernel::Duration::from_secs_f64(at_s);
    let row = |pair: sim::Hearing| {
        let sim::Hearing { from, to, signal_dbm, snr_db, detected, link } = pair;
        let (rate_mbps, success) = link.unzip();
        (from, to, signal_dbm, snr_db, detected, rate_mbps, success)
    };
    let heard = sim::hearing(&plan, &kernel::Seed { root: seed, replication }, now);
    Ok(heard.map(|(nodes, pairs)| (nodes, pairs.into_iter().map(row).collect())))
}

/// The parts of a PPDU and how long each lasts, in microseconds.
#[pyfunction]
#[pyo3(signature = (
    standard, psdu_bytes, mpdus=None, rate_mbps=None, short_preamble=false, band_ghz=None,
    mcs=None, streams=None, width_mhz=None, guard_ns=None, coding=None, ltf=None,
    extended_range=false, packet_extension_us=None, timing=None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn airtime(
    standard: String,
    psdu_bytes: u64,
    mpdus: Option<u64>,
    rate_mbps: Option<f64>,
    short_preamble: bool,
    band_ghz: Option<f64>,
    mcs: Option<u64>,
    streams: Option<u64>,
    width_mhz: Option<u64>,
    guard_ns: Option<u64>,
    coding: Option<String>,
    ltf: Option<String>,
    extended_range: bool,
    packet_extension_us: Option<u64>,
    timing: Option<String>,
) -> PyResult<Vec<(&'static str, f64)>> {
    let query = sim::AirtimeQuery {
        standard,
        psdu_bytes,
        mpdus,
        rate_mbps,
        short_preamble,
        band_ghz,
        mcs,
        streams,
        width_mhz,
        guard_ns,
        coding,
        ltf,
        extended_range,
        packet_extension_us,
        timing,
    };
    sim::airtime(&query).map_err(fault)
}
