//! Coded flows, by the keys of a scenario: their results and their faults.

use crate::common::number;
use kernel::Seed;
use sim::{Run, Scenario, Simulation, Value};

/// A link that loses one packet in ten, and marks packets when it is congested.
const LINK: &str = "duration_s = 20.0\nwarmup_s = 2.0\n[[links]]\nfrom = 'server'\n\
    to = 'client'\nrate_mbps = 10.0\ndelay_ms = 20.0\nloss.uniform.probability = 0.1\n\
    queue.red = { min_packets = 25, max_packets = 90, limit_packets = 100, ecn = true }\n\
    [[flows]]\nfrom = 'server'\nto = 'client'\ncontrol = 'lt'\ntcp.window_segments = 200\n\
    tcp.ecn = 'classic'\n";

fn run(lines: &str) -> Run {
    replicate(lines, 0)
}

fn replicate(lines: &str, replication: u32) -> Run {
    let scenario = Scenario::parse(&format!("{LINK}{lines}\n")).unwrap();
    let seed = Seed { root: 1, replication };
    let probes = ["flows[0].fec.loss_estimate".to_owned(), "flows[0].fec.unit_bytes".to_owned()];
    Simulation::new(&scenario.resolve().unwrap(), seed, &probes, true).unwrap().finish()
}

#[test]
fn a_code_keeps_the_goodput_that_losses_leave() {
    let scenario =
        Scenario::parse(&LINK.replace("control = 'lt'", "control = 'new_reno'")).unwrap();
    let seed = Seed { root: 1, replication: 0 };
    let plain = Simulation::new(&scenario.resolve().unwrap(), seed, &[], true).unwrap().finish();
    let coded = run("tcp.fec = { verify = true }");
    let goodput = |run| number(run, "flows[0].goodput_mbps");
    // 1436 of 1500 bytes, a tenth lost, and an overhead of a fifth: 7.2 Mb/s.
    assert!(goodput(&coded) > 6.5 && goodput(&coded) < 8.62, "{}", goodput(&coded));
    assert!(goodput(&coded) > 5.0 * goodput(&plain), "{}", goodput(&plain));
    let of = |name: &str| number(&coded, &format!("flows[0].fec.{name}"));
    // The mean of ten replications: slow start overflows the queue, and where that takes long,
    // there is more parity.
    let overhead = |n| number(&replicate("tcp.fec = {}", n), "flows[0].fec.overhead_fraction");
    let overhead = (0..10).map(overhead).sum::<f64>() / 10.0;
    assert!((overhead - 0.2).abs() < 0.06, "{overhead}");
    // The estimate, after slow start.
    let series = &coded.series[0].value[coded.series[0].value.len() / 2..];
    let estimate = series.iter().sum::<f64>() / series.len() as f64;
    assert!((estimate - 0.1).abs() < 0.02, "{estimate}");
    assert!(of("recovered_segments") >= of("decoded_blocks") && of("decoded_blocks") > 50.0);
    assert_eq!(of("verified_blocks"), of("decoded_blocks"));
    assert!(of("proactive_segments") > of("reactive_segments"));
    assert!(number(&coded, "flows[0].ecn_marks") > 0.0);
    assert_eq!(number(&coded, "flows[0].timeouts"), 0.0);
    assert!(coded.series[1].value.iter().all(|&bytes| (200.0..=1436.0).contains(&bytes)));
    let absent = |(path, _): &(String, Value)| !path.contains(".fec.");
    assert!(plain.summary.iter().all(absent), "no code, no results of one");
}

#[test]
fn verifying_changes_nothing_and_each_setting_something() {
    let digest = |lines: &str| run(lines).digest;
    let usual = digest("tcp.fec = {}");
    assert_eq!(digest("tcp.fec = { verify = true }"), usual);
    let settings = [
        "parity = 'none'",
        "parity.normal.margin = 0.0",
        "parity.binomial.coverage = 0.5",
        "weight = 0.1",
        "units = 100",
        "units = 100, unit_min_bytes = 500",
        "units = 30, unit_step_bytes = 50",
        "reactive = false",
        "header_bytes = 20",
    ];
    let mut digests: Vec<_> =
        settings.iter().map(|keys| digest(&format!("tcp.fec = {{ {keys} }}"))).collect();
    digests.push(usual);
    let all = digests.len();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), all, "no two are the same");
}

#[test]
fn files_over_coded_connections_end() {
    let run = run("tcp.fec = {}\ntraffic.web = { size = { constant = { bytes = 30000 } }, \
                   think_s = 0.2 }");
    let (count, mean) = (
        number(&run, "flows[0].session_delay_s.count"),
        number(&run, "flows[0].session_delay_s.mean"),
    );
    assert!(count > 20.0 && mean < 1.0, "{count} files, {mean} s each");
}

#[test]
fn what_is_wrong_with_a_code_is_said() {
    let faults = |lines: &str| {
        let scenario = Scenario::parse(&format!("{LINK}{lines}\n")).unwrap();
        let issues = scenario.resolve().unwrap_err();
        issues.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let of = |keys: &str| faults(&format!("tcp.fec = {{ {keys} }}"));
    assert_eq!(
        of("weight = 0.0"),
        ["flows[0].tcp.fec.weight: must be above 0 and at most 1, is 0"]
    );
    assert_eq!(of("units = 1"), ["flows[0].tcp.fec.units: must be from 2 to 128, is 1"]);
    assert_eq!(
        of("unit_min_bytes = 1500"),
        ["flows[0].tcp.fec.unit_min_bytes: 1500 is more than a full segment holds, 1436"]
    );
    assert_eq!(
        of("parity.binomial.coverage = 1.0"),
        ["flows[0].tcp.fec.parity.binomial.coverage: must be in (0, 1), is 1"]
    );
    assert_eq!(
        of("parity.normal.margin = -1.0, header_bytes = 300"),
        [
            "flows[0].tcp.fec.parity.normal.margin: must be from 0 to 10, is -1",
            "flows[0].tcp.fec.header_bytes: must be from 0 to 100 bytes, is 300"
        ]
    );
    assert!(Scenario::parse(&format!("{LINK}tcp.fec = {{ parity = 'some' }}\n")).is_err());
}
