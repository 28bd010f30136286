//! The messages for wrong keys of 802.11n, ac and ax, of access categories, aggregation or rate
//! control.

use sim::{Issue, Scenario};

/// A scenario of a standard with these lines before its flow, and three stations unless they have
/// groups.
fn text(standard: &str, lines: &str) -> String {
    let stations = if lines.contains("[[stations]]") { "" } else { "stations = 3" };
    format!(
        "standard = '{standard}'\n{stations}\nduration_s = 30\n{lines}\n[[flows]]\nfrom = \
         'server'\nto = 'sta*'\n"
    )
}

/// All its semantic faults.
#[track_caller]
fn wrong(standard: &str, lines: &str, expected: &[&str]) {
    let scenario = Scenario::parse(&text(standard, lines)).unwrap();
    let issues = scenario.resolve().expect_err("a fault");
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

/// Its first fault of shape.
#[track_caller]
fn malformed(standard: &str, lines: &str, expected: &str) {
    let issues = Scenario::parse(&text(standard, lines)).unwrap_err();
    assert_eq!(issues.iter().map(Issue::with_line).collect::<Vec<_>>(), [expected]);
}

/// It has no fault.
#[track_caller]
fn right(standard: &str, lines: &str) {
    if let Err(issues) = Scenario::parse(&text(standard, lines)).unwrap().resolve() {
        panic!("{issues:?}");
    }
}

#[test]
fn modes_go_by_mcs_or_by_rate() {
    wrong(
        "11ac",
        "wlan.rate_mbps = 78",
        &["wlan.rate_mbps: 802.11ac has no rates; set modes by mcs, streams, width_mhz and \
           guard_ns; 78 Mb/s is mcs = 8 here"],
    );
    wrong(
        "11n",
        "wlan.rate_mbps = 54",
        &["wlan.rate_mbps: 802.11n has no rates; set modes by mcs, streams, width_mhz and \
           guard_ns; here from 6.5 Mb/s, mcs = 0, to 65 Mb/s, mcs = 7"],
    );
    wrong(
        "11n",
        "[[stations]]\ncount = 3\nrate_mbps = 72.2\nguard_ns = 400",
        &["stations[0].rate_mbps: 802.11n has no rates; set modes by mcs, streams, width_mhz and \
           guard_ns; 72.2 Mb/s is mcs = 7 here"],
    );
    let none = |key: &str| {
        format!(
            "{key}: 802.11g has no MCS: its modes are chosen by rate_mbps; or take standard = \
             \"11n\", \"11ac\", \"11ax\" or \"11be\""
        )
    };
    for (key, value) in [
        ("mcs", "7"),
        ("streams", "1"),
        ("width_mhz", "20"),
        ("guard_ns", "800"),
        ("coding", "'bcc'"),
        ("he_ltf", "'2x'"),
        ("packet_extension_us", "8"),
    ] {
        wrong("11g", &format!("wlan.{key} = {value}"), &[&none(&format!("wlan.{key}"))]);
    }
    let keys = [("mcs", 1), ("ap_mcs", 1), ("streams", 1), ("width_mhz", 20), ("guard_ns", 800)];
    for (key, value) in keys {
        let lines = format!("[[stations]]\ncount = 3\n{key} = {value}");
        wrong("11g", &lines, &[&none(&format!("stations[0].{key}"))]);
    }
}

#[test]
fn a_mode_exists_or_says_why_not() {
    wrong(
        "11ac",
        "wlan.mcs = 9",
        &["wlan.mcs: 9 does not exist at 20 MHz with 1 stream [802.11-2020 21.5]; the \
           highest is 8"],
    );
    right("11ac", "wlan.mcs = 9\nwlan.width_mhz = 40");
    wrong(
        "11n",
        "wlan.width_mhz = 80",
        &["wlan.width_mhz: HT is 20 or 40 MHz wide, not 80 [802.11-2020 19.5]"],
    );
    malformed(
        "11n",
        "wlan.width_mhz = 30",
        "wlan.width_mhz (line 4): is 20, 40, 80, 160 or 320, not 30",
    );
    malformed(
        "11ax",
        "wlan.guard_ns = 500",
        "wlan.guard_ns (line 4): is 400, 800, 1600 or 3200, not 500",
    );
    wrong(
        "11ax",
        "wlan.guard_ns = 400",
        &["wlan.guard_ns: HE has 800, 1600 or 3200 ns, not 400 [802.11ax-2021 27.5]"],
    );
    wrong(
        "11n",
        "wlan.streams = 5",
        &["wlan.streams: must be from 1 to 4 in HT, is 5 [802.11-2020 19.5]"],
    );
    wrong(
        "11n",
        "wlan.mcs = 15\nwlan.streams = 1",
        &["wlan.mcs: 15 has 2 streams in 802.11n [802.11-2020 19.5]; leave streams out, or count \
           the MCS of each from 0 to 7"],
    );
    right("11n", "wlan.mcs = 31");
    wrong("11n", "wlan.mcs = 300", &["wlan.mcs: must be from 0 to 31, is 300"]);
    wrong(
        "11ac",
        "wlan.he_ltf = '2x'\nwlan.packet_extension_us = 8",
        &[
            "wlan.he_ltf: applies to 802.11ax and be only, not to 802.11ac; remove the key",
            "wlan.packet_extension_us: applies to 802.11ax and be only, not to 802.11ac; remove \
             the key",
        ],
    );
    wrong(
        "11ax",
        "wlan.packet_extension_us = 5",
        &["wlan.packet_extension_us: is 0, 4, 8, 12 or 16, not 5 [802.11ax-2021 27.3.13]"],
    );
    wrong(
        "11ax",
        "wlan.packet_extension_us = 300",
        &["wlan.packet_extension_us: must be from 0 to 20 us, is 300"],
    );
}

#[test]
fn a_fault_is_reported_once_at_its_key() {
    let groups = "[[stations]]\ncount = 1\n[[stations]]\ncount = 2\nmcs = 3\n";
    wrong(
        "11ac",
        &format!("wlan.guard_ns = 1600\n{groups}"),
        &["wlan.guard_ns: VHT has 800 or 400 ns, not 1600 [802.11-2020 21.5]"],
    );
    wrong(
        "11ac",
        &format!("{groups}ap_mcs = 9\n[[stations]]\nmcs = 9\n"),
        &[
            "stations[1].ap_mcs: 9 does not exist at 20 MHz with 1 stream [802.11-2020 \
             21.5]; the highest is 8",
            "stations[2].mcs: 9 does not exist at 20 MHz with 1 stream [802.11-2020 21.5]; \
             the highest is 8",
        ],
    );
    // If each group has a width of its own, the common width is not needed.
    right("11ac", "wlan.mcs = 9\n[[stations]]\nwidth_mhz = 80\n[[stations]]\nmcs = 1\n");
}

#[test]
fn basic_rates_answer_every_mode() {
    wrong(
        "11ac",
        "wlan.mcs = 0\nwlan.basic_rates_mbps = [12]",
        &["wlan.mcs: MCS 0 is answered at 6 Mb/s at most, and the lowest of \
           wlan.basic_rates_mbps is 12"],
    );
    wrong(
        "11ac",
        "wlan.basic_rates_mbps = [65]",
        &["wlan.basic_rates_mbps[0]: 65 is not a rate of control frames in 802.11ac (6, 9, 12, \
           18, 24, 36, 48, 54); the highest is 54"],
    );
    right("11n", "wlan.band_ghz = 2.4\nwlan.basic_rates_mbps = [1, 6]");
}

#[test]
fn bands() {
    wrong(
        "11ac",
        "wlan.band_ghz = 2.4",
        &["wlan.band_ghz: 802.11ac is at 5 GHz only; remove the key"],
    );
    wrong(
        "11g",
        "wlan.band_ghz = 5",
        &["wlan.band_ghz: 802.11g is at 2.4 GHz only; remove the key"],
    );
    malformed("11ax", "wlan.band_ghz = 7", "wlan.band_ghz (line 4): is 2.4, 5 or 6, not 7");
    wrong(
        "11n",
        "wlan.band_ghz = 6",
        &["wlan.band_ghz: 802.11n is at 5 and 2.4 GHz only; take one of them"],
    );
    wrong(
        "11be",
        "wlan.width_mhz = 320",
        &["wlan.width_mhz: channels of 320 MHz are in the 6 GHz band only [annex E]; take band 6"],
    );
    wrong(
        "11n",
        "wlan.band_ghz = 2.4\nwlan.width_mhz = 80",
        &["wlan.width_mhz: HT is 20 or 40 MHz wide, not 80 [802.11-2020 19.5]"],
    );
    wrong(
        "11n",
        "wlan.slot = 'long'\nwlan.preamble = 'short'",
        &[
            "wlan.slot: 802.11n has the short slot (9 us) only; remove the key",
            "wlan.preamble: 802.11n has no DSSS preamble; remove the key",
        ],
    );
}

#[test]
fn access_categories() {
    wrong(
        "11ac",
        "wlan.qos = false",
        &["wlan.qos: stations of 802.11ac are QoS stations [802.11-2020 4.3.14]"],
    );
    wrong(
        "11g",
        "wlan.edca.voice.aifsn = 2\nap.edca.video.cw_min = 7",
        &[
            "wlan.edca: 802.11g has access categories with wlan.qos = true only",
            "ap.edca: 802.11g has access categories with wlan.qos = true only",
        ],
    );
    right("11g", "wlan.qos = true\nwlan.edca.voice.aifsn = 3\nap.edca.voice.aifsn = 1");
    wrong(
        "11n",
        "wlan.cw_min = 7\nwlan.cw_max = 511",
        &[
            "wlan.cw_min: with EDCA each access category has its own: wlan.edca",
            "wlan.cw_max: with EDCA each access category has its own: wlan.edca",
        ],
    );
    wrong(
        "11n",
        "wlan.idle_access = 'ns2'",
        &["wlan.idle_access: \"ns2\" is for DCF, and these stations contend by EDCA"],
    );
    right("11g", "wlan.idle_access = 'ns2'");
    wrong(
        "11g",
        "wlan.eifs = 'ns2'",
        &["wlan.eifs: \"ns2\" needs nodes with receivers of their own; take \"standard\", \
             or add a table [radio]"],
    );
    wrong(
        "11n",
        "wlan.edca.best_effort.aifsn = 1\nap.edca.voice.aifsn = 16",
        &[
            "wlan.edca.best_effort.aifsn: must be from 2 to 15, is 1",
            "ap.edca.voice.aifsn: must be from 1 to 15, is 16",
        ],
    );
    wrong(
        "11n",
        "wlan.edca.best_effort.cw_min = 16\nwlan.edca.voice.cw_min = 31\n\
         wlan.edca.video.cw_max = 3",
        &[
            "wlan.edca.best_effort.cw_min: 16 is not of the form 2^k - 1; the nearest is 15",
            "wlan.edca.voice.cw_min: 31 is above cw_max, 7 (the default)",
            "wlan.edca.video.cw_max: 3 is below cw_min, 7 (the default)",
        ],
    );
    wrong(
        "11n",
        "wlan.edca.video.txop_limit_us = 3000",
        &["wlan.edca.video.txop_limit_us: 3000 is not a multiple of 32 us [802.11-2020 \
           9.4.2.28]; the nearest are 2976 and 3008"],
    );
}

#[test]
fn aggregates() {
    for qos in ["", "wlan.qos = true\n"] {
        wrong(
            "11a",
            &format!("{qos}wlan.aggregation.frames = 4"),
            &["wlan.aggregation: 802.11a has no A-MPDUs; they require 802.11n or later"],
        );
    }
    wrong(
        "11ac",
        "wlan.aggregation.frames = 65",
        &["wlan.aggregation.frames: must be from 1 to 64, which may be outstanding, is 65 \
           [802.11-2020 10.25.2]"],
    );
    wrong(
        "11ac",
        "wlan.aggregation.window = 65",
        &["wlan.aggregation.window: must be from 1 to 64, which a block ack of 802.11ac can \
           name, is 65 [802.11-2020 9.3.1.8]"],
    );
    right("11ax", "wlan.aggregation.frames = 256");
    wrong(
        "11n",
        "wlan.aggregation.bytes = 65536",
        &["wlan.aggregation.bytes: must be from 1 to 65535 bytes, is 65536"],
    );
    wrong(
        "11n",
        "wlan.aggregation.duration_us = 6000",
        &["wlan.aggregation.duration_us: must be from 100 to 5484 us, is 6000"],
    );
    wrong(
        "11n",
        "wlan.aggregation.amsdu_bytes = 8000",
        &["wlan.aggregation.amsdu_bytes: must be 0, for none, or from 100 to 7935 bytes in \
           802.11n [802.11-2020 table 9-25], is 8000"],
    );
    wrong(
        "11ac",
        "wlan.aggregation.lifetime_ms = 0",
        &["wlan.aggregation.lifetime_ms: must be from 0.001 to 1000000 ms, is 0"],
    );
}

#[test]
fn rate_control() {
    wrong(
        "11g",
        "wlan.rate_control = 'minstrel_ht'",
        &["wlan.rate_control.minstrel_ht: is for modes with an MCS, and 802.11g has none; take \
           \"minstrel\""],
    );
    wrong(
        "11g",
        "ap.rate_control = 'ideal'",
        &["ap.rate_control.ideal: goes by the strength of the signal, and this cell has no \
           radio: every node hears every other, whatever the mode"],
    );
    wrong(
        "11g",
        "wlan.rate_control.arf.patience_ms = 0",
        &["wlan.rate_control.arf.patience_ms: must be from 0.001 to 1000000 ms, is 0"],
    );
    wrong(
        "11g",
        "wlan.rate_control.aarf.most_successes = 0",
        &["wlan.rate_control.aarf.most_successes: must be from 1 to 1000000, is 0"],
    );
    for control in ["fixed", "arf", "aarf", "cara", "rraa", "minstrel"] {
        right("11b", &format!("wlan.rate_control = '{control}'"));
        right("11ax", &format!("wlan.rate_control = '{control}'"));
    }
}

#[test]
fn schedules() {
    wrong(
        "11ac",
        "wlan.rate_control = 'schedule'",
        &["wlan.rate_control.schedule.steps: there are none; a step reads { at_s = 20.0, \
           mcs = 8 }"],
    );
    wrong(
        "11ac",
        "[[stations]]\ncount = 3\nrate_control.schedule.steps = [{ at_s = 0, mcs = 12 }, { at_s = \
         20, mcs = 8 }, { at_s = 10, mcs = 9 }, { at_s = 30 }, { at_s = 25, rate_mbps = 54 }]",
        &[
            "stations[0].rate_control.schedule.steps[0].at_s: must be above 0; what holds \
             from the start is mcs or rate_mbps",
            "stations[0].rate_control.schedule.steps[0].mcs: must be from 0 to 9 in VHT, is \
             12 [802.11-2020 21.5]",
            "stations[0].rate_control.schedule.steps[2].at_s: 10 is not after the step before, 20",
            "stations[0].rate_control.schedule.steps[2].mcs: 9 does not exist at 20 MHz with 1 \
             stream [802.11-2020 21.5]; the highest is 8",
            "stations[0].rate_control.schedule.steps[3].mcs: missing; a step changes it",
            "stations[0].rate_control.schedule.steps[3].at_s: 30 is not before the end of the \
             run, 30 s",
            "stations[0].rate_control.schedule.steps[4].rate_mbps: 802.11ac has modes by mcs, not \
             by rate",
        ],
    );
    wrong(
        "11b",
        "ap.rate_control.schedule.steps = [{ at_s = 1, rate_mbps = 6 }, { at_s = 2, mcs = 1 }]",
        &[
            "ap.rate_control.schedule.steps[0].rate_mbps: 6 is not a rate of 802.11b (1, 2, 5.5, \
             11); the nearest are 5.5 and 11",
            "ap.rate_control.schedule.steps[1].mcs: 802.11b has no MCS; give rate_mbps",
        ],
    );
}

/// The paths of all faults of a text, each with what is told there.
fn faults(text: &str) -> Vec<(String, String)> {
    let issues = match Scenario::parse(text) {
        Ok(scenario) => scenario.resolve().expect_err("a fault"),
        Err(issues) => issues,
    };
    issues.into_iter().map(|issue| (issue.path, issue.said.message)).collect()
}

#[test]
fn every_key_of_a_mode_is_told_at_once() {
    let lines = "wlan = { mcs = 11, width_mhz = 320, guard_ns = 3200, he_ltf = '4x' }\n\
                 [[stations]]\nap_mcs = 12";
    let paths: Vec<_> = faults(&text("11ac", lines)).into_iter().map(|(path, _)| path).collect();
    let wlan = ["he_ltf", "mcs", "guard_ns", "width_mhz"].map(|key| format!("wlan.{key}"));
    for path in wlan.iter().map(String::as_str).chain(["stations[0].ap_mcs"]) {
        assert!(paths.iter().any(|each| each == path), "{path}: {paths:?}");
    }
    assert_eq!(paths.len(), 5);
}

/// Features that exclude each other, without what each of them needs.
const EXCLUSIVE: &str = "
standard = '11n'
duration_s = 5
interferers = [{ source = 'microwave', corrupts = true }]
wlan.full_duplex = {}
wlan.bandwidth_operation = 'punctured'
wlan.mu = { max_users = 2, min_users = 3, edca.voice.timer = 3 }
wlan.spatial_reuse.srg = [{ bss_colors = [7, 9], obss_pd_dbm = -70 }]
wlan.aggregation.frames = 1
ap.punctured = [1]
measure.hops = true
[[stations]]
power_save.twt = { triggered = true, duration_ms = 60, interval_ms = 20 }
roaming = {}
[[flows]]
from = 'server'
to = 'sta0'
";

#[test]
fn each_reason_is_told_and_not_the_first_alone() {
    let told = faults(EXCLUSIVE);
    let count = |key: &str| told.iter().filter(|(path, _)| path == key).count();
    let counts = [
        // The standard, no radio, punctured channels of a network, full duplex.
        ("wlan.bandwidth_operation", 4),
        // The standard, interferers, full duplex, one frame.
        ("wlan.mu", 4),
        ("wlan.mu.min_users", 1),
        ("wlan.mu.edca", 1),
        // The standard, no radio, full duplex, interferers, roaming.
        ("wlan.spatial_reuse", 5),
        ("wlan.spatial_reuse.srg[0].bss_colors", 2),
        // Full duplex, no beacons, the standard.
        ("stations[0].power_save", 3),
        ("stations[0].power_save.twt.triggered", 1),
        // No multiple of the unit, and longer than the interval.
        ("stations[0].power_save.twt.duration_ms", 2),
        // Punctured channels, no radio, one access point, no beacons, full duplex, hops, no
        // movement, power save.
        ("stations[0].roaming", 8),
    ];
    assert_eq!(counts.map(|(key, _)| (key, count(key))), counts);
}

#[test]
fn what_is_wrong_whatever_is_meant_is_told_though_its_remedy_depends_on_that() {
    let lines = "wlan.width_mhz = 30\nwlan.rate_mbps = 54";
    let issues = Scenario::parse(&text("11ax", lines)).unwrap_err();
    let told: Vec<_> = issues.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "wlan.width_mhz: is 20, 40, 80, 160 or 320, not 30",
            "wlan.rate_mbps: 802.11ax has no rates"
        ]
    );
}

#[test]
fn a_window_is_judged_although_access_categories_are_denied() {
    let lines = "wlan.qos = false\nwlan.edca.voice = { cw_min = 31, cw_max = 15 }";
    let paths: Vec<_> = faults(&text("11n", lines)).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["wlan.qos", "wlan.edca.voice.cw_max"]);
}
