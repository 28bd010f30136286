//! 802.11n, ac, ax and be from a scenario to its results: modes, rate control, the rate hints of
//! TCP, access categories and aggregation.

use crate::common::{number, run_with};
use sim::Run;

fn run(text: &str, probes: &[&str]) -> Run {
    run_with(&format!("{TOP}{text}"), 1, probes)
}

const TOP: &str = "duration_s = 3.0\nwarmup_s = 1.0\n";

/// The last value of a probe before a time.
#[track_caller]
fn at(run: &Run, probe: usize, time_s: f64) -> f64 {
    let series = &run.series[probe];
    let last = series.time_s.iter().rposition(|&t| t <= time_s).expect("a sample");
    series.value[last]
}

const UPLOAD: &str = "[[flows]]\nfrom = 'sta0'\nto = 'ap'\n";

#[test]
fn a_schedule_of_one_end_is_its_own() {
    let probes = ["stations[0].mcs", "stations[0].ap_mcs", "stations[0].rate_mbps"];
    let run = run(
        &format!(
            "standard = '11ac'\nwlan = {{ mcs = 0, guard_ns = 400 }}\nstations.rate_control.\
             schedule.steps = [{{ at_s = 1.5, mcs = 8 }}, {{ at_s = 2.5, mcs = 4 }}]\n{UPLOAD}"
        ),
        &probes,
    );
    let mcs = [1.4, 1.6, 2.4, 2.6].map(|time_s| at(&run, 0, time_s));
    assert_eq!(mcs, [0.0, 8.0, 8.0, 4.0]);
    assert!(run.series[1].value.iter().all(|&mcs| mcs == 0.0), "the access point's stays");
    assert!((at(&run, 2, 1.6) - 86.7).abs() < 0.05);
}

#[test]
fn senders_get_hints_of_their_own_links_or_of_all_links_on_the_path() {
    let steps = "schedule.steps = [{ at_s = 2.0, mcs = 8 }]";
    // Before the first change of the rate there is no ideal window.
    let ideal = |control: &str, ends: [&str; 2], link_rate: &str| {
        let text = format!(
            "standard = '11ac'\nstations = 1\nwlan.mcs = 0\n{control}.rate_control.{steps}\n\
             [[flows]]\nfrom = '{}'\nto = '{}'\ncontrol = 'cross_layer'\n\
             tcp.link_rate = '{link_rate}'\ntcp.window_bytes = 1000000\n",
            ends[0], ends[1]
        );
        let run = run(&text, &["flows[0].control.ideal_window_segments"]);
        [at(&run, 0, 1.9), at(&run, 0, 2.9)].map(f64::is_finite)
    };
    let (up, down) = (["sta0", "server"], ["server", "sta0"]);
    let none = [false, false];
    let finite_after_change = [false, true];
    assert_eq!(ideal("wlan", up, "own"), finite_after_change);
    assert_eq!(ideal("wlan", up, "path"), finite_after_change);
    assert_eq!(ideal("ap", up, "path"), none, "links of the reverse path give no hints");
    assert_eq!(ideal("ap", down, "path"), finite_after_change);
    // Without a wire the server is at the access point and uses its interface.
    assert_eq!(ideal("ap", down, "own"), finite_after_change);
    let wired = "[wire]\nrate_mbps = 1000.0\n[[flows]]";
    let far = |link_rate: &str| {
        let text = format!(
            "standard = '11ac'\nstations = 1\nwlan.mcs = 0\nwlan.rate_control.{steps}\n{wired}\n\
             from = 'server'\nto = 'sta0'\ncontrol = 'cross_layer'\ntcp.link_rate = '{link_rate}'\n"
        );
        at(&run(&text, &["flows[0].control.ideal_window_segments"]), 0, 2.9).is_finite()
    };
    assert_eq!([far("own"), far("path")], [false, true]);
}

#[test]
fn rate_control_finds_the_fastest_mode_of_a_clean_channel() {
    for control in ["arf", "aarf", "simple", "cara", "rraa", "minstrel", "minstrel_ht"] {
        let text = format!(
            "standard = '11n'\nstations = 1\nwlan.rate_control = '{control}'\n{UPLOAD}\
             traffic = 'saturated'\n"
        );
        let run = run(&text, &["stations[0].mcs"]);
        let mcs = &run.series[0].value;
        let fastest = mcs.iter().filter(|&&mcs| mcs == 7.0).count() as f64 / mcs.len() as f64;
        let goodput = number(&run, "total.goodput_mbps");
        assert!(fastest > 0.8 && goodput > 50.0, "{control}: {fastest}, {goodput} Mb/s");
    }
}

#[test]
fn voice_does_not_wait_for_the_rest() {
    let delay_ms = |class: &str| {
        let text = format!(
            "standard = '11ac'\nstations = 5\n[[flows]]\nfrom = 'sta*'\nto = 'ap'\ntraffic = \
             'saturated'\n[[flows]]\nfrom = 'sta0'\nto = 'ap'\nclass = '{class}'\n\
             traffic.cbr = {{ rate_mbps = 0.08, payload_bytes = 200 }}\n"
        );
        1e3 * number(&run(&text, &[]), "flows[5].delay_s.mean")
    };
    let [voice, rest] = ["voice", "best_effort"].map(delay_ms);
    assert!(voice < 5.0, "{voice} ms");
    assert!(rest > 5.0 * voice, "{rest} ms against {voice} ms");
}

#[test]
fn aggregates_are_as_long_as_they_may_be() {
    let of = |standard: &str, keys: &str| {
        let text = format!(
            "standard = '{standard}'\nstations.count = 1\nwlan.edca_defaults = 'ns3'\n{keys}\n\
             {UPLOAD}traffic.saturated.payload_bytes = 1472\n"
        );
        let run = run(&text, &[]);
        (number(&run, "stations[0].mpdus_per_ppdu"), number(&run, "total.goodput_mbps"))
    };
    // MPDUs of 1538 bytes with delimiter and padding, 1544 in all: 5.484 ms hold 28 at 65 Mb/s.
    // Without the limit of time, 65535 bytes hold 42.
    let (frames, fast) = of("11n", "");
    assert_eq!(frames, 28.0);
    assert_eq!(of("11n", "wlan.width_mhz = 40").0, 42.0);
    let (single, slow) = of("11n", "wlan.aggregation.frames = 1");
    assert_eq!(single, 1.0);
    assert!(fast > 1.6 * slow, "{fast} against {slow} Mb/s");
    // MCS 0 sends 6.5 Mb/s: 4456 bytes in 5.484 ms.
    assert_eq!(of("11n", "wlan.mcs = 0").0, 2.0);
    // 802.11ax: 5.484 ms at 143.4 Mb/s are 97 KB.
    assert_eq!(of("11ax", "").0, 63.0);
    assert_eq!(of("11ax", "wlan.aggregation.frames = 10").0, 10.0);
    assert_eq!(of("11ax", "wlan.width_mhz = 80").0, 256.0);
    assert_eq!(of("11ax", "wlan.width_mhz = 80\nwlan.aggregation.window = 64").0, 64.0);
    assert_eq!(of("11ac", "stations.queue.drop_tail.limit_packets = 10").0, 10.0);
}

/// One station with the fastest mode of 802.11be, 2882 Mb/s, in both media: an exchange lasts for
/// AIFS (43 us), 7.5 slots of back-off, the A-MPDU, a SIFS and a BlockAck of 56 bytes at 24 Mb/s.
#[test]
fn a_channel_of_320_mhz_is_as_fast_as_its_exchanges() {
    for radio in ["", "radio = {}\nap.position_m = [0, 0]\nstations.position_m = [2, 0]\n"] {
        let text = format!(
            "standard = '11be'\nstations.count = 1\nwlan = {{ band_ghz = 6, width_mhz = 320, \
             edca_defaults = 'ns3' }}\n{radio}{UPLOAD}traffic.saturated.payload_bytes = 1472\n"
        );
        let run = run(&text, &[]);
        assert_eq!(number(&run, "stations[0].mpdus_per_ppdu"), 256.0);
        // 256 MPDUs of 1544 bytes with delimiter and padding, the last without: 81 symbols.
        let ppdu = 51.2 + 81.0 * 13.6;
        let exchange = 43.0 + 7.5 * 9.0 + ppdu + 16.0 + 40.0;
        let expected = 256.0 * 1472.0 * 8.0 / exchange;
        let goodput = number(&run, "total.goodput_mbps");
        assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} of {expected}, {radio}");
    }
}

#[test]
fn noise_costs_repeats_and_no_packets() {
    let text = format!(
        "standard = '11ac'\nstations.data_loss = 0.1\nstations.ack_loss = 0.1\n{UPLOAD}\
         traffic = 'saturated'\n"
    );
    let run = run(&text, &[]);
    assert_eq!(number(&run, "flows[0].lifetime_drops"), 0.0);
    let repeats = number(&run, "stations[0].repeats_per_mpdu");
    assert!((0.1..0.35).contains(&repeats), "{repeats}");
    assert!(number(&run, "stations[0].block_ack_requests") > 0.0);
}

#[test]
fn a_station_out_of_reach_leaves_the_air_to_the_others() {
    // The first frames for it are discarded after 500 ms, and the BlockAckReq that follows them
    // after 7 attempts. From then on each frame for it has 7 attempts.
    let run = run(
        "standard = '11n'\n[[stations]]\ndata_loss = 0.999999\nack_loss = 0.999999\n\
         [[stations]]\n[[flows]]\nfrom = 'ap'\nto = 'sta*'\ntraffic.cbr.rate_mbps = 4.0\n",
        &[],
    );
    assert_eq!(number(&run, "flows[0].goodput_mbps"), 0.0);
    let other = number(&run, "flows[1].goodput_mbps");
    assert!(other > 0.2, "{other} Mb/s");
}
