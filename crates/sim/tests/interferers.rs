//! Interferers: what they corrupt, what corrupts them, and faults. All runs have the checker on,
//! which holds the airtime to 100 %.

use crate::common::{number, run_with};
use sim::{Run, Scenario};

fn run(text: &str) -> Run {
    run_with(text, 5, &[])
}

/// A saturated station of 802.11b with MAC ACKs at 11 Mb/s, and one interferer.
fn cell(keys: &str, interferer: &str) -> String {
    format!(
        "standard = '11b'\nstations = 1\nduration_s = 20\nwarmup_s = 1\n\
         wlan.basic_rates_mbps = [1, 2, 5.5, 11]\nwlan.short_retry_limit = 250\n{keys}\n\
         [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n\
         [[interferers]]\ncorrupts = true\n{interferer}\n"
    )
}

/// The same among radios 10 m apart.
fn space(keys: &str, interferer: &str) -> String {
    let radio = "ap.position_m = [0, 0]\nradio.error_model = 'nist'";
    let text = cell(&format!("{keys}\n{radio}"), interferer);
    text.replace("stations = 1", "stations.position_m = [10, 0]").replace("corrupts = true\n", "")
}

fn fraction(run: &Run, of: &str, to: &str) -> f64 {
    number(run, of) / number(run, to)
}

/// Bursts of 366 us at a random phase overlap a frame of 1310 us (1536 bytes), or its MAC ACK of
/// 203 us a SIFS later (`simoom.models.bluetooth`, rule "bursts", of 1310 and of 1523 us). A burst
/// that spans the SIFS and is in another channel spares both: the ACK alone would be lost with
/// probability 0.253, 0.127 and 0.084. Retries begin at random slots, so that the phases of
/// attempts are nearly uniform.
#[test]
fn a_voice_link_corrupts_data_and_mac_acks_in_a_cell() {
    for (format, of_data, of_ack) in
        [("HV1", 0.578, 0.115), ("HV2", 0.341, 0.061), ("HV3", 0.227, 0.035)]
    {
        let run = run(&cell("", &format!("source.sco.format = '{format}'")));
        let attempts = number(&run, "stations[0].attempts");
        let data = number(&run, "interferers[0].data_frames_lost");
        let acks = number(&run, "interferers[0].control_frames_lost");
        assert!((data / attempts - of_data).abs() < 0.03, "{format}: {data} of {attempts}");
        let acked = acks / (attempts - data);
        assert!((acked - of_ack).abs() < 0.03, "{format}: {acked}");
        // An attempt that the warm-up or the end cuts counts in one of the two.
        let attempts_lost = number(&run, "stations[0].interference_losses");
        assert!((attempts_lost - data - acks).abs() <= 1.0, "{attempts_lost}");
        assert_eq!(number(&run, "stations[0].noise_losses"), 0.0);
        assert!(number(&run, "airtime.lost_fraction") > 0.1);
    }
}

#[test]
fn the_rule_of_whole_slots_depends_on_rate_and_spares_acks() {
    for (rate, expected) in [(11.0, 0.27), (5.5, 0.611), (2.0, 0.9411)] {
        let rule = "source.sco = { format = 'HV1', rule = 'slots', slot_probability = 0.27 }";
        let run = run(&cell(&format!("wlan.rate_mbps = {rate}"), rule));
        let attempts = number(&run, "stations[0].attempts");
        let lost = fraction(&run, "interferers[0].data_frames_lost", "stations[0].attempts");
        // Four standard deviations.
        let tolerance = 4.0 * (expected * (1.0 - expected) / attempts).sqrt();
        assert!((lost - expected).abs() < tolerance, "{rate}: {lost}");
        assert_eq!(number(&run, "interferers[0].control_frames_lost"), 0.0);
    }
}

#[test]
fn the_network_corrupts_a_voice_link_as_often_as_it_is_on_the_air_in_its_channel() {
    let run = run(&cell("", "source.sco.format = 'HV3'"));
    // 3200 slots of two in six in 19 s.
    let packets = number(&run, "interferers[0].packets");
    assert!((packets - 19.0 * 1600.0 / 3.0).abs() < 3.0, "{packets}");
    // Almost every burst in the channel meets a frame: the gaps are shorter than a burst but for
    // long back-offs.
    let rate = number(&run, "interferers[0].error_rate");
    assert!(rate > 0.22 && rate <= 22.0 / 79.0 + 0.02, "{rate}");
    assert_eq!(number(&run, "interferers[0].loss_rate"), rate);
}

#[test]
fn retransmissions_recover_packets_of_a_voice_link() {
    let run = run(&cell("", "source.esco.retransmission_slots = 2"));
    let error = number(&run, "interferers[0].error_rate");
    let loss = number(&run, "interferers[0].loss_rate");
    // A repetition is on another channel.
    assert!(error > 0.15 && loss < 0.5 * error && loss > 0.2 * error * error, "{error}, {loss}");
}

#[test]
fn a_link_that_learns_its_map_leaves_the_channel_of_a_busy_network() {
    let lost = |learned: bool| {
        let afh = format!("afh = {{ classify_s = 2.0, learned = {learned} }}");
        let link = format!("source.sco = {{ format = 'HV3', {afh} }}");
        let run = run(&cell("", &link).replace("warmup_s = 1", "warmup_s = 3"));
        let path = |name| format!("interferers[0].{name}");
        (number(&run, &path("data_frames_lost")), number(&run, &path("error_rate")))
    };
    assert_eq!(lost(true), (0.0, 0.0));
    assert_eq!(lost(false), (0.0, 0.0), "the map outside of the channel");
    let quiet = cell("", "source.sco = { format = 'HV3', afh = { learned = true } }")
        .replace("traffic.saturated.payload_bytes = 1472", "start_s = 6.0");
    // Nobody disturbs the link while it learns: it stays in all channels.
    assert!(number(&run(&quiet), "interferers[0].data_frames_lost") > 100.0);
}

#[test]
fn each_mpdu_rts_and_cts_can_be_lost() {
    let keys = "wlan.rts_threshold_bytes = 0";
    let run_rts = run(&cell(keys, "source.sco.format = 'HV1'"));
    assert!(number(&run_rts, "interferers[0].control_frames_lost") > 1000.0);
    assert!(number(&run_rts, "total.goodput_mbps") > 0.5);
    let text = "standard = '11n'\nwlan.band_ghz = 2.4\nstations = 1\nduration_s = 5\n\
                [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic.saturated.payload_bytes = 1472\n\
                [[interferers]]\ncorrupts = true\nsource.duty_cycle = { on_ms = 0.05, \
                period_ms = 1.0 }\n";
    let run = run(text);
    // Of an A-MPDU only the MPDUs under a burst are lost.
    let lost = fraction(&run, "interferers[0].data_frames_lost", "stations[0].mpdus");
    assert!(lost > 0.03 && lost < 0.6, "{lost}");
    assert!(number(&run, "total.goodput_mbps") > 5.0);
}

/// A burst destroys a frame at every node. Two stations receive the broadcasts of the access point.
#[test]
fn each_receiver_loses_a_broadcast_under_a_burst() {
    let text = cell("", "source.duty_cycle = { on_ms = 10.0, period_ms = 20.0 }")
        .replace("stations = 1", "stations = 2")
        .replace("from = 'sta0'\nto = 'ap'", "from = 'ap'\nto = 'broadcast'");
    let run = run(&text);
    let (sent, lost) =
        (number(&run, "ap.attempts"), number(&run, "interferers[0].data_frames_lost"));
    // A frame at 1 Mb/s lasts 12.4 ms, longer than the pauses of the source.
    assert!(sent > 1000.0 && (lost - 2.0 * sent).abs() <= 2.0, "{lost} of {sent}");
}

/// Third parties defer for an EIFS after a frame that a burst has destroyed, which the checker
/// holds. What is lost depends on phases and lengths alone, as with one station: a frame of data
/// overlaps a burst of HV3 with probability 0.227.
#[test]
fn all_nodes_defer_after_a_frame_that_a_burst_has_destroyed() {
    let many = cell("", "source.sco.format = 'HV3'")
        .replace("stations = 1", "stations = 10")
        .replace("from = 'sta0'", "from = 'sta*'");
    let run = run(&many);
    let all = |name: &str| -> f64 {
        (0..10).map(|n| number(&run, &format!("stations[{n}].{name}"))).sum()
    };
    let lost = number(&run, "interferers[0].data_frames_lost");
    let decided = all("attempts") - all("collisions");
    assert!((lost / decided - 0.227).abs() < 0.03, "{lost} of {decided}");
}

#[test]
fn an_interferer_of_another_band_disturbs_nobody() {
    let text = cell("", "source.sco.format = 'HV1'").replace("'11b'", "'11a'");
    let text = text.replace("wlan.basic_rates_mbps = [1, 2, 5.5, 11]", "");
    assert_eq!(number(&run(&text), "interferers[0].data_frames_lost"), 0.0);
}

#[test]
fn a_power_decides_in_space() {
    // The signal has -60.7 dBm at 10 m, the burst of 4 dBm as much at 3.9 m; at 1000 m it is noise.
    let lost = |place: f64| {
        let at = format!(
            "source.sco.format = 'HV1'\nposition_m = [{place}, 0]\ntx_power_dbm = 4.0\n\
             peer_position_m = [{place}, 1]\nsensed = false"
        );
        let run = run(&space("", &at));
        fraction(&run, "stations[0].interference_losses", "stations[0].attempts")
    };
    let (near, far) = (lost(-0.5), lost(-1000.0));
    assert!(near > 0.5 && near < 0.8, "{near}");
    assert_eq!(far, 0.0);
}

/// If the power of a frame and that of a burst both have Rayleigh fading, the ratio of their gains
/// exceeds 1 with probability 1/2. Here the mean power of the frame is 10 dB above that of the
/// burst, and the receiver needs 10 dB. Every frame meets a burst; one in 60 meets two, and is lost
/// with probability 2/3. If only frames faded, 1 - 1/e = 0.632 of them would be lost.
#[test]
fn bursts_fade_as_frames_do() {
    let keys = "wlan.cw_max = 31\nradio.fading.coherence_ms = 20.0\nradio.detect_snr_db = -100";
    let source = "source.duty_cycle = { on_ms = 19.0, period_ms = 20.0 }\nposition_m = [-10, 0]\n\
                  tx_power_dbm = 6.0206\nsensed = false";
    let text = space(keys, source).replace("= 'nist'", "= { threshold = { sinr_db = 10.0 } }");
    let run = run(&text);
    let lost = fraction(&run, "interferers[0].data_frames_lost", "stations[0].attempts");
    // Three and a half standard deviations of 950 blocks.
    assert!((lost - 0.503).abs() < 0.057, "{lost}");
}

#[test]
fn a_source_that_has_stopped_is_not_heard_again() {
    let stops = "position_m = [5, 0]\ntx_power_dbm = 20.0\nstop_s = 10.0\n";
    let cycle = "source.duty_cycle = { on_ms = 20.0, period_ms = 40.0 }";
    let link = "peer_position_m = [6, 0]\nsource.sco.format = 'HV3'";
    for source in [cycle, link, "source = 'jammer'"] {
        // The checker holds that each access waits for an interframe space.
        let rate = number(&run(&space("", &format!("{stops}{source}"))), "total.goodput_mbps");
        assert!(rate > 2.0, "{source}: {rate}");
    }
}

/// No node takes a packet between the frame and the burst, so that the frame alone must lead to the
/// edges of the burst.
#[test]
fn carrier_sense_hears_the_burst_that_a_frame_causes() {
    let at = "position_m = [5, 0]\ntx_power_dbm = 20.0";
    let fading = "radio.fading.coherence_ms = 1.0";
    let source = |delay: f64, burst: f64| {
        format!("{at}\nsource.reactive = {{ delay_us = {delay}, burst_us = {burst} }}")
    };
    // The checker holds that each access waits for an interframe space after what is heard.
    for (keys, delay, burst) in [("", 1000.0, 9000.0), (fading, 20.0, 50.0), (fading, 0.1, 1000.0)]
    {
        run(&space(keys, &source(delay, burst)));
    }
    // A burst of 8 ms begins 1 ms after a frame of 1.3 ms and destroys it. A station that hears
    // the burst sends once in 9 ms or more, in the 19 s that are measured.
    let attempts = |sensed: bool| {
        let jammer = format!("{}\nsensed = {sensed}", source(1000.0, 8000.0));
        let text = space("wlan.cw_max = 31", &jammer);
        number(&run(&text), "stations[0].attempts")
    };
    let (heard, unheard) = (attempts(true), attempts(false));
    assert!(heard > 1500.0 && heard < 19.0 / 9e-3, "{heard}");
    assert!(unheard > 3.0 * heard, "{heard} {unheard}");
}

#[test]
fn carrier_sense_hears_a_strong_source_and_defers() {
    let with = |sensed: bool| {
        let cycle = "source.duty_cycle = { on_ms = 5.0, period_ms = 10.0 }";
        run(&space(
            "",
            &format!("{cycle}\nposition_m = [5, 0]\ntx_power_dbm = 20.0\nsensed = {sensed}"),
        ))
    };
    let (heard, unheard) = (with(true), with(false));
    let losses =
        |run: &Run| fraction(run, "stations[0].interference_losses", "stations[0].attempts");
    // Frames that begin in the quiet half run into the next burst, and no others.
    assert!(losses(&heard) > 0.02 && losses(&heard) < 0.4, "{}", losses(&heard));
    assert!(losses(&unheard) > 1.3 * losses(&heard), "{}", losses(&unheard));
    let goodput = |run: &Run| number(run, "total.goodput_mbps");
    assert!(goodput(&heard) > goodput(&unheard));
}

#[test]
fn a_source_that_is_always_heard_silences_the_network() {
    let jammer = "source = 'jammer'\nposition_m = [5, 0]\ntx_power_dbm = 20.0\nstart_s = 10.0";
    let run = run(&space("", jammer));
    let rate = number(&run, "total.goodput_mbps");
    // About 6 Mb/s for 9 of 19 s.
    assert!(rate > 2.0 && rate < 3.5, "{rate}");
}

#[test]
fn an_idle_network_needs_no_events_of_a_heard_source() {
    let events = |source: &str| {
        let text = space("", source);
        let text = text.replace("traffic.saturated.payload_bytes = 1472", "start_s = 19.9");
        number(&run(&text), "run.events")
    };
    let place = "position_m = [5, 0]\ntx_power_dbm = 20.0\n";
    let heard = events(&format!("{place}source.duty_cycle = {{ on_ms = 0.5, period_ms = 1.0 }}"));
    // 40,000 edges in 20 s, of which 0.1 s with frames count.
    assert!(heard < 4000.0, "{heard}");
}

/// All semantic faults of a text.
#[track_caller]
fn wrong(text: &str, expected: &[&str]) {
    let issues = Scenario::parse(text).unwrap().resolve().unwrap_err();
    assert_eq!(issues.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn faults_have_one_message_at_their_path() {
    let afh = "source.sco.afh = { channels = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }";
    wrong(
        &cell("", afh),
        &["interferers[0].source.sco.afh.channels: 10 are too few: Bluetooth hops over at least \
             20 channels"],
    );
    let twenty: Vec<u32> = (0..20).collect();
    let both = format!("source.sco.afh = {{ learned = true, channels = {twenty:?} }}");
    wrong(
        &cell("", &both),
        &["interferers[0].source.sco.afh.learned: the map is learned or given; remove one of \
             both keys"],
    );
    let two = "name = 'headset'\nsource.sco.format = 'HV1'\n[[interferers]]\ncorrupts = true\n\
               name = 'headset'\nsource.sco.format = 'HV2'";
    wrong(
        &cell("", two),
        &["interferers[1].name: \"headset\" is interferers[0] already: a Bluetooth link has one \
           packet type, and each interferer a name of its own"],
    );
    wrong(
        &cell("", "source.on_off.csv = \"1.0,2.0\\n1.5,3.0\""),
        &["interferers[0].source.on_off.csv: line 2 goes back in time: \"1.5,3.0\"; each time is \
           later than those before"],
    );
    wrong(
        &space("", "source = 'jammer'\nposition_m = [5, 0]"),
        &["interferers[0].tx_power_dbm: missing; where there are radios an interferer has a \
           power, as 4.0"],
    );
    wrong(
        &cell("", "source = 'jammer'").replace("corrupts = true\n", ""),
        &["interferers[0].corrupts: missing; without [radio] there are no powers, and an \
           interferer destroys what it overlaps: corrupts = true"],
    );
    wrong(
        &space("", "source.sco.rule = 'slots'\nposition_m = [5, 0]\ntx_power_dbm = 4"),
        &[
            "interferers[0].peer_position_m: missing; where there are radios an interferer has a \
             place, as [10.0, 0.0]",
            "interferers[0].source.sco.rule: \"slots\" knows no powers; take \"bursts\", or remove \
             [radio]",
        ],
    );
    wrong(
        &cell("", "source.duty_cycle = { on_ms = 10.0, period_ms = 10.0 }"),
        &["interferers[0].source.duty_cycle.on_ms: 10 is not below period_ms, 10; a source that \
             is always on is a \"jammer\""],
    );
}

#[test]
fn models_of_a_cell_are_refused_beside_interferers() {
    let with = |keys: &str| cell(keys, "source = 'jammer'");
    for (keys, path, message) in [
        (
            "wlan.slot_grid = 'difs'",
            "wlan.slot_grid",
            "\"difs\" is not supported together with [[interferers]]; take \"standard\" or \
             \"free\", or remove [[interferers]]",
        ),
        (
            "wlan.collisions = 'none'",
            "wlan.collisions",
            "\"none\" is not supported together with [[interferers]]; remove one",
        ),
    ] {
        wrong(&with(keys), &[&format!("{path}: {message}")]);
    }
}

#[test]
fn signals_that_add_up_to_more_than_a_receiver_can_add_are_refused() {
    let text = "standard = '11b'\nstations = 2\n[radio]\nlosses_db = [[0, 0, 0], [0, 0, 0], \
                [0, 0, 0]]\ntx_power_dbm = 60.0\n[[flows]]\nfrom = 'sta*'\nto = 'ap'\n";
    wrong(
        text,
        &["radio.losses_db: 60 dBm over a loss of 0 dB: the signals of 3 nodes may add up to \
             more than 41 dBm at a receiver; take less power or more loss"],
    );
    assert!(Scenario::parse(&text.replace("60.0", "20.0")).unwrap().resolve().is_ok());

    // Shadowing makes some pairs much stronger than their mean: with 40 dB a signal of 51 dBm
    // arrived, and counted as 39.
    let shadowed = |deviation| {
        format!(
            "standard = '11g'\nstations = {{ count = 3, ring_m = 5 }}\n[radio]\n\
             shadowing_db = {deviation}\n[[flows]]\nfrom = 'server'\nto = 'sta*'\n"
        )
    };
    wrong(
        &shadowed(40),
        &["radio.tx_power_dbm: 16.0206 dBm over a loss of 67.6 dB with 40 dB of shadowing: the \
             signals of 4 nodes may add up to more than 41 dBm at a receiver; take less power, \
             less shadowing_db or more loss"],
    );
    assert!(Scenario::parse(&shadowed(10)).unwrap().resolve().is_ok());
}

#[test]
fn bursts_at_a_node_that_moves_where_signals_take_time() {
    // The checker took the place of the node when the frame left its sender, and the medium when
    // it arrived: 0.2 us later, in which the node moves 10 um.
    let text = "standard = '11a'\nduration_s = 0.3\nwarmup_s = 0\nwlan.rate_mbps = 6\n\
                radio = { ad_hoc = true, propagation_delay = 'on' }\nap.position_m = [0, 0]\n\
                [[stations]]\nwaypoints = [{ at_s = 0, position_m = [10, 20] }, \
                { at_s = 0.4, position_m = [30, 20] }]\n[[stations]]\nposition_m = [60, 20]\n\
                [[interferers]]\nposition_m = [5, 20]\ntx_power_dbm = -10\nsensed = false\n\
                source.duty_cycle.on_ms = 1\n\
                [[flows]]\nfrom = 'sta1'\nto = 'sta0'\ntraffic = 'saturated'\n";
    assert!(number(&run(text), "stations[1].attempts") > 50.0);
}
