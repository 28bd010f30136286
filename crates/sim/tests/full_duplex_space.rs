//! Full duplex among radios: distance and cancellation decide what can be sent at once.

use kernel::Seed;
use sim::{Run, Scenario, Simulation, Value};

/// Two stations at 70 dB from the access point and at `cross_db` from each other; sta0 uploads and
/// sta1 downloads.
fn pair(cross_db: f64, duplex: &str) -> String {
    let losses = format!("[[0, 70, 70], [70, 0, {cross_db}], [70, {cross_db}, 0]]");
    network(2, &losses, duplex)
}

fn network(stations: usize, losses: &str, duplex: &str) -> String {
    let last = stations - 1;
    format!(
        "standard = '11a'\nduration_s = 1.5\nwarmup_s = 0.5\nstations = {stations}\n
         wlan.rate_mbps = 54.0\nwlan.rts_threshold_bytes = 0\n{duplex}\n
         radio.losses_db = {losses}\n
         [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1000\n
         [[flows]]\nfrom = 'ap'\nto = 'sta{last}'\ntraffic.saturated.payload_bytes = 1000\n"
    )
}

fn run(text: &str) -> Run {
    let scenario = Scenario::parse(text).expect("a scenario");
    let plan = scenario.resolve().expect("a plan");
    let seed = Seed { root: 1, replication: 0 };
    // The checker is on: it computes powers, interference and what may overlap itself.
    Simulation::new(&plan, seed, &[], true).expect("no probes").finish()
}

fn value(run: &Run, path: &str) -> f64 {
    let found = run.summary.iter().find(|(name, _)| name == path);
    match &found.unwrap_or_else(|| panic!("no {path}")).1 {
        Value::Number(value) => *value,
        Value::Count(count) => *count as f64,
        other => panic!("{path}: {other:?}"),
    }
}

fn goodput(text: &str) -> f64 {
    value(&run(text), "total.goodput_mbps")
}

/// The receiver of secondary frames hears the access point at -54 dBm: the SINR in decibels is the
/// loss between the stations less 70. At 1000 bytes with headers, 12 Mb/s needs about 6 dB, 24 Mb/s
/// 12 dB and 54 Mb/s 22 dB.
#[test]
fn the_rate_of_secondary_frames_follows_from_the_loss_between_the_stations() {
    let rates = [100.0, 84.0, 78.0].map(|cross_db| {
        let run = run(&pair(cross_db, "wlan.full_duplex = {}"));
        assert!(value(&run, "full_duplex.secondary_share") > 0.95, "at {cross_db} dB");
        let is_sent = value(&run, "full_duplex.secondary_sent");
        assert!(is_sent > 0.95 * value(&run, "full_duplex.secondary"), "at {cross_db} dB");
        value(&run, "full_duplex.secondary_rate_mbps")
    });
    assert!((rates[0] - 54.0).abs() < 1e-9, "{rates:?}");
    assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
    assert!(rates[2] >= 6.0, "{rates:?}");
    let near = run(&pair(72.0, "wlan.full_duplex = {}"));
    let counts = ["primary", "secondary"].map(|name| value(&near, &format!("full_duplex.{name}")));
    assert!(counts[0] > 500.0 && counts[1] == 0.0, "{counts:?}");
}

#[test]
fn stations_that_interfere_little_gain_from_full_duplex_and_near_ones_lose_nothing() {
    let gain = |cross_db: f64| {
        goodput(&pair(cross_db, "wlan.full_duplex = {}")) / goodput(&pair(cross_db, "")) - 1.0
    };
    let gains = [100.0, 84.0, 72.0].map(gain);
    assert!(gains[0] > 0.5 && gains[1] > 0.1 && gains[1] < gains[0], "{gains:?}");
    assert!(gains[2].abs() < 0.03, "{gains:?}");
}

/// Of 16 dBm, -54 dBm remain after a cancellation of 70 dB: as much as arrives of a station.
#[test]
fn what_remains_of_its_own_signal_limits_a_full_duplex_access_point() {
    let with = |keys: &str| pair(100.0, &format!("[wlan.full_duplex]\n{keys}\n[radio]\n"));
    let with = |keys: &str| with(keys).replace("radio.losses_db", "losses_db");
    let fixed = "secondary_rate_mbps = 54.0";
    let perfect = goodput(&with(fixed));
    let ample = goodput(&with(&format!("{fixed}\ncancellation_db = 120.0")));
    assert!((ample / perfect - 1.0).abs() < 0.02, "{ample} and {perfect}");
    let poor = run(&with(&format!("{fixed}\ncancellation_db = 70.0")));
    let half = run(&pair(100.0, ""));
    let [poor, uploaded] = [&poor, &half].map(|run| value(run, "flows[0].goodput_mbps"));
    assert!(poor < 0.1 * uploaded, "primary frames get lost: {poor} and {uploaded}");
    let half = value(&half, "total.goodput_mbps");
    let wise = run(&with("cancellation_db = 70.0"));
    assert!(value(&wise, "full_duplex.secondary").abs() < 0.5);
    let alike = value(&wise, "total.goodput_mbps") / half - 1.0;
    assert!(alike.abs() < 0.03, "by the rule \"sinr\" the access point stays half duplex: {alike}");
}

#[test]
fn a_full_duplex_station_sends_to_the_access_point_from_which_it_receives() {
    let losses = "[[0, 70], [70, 0]]";
    let with = |db: f64| {
        let keys = format!("wlan.full_duplex = {{ bidirectional = true, cancellation_db = {db} }}");
        run(&network(1, losses, &keys))
    };
    let (good, poor, half) = (with(120.0), with(70.0), run(&network(1, losses, "")));
    let goodput = |run: &Run| value(run, "total.goodput_mbps");
    assert!(goodput(&good) > 1.6 * goodput(&half), "{} {}", goodput(&good), goodput(&half));
    assert!(value(&good, "full_duplex.station_secondary") > 100.0);
    assert!((goodput(&poor) / goodput(&half) - 1.0).abs() < 0.03);
}

/// While sta0 transmits, sta1 receives at a lower rate than sta2.
#[test]
fn the_access_point_may_choose_the_station_with_the_best_rate() {
    let losses = "[[0, 70, 70, 70], [70, 0, 84, 100], [70, 84, 0, 90], [70, 100, 90, 0]]";
    let [first, best, random] = ["first", "best_rate", "random"].map(|serve| {
        let text = network(3, losses, &format!("wlan.full_duplex.serve = '{serve}'"));
        let run = run(&text.replace("to = 'sta2'", "to = 'sta1-2'"));
        assert!(value(&run, "full_duplex.secondary_share") > 0.9, "{serve}");
        value(&run, "full_duplex.secondary_rate_mbps")
    });
    assert!(best > 53.9, "{best}");
    assert!((40.0..50.0).contains(&first) && (40.0..50.0).contains(&random), "{first} {random}");
}

/// Two cells on one channel, with shadowing, fading and EIFS: the checker finds nothing.
#[test]
fn the_checker_knows_what_may_overlap_between_cells_too() {
    for duplex in ["{}", "{ bidirectional = true, cancellation_db = 100.0 }"] {
        let text = format!(
            "standard = '11g'\nduration_s = 1.0\nwarmup_s = 0.2\n
             wlan = {{ rate_mbps = 24.0, rts_threshold_bytes = 0, full_duplex = {duplex} }}\n
             radio = {{ shadowing_db = 6.0, fading.m = 3.0 }}\n
             [[cells]]\nposition_m = [30.0, 0.0]\n
             [[stations]]\ncount = 4\nring_m = 10.0\n
             [[stations]]\ncount = 4\nring_m = 12.0\ncell = 1\n
             [[flows]]\nfrom = 'sta*'\nto = 'server'\n
             [[flows]]\nfrom = 'server'\nto = 'sta*'\n"
        );
        assert!(value(&run(&text), "full_duplex.secondary") > 10.0, "{duplex}");
    }
}

/// A-MPDUs, single MPDUs and TXOPs, with losses after which there are BlockAckReqs: the checker
/// finds nothing.
#[test]
fn the_checker_finds_nothing_with_access_categories_and_aggregates() {
    let noisy = "[[stations]]\ncount = 3\nring_m = 6.0\ndata_loss = 0.2\nack_loss = 0.1\n
                 [[stations]]\ncount = 3\nring_m = 9.0\ndata_loss = 0.1\n";
    for (standard, keys) in [
        ("11g", "rate_mbps = 54.0\nqos = true\nedca.best_effort.txop_limit_us = 3008"),
        ("11n", "mcs = 5\naggregation.missed_block_ack = 'retransmit'"),
        ("11ac", "mcs = 5\naggregation = { amsdu_bytes = 3000, lifetime_ms = 20 }"),
        ("11ax", "mcs = 5\naggregation.frames = 1"),
        ("11ac", "mcs = 5\nedca_defaults = '2016'\nedca.best_effort.txop_limit_us = 992"),
    ] {
        for duplex in [
            "cancellation_db = 105.0\nserve = 'best_rate'",
            "bidirectional = true\nown_rts = 'double'",
            "secondary_rate_rule = 'link'\nserve = 'random'",
        ] {
            let text = format!(
                "standard = '{standard}'\nduration_s = 1.0\nwarmup_s = 0.2\n
                 [wlan]\nrts_threshold_bytes = 0\n{keys}\n
                 [wlan.full_duplex]\n{duplex}\n[radio]\n{noisy}\n
                 [[flows]]\nfrom = 'sta0-3'\nto = 'server'\n
                 [[flows]]\nfrom = 'server'\nto = 'sta2-5'\n
                 [[flows]]\nfrom = 'server'\nto = 'sta*'\nclass = 'voice'\n
                 traffic.cbr = {{ rate_mbps = 0.1, payload_bytes = 200 }}\n"
            );
            let run = run(&text);
            assert!(value(&run, "full_duplex.secondary") > 10.0, "{text}");
            let both = text.contains("bidirectional");
            assert_eq!(value(&run, "full_duplex.station_secondary") > 0.0, both, "{text}");
        }
    }
}

/// By the rule "sinr" 802.11ac lowers the MCS where the stations are nearer to each other: MCS 8
/// needs nearly 30 dB, MCS 0 a few.
#[test]
fn the_mcs_of_secondary_frames_follows_from_the_loss_between_the_stations() {
    let rates = [110.0, 90.0, 80.0].map(|cross_db| {
        let text = pair(cross_db, "wlan.full_duplex = {}");
        let text = text.replace("'11a'", "'11ac'").replace("rate_mbps = 54.0", "mcs = 8");
        let run = run(&text);
        assert!(value(&run, "full_duplex.secondary_share") > 0.9, "at {cross_db} dB");
        let is_sent = value(&run, "full_duplex.secondary_sent");
        assert!(is_sent > 0.9 * value(&run, "full_duplex.secondary"), "at {cross_db} dB");
        value(&run, "full_duplex.secondary_rate_mbps")
    });
    assert!((rates[0] - 78.0).abs() < 1e-9, "{rates:?}");
    assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
}

/// The window begins while a station sends an RTS of 1 Mb/s, which collides. This collision counts
/// in the window and the begin of the attempt does not: what collided is a part of the attempts
/// whose outcome is known.
#[test]
fn an_attempt_at_the_begin_of_the_window_collides_once() {
    let text = "standard = '11g'\nduration_s = 0.3\n
                [wlan]\nrts_threshold_bytes = 125\n
                full_duplex = { secondary_rate_rule = 'link', cancellation_db = 1.0 }\n
                [[stations]]\ncount = 2\nrate_mbps = 1.0\nposition_m = [1.0, 1.0]\n
                [radio]\n
                [[flows]]\nfrom = 'sta*'\nto = 'server'\n
                [[flows]]\nfrom = 'server'\nto = 'sta*'\n";
    let run = run(text);
    let stations = |counter: &str| {
        (0..2).map(|n| value(&run, &format!("stations[{n}].{counter}"))).sum::<f64>()
    };
    assert!(stations("collisions") > stations("attempts"), "an attempt began before the window");
    assert!(value(&run, "full_duplex.station_collision_probability") <= 1.0);
}

/// The access point of a further cell is no station: where only access points contend, no attempt
/// of a station collides.
#[test]
fn access_points_of_further_cells_are_no_stations() {
    let text = "standard = '11a'\nduration_s = 0.5\n
                [wlan]\nrts_threshold_bytes = 0\nfull_duplex = {}\n
                [radio]\n[[cells]]\nposition_m = [10.0, 0.0]\n
                [[stations]]\nposition_m = [1.0, 0.0]\n
                [[stations]]\ncell = 1\nposition_m = [11.0, 0.0]\n
                [[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic.saturated.payload_bytes = 1000\n";
    let run = run(text);
    assert!(value(&run, "cells[0].attempts") > 0.0);
    let of_stations =
        |(name, _): &&(String, Value)| name == "full_duplex.station_collision_probability";
    let none = run.summary.iter().find(of_stations).map(|(_, value)| value);
    assert!(matches!(none, Some(Value::None)), "{none:?}");
}

/// The one fault of a network with these keys.
#[track_caller]
fn wrong(text: &str, expected: &str) {
    let issues = Scenario::parse(text).expect("a scenario").resolve().expect_err("a fault");
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn each_fault_has_one_message_at_its_path() {
    let space = |key: &str| pair(100.0, &format!("wlan.full_duplex = {{ {key} }}"));
    wrong(
        &space("cancellation_db = -3.0"),
        "wlan.full_duplex.cancellation_db: must be from 0 to 300 dB, is -3",
    );
    wrong(
        &space("cancellation_db = 0.0")
            .replace("radio.losses_db", "radio.tx_power_dbm = 37.0\nradio.losses_db"),
        "wlan.full_duplex.cancellation_db: 0 leaves 37 dBm of 37 dBm; a receiver bears at most 35 \
         dBm of its own signal: take more cancellation, or less radio.tx_power_dbm",
    );
    wrong(
        &space("secondary_rate_mbps = 24.0, secondary_rate_rule = 'link'"),
        "wlan.full_duplex.secondary_rate_rule: secondary_rate_mbps sets the rate; remove one of \
         the two keys",
    );
    wrong(
        &space("secondary_mcs = 3, secondary_rate_rule = 'link'")
            .replace("'11a'", "'11ac'")
            .replace("rate_mbps = 54.0", "mcs = 5"),
        "wlan.full_duplex.secondary_rate_rule: secondary_mcs sets the MCS; remove one of the two \
         keys",
    );
    let cell = |key: &str| {
        space(key).lines().filter(|line| !line.contains("radio")).collect::<Vec<_>>().join("\n")
    };
    wrong(
        &cell("cancellation_db = 100.0"),
        "wlan.full_duplex.cancellation_db: without a radio no power is computed; add a table \
         [radio], or remove the key",
    );
    wrong(
        &cell("secondary_rate_rule = 'sinr'"),
        "wlan.full_duplex.secondary_rate_rule: \"sinr\" needs the powers of a radio; add a table \
         [radio], or take \"link\"",
    );
}
