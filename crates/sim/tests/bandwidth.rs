//! Transmitters that leave out what of their channel was busy before their TXOP.

use crate::common::{number, run};
use sim::{Run, Scenario};

/// A network of this width in channel 36 with a saturated download at MCS 5, and a station of 20
/// MHz in another channel that sends all the time. Both access points are `apart` metres from each
/// other, and each station 3 m from its access point.
fn text(width: u32, channel: u32, apart: f64, keys: &str) -> String {
    format!(
        "standard = '11be'\nduration_s = 0.5\nradio = {{}}\nap.channel = 36\n\
         [wlan]\nwidth_mhz = {width}\nmcs = 5\n{keys}\n\
         [[cells]]\nposition_m = [{apart}, 0.0]\nchannel = {channel}\n\
         [[stations]]\nposition_m = [-3.0, 0.0]\n\
         [[stations]]\ncell = 1\nwidth_mhz = 20\nposition_m = [{}, 0.0]\n\
         [[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n\
         [[flows]]\nfrom = 'sta1'\nto = 'server'\ntraffic = 'saturated'\n",
        apart + 3.0
    )
}

const PUNCTURED: &str = "bandwidth_operation = 'punctured'";
const DYNAMIC: &str = "bandwidth_operation = 'dynamic'";

/// PPDUs of the wide network: all, punctured, narrower.
fn ppdus(run: &Run) -> [f64; 3] {
    ["ppdus", "punctured_ppdus", "narrower_ppdus"].map(|name| number(run, &format!("ap.{name}")))
}

fn goodputs(run: &Run) -> [f64; 2] {
    [0, 1].map(|flow| number(run, &format!("flows[{flow}].goodput_mbps")))
}

/// MCS 5 with one stream, 80 MHz: 288.2 Mb/s, without one subchannel 206.5; 137.6 with 40 MHz, 68.8
/// with 20 (980, 702, 468 and 234 data subcarriers with 4 bits in 13.6 us). The narrow station
/// leaves the air for a DIFS and a back-off only, so that almost every PPDU meets it; some begin
/// together with its first or in what its back-off leaves.
#[test]
fn a_busy_subchannel_is_punctured_and_the_neighbour_has_its_own() {
    for (channel, narrower) in [(40, 68.8), (44, 137.6), (48, 137.6)] {
        let punctured = run(&text(80, channel, 12.0, PUNCTURED));
        let [all, left_out, narrow] = ppdus(&punctured);
        assert!(left_out > 0.8 * all && narrow == 0.0, "{channel}: {all} {left_out} {narrow}");
        let rate = number(&punctured, "ap.data_rate_mbps");
        let expected = (206.5 * left_out + 288.2 * (all - left_out)) / all;
        assert!((rate - expected).abs() < 0.2, "{channel}: {rate} {expected}");
        let dynamic = run(&text(80, channel, 12.0, DYNAMIC));
        let [all, left_out, narrow] = ppdus(&dynamic);
        assert!(narrow > 0.8 * all && left_out == 0.0, "{channel}: {all} {left_out} {narrow}");
        let rate = number(&dynamic, "ap.data_rate_mbps");
        let expected = (narrower * narrow + 288.2 * (all - narrow)) / all;
        assert!((rate - expected).abs() < 0.2, "{channel}: {rate} {expected}");
        let waits = run(&text(80, channel, 12.0, ""));
        let [[wide, other], [_, alone], [slow, _]] = [&punctured, &dynamic, &waits].map(goodputs);
        assert!(wide > 1.2 * slow, "{channel}: {wide} {slow}");
        assert!((other / alone - 1.0).abs() < 0.1, "{channel}: {other} {alone}");
    }
}

/// Of 160 MHz 996+484+242 tones remain: 494.7 Mb/s of 576.5. A neighbour of 40 MHz across two
/// channels of 40 MHz does not exist; one of 40 MHz in 52 and 56 leaves 996+484: 425.9, and beside
/// an Ack, which has 20 MHz, as before.
#[test]
fn wider_channels_have_more_patterns() {
    for (own, rate) in [("width_mhz = 20", 494.7), ("width_mhz = 40", 425.9)] {
        let wide = text(160, 52, 12.0, PUNCTURED).replace("width_mhz = 20", own);
        let found = run(&wide);
        let [all, left_out, _] = ppdus(&found);
        assert!(left_out > 0.8 * all, "{own}: {all} {left_out}");
        let mean = number(&found, "ap.data_rate_mbps");
        let expected = (rate * left_out + 576.5 * (all - left_out)) / all;
        assert!((mean - expected).abs() < 3.0, "{own}: {mean} {expected}");
    }
}

/// A TXOP of several PPDUs keeps what it has won, and RTS and CTS precede it: the checker looks at
/// each frame. A station of 802.11ax has 40 MHz instead.
#[test]
fn txops_and_earlier_standards() {
    let keys = format!("{PUNCTURED}\nrts_threshold_bytes = 0\naggregation.frames = 2\n");
    let txop = text(80, 48, 12.0, &keys)
        .replace("ap.channel", "ap.edca.best_effort.txop_limit_us = 4096\nap.channel");
    let [all, left_out, _] = ppdus(&run(&txop));
    assert!(left_out > 0.5 * all, "{all} {left_out}");
    let of_ax = text(80, 48, 12.0, PUNCTURED)
        .replace("position_m = [-3.0, 0.0]", "position_m = [-3.0, 0.0]\nstandard = '11ax'");
    let [all, left_out, narrow] = ppdus(&run(&of_ax));
    assert!(narrow > 0.8 * all && left_out == 0.0, "{all} {left_out} {narrow}");
}

/// Frames of 20 MHz below -72 dBm keep nobody from sending there (802.11ax-2021 clause
/// 27.3.20.6.5).
#[test]
fn what_is_too_weak_is_not_busy() {
    let [all, left_out, narrow] = ppdus(&run(&text(80, 48, 80.0, PUNCTURED)));
    assert_eq!((left_out, narrow), (0.0, 0.0), "{all}");
}

/// Where no channels overlap, or all are 20 MHz wide, nothing changes.
#[test]
fn without_a_neighbour_in_the_channel_it_has_no_effect() {
    for (width, channel) in [(80, 36), (80, 52), (20, 40)] {
        let all = [PUNCTURED, DYNAMIC, ""].map(|keys| run(&text(width, channel, 12.0, keys)));
        let [punctured, dynamic, whole] = all.each_ref().map(goodputs);
        assert_eq!([punctured, dynamic], [whole; 2], "{width} {channel}");
    }
}

fn faults(text: &str) -> Vec<String> {
    let issues = Scenario::parse(text).unwrap().resolve().err().unwrap_or_default();
    issues.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(faults(text), [format!("wlan.bandwidth_operation: {expected}")], "{text}");
}

#[test]
fn what_it_is_not_supported_with_has_a_message() {
    let usual = text(80, 48, 12.0, PUNCTURED);
    refused(
        &usual.replace("'11be'", "'11ac'"),
        "stations that sense each 20 MHz by itself are modelled for 802.11ax and be, not for \
         802.11ac; take \"static\", or standard = \"11be\"",
    );
    refused(
        &usual.replace("'11be'", "'11ax'"),
        "802.11ax punctures only PPDUs to several users (HE MU); add a table [wlan.mu], or take \
         \"dynamic\" or standard = \"11be\"",
    );
    refused(
        &usual.replace("ap.channel = 36", "ap = { channel = 36, punctured = [4] }"),
        "not supported together with punctured channels of a network; remove punctured, or take \
         \"static\"",
    );
    let cell = "standard = '11be'\nstations = 2\nwlan.bandwidth_operation = 'punctured'\n\
                [[flows]]\nfrom = 'sta*'\nto = 'server'\n";
    refused(
        cell,
        "without a radio all nodes are in one channel, of which no part is busy by itself; add a \
         table [radio], or take \"static\"",
    );
    let of_ax = text(80, 48, 12.0, DYNAMIC).replace("'11be'", "'11ax'");
    assert_eq!(faults(&of_ax), [""; 0]);
    refused(
        &usual.replace("[wlan]", "[wlan]\nfull_duplex = {}\nrts_threshold_bytes = 0"),
        "not supported together with [wlan.full_duplex]; remove either",
    );
}
