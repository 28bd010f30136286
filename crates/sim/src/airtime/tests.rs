//! Tests of queries and their answers.

use super::*;

pub(super) fn told(options: &str) -> Result<Json, Vec<Issue>> {
    answer(&Node::from_toml(&options.replace("; ", "\n")).unwrap())
}

fn ask(options: &str) -> Result<Vec<(String, f64)>, Vec<Issue>> {
    let parts = |told: Json| {
        let parts = told.as_object().unwrap().iter();
        parts.map(|(part, us)| (part.clone(), us.as_f64().unwrap())).collect()
    };
    told(options).map(parts)
}

fn total_us(options: &str) -> f64 {
    ask(options).unwrap().last().unwrap().1
}

fn named(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
    expected.iter().map(|(part, us)| ((*part).to_owned(), *us)).collect()
}

/// The only fault of a query.
pub(super) fn fault(options: &str) -> (String, String) {
    let mut issues = ask(options).expect_err("refused");
    assert_eq!(issues.len(), 1, "{issues:?}");
    let issue = issues.remove(0);
    (issue.path.clone(), issue.said.to_string())
}

/// The paths of all faults.
fn faults(options: &str) -> Vec<String> {
    ask(options).unwrap_err().into_iter().map(|issue| issue.path).collect()
}

/// 702 tones of 80 MHz: `ceil((16 + 8·65535) / 7020)` symbols of 13.6 us behind 51.2 us.
#[test]
fn leaves_out_punctured_channels() {
    let of_80 = |more: &str| {
        format!("standard = '11be'; psdu_bytes = 65535; width_mhz = 80; mcs = 13; {more}")
    };
    let us = 51.2 + 75.0 * 13.6;
    assert!((total_us(&of_80("punctured = [3]")) - us).abs() < 1e-9);
    assert!(total_us(&of_80("punctured = []")) < us);
    let (path, said) = fault(&of_80("punctured = [5]"));
    assert_eq!(path, "punctured");
    assert_eq!(said, "5 is no 20 MHz subchannel of 80 MHz; there are 1, the lowest, to 4");
    assert!(fault(&of_80("punctured = [1, 2]")).1.contains("one of 4 subchannels of 20 MHz"));
    let only = "only PPDUs of 802.11be have punctured channels; remove the key";
    let of_g = "standard = '11g'; psdu_bytes = 100; punctured = [1]";
    assert_eq!(fault(of_g), ("punctured".to_owned(), only.to_owned()));
}

#[test]
fn gives_each_part() {
    let parts = ask("standard = '11g'; psdu_bytes = 1536").unwrap();
    let expected = [16.0, 4.0, 228.0, 6.0, 254.0];
    assert_eq!(parts.iter().map(|part| part.1).collect::<Vec<_>>(), expected);
}

#[test]
fn names_every_fault() {
    assert_eq!(faults("standard = '11x'; psdu_bytes = 0"), ["standard", "psdu_bytes"]);
    assert_eq!(faults(""), ["standard", "psdu_bytes"]);
    let (path, message) = fault("standard = '11b'; psdu_bytes = 100; rate_mbps = 54.0");
    assert_eq!(path, "rate_mbps");
    assert!(message.contains("1, 2, 5.5, 11"));
    assert!(ask("standard = '11b'; psdu_bytes = 100; rate_mbps = nan").is_err());
    let several = "standard = '11ax'; psdu_bytes = 0; width_mhz = 30; guard_ns = 500; \
                   coding = 'turbo'; ltf = '3x'; timing = 'ns2'";
    let expected = ["width_mhz", "guard_ns", "coding", "ltf", "timing", "psdu_bytes"];
    assert_eq!(faults(several), expected);
}

#[test]
fn the_schema_knows_every_option() {
    let schema: serde_json::Value = serde_json::from_str(&airtime_schema()).unwrap();
    let keys = schema["properties"].as_object().unwrap();
    assert!(keys.keys().eq(Query::keys().iter()));
    assert_eq!(keys["guard_ns"]["enum"], serde_json::json!([400, 800, 1600, 3200]));
    assert_eq!(schema["required"], serde_json::json!(["standard"]));
}

#[test]
fn an_mcs_with_all_its_parts() {
    let he = "standard = '11ax'; psdu_bytes = 1536; mcs = 4; packet_extension_us = 16; \
              band_ghz = 2.4";
    let expected = [
        ("preamble_us", 16.0),
        ("header_us", 27.2),
        ("payload_us", 244.8),
        ("packet_extension_us", 16.0),
        ("signal_extension_us", 6.0),
        ("total_us", 310.0),
    ];
    assert_eq!(ask(he).unwrap(), named(&expected));
    assert_eq!(total_us(&format!("{he}; timing = 'ns3'")), 36.0 + 8.0 + 244.8 + 6.0);
}

#[test]
fn the_default_is_the_highest_mcs_of_one_narrow_stream() {
    // 12310 bits: 48 symbols of 260, 40 of 312; LDPC without tail: 7 of 1950 in 12304.
    let of = |options: &str| total_us(&format!("{options}; psdu_bytes = 1536"));
    assert_eq!(of("standard = '11n'"), 36.0 + 4.0 * 48.0);
    assert_eq!(of("standard = '11ac'"), 40.0 + 4.0 * 40.0);
    assert!((of("standard = '11ax'") - (43.2 + 13.6 * 7.0)).abs() < 1e-9);
    assert_eq!(of("standard = '11ac'; guard_ns = 400"), 40.0 + 144.0);
}

#[test]
fn a_ppdu_of_11be_has_320_mhz_at_6_ghz() {
    let eht = "standard = '11be'; psdu_bytes = 1536; width_mhz = 320; packet_extension_us = 20";
    let (path, message) = fault(eht);
    assert_eq!(path, "width_mhz");
    assert!(message.contains("in the 6 GHz band only"), "{message}");
    let parts = ask(&format!("{eht}; band_ghz = 6")).unwrap();
    let expected = [
        ("preamble_us", 16.0),
        ("header_us", 35.2),
        ("payload_us", 13.6),
        ("packet_extension_us", 20.0),
        ("signal_extension_us", 0.0),
        ("total_us", 84.8),
    ];
    assert_eq!(parts, named(&expected));
    let (path, message) = fault("standard = '11n'; psdu_bytes = 100; band_ghz = 6");
    assert_eq!(path, "band_ghz");
    assert!(message.contains("802.11n is at 5 and 2.4 GHz only"), "{message}");
}

#[test]
fn an_mcs_of_11n_may_imply_its_streams() {
    let with = |keys: &str| format!("standard = '11n'; psdu_bytes = 4000; {keys}");
    let two = total_us(&with("mcs = 7; streams = 2"));
    assert_eq!(total_us(&with("mcs = 15")), two);
    assert_eq!(total_us(&with("mcs = 15; streams = 2")), two);
    let (path, message) = fault(&with("mcs = 15; streams = 3"));
    assert_eq!(path, "mcs");
    assert!(message.starts_with("15 has 2 streams in 802.11n"), "{message}");
    let (path, message) = fault(&with("mcs = 32"));
    assert_eq!(path, "mcs");
    assert!(message.contains("from 0 to 31"), "{message}");
}

#[test]
fn control_frames_of_later_standards_have_a_rate() {
    let ack = "standard = '11ac'; psdu_bytes = 14; rate_mbps = 24.0";
    assert_eq!(total_us(ack), 28.0);
    let at_2_4 = "standard = '11n'; psdu_bytes = 32; rate_mbps = 24.0; band_ghz = 2.4";
    assert_eq!(total_us(at_2_4), 38.0);
    let (path, message) = fault(&format!("{ack}; mcs = 3"));
    assert_eq!(path, "mcs");
    assert!(message.contains("a rate"), "{message}");
}

#[test]
fn what_a_standard_does_not_have() {
    let of = |standard: &str, keys: &str| {
        fault(&format!("standard = '{standard}'; psdu_bytes = 100; {keys}"))
    };
    let (path, message) = of("11g", "mcs = 3");
    assert_eq!(path, "mcs");
    assert_eq!(message, "802.11g has none; take 11n, 11ac, 11ax or 11be");
    let (path, message) = of("11ac", "band_ghz = 2.4");
    assert_eq!(path, "band_ghz");
    assert_eq!(message, "802.11ac is at 5 GHz only; remove the key");
    let (path, _) = of("11ax", "band_ghz = 7.0");
    assert_eq!(path, "band_ghz");
    let (path, message) = of("11ac", "mcs = 9");
    assert_eq!(path, "mcs");
    assert!(message.ends_with("the highest is 8"), "{message}");
    let (path, message) = of("11ac", "mcs = 300");
    assert_eq!(path, "mcs");
    assert!(message.ends_with("is 300"), "{message}");
    for us in ["5", "1000"] {
        let (path, message) = of("11ax", &format!("packet_extension_us = {us}"));
        assert_eq!(path, "packet_extension_us");
        assert!(message.contains(us), "{message}");
    }
    let (path, message) = of("11ac", "streams = 0");
    assert_eq!(path, "streams");
    assert!(message.contains("from 1 to 8"), "{message}");
    let (path, _) = of("11n", "short_preamble = true");
    assert_eq!(path, "short_preamble");
    let (path, message) = fault("standard = '11a'; psdu_bytes = 4096");
    assert_eq!(path, "psdu_bytes");
    assert_eq!(message, "must be from 1 to 4095, is 4096");
}

#[test]
fn an_ampdu_has_delimiters_and_padding() {
    // Three MPDUs of 1538 bytes: 2 · 1544 + 1542 = 4630 bytes, 37 062 bits, 119 symbols of 312.
    let three = total_us("standard = '11ac'; psdu_bytes = 1538; mpdus = 3");
    assert_eq!(three, 40.0 + 4.0 * 119.0);
    assert_eq!(three, total_us("standard = '11ac'; psdu_bytes = 4630"));
    let one = total_us("standard = '11n'; psdu_bytes = 1534; mpdus = 1");
    assert_eq!(one, total_us("standard = '11n'; psdu_bytes = 1538"));
}

#[test]
fn an_ampdu_has_limits() {
    let slow = |keys: &str| format!("standard = '11ac'; mcs = 0; guard_ns = 400; {keys}");
    let of = |mpdus: u64| slow(&format!("psdu_bytes = 1528; mpdus = {mpdus}"));
    let (path, message) = fault(&of(4));
    assert_eq!(path, "mpdus");
    assert!(message.ends_with("more than aPPDUMaxTime, 5484 us; at most 3"), "{message}");
    assert!(ask(&of(3)).is_ok());
    let (path, message) = fault(&of(65));
    assert_eq!(path, "mpdus");
    assert!(message.contains("from 1 to 64"), "{message}");
    let (path, _) = fault(&of(0));
    assert_eq!(path, "mpdus");
    let (path, message) = fault(&slow("psdu_bytes = 11455; mpdus = 4"));
    assert_eq!(path, "psdu_bytes");
    assert!(message.contains("11454"), "{message}");
    let (path, message) = fault(&slow("psdu_bytes = 10000"));
    assert_eq!(path, "psdu_bytes");
    let room: u64 = message.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(ask(&slow(&format!("psdu_bytes = {room}"))).is_ok());
    assert!(ask(&slow(&format!("psdu_bytes = {}", room + 1))).is_err());
    let (path, message) = fault("standard = '11n'; psdu_bytes = 1538; mpdus = 64; streams = 4");
    assert_eq!(path, "mpdus");
    assert!(message.ends_with("more than the 65535 of 802.11n; at most 42"), "{message}");
}
