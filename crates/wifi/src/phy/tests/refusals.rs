//! Modes that do not exist, and their error messages.

use super::*;

fn refusal(vector: TxVector) -> (&'static str, String) {
    let fault = vector.mode().expect_err("refused");
    (fault.parameter, fault.said.to_string())
}

#[test]
fn the_mcs_that_vht_leaves_out() {
    let mut missing = Vec::new();
    let mut modes = 0;
    for width in [20, 40, 80, 160] {
        for streams in 1..=8 {
            for mcs in 0..=9 {
                match vector(ModeClass::Vht, mcs, streams, width, 800).mode() {
                    Ok(_) => modes += 1,
                    Err(fault) => {
                        assert_eq!(fault.parameter, "mcs");
                        missing.push((width, mcs, streams));
                    }
                }
            }
        }
    }
    let at_20 = [1, 2, 4, 5, 7, 8].map(|streams| (20, 9, streams));
    let wider = [(80, 6, 3), (80, 9, 6), (80, 6, 7), (160, 9, 3)];
    assert_eq!(missing, [&at_20[..], &wider[..]].concat());
    assert_eq!(modes, 320 - 10);
}

#[test]
fn all_of_ht_and_he_exists() {
    let count = |class, streams, mcs, widths: &[u32], guards: &[u64]| {
        let mut modes = 0;
        for streams in 1..=streams {
            for mcs in 0..=mcs {
                for &width in widths {
                    for &guard in guards {
                        modes +=
                            u32::from(vector(class, mcs, streams, width, guard).mode().is_ok());
                    }
                }
            }
        }
        modes
    };
    assert_eq!(count(ModeClass::Ht, 4, 7, &[20, 40], &[800, 400]), 128);
    assert_eq!(count(ModeClass::He, 8, 11, &[20, 40, 80, 160], &[800, 1600, 3200]), 1152);
}

#[test]
fn messages_say_value_rule_and_remedy() {
    let vht = TxVector::of(ModeClass::Vht, Band::Ghz5);
    assert_eq!(
        TxVector { mcs: 9, ..vht }.mode().unwrap_err().to_string(),
        "mcs: 9 does not exist at 20 MHz with 1 stream [802.11-2020 21.5]; the highest is 8"
    );
    let (parameter, message) = refusal(vector(ModeClass::Vht, 6, 3, 80, 400));
    assert_eq!(parameter, "mcs");
    assert!(message.ends_with("with 3 streams [802.11-2020 21.5]; take 5 or 7"), "{message}");
    let ht = TxVector::of(ModeClass::Ht, Band::Ghz5);
    let he = TxVector::of(ModeClass::He, Band::Ghz5);
    let cases = [
        (TxVector { streams: 5, ..ht }, "streams", "from 1 to 4 in HT, is 5"),
        (TxVector { streams: 0, ..he }, "streams", "from 1 to 8 in HE, is 0"),
        (TxVector { mcs: 8, ..ht }, "mcs", "from 0 to 7 in HT, is 8"),
        (TxVector { mcs: 10, ..vht }, "mcs", "from 0 to 9 in VHT, is 10"),
        (TxVector { mcs: 12, ..he }, "mcs", "from 0 to 11 in HE, is 12"),
        (TxVector { width: Width::Mhz80, ..ht }, "width_mhz", "20 or 40 MHz wide, not 80"),
        (TxVector { width: Width::Mhz22, ..he }, "width_mhz", "20, 40, 80 or 160 MHz wide, not 22"),
        (TxVector { guard: Guard::Ns1600, ..vht }, "guard_ns", "800 or 400 ns, not 1600"),
        (TxVector { guard: Guard::Ns400, ..he }, "guard_ns", "800, 1600 or 3200 ns, not 400"),
        (TxVector { band: Band::Ghz2_4, ..vht }, "band_ghz", "5 GHz band"),
        (
            TxVector { band: Band::Ghz2_4, width: Width::Mhz80, ..he },
            "width_mhz",
            "no more than 40 MHz",
        ),
        (TxVector { ltf: Some(HeLtf::X2), ..vht }, "ltf", "802.11ax and be only"),
        (TxVector { packet_extension_us: 8, ..ht }, "packet_extension_us", "802.11ax and be only"),
        (TxVector { extended_range: true, ..vht }, "extended_range", "802.11ax only"),
        (TxVector { packet_extension_us: 6, ..he }, "packet_extension_us", "4, 8, 12 or 16, not 6"),
        (TxVector::of(ModeClass::Ofdm, Band::Ghz5), "class", "no MCS"),
    ];
    for (vector, parameter, part) in cases {
        let (found, message) = refusal(vector);
        assert_eq!(found, parameter, "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn he_ltf_types_have_their_guard_intervals() {
    let he = TxVector::of(ModeClass::He, Band::Ghz5);
    let mut allowed = Vec::new();
    for ltf in [HeLtf::X1, HeLtf::X2, HeLtf::X4] {
        for guard in [Guard::Ns800, Guard::Ns1600, Guard::Ns3200] {
            if (TxVector { ltf: Some(ltf), guard, ..he }).mode().is_ok() {
                allowed.push((ltf, guard.ns()));
            }
        }
    }
    let expected = [
        (HeLtf::X1, 800),
        (HeLtf::X2, 800),
        (HeLtf::X2, 1600),
        (HeLtf::X4, 800),
        (HeLtf::X4, 3200),
    ];
    assert_eq!(allowed, expected);
    let (_, message) = refusal(TxVector { ltf: Some(HeLtf::X1), guard: Guard::Ns1600, ..he });
    assert!(message.starts_with("1x does not go with a guard interval of 1600 ns"), "{message}");
}

#[test]
fn bcc_ends_where_he_needs_ldpc() {
    let he = TxVector { coding: Some(Coding::Bcc), ..TxVector::of(ModeClass::He, Band::Ghz5) };
    for vector in [
        TxVector { mcs: 10, ..he },
        TxVector { streams: 5, ..he },
        TxVector { width: Width::Mhz40, ..he },
    ] {
        assert_eq!(refusal(vector).0, "coding");
    }
    assert!(TxVector { mcs: 9, streams: 4, ..he }.mode().is_ok());
}

#[test]
fn extended_range_is_narrow_and_slow() {
    let er = TxVector { extended_range: true, ..TxVector::of(ModeClass::He, Band::Ghz5) };
    assert!(TxVector { mcs: 2, ..er }.mode().is_ok());
    assert_eq!(refusal(TxVector { mcs: 3, ..er }).0, "mcs");
    assert_eq!(refusal(TxVector { streams: 2, ..er }).0, "streams");
    assert_eq!(refusal(TxVector { width: Width::Mhz40, ..er }).0, "width_mhz");
}
