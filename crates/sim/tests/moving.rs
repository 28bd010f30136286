//! Scenarios in which stations move.

use crate::common::run_with;
use kernel::Seed;
use sim::plan::MovementPlan;
use sim::{Run, Scenario, Simulation};

fn run(text: &str) -> Run {
    run_with(text, 3, &["flows[0].goodput_mbps"])
}

/// An upload over 802.11ac by a station whose position these keys set.
fn upload(duration_s: f64, control: &str, keys: &str) -> Run {
    run(&format!(
        "standard = '11ac'\nduration_s = {duration_s:?}\nwarmup_s = 0\nmeasure.interval_s = 0.5\n\
         wire.rate_mbps = 1000\nwire.delay_ms = 2\n[radio]\n\
         [[stations]]\n{keys}\nqueue.fq_codel = {{}}\nrate_control = '{control}'\n\
         [[flows]]\nfrom = 'sta0'\nto = 'server'\ntraffic = 'bulk'\n"
    ))
}

/// All results, except those about the run itself.
fn results(run: &Run) -> Vec<String> {
    let rows = run.summary.iter().filter(|(path, _)| path != "run.events");
    rows.map(|(path, value)| format!("{path} {value:?}")).collect()
}

#[test]
fn a_station_that_has_not_moved_yet_has_the_results_of_one_that_never_will() {
    for control in ["fixed", "ideal", "minstrel_ht"] {
        let stands = upload(3.0, control, "position_m = [20.0, 7.0]");
        for waypoints in [
            "waypoints = [{ at_s = 1.0, position_m = [20.0, 7.0] }]",
            "waypoints = [{ at_s = 0, position_m = [20, 7] }, { at_s = 2, position_m = [20, 7] }]",
            "waypoints = [{ at_s = 3, position_m = [20, 7] }, { at_s = 4, position_m = [0, 7] }]",
        ] {
            assert_eq!(
                results(&stands),
                results(&upload(3.0, control, waypoints)),
                "{control}, {waypoints}"
            );
        }
    }
}

const OUT_AND_BACK: &str = "waypoints = [{ at_s = 2, position_m = [2, 0] }, \
    { at_s = 3, position_m = [200, 0] }, { at_s = 4, position_m = [200, 0] }, \
    { at_s = 5, position_m = [2, 0] }]";

#[test]
fn the_rate_falls_on_the_way_out_and_comes_back() {
    for control in ["ideal", "minstrel_ht"] {
        let run = upload(9.0, control, OUT_AND_BACK);
        let goodput: Vec<f64> = run.series[0].value.clone();
        let mean = |from_s: usize, to_s: usize| {
            goodput[2 * from_s..2 * to_s].iter().sum::<f64>() / (2 * (to_s - from_s)) as f64
        };
        let (near, out, back) = (mean(0, 2), mean(3, 4), mean(7, 9));
        println!("{control}: {near} {out} {back}");
        assert!(near > 30.0 && out < 1.0 && back > 0.8 * near, "{control}: {near} {out} {back}");
    }
}

#[test]
fn the_same_way_has_the_same_results() {
    let fading = "rate_mbps = 24\n[radio]\nfading.m = 3\nshadowing_db = 4\n";
    let text = |seed: u64| {
        let plan = Scenario::parse(&format!(
            "standard = '11a'\nduration_s = 3\nwlan.{fading}[[stations]]\ncount = 2\nring_m = 10\n\
             [[stations]]\n{OUT_AND_BACK}\n\
             [[flows]]\nfrom = 'server'\nto = 'sta*'\n"
        ));
        let plan = plan.unwrap().resolve().unwrap();
        let seed = Seed { root: seed, replication: 0 };
        results(&Simulation::new(&plan, seed, &[], true).unwrap().finish())
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn values_of_waypoints_are_set_by_path() {
    let keys = "standard = '11a'\n[radio]\n[[stations]]\nwaypoints = [\
                { at_s = 1, position_m = [2, 0] }, { at_s = 5, position_m = [40, 0] }]\n\
                [[flows]]\nfrom = 'server'\nto = 'sta*'\n";
    let scenario = Scenario::parse(keys).unwrap();
    let set = |path: &str, value: &str| {
        let plan = scenario.set(path, value).unwrap().resolve().unwrap();
        match plan.space.unwrap().stations.remove(0).movement {
            MovementPlan::Waypoints(waypoints) => waypoints,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(set("stations[0].waypoints[1].at_s", "7.5")[1].at.0, 7_500_000_000);
    assert_eq!(set("stations[*].waypoints[*].position_m", "[3, 4]")[0].position_m, [3.0, 4.0]);
    let all = "[{ at_s = 3, position_m = [1, 2] }]";
    assert_eq!(set("stations[0].waypoints", all).len(), 1);
}

#[test]
fn faults_of_waypoints_name_the_key_and_a_remedy() {
    let faults = |keys: &str| -> Vec<String> {
        let text = format!("standard = '11a'\n{keys}\n[[flows]]\nfrom = 'server'\nto = 'sta*'\n");
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let faults = scenario.resolve().expect_err("a fault");
        faults.into_iter().map(|fault| fault.to_string()).collect()
    };
    let two = "waypoints = [{ at_s = 1, position_m = [2, 0] }, { at_s = 5, position_m = [40, 0] }]";
    let cases: [(&str, &str, &[&str]); 5] = [
        (
            "[[stations]]",
            two,
            &["stations[0].waypoints: nodes have places only where there is a radio"],
        ),
        (
            "[radio]\n[stations]\nposition_m = [1, 1]\nring_m = 4",
            two,
            &[
                "stations.position_m: the waypoints say where they are; remove one of the two",
                "stations.ring_m: the waypoints say where they are; remove one of the two",
            ],
        ),
        (
            "[radio]\nlosses_db = [[0, 50], [50, 0]]\n[[stations]]",
            two,
            &[
                "stations[0].waypoints[0].position_m: radio.losses_db sets the path \
                 losses whatever the positions",
                "stations[0].waypoints[1].position_m: radio.losses_db sets the path \
                 losses whatever the positions",
            ],
        ),
        (
            "[radio]\n[[stations]]",
            "waypoints = []",
            &["stations[0].waypoints: there are none; one reads { at_s = 20.0"],
        ),
        (
            "[radio]\n[[stations]]",
            "waypoints = [{ at_s = -1, position_m = [1, 1] }, { at_s = 5 }, \
             { at_s = 5, position_m = [1, 2e6] }, { at_s = nan, position_m = [1, inf] }]",
            &[
                "stations[0].waypoints[0].at_s: must be from 0 to 1000000 s, is -1",
                "stations[0].waypoints[1].position_m: must be two numbers, [east, north], has 0",
                "stations[0].waypoints[2].at_s: 5 is not after the previous waypoint, 5",
                "stations[0].waypoints[2].position_m[1]: must be from -1000000 to 1000000 m, is \
                 2000000",
                "stations[0].waypoints[3].at_s: must be from 0 to 1000000 s, is NaN",
                "stations[0].waypoints[3].position_m[1]: must be from -1000000 to 1000000 m, is \
                 inf",
            ],
        ),
    ];
    for (begin, keys, expected) in cases {
        let found = faults(&format!("{begin}\n{keys}"));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found} is not {expected}");
        }
    }
}
