//! 802.11g with stations of 802.11b, from a scenario to its results: the cost and the benefit of
//! protection, and the messages for wrong keys.

use crate::common::{number, run};
use kernel::Seed;
use sim::{Scenario, Simulation};

const TOP: &str = "standard = '11g'\nduration_s = 5.0\nwarmup_s = 0.2\n";
/// A station of 802.11g at 54 Mb/s that is saturated, and one of 802.11b.
const PAIR: &str = "[[stations]]\n[[stations]]\nstandard = '11b'\n";
const FIRST: &str = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n";
const SECOND: &str =
    "[[flows]]\nfrom = 'sta1'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n";

/// Every node hears every other, with a radio.
fn radio(losses_db: &str) -> String {
    format!("[radio]\nlosses_db = {losses_db}\n")
}

const NEAR: &str = "[[0, 50, 50], [50, 0, 50], [50, 50, 0]]";

/// 1536 bytes at 54 Mb/s last 254 us, their ACK at 24 Mb/s 34 us, a SIFS 10 us. With 7.5 slots on
/// average, of 9 us after a DIFS of 28 us, a packet of 1472 bytes takes 393.5 us. With slots of 20
/// us and a DIFS of 50 us it takes 498 us. A CTS-to-self adds 203 + 10 us, and RTS and CTS add 207
/// + 10 + 203 + 10 us.
#[test]
fn protection_costs_what_its_frames_last() {
    let cases = [
        (PAIR, "none", 498.0, 0.0),
        (PAIR, "cts_to_self", 711.0, 203.0),
        (PAIR, "rts_cts", 928.0, 410.0),
        ("stations = 2\n", "none", 393.5, 0.0),
    ];
    for (stations, protection, cycle_us, control_us) in cases {
        let top = format!("{TOP}wlan.protection = '{protection}'\n");
        let all = run(&format!("{top}{stations}{FIRST}"));
        let goodput = number(&all, "flows[0].goodput_mbps");
        let expected = 8.0 * 1472.0 / cycle_us;
        assert!((goodput / expected - 1.0).abs() < 0.005, "{protection}: {goodput}, {expected}");
        let control = number(&all, "airtime.rts_cts_fraction");
        assert!((control - control_us / cycle_us).abs() < 0.002, "{protection}: {control}");
        // With a radio the results are equal to the last packet.
        let by_radio = run(&format!("{top}{stations}{}{FIRST}", radio(NEAR)));
        assert_eq!(number(&by_radio, "flows[0].goodput_mbps"), goodput, "{protection}");
    }
}

#[test]
fn it_is_on_as_soon_as_a_station_is_of_802_11b() {
    let goodput = |keys: &str, stations: &str| {
        number(&run(&format!("{TOP}{keys}{stations}{FIRST}")), "flows[0].goodput_mbps")
    };
    let protected = goodput("wlan.protection = 'cts_to_self'\n", PAIR);
    assert_eq!(goodput("", PAIR), protected);
    let none_there = "[[stations]]\n[[stations]]\ncount = 0\nstandard = '11b'\n";
    assert_eq!(goodput("", none_there), goodput("", "stations = 1\n"));
    let slow = "[[stations]]\n[[stations]]\nrate_mbps = 11\n";
    assert_eq!(goodput("", slow), goodput("", "stations = 2\n"), "802.11g, though at 11 Mb/s");
    // Without such a station the slot stays short: 28 + 67.5 + 213 + 298 us.
    let for_neighbours = goodput("wlan.protection = 'cts_to_self'\n", "stations = 1\n");
    assert!((for_neighbours / (8.0 * 1472.0 / 606.5) - 1.0).abs() < 0.005, "{for_neighbours}");
}

/// Two saturated stations use the medium equally with and without a radio.
#[test]
fn both_media_agree_where_all_hear_all() {
    for protection in ["none", "cts_to_self", "rts_cts"] {
        let keys = "wlan = { eifs = 'none', slot_grid = 'standard'";
        let top = format!("{TOP}{keys}, protection = '{protection}' }}\n{PAIR}");
        let loud = "error_model = 'threshold'\ndetect_snr_db = -20.0\n";
        let [cell, space] = [String::new(), format!("{}{loud}", radio(NEAR))]
            .map(|radio| run(&format!("{top}{radio}{FIRST}{SECOND}")));
        for path in ["flows[0].goodput_mbps", "flows[1].goodput_mbps"] {
            assert_eq!(number(&cell, path), number(&space, path), "{protection}, {path}");
        }
    }
}

/// At -70 dBm the station of 802.11b decodes DSSS and does not detect OFDM. A hidden station
/// detects only the access point's CTS.
#[test]
fn it_protects_from_whom_its_frames_reach() {
    let lost = |protection: &str, loss_db: u32| {
        let losses = format!("[[0, 50, 50], [50, 0, {loss_db}], [50, {loss_db}, 0]]");
        let top = format!("{TOP}wlan.protection = '{protection}'\n{PAIR}");
        let run = run(&format!("{top}{}{FIRST}{SECOND}", radio(&losses)));
        number(&run, "stations[0].collision_probability")
    };
    let of = |loss_db| ["none", "cts_to_self", "rts_cts"].map(|how| lost(how, loss_db));
    let (near, far, hidden) = (of(50), of(86), of(300));
    assert!(near.iter().all(|lost| (0.04..0.06).contains(lost)), "energy is enough: {near:?}");
    // A station that was sending misses the preamble of the longer frame, and collides with it once
    // more.
    assert!(far[0] > 0.3 && far[1] < 0.12 && far[2] < 0.12, "the CTS is heard: {far:?}");
    assert!(hidden[1] > 0.95 * hidden[0], "nobody hears it: {hidden:?}");
    assert!(hidden[2] < 0.8 * hidden[1], "the access point's is heard: {hidden:?}");
}

/// A random network, some of whose stations are of 802.11b.
fn any_network(root: u64) -> String {
    let mut rng = Seed { root, replication: 0 }.stream("test.protection", 0);
    let stations = 2 + rng.up_to(4);
    let mut one = |of: &[&str]| of[rng.up_to(of.len() as u32 - 1) as usize].to_owned();
    let mut text = format!(
        "standard = '11g'\nduration_s = 0.4\nwarmup_s = 0.1\n[wlan]\nprotection = '{}'\n\
         rts_threshold_bytes = {}\npreamble = '{}'\neifs = '{}'\nrate_control = '{}'\n",
        one(&["none", "cts_to_self", "rts_cts"]),
        one(&["2347", "2347", "800", "0"]),
        one(&["long", "short"]),
        one(&["standard", "estimated", "none"]),
        one(&["fixed", "simple", "cara", "minstrel"]),
    );
    if one(&["cell", "space", "space"]) == "space" {
        let mut row = || -> String {
            let losses = ["50", "60", "75", "86", "95", "105", "300"];
            (0..=stations).map(|_| one(&losses)).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<String> = (0..=stations).map(|_| format!("[{}]", row())).collect();
        text = format!("{text}[radio]\nlosses_db = [{}]\n", rows.join(", "));
        text += &one(&["", "capture = {}\n"]);
    }
    for _ in 0..stations {
        text += "[[stations]]\n";
        text += &one(&["", "", "standard = '11b'\n"]);
        text += &one(&["", "data_loss = 0.2\nack_loss = 0.1\n"]);
    }
    text + "[[flows]]\nfrom = 'sta*'\nto = 'ap'\ntraffic = 'saturated'\n\
            [[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic = 'saturated'\n"
}

#[test]
fn the_checker_finds_nothing_in_networks_at_random() {
    let networks: Vec<String> = (0..60).map(any_network).collect();
    let mixed = networks.iter().filter(|text| text.contains("'11b'")).count();
    assert!(mixed > 40, "{mixed}");
    let goodput: f64 = networks.iter().map(|text| number(&run(text), "total.goodput_mbps")).sum();
    assert!(goodput > 60.0, "{goodput}");
}

/// All semantic faults of a scenario of a standard with these lines.
#[track_caller]
fn wrong(standard: &str, lines: &str, expected: &[&str]) {
    let flow = "[[flows]]\nfrom = 'server'\nto = 'sta*'\n";
    let scenario = Scenario::parse(&format!("standard = '{standard}'\n{lines}\n{flow}")).unwrap();
    let issues = scenario.resolve().expect_err("a fault");
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn wrong_keys() {
    wrong(
        "11n",
        "stations = 2\nwlan.protection = 'cts_to_self'",
        &["wlan.protection: is of 802.11g, whose OFDM stations of 802.11b do not understand; \
           802.11n has none here, remove the key"],
    );
    let known =
        "those of 802.11b in one of 802.11g are, and those of 802.11n and later in a later one";
    let fault = "stations.standard: stations of 802.11b in a network of 802.11a are not modelled";
    wrong("11a", "stations.standard = '11b'", &[&format!("{fault}; {known}")]);
    let mixed = |keys: &str| format!("{keys}\n{PAIR}");
    wrong(
        "11g",
        &mixed("wlan.slot = 'short'"),
        &["wlan.slot: stations of 802.11b have the long slot (20 us) only, and all in a network \
           have the same; remove the key"],
    );
    wrong(
        "11g",
        &mixed("wlan.qos = true"),
        &["wlan.qos: stations of 802.11b contend by DCF here; remove the key, or make all \
           stations 802.11g"],
    );
    wrong(
        "11g",
        &mixed("wlan.basic_rates_mbps = [1, 2, 6]"),
        &["wlan.basic_rates_mbps[2]: every station must have the basic rates, and those of \
           802.11b have 1, 2, 5.5 and 11, not 6"],
    );
    wrong(
        "11g",
        &mixed("").replace("standard = '11b'", "standard = '11b'\nrate_mbps = 54"),
        &["stations[1].rate_mbps: 54 is not a rate of 802.11b (1, 2, 5.5, 11); the highest is 11"],
    );
}

/// The rate control of a station of 802.11b, and that of the access point to it, uses only its
/// rates.
#[test]
fn modes_are_those_of_the_station() {
    let rates = |keys: &str, probe: &str| {
        let text = format!(
            "{TOP}{keys}[[stations]]\n[[stations]]\nstandard = '11b'\n[[flows]]\nfrom = 'server'\n\
             to = 'sta1'\n"
        );
        let plan = Scenario::parse(&text).unwrap().resolve().unwrap();
        let seed = Seed { root: 1, replication: 0 };
        let run = Simulation::new(&plan, seed, &[probe.to_owned()], true).unwrap().finish();
        let mut seen = run.series[0].value.clone();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        seen
    };
    assert_eq!(rates("", "stations[1].ap_rate_mbps"), [11.0]);
    assert_eq!(rates("", "stations[0].rate_mbps"), [54.0]);
    assert_eq!(rates("wlan.rate_mbps = 5.5\n", "stations[1].rate_mbps"), [5.5]);
    for rule in ["'minstrel'", "{ arf = {} }"] {
        let keys = format!("wlan.rate_control = {rule}\n");
        let seen = rates(&keys, "stations[1].ap_rate_mbps");
        assert!(seen.len() > 1, "{rule}: {seen:?}");
        assert!(seen.iter().all(|rate| [1.0, 2.0, 5.5, 11.0].contains(rate)), "{rule}: {seen:?}");
    }
}
