//! Stations that change their access points, from a scenario to its results, with the checker on.

use crate::common::{number, run, run_with};
use sim::{Run, Scenario};

/// A station that walks past access points 50 m apart, on channels of their own.
fn walk(standard: &str, roaming: &str, flows: &str) -> String {
    let [a, b, c] = if matches!(standard, "11b" | "11g") { [1, 7, 13] } else { [36, 52, 100] };
    format!(
        "standard = '{standard}'\nduration_s = 45.0\nwarmup_s = 1.0\nwlan.beacons = {{}}\n\
         wlan.rate_control = 'ideal'\nradio = {{}}\n\
         ap = {{ position_m = [0.0, 0.0], channel = {a} }}\n\
         cells = [{{ position_m = [50.0, 0.0], channel = {b} }}, \
         {{ position_m = [100.0, 0.0], channel = {c} }}]\n\
         [stations]\nroaming = {{ short_interval_s = 1.0, {roaming} }}\n\
         waypoints = [{{ at_s = 0.0, position_m = [2.0, 3.0] }}, \
         {{ at_s = 40.0, position_m = [98.0, 3.0] }}]\n{flows}"
    )
}

const BOTH_WAYS: &str = "[[flows]]\nfrom = 'server'\nto = 'sta0'\n\
                         tcp.window_bytes = 200000\n\
                         [[flows]]\nfrom = 'sta0'\nto = 'server'\n\
                         tcp.window_bytes = 200000\n\
                         [[flows]]\nfrom = 'server'\nto = 'sta0'\n\
                         traffic.cbr = { rate_mbps = 1.0, payload_bytes = 500 }\n";
const CBR: &str = "[[flows]]\nfrom = 'server'\nto = 'sta0'\n\
                   traffic.cbr = { rate_mbps = 2.0, payload_bytes = 1000 }\n";

fn handovers(run: &Run) -> Vec<(f64, f64, f64)> {
    let count = number(run, "stations[0].roaming.handovers") as usize;
    let read = |what: &str, k: usize| number(run, &format!("stations[0].roaming.{what}[{k}]"));
    let one = |k| (read("handover_at_s", k), read("handover_from", k), read("handover_to", k));
    (0..count).map(one).collect()
}

#[test]
fn a_walking_client_keeps_its_connections() {
    for (standard, ways) in [
        ("11n", &["", "forward = true", "announce = false", "scan = 'passive'"][..]),
        ("11g", &["forward = true"]),
    ] {
        for roaming in ways {
            let run = run(&walk(standard, roaming, BOTH_WAYS));
            let all = handovers(&run);
            let cells: Vec<(f64, f64)> = all.iter().map(|&(_, from, to)| (from, to)).collect();
            assert_eq!(cells, [(0.0, 1.0), (1.0, 2.0)], "{standard} {roaming}");
            assert!(all[0].0 < all[1].0);
            // Both access points are equally far at 10 and 30 s; the hysteresis is 8 dB.
            assert!((10.0..20.0).contains(&all[0].0), "{standard} {roaming}: {all:?}");
            assert!((30.0..40.0).contains(&all[1].0), "{standard} {roaming}: {all:?}");
            for flow in 0..3 {
                let sent = number(&run, &format!("flows[{flow}].goodput_mbps"));
                assert!(sent > 0.9, "{standard} {roaming} flow {flow}: {sent}");
            }
            let with = |k: usize| number(&run, &format!("stations[0].roaming.associated_s[{k}]"));
            let outage = number(&run, "stations[0].roaming.outage_s");
            let sum = with(0) + with(1) + with(2) + outage;
            assert!((sum - 45.0).abs() < 1e-6, "{standard} {roaming}: {sum}");
        }
    }
}

/// A scan takes the time per channel times the channels; a handover adds four frames.
#[test]
fn outage_is_the_time_of_scans_and_of_authentication() {
    for (roaming, scan_s, change_s) in [
        ("", 0.090, 0.0),
        ("channel_time_ms = 10.0", 0.030, 0.0),
        ("scan_channels = 13", 0.390, 0.0),
        ("authentication_ms = 300.0", 0.090, 0.3),
        ("scan = 'passive'", 0.330, 0.0),
    ] {
        let run = run(&walk("11a", roaming, CBR));
        let scans = number(&run, "stations[0].roaming.scans");
        let changes = number(&run, "stations[0].roaming.handovers");
        let outage = number(&run, "stations[0].roaming.outage_s");
        let least = scans * scan_s + changes * change_s;
        // Null frames, the wait for silence, and four frames take at most 5 ms.
        assert!(
            outage > least && outage < least + (scans + changes) * 0.005,
            "{roaming}: {outage}"
        );
    }
}

#[test]
fn the_old_access_point_passes_on_what_waits_or_drops_it() {
    // 250 packets/s wait for 500 ms, of which the access point buffers 64.
    let slow = "authentication_ms = 100.0, channel_time_ms = 20.0";
    let lost = run(&walk("11a", slow, CBR));
    let kept = run(&walk("11a", &format!("{slow}, forward = true"), CBR));
    let drops = |run: &Run| number(run, "flows[0].roaming_drops");
    assert_eq!(handovers(&lost).len(), 2);
    // Two handovers of about 160 ms each, at 250 packets/s.
    assert!((70.0..=100.0).contains(&drops(&lost)), "{}", drops(&lost));
    assert_eq!(drops(&kept), 0.0);
    let delivered = |run: &Run| number(run, "flows[0].goodput_mbps");
    assert!(delivered(&kept) > delivered(&lost));
}

#[test]
fn a_client_out_of_range_finds_the_next_access_point() {
    let far = walk("11a", "", CBR).replace("[50.0, 0.0]", "[1000.0, 0.0]");
    let far = far.replace("[100.0, 0.0], channel = 100", "[150.0, 0.0], channel = 100");
    let far = far.replace("[98.0, 3.0]", "[148.0, 3.0]");
    let run = run(&far);
    let all = handovers(&run);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].1, all[0].2), (0.0, 2.0));
    let outage = number(&run, "stations[0].roaming.outage_s");
    assert!((5.0..25.0).contains(&outage), "{outage}");
}

/// Without hysteresis, a station between two access points changes at each scan at which the other
/// one is stronger.
#[test]
fn hysteresis_prevents_changes_back_and_forth() {
    let back_and_forth = "waypoints = [{ at_s = 0.0, position_m = [20.0, 3.0] }, \
                          { at_s = 10.0, position_m = [30.0, 3.0] }, \
                          { at_s = 20.0, position_m = [20.0, 3.0] }, \
                          { at_s = 30.0, position_m = [30.0, 3.0] }]\n";
    let of = |hysteresis: &str| {
        let roaming = format!("threshold_dbm = -50.0, hysteresis_db = {hysteresis}");
        let text = walk("11a", &roaming, CBR);
        let (start, rest) = text.split_once("waypoints").unwrap();
        let (_, flows) = rest.split_once('\n').unwrap();
        number(&run(&format!("{start}{back_and_forth}{flows}")), "stations[0].roaming.handovers")
    };
    assert_eq!(of("0.0"), 3.0);
    assert_eq!(of("8.0"), 0.0);
}

#[test]
fn cells_on_one_channel_work_too_with_any_queue() {
    for queue in ["mac80211", "fq_codel", "airtime_fair"] {
        let text = walk("11n", "forward = true", BOTH_WAYS)
            .replace("channel = 52", &format!("channel = 36, queue = '{queue}'"))
            .replace("channel = 100", &format!("channel = 36, queue = '{queue}'"))
            .replace("channel = 36 }\n", &format!("channel = 36, queue = '{queue}' }}\n"));
        let run = run_with(&text, 3, &["stations[0].roaming.cell", "stations[0].mcs"]);
        assert_eq!(handovers(&run).len(), 2, "{queue}");
        assert!(number(&run, "flows[0].goodput_mbps") > 1.0, "{queue}");
    }
}

/// The old access point has A-MPDUs ready when the station changes.
#[test]
fn nothing_is_sent_on_to_a_station_that_has_left() {
    for (standard, device) in [("11b", "hardware_aggregates = 1"), ("11n", "ring_packets = 100")] {
        let first = format!("position_m = [0.0, 0.0], {device}, ");
        let text = walk(standard, "", BOTH_WAYS).replace("position_m = [0.0, 0.0], ", &first);
        assert!(text.contains(device));
        let run = run(&text);
        assert_eq!(handovers(&run).len(), 2, "{standard} {device}");
        assert!(number(&run, "flows[0].roaming_drops") > 0.0, "{standard} {device}");
    }
}

/// A station comes back to an access point that had datagrams for it in service.
#[test]
fn datagrams_arrive_in_order_when_a_station_comes_back() {
    run("standard = '11n'\nduration_s = 2.0\nwarmup_s = 0.1\nwlan.beacons = {}\nradio = {}\n\
         cells = [{ position_m = [34.0, -1.0] }]\n\
         [[stations]]\nposition_m = [31.0, 1.0]\n\
         [[stations]]\nroaming = { long_interval_s = 0.05, hysteresis_db = 1.0 }\n\
         waypoints = [{ at_s = 0.0, position_m = [47.0, 1.0] }, \
         { at_s = 0.93, position_m = [-3.0, -12.0] }]\n\
         [[flows]]\nfrom = 'sta*'\nto = 'server'\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta1'\ntraffic = 'on_off'\n");
}

/// The faults of a scenario, each with its path.
fn faults(text: &str) -> Vec<String> {
    let issues = Scenario::parse(text).unwrap().resolve().err().unwrap_or_default();
    issues.iter().map(ToString::to_string).collect()
}

const AD_HOC: &str = "standard = '11g'\nradio.ad_hoc = true\n\
                      [stations]\ncount = 2\nroaming = {}\n\
                      movement.random_waypoint = { area_m = [90.0, 9.0] }\n\
                      [[flows]]\nfrom = 'sta0'\nto = 'sta1'\n";

#[test]
fn what_roaming_needs_is_told_in_one_message() {
    let whole = walk("11n", "", CBR);
    let fixed = "waypoints = [{ at_s = 0.0, position_m = [2.0, 3.0] }]\n";
    let (start, rest) = whole.split_once("waypoints").unwrap();
    let standing = format!("{start}{fixed}{}", rest.split_once('\n').unwrap().1);
    let with = |key: &str| whole.replace("[stations]\n", &format!("[stations]\n{key}\n"));
    let rts = "wlan.full_duplex = {}\nwlan.rts_threshold_bytes = 0\n";
    let full_duplex = format!("{rts}{}", walk("11a", "", CBR))
        .replace("wlan.rate_control = 'ideal'\n", "")
        .replace("[stations]\n", "[stations]\ncount = 2\n");
    let cases = [
        (standing, "does not move"),
        (whole.replace("wlan.beacons = {}\n", ""), "needs beacons"),
        (with("power_save = 'legacy'"), "together with stations.power_save"),
        (format!("measure.hops = true\n{whole}"), "together with measure.hops"),
        (full_duplex, "together with wlan.full_duplex"),
        (AD_HOC.to_string(), "an ad-hoc network has no access points"),
        (format!("routing.protocol = 'aodv'\n{AD_HOC}"), "an ad-hoc network has no access points"),
    ];
    for (text, expected) in cases {
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("stations.roaming: "), "{found:?}");
        assert!(found[0].contains(expected), "{found:?}");
    }
    let one = faults(&walk("11n", "hysteresis_db = -1.0", CBR));
    assert_eq!(one, ["stations.roaming.hysteresis_db: must be from 0 to 100 dB, is -1"]);
    let many = |count: u32| {
        let stations = format!("[stations]\ncount = {count}\n");
        faults(&whole.replace("[stations]\n", &stations))
    };
    assert!(many(64).is_empty(), "{:?}", many(64));
    assert_eq!(many(65), ["stations.roaming: 65 stations roam; at most 64"]);
    let alone = "standard = '11n'\nwlan.beacons = {}\nradio = {}\n[stations]\nroaming = {}\n\
                 movement.random_waypoint = { area_m = [9.0, 9.0] }\n";
    assert!(faults(&format!("{alone}{CBR}"))[0].contains("one access point"));
}

/// An access point that has its first station by roaming senses the beacons of its neighbour in its
/// secondary channel, as one that has stations from the start. The checker looks at each frame.
#[test]
fn an_access_point_with_stations_by_roaming_alone_senses_its_secondary_channel() {
    let text = "standard = '11ac'\nduration_s = 4\nwarmup_s = 1\n\
                wlan = { width_mhz = 40, mcs = 0, beacons.interval_tu = 20 }\nradio = {}\n\
                ap = { position_m = [0, 0], channel = 36 }\n\
                cells = [{ position_m = [15, 0], channel = 40 }]\n\
                [[stations]]\n\
                roaming = { threshold_dbm = -50, short_interval_s = 0.2, long_interval_s = 0.2 }\n\
                waypoints = [{ at_s = 0, position_m = [1, 0] }, \
                { at_s = 1, position_m = [15, 1] }]\n\
                [[flows]]\nfrom = 'server'\nto = 'sta0'\n\
                traffic.cbr = { rate_mbps = 20, payload_bytes = 1000 }\n";
    let done = run_with(text, 3, &[]);
    assert!(number(&done, "cells[0].sent") > 1000.0);
}
