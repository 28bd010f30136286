//! How tests run a scenario and read its results.

#![allow(dead_code, reason = "each test uses a part")]

use kernel::Seed;
use sim::{Run, Scenario, Simulation, Value};

/// Runs a scenario with the checker on.
#[track_caller]
pub(crate) fn run(text: &str) -> Run {
    run_with(text, 1, &[])
}

/// Runs a scenario with the checker, with this root seed and these probes.
#[track_caller]
pub(crate) fn run_with(text: &str, root: u64, probes: &[&str]) -> Run {
    let scenario = Scenario::parse(text).unwrap_or_else(|issue| panic!("{issue:?}\n{text}"));
    let plan = scenario.resolve().unwrap_or_else(|issues| panic!("{issues:?}\n{text}"));
    let probes: Vec<String> = probes.iter().map(|&path| path.to_owned()).collect();
    let seed = Seed { root, replication: 0 };
    Simulation::new(&plan, seed, &probes, true).expect("probes that exist").finish()
}

/// A number or a count of the results.
#[track_caller]
pub(crate) fn number(run: &Run, path: &str) -> f64 {
    match run.summary.iter().find(|(name, _)| name == path) {
        Some((_, Value::Number(number))) => *number,
        Some((_, Value::Count(count))) => *count as f64,
        other => panic!("{path}: {other:?}"),
    }
}
