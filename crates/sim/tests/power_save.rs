//! Power save, from a scenario to its results: what it costs in delay and saves in time awake, in
//! both media, and the messages for wrong keys.

use crate::common::{number, run};
use sim::Scenario;

const TOP: &str = "duration_s = 102.0\nwarmup_s = 2.0\n";
/// A datagram for the station every 711.7 ms: at all phases of the beacon interval.
const SPARSE: &str = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\n\
                      traffic.cbr = { rate_mbps = 0.00562, payload_bytes = 500 }\n";
const RADIO: &str = "radio.losses_db = [[0, 50, 50], [50, 0, 50], [50, 50, 0]]\n";
const BEACONS: &str = "wlan.beacons = { size_bytes = 100 }\n";

fn cell(standard: &str, power_save: &str, rest: &str) -> String {
    format!(
        "standard = '{standard}'\n{TOP}{rest}{BEACONS}stations = {{ count = 2, power_save = \
         {power_save} }}\n"
    )
}

/// With a uniform phase, a packet waits for the next beacon for which its station wakes: half an
/// interval on average, with a standard deviation of an interval by the root of 12.
#[test]
fn the_first_packet_after_sleep_waits_for_half_a_listen_interval() {
    let modes = [
        ("11a", "'legacy'", 1.0),
        ("11a", "{ legacy = { listen_interval = 3, receive_dtims = false } }", 3.0),
        ("11a", "{ legacy = { retrieval = 'ps_poll' } }", 1.0),
        ("11n", "'legacy'", 1.0),
        ("11n", "'u_apsd'", 1.0),
        ("11n", "{ u_apsd = { listen_interval = 2, receive_dtims = false } }", 2.0),
    ];
    for (standard, mode, intervals) in modes {
        for radio in ["", RADIO] {
            let asleep = run(&format!("{}{SPARSE}", cell(standard, mode, radio)));
            let samples = number(&asleep, "flows[0].delay_s.count");
            let mean = number(&asleep, "flows[0].delay_s.mean");
            let interval = 0.1024 * intervals;
            let half_width = 1.96 * interval / (12.0 * samples).sqrt();
            // Beacon, Null frame or PS-Poll, and data take less than 3 ms after the TBTT.
            let expected = interval / 2.0 + 0.0015;
            assert!(
                (mean - expected).abs() < half_width + 0.0015,
                "{standard} {mode} {radio}: {mean} instead of {expected} ± {half_width}"
            );
            assert_eq!(number(&asleep, "flows[0].power_save_drops"), 0.0);
            let buffering = number(&asleep, "stations[0].power_save.buffering_s");
            assert!((buffering - mean).abs() < 0.002, "{buffering} of {mean}");
        }
    }
}

/// Without traffic a station is awake from each TBTT up to the end of the beacon, which lasts 160
/// us (100 bytes at 6 Mb/s) after an interframe space and a back-off; with DCF at most 34 + 15 * 9
/// us.
#[test]
fn a_station_without_traffic_is_awake_for_beacons_only() {
    let other = "[[flows]]\nfrom = 'ap'\nto = 'sta1'\ntraffic.cbr = { rate_mbps = 0.00562 }\n";
    for (dtim_period, keys) in [(1, ""), (4, ""), (4, "listen_interval = 2")] {
        for radio in ["", RADIO] {
            let text = format!(
                "standard = '11a'\n{TOP}{radio}wlan.beacons = {{ size_bytes = 100, dtim_period = \
                 {dtim_period} }}\nstations = [{{ power_save.legacy = {{ {keys} }} }}, {{}}]\n\
                 {other}"
            );
            let run = run(&text);
            let interval = 0.1024 * if keys.is_empty() { f64::from(dtim_period) } else { 2.0 };
            let awake = number(&run, "stations[0].power_save.awake_fraction") * interval;
            assert!((150e-6..=330e-6).contains(&awake), "{dtim_period} {keys}: {awake} s");
            assert_eq!(number(&run, "stations[0].power_save.beacons_missed"), 0.0);
            assert_eq!(number(&run, "stations[0].power_save.null_frames"), 0.0, "in the warm-up");
        }
    }
}

/// Downloads over TCP, with the checker on: data is delivered once and in order, whatever the
/// station does in between.
#[test]
fn connections_survive_power_save_in_both_media() {
    let modes = ["'legacy'", "{ legacy = { retrieval = 'ps_poll' } }", "'u_apsd'"];
    for mode in modes {
        for standard in ["11g", "11n"] {
            for radio in ["", RADIO] {
                if mode == "'u_apsd'" && standard == "11g" {
                    continue;
                }
                let flows = "[[flows]]\nfrom = 'server'\nto = 'sta0'\ntraffic.web = {}\n\
                             [[flows]]\nfrom = 'sta1'\nto = 'server'\n\
                             traffic.cbr = { rate_mbps = 0.1, payload_bytes = 200 }\n\
                             [[flows]]\nfrom = 'server'\nto = 'sta1'\n\
                             traffic.cbr = { rate_mbps = 0.1, payload_bytes = 200 }\n\
                             [[flows]]\nfrom = 'ap'\nto = 'broadcast'\n\
                             traffic.cbr = { rate_mbps = 0.05, payload_bytes = 200 }\n";
                let text = cell(standard, mode, radio).replace("102.0", "22.0");
                let run = run(&format!("{text}{flows}"));
                for flow in 0..4 {
                    let sent = number(&run, &format!("flows[{flow}].goodput_mbps"));
                    assert!(sent > 0.01, "{standard} {mode} {radio} flow {flow}: {sent}");
                }
                let awake = number(&run, "stations[0].power_save.awake_fraction");
                assert!(awake < 0.95, "{standard} {mode} {radio}: {awake}");
            }
        }
    }
}

/// A PS-Poll fetches one frame, and a trigger frame all that is buffered or Max SP Length.
#[test]
fn each_way_needs_its_own_number_of_requests() {
    let burst = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\n\
                 traffic.cbr = { rate_mbps = 0.3125, payload_bytes = 400 }\n";
    let of = |mode: &str| run(&format!("{}{burst}", cell("11n", mode, "")));
    let polls = |run: &sim::Run| number(run, "stations[0].power_save.polls");
    // 10 packets in a beacon interval.
    let (intervals, packets) = (100.0 / 0.1024, 100.0 / 0.01024);
    let poll = of("{ legacy = { retrieval = 'ps_poll' } }");
    assert!((polls(&poll) / packets - 1.0).abs() < 0.01, "{}", polls(&poll));
    let all = of("'u_apsd'");
    assert!((polls(&all) / intervals - 1.0).abs() < 0.01, "{}", polls(&all));
    let four = of("{ u_apsd = { max_sp_frames = 4 } }");
    assert!((polls(&four) / intervals - 3.0).abs() < 0.05, "{}", polls(&four));
    let delay = |run: &sim::Run| number(run, "flows[0].delay_s.mean");
    for run in [&poll, &all, &four] {
        assert!((delay(run) - 0.0512).abs() < 0.006, "{}", delay(run));
    }
}

#[test]
fn a_full_buffer_drops_the_oldest_packets() {
    // 256 packets in a DTIM period of ten intervals, of which 64 are kept.
    let flow = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\n\
                traffic.cbr = { rate_mbps = 0.8, payload_bytes = 400 }\n";
    let text = cell("11a", "{ legacy = { retrieval = 'ps_poll' } }", "")
        .replace("size_bytes = 100", "size_bytes = 100, dtim_period = 10");
    let run = run(&format!("{text}{flow}"));
    let (drops, held) = (
        number(&run, "stations[0].power_save.drops"),
        number(&run, "stations[0].power_save.buffered"),
    );
    assert!((drops / held - 0.75).abs() < 0.03, "{drops} of {held}");
    assert_eq!(number(&run, "flows[0].power_save_drops"), drops);
    assert_eq!(number(&run, "ap.power_save.drops"), drops);
    let delay = number(&run, "flows[0].delay_s.max");
    assert!(delay < 0.3, "those that are kept are the latest: {delay}");
}

/// Broadcasts wait for the DTIM while any station sleeps, also for stations that do not.
#[test]
fn broadcasts_follow_the_dtim() {
    let flow = "[[flows]]\nfrom = 'ap'\nto = 'broadcast'\n\
                traffic.cbr = { rate_mbps = 0.00562, payload_bytes = 500 }\n";
    for radio in ["", RADIO] {
        let text = cell("11a", "'legacy'", radio)
            .replace("size_bytes = 100", "size_bytes = 100, dtim_period = 5");
        let run = run(&format!("{text}{flow}"));
        let (mean, most) =
            (number(&run, "flows[0].delay_s.mean"), number(&run, "flows[0].delay_s.max"));
        assert!((mean - 0.256).abs() < 0.03 && most < 0.516, "{mean} {most}");
        assert!(number(&run, "ap.power_save.group_buffered") > 135.0);
        let awake = number(&run, "stations[0].power_save.awake_fraction");
        assert!(awake < 0.01, "{awake}");
    }
}

/// A station that does not wake for DTIMs misses broadcasts.
#[test]
fn broadcasts_that_nobody_is_awake_for_are_lost() {
    let flow = "[[flows]]\nfrom = 'ap'\nto = 'broadcast'\n\
                traffic.cbr = { rate_mbps = 0.00562, payload_bytes = 500 }\n";
    let mode = "{ legacy = { listen_interval = 7, receive_dtims = false } }";
    let run = run(&format!("{}{flow}", cell("11a", mode, "")));
    let (lost, sent) = (number(&run, "flows[0].broadcast_losses"), 100.0 / 0.7117);
    assert!((lost / sent - 6.0 / 7.0).abs() < 0.1, "{lost} of {sent}");
}

#[test]
fn wrong_keys_have_one_message() {
    let flow = "[[flows]]\nfrom = 'ap'\nto = 'sta0'\n";
    let cases = [
        (
            "standard = '11a'\nstations = { power_save = 'legacy' }\n",
            "stations.power_save: needs beacons, by which an access point announces the frames \
             that it buffers; add wlan.beacons = {}",
        ),
        (
            "standard = '11a'\nwlan.beacons = {}\nstations = { power_save = 'u_apsd' }\n",
            "stations.power_save: \"u_apsd\" needs access categories; add wlan.qos = true, or \
             take \"legacy\"",
        ),
        (
            "standard = '11a'\nwlan.beacons = {}\nwlan.full_duplex = {}\n\
             wlan.rts_threshold_bytes = 0\nstations = { count = 3, power_save = 'legacy' }\n",
            "stations.power_save: is not supported together with wlan.full_duplex; remove either",
        ),
        (
            "standard = '11a'\nwlan.beacons = {}\n\
             stations = [{ count = 65, power_save = 'legacy' }, {}]\n",
            "stations[0].power_save: 65 stations of a cell save power; at most 64",
        ),
        (
            "standard = '11a'\nwlan.beacons = {}\n\
             stations.power_save.legacy = { retrieval = 'ps_poll', timeout_ms = 50 }\n",
            "stations.power_save.legacy.timeout_ms: with retrieval = \"ps_poll\" the station \
             saves power all the time; remove the key",
        ),
        (
            "standard = '11n'\nwlan.beacons = {}\n\
             stations.power_save.u_apsd.max_sp_frames = 3\n",
            "stations.power_save.u_apsd.max_sp_frames: is 2, 4 or 6, not 3",
        ),
        (
            "standard = '11n'\nwlan.beacons = {}\nstations.power_save.legacy.listen_interval = 0\n",
            "stations.power_save.legacy.listen_interval: ",
        ),
        (
            "standard = '11ac'\nwlan.beacons = {}\nstations.power_save = 'twt'\n",
            "stations.power_save: target wake times are of 802.11ax and later, and the standard is \
             802.11ac; take standard = \"11ax\", or power_save = \"u_apsd\"",
        ),
        (
            "standard = '11ax'\nwlan.beacons = {}\nstations.power_save.twt.duration_ms = 10\n",
            "stations.power_save.twt.duration_ms: 10 is not a multiple of 0.256 ms [802.11ax-2021 \
             9.4.2.199]; the nearest are 9.984 and 10.24",
        ),
        (
            "standard = '11ax'\nwlan.beacons = {}\nstations.power_save.twt.interval_ms = 10\n",
            "stations.power_save.twt.duration_ms: 10.24 is not less than interval_ms, 10; take \
             less, or a longer interval",
        ),
    ];
    for (keys, expected) in cases {
        let text = format!("{keys}{flow}");
        let issues = match Scenario::parse(&text) {
            Ok(scenario) => scenario.resolve().expect_err(keys),
            Err(issues) => issues,
        };
        let found: Vec<String> = issues.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
}

/// The access point relays between two stations that sleep: what one receives from the other says
/// nothing about whether the other sleeps.
#[test]
fn stations_that_sleep_send_to_each_other() {
    let keys = "{ legacy = { timeout_ms = 1.0 } }";
    for standard in ["11g", "11ac"] {
        let cell = cell(standard, keys, "").replace("102.0", "3.0");
        let run = run(&format!("{cell}[[flows]]\nfrom = 'sta0'\nto = 'sta1'\n"));
        assert!(number(&run, "flows[0].goodput_mbps") > 0.1, "{standard}");
    }
}

/// The end of a service period with A-MSDUs: a frame of the MAC carries no MSDU.
#[test]
fn null_frames_do_not_become_a_msdus() {
    for mode in ["'legacy'", "'u_apsd'"] {
        let rest = "wlan.aggregation.amsdu_bytes = 3839\n";
        let cell = cell("11n", mode, rest).replace("102.0", "3.0");
        let flow = "[[flows]]\nfrom = 'server'\nto = 'sta*'\n[[flows]]\nfrom = 'sta0'\nto = 'ap'\n";
        let run = run(&format!("{cell}{flow}"));
        assert!(number(&run, "total.goodput_mbps") > 1.0, "{mode}");
    }
}

/// With a uniform phase, a packet waits for the next service period unless it comes in one. The
/// station is awake in service periods only.
#[test]
fn packets_wait_for_service_periods_in_both_directions() {
    let up = SPARSE.replace("from = 'ap'\nto = 'sta0'", "from = 'sta0'\nto = 'ap'");
    assert_ne!(up, SPARSE);
    for (interval, period) in [(102.4, 10.24), (64.0, 5.12), (30.0, 20.48)] {
        for (announced, flow) in [(false, SPARSE), (true, SPARSE), (false, &up), (true, &up)] {
            for radio in ["", RADIO] {
                let mode = format!(
                    "{{ twt = {{ interval_ms = {interval}, duration_ms = {period}, offset_ms = \
                     7.0, announced = {announced} }} }}"
                );
                let text = format!("{}{flow}", cell("11ax", &mode, radio));
                let run = run(&text);
                let [interval, period]: [f64; 2] = [interval * 1e-3, period * 1e-3];
                let samples = number(&run, "flows[0].delay_s.count");
                let mean = number(&run, "flows[0].delay_s.mean");
                let expected = (interval - period).powi(2) / (2.0 * interval);
                let half_width = 1.96 * interval / (12.0 * samples).sqrt();
                // Frames take less than 2 ms.
                let differs = mean - expected - 0.001;
                assert!(
                    differs.abs() < half_width + 0.001,
                    "{mode}: {mean} instead of {expected} ± {half_width}"
                );
                let awake = number(&run, "stations[0].power_save.awake_fraction");
                let share = period / interval;
                assert!((awake / share - 1.0).abs() < 0.01, "{mode}: awake {awake} of {share}");
                let idle = number(&run, "stations[1].power_save.awake_fraction");
                assert!((idle / share - 1.0).abs() < 0.01, "{mode}: idle {idle} of {share}");
            }
        }
    }
}
