//! The transmit path of Linux in whole runs: the queue `mac80211`, the hardware queue, and modes by
//! direction.

use crate::common::{number, run_with};

fn run(text: &str) -> sim::Run {
    run_with(text, 3, &[])
}

/// A cell of 802.11n with ath9k's limits: an access point with these keys, these stations, and a
/// UDP flow to each that never runs dry.
fn cell(ap: &str, stations: &str) -> String {
    format!(
        "standard = '11n'\nduration_s = 6\nwarmup_s = 1\n[wlan]\nguard_ns = 400\n\
         edca_defaults = '2012'\n\
         [wlan.aggregation]\nframes = 32\nduration_us = 4096\n[ap]\n{ap}\n{stations}\n\
         [[flows]]\nfrom = 'server'\nto = 'sta*'\ntraffic.cbr.rate_mbps = 60\n\
         start_spread_s = 0\n"
    )
}

const FAST_AND_SLOW: &str = "[[stations]]\ncount = 2\nmcs = 15\n[[stations]]\nmcs = 0\n";

/// A flow that seldom sends.
const SPARSE: &str = "[[flows]]\nfrom = 'server'\nto = 'sta0'\n\
                      traffic.cbr = { rate_mbps = 0.01, payload_bytes = 56 }\n\
                      start_spread_s = 0\n";

fn goodputs(text: &str) -> [f64; 3] {
    let run = run(text);
    [0, 1, 2].map(|i| number(&run, &format!("flows[{i}].goodput_mbps")))
}

#[test]
fn stations_take_turns_of_one_aggregate_or_of_equal_airtime() {
    let with = |queue: &str| {
        goodputs(&cell(
            &format!("hardware_aggregates = 2\nqueue.mac80211 = {queue}"),
            FAST_AND_SLOW,
        ))
    };
    let [fast, _, slow] = with("{ airtime_fairness = false }");
    // Three packets for the slow station in each round, 32 for each of the others.
    assert!((fast / slow - 32.0 / 3.0).abs() < 0.1, "{fast} and {slow} Mb/s");
    for scheduler in ["mac80211", "ath9k"] {
        let [fast, other, slow] = with(&format!("{{ scheduler = '{scheduler}' }}"));
        assert!((fast / other - 1.0).abs() < 0.05, "{fast} and {other} Mb/s");
        // 32 packets last 1.9 ms, three 3.6 ms.
        assert!((18.0..21.0).contains(&(fast / slow)), "{scheduler}: {fast} and {slow} Mb/s");
    }
}

#[test]
fn weights_share_airtime() {
    let stations = "[[stations]]\nmcs = 7\n[[stations]]\nmcs = 7\nairtime_weight = 512\n\
                    [[stations]]\nmcs = 7\n";
    let [one, two, other] = goodputs(&cell("queue = 'mac80211'", stations));
    assert!((two / one - 2.0).abs() < 0.15, "{one} and {two} Mb/s");
    assert!((other / one - 1.0).abs() < 0.08, "{one} and {other} Mb/s");
}

#[test]
fn aggregates_formed_ahead_delay_a_sparse_flow() {
    let delay = |ahead: &str| {
        let ap = format!("{ahead}\nqueue.mac80211.airtime_fairness = false");
        let text = cell(&ap, "[stations]\ncount = 2\nmcs = 4\n");
        number(&run(&format!("{text}{SPARSE}")), "flows[2].delay_s.mean") * 1000.0
    };
    let ahead = |most: u32| delay(&format!("hardware_aggregates = {most}"));
    let delays = [delay(""), ahead(2), ahead(3), ahead(4)];
    // Each A-MPDU lasts 4.2 ms with its access.
    for pair in delays.windows(2) {
        assert!((pair[1] - pair[0] - 4.15).abs() < 0.15, "{delays:?} ms");
    }
}

#[test]
fn aql_bounds_what_a_driver_fifo_holds() {
    let delay = |queue: &str| {
        let ap = format!("ring_packets = 1000\nqueue.mac80211 = {queue}");
        let text = cell(&ap, "[stations]\ncount = 2\nmcs = 4\n");
        number(&run(&format!("{text}{SPARSE}")), "flows[2].delay_s.mean") * 1000.0
    };
    let (without, with) = (delay("{}"), delay("{ aql = {} }"));
    assert!(without > 250.0, "1000 packets of 0.3 ms: {without} ms");
    // Less than 24 ms of both stations, with the overheads that the estimate leaves out.
    assert!((15.0..28.0).contains(&with), "{with} ms");
    let strict = delay("{ aql.per_category = true }");
    assert!((10.0..17.0).contains(&strict), "14.5 ms of both: {strict} ms");
}

#[test]
fn an_access_point_has_modes_of_its_own() {
    let goodput = |keys: &str| {
        let text = format!(
            "standard = '11n'\nduration_s = 3\nwlan.edca_defaults = '2012'\n\
             [stations]\n{keys}\n\
             [[flows]]\nfrom = 'server'\nto = 'sta0'\ntraffic.cbr.rate_mbps = 300\n"
        );
        number(&run(&text), "total.goodput_mbps")
    };
    let [one, two, both] =
        ["mcs = 15\nap_mcs = 0", "mcs = 15\nap_mcs = 8", "mcs = 7\nstreams = 2\nap_mcs = 0"]
            .map(goodput);
    assert!((5.5..6.5).contains(&one), "6.5 Mb/s: {one}");
    assert!((11.0..13.0).contains(&two), "13 Mb/s: {two}");
    assert_eq!(two.to_bits(), both.to_bits(), "two streams counted from 0");
    let short = goodput("mcs = 15\nap_mcs = 8\nap_guard_ns = 400");
    assert!((short / two - 10.0 / 9.0).abs() < 0.02, "{short} of {two}");
    let legacy = goodput("mcs = 15\nap_legacy_rate_mbps = 24");
    assert!((14.0..16.0).contains(&legacy), "24 Mb/s, one frame an access: {legacy}");
}

#[test]
fn a_legacy_station_sends_single_frames() {
    let text = "standard = '11n'\nduration_s = 3\n[[stations]]\nmcs = 7\n[[stations]]\n\
                legacy_rate_mbps = 6\n[[flows]]\nfrom = 'sta*'\nto = 'server'\n";
    let run = run(text);
    let [_, legacy] = [0, 1].map(|i| number(&run, &format!("flows[{i}].goodput_mbps")));
    assert!(legacy > 0.5, "{legacy}");
    let mean = |i: u32| number(&run, &format!("stations[{i}].mpdus_per_ppdu"));
    assert!(mean(0) > 2.0 && mean(1) <= 1.0, "{} and {} MPDUs", mean(0), mean(1));
}

#[test]
fn the_retry_chain_limits_aggregates() {
    // Two streams at 144 Mb/s hold 32 MPDUs of 1500 bytes in 4 ms, one stream at 72 Mb/s 23, which
    // both ways of forming aggregates heed.
    let mean = |rule: &str, ahead: &str| {
        let text = cell(ahead, "[stations]\ncount = 1\nstreams = 2\nmcs = 7\n");
        let minstrel = "rate_control.minstrel_ht = { fewer_streams_last = true, \
                        sampling = 'linux6' }";
        let text = text.replace("[wlan]\n", &format!("[wlan]\n{minstrel}\n"));
        let duration = "duration_us = 4096\n";
        let text = text.replace(duration, &format!("{duration}duration_in = '{rule}'\n"));
        let full = "traffic.cbr = { rate_mbps = 160, payload_bytes = 1472 }";
        number(&run(&text.replace("traffic.cbr.rate_mbps = 60", full)), "ap.mpdus_per_ppdu")
    };
    for ahead in ["", "hardware_aggregates = 2"] {
        let means = ["mode", "chain"].map(|rule| mean(rule, ahead));
        assert!((30.0..=32.0).contains(&means[0]), "{ahead}: {means:?}");
        assert!((21.0..=23.0).contains(&means[1]), "{ahead}: {means:?}");
    }
}
