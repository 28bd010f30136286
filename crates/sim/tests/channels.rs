//! Channels are frequencies: the numbers that a band has, and cells whose channels overlap.

use crate::common::{number, run};
use sim::Scenario;

/// A cell and a neighbour 10 m away, each with a station that sends to the server.
fn neighbours(standard: &str, wlan: &str, channels: [u32; 2]) -> String {
    let [own, other] = channels;
    format!(
        "standard = '{standard}'\nduration_s = 1\n{wlan}\n\
         radio = {{}}\nap.channel = {own}\n\
         cells = [{{ position_m = [10.0, 0.0], channel = {other} }}]\n\
         [[stations]]\nposition_m = [3.0, 0.0]\n\
         [[stations]]\ncell = 1\nposition_m = [13.0, 0.0]\n\
         [[flows]]\nfrom = 'sta*'\nto = 'server'\n"
    )
}

fn faults(text: &str) -> Vec<String> {
    let issues = Scenario::parse(text).unwrap().resolve().err().unwrap_or_default();
    issues.iter().map(ToString::to_string).collect()
}

/// 802.11-2020 annex E: table E-4, operating classes 81 to 84 and 115 to 129.
#[test]
fn a_number_that_the_band_lacks_is_refused_with_the_list() {
    const AT_5: &str = "where there are 36 to 64, 100 to 144 and 149 to 177 in steps of 4";
    let low = "band_ghz = 2.4";
    for (standard, wlan, channel, expected) in [
        ("11g", "", 36, "36 is no channel at 2.4 GHz, where there are 1 to 14".to_owned()),
        ("11b", "", 15, "15 is no channel at 2.4 GHz, where there are 1 to 14".to_owned()),
        ("11a", "", 6, format!("6 is no channel at 5 GHz, {AT_5}")),
        ("11ac", "", 41, format!("41 is no channel at 5 GHz, {AT_5}")),
        ("11ax", low, 36, "36 is no channel at 2.4 GHz, where there are 1 to 14".to_owned()),
        (
            "11ac",
            "width_mhz = 160",
            132,
            "132 is in no channel of 160 MHz; take one of 36 to 64, 100 to 128 and 149 to 177 in \
             steps of 4"
                .to_owned(),
        ),
        (
            "11n",
            "band_ghz = 2.4, width_mhz = 40",
            14,
            "14 is in no channel of 40 MHz; take one of 1 to 13".to_owned(),
        ),
    ] {
        let wlan = format!("wlan = {{ {wlan} }}");
        let all = faults(&neighbours(standard, &wlan, [channel, channel]));
        assert_eq!(
            all,
            [format!("ap.channel: {expected}"), format!("cells[0].channel: {expected}")],
            "{standard}"
        );
    }
}

#[test]
fn channels_that_exist_are_accepted() {
    for (standard, wlan, channels) in [
        ("11g", "", [1, 6]),
        ("11g", "", [9, 14]),
        ("11b", "", [1, 14]),
        ("11a", "", [36, 177]),
        ("11ac", "width_mhz = 80", [64, 144]),
        ("11ax", "width_mhz = 160", [36, 149]),
        ("11ax", "band_ghz = 6", [181, 233]),
        ("11n", "band_ghz = 2.4, width_mhz = 40", [1, 11]),
        ("11ac", "width_mhz = 80", [36, 44]),
    ] {
        let wlan = format!("wlan = {{ {wlan} }}");
        assert_eq!(
            faults(&neighbours(standard, &wlan, channels)),
            [""; 0],
            "{standard} {channels:?}"
        );
    }
}

/// Without a number, a cell has channel 1 or 36.
#[test]
fn the_default_is_the_usual_channel_of_the_band() {
    for (standard, usual) in [("11g", 1), ("11a", 36), ("11ac", 36)] {
        let text = neighbours(standard, "wlan.rate_control = 'ideal'", [usual, usual]);
        let without = text.replace(&format!("ap.channel = {usual}\n"), "");
        let without = without.replace(&format!(", channel = {usual}"), "");
        assert_ne!(text, without);
        assert_eq!(run(&text).digest, run(&without).digest, "{standard}");
    }
}

fn total(standard: &str, wlan: &str, channels: [u32; 2]) -> f64 {
    number(&run(&neighbours(standard, wlan, channels)), "total.goodput_mbps")
}

/// A frame of 80 MHz has its preamble in each of its four channels of 20 MHz: the primary channel
/// of the other cell is busy with it (clause 21.3.18.5.3), and two cells share the air as on one
/// channel.
#[test]
fn cells_in_one_block_of_80_mhz_share_the_air() {
    let wlan = "wlan.width_mhz = 80";
    let one = total("11ac", wlan, [36, 36]);
    let apart = total("11ac", wlan, [36, 52]);
    for other in [40, 44, 48] {
        let shared = total("11ac", wlan, [36, other]);
        println!("36 and {other}: {shared:.1}, 36 and 36: {one:.1}, apart: {apart:.1}");
        assert!((shared / one - 1.0).abs() < 0.06, "{other}: {shared} {one}");
    }
    assert!(apart > 1.95 * one, "{apart} {one}");
}

#[test]
fn cells_in_one_pair_of_channels_share_the_air() {
    let low = "wlan = { band_ghz = 2.4, width_mhz = 40 }";
    for (standard, wlan, channels) in [
        ("11n", "wlan.width_mhz = 40", [36, 40]),
        ("11ax", "wlan.width_mhz = 160", [36, 64]),
        ("11n", low, [1, 5]),
    ] {
        let one = total(standard, wlan, [channels[0]; 2]);
        let shared = total(standard, wlan, channels);
        println!("{standard} {channels:?}: {shared:.1}, on one channel {one:.1}");
        assert!(shared < 1.2 * one, "{standard} {channels:?}: {shared} {one}");
    }
}

/// The mask of clause 17.3.9.3 ends 30 MHz from the centre: channels 40 MHz apart do not know of
/// each other, and channels 25 MHz apart hardly (-30 dB).
#[test]
fn cells_on_channels_apart_do_not_share_the_air() {
    for (standard, apart, channels) in
        [("11a", [36, 149], [36, 44]), ("11g", [1, 13], [1, 6]), ("11b", [1, 13], [1, 6])]
    {
        let [alone, beside] = [apart, channels].map(|channels| total(standard, "", channels));
        assert!((beside / alone - 1.0).abs() < 0.01, "{standard}: {beside} {alone}");
    }
}

/// Channels 1 and 3 have half of their power in common. The stations are 10 m and more apart: they
/// do not defer to each other, because that is no preamble (clause 17.3.10.6), and disturb the
/// access point to which 14 dB are left.
#[test]
fn channels_with_half_of_the_band_in_common_disturb_each_other() {
    let [apart, half] = [[1, 13], [1, 3]].map(|channels| total("11g", "", channels));
    assert!(half < 0.6 * apart, "{half} {apart}");
}

/// A transmitter on the next channel, 1 m from a station whose access point is 25 m away, is 13 dB
/// stronger there after the mask's 23.5 dB than the access point.
#[test]
fn a_near_transmitter_on_the_adjacent_channel_is_heard() {
    let beside = |channel: u32| {
        let run = run(&format!(
            "standard = '11a'\nduration_s = 2\nwlan.rate_mbps = 6\nradio = {{}}\n\
             cells = [{{ position_m = [26.0, 0.0], channel = {channel} }}]\n\
             [[stations]]\nposition_m = [25.0, 0.0]\n\
             [[stations]]\ncell = 1\nposition_m = [27.0, 0.0]\n\
             [[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n\
             [[flows]]\nfrom = 'ap'\nto = 'sta1'\ntraffic = 'saturated'\n"
        ));
        number(&run, "flows[0].goodput_mbps")
    };
    let [adjacent, next] = [40, 44].map(beside);
    println!("adjacent {adjacent:.2}, the channel after it {next:.2}");
    assert!(adjacent < 0.3 * next, "{adjacent} {next}");
}

/// A cell of 20 MHz in the block of one of 80 MHz defers to its frames; the wide one defers to
/// frames in its secondary channels (clause 21.3.18.5.4) and backs off anew (clause 10.23.2.5).
#[test]
fn a_narrow_cell_shares_the_air_with_a_wide_one() {
    let text = |channel| {
        neighbours("11ac", "", [36, channel]).replace(
            "[[stations]]\nposition_m = [3.0",
            "[[stations]]\nwidth_mhz = 80\nposition_m = [3.0",
        )
    };
    let each = |channel| {
        let run = run(&text(channel));
        [0, 1].map(|flow| number(&run, &format!("flows[{flow}].goodput_mbps")))
    };
    let ([wide, narrow], [wide_apart, narrow_apart]) = (each(44), each(52));
    let sum = wide / wide_apart + narrow / narrow_apart;
    println!("wide {wide:.1} of {wide_apart:.1}, narrow {narrow:.1} of {narrow_apart:.1}");
    assert!((0.7..1.25).contains(&sum), "{sum}");
}

/// A draw of no slots would be due again at once, for ever if the window has none.
#[test]
fn a_back_off_without_slots_ends_with_the_next_slot() {
    let text = "standard = '11ax'\nduration_s = 0.1\nradio = {}\n\
                wlan = { backoff_draw = 'ns2', width_mhz = 40 }\n\
                ap.edca.best_effort.cw_min = 1\ncells = [{ channel = 44 }]\n\
                [[stations]]\nring_m = 2.0\n\
                [[stations]]\ncell = 1\nring_m = 2.0\nwidth_mhz = 20\n\
                [[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n\
                [[flows]]\nfrom = 'sta1'\nto = 'server'\ntraffic = 'saturated'\n";
    assert!(number(&run(text), "total.goodput_mbps") > 1.0);
}
