//! The scenario as a Python object, and the calculators that need no run.

use crate::control::Controllers;
use crate::fault;
use pyo3::prelude::*;
use sim::Repair;
use sim::scenario::Place;
use std::path::PathBuf;
use trace::columns::Columns;

/// A scenario as the user wrote it: immutable, compared by value.
#[pyclass(frozen, eq, module = "simoom._core")]
#[derive(PartialEq)]
pub(crate) struct Scenario(pub(crate) sim::Scenario);

#[pymethods]
impl Scenario {
    /// Reads TOML.
    #[staticmethod]
    fn parse(text: &[u8]) -> PyResult<Self> {
        sim::Scenario::parse_bytes(text).map(Self).map_err(fault)
    }

    /// Reads TOML that no user has written: its faults have no places.
    #[staticmethod]
    fn parse_again(text: &str) -> PyResult<Self> {
        sim::Scenario::parse(text).map(|read| Self(read.without_places())).map_err(fault)
    }

    /// Reads JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        sim::Scenario::from_json(text).map(Self).map_err(fault)
    }

    /// This scenario with the value at `path`, written as in TOML, replaced.
    fn set(&self, path: &str, value: &str) -> PyResult<Self> {
        self.0.set(path, value).map(Self).map_err(fault)
    }

    /// This scenario without the value at `path`.
    fn unset(&self, path: &str) -> PyResult<Self> {
        self.0.unset(path).map(Self).map_err(fault)
    }

    /// Whether the scenario gives a value at a path with indices.
    fn has(&self, path: &str) -> PyResult<bool> {
        self.0.has(path).map_err(fault)
    }

    /// This scenario with a table for each station that is named, and the paths in it.
    #[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
    fn addressed(&self, paths: Vec<String>) -> PyResult<(Self, Vec<Vec<String>>)> {
        let (single, paths) = self.0.addressed(&paths).map_err(fault)?;
        Ok((Self(single), paths))
    }

    /// The probes with indices for which a path with names stands.
    fn probe_paths(&self, path: &str) -> PyResult<Vec<String>> {
        self.0.probe_paths(path).map_err(fault)
    }

    /// The value at `path`, as JSON.
    fn get(&self, path: &str) -> PyResult<String> {
        let value = self.0.get(path).map_err(fault)?;
        Ok(value.to_string())
    }

    /// This scenario with the files that it names relative to a folder.
    #[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
    fn in_folder(&self, folder: PathBuf) -> PyResult<Self> {
        let located = self.0.clone().in_folder(&folder);
        located.map(Self).map_err(fault)
    }

    /// The files that the scenario names, whose content determines the results too.
    fn files(&self) -> Vec<String> {
        self.0.files()
    }

    /// Raises `ScenarioError` with every fault of the scenario.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let plan = py.detach(|| self.0.resolve()).map_err(fault)?;
        sim::control::check(&plan, &Controllers::default()).map_err(fault)
    }

    /// Path, unit and description of each probe, and the number of its series.
    fn probes(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String, usize)>> {
        let plan = self.0.resolve().map_err(fault)?;
        let controllers = Controllers::default();
        sim::control::check(&plan, &controllers).map_err(fault)?;
        let listed = sim::probes(&plan, &controllers);
        if let Some(error) = controllers.failure.take(py, Some(&plan)) {
            return Err(error);
        }
        let row = |probe: sim::Listed| (probe.path, probe.unit, probe.meaning, probe.series);
        Ok(listed.into_iter().map(row).collect())
    }

    /// What presets set: the key of the preset, the key that it sets, and its value as JSON.
    fn presets(&self) -> Vec<(String, String, String)> {
        let listed = self.0.presets().into_iter();
        listed.map(|preset| (preset.by, preset.path, preset.value)).collect()
    }

    /// The single flows, as JSON.
    fn flows(&self) -> PyResult<String> {
        let plan = self.0.resolve().map_err(fault)?;
        Ok(sim::flows(&plan))
    }

    /// The interfaces, as JSON.
    fn interfaces(&self) -> PyResult<String> {
        let plan = self.0.resolve().map_err(fault)?;
        Ok(sim::interfaces(&plan))
    }

    /// The channels of access points, as JSON.
    fn channels(&self) -> PyResult<String> {
        let plan = self.0.resolve().map_err(fault)?;
        Ok(sim::channels(&plan))
    }

    /// The paths of the uses of airtime that its runs have.
    fn airtime_uses(&self) -> PyResult<Vec<String>> {
        let plan = self.0.resolve().map_err(fault)?;
        Ok(sim::airtime_uses(&plan))
    }

    /// The name of each node, and its IPv4 address in captures and emulations.
    fn addresses(&self) -> PyResult<Vec<(String, [u8; 4])>> {
        let plan = self.0.resolve_network().map_err(fault)?;
        let nodes = sim::trace::network(&plan).nodes;
        let address = |node| trace::pcapng::ipv4(Some(node));
        Ok(nodes.ids().map(|node| (nodes[node].name.clone(), address(node))).collect())
    }

    /// The names in a trace, by kind.
    fn trace_names(&self) -> PyResult<Vec<(&'static str, Vec<String>)>> {
        let plan = self.0.resolve_network().map_err(fault)?;
        Ok(Columns::names(&sim::trace::network(&plan)))
    }

    /// The files of a trace in a format that is written here: what stands before the extension.
    #[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
    fn trace_files(
        &self,
        extension: &str,
        options: Vec<(String, String)>,
    ) -> PyResult<Vec<String>> {
        crate::trace::files(&self.0.resolve().map_err(fault)?, extension, &options)
    }

    /// The scenario as TOML.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// A text of which this is the scenario once the value at a path, written as in TOML, is
    /// another; comments and order stay where the text has a place for it.
    fn over(&self, text: &str, path: &str, value: &str) -> String {
        self.0.over(text, path, value)
    }

    /// The scenario as TOML below the comment with which a text begins.
    fn below(&self, text: &str) -> String {
        self.0.below(text)
    }

    /// The scenario as JSON with every key and its default.
    fn to_full_json(&self) -> String {
        self.0.to_full_json()
    }
}

/// The text of a scenario with the repair of a fault at these bytes of a key and its value; nothing
/// if the text does not permit it.
#[pyfunction]
pub(crate) fn repaired(
    text: &str,
    key: [usize; 2],
    value: [usize; 2],
    kind: &str,
    to: String,
) -> Option<String> {
    let repair = match kind {
        "rename" => Repair::Rename(to),
        "value" => Repair::Value(to),
        "list" => Repair::List,
        _ => Repair::Remove,
    };
    sim::scenario::repaired(text, Place { key, value, ..Place::NOWHERE }, &repair)
}

/// The JSON schema of a scenario.
#[pyfunction]
pub(crate) fn schema() -> String {
    sim::scenario::schema()
}

/// The catalogue of observables, as JSON.
#[pyfunction]
pub(crate) fn observables() -> String {
    sim::observables()
}

/// The kinds of frames, losses and uses of airtime, as JSON.
#[pyfunction]
pub(crate) fn listing() -> String {
    sim::listing()
}

/// Transmitter, receiver, power, signal-to-noise ratio, whether preambles are detected; rate and
/// fraction of the frames that arrives.
type NodePairRow = (String, String, Option<f64>, Option<f64>, bool, Option<f64>, Option<f64>);

/// All nodes, and which of them hear each other at a time; nothing without a radio.
#[pyfunction]
pub(crate) fn hearing(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u32,
    at_s: f64,
) -> PyResult<Option<(Vec<String>, Vec<NodePairRow>)>> {
    let plan = scenario.0.resolve_network().map_err(fault)?;
    let now = kernel::Instant::ZERO + kernel::Duration::from_secs_f64(at_s);
    let row = |pair: sim::NodePair| {
        let sim::NodePair { from, to, signal_dbm, snr_db, detected, link } = pair;
        let (rate_mbps, success) = link.unzip();
        (from, to, signal_dbm, snr_db, detected, rate_mbps, success)
    };
    let seed = kernel::Seed { root: seed, replication };
    let heard = py.detach(|| sim::hearing(&plan, &seed, now));
    Ok(heard.map(|(nodes, pairs)| (nodes, pairs.into_iter().map(row).collect())))
}

/// What the results of a scenario are not right about, in one sentence each.
#[pyfunction]
pub(crate) fn caveats(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u32,
) -> PyResult<Vec<String>> {
    let plan = scenario.0.resolve().map_err(fault)?;
    let seed = kernel::Seed { root: seed, replication };
    Ok(py.detach(|| sim::caveats(&plan, &seed)))
}

/// Positions, and the pairs of nodes that have a link.
type SnapshotRow = (Vec<[f64; 2]>, Vec<(u32, u32)>);
/// The names of the nodes, the flows between them, and a row for each time.
type ConnectivityRows = (Vec<String>, Vec<(u32, u32)>, Vec<SnapshotRow>);

/// The links of an ad-hoc network at some times; nothing without an ad-hoc network.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "converted by PyO3")]
pub(crate) fn connectivity(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u32,
    times_s: Vec<f64>,
) -> PyResult<Option<ConnectivityRows>> {
    let plan = scenario.0.resolve_network().map_err(fault)?;
    let instant = |at_s: &f64| kernel::Instant::ZERO + kernel::Duration::from_secs_f64(*at_s);
    let times: Vec<kernel::Instant> = times_s.iter().map(instant).collect();
    let seed = kernel::Seed { root: seed, replication };
    let found = py.detach(|| sim::connectivity(&plan, &seed, &times));
    Ok(found.map(|sim::Connectivity { nodes, flows, snapshots }| {
        let row = |snapshot: sim::Snapshot| (snapshot.positions_m, snapshot.links);
        (nodes, flows, snapshots.into_iter().map(row).collect())
    }))
}

/// How long a PPDU or an exchange lasts, as JSON; its options, by the keys of `airtime_schema`, are
/// JSON too.
#[pyfunction]
pub(crate) fn airtime(options: &str) -> PyResult<String> {
    sim::airtime(options).map_err(fault)
}

/// The JSON schema of the options of `airtime`.
#[pyfunction]
pub(crate) fn airtime_schema() -> String {
    sim::airtime_schema()
}
