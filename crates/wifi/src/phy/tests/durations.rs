//! PPDU durations against the formulas of the standard, with tables of bits per symbol, and against
//! known values of ns-3.

use super::*;
use kernel::{Bytes, Duration};

/// `N_DBPS` of one stream of HT or VHT by MCS at 20, 40, 80 and 160 MHz.
const BITS: [[u64; 4]; 10] = [
    [26, 54, 117, 234],
    [52, 108, 234, 468],
    [78, 162, 351, 702],
    [104, 216, 468, 936],
    [156, 324, 702, 1404],
    [208, 432, 936, 1872],
    [234, 486, 1053, 2106],
    [260, 540, 1170, 2340],
    [312, 648, 1404, 2808],
    [0, 720, 1560, 3120],
];

/// Three times `N_DBPS` of one HE stream by MCS at 20, 40, 80 and 160 MHz, before rounding down.
const HE_BITS_3: [[u64; 4]; 12] = [
    [351, 702, 1470, 2940],
    [702, 1404, 2940, 5880],
    [1053, 2106, 4410, 8820],
    [1404, 2808, 5880, 11_760],
    [2106, 4212, 8820, 17_640],
    [2808, 5616, 11_760, 23_520],
    [3159, 6318, 13_230, 26_460],
    [3510, 7020, 14_700, 29_400],
    [4212, 8424, 17_640, 35_280],
    [4680, 9360, 19_600, 39_200],
    [5265, 10_530, 22_050, 44_100],
    [5850, 11_700, 24_500, 49_000],
];

const WIDTHS: [u32; 4] = [20, 40, 80, 160];
const TRAINING: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];
const SIZES: [u64; 8] = [14, 32, 76, 160, 1536, 3839, 20_000, 65_535];

fn total(vector: &TxVector, psdu: u64) -> Duration {
    airtime(&vector.mode().unwrap(), Preamble::Long, Bytes(psdu)).total()
}

fn check(vector: &TxVector, psdu: u64, expected_ns: u64) {
    let total = total(vector, psdu);
    assert_eq!(total, Duration(expected_ns), "{psdu} B, {vector:?}");
}

/// Tail bits of HT: a second encoder above 300 Mb/s (tables 19-27 to 19-41).
fn ht_tail(mbps: f64) -> u64 {
    if mbps > 300.0 { 12 } else { 6 }
}

/// Encoders of VHT: one for each 540 Mb/s of the rate with 800 ns, except where tables 21-29 to
/// 21-60 have more.
fn vht_encoders(width: u32, streams: u8, mcs: u8, bits: u64) -> u64 {
    match (width, streams, mcs) {
        (80, 7, 2) => 3,
        (80, 7, 7 | 8) | (80, 8, 7) | (160, 4, 7) | (160, 7, 4) => 6,
        (160, 5, 8) | (160, 6, 7) => 8,
        (160, 7, 3) => 4,
        (160, 7, 5) => 7,
        (160, 7, 7) => 9,
        (160, 7, 8 | 9) => 12,
        _ => bits.div_ceil(4 * 540),
    }
}

#[test]
fn ht_mixed() {
    let mut cases = 0;
    for (mcs, row) in (0..8).zip(BITS) {
        for (width, one) in [20, 40].into_iter().zip(row) {
            for streams in 1..=4 {
                let bits = one * u64::from(streams);
                let tail = ht_tail(bits as f64 / 4.0);
                let header_us = 32 + 4 * TRAINING[usize::from(streams) - 1];
                for psdu in SIZES {
                    let symbols = (16 + 8 * psdu + tail).div_ceil(bits);
                    let long = vector(ModeClass::Ht, mcs, streams, width, 800);
                    check(&long, psdu, 1000 * (header_us + 4 * symbols));
                    let short = TxVector { guard: Guard::Ns400, ..long };
                    let rounded = (3600 * symbols).div_ceil(4000);
                    check(&short, psdu, 1000 * (header_us + 4 * rounded));
                    let ns3 = TxVector { timing: PpduTiming::Ns3, ..short };
                    check(&ns3, psdu, 1000 * header_us + 3600 * symbols);
                    let at_2_4 = TxVector { band: Band::Ghz2_4, ..short };
                    check(&at_2_4, psdu, 1000 * (header_us + 4 * rounded + 6));
                    cases += 4;
                }
            }
        }
    }
    assert_eq!(cases, 8 * 2 * 4 * 8 * 4);
}

#[test]
fn vht() {
    let mut cases = 0;
    for (mcs, row) in (0..).zip(BITS) {
        for (width, one) in WIDTHS.into_iter().zip(row) {
            for streams in 1..=8 {
                let long = vector(ModeClass::Vht, mcs, streams, width, 800);
                if long.mode().is_err() {
                    continue;
                }
                // MCS 9 at 20 MHz: 346 2/3 bits in each stream.
                let bits =
                    if one == 0 { 1040 * u64::from(streams) / 3 } else { one * u64::from(streams) };
                let tail = 6 * vht_encoders(width, streams, mcs, bits);
                let header_us = 36 + 4 * TRAINING[usize::from(streams) - 1];
                for psdu in SIZES {
                    let symbols = (16 + 8 * psdu + tail).div_ceil(bits);
                    check(&long, psdu, 1000 * (header_us + 4 * symbols));
                    let short = TxVector { guard: Guard::Ns400, ..long };
                    let rounded = (3600 * symbols).div_ceil(4000);
                    check(&short, psdu, 1000 * (header_us + 4 * rounded));
                    let ns3 = TxVector { timing: PpduTiming::Ns3, ..short };
                    check(&ns3, psdu, 1000 * (header_us - 4) + 3600 * symbols);
                    cases += 3;
                }
            }
        }
    }
    assert_eq!(cases, 310 * 8 * 3);
}

#[test]
fn he_su() {
    let mut cases = 0;
    for (mcs, row) in (0..).zip(HE_BITS_3) {
        for (width, three) in WIDTHS.into_iter().zip(row) {
            for streams in 1..=8 {
                let bits = three * u64::from(streams) / 3;
                let bcc = width == 20 && streams <= 4 && mcs <= 9;
                let training = TRAINING[usize::from(streams) - 1];
                for (guard, ltf_ns) in [(800, 7200), (1600, 8000), (3200, 16_000)] {
                    let he = vector(ModeClass::He, mcs, streams, width, guard);
                    for psdu in SIZES {
                        let thirds = three * u64::from(streams);
                        let symbols = (3 * (16 + 8 * psdu + 6)).div_ceil(thirds);
                        let ns3 = TxVector { timing: PpduTiming::Ns3, ..he };
                        let expected = 36_000 + 8000 * training + (12_800 + guard) * symbols;
                        check(&ns3, psdu, expected);
                        cases += 1;
                        // Short PSDUs may need an extra LDPC symbol, which the tests of LDPC cover.
                        if !bcc && psdu < 20_000 {
                            continue;
                        }
                        let tail = if bcc { 6 } else { 0 };
                        let symbols = (16 + 8 * psdu + tail).div_ceil(bits);
                        let expected = 36_000 + ltf_ns * training + (12_800 + guard) * symbols;
                        check(&he, psdu, expected);
                        cases += 1;
                    }
                }
            }
        }
    }
    assert!(cases > 12 * 4 * 8 * 3 * 8, "{cases}");
}

#[test]
fn he_training_extension_and_range() {
    // 1536 B at MCS 4, 20 MHz, 800 ns: (16 + 12288 + 6) / 702 = 17.5, 18 symbols, 244.8 µs.
    let he = vector(ModeClass::He, 4, 1, 20, 800);
    check(&he, 1536, 36_000 + 7200 + 244_800);
    check(&TxVector { ltf: Some(HeLtf::X1), ..he }, 1536, 36_000 + 4000 + 244_800);
    check(&TxVector { ltf: Some(HeLtf::X4), ..he }, 1536, 36_000 + 13_600 + 244_800);
    for us in [0, 4, 8, 12, 16] {
        let extended = TxVector { packet_extension_us: us, ..he };
        check(&extended, 1536, 36_000 + 7200 + 244_800 + 1000 * u64::from(us));
        let ns3 = TxVector { timing: PpduTiming::Ns3, ..extended };
        check(&ns3, 1536, 36_000 + 8000 + 244_800);
    }
    let both = TxVector { band: Band::Ghz2_4, packet_extension_us: 16, ..he };
    check(&both, 1536, 36_000 + 7200 + 244_800 + 16_000 + 6000);
    let parts = airtime(&both.mode().unwrap(), Preamble::Long, Bytes(1536));
    assert_eq!(parts.preamble, Duration(16_000));
    assert_eq!(parts.header, Duration(20_000 + 7200));
    assert_eq!(parts.payload, Duration(244_800));
    assert_eq!(parts.extension, Duration(22_000));
    // MCS 0 of extended range: HE-SIG-A is twice as long. 12310 / 117 = 105.2, 106 symbols.
    let er = TxVector { mcs: 0, extended_range: true, ..he };
    check(&er, 1536, 44_000 + 7200 + 106 * 13_600);
}

#[test]
fn ldpc_has_no_tail_and_at_times_one_symbol_more() {
    let ldpc = |class, mcs, guard, psdu| {
        let bcc = vector(class, mcs, 1, 20, guard);
        let ldpc = TxVector { coding: Some(Coding::Ldpc), ..bcc };
        (total(&ldpc, psdu).0 / 1000, total(&bcc, psdu).0 / 1000)
    };
    // HT MCS 7: 16 + 8·1525 = 12216 bits leave 4 bits of 47 symbols of 260; with a tail there are
    // 48 symbols.
    assert_eq!(ldpc(ModeClass::Ht, 7, 800, 1525), (36 + 188, 36 + 192));
    // 158 B at MCS 7 in one codeword: the pad bits of VHT leave too few bits for shortening.
    assert_eq!(ldpc(ModeClass::Ht, 7, 800, 158), (36 + 20, 36 + 20));
    assert_eq!(ldpc(ModeClass::Vht, 7, 800, 158), (40 + 24, 40 + 20));
    assert_eq!(ldpc(ModeClass::Ht, 7, 800, 1536), (36 + 192, 36 + 192));
    // The variant of ns-3 omits what ns-3 does not model.
    let ns3 = TxVector {
        coding: Some(Coding::Ldpc),
        timing: PpduTiming::Ns3,
        ..vector(ModeClass::Ht, 7, 1, 20, 800)
    };
    check(&ns3, 158, 56_000);
}

/// Symbols of LDPC-coded PPDUs, most of them with the extra symbol.
const LDPC: &str = include_str!("ldpc_symbols.csv");

#[test]
fn symbols_of_ldpc() {
    let mut cases = 0;
    for line in LDPC.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |field: usize| fields[field].parse::<u32>().unwrap();
        let class = class(fields[0]);
        let bcc = vector(class, number(1) as u8, number(2) as u8, number(3), 800);
        let ldpc = TxVector { coding: Some(Coding::Ldpc), ..bcc };
        let parts = airtime(&ldpc.mode().unwrap(), Preamble::Long, Bytes(number(4).into()));
        let symbol_ns = if class == ModeClass::He { 13_600 } else { 4000 };
        assert_eq!(parts.payload, Duration(symbol_ns * u64::from(number(5))), "{line}");
        cases += 1;
    }
    assert_eq!(cases, 72);
}

fn class(name: &str) -> ModeClass {
    match name {
        "ht" => ModeClass::Ht,
        "vht" => ModeClass::Vht,
        "he" => ModeClass::He,
        other => panic!("{other}"),
    }
}

/// Durations in the test suite of ns-3, 5 GHz, one stream: class, MCS, width in MHz, guard interval
/// in ns, and µs of 1536, 76 and 14 bytes.
const NS3: &str = include_str!("ns3_durations.csv");

#[test]
fn known_values_of_ns3() {
    let mut cases = 0;
    for line in NS3.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |field: usize| fields[field].parse::<f64>().unwrap();
        let class = class(fields[0]);
        let standard = vector(class, number(1) as u8, 1, number(2) as u32, number(3) as u64);
        let ns3 = TxVector { timing: PpduTiming::Ns3, ..standard };
        for (psdu, field) in [(1536, 4), (76, 5), (14, 6)] {
            check(&ns3, psdu, (number(field) * 1000.0).round() as u64);
            cases += 1;
        }
    }
    assert_eq!(cases, 3 * (5 + 10 + 24));
}

#[test]
fn the_longest_psdu_fits_and_a_longer_one_does_not() {
    for class in [ModeClass::Ht, ModeClass::Vht, ModeClass::He] {
        for (mcs, streams, width, guard) in [(0, 1, 20, 800), (5, 2, 40, 800), (7, 4, 40, 400)] {
            let guard = if class == ModeClass::He { 800 } else { guard };
            let base = vector(class, mcs, streams, width, guard);
            for vector in [base, TxVector { coding: Some(Coding::Ldpc), ..base }] {
                let mode = vector.mode().unwrap();
                for limit in [100, 500, 2528, 5484, 9000].map(Duration::from_micros) {
                    let psdu = psdu_within(&mode, Preamble::Long, limit).unwrap();
                    let ends = |psdu| airtime(&mode, Preamble::Long, psdu).total();
                    assert!(ends(psdu) <= limit.min(LONGEST_PPDU), "{vector:?}");
                    let more = ends(psdu + Bytes(1)) > limit.min(LONGEST_PPDU);
                    assert!(more || psdu == longest_psdu(class), "{vector:?} {psdu}");
                }
            }
        }
    }
    let cck = DOT11B.fastest();
    // After 192 µs of preamble, 1000 µs are left: 1375 bytes.
    let within = |us| psdu_within(&cck, Preamble::Long, Duration::from_micros(us));
    assert_eq!(within(1192), Some(Bytes(1375)));
    assert_eq!(within(191), None);
    assert_eq!(within(1_000_000), Some(Bytes(4095)));
    let slow = DOT11A.modes[0];
    assert_eq!(psdu_within(&slow, Preamble::Long, Duration::from_micros(2072)), Some(Bytes(1536)));
}

#[test]
fn subframes_in_the_longest_ppdu() {
    // A-MPDU subframes of 1532 B (4 + 26 + 1498 + 4) in 5.484 ms, one stream of 20 MHz with a short
    // guard interval: 3 at MCS 0, 28 at MCS 6, more than 32 from MCS 7 on.
    let count = |mcs| {
        let mode = vector(ModeClass::Vht, mcs, 1, 20, 400).mode().unwrap();
        psdu_within(&mode, Preamble::Long, LONGEST_PPDU).unwrap().0 / 1532
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(count), [3, 6, 9, 12, 19, 25, 28]);
    assert!(count(7) >= 32 && count(8) >= 32);
}
