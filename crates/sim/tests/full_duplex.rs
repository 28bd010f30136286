//! Cells whose access point sends to one station while it receives from another.

use crate::common::{number, run};
use sim::Scenario;

/// The cell of the paper, with fewer stations and less time.
fn cell(lines: &str, duplex: &str) -> String {
    format!(
        "standard = '11a'\nduration_s = 4.0\nwarmup_s = 1.0\nstations = 12\n
         [wlan]\nrate_mbps = 54.0\nrts_threshold_bytes = 0\n{lines}\n{duplex}\n
         [[flows]]\nfrom = 'sta0-3'\nto = 'server'\n
         [[flows]]\nfrom = 'server'\nto = 'sta4-11'\n"
    )
}

const RESULTS: &str = "[wlan.full_duplex]\nsecondary_rate_mbps = 36.0\n";

/// The secondary frames, their mean rate and their airtime by rate.
#[test]
fn secondary_frames_are_told_apart_by_rate() {
    let text = cell("", "[wlan.full_duplex]\nsecondary_rate_mbps = 36.0\nbidirectional = true\n");
    let text = text.replace("to = 'sta4-11'", "to = 'sta0-7'");
    let text = text.replace("stations = 12\n", "");
    let run =
        run(&format!("{text}[[stations]]\ncount = 9\n[[stations]]\ncount = 3\nrate_mbps = 6.0\n"));
    let of =
        |name: &str| [0, 1, 2].map(|i| number(&run, &format!("full_duplex.rates[{i}].{name}")));
    let (rates, frames) = (of("rate_mbps"), of("frames"));
    assert_eq!(rates, [6.0, 36.0, 54.0]);
    assert_eq!(frames.iter().sum::<f64>(), number(&run, "full_duplex.secondary"));
    let sum: f64 = rates.iter().zip(frames).map(|(rate, frames)| rate * frames).sum();
    let mean = sum / frames.iter().sum::<f64>();
    assert!((mean / number(&run, "full_duplex.secondary_rate_mbps") - 1.0).abs() < 1e-9);
    assert_eq!(frames[0], 0.0, "nobody sends to the stations at 6 Mb/s");
    assert!(frames[1] > 500.0 && frames[2] > 100.0, "{frames:?}");
    let airtime = of("airtime_fraction");
    assert_eq!(airtime[0], 0.0);
    assert!(airtime[1] > airtime[2] && airtime.iter().sum::<f64>() < 1.0, "{airtime:?}");
}

/// The checker is on: what overlaps, the airtime, and the packets are as they must be.
#[test]
fn full_duplex_delivers_more_than_half_duplex() {
    let [half, full] = ["", RESULTS].map(|duplex| run(&cell("", duplex)));
    let goodput = |run| number(run, "total.goodput_mbps");
    assert!(goodput(&full) > 1.2 * goodput(&half), "{} {}", goodput(&full), goodput(&half));
    assert!(number(&full, "airtime.two_frames_fraction") > 0.1);
    assert!(number(&full, "full_duplex.secondary") > 1000.0);
    assert_eq!(number(&full, "full_duplex.secondary_rate_mbps"), 36.0);
    assert!(number(&full, "full_duplex.alone") > 0.0 && number(&full, "full_duplex.joint") > 0.0);
    assert!(half.summary.iter().all(|(path, _)| !path.contains("duplex") && !path.contains("two")));
}

/// Noise, slow links, a short queue, each rule of whom to serve, and each option of contention.
#[test]
fn the_checker_finds_nothing_in_any_variant() {
    let noisy = "[[stations]]\ncount = 6\ndata_loss = 0.2\nack_loss = 0.1\n\
                 [[stations]]\ncount = 6\nrate_mbps = 6.0\ndata_loss = 0.1\n";
    for serve in ["first", "head_of_line", "best_rate", "random"] {
        for options in [
            "",
            "eifs = 'none'\nslot_grid = 'shared'\ncountdown = 'bianchi'",
            "slot_grid = 'free'\nshort_retry_limit = 2\nlong_retry_limit = 1",
            "model_header_us = 24.0\nbasic_rates_mbps = [6.0]\nrts_rate_mbps = 12.0",
        ] {
            for (own, both) in [("reset", false), ("double", false), ("double", true)] {
                let duplex = format!(
                    "[wlan.full_duplex]\nserve = '{serve}'\nown_rts = '{own}'\n\
                     bidirectional = {both}\n"
                );
                let text = cell(options, &duplex).replace("stations = 12\n", "");
                let queue = "[ap.queue.fq_codel]\n";
                let text = format!("{text}{noisy}{}", if own == "double" { queue } else { "" });
                let run = run(&text.replace("duration_s = 4.0", "duration_s = 2.0"));
                assert!(number(&run, "full_duplex.secondary_sent") > 100.0, "{text}");
                assert_eq!(number(&run, "full_duplex.station_secondary") > 0.0, both, "{text}");
            }
        }
    }
}

/// A-MPDUs with block acks, with and without RTS and CTS, and their options.
#[test]
fn the_checker_finds_nothing_in_any_variant_with_aggregates() {
    let noisy = "[[stations]]\ncount = 6\ndata_loss = 0.2\nack_loss = 0.1\n\
                 [[stations]]\ncount = 6\nmcs = 1\ndata_loss = 0.1\n";
    for standard in ["11n", "11ac"] {
        for options in [
            "rts_threshold_bytes = 0",
            "aggregation.frames = 1",
            "aggregation = { amsdu_bytes = 3000, missed_block_ack = 'retransmit' }",
            "edca_defaults = '2016'\nedca.best_effort.txop_limit_us = 992",
            "aggregation = { frames = 8, lifetime_ms = 20 }\nslot_grid = 'difs'",
        ] {
            for duplex in [
                "secondary_mcs = 1",
                "serve = 'best_rate'\nown_rts = 'double'\nbusy_tone = true",
                "serve = 'random'\nbidirectional = true",
            ] {
                let duplex = format!("[wlan.full_duplex]\nrts_cts = 'optional'\n{duplex}\n");
                let text = cell(options, &duplex).replace("stations = 12\n", "");
                let text = text.replace("'11a'", &format!("'{standard}'"));
                let text = text.replace("rate_mbps = 54.0\nrts_threshold_bytes = 0", "mcs = 5");
                let run = run(&format!("{text}{noisy}").replace("_s = 4.0", "_s = 2.0"));
                assert!(number(&run, "full_duplex.secondary_sent") > 30.0, "{text}");
                let both = text.contains("bidirectional");
                assert_eq!(number(&run, "full_duplex.station_secondary") > 0.0, both, "{text}");
                let tone = run.summary.iter().find(|(path, _)| path.contains("busy_tone"));
                assert_eq!(tone.is_some(), text.contains("busy_tone"), "{text}");
            }
        }
    }
}

/// 802.11ac without RTS: more MPDUs per PPDU are more goodput, and more with full duplex.
#[test]
fn aggregates_overlap() {
    let text = |duplex: &str| {
        format!(
            "standard = '11ac'\nduration_s = 3.0\nwarmup_s = 1.0\nstations = 6\n
             wire.rate_mbps = 1000\n
             [wlan]\nmcs = 5\n{duplex}\n
             [[flows]]\nfrom = 'sta0-2'\nto = 'server'\ntcp.window_bytes = 400000\n
             [[flows]]\nfrom = 'server'\nto = 'sta3-5'\ntcp.window_bytes = 400000\n"
        )
    };
    let optional = "[wlan.full_duplex]\nrts_cts = 'optional'\nbusy_tone = true";
    let [half, full] = ["", optional].map(|duplex| run(&text(duplex)));
    let goodput = |run| number(run, "total.goodput_mbps");
    assert!(goodput(&full) > 1.3 * goodput(&half), "{} {}", goodput(&full), goodput(&half));
    assert!(number(&full, "airtime.two_frames_fraction") > 0.3);
    assert!(number(&full, "airtime.busy_tone_fraction") > 0.01);
}

/// A data frame below the RTS threshold is joined only if RTS and CTS are optional.
#[test]
fn without_rts_the_access_point_joins_if_it_may() {
    let joined = |option: &str| {
        let duplex = format!("{RESULTS}{option}\n");
        let text = cell("", &duplex).replace("_bytes = 0", "_bytes = 400");
        let run = run(&text);
        (number(&run, "full_duplex.primary"), number(&run, "total.goodput_mbps"))
    };
    let [required, optional] = ["", "rts_cts = 'optional'"].map(joined);
    assert!(optional.0 > 1.2 * required.0, "{optional:?} {required:?}");
    assert!(optional.1 > required.1, "{optional:?} {required:?}");
}

/// Where only one station has packets to receive, and it sends, the access point has none for
/// another.
#[test]
fn without_a_packet_for_another_station_an_exchange_is_half_duplex() {
    let text = "standard = '11a'\nduration_s = 1.0\nstations = 2\nwlan.rts_threshold_bytes = 0\n
                [wlan.full_duplex]\n
                [[flows]]\nfrom = 'server'\nto = 'sta0'\n";
    let run = run(text);
    assert!(number(&run, "full_duplex.primary") > 100.0);
    assert_eq!(number(&run, "full_duplex.secondary"), 0.0);
    assert_eq!(number(&run, "airtime.two_frames_fraction"), 0.0);
}

/// A station that downloads sends its TCP ACKs while it receives segments, and receives segments
/// while it sends TCP ACKs.
#[test]
fn one_full_duplex_station_sends_while_it_receives() {
    let text = |lines: &str| {
        format!(
            "standard = '11a'\nduration_s = 2.0\nstations = 1\nwlan.rts_threshold_bytes = 0\n
             {lines}\n[[flows]]\nfrom = 'server'\nto = 'sta0'\n"
        )
    };
    let [half, full] =
        ["", "[wlan.full_duplex]\nbidirectional = true"].map(|lines| run(&text(lines)));
    let goodput = |run| number(run, "total.goodput_mbps");
    assert!(goodput(&full) > 1.1 * goodput(&half), "{} {}", goodput(&full), goodput(&half));
    let count = |name: &str| number(&full, &format!("full_duplex.{name}"));
    assert!(count("station_secondary") > 100.0 && count("secondary") > 100.0);
    assert_eq!(count("bidirectional"), count("station_secondary") + count("secondary"));
    assert_eq!(count("secondary_rate_mbps"), 54.0, "no third node interferes");
}

/// Footnote 3: a doubled window makes the access point wait longer.
#[test]
fn an_own_rts_that_is_not_received_may_double_the_window() {
    let attempts = |own: &str| {
        let duplex = format!("{RESULTS}own_rts = '{own}'\n");
        number(&run(&cell("", &duplex)), "full_duplex.ap_attempt_probability")
    };
    assert!(attempts("double") < attempts("reset"));
}

/// The fixed point of the paper for 80 saturated stations, whose chain counts busy periods as
/// steps: attempt and collision probability of stations, and the share of steps in which the access
/// point is a secondary transmitter.
#[test]
fn contention_is_that_of_the_fixed_point() {
    let text = "standard = '11a'\nduration_s = 20.0\nwarmup_s = 1.0\nstations = 80\n
                [wlan]\nrts_threshold_bytes = 0\ncw_min = 31\nshort_retry_limit = 255\n
                eifs = 'none'\nslot_grid = 'shared'\ncountdown = 'bianchi'\n
                [wlan.full_duplex]\n
                [[flows]]\nfrom = 'sta*'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1000\n
                [[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic.saturated.payload_bytes = 1000\n";
    let run = run(text);
    for (path, expected) in [
        ("full_duplex.station_attempt_probability", 0.011_471_5),
        ("full_duplex.station_collision_probability", 0.598_074),
        ("full_duplex.secondary_probability", 0.368_856),
        ("full_duplex.ap_attempt_probability", 0.032_671_8),
        ("ap.collision_probability", 0.233_829),
    ] {
        let error = number(&run, path) / expected - 1.0;
        assert!(error.abs() < 0.03, "{path}: {}, not {expected}", number(&run, path));
    }
}

/// The one fault of a cell with these lines.
#[track_caller]
fn wrong(text: &str, expected: &str) {
    let issues = Scenario::parse(text).expect("a scenario").resolve().expect_err("a fault");
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn what_full_duplex_cannot_do_is_refused() {
    let with = |lines: &str| cell(lines, RESULTS);
    wrong(
        &cell("", "full_duplex.secondary_rate_mbps = 27.0"),
        "wlan.full_duplex.secondary_rate_mbps: 27 is not a rate of 802.11a (6, 9, 12, 18, 24, 36, \
         48, 54); the nearest are 24 and 36",
    );
    wrong(
        &with("")
            .replace("stations = 12", "stations = 1")
            .replace("sta0-3", "sta0")
            .replace("sta4-11", "sta0"),
        "stations: there is one station; full duplex needs two: one that sends to the access \
         point, and one that receives from it; or wlan.full_duplex.bidirectional",
    );
    wrong(
        &with("").replace("rts_threshold_bytes = 0", ""),
        "wlan.rts_threshold_bytes: 2347 means that stations send no RTS; the access point joins an \
         exchange only after RTS and CTS: take 0, or wlan.full_duplex.rts_cts = \"optional\"",
    );
    let modern = |duplex: &str| {
        let text = cell("", &format!("[wlan.full_duplex]\n{duplex}\n"));
        text.replace("'11a'", "'11ac'").replace("rate_mbps = 54.0", "mcs = 5")
    };
    wrong(
        &modern("secondary_rate_mbps = 36.0"),
        "wlan.full_duplex.secondary_rate_mbps: 802.11ac has MCSs; take secondary_mcs",
    );
    wrong(
        &modern("secondary_mcs = 9"),
        "wlan.full_duplex.secondary_mcs: 9 is no MCS of the access point's frames to each station, \
         with their streams, width and guard interval; HE-LTF, packet extension and durations must \
         be the usual ones",
    );
    wrong(
        &cell("", "[wlan.full_duplex]\nsecondary_mcs = 3"),
        "wlan.full_duplex.secondary_mcs: 802.11a has rates; take secondary_rate_mbps",
    );
    wrong(
        &modern("").replace("mcs = 5", "mcs = 5\naggregation.delivery = 'mpdu'"),
        "wlan.full_duplex: full duplex with delivery of each MPDU is not supported; take \
         wlan.aggregation.delivery = \"ppdu\"",
    );
    wrong(
        &with("rate_control.minstrel = {}"),
        "wlan.full_duplex: full duplex with rate control is not supported; remove rate_control",
    );
    let ad_hoc =
        "standard = '11a'\nstations = { count = 3, ring_m = 10.0 }\nwlan.rts_threshold_bytes = 0\n
                  wlan.full_duplex = {}\nradio.ad_hoc = true\n
                  [[flows]]\nfrom = 'sta0'\nto = 'sta1'\n";
    wrong(
        ad_hoc,
        "wlan.full_duplex: an ad-hoc network has no access point that could send and receive at \
         once; remove the table, or radio.ad_hoc",
    );
    wrong(
        &cell("rts_rate_mbps = 13.0", ""),
        "wlan.rts_rate_mbps: 13 is not a rate of 802.11a (6, 9, 12, 18, 24, 36, 48, 54); the \
         nearest are 12 and 18",
    );
}
