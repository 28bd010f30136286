//! Hundreds of random scenarios with the checker on: packets and bytes are conserved, delivered
//! once and in order, no radio sends twice at a time, airtime sums to 100 %, time is monotone.
//!
//! The checker (`sim/src/check.rs`) keeps its own records and panics on a violated rule. A failure
//! prints the scenario and seed that reproduce it.

use crate::random::scenarios;
use kernel::Seed;
use sim::Simulation;
use std::collections::BTreeMap;

const LONGEST_S: f64 = 1.0;

// A checker of runs without traffic proves nothing: most scenarios of each class must deliver data.
#[test]
fn two_hundred_random_scenarios_keep_every_rule() {
    random_scenarios_keep_every_rule(20, 200);
}

#[test]
#[ignore = "thorough: takes minutes"]
fn eight_hundred_random_scenarios_keep_every_rule() {
    random_scenarios_keep_every_rule(20, 800);
}

fn random_scenarios_keep_every_rule(root: u32, count: u32) {
    let mut classes = BTreeMap::<String, (u32, u32)>::new();
    for (number, random) in (0..).zip(scenarios(root, count, LONGEST_S)) {
        let (all, delivered) = classes.entry(random.class).or_default();
        *all += 1;
        let Some(scenario) = random.sound else { continue };
        let plan = scenario.resolve().expect("it is sound");
        let seed = Seed { root: root.into(), replication: number };
        let run = std::panic::catch_unwind(|| {
            Simulation::new(&plan, seed, &[], true).expect("no probes").finish()
        });
        let run =
            run.unwrap_or_else(|_| panic!("scenario {number} broke a rule:\n{}", random.text));
        let goodput = run.summary.iter().find(|(path, _)| path == "total.goodput_mbps");
        let goodput = goodput.expect("a total is always there");
        *delivered += u32::from(goodput.1 != sim::Value::Number(0.0));
    }
    assert_eq!(classes.len(), 13, "{classes:?}");
    let most = classes.values().all(|(all, delivered)| 10 * delivered > 4 * all);
    assert!(most, "of each class, how many there are and how many delivered: {classes:?}");
}
