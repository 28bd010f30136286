//! An extension is one file and one line in its registry. The feature `toy` adds one of each kind;
//! the tests find each of them wherever extensions are listed. `tests/test_toy.py` runs this file,
//! and finds the toys in the reference pages of the schema that is written here.

use kernel::Seed;
use serde_json::Value as Json;
use sim::{Scenario, Simulation, Value};
use std::collections::BTreeSet;

/// A scenario that uses every toy.
const ALL: &str = "
    standard = '11g'
    stations = { count = 2, queue = 'toy' }
    duration_s = 2.0
    warmup_s = 0.0
    wlan.rate_control = 'toy'
    wire = { rate_mbps = 10.0, delay_ms = 1.0, queue.toy.every = 50, loss.toy.after = 5 }
    [[flows]]
    from = 'sta0'
    to = 'server'
    control = 'toy'
    [[flows]]
    from = 'server'
    to = 'sta1'
    traffic.toy.packets = 20
    start_s = 0.1
    [[interferers]]
    corrupts = true
    source.toy.at_s = 1.5
";

/// Each registry's name in the schema, a key in the toy's table, and the table's name.
const KINDS: [(&str, &str, &str); 6] = [
    ("Control", "window_segments", "ToyControl"),
    ("Queue", "every", "ToyQueue"),
    ("Loss", "after", "ToyLoss"),
    ("RateControl", "every", "ToyRate"),
    ("Traffic", "packets", "ToySource"),
    ("InterferenceSource", "at_s", "ToyInterference"),
];

/// A mistake in each toy's settings, and its message.
const FAULTS: [(&str, &str, &str); 6] = [
    ("flows[0].control.toy.window_segments", "0", "must be from 1 to 100 segments, is 0"),
    ("stations.queue.toy.every", "0", "must be from 1 to 1000, is 0"),
    ("wire.loss.toy.after", "1001", "must be from 1 to 1000, is 1001"),
    ("wlan.rate_control.toy.every", "0", "must be at least 1, is 0"),
    ("flows[1].traffic.toy.packets", "101", "must be from 1 to 100, is 101"),
    ("interferers[0].source.toy.at_s", "11", "must be from 0 to 10 s, is 11"),
];

#[test]
fn the_schema_has_each_toy() {
    let text = sim::scenario::schema();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/toy.schema.json"), &text).unwrap();
    let schema: Json = serde_json::from_str(&text).unwrap();
    for (registry, key, table) in KINDS {
        let variants = schema["$defs"][registry]["oneOf"].as_array().expect(registry);
        assert!(variants.iter().any(|of| !of["properties"]["toy"].is_null()), "{registry}");
        assert!(schema["$defs"][table]["properties"][key].is_object(), "{table}.{key}");
    }
    let errors = schema["$defs"]["ErrorModel"]["oneOf"].as_array().unwrap();
    assert!(errors.iter().any(|of| of["const"] == "toy"), "an error model without settings");
}

#[test]
fn the_numbers_of_each_toy_are_checked_at_their_paths() {
    for (path, value, message) in FAULTS {
        let wrong = Scenario::parse(ALL).unwrap().set(path, value).unwrap();
        let issues: BTreeSet<_> =
            wrong.resolve().unwrap_err().into_iter().map(|issue| issue.to_string()).collect();
        assert!(issues.contains(&format!("{path}: {message}")), "{issues:?}");
    }
}

#[test]
fn a_misspelt_name_finds_each_toy() {
    let paths = ["flows[0].control", "wire.queue", "wire.loss", "wlan.rate_control"];
    for path in paths.into_iter().chain(["flows[1].traffic", "radio.error_model"]) {
        let message = Scenario::parse(ALL).unwrap().set(path, "toyy").unwrap_err()[0].to_string();
        assert!(message.ends_with("did you mean \"toy\"?"), "{message}");
    }
}

#[test]
fn a_scenario_of_toys_runs() {
    let plan = Scenario::parse(ALL).unwrap().resolve().unwrap();
    let seed = Seed { root: 1, replication: 0 };
    let probe = "flows[0].control.window_segments".to_owned();
    let run = Simulation::new(&plan, seed, &[probe], true).unwrap().finish();
    let windows = &run.series[0].value;
    assert!(!windows.is_empty() && windows.iter().all(|window| *window == 4.0), "{windows:?}");
    let count = |path| match run.summary.iter().find(|(at, _)| at == path) {
        Some((_, Value::Count(count))) => *count,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(count("flows[1].packets_sent"), 20, "a burst");
    assert!(count("stations[0].queue_drops") > 0, "every second packet");
    assert!(count("wire.up.losses") > 0, "all from the sixth on");
}

/// A sender whose window is three segments, from the first ACK on.
const SCRIPT: &str = "\
set control toy window_segments=3
0.000 write 10000
0.000 connect
0.000 > S 0:0(0)
0.100 < S. 0:0(0) ack 1 win 65535 <mss 1000,sackOK>
0.100 > . 1:1001(1000) ack 1
0.100 > . 1001:2001(1000) ack 1
0.100 > . 2001:3001(1000) ack 1
0.200 assert in_flight == 3
";

#[test]
fn a_script_takes_the_toy_controller() {
    let failure = |script: &str| tcp::script::run(script).failure.map(|failure| failure.message);
    assert_eq!(failure(SCRIPT), None);
    let message = failure(&SCRIPT.replace("=3", "=101")).unwrap();
    assert!(message.contains("must be from 1 to 100"), "{message}");
}
