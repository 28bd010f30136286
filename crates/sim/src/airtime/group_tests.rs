//! Exchanges with groups: the durations of the standard's sequences worked out beforehand, and one
//! message for each fault.

use super::tests::{fault, told};
use settings::Json;

fn answer(options: &str) -> Json {
    told(options).unwrap_or_else(|faults| panic!("{options}: {faults:?}"))
}

fn number(answer: &Json, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} in {answer}"))
}

/// Names and durations of all parts.
fn parts(answer: &Json) -> Vec<(String, f64)> {
    let all = answer["parts"].as_array().unwrap().iter();
    all.map(|part| (part["part"].as_str().unwrap().to_owned(), number(part, "duration_us")))
        .collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6
}

/// Checks names and durations of the parts, and that they make up the total.
fn check(options: &str, expected: &[(&str, f64)]) {
    let told = answer(options);
    let found = parts(&told);
    let names = |all: &[(&str, f64)]| all.iter().map(|part| part.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(found.iter().map(|part| part.0.clone()).collect::<Vec<_>>(), names(expected));
    let mut start = 0.0;
    for (nth, (part, expected)) in found.iter().zip(expected).enumerate() {
        assert!(close(part.1, expected.1), "{options}: {part:?}, expected {expected:?}");
        assert!(close(number(&told["parts"][nth], "start_us"), start), "{part:?}");
        start += part.1;
    }
    assert!(close(number(&told, "total_us"), start));
}

const FOUR: &str = "standard = '11ax'; mcs = 7; users = [{ psdu_bytes = 3000, count = 4 }]";
const SIFS: (&str, f64) = ("SIFS", 16.0);

#[test]
fn sequences_of_acknowledgements() {
    let data = ("HE MU PPDU", 1420.8);
    let with = |ack| format!("{FOUR}; ack = '{ack}'");
    check(&with("none"), &[data]);
    let (bar, ack) = (("BlockAckReq", 32.0), ("BlockAck", 32.0));
    let mut chain = vec![data, SIFS, ack];
    for _ in 0..3 {
        chain.extend([SIFS, bar, SIFS, ack]);
    }
    check(&with("bar_chain"), &chain);
    let acks = ("HE TB PPDUs, BlockAcks", 76.8);
    let end = ("until the announced end", 3.2);
    check(&with("mu_bar"), &[data, SIFS, ("MU-BAR Trigger", 44.0), SIFS, acks, end]);
    // 41 bytes more: 24 350 bits, 240 in a symbol, take 102 symbols.
    check(&with("aggregated_mu_bar"), &[("HE MU PPDU", 1434.4), SIFS, acks, end]);
}

/// The time after the data with the three sequences, for 2, 4 and 9 stations at MCS 7 on all of 20
/// MHz, control frames at 24 and at 6 Mb/s; without the rounding of the last end.
#[test]
fn acknowledgements_of_more_stations_take_longer() {
    let after = |count: u32, ack: &str, more: &str| {
        let told = answer(&format!(
            "standard = '11ax'; mcs = 7; psdu_bytes = 1540; users = [{{ count = {count} }}]; \
             ack = '{ack}'; {more}"
        ));
        let timed = parts(&told).into_iter().skip(1);
        let all: f64 = timed.filter(|part| !part.0.starts_with("until")).map(|part| part.1).sum();
        (all * 10.0).round() / 10.0
    };
    let expected =
        [(2, [144.0, 134.4, 78.4]), (4, [336.0, 152.8, 92.8]), (9, [816.0, 197.6, 121.6])];
    for (count, times) in expected {
        let found = ["bar_chain", "mu_bar", "aggregated_mu_bar"].map(|ack| after(count, ack, ""));
        assert_eq!(found, times, "{count} stations");
    }
    let slow = [2, 4, 9].map(|count| after(count, "mu_bar", "rate_mbps = 6.0").round());
    assert_eq!(slow, [182.0, 221.0, 310.0]);
}

#[test]
fn uplink_is_triggered_and_acknowledged() {
    let up = format!("{FOUR}; direction = 'up'");
    let rest = [
        ("Basic Trigger", 40.0),
        SIFS,
        ("HE TB PPDUs, data", 1502.4),
        ("until the announced end", 1.6),
        SIFS,
        ("Multi-STA BlockAck", 48.0),
    ];
    check(&up, &rest);
    let mut polled = vec![
        ("BSRP Trigger", 40.0),
        SIFS,
        ("HE TB PPDUs, buffer reports", 76.8),
        ("until the announced end", 3.2),
        SIFS,
    ];
    polled.extend(rest);
    check(&format!("{up}; bsrp = true"), &polled);
    assert!(close(number(&answer(&format!("{up}; bsrp = true")), "total_us"), 1776.0));
    // With ns-3's rules nobody waits for the announced end.
    let ns3 = parts(&answer(&format!("{up}; timing = 'ns3'")));
    assert!(ns3.iter().all(|part| !part.0.starts_with("until")));
    assert!(close(ns3[2].1, 1502.4));
}

/// An MU-RTS at 24 Mb/s, to two stations 36 us and to four 40 us, and a CTS at 6 Mb/s: what follows
/// begins 112 or 116 us later, in both directions.
#[test]
fn an_mu_rts_and_ctss_precede_what_they_protect() {
    for (count, request) in [(2, 36.0), (4, 40.0)] {
        for direction in ["down", "up"] {
            let begin = format!(
                "standard = '11ax'; mcs = 7; psdu_bytes = 1000; direction = '{direction}'; \
                 users = [{{ count = {count} }}]"
            );
            let plain = parts(&answer(&begin));
            let protected = parts(&answer(&format!("{begin}; protection = 'mu_rts'")));
            let opening: [(&str, f64); 4] =
                [("MU-RTS Trigger", request), SIFS, ("CTSs", 44.0), SIFS];
            for (own, expected) in protected.iter().zip(opening) {
                assert!(own.0 == expected.0 && close(own.1, expected.1), "{own:?}");
            }
            assert_eq!(protected[4..], plain);
        }
    }
}

/// The rate of the Multi-STA BlockAck is that of the slowest user, in ns-3 that of the first.
#[test]
fn ns3_takes_the_rate_of_the_first_user() {
    let mixed = "standard = '11ax'; psdu_bytes = 100; direction = 'up'; \
                 users = [{ mcs = 7 }, { mcs = 0 }]";
    let rate = |options: &str| {
        let told = answer(options);
        number(told["parts"].as_array().unwrap().last().unwrap(), "rate_mbps")
    };
    assert_eq!(rate(mixed), 6.0);
    assert_eq!(rate(&format!("{mixed}; timing = 'ns3'")), 24.0);
}

/// Saturated downlink as ns-3 gives it, by its closed form: 20 MHz, MCS 7, MPDUs of 1472 bytes of
/// payload, aggregated MU-BARs, BlockAcks of 256 bits, a mean access time of 110.5 us.
#[test]
fn throughput_of_the_closed_form() {
    let of = |count: u32, mpdus: u32| {
        answer(&format!(
            "standard = '11ax'; mcs = 7; ack = 'aggregated_mu_bar'; block_ack_window = 256; \
             access_us = 110.5; timing = 'ns3'; msdu_bytes = 1508; mpdus = {mpdus}; \
             users = [{{ count = {count} }}]"
        ))
    };
    for (count, mpdus, ppdu, acks, mbps) in
        [(2, 16, 5338.4, 76.8, 68.00), (4, 7, 4971.2, 91.2, 63.55)]
    {
        let told = of(count, mpdus);
        let all = parts(&told);
        assert!(close(all[1].1, ppdu) && close(all[3].1, acks), "{all:?}");
        // The payload is 1472 of 1508 bytes: UDP, IP and LLC have 36.
        let found = number(&told, "throughput_mbps") * 1472.0 / 1508.0;
        assert!((found - mbps).abs() < 0.01, "{found}");
    }
}

#[test]
fn what_each_user_has() {
    let told = answer(
        "standard = '11ax'; width_mhz = 80; users = [{ ru = 106, mcs = 7, msdu_bytes = 1508, \
         mpdus = 8 }, { mcs = 9, streams = 2, psdu_bytes = 20000 }, { ru = 26, psdu_bytes = 100 }]",
    );
    let user = |nth: usize| &told["users"][nth];
    assert_eq!(number(user(0), "psdu_bytes"), 7.0 * 1544.0 + 1542.0);
    assert_eq!(number(user(0), "payload_bytes"), 8.0 * 1508.0);
    // The second has the widest beside the others: 484 tones, from the lowest frequency.
    assert_eq!((number(user(1), "ru"), number(user(1), "ru_index")), (484.0, 0.0));
    assert_eq!(user(1)["coding"], "ldpc");
    assert!(close(number(user(1), "rate_mbps"), 458.823_529));
    // 65 is the lower of 484 tones, in the primary 80 MHz.
    assert_eq!(number(user(1), "ru_allocation"), f64::from(65 << 1));
    // The third is between the 106 tones and the 484, in the middle of the channel. It has the
    // highest MCS in a small resource unit without 1024-QAM.
    assert_eq!(number(user(2), "mcs"), 9.0);
    assert_eq!(told["parts"][0]["ru_allocation"], settings::json!([200, 114, 96, 113]));
    let payload = 8.0 * 1508.0 + 20_000.0 + 100.0;
    assert_eq!(number(&told, "payload_bytes"), payload);
    let mbps = payload * 8.0 / number(&told, "total_us");
    assert!(close(number(&told, "throughput_mbps"), mbps));
    for nth in 0..3 {
        let idle = number(user(nth), "idle_us");
        let (all, own) = (number(&told["parts"][0], "symbols"), number(user(nth), "symbols"));
        assert!(close(idle, 13.6 * (all - own)), "user {nth}");
    }
}

#[test]
fn options_of_the_exchange() {
    let of = |more: &str| parts(&answer(&format!("{FOUR}; {more}")));
    // Padding of 24 bytes at 24 Mb/s is two symbols.
    assert!(close(of("trigger_padding_us = 8")[2].1, 44.0 + 8.0));
    assert!(close(of("trigger_padding_us = 16")[2].1, 44.0 + 16.0));
    assert!(close(of("nominal_padding_us = 16")[0].1, 1420.8 + 4.0));
    // HE-SIG-B has 18 and 2 times 52 bits: five symbols of 26, or one of 208.
    assert!(close(of("sig_b_mcs = 0")[0].1, 1420.8 + 4.0 * 4.0));
    // BlockAcks of 60 bytes: 502 of 192 bits; and of 36 bytes, 310 of 24 bits, at MCS 0.
    assert!(close(of("block_ack_window = 256")[4].1, 48.0 + 3.0 * 14.4));
    assert!(close(of("response_mcs = 0")[4].1, 48.0 + 13.0 * 14.4));
    assert!(close(of("guard_ns = 3200")[4].1, 56.0 + 2.0 * 16.0));
    assert_eq!(of("access_us = 110.5")[0], ("access".to_owned(), 110.5));
    // At 2.4 GHz, SIFS is 10 us and PPDUs have a signal extension.
    let slow = of("band_ghz = 2.4");
    assert!(close(slow[0].1, 1426.8) && close(slow[1].1, 10.0) && close(slow[2].1, 50.0));
}

/// Users without a size have the widest that all can have: 242 of 80 MHz without 20 for two or
/// three of them.
#[test]
fn leaves_out_punctured_channels() {
    let of = |keys: &str| {
        let keys = format!("standard = '11ax'; mcs = 5; psdu_bytes = 1500; width_mhz = 80; {keys}");
        let told = told(&keys).unwrap();
        let tones = told["users"].as_array().unwrap().iter();
        tones.map(|user| user["ru"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of("users = [{ count = 2 }]"), [484, 484]);
    assert_eq!(of("punctured = [2]; users = [{ count = 2 }]"), [242, 242]);
    assert_eq!(of("punctured = [2]; users = [{ count = 3 }]"), [242; 3]);
    assert_eq!(of("punctured = [2]; users = [{ ru = 484 }, {}]"), [484, 242]);
}

#[test]
fn one_message_for_each_fault() {
    let group = |keys: &str| format!("standard = '11ax'; psdu_bytes = 1500; {keys}");
    let two = "users = [{ mcs = 3 }, { mcs = 3 }]";
    let cases = [
        ("standard = '11ac'; psdu_bytes = 1500; users = [{}]", "standard", "are of 802.11ax"),
        ("standard = '11g'; psdu_bytes = 1500; users = [{}]", "standard", "not of 11g; take 11ax"),
        ("standard = '11be'; psdu_bytes = 1500; users = [{}]", "standard", "for 11ax only"),
        ("standard = '11ax'; users = [{ mcs = 3 }]", "users[0].psdu_bytes", "missing; as 1536"),
    ];
    for (options, path, words) in cases {
        let (found, message) = fault(options);
        assert_eq!(found, path, "{message}");
        assert!(message.contains(words), "{message}");
    }
    let cases = [
        ("users = []", "users", "give one at least"),
        ("users = [{ count = 10 }]", "users", "10 are more than the 9 resource units of 20 MHz"),
        ("users = [{ count = 74 }, {}]", "users", "at most 74, one on each 26 tones, not 75"),
        ("users = [{ ru = 106, count = 3 }]", "users[0].ru", "no room for 106 tones"),
        ("users = [{ ru = 242 }, { ru = 26 }]", "users[1].ru", "no room for 26 tones"),
        ("users = [{ ru = 484 }]", "users[0].ru", "484 tones are wider than a channel of 20 MHz"),
        ("users = [{ ru = 80 }]", "users[0].ru", "996 or 1992, not 80"),
        ("users = [{ ru = 52, mcs = 10 }]", "users[0].mcs", "1024-QAM below 242 tones"),
        ("mcs = 11; users = [{ ru = 26 }]", "mcs", "1024-QAM below 242 tones"),
        ("users = [{ mcs = 12 }]", "users[0].mcs", "0 to 11"),
        ("coding = 'bcc'; users = [{ streams = 5 }]", "coding", "4 streams and MCS 9"),
        ("width_mhz = 40; users = [{ coding = 'bcc', mcs = 3 }]", "users[0].coding", "242 tones"),
        ("users = [{ mpdus = 257, mcs = 0 }]", "users[0].mpdus", "from 1 to 256"),
        ("mpdus = 8; users = [{ ru = 26, mcs = 0 }]", "psdu_bytes", "5484 us; at most"),
        ("users = [{ mcs = 0, mpdus = 9 }]", "users[0].mpdus", "5484 us; at most 3"),
        ("users = [{ msdu_bytes = 11425 }]", "users[0].msdu_bytes", "from 1 to 11424"),
        ("users = [{ psdu_bytes = 10, msdu_bytes = 10 }]", "users[0].msdu_bytes", "remove one"),
        ("guard_ns = 800; direction = 'up'; users = [{}]", "guard_ns", "HE TB PPDUs have 2x"),
        ("ltf = '1x'; users = [{}]", "ltf", "HE MU PPDUs have 2x with 800"),
        ("width_mhz = 80; band_ghz = 2.4; users = [{}]", "width_mhz", "2.4 GHz band"),
        ("width_mhz = 320; users = [{}]", "width_mhz", "160 MHz wide, not 320"),
        ("width_mhz = 80; punctured = [5]; users = [{}]", "punctured", "there are 1, the lowest"),
        ("width_mhz = 80; punctured = [1, 2]; users = [{}]", "punctured", "one of 4 subchannels"),
        (
            "width_mhz = 80; punctured = [1]; users = [{ ru = 996 }]",
            "users[0].ru",
            "wider than what is not punctured of 80 MHz",
        ),
        ("direction = 'up'; ack = 'mu_bar'; users = [{}]", "ack", "the direction down"),
        ("direction = 'up'; sig_b_mcs = 2; users = [{}]", "sig_b_mcs", "the direction down"),
        ("bsrp = true; users = [{}]", "bsrp", "the direction up"),
        (
            "direction = 'up'; bsrp = true; protection = 'mu_rts'; users = [{}]",
            "protection",
            "a BSRP goes without",
        ),
        ("packet_extension_us = 8; users = [{}]", "packet_extension_us", "without users"),
        ("extended_range = true; users = [{}]", "extended_range", "without users"),
        ("rate_mbps = 7.0; users = [{}]", "rate_mbps", "7 is not a rate"),
        ("ack = 'mu_bar'", "ack", "add users"),
        ("nominal_padding_us = 16", "nominal_padding_us", "add users"),
        ("nominal_padding_us = 20; users = [{}]", "nominal_padding_us", "0, 8 or 16, not 20"),
    ];
    for (keys, path, words) in cases {
        let (found, message) = fault(&group(keys));
        assert_eq!(found, path, "{keys}: {message}");
        assert!(message.contains(words), "{keys}: {message}");
    }
    assert!(told(&group(two)).is_ok());
}

/// The number in the message is the greatest that is accepted.
#[test]
fn what_is_too_long_is_told_exactly() {
    let last = |message: String| message.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    for (keys, from) in [
        ("users = [{ mcs = 4, count = 2, psdu_bytes = NUMBER }]", 40_000),
        ("users = [{ mcs = 4, count = 2, psdu_bytes = 1500, mpdus = NUMBER }]", 100),
        (
            "ack = 'aggregated_mu_bar'; users = [{ mcs = 4, psdu_bytes = 1500, mpdus = NUMBER }]",
            200,
        ),
        ("direction = 'up'; users = [{ mcs = 0, ru = 26, msdu_bytes = NUMBER }]", 5000),
    ] {
        let with = |number: u64| {
            format!("standard = '11ax'; {}", keys.replace("NUMBER", &number.to_string()))
        };
        let most = last(fault(&with(from)).1);
        assert!(told(&with(most)).is_ok(), "{keys}: {most}");
        assert!(told(&with(most + 1)).is_err(), "{keys}: {most}");
    }
}
