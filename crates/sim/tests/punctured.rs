//! Punctured channels of 802.11be: messages, stations of earlier standards, networks beside each
//! other.

use crate::common::{number, run};
use sim::{Run, Scenario, Value};

/// A network of 20 MHz on a channel, and a wide one on channel 36 with these settings, which begins
/// to send at an instant. Each station is 3 m from its access point, these are 10 m apart.
fn text(channel: u32, wide: &str, start_s: f64) -> String {
    format!(
        "standard = '11be'\nduration_s = 1\nwlan = {{ width_mhz = 80, mcs = 5 }}\n\
         radio = {{}}\nap.channel = {channel}\n\
         [[cells]]\nposition_m = [10.0, 0.0]\nchannel = 36\n{wide}\n\
         [[stations]]\nwidth_mhz = 20\nposition_m = [-3.0, 0.0]\n\
         [[stations]]\ncell = 1\nposition_m = [13.0, 0.0]\n\
         [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic = 'saturated'\n\
         [[flows]]\nfrom = 'sta1'\nto = 'server'\nstart_s = {start_s}\n\
         traffic = 'saturated'\n"
    )
}

/// All results of the first network: of its flow, its station and its access point.
fn of_first(run: &Run) -> Vec<(String, Value)> {
    let own = ["flows[0].", "stations[0].", "ap."];
    let is_own = |path: &str| own.iter().any(|prefix| path.starts_with(prefix));
    let all: Vec<_> = run.summary.iter().filter(|(path, _)| is_own(path)).cloned().collect();
    assert!(all.len() > 30, "{}", all.len());
    all
}

fn faults(text: &str) -> Vec<String> {
    let issues = Scenario::parse(text).unwrap().resolve().err().unwrap_or_default();
    issues.iter().map(ToString::to_string).collect()
}

/// Channels 44 and 48 are the third and the fourth of the block. The control frames on channel 36
/// have 20 MHz, and their mask ends at channel 40.
#[test]
fn what_is_punctured_is_free_to_the_bit() {
    for (channel, punctured) in [(44, 3), (48, 4)] {
        let wide = format!("punctured = [{punctured}]");
        let alone = of_first(&run(&text(channel, &wide, 0.999_999)));
        let beside = run(&text(channel, &wide, 0.0));
        assert_eq!(alone, of_first(&beside), "{channel}");
        assert!(number(&beside, "flows[1].goodput_mbps") > 100.0);
        let whole = run(&text(channel, "", 0.0));
        let [free, shared] = [&beside, &whole].map(|run| number(run, "flows[0].goodput_mbps"));
        assert!(shared < 0.8 * free, "{channel}: {shared} {free}");
    }
}

/// Next to what is punctured, a network shares the air as without it.
#[test]
fn what_is_not_punctured_is_shared() {
    let each = |wide| {
        let run = run(&text(48, wide, 0.0));
        [0, 1].map(|flow| number(&run, &format!("flows[{flow}].goodput_mbps")))
    };
    let ([narrow, wide], [narrow_before, wide_before]) = (each("punctured = [3]"), each(""));
    println!("{narrow} {wide}, whole {narrow_before} {wide_before}");
    assert!((narrow / narrow_before - 1.0).abs() < 0.35, "{narrow} {narrow_before}");
    assert!(wide < wide_before, "{wide} {wide_before}");
}

/// In a cell without a radio, channel 36 is the first; goodput follows the rate of 702 of 980
/// tones.
#[test]
fn a_cell_without_a_radio_has_the_rate_of_the_multiple_resource_unit() {
    let goodput = |ap: &str| {
        let text = format!(
            "standard = '11be'\nstations = 1\nduration_s = 1\n{ap}\n\
             wlan = {{ width_mhz = 80, mcs = 3 }}\n\
             [[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n"
        );
        number(&run(&text), "flows[0].goodput_mbps")
    };
    let ratio = goodput("ap.punctured = [2]") / goodput("");
    assert!((ratio / (702.0 / 980.0) - 1.0).abs() < 0.01, "{ratio}");
}

/// Stations of earlier standards are in the widest channel without anything punctured.
#[test]
fn earlier_standards_are_beside_what_is_punctured() {
    let rate = |punctured: &str, width: u32, group: &str| {
        let text = format!(
            "standard = '11be'\nduration_s = 0.1\nap.punctured = {punctured}\n\
             wlan = {{ width_mhz = {width}, mcs = 7 }}\n\
             [[stations]]\n[[stations]]\n{group}\n\
             [[flows]]\nfrom = 'sta1'\nto = 'ap'\ntraffic = 'saturated'\n"
        );
        number(&run(&text), "stations[1].data_rate_mbps")
    };
    // MCS 7 with one stream: 20, 40 and 80 MHz of HE; 40 MHz of VHT with 800 ns.
    let of_ax = "standard = '11ax'";
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.1, "{found}");
    near(rate("[2]", 80, of_ax), 86.0);
    near(rate("[3]", 80, of_ax), 172.1);
    near(rate("[4]", 80, "standard = '11ac'"), 135.0);
    near(rate("[8]", 160, of_ax), 360.3);
    near(rate("[3, 4]", 160, of_ax), 172.1);
    // A narrower station of 802.11be leaves out what is in its channel, if there is such a pattern.
    near(rate("[4]", 160, "width_mhz = 80"), 258.1);
    near(rate("[3, 4]", 160, "width_mhz = 80"), 172.1);
    near(rate("[8]", 160, "width_mhz = 80"), 360.3);
}

/// A cell with settings of its access point and of `wlan`.
fn cell(standard: &str, ap: &str, wlan: &str) -> String {
    format!(
        "standard = '{standard}'\nstations = 2\nduration_s = 1\n{ap}\nwlan = {{ {wlan} }}\n\
         [[flows]]\nfrom = 'sta*'\nto = 'server'\n"
    )
}

fn no_pattern(mhz: u32, there_are: &str) -> String {
    format!(
        "in {mhz} MHz no PPDU to one station has these subchannels punctured [802.11be-2024 table \
         36-30]; {there_are}"
    )
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(faults(text), [format!("ap.punctured: {expected}")], "{text}");
}

/// Station 1, on channel 40 of the same 80 MHz, receives PPDUs of access point 0 that leave out
/// channel 48, in which station 2 sends all the time: the checker sees that it is not disturbed.
#[test]
fn what_a_received_ppdu_leaves_out_does_not_disturb() {
    let text = "standard = '11be'\nduration_s = 0.1\nradio = {}\nwlan.width_mhz = 80\n\
                ap = { channel = 36, punctured = [4] }\n\
                cells = [{ channel = 40, position_m = [12.0, 0.0] }, \
                { channel = 48, position_m = [-12.0, 0.0] }]\n\
                [[stations]]\nring_m = 3.0\n\
                [[stations]]\ncell = 1\nwidth_mhz = 20\nring_m = 3.0\n\
                [[stations]]\ncell = 2\nwidth_mhz = 20\nring_m = 3.0\n\
                [[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n\
                [[flows]]\nfrom = 'sta2'\nto = 'server'\ntraffic = 'saturated'\n";
    assert!(number(&run(text), "flows[0].goodput_mbps") > 100.0);
}

#[test]
fn other_standards_and_patterns_are_refused() {
    let only = "only PPDUs of 802.11be have punctured channels; remove the key";
    for standard in ["11n", "11ac"] {
        refused(&cell(standard, "ap.punctured = [2]", "width_mhz = 40"), only);
    }
    refused(&cell("11g", "ap.punctured = [1]", ""), only);
    refused(
        &cell("11ax", "ap.punctured = [4]", "width_mhz = 80"),
        "802.11ax punctures only PPDUs to several users (HE MU); remove the key, or take standard \
         = \"11be\"",
    );
    for (width, numbers, there_are) in [
        (40, "[2]", "take width_mhz 80, 160 or 320"),
        (80, "[3, 4]", "one of 4 subchannels of 20 MHz can be"),
        (160, "[2, 3]", "one of 8 subchannels of 20 MHz can be, or one of 4 channels of 40 MHz"),
    ] {
        let text =
            cell("11be", &format!("ap.punctured = {numbers}"), &format!("width_mhz = {width}"));
        refused(&text, &no_pattern(width, there_are));
    }
    assert_eq!(faults(&cell("11be", "ap.punctured = []", "")), [""; 0]);
}

#[test]
fn the_primary_channel_is_not_punctured() {
    let at_80 = "width_mhz = 80";
    let placed = |ap: &str| {
        let text = cell("11be", ap, at_80);
        text.replace("stations = 2", "stations = { count = 2, position_m = [3.0, 0.0] }")
    };
    refused(
        &cell("11be", "ap.punctured = [5]", at_80),
        "5 is no 20 MHz subchannel of 80 MHz; there are 1, the lowest, to 4",
    );
    let primary = |nth, number| {
        format!(
            "{nth} is the primary channel, number {number}, which cannot be punctured \
             [802.11be-2024 35.15.2]; take another"
        )
    };
    refused(&cell("11be", "ap.punctured = [1]", at_80), &primary(1, 36));
    refused(&placed("ap = { channel = 48, punctured = [4] }\nradio = {}"), &primary(4, 48));
    let ad_hoc = placed("ap.punctured = [4]\nradio.ad_hoc = true");
    refused(
        &ad_hoc.replace("to = 'server'", "to = 'sta0'").replace("from = 'sta*'", "from = 'sta1'"),
        "an ad-hoc network has no access point that announces it; remove it",
    );
}
