//! Hundreds of random scenarios with the checker on: packets and bytes are conserved, delivered
//! once and in order, no radio sends twice at a time, airtime sums to 100 %, time is monotone.
//!
//! The checker (`sim/src/check.rs`) keeps its own records and panics on a violated rule. A failure
//! prints the scenario and seed that reproduce it.

use crate::random::Draw;
use kernel::Seed;
use sim::{Scenario, Simulation};

const SCENARIOS: u32 = 400;
const IN_SPACE: u32 = 300;
const ROAMING: u32 = 100;
const MESHES: u32 = 40;

/// Runs this many scenarios with the checker on; returns how many of them delivered data.
fn run_all(root: u64, count: u32, text: impl Fn(&mut Draw, u32) -> String) -> usize {
    let mut delivered = 0;
    for number in 0..count {
        let seed = Seed { root, replication: number };
        let mut draw = Draw(seed.stream("test.scenario", 0));
        let text = text(&mut draw, number);
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let plan = scenario.resolve().unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let run = std::panic::catch_unwind(|| {
            Simulation::new(&plan, seed, &[], true).expect("no probes").finish()
        });
        let run = run.unwrap_or_else(|_| panic!("scenario {number} broke a rule:\n{text}"));
        let goodput = run.summary.iter().find(|(path, _)| path == "total.goodput_mbps");
        let goodput = goodput.expect("a total is always there");
        delivered += usize::from(goodput.1 != sim::Value::Number(0.0));
    }
    delivered
}

// A checker of runs without traffic proves nothing: most scenarios must deliver data.

#[test]
fn four_hundred_random_scenarios_keep_every_rule() {
    let delivered = run_all(20, SCENARIOS, |draw, number| match number % 4 {
        0 | 1 => draw.scenario(true),
        2 => draw.scenario(false),
        _ => draw.wired(),
    });
    assert!(delivered > 330, "only {delivered} of {SCENARIOS} scenarios delivered anything");
}

#[test]
fn random_scenarios_in_space_keep_every_rule() {
    let delivered = run_all(21, IN_SPACE, |draw, _| draw.spatial());
    assert!(delivered > 190, "only {delivered} of {IN_SPACE} scenarios delivered anything");
}

#[test]
fn random_stations_that_roam_keep_every_rule() {
    let delivered = run_all(22, ROAMING, |draw, _| draw.roaming());
    assert!(delivered > 65, "only {delivered} of {ROAMING} scenarios delivered anything");
}

#[test]
fn random_meshes_keep_every_rule() {
    let delivered = run_all(23, MESHES, |draw, _| draw.mesh());
    assert!(delivered > 10, "only {delivered} of {MESHES} scenarios delivered anything");
}
