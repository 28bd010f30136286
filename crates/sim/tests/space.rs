//! Scenarios with a radio: hidden nodes, several cells, ad-hoc networks, and faults.

use crate::common::{number, run_with};
use sim::{Run, Scenario};

fn run(text: &str) -> Run {
    run_with(text, 3, &[])
}

/// Losses in decibels: 50 between nodes that hear each other, 300 between the stations if hidden.
fn losses(stations: usize, hidden: bool) -> String {
    let row = |a: usize| {
        let far = |b: usize| hidden && a > 0 && b > 0 && a != b;
        let row: Vec<&str> = (0..=stations).map(|b| if far(b) { "300" } else { "50" }).collect();
        format!("[{}]", row.join(", "))
    };
    let rows: Vec<String> = (0..=stations).map(row).collect();
    format!("radio.losses_db = [{}]\n", rows.join(", "))
}

const RADIO_B: &str = "radio.error_model = 'nist'\nwlan.slot_grid = 'free'\n\
                       wlan.long_retry_limit = 7\n";

#[test]
fn hidden_nodes_have_the_goodput_of_ns3() {
    // Provenance: ns-3.37, five seeds of 10 s, 11 Mb/s: UDP saturation, and uploads by NewReno with
    // a window of 65535 bytes and an ACK for each second segment; 1000 bytes each.
    let udp = "traffic.saturated.payload_bytes = 1000";
    let tcp = "traffic = 'bulk'\ncontrol = 'new_reno'\ntcp.mss_bytes = 1000\n\
               tcp.window_bytes = 65535\ntcp.timestamps = true\n\
               tcp.delayed_ack.fixed.segments = 2";
    let cases = [
        (true, false, udp, 3.4923, 0.015),
        (true, true, udp, 3.5485, 0.015),
        (false, false, udp, 5.3837, 0.01),
        (false, true, udp, 3.9848, 0.01),
        (true, false, tcp, 3.5222, 0.11),
        (true, true, tcp, 3.0406, 0.05),
        (false, false, tcp, 4.2885, 0.02),
        (false, true, tcp, 3.4061, 0.02),
    ];
    for (hidden, rts, keys, expected, tolerance) in cases {
        let rts_threshold = if rts { 100 } else { 2347 };
        let run = run(&format!(
            "standard = '11b'\nstations = 2\nduration_s = 44\nwarmup_s = 4\n{RADIO_B}{}\
             wlan.rts_threshold_bytes = {rts_threshold}\n\
             [[flows]]\nfrom = 'sta*'\nto = 'ap'\n{keys}\n",
            losses(2, hidden)
        ));
        let total = number(&run, "total.goodput_mbps");
        let differs = total / expected - 1.0;
        println!("hidden {hidden}, RTS {rts}, {keys:.12}: {total:.4} of {expected}, {differs:+.4}");
        assert!(differs.abs() < tolerance, "hidden {hidden}, RTS {rts}: {total} of {expected}");
    }
}

/// Results that a cell and a space have in common. In a cell a collision takes the time of its
/// longest frame for all nodes.
fn common(run: &Run) -> Vec<(String, String)> {
    let of_collisions = ["airtime", "contention_s", "transmission_s", "retries_s"];
    let own =
        |path: &str| of_collisions.iter().any(|part| path.contains(part)) || path == "run.events";
    let rows = run.summary.iter().filter(|(path, _)| !own(path));
    rows.map(|(path, value)| (path.clone(), format!("{value:?}"))).collect()
}

fn count(value: &str) -> u32 {
    value.trim_start_matches("Count(").trim_end_matches(')').parse().expect("a count")
}

#[test]
fn where_all_hear_all_results_are_those_of_the_cell() {
    let flows = "[[flows]]\nfrom = 'server'\nto = 'sta*'\ntraffic = 'bulk'\n\
                 [[flows]]\nfrom = 'sta*'\nto = 'server'\ntraffic = 'bulk'\n";
    let physics =
        "radio.error_model.threshold.sinr_db = 10\nradio.detect_snr_db = -100\n".to_owned();
    let model = "11a'\nwlan.model_header_us = 24\ntitle = 'model";
    for standard in ["11a", "11b", "11n", "11ac", model] {
        let begin = format!(
            "standard = '{standard}'\nstations = 4\nduration_s = 3\nwire.rate_mbps = 1000\n\
             wire.delay_ms = 2\nap.queue.drop_tail.limit_packets = 40\n\
             wlan.short_retry_limit = 99\n"
        );
        let cell = run(&format!("{begin}{flows}"));
        let space = run(&format!("{begin}{physics}{}{flows}", losses(4, false)));
        let (cell, space) = (common(&cell), common(&space));
        let drops = cell
            .iter()
            .filter(|(path, value)| path.ends_with("retry_drops") && value != "Count(0)");
        assert_eq!(drops.count(), 0, "{standard}: a frame given up leaves later in space");
        let mut collisions = [0.0; 2];
        for (a, b) in cell.iter().zip(&space) {
            // A cell counts a collision at its beginning, a space at its end. One collision may
            // overlap the end of the run.
            if a.0.ends_with(".collisions") {
                collisions[0] += f64::from(count(&a.1));
                collisions[1] += f64::from(count(&b.1));
            } else if !a.0.ends_with("collision_probability") {
                assert_eq!(a, b, "{standard}");
            }
        }
        assert!(collisions[0] > 100.0 && (collisions[0] - collisions[1]).abs() <= 5.0);
        assert_eq!(cell.len(), space.len());
    }
}

/// Two cells of two stations each, with this distance in metres between their access points.
fn two_cells(apart_m: f64, channel: u32) -> Run {
    run(&format!(
        "standard = '11a'\nduration_s = 6\nwarmup_s = 1\nradio.error_model = 'nist'\n\
         [wlan]\nrate_mbps = 24\n\
         [[stations]]\ncount = 2\nring_m = 5\n\
         [[stations]]\ncount = 2\nring_m = 5\ncell = 1\n\
         [[cells]]\nposition_m = [{apart_m:?}, 0.0]\nchannel = {channel}\n\
         [[flows]]\nfrom = 'server'\nto = 'sta*'\ntraffic.saturated.payload_bytes = 1472\n"
    ))
}

#[test]
fn cells_share_a_channel_and_do_not_share_two() {
    let each = |run: &Run| {
        let cell = |range: [usize; 2]| {
            range.map(|i| number(run, &format!("flows[{i}].goodput_mbps"))).iter().sum::<f64>()
        };
        [cell([0, 1]), cell([2, 3])]
    };
    let (apart, two) = (each(&two_cells(20_000.0, 36)), each(&two_cells(20.0, 149)));
    let one = each(&two_cells(20.0, 36));
    println!("apart {apart:.3?}, on two channels {two:.3?}, on one {one:.3?}");
    for alone in apart.iter().chain(&two) {
        assert!((alone / apart[0] - 1.0).abs() < 0.01, "{apart:?} {two:?}");
    }
    let together = one.iter().sum::<f64>();
    // With two contending stations fewer slots are idle than with one.
    assert!((1.0..1.15).contains(&(together / apart[0])), "{one:?} share what {apart:?} have each");
    assert!((one[0] / one[1] - 1.0).abs() < 0.1, "{one:?}");
}

#[test]
fn results_count_what_each_access_point_sends() {
    let run = two_cells(20_000.0, 36);
    let data = |node: &str| number(&run, &format!("{node}.airtime.data_fraction"));
    assert!((data("ap") / data("cells[0]") - 1.0).abs() < 0.02);
    assert!(data("ap") > 0.6 && data("stations[0]") == 0.0);
    assert!(number(&run, "stations[0].airtime.ack_fraction") > 0.01);
    assert!(number(&run, "cells[0].attempts") > 1000.0);
}

#[test]
fn stations_send_to_each_other_ad_hoc() {
    let run =
        run("standard = '11a'\nduration_s = 4\nradio.ad_hoc = true\nradio.error_model = 'nist'\n\
         [[stations]]\nposition_m = [0.0, 0.0]\n[[stations]]\nposition_m = [8.0, 0.0]\n\
         [[stations]]\nposition_m = [0.0, 8.0]\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta1'\ntraffic = 'bulk'\n\
         [[flows]]\nfrom = 'sta2'\nto = 'sta0'\ntraffic = 'bulk'\n");
    let flows = [0, 1].map(|i| number(&run, &format!("flows[{i}].goodput_mbps")));
    assert!(flows.iter().all(|&rate| rate > 8.0), "{flows:?}");
    assert_eq!(number(&run, "ap.airtime.data_fraction"), 0.0);
}

#[test]
fn distance_costs_frames_and_rate_control_finds_a_mode() {
    let at = |metres: f64, control: &str| {
        let run = run(&format!(
            "standard = '11a'\nduration_s = 4\nwarmup_s = 1\n[wlan]\n{control}\n[radio]\n\
             [[stations]]\nposition_m = [{metres:?}, 0.0]\n\
             [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n"
        ));
        number(&run, "total.goodput_mbps")
    };
    let fixed = "rate_mbps = 54";
    let (near, far) = (at(5.0, fixed), at(45.0, fixed));
    assert!(near > 25.0 && far < 0.1, "{near} {far}");
    let adaptive = at(45.0, "rate_control = 'minstrel'");
    let ideal = at(45.0, "rate_control = 'ideal'");
    assert!(adaptive > 5.0 && ideal > 5.0, "{adaptive} {ideal}");
}

fn faults(text: &str) -> Vec<String> {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let faults = scenario.resolve().expect_err("a fault");
    faults.into_iter().map(|fault| fault.to_string()).collect()
}

#[test]
fn faults_name_the_key_and_a_remedy() {
    let begin = "standard = '11a'\n";
    let flow = "[[flows]]\nfrom = 'server'\nto = 'sta*'\n";
    let cases = [
        ("[stations]\nposition_m = [1.0, 2.0]\n", "stations.position_m: nodes have places only"),
        ("stations = 1\n[[cells]]\nchannel = 3\n", "cells: nodes have places only"),
        ("stations = 2\n[radio]\n", "stations.position_m: missing; with [radio] a station has"),
        ("[stations]\nposition_m = [1.0]\n[radio]\n", "stations.position_m: must be two numbers"),
        ("[stations]\nring_m = 3\ncell = 1\n[radio]\n", "stations.cell: must be from 0 to 0, is 1"),
        (
            "stations = 1\n[radio]\nlosses_db = [[0.0, 50.0]]\n",
            "radio.losses_db: has 1 rows; there are 2 nodes",
        ),
        (
            "stations = 1\n[radio]\nlosses_db = [[0.0, 50.0], [-1.0, 0.0]]\n",
            "radio.losses_db[1][0]: must be from 0 to 1000 dB, is -1",
        ),
        (
            "[stations]\nring_m = 3\n[radio]\n[wlan]\nslot_grid = 'shared'\n",
            "wlan.slot_grid: \"shared\" is not supported together with [radio]",
        ),
        (
            "[stations]\nring_m = 3\n[radio]\nad_hoc = true\n",
            "flows[0]: with radio.ad_hoc there are stations only",
        ),
        (
            "[stations]\nring_m = 3\n[radio]\nfading.m = 0.1\n",
            "radio.fading.m: must be from 0.5 to 1000, is 0.1",
        ),
    ];
    for (keys, expected) in cases {
        let found = faults(&format!("{begin}{keys}{flow}"));
        assert!(found.iter().any(|fault| fault.starts_with(expected)), "{keys}{found:?}");
    }
}

/// That all nodes have the best of all paths to one receiver has no probability that matters: one
/// has, beside the mean of the others.
#[test]
fn many_nodes_with_shadowing_are_accepted() {
    let moving = |power: f64| {
        format!(
            "standard = '11a'\nstations = {{ count = 10000, movement.random_waypoint = {{ \
             area_m = [1000, 1000] }} }}\nradio = {{ ad_hoc = true, shadowing_db = 8, \
             tx_power_dbm = {power} }}\nap.position_m = [0, 0]\n\
             [[flows]]\nfrom = 'sta0'\nto = 'sta1'\n"
        )
    };
    assert!(Scenario::parse(&moving(16.0)).unwrap().resolve().is_ok());
    let found = faults(&moving(41.0));
    assert!(found[0].starts_with("radio.tx_power_dbm: 41 dBm over a loss of"), "{found:?}");
}
