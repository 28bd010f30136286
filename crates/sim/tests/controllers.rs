//! Congestion controls by name: their settings, their faults, and their gauges in a run.

use kernel::Seed;
use sim::{Run, Scenario, Simulation};
use tcp::control::ControlSettings;

const CELL: &str = "standard = '11g'\nstations = 2\nduration_s = 6.0\nwarmup_s = 1.0\n\
    wire.rate_mbps = 20.0\nwire.queue.drop_tail.limit_packets = 30\nwire.delay_ms = 10.0\n\
    [[flows]]\nfrom = 'server'\nto = 'sta*'\ntcp.window_segments = 200\n";

/// Each congestion control, with a setting of its own and a gauge.
const KINDS: [(&str, &str, &str); 13] = [
    ("new_reno", "hystart = true", "ssthresh_segments"),
    ("cubic", "beta = 0.5", "w_max_segments"),
    ("westwood", "memory = 0.5", "rate_segments_per_s"),
    ("vegas", "beta = 2.5", "queued_segments"),
    ("few", "alpha = 0.5", "ssthresh_segments"),
    ("afw", "s_max = 0.1", "increment_segments"),
    ("lt", "timeout_keeps_ssthresh = true", "loss_estimate"),
    ("bbr", "extra_acked = false", "rate_mbps"),
    ("bbr3", "loss_threshold = 0.05", "inflight_high_segments"),
    ("dctcp", "gain = 0.125", "mark_share"),
    ("prague", "rtt_transition_rounds = 500", "fractional_window_segments"),
    ("cross_layer", "inner = 'few'", "ideal_window_segments"),
    ("fixed", "window_segments = 30.0", "window_segments"),
];

fn with(lines: &str) -> Scenario {
    Scenario::parse(&format!("{CELL}{lines}\n")).unwrap()
}

fn run(scenario: &Scenario, probes: &[&str]) -> Run {
    let probes: Vec<_> = probes.iter().map(|&path| path.to_owned()).collect();
    let seed = Seed { root: 1, replication: 0 };
    Simulation::new(&scenario.resolve().unwrap(), seed, &probes, true).unwrap().finish()
}

#[test]
fn every_controller_runs_by_name_and_shows_its_gauge() {
    let mut digests = Vec::new();
    for (name, _, gauge) in KINDS {
        let path = format!("flows[*].control.{gauge}");
        // Both are `NewReno` without marks.
        let marks = ["dctcp", "prague"].contains(&name);
        let ecn = if marks { "tcp.ecn = 'accurate'\n" } else { "" };
        let run = run(&with(&format!("{ecn}control = '{name}'")), &[&path]);
        assert_eq!(run.series.len(), 2, "{name}");
        assert_eq!(run.series[0].path, format!("flows[0].control.{gauge}"));
        assert!(!run.series[0].value.is_empty(), "{name}");
        let goodput = |(path, _): &&(String, sim::Value)| path == "total.goodput_mbps";
        let goodput = run.summary.iter().find(goodput).map(|(_, value)| value.clone());
        assert!(matches!(goodput, Some(sim::Value::Number(mbps)) if mbps > 1.0), "{name}");
        if name != "cross_layer" {
            // `cross_layer` equals CUBIC as long as no rate changes.
            digests.push(run.digest);
        }
    }
    let all = digests.len();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), all, "no two are the same");
}

#[test]
fn each_has_settings_that_change_the_plan() {
    for (name, setting, _) in KINDS {
        let plain = with(&format!("control.{name} = {{}}")).resolve().unwrap();
        let set = with(&format!("control.{name} = {{ {setting} }}")).resolve().unwrap();
        assert_eq!(plain, with(&format!("control = '{name}'")).resolve().unwrap());
        assert_ne!(plain, set, "{name}");
    }
}

#[test]
fn cubic_gets_the_same_information_with_a_mark_as_with_a_loss() {
    let of = |lines: &str| match &with(lines).resolve().unwrap().flows[0]
        .tcp
        .as_ref()
        .unwrap()
        .control
    {
        ControlSettings::Cubic(cubic) => (cubic.beta, cubic.beta_ecn()),
        other => panic!("{other:?}"),
    };
    assert_eq!(of("control.cubic.beta = 0.8"), (0.8, 0.8));
    assert_eq!(of("control.cubic = { beta = 0.8, beta_ecn = 0.85 }"), (0.8, 0.85));
}

#[test]
fn settings_without_sense_are_refused_at_their_path() {
    let cases: [(&str, &[&str]); 11] = [
        ("control.cubic.beta = 1.7", &["flows[0].control.cubic.beta: must be in (0, 1), is 1.7"]),
        ("control.cubic.c = 0", &["flows[0].control.cubic.c: must be from 1e-6 to 1000000, is 0"]),
        (
            "control.new_reno.beta_ecn = 1",
            &["flows[0].control.new_reno.beta_ecn: must be in (0, 1), is 1"],
        ),
        (
            "control.few.alpha = 0",
            &["flows[0].control.few.alpha: must be above 0 and at most 1, is 0"],
        ),
        (
            "control.afw = { alpha = 1, s_min = 0.5, s_max = 0.1 }",
            &[
                "flows[0].control.afw.alpha: must be above 1 and at most 1000000, is 1",
                "flows[0].control.afw.s_min: 0.5 is above s_max, 0.1",
            ],
        ),
        (
            "control.afw.epoch.rounds.number = 0",
            &["flows[0].control.afw.epoch.rounds.number: must be from 1 to 1000000, is 0"],
        ),
        ("control.vegas.alpha = 5", &["flows[0].control.vegas.alpha: 5 is above beta, 4"]),
        (
            "control.westwood.memory = 1",
            &["flows[0].control.westwood.memory: a probability is from 0 to below 1, is 1"],
        ),
        (
            "control.cross_layer.inner.cubic.beta = 0",
            &["flows[0].control.cross_layer.inner.cubic.beta: must be in (0, 1), is 0"],
        ),
        (
            "control.cross_layer.rates_mbps = [6, 12]",
            &["flows[0].control.cross_layer.rates_mbps: 2 rates for 0 throughputs_mbps; each \
                 rate has one"],
        ),
        (
            "control.cross_layer = { rates_mbps = [12, 6], throughputs_mbps = [10, 5] }",
            &["flows[0].control.cross_layer.rates_mbps: must ascend, as [6.5, 13.0], is \
               [12.0, 6.0]"],
        ),
    ];
    for (lines, expected) in cases {
        let issues = with(lines).resolve().unwrap_err();
        let issues: Vec<_> = issues.iter().map(ToString::to_string).collect();
        assert_eq!(issues, expected, "{lines}");
    }
}

#[test]
fn a_gauge_that_no_controller_has_names_those_there_are() {
    let plan = with("control = 'cubic'").resolve().unwrap();
    let seed = Seed { root: 1, replication: 0 };
    let probe = |path: &str| {
        let issues = Simulation::new(&plan, seed, &[path.to_owned()], false).err().unwrap();
        issues.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        probe("flows[*].control.wmax_segments"),
        ["flows[*].control.wmax_segments: no such probe; did you mean \
          flows[i].control.w_max_segments? there are window_segments, ssthresh_segments, \
          w_max_segments, k_s, reno_window_segments"]
    );
    assert_eq!(probe("flows[0].control.loss_estimate").len(), 1);
}

#[test]
fn a_slow_reader_is_the_bottleneck() {
    // A minute, in which the steps of the receive window do not count.
    let cell = CELL.replace("duration_s = 6.0", "duration_s = 60.0");
    let goodput = |lines: &str| {
        let run = run(&Scenario::parse(&format!("{cell}{lines}\n")).unwrap(), &[]);
        let goodput = |(path, _): &&(String, sim::Value)| path == "flows[0].goodput_mbps";
        match run.summary.iter().find(goodput) {
            Some((_, sim::Value::Number(mbps))) => *mbps,
            other => panic!("{other:?}"),
        }
    };
    let (slow, free) = (goodput("tcp.read_rate_mbps = 0.5"), goodput(""));
    assert!((0.45..0.55).contains(&slow), "{slow} Mb/s");
    assert!(free > 1.0, "{free} Mb/s");
    let refused = with("tcp.read_rate_mbps = 0.0").resolve().unwrap_err();
    assert_eq!(refused[0].path, "flows[0].tcp.read_rate_mbps");
}
