//! Runs that a caller steps, and settings that change during them.

use kernel::{Duration, Seed};
use sim::control::NoExternal;
use sim::{Keys, Readings, Run, Scenario, Settings, Simulation, run};

const SEED: Seed = Seed { root: 7, replication: 2 };
const STEP: Duration = Duration(10_000_000);

const SATURATED: &str = "standard = '11b'\nstations = 4\nduration_s = 1.0\nwarmup_s = 0.2\n\
    [[flows]]\nfrom = 'sta*'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n";
const DOWNLOAD: &str = "standard = '11n'\nstations = 2\nduration_s = 1.0\nwarmup_s = 0.2\n\
    [wire]\nrate_mbps = 50.0\ndelay_ms = 5.0\n\
    [[flows]]\nfrom = 'server'\nto = 'sta*'\ncontrol.fixed.window_segments = 20.0\n";
const RADIO: &str = "standard = '11g'\nstations = { count = 3, ring_m = 10.0 }\n\
    duration_s = 1.0\nwarmup_s = 0.2\nradio = {}\n\
    [[flows]]\nfrom = 'sta*'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n";

fn keys(path: &str, value: &str) -> Keys {
    vec![(path.to_owned(), value.to_owned())]
}

/// Steps a run in which one setting has the n-th value from the n-th step on, the last to the end.
fn stepped(text: &str, path: &str, values: &[&str]) -> Run {
    let choices = values.iter().map(|value| keys(path, value)).collect();
    let mut settings = Settings::new(&Scenario::parse(text).unwrap(), vec![choices]).unwrap();
    let mut simulation = Simulation::new(settings.plan(), SEED, &[], false).unwrap();
    let mut step = 0;
    loop {
        let choice = step.min(values.len() - 1) as u32;
        simulation.adopt(&settings.get(&[choice]).unwrap());
        step += 1;
        if !simulation.step(STEP) {
            return simulation.finish();
        }
    }
}

/// The digest of a run with this value from the start.
fn digest(text: &str, path: &str, value: &str) -> u64 {
    let scenario = Scenario::parse(text).unwrap().set(path, value).unwrap();
    run(&scenario.resolve().unwrap(), SEED).digest
}

#[test]
fn a_value_that_is_set_from_the_first_step_on_is_that_of_the_scenario() {
    let window = "flows[*].control.fixed.window_segments";
    let cases = [
        (SATURATED, "wlan.cw_min", ["31", "7", "255"]),
        (SATURATED, "wlan.cw_max", ["1023", "31", "63"]),
        (SATURATED, "wlan.rts_threshold_bytes", ["2347", "0", "500"]),
        (SATURATED, "wlan.rate_mbps", ["11.0", "1.0", "5.5"]),
        (RADIO, "wlan.rts_threshold_bytes", ["2347", "0", "500"]),
        (RADIO, "wlan.cw_min", ["15", "7", "127"]),
        (RADIO, "wlan.rate_mbps", ["54.0", "6.0", "24.0"]),
        (DOWNLOAD, window, ["20.0", "2.0", "64.0"]),
        (DOWNLOAD, "wlan.edca.best_effort.cw_min", ["15", "3", "127"]),
        (DOWNLOAD, "wlan.mcs", ["7", "0", "3"]),
    ];
    for (text, path, values) in cases {
        let mut seen = Vec::new();
        for value in values {
            let stepped = stepped(text, path, &[value]).digest;
            assert_eq!(stepped, digest(text, path, value), "{path} = {value}");
            seen.push(stepped);
        }
        let later = [values[0], values[0], values[1], values[2], values[0]];
        let changed = stepped(text, path, &later).digest;
        assert!(!seen.contains(&changed), "{path} changes during the run");
        assert_eq!(changed, stepped(text, path, &later).digest, "{path}: equal choices");
        seen.dedup();
        assert!(seen.len() > 1, "{path} has an effect");
    }
}

#[test]
fn readings_are_of_the_step() {
    let plan = Scenario::parse(SATURATED).unwrap().resolve().unwrap();
    let paths = ["total.goodput_mbps", "total.attempts", "total.collision_probability"];
    let paths = [&paths[..], &["stations[*].sent", "contending.stations"]].concat();
    let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
    let mut readings = Readings::new(&plan, &paths, &NoExternal).unwrap();
    assert_eq!(readings.paths().count(), 8);
    let mut simulation = Simulation::new(&plan, SEED, &[], false).unwrap();
    let (mut now, mut attempts, mut megabits) = ([f64::NAN; 8], 0.0, 0.0);
    simulation.read(&mut readings, &mut now);
    assert_eq!(now[..7], [0.0; 7], "nothing has been measured at the start");
    loop {
        let goes_on = simulation.step(STEP);
        simulation.read(&mut readings, &mut now);
        attempts += now[1];
        megabits += now[0] * STEP.as_secs_f64();
        assert!((0.0..=1.0).contains(&now[2]) && now[7] <= 4.0, "{now:?}");
        if !goes_on {
            break;
        }
    }
    assert_eq!(simulation.now().0, plan.duration.0);
    assert!(!simulation.step(STEP), "the run has ended");
    // As in the summary of the same run without a warm-up.
    let whole = run(
        &Scenario::parse(SATURATED).unwrap().set("warmup_s", "0.0").unwrap().resolve().unwrap(),
        SEED,
    );
    let result = |path: &str| {
        let found = whole.summary.iter().find(|(known, _)| known == path);
        match found.expect(path).1 {
            sim::Value::Number(x) => x,
            sim::Value::Count(n) => n as f64,
            _ => f64::NAN,
        }
    };
    assert_eq!(attempts, result("total.attempts"));
    assert!((megabits - result("total.goodput_mbps")).abs() < 1e-9);
}

#[test]
fn what_may_not_change_or_be_read_is_said() {
    let message = |text: &str, path: &str, value: &str| {
        let scenario = Scenario::parse(text).unwrap();
        let issues = Settings::new(&scenario, vec![vec![keys(path, value)]]).unwrap_err();
        issues.into_iter().map(|issue| issue.to_string()).collect::<Vec<_>>().join("\n")
    };
    for (text, path, value) in [
        (SATURATED, "stations", "5"),
        (SATURATED, "duration_s", "2.0"),
        (SATURATED, "wlan.mac_header_bytes", "30"),
        (DOWNLOAD, "flows[0].control", "cubic"),
        (DOWNLOAD, "wlan.edca.best_effort.aifsn", "7"),
        (DOWNLOAD, "wlan.rate_control", "arf"),
    ] {
        let said = message(text, path, value);
        assert!(said.starts_with(&format!("{path}: cannot change during a run; ")), "{said}");
    }
    assert!(message(SATURATED, "wlan.cw_min", "30").contains("2^k - 1"));
    assert!(message(SATURATED, "wlan.cw_max", "7").contains("below cw_min"));

    let scenario = Scenario::parse(SATURATED).unwrap();
    let both = [("wlan.cw_min", ["31", "1023"]), ("wlan.cw_max", ["1023", "63"])];
    let both = both.map(|(path, values)| values.map(|value| keys(path, value)).to_vec());
    let mut settings = Settings::new(&scenario, both.to_vec()).unwrap();
    assert!(settings.get(&[1, 0]).is_ok());
    let said = settings.get(&[1, 1]).unwrap_err().remove(0).said.message;
    assert!(said.contains("below cw_min"), "{said}");

    let plan = scenario.resolve().unwrap();
    for path in ["total.goodput", "flows[0].delay_s", "flows[9].sent", "total.jain_index"] {
        assert!(Readings::new(&plan, &[path.to_owned()], &NoExternal).is_err(), "{path}");
    }
}
