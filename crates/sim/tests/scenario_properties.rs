//! For any input, a scenario returns a value or messages, and never panics.

use proptest::prelude::*;
use sim::plan::{Endpoint, Plan};
use sim::traffic::Traffic;
use sim::{Issue, Scenario};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The scenarios in the repository, from which mutations begin.
static SCENARIOS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
});

/// Every key of every scenario, and words that might be mistaken for one.
const WORDS: [&str; 42] = [
    "title",
    "standard",
    "stations",
    "duration_s",
    "warmup_s",
    "wlan",
    "rate_mbps",
    "cw_min",
    "basic_rates_mbps",
    "slot",
    "ap",
    "queue",
    "drop_tail",
    "limit_packets",
    "drr",
    "wire",
    "links",
    "reverse",
    "flows",
    "from",
    "to",
    "count",
    "start_s",
    "stop_s",
    "traffic",
    "bulk",
    "size_bytes",
    "web",
    "size",
    "pareto",
    "shape",
    "empirical",
    "bytes",
    "cbr",
    "saturated",
    "tcp",
    "mss_bytes",
    "delayed_ack",
    "dynamic",
    "thresholds",
    "control",
    "nonsense",
];

const VALUES: [&str; 34] = [
    "0",
    "1",
    "-1",
    "10",
    "31",
    "100001",
    "1e6",
    "1e300",
    "-1e300",
    "nan",
    "inf",
    "-inf",
    "0.5",
    "99999999999999999999",
    "true",
    "''",
    "'sta*'",
    "'sta0-4'",
    "server",
    "ap",
    "broadcast",
    "11b",
    "11a",
    "web",
    "bulk",
    "none",
    "[]",
    "[1, 2]",
    "[{}]",
    "[[]]",
    "{}",
    "{ count = 3 }",
    "{ drr = {} }",
    "1979-05-27",
];

fn path() -> impl Strategy<Value = String> {
    let index = prop_oneof![Just(""), Just("[0]"), Just("[*]"), Just("[7]"), Just("[")];
    let step = (prop::sample::select(&WORDS[..]), index)
        .prop_map(|(word, index)| format!("{word}{index}"));
    prop::collection::vec(step, 1..5).prop_map(|steps| steps.join("."))
}

/// Reads a text and, if that succeeds, resolves and writes it; checks the invariants of a plan.
fn exercise(bytes: &[u8]) {
    match Scenario::parse_bytes(bytes) {
        Ok(scenario) => exercise_scenario(&scenario),
        Err(issues) => are_told_once(bytes, &issues),
    }
}

/// Faults stand in the order of the text, each once, at places in it.
fn are_told_once(text: &[u8], issues: &[Issue]) {
    assert!(!issues.is_empty() && issues.iter().all(|issue| !issue.said.message.is_empty()));
    assert!(issues.is_sorted_by_key(|issue| (issue.place.line, issue.place.column)));
    let said: BTreeSet<_> = issues.iter().map(Issue::with_line).collect();
    assert_eq!(said.len(), issues.len(), "{issues:?}");
    for issue in issues {
        let [begin, end] = issue.place.whole();
        assert!(begin <= end && end <= text.len(), "{issue:?}");
    }
}

fn exercise_scenario(scenario: &Scenario) {
    // NaN is not equal to itself, so texts are compared.
    let again = Scenario::parse(&scenario.to_toml()).unwrap();
    assert_eq!(again.to_toml(), scenario.to_toml());
    match scenario.resolve() {
        Ok(plan) => {
            promises_hold(&plan);
            assert_eq!(again.resolve().unwrap(), plan);
            assert_eq!(Scenario::from_json(&scenario.to_full_json()), Ok(again));
        }
        Err(issues) => {
            assert!(!issues.is_empty());
            for issue in issues {
                assert!(!issue.path.is_empty() && !issue.said.message.is_empty(), "{issue:?}");
            }
        }
    }
}

fn promises_hold(plan: &Plan) {
    assert!(plan.warmup < plan.duration);
    assert!(plan.stations.len() <= 10_000);
    assert!(!plan.stations.is_empty() || !plan.links.is_empty());
    for link in &plan.links {
        assert_ne!(link.ends[0], link.ends[1]);
        assert!(
            link.directions.iter().all(|direction| direction.rate.is_none_or(|rate| rate.0 > 0))
        );
    }
    assert!((1..=20_000).contains(&plan.flows.len()));
    assert!(plan.wlan.timing.basic_rates.is_sorted() && !plan.wlan.timing.basic_rates.is_empty());
    assert!(plan.wlan.short_retry_limit > 0 && plan.wlan.long_retry_limit > 0);
    assert!((plan.wlan.cw_min + 1).is_power_of_two() && plan.wlan.cw_min <= plan.wlan.cw_max);
    assert!(plan.measure.interval.0 > 0 && plan.measure.batches >= 2);
    for station in &plan.stations {
        for link in [&station.up, &station.down] {
            assert!(link.mode().reference_rate() >= plan.wlan.timing.basic_rates[0]);
        }
        assert!((0.0..1.0).contains(&station.data_loss));
    }
    for flow in &plan.flows {
        assert_ne!(flow.from, flow.to);
        assert_ne!(flow.from, Endpoint::Broadcast);
        for end in [flow.from, flow.to] {
            assert!(!matches!(end, Endpoint::Station(n) if n as usize >= plan.stations.len()));
            assert!(
                !matches!(end, Endpoint::Host(n) if n as usize >= plan.topology.hosts().count())
            );
        }
        assert!(plan.topology.links_on_path(flow.from, flow.to).is_some());
        let said = &flow.settings;
        assert!(said.start < plan.duration);
        assert!(said.stop.is_none_or(|stop| stop > said.start && stop <= plan.duration));
        match (&said.traffic, &flow.tcp) {
            (_, Some(tcp)) => {
                let (mss, window) = (tcp.config.mss(), tcp.config.window());
                assert!(mss.0 > 0 && mss <= window);
                let config = &tcp.config;
                assert!(config.rto_min() <= config.rto_initial);
                assert!(config.rto_initial <= config.rto_max);
            }
            (Traffic::Cbr(cbr), None) => {
                assert!(cbr.rate.0 > 0 && cbr.rate.time_for(cbr.size.payload).0 > 0);
            }
            (Traffic::Saturated(saturated), None) => assert!(saturated.size.payload.0 > 0),
            (Traffic::Bulk(_) | Traffic::Web(_) | Traffic::Video(_), None) => {
                panic!("{:?} without TCP", said.traffic)
            }
            (_, None) => {}
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        exercise(&bytes);
    }

    #[test]
    fn any_text(text in "(?s)[a-z\\[\\]{}=.,'\"\\n 0-9éλ#-]{0,200}") {
        exercise(text.as_bytes());
        let _ = Scenario::from_json(&text);
    }

    #[test]
    fn scenarios_with_wrong_bytes(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut bytes = which.get::<String>(&SCENARIOS).clone().into_bytes();
        for (at, byte, kind) in changes {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        exercise(&bytes);
    }

    #[test]
    fn scenarios_with_lines_from_others(
        lines in prop::collection::vec(any::<prop::sample::Index>(), 1..30),
    ) {
        let all: Vec<&str> = SCENARIOS.iter().flat_map(|text| text.lines()).collect();
        let text: Vec<_> = lines.iter().map(|line| *line.get(&all)).collect();
        exercise(text.join("\n").as_bytes());
    }

    #[test]
    fn scenarios_with_anything_set_anywhere(
        which in any::<prop::sample::Index>(),
        settings in prop::collection::vec((path(), prop::sample::select(&VALUES[..])), 1..8),
    ) {
        let mut scenario = Scenario::parse(which.get::<String>(&SCENARIOS)).unwrap();
        for (path, value) in settings {
            let _ = scenario.get(&path);
            match scenario.set(&path, value) {
                Ok(changed) => scenario = changed,
                Err(issues) => {
                    prop_assert!(issues.iter().all(|issue| !issue.said.message.is_empty()));
                }
            }
        }
        exercise_scenario(&scenario);
    }

    #[test]
    fn any_value_of_any_key(value in prop::sample::select(&VALUES[..]), key in key()) {
        let mut scenario = Scenario::parse(&SCENARIOS[0]).unwrap();
        if let Ok(changed) = scenario.set(&key, value) {
            // The value read back is the value set, if JSON can represent it.
            prop_assert!(changed.get(&key).is_ok());
            scenario = changed;
        }
        exercise_scenario(&scenario);
    }
}

/// Any path in the schema.
fn key() -> impl Strategy<Value = String> {
    let schema: serde_json::Value = serde_json::from_str(&sim::scenario::schema()).unwrap();
    let mut keys = Vec::new();
    collect(&schema, &schema, "", &mut keys);
    assert!(keys.len() > 100, "{} keys", keys.len());
    prop::sample::select(keys)
}

fn collect(
    schema: &serde_json::Value,
    root: &serde_json::Value,
    path: &str,
    keys: &mut Vec<String>,
) {
    if let Some(to) = schema["$ref"].as_str() {
        collect(root.pointer(&to[1..]).unwrap(), root, path, keys);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        keys.push(path.clone());
        collect(inner, root, &path, keys);
    }
    for inner in ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten() {
        collect(inner, root, path, keys);
    }
    if schema["items"].is_object() {
        collect(&schema["items"], root, &format!("{path}[0]"), keys);
    }
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [100, 10_000, 500_000] {
        for text in [
            format!("{}x = 1", "a.".repeat(depth)),
            format!("[{}x]", "a.".repeat(depth)),
            format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{}{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
            format!("{{\"a\":{}", "[".repeat(depth)),
        ] {
            assert!(Scenario::parse(&text).is_err());
        }
        let path = vec!["a"; depth].join(".");
        assert!(Scenario::parse(&SCENARIOS[0]).unwrap().set(&path, "1").is_err());
    }
}

#[test]
fn a_text_of_the_largest_size_is_answered() {
    let begin = "standard = '11g'\nstations = 10000\n";
    let flow = "[[flows]]\nfrom = 'sever'\nto = 'sta*'\n";
    let full = format!("{begin}{}", flow.repeat(((1 << 20) - begin.len()) / flow.len()));
    let issues = Scenario::parse(&full).unwrap().resolve().unwrap_err();
    assert!(issues.len() > 20_000);
    let many: Vec<_> = (0..80_000).map(|number| format!("k{number} = 1")).collect();
    assert!(Scenario::parse(&many.join("\n")).is_err());
}
