//! Queries and what is answered.

use super::*;

fn query(standard: &str, psdu_bytes: u64) -> AirtimeQuery {
    AirtimeQuery { standard: standard.into(), psdu_bytes, ..AirtimeQuery::default() }
}

fn total_us(query: &AirtimeQuery) -> f64 {
    airtime(query).unwrap().last().unwrap().1
}

/// The only fault of a query.
fn fault(query: &AirtimeQuery) -> (String, String) {
    let mut issues = airtime(query).expect_err("refused");
    assert_eq!(issues.len(), 1, "{issues:?}");
    let Issue { path, message } = issues.remove(0);
    (path, message)
}

#[test]
fn gives_each_part() {
    let parts = airtime(&query("11g", 1536)).unwrap();
    let expected = [16.0, 4.0, 228.0, 6.0, 254.0];
    assert_eq!(parts.iter().map(|part| part.1).collect::<Vec<_>>(), expected);
}

#[test]
fn names_every_fault() {
    let issues = airtime(&query("11x", 0)).unwrap_err();
    assert_eq!(issues.len(), 2);
    let slow = AirtimeQuery { rate_mbps: Some(54.0), ..query("11b", 100) };
    let (path, message) = fault(&slow);
    assert_eq!(path, "rate_mbps");
    assert!(message.contains("1, 2, 5.5, 11"));
    assert!(airtime(&AirtimeQuery { rate_mbps: Some(f64::NAN), ..query("11b", 100) }).is_err());
    let several = AirtimeQuery {
        guard_ns: Some(500),
        width_mhz: Some(30),
        ltf: Some("3x".into()),
        coding: Some("turbo".into()),
        ..query("11ax", 0)
    };
    let several = AirtimeQuery { timing: Some("ns2".into()), ..several };
    let paths: Vec<String> =
        airtime(&several).unwrap_err().into_iter().map(|issue| issue.path).collect();
    assert_eq!(paths, ["width_mhz", "guard_ns", "coding", "ltf", "timing", "psdu_bytes"]);
}

#[test]
fn an_mcs_with_all_its_parts() {
    let he = AirtimeQuery {
        mcs: Some(4),
        packet_extension_us: Some(16),
        band_ghz: Some(2.4),
        ..query("11ax", 1536)
    };
    let expected = [
        ("preamble_us", 16.0),
        ("header_us", 27.2),
        ("payload_us", 244.8),
        ("packet_extension_us", 16.0),
        ("signal_extension_us", 6.0),
        ("total_us", 310.0),
    ];
    assert_eq!(airtime(&he).unwrap(), expected);
    let ns3 = AirtimeQuery { timing: Some("ns3".into()), ..he };
    assert_eq!(total_us(&ns3), 36.0 + 8.0 + 244.8 + 6.0);
}

#[test]
fn the_default_is_the_highest_mcs_of_one_narrow_stream() {
    // 12310 bits: 48 symbols of 260, 40 of 312; LDPC without tail: 7 of 1950 in 12304.
    assert_eq!(total_us(&query("11n", 1536)), 36.0 + 4.0 * 48.0);
    assert_eq!(total_us(&query("11ac", 1536)), 40.0 + 4.0 * 40.0);
    assert!((total_us(&query("11ax", 1536)) - (43.2 + 13.6 * 7.0)).abs() < 1e-9);
    let short = AirtimeQuery { guard_ns: Some(400), ..query("11ac", 1536) };
    assert_eq!(total_us(&short), 40.0 + 144.0);
}

#[test]
fn an_mcs_of_11n_may_imply_its_streams() {
    let mcs15 = AirtimeQuery { mcs: Some(15), ..query("11n", 4000) };
    let two = AirtimeQuery { mcs: Some(7), streams: Some(2), ..query("11n", 4000) };
    assert_eq!(total_us(&mcs15), total_us(&two));
    assert_eq!(total_us(&AirtimeQuery { streams: Some(2), ..mcs15.clone() }), total_us(&two));
    let (path, message) = fault(&AirtimeQuery { streams: Some(3), ..mcs15.clone() });
    assert_eq!(path, "mcs");
    assert!(message.starts_with("15 has 2 streams in 802.11n"), "{message}");
    let (path, message) = fault(&AirtimeQuery { mcs: Some(32), ..mcs15 });
    assert_eq!(path, "mcs");
    assert!(message.contains("from 0 to 31"), "{message}");
}

#[test]
fn control_frames_of_later_standards_have_a_rate() {
    let ack = AirtimeQuery { rate_mbps: Some(24.0), ..query("11ac", 14) };
    assert_eq!(total_us(&ack), 28.0);
    let at_2_4 = AirtimeQuery { rate_mbps: Some(24.0), band_ghz: Some(2.4), ..query("11n", 32) };
    assert_eq!(total_us(&at_2_4), 38.0);
    let (path, message) = fault(&AirtimeQuery { mcs: Some(3), ..ack });
    assert_eq!(path, "mcs");
    assert!(message.contains("rate_mbps"), "{message}");
}

#[test]
fn what_a_standard_does_not_have() {
    let (path, message) = fault(&AirtimeQuery { mcs: Some(3), ..query("11g", 100) });
    assert_eq!(path, "mcs");
    assert_eq!(message, "802.11g has none; take 11n, 11ac or 11ax");
    let (path, message) = fault(&AirtimeQuery { band_ghz: Some(2.4), ..query("11ac", 100) });
    assert_eq!(path, "band_ghz");
    assert_eq!(message, "802.11ac is of the 5 GHz band; leave it out");
    let (path, _) = fault(&AirtimeQuery { band_ghz: Some(6.0), ..query("11ax", 100) });
    assert_eq!(path, "band_ghz");
    let (path, message) = fault(&AirtimeQuery { mcs: Some(9), ..query("11ac", 100) });
    assert_eq!(path, "mcs");
    assert!(message.ends_with("the highest is 8"), "{message}");
    let (path, message) = fault(&AirtimeQuery { mcs: Some(300), ..query("11ac", 100) });
    assert_eq!(path, "mcs");
    assert!(message.ends_with("is 300"), "{message}");
    let extended = |us| AirtimeQuery { packet_extension_us: Some(us), ..query("11ax", 100) };
    for us in [5, 1000] {
        let (path, message) = fault(&extended(us));
        assert_eq!(path, "packet_extension_us");
        assert!(message.contains(&us.to_string()), "{message}");
    }
    let (path, message) = fault(&AirtimeQuery { streams: Some(0), ..query("11ac", 100) });
    assert_eq!(path, "streams");
    assert!(message.contains("from 1 to 8"), "{message}");
    let (path, _) = fault(&AirtimeQuery { short_preamble: true, ..query("11n", 100) });
    assert_eq!(path, "short_preamble");
    let (path, message) = fault(&query("11a", 4096));
    assert_eq!(path, "psdu_bytes");
    assert_eq!(message, "must be from 1 to 4095, is 4096");
}

#[test]
fn an_ampdu_has_delimiters_and_padding() {
    // Three MPDUs of 1538 bytes: 2 · 1544 + 1542 = 4630 bytes, 37 062 bits, 119 symbols of 312.
    let three = AirtimeQuery { mpdus: Some(3), ..query("11ac", 1538) };
    assert_eq!(total_us(&three), 40.0 + 4.0 * 119.0);
    assert_eq!(total_us(&three), total_us(&query("11ac", 4630)));
    let one = AirtimeQuery { mpdus: Some(1), ..query("11n", 1534) };
    assert_eq!(total_us(&one), total_us(&query("11n", 1538)));
}

#[test]
fn an_ampdu_has_limits() {
    let slow =
        AirtimeQuery { mcs: Some(0), mpdus: Some(4), guard_ns: Some(400), ..query("11ac", 1528) };
    let (path, message) = fault(&slow);
    assert_eq!(path, "mpdus");
    assert!(message.ends_with("more than aPPDUMaxTime, 5484 us; at most 3"), "{message}");
    assert!(airtime(&AirtimeQuery { mpdus: Some(3), ..slow.clone() }).is_ok());
    let (path, message) = fault(&AirtimeQuery { mpdus: Some(65), ..slow.clone() });
    assert_eq!(path, "mpdus");
    assert!(message.contains("from 1 to 64"), "{message}");
    let (path, _) = fault(&AirtimeQuery { mpdus: Some(0), ..slow.clone() });
    assert_eq!(path, "mpdus");
    let (path, message) = fault(&AirtimeQuery { psdu_bytes: 11_455, ..slow.clone() });
    assert_eq!(path, "psdu_bytes");
    assert!(message.contains("11454"), "{message}");
    let (path, message) = fault(&AirtimeQuery { mpdus: None, psdu_bytes: 10_000, ..slow });
    assert_eq!(path, "psdu_bytes");
    let room: u64 = message.rsplit(' ').next().unwrap().parse().unwrap();
    let most = AirtimeQuery { mcs: Some(0), guard_ns: Some(400), ..query("11ac", room) };
    assert!(airtime(&most).is_ok());
    assert!(airtime(&AirtimeQuery { psdu_bytes: room + 1, ..most }).is_err());
    let many = AirtimeQuery { mpdus: Some(64), streams: Some(4), ..query("11n", 1538) };
    let (path, message) = fault(&many);
    assert_eq!(path, "mpdus");
    assert!(message.ends_with("more than the 65535 of 802.11n; at most 42"), "{message}");
}
