//! Channels are frequencies: the numbers that a band has, and cells whose channels overlap.

mod common;

use common::{number, run};
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
        ("11ac", "", 42, format!("42 is no channel at 5 GHz, {AT_5}")),
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
        ("11n", "band_ghz = 2.4, width_mhz = 40", [1, 11]),
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

#[test]
fn cells_whose_channels_overlap_but_differ_are_refused() {
    let text = neighbours("11ac", "wlan.width_mhz = 80", [36, 44]);
    assert_eq!(
        faults(&text),
        ["cells[0].channel: 44 with 5170 to 5250 MHz and ap.channel = 36 with 5170 to 5250 MHz \
          overlap, which is not modelled; take equal channels, or channels apart"]
    );
    let shared = number(&run(&text.replace("= 44", "= 36")), "total.goodput_mbps");
    let apart = number(&run(&text.replace("= 44", "= 52")), "total.goodput_mbps");
    assert!(apart > 1.9 * shared, "{apart} {shared}");
}
