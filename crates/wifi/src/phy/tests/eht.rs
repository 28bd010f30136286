//! Modes and durations of EHT PPDUs to a single user, by the formulas of 802.11be-2024 clause 36.
//!
//! `TXTIME = 16 + L-SIG 4 + RL-SIG 4 + U-SIG 8 + 4 N_EHT-SIG + EHT-STF 4 + N_LTF (T_LTF + T_GI) +
//! N_SYM (12.8 + T_GI) + T_PE`, with `N_EHT-SIG = 2`, since 52 bits to one user are two symbols of
//! 26 (clause 36.3.12.8), `N_SYM = ceil((16 + 8 PSDU + tail) / N_DBPS)`, and `N_DBPS = floor(N_SD
//! N_SS bits R)` (clauses 36.3.13 and 36.4.3).

use super::*;
use crate::phy::ldpc::Padding;
use kernel::{Bytes, Duration};

/// `N_SD` at 20, 40, 80, 160 and 320 MHz: resource units of 242 to 4x996 tones.
const TONES: [(Width, u64); 5] = [
    (Width::Mhz20, 234),
    (Width::Mhz40, 468),
    (Width::Mhz80, 980),
    (Width::Mhz160, 1960),
    (Width::Mhz320, 3920),
];

/// Twelve times bits on a subcarrier by code rate, by MCS.
const TWELFTHS: [u64; 14] = [6, 12, 18, 24, 36, 48, 54, 60, 72, 80, 90, 100, 108, 120];

const TRAINING: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

fn eht(mcs: u8, streams: u8, width: Width) -> TxVector {
    TxVector { mcs, streams, width, ..TxVector::of(ModeClass::Eht, Band::Ghz6) }
}

fn total_ns(vector: &TxVector, psdu: u64) -> u64 {
    airtime(&vector.mode().unwrap(), Preamble::Long, Bytes(psdu)).total().0
}

#[test]
fn durations_follow_the_formula() {
    let mut cases = 0;
    for (mcs, twelfths) in (0..).zip(TWELFTHS) {
        for (width, tones) in TONES {
            for streams in 1..=8 {
                let bits = tones * u64::from(streams) * twelfths / 12;
                let bcc = width == Width::Mhz20 && streams <= 4 && mcs <= 9;
                let training = TRAINING[usize::from(streams) - 1];
                for (guard, ltf_ns) in
                    [(Guard::Ns800, 7200), (Guard::Ns1600, 8000), (Guard::Ns3200, 16_000)]
                {
                    let vector = TxVector { guard, ..eht(mcs, streams, width) };
                    // Short PSDUs may need an extra LDPC symbol, which the tests of LDPC cover.
                    for psdu in [14u64, 1536, 20_000, 65_535, 1_000_000] {
                        if !bcc && psdu < 20_000 {
                            continue;
                        }
                        let tail = if bcc { 6 } else { 0 };
                        let symbols = (16 + 8 * psdu + tail).div_ceil(bits);
                        let preamble = 16_000 + 4000 + 4000 + 8000 + 2 * 4000 + 4000;
                        let data = symbols * (12_800 + guard.ns());
                        let expected = preamble + ltf_ns * training + data;
                        assert_eq!(total_ns(&vector, psdu), expected, "{psdu} B, {vector:?}");
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, (14 * 5 * 8 * 3 - 120) * 3 + 120 * 5);
}

/// By hand, in nanoseconds: a preamble of 51.2 us and symbols of 13.6 us.
#[test]
fn durations_worked_by_hand() {
    const SYMBOL: u64 = 13_600;
    // (16 + 12288 + 6) / 117 = 105.2.
    let narrow = eht(0, 1, Width::Mhz20);
    assert_eq!(total_ns(&narrow, 1536), 51_200 + 106 * SYMBOL);
    // 12304 bits are a part of the 39200 of one symbol.
    assert_eq!(total_ns(&eht(13, 1, Width::Mhz320), 1536), 51_200 + SYMBOL);
    // Four EHT-LTFs for four streams: 4.8 million bits in symbols of 141120.
    let four = eht(12, 4, Width::Mhz320);
    assert_eq!(total_ns(&four, 600_000), 44_000 + 4 * 7200 + 35 * SYMBOL);
    let padded = TxVector { packet_extension_us: 20, ..narrow };
    assert_eq!(total_ns(&padded, 1536), 51_200 + 106 * SYMBOL + 20_000);
    let long = TxVector { ltf: Some(HeLtf::X4), ..narrow };
    assert_eq!(total_ns(&long, 1536), 44_000 + 13_600 + 106 * SYMBOL);
    let at_2_4 = TxVector { band: Band::Ghz2_4, ..narrow };
    assert_eq!(total_ns(&at_2_4, 1536), 51_200 + 106 * SYMBOL + 6000);
}

/// MCS 0 and one stream in the unit test of ns-3, whose EHT-SIG grows with the bandwidth.
#[test]
fn known_values_of_ns3() {
    let expected = [
        [1493.6, 133.6, 79.2],
        [772.8, 92.8, 65.6],
        [409.6, 83.2, 69.6],
        [232.8, 69.6, 69.6],
        [159.2, 77.6, 77.6],
    ];
    for ((width, _), row) in TONES.into_iter().zip(expected) {
        let ns3 = TxVector { timing: PpduTiming::Ns3, ..eht(0, 1, width) };
        for (psdu, us) in [1536, 76, 14].into_iter().zip(row) {
            assert_eq!(total_ns(&ns3, psdu) as f64 / 1e3, us, "{psdu} B, {width:?}");
        }
    }
}

#[test]
fn rates_as_printed() {
    // MCS 0, 11, 12 and 13 with 800 ns (tables of clause 36.5).
    let expected = [
        [8.6, 143.4, 154.9, 172.1],
        [17.2, 286.8, 309.7, 344.1],
        [36.0, 600.5, 648.5, 720.6],
        [72.1, 1201.0, 1297.1, 1441.2],
        [144.1, 2402.0, 2594.1, 2882.4],
    ];
    for ((width, _), row) in TONES.into_iter().zip(expected) {
        for (mcs, printed) in [0, 11, 12, 13].into_iter().zip(row) {
            let rate = eht(mcs, 1, width).mode().unwrap().rate.as_mbps();
            assert!((rate - printed).abs() <= 0.050_001, "{width:?} {mcs}: {rate}");
        }
    }
    let fastest = eht(0, 2, Width::Mhz320).fastest().unwrap();
    assert_eq!((fastest.mcs, fastest.modulation), (13, Modulation::Qam4096));
    assert!((fastest.rate.as_mbps() - 5764.7).abs() < 0.05);
}

/// Multiple resource units: width, a pattern, `N_SD`, `N_SD,short` (the sums of those of their
/// resource units, clauses 36.3.2.3 and 36.3.13.3), and rates of MCS 0, 7, 11 and 13.
const MULTIPLE: [(Width, u16, u64, u64, [f64; 4]); 7] = [
    // 484+242.
    (Width::Mhz80, 0b0010, 702, 180, [25.8, 258.1, 430.1, 516.2]),
    // 996+484, and 996+484+242.
    (Width::Mhz160, 0x30, 1448, 360, [53.2, 532.4, 887.3, 1064.7]),
    (Width::Mhz160, 0x80, 1682, 420, [61.8, 618.4, 1030.6, 1236.8]),
    // 2x996+484, with the lowest 80 MHz punctured, and with the highest.
    (Width::Mhz320, 0x0c0f, 2428, 612, [89.3, 892.6, 1487.7, 1785.3]),
    (Width::Mhz320, 0xf030, 2428, 612, [89.3, 892.6, 1487.7, 1785.3]),
    // 3x996, and 3x996+484.
    (Width::Mhz320, 0x00f0, 2940, 732, [108.1, 1080.9, 1801.5, 2161.8]),
    (Width::Mhz320, 0x3000, 3408, 852, [125.3, 1252.9, 2088.2, 2505.9]),
];

fn punctured(mcs: u8, width: Width, bits: u16) -> TxVector {
    TxVector { punctured: Punctured::of_bits(bits), ..eht(mcs, 1, width) }
}

#[test]
fn punctured_channels_have_the_rates_of_multiple_resource_units() {
    for (width, bits, tones, _, rates) in MULTIPLE {
        for (mcs, printed) in [0, 7, 11, 13].into_iter().zip(rates) {
            let mode = punctured(mcs, width, bits).mode().unwrap();
            let rate = mode.rate.as_mbps();
            assert!((rate - printed).abs() <= 0.050_001, "{width:?} {bits:x} {mcs}: {rate}");
            let per_symbol = tones * TWELFTHS[usize::from(mcs)] / 12;
            assert_eq!(u64::from(mode.bits_per_symbol), per_symbol);
        }
        let left = width.mhz() - 20 * bits.count_ones();
        let mode = punctured(0, width, bits).mode().unwrap();
        assert_eq!(mode.occupied().mhz(), left);
    }
}

/// The preamble is that of the whole channel: 52 bits of EHT-SIG at any bandwidth.
#[test]
fn durations_in_punctured_channels_follow_the_formula() {
    for (width, bits, tones, quarter, _) in MULTIPLE {
        for (mcs, twelfths) in (0..).zip(TWELFTHS) {
            let vector = punctured(mcs, width, bits);
            let per_symbol = tones * twelfths / 12;
            for psdu in [20_000u64, 65_535, 1_000_000] {
                let symbols = (16 + 8 * psdu).div_ceil(per_symbol);
                assert_eq!(total_ns(&vector, psdu), 51_200 + symbols * 13_600, "{vector:?}");
            }
            // Quarters of the last symbol (clause 27.3.12.5).
            let quarters = Padding::Quarter {
                data_bits: (quarter * twelfths / 12) as u32,
                coded_bits: quarter as u32 * vector.mode().unwrap().modulation.bits(),
            };
            let padding = ModeClass::Eht.high().unwrap().padding;
            assert_eq!(padding(&vector.mode().unwrap()), quarters, "{vector:?}");
        }
    }
}

#[test]
fn patterns_that_the_standard_lacks_are_refused() {
    let he = TxVector { class: ModeClass::He, ..punctured(0, Width::Mhz80, 0b0010) };
    let vht = TxVector { class: ModeClass::Vht, band: Band::Ghz5, ..he };
    let cases = [
        (punctured(0, Width::Mhz40, 0b10), "take width_mhz 80, 160 or 320"),
        (punctured(0, Width::Mhz80, 0b11), "one of 4 subchannels of 20 MHz can be"),
        (punctured(0, Width::Mhz160, 0b110), "or one of 4 channels of 40 MHz"),
        (punctured(0, Width::Mhz320, 0b1), "one of 8 channels of 40 MHz can be"),
        (he, "802.11ax punctures only PPDUs to several users"),
        (vht, "only PPDUs of 802.11be have punctured channels"),
    ];
    for (vector, message) in cases {
        let fault = vector.mode().unwrap_err();
        assert_eq!(fault.parameter, "punctured");
        assert!(fault.to_string().contains(message), "{fault}");
    }
}

#[test]
fn what_eht_does_not_have_is_refused() {
    let wide = eht(0, 1, Width::Mhz320);
    let cases = [
        (TxVector { band: Band::Ghz5, ..wide }, "width_mhz", "in the 6 GHz band only"),
        (TxVector { mcs: 14, ..wide }, "mcs", "from 0 to 13 in EHT"),
        (TxVector { streams: 9, ..wide }, "streams", "from 1 to 8 in EHT"),
        (TxVector { guard: Guard::Ns400, ..wide }, "guard_ns", "EHT has 800, 1600 or 3200 ns"),
        (TxVector { ltf: Some(HeLtf::X1), ..wide }, "ltf", "1x does not go with"),
        (TxVector { extended_range: true, ..wide }, "extended_range", "of 802.11ax only"),
        (TxVector { packet_extension_us: 6, ..wide }, "packet_extension_us", "16 or 20, not 6"),
        (TxVector { coding: Some(Coding::Bcc), ..wide }, "coding", "bcc goes up to 20 MHz"),
        (TxVector { class: ModeClass::He, ..wide }, "width_mhz", "HE is 20, 40, 80 or 160 MHz"),
    ];
    for (vector, parameter, message) in cases {
        let fault = vector.mode().unwrap_err();
        assert_eq!(fault.parameter, parameter);
        assert!(fault.to_string().contains(message), "{fault}");
    }
}

#[test]
fn the_longest_a_mpdu_lasts_as_long_as_the_longest_ppdu() {
    let mode = eht(13, 2, Width::Mhz320).mode().unwrap();
    let psdu = psdu_within(&mode, Preamble::Long, LONGEST_PPDU).unwrap();
    let lasts = airtime(&mode, Preamble::Long, psdu).total();
    assert!(lasts <= LONGEST_PPDU && lasts + Duration(13_600) > LONGEST_PPDU);
    assert!(psdu > longest_psdu(ModeClass::Vht) && psdu < longest_psdu(ModeClass::Eht));
}
