//! Beacons, from a scenario to its results: what they cost, when they are sent, and the messages
//! for wrong keys.

use crate::common::{number, run};
use sim::Scenario;

const TOP: &str = "duration_s = 22.48\nwarmup_s = 2.0\n";
const LIGHT: &str = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.cbr = { rate_mbps = 0.01 }\n";
const DOWN: &str = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic.saturated = {}\n";
const UP: &str = "[[flows]]\nfrom = 'sta1'\nto = 'ap'\ntraffic.saturated = {}\n";
const RADIO: &str = "radio.losses_db = [[0, 50, 50], [50, 0, 50], [50, 50, 0]]\n";
/// The window has as many beacon intervals of 102.4 ms.
const INTERVALS: f64 = 200.0;

fn begin(standard: &str, keys: &str) -> String {
    format!("standard = '{standard}'\nstations = 2\n{TOP}wlan.beacons = {{ {keys} }}\n")
}

/// 250 bytes at 1 Mb/s last 192 + 2000 us, at 6 Mb/s 20 us and 85 symbols of 4 us, of 102.4 ms.
#[test]
fn a_beacon_costs_what_its_frame_lasts() {
    let cases = [
        ("11b", "", 2192.0, 1.0),
        ("11g", "", 2192.0, 1.0),
        ("11a", "", 360.0, 1.0),
        ("11n", "", 360.0, 1.0),
        ("11g", "rate_mbps = 6", 366.0, 1.0),
        ("11a", "interval_tu = 25", 360.0, 4.0),
        ("11a", "size_bytes = 1000", 1360.0, 1.0),
    ];
    for (standard, keys, lasts_us, often) in cases {
        let text = begin(standard, keys);
        let cell = run(&format!("{text}{LIGHT}"));
        let expected = often * lasts_us / 102_400.0;
        let fraction = number(&cell, "airtime.beacon_fraction");
        assert!((fraction / expected - 1.0).abs() < 0.02, "{standard} {keys}: {fraction}");
        let sent = number(&cell, "ap.beacons");
        assert!((sent - often * INTERVALS).abs() <= 1.0, "{standard} {keys}: {sent}");
        let space = run(&format!("{text}{RADIO}{LIGHT}"));
        let fraction = number(&space, "ap.airtime.beacon_fraction");
        assert!((fraction / expected - 1.0).abs() < 0.02, "{standard} {keys}: {fraction} in space");
    }
}

/// A queue that is never empty does not delay them, and stations take that time less.
#[test]
fn a_beacon_is_the_next_frame_of_its_access_point() {
    for (standard, radio) in [("11a", ""), ("11n", ""), ("11a", RADIO), ("11n", RADIO)] {
        let with = |keys| {
            let text = begin(standard, keys);
            run(&format!("{text}ap.queue.drop_tail.limit_packets = 200\n{radio}{DOWN}{UP}"))
        };
        let loaded = with("size_bytes = 2000");
        let sent = number(&loaded, "ap.beacons");
        assert!((sent - INTERVALS).abs() <= 1.0, "{standard}: {sent}");
        assert_eq!(number(&loaded, "ap.beacons_skipped"), 0.0, "{standard}");
        let often = with("size_bytes = 2000, interval_tu = 15");
        // 2000 bytes last 2692 us, of 15.36 and of 102.4 ms.
        let lost =
            1.0 - number(&often, "total.goodput_mbps") / number(&loaded, "total.goodput_mbps");
        let expected = (2692.0 / 15_360.0 - 2692.0 / 102_400.0) / (1.0 - 2692.0 / 102_400.0);
        assert!((lost - expected).abs() < 0.05, "{standard}: {lost} instead of {expected}");
    }
}

/// A broadcast packet of 1000 bytes makes an MPDU of 1064 bytes. At the lowest basic rate of its
/// modulation class, 6 or 1 Mb/s, that lasts 1444, 1450 or 8704 us, of 20 ms.
#[test]
fn a_broadcast_packet_costs_what_its_frame_lasts() {
    for (standard, lasts_us) in [("11a", 1444.0), ("11g", 1450.0), ("11b", 8704.0)] {
        let flow = "[[flows]]\nfrom = 'ap'\nto = 'broadcast'\n\
                    traffic.cbr = { rate_mbps = 0.4, payload_bytes = 1000 }\n";
        let cell = run(&format!("standard = '{standard}'\nstations = 2\n{TOP}{flow}"));
        let shares = ["airtime.payload_fraction", "airtime.header_fraction"];
        let fraction: f64 = shares.iter().map(|path| number(&cell, path)).sum();
        assert!((fraction / (lasts_us / 20_000.0) - 1.0).abs() < 1e-6, "{standard}: {fraction}");
    }
}

#[test]
fn without_the_table_there_are_no_beacons_and_no_results_of_them() {
    let none = run(&format!("standard = '11a'\nstations = 2\n{TOP}{LIGHT}"));
    assert!(none.summary.iter().all(|(path, _)| !path.contains("beacon")));
}

#[test]
fn wrong_keys_have_one_message() {
    let cases = [
        (
            "standard = '11a'\nstations = 2\nwlan.beacons.rate_mbps = 11\n",
            "wlan.beacons.rate_mbps: 11 is not a rate of 802.11a (6, 9, 12, 18, 24, 36, 48, 54); \
             the nearest are 9 and 12",
        ),
        (
            "standard = '11a'\nstations = { count = 2, position_m = [0, 0], ring_m = 5 }\n\
             radio.ad_hoc = true\nwlan.beacons = {}\n",
            "wlan.beacons: an ad-hoc network has no access point that could send beacons; remove \
             the table",
        ),
        (
            "standard = '11a'\nstations = 2\nwlan.beacons.interval_tu = 10\n",
            "wlan.beacons.interval_tu: ",
        ),
    ];
    for (keys, expected) in cases {
        let flow = "[[flows]]\nfrom = 'sta0'\nto = 'sta1'\n";
        let flow = if keys.contains("ad_hoc") { flow } else { LIGHT };
        let text = format!("{keys}{flow}");
        let scenario = Scenario::parse(&text).unwrap_or_else(|issue| panic!("{issue:?}"));
        let issues = scenario.resolve().expect_err(keys);
        let found: Vec<String> = issues.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
}
