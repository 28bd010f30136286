//! Data rates as printed in the standard's tables.

use super::*;

/// Mb/s of one stream at 20, 40, 80 and 160 MHz by MCS, each with 800 and 400 ns (tables 19-27,
/// 19-31, 21-29, 21-37, 21-45, 21-53); 0 if the MCS does not exist.
const HT_AND_VHT: [[(f64, f64); 4]; 10] = [
    [(6.5, 7.2), (13.5, 15.0), (29.3, 32.5), (58.5, 65.0)],
    [(13.0, 14.4), (27.0, 30.0), (58.5, 65.0), (117.0, 130.0)],
    [(19.5, 21.7), (40.5, 45.0), (87.8, 97.5), (175.5, 195.0)],
    [(26.0, 28.9), (54.0, 60.0), (117.0, 130.0), (234.0, 260.0)],
    [(39.0, 43.3), (81.0, 90.0), (175.5, 195.0), (351.0, 390.0)],
    [(52.0, 57.8), (108.0, 120.0), (234.0, 260.0), (468.0, 520.0)],
    [(58.5, 65.0), (121.5, 135.0), (263.3, 292.5), (526.5, 585.0)],
    [(65.0, 72.2), (135.0, 150.0), (292.5, 325.0), (585.0, 650.0)],
    [(78.0, 86.7), (162.0, 180.0), (351.0, 390.0), (702.0, 780.0)],
    [(0.0, 0.0), (180.0, 200.0), (390.0, 433.3), (780.0, 866.7)],
];

/// Mb/s of one HE stream by MCS at 20, 40, 80 and 160 MHz, each with 800, 1600 and 3200 ns (tables
/// of 802.11ax-2021 clause 27.5 for 242, 484, 996 and 2x996 tones).
const HE: [[[f64; 3]; 4]; 12] = [
    [[8.6, 8.1, 7.3], [17.2, 16.3, 14.6], [36.0, 34.0, 30.6], [72.1, 68.1, 61.3]],
    [[17.2, 16.3, 14.6], [34.4, 32.5, 29.3], [72.1, 68.1, 61.3], [144.1, 136.1, 122.5]],
    [[25.8, 24.4, 21.9], [51.6, 48.8, 43.9], [108.1, 102.1, 91.9], [216.2, 204.2, 183.8]],
    [[34.4, 32.5, 29.3], [68.8, 65.0, 58.5], [144.1, 136.1, 122.5], [288.2, 272.2, 245.0]],
    [[51.6, 48.8, 43.9], [103.2, 97.5, 87.8], [216.2, 204.2, 183.8], [432.4, 408.3, 367.5]],
    [[68.8, 65.0, 58.5], [137.6, 130.0, 117.0], [288.2, 272.2, 245.0], [576.5, 544.4, 490.0]],
    [[77.4, 73.1, 65.8], [154.9, 146.3, 131.6], [324.3, 306.3, 275.6], [648.5, 612.5, 551.3]],
    [[86.0, 81.3, 73.1], [172.1, 162.5, 146.3], [360.3, 340.3, 306.3], [720.6, 680.6, 612.5]],
    [[103.2, 97.5, 87.8], [206.5, 195.0, 175.5], [432.4, 408.3, 367.5], [864.7, 816.7, 735.0]],
    [[114.7, 108.3, 97.5], [229.4, 216.7, 195.0], [480.4, 453.7, 408.3], [960.8, 907.4, 816.7]],
    [[129.0, 121.9, 109.7], [258.1, 243.8, 219.4], [540.4, 510.4, 459.4], [1080.9, 1020.8, 918.8]],
    [[143.4, 135.4, 121.9], [286.8, 270.8, 243.8], [600.5, 567.1, 510.4], [1201.0, 1134.3, 1020.8]],
];

const WIDTHS: [u32; 4] = [20, 40, 80, 160];

fn mbps(vector: &TxVector) -> f64 {
    vector.mode().unwrap_or_else(|fault| panic!("{vector:?}: {fault}")).rate.as_mbps()
}

/// Equal to a number printed with one decimal.
fn assert_printed(vector: &TxVector, printed: f64) {
    let rate = mbps(vector);
    assert!((rate - printed).abs() <= 0.050_001, "{vector:?}: {rate} is not {printed}");
}

#[test]
fn one_stream_of_ht_and_vht() {
    for (mcs, row) in (0..).zip(HT_AND_VHT) {
        for (width, (long, short)) in WIDTHS.into_iter().zip(row) {
            for (guard, printed) in [(800, long), (400, short)] {
                let vht = vector(ModeClass::Vht, mcs, 1, width, guard);
                if printed == 0.0 {
                    assert!(vht.mode().is_err());
                    continue;
                }
                assert_printed(&vht, printed);
                if mcs <= 7 && width <= 40 {
                    assert_printed(&TxVector { class: ModeClass::Ht, ..vht }, printed);
                }
            }
        }
    }
}

#[test]
fn one_stream_of_he() {
    for (mcs, row) in (0..).zip(HE) {
        for (width, rates) in WIDTHS.into_iter().zip(row) {
            for (guard, printed) in [800, 1600, 3200].into_iter().zip(rates) {
                assert_printed(&vector(ModeClass::He, mcs, 1, width, guard), printed);
            }
        }
    }
}

#[test]
fn several_streams() {
    use ModeClass::{He, Ht, Vht};
    let printed = [
        (Ht, 7, 2, 20, 800, 130.0),
        (Ht, 7, 2, 40, 400, 300.0),
        (Ht, 0, 4, 40, 800, 54.0),
        (Ht, 7, 3, 40, 400, 450.0),
        (Ht, 7, 4, 40, 800, 540.0),
        (Ht, 7, 4, 40, 400, 600.0),
        (Vht, 9, 3, 20, 400, 288.9),
        (Vht, 9, 6, 20, 800, 520.0),
        (Vht, 8, 2, 20, 400, 173.3),
        (Vht, 9, 2, 80, 400, 866.7),
        (Vht, 9, 3, 80, 800, 1170.0),
        (Vht, 9, 3, 80, 400, 1300.0),
        (Vht, 9, 4, 160, 400, 3466.7),
        (Vht, 9, 8, 160, 800, 6240.0),
        (Vht, 9, 8, 160, 400, 6933.3),
        (He, 11, 2, 20, 800, 286.8),
        (He, 11, 2, 80, 800, 1201.0),
        (He, 9, 3, 80, 800, 1441.2),
        (He, 11, 4, 160, 800, 4803.9),
        (He, 11, 8, 160, 800, 9607.8),
        (He, 11, 8, 160, 3200, 8166.7),
    ];
    for (class, mcs, streams, width, guard, mbps) in printed {
        assert_printed(&vector(class, mcs, streams, width, guard), mbps);
    }
}

#[test]
fn rates_are_to_the_nearest_bit() {
    let rate = |class, mcs, guard| vector(class, mcs, 1, 20, guard).mode().unwrap().rate.0;
    assert_eq!(rate(ModeClass::Ht, 7, 400), 72_222_222);
    assert_eq!(rate(ModeClass::Vht, 8, 400), 86_666_667);
    assert_eq!(rate(ModeClass::He, 11, 800), 143_382_353);
}

#[test]
fn modes_know_their_modulation() {
    use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
    let modulation = |class, mcs| {
        let mode = vector(class, mcs, 1, 40, 800).mode().unwrap();
        (mode.modulation, mode.code_rate)
    };
    assert_eq!(modulation(ModeClass::Ht, 0), (Modulation::Bpsk, Half));
    assert_eq!(modulation(ModeClass::Ht, 5), (Modulation::Qam64, TwoThirds));
    assert_eq!(modulation(ModeClass::Vht, 9), (Modulation::Qam256, FiveSixths));
    assert_eq!(modulation(ModeClass::He, 10), (Modulation::Qam1024, ThreeQuarters));
}

#[test]
fn the_fastest_mcs_is_found_above_a_missing_one() {
    let fastest =
        |class, streams, width| vector(class, 0, streams, width, 800).fastest().unwrap().mcs;
    assert_eq!(fastest(ModeClass::Ht, 2, 40), 7);
    assert_eq!(fastest(ModeClass::Vht, 1, 20), 8);
    assert_eq!(fastest(ModeClass::Vht, 3, 20), 9);
    assert_eq!(fastest(ModeClass::Vht, 3, 80), 9);
    assert_eq!(fastest(ModeClass::He, 1, 160), 11);
    assert!(vector(ModeClass::Ht, 0, 1, 80, 800).fastest().is_err());
}
