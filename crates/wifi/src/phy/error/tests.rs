//! The ratios at which 10 % of all frames are lost, and the shape of the models around them.

use super::*;
use crate::phy::{Band, Coding, DOT11A, DOT11B, Guard, Mode, ModeClass, TxVector, Width};

fn ofdm(mbps: f64) -> Mode {
    DOT11A.mode(kernel::BitRate::from_mbps(mbps)).unwrap()
}

fn he(mcs: u8, coding: Coding) -> Mode {
    let vector = TxVector { mcs, ..TxVector::of(ModeClass::He, Band::Ghz5) };
    TxVector { coding: Some(coding), ..vector }.mode().unwrap()
}

fn assert_tenth(model: &dyn ErrorModel, mode: &Mode, psdu: u64, expected: f64, within: f64) {
    let found = required_snr(model, mode, Bytes(psdu), 0.1).0;
    assert!((found - expected).abs() <= within, "{model:?}, {mode:?}: {found}, not {expected}");
}

const RATES: [f64; 8] = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

/// Reference values of ns-3's formulas for 1536 bytes, printed to a hundredth of a decibel.
const PRINTED: f64 = 0.006;

#[test]
fn nist_by_rate_and_mcs() {
    let expected = [3.97, 6.86, 6.98, 9.87, 13.51, 16.62, 21.36, 22.63];
    for (rate, snr) in RATES.into_iter().zip(expected) {
        assert_tenth(&Nist {}, &ofdm(rate), 1536, snr, PRINTED);
    }
    for (mcs, snr) in [(7, 23.79), (8, 28.50), (9, 29.71), (10, 34.35), (11, 35.60)] {
        assert_tenth(&Nist {}, &he(mcs, Coding::Ldpc), 1536, snr, PRINTED);
    }
}

#[test]
fn yans_by_rate() {
    let expected = [0.76, 3.05, 3.75, 6.63, 10.15, 13.31, 17.78, 19.26];
    for (rate, snr) in RATES.into_iter().zip(expected) {
        assert_tenth(&Yans {}, &ofdm(rate), 1536, snr, PRINTED);
    }
}

#[test]
fn dsss_and_cck_by_rate() {
    for (mode, snr) in DOT11B.modes.iter().zip([-3.02, 1.63, 6.34, 10.0]) {
        for model in [&Nist {} as &dyn ErrorModel, &Yans {}, &AwgnTable {}] {
            assert_tenth(model, mode, 1536, snr, PRINTED);
        }
    }
}

#[test]
fn yans_spreads_the_ratio_over_the_coded_bits() {
    // The same MCS in twice the bandwidth, or with the bits of two streams in one: the rate grows,
    // and so does the ratio that it needs, unless the bandwidth grows with it.
    let vht = TxVector { mcs: 4, ..TxVector::of(ModeClass::Vht, Band::Ghz5) };
    let snr =
        |vector: TxVector| required_snr(&Yans {}, &vector.mode().unwrap(), Bytes(1536), 0.1).0;
    let narrow = snr(vht);
    let wide = snr(TxVector { width: Width::Mhz40, ..vht });
    // The ratio of 54 to 2·26 data subcarriers.
    assert!((wide - narrow - 10.0 * libm::log10(54.0 / 52.0)).abs() < 1e-3);
    let short = snr(TxVector { guard: Guard::Ns400, ..vht });
    assert!((short - narrow - 10.0 * libm::log10(4.0 / 3.6)).abs() < 1e-3);
    let two = snr(TxVector { streams: 2, ..vht });
    assert!((two - narrow - 10.0 * libm::log10(2.0)).abs() < 1e-3);
}

/// Ratios in dB at which 10 % of packets are lost: BCC of 32 and of 1458 bytes, LDPC of 1458.
const TENTHS: [[f64; 3]; 12] = [
    [-0.36, 0.92, -0.62],
    [2.61, 3.94, 2.39],
    [5.10, 6.43, 4.86],
    [8.06, 9.70, 7.92],
    [11.28, 12.80, 10.93],
    [15.31, 17.04, 15.13],
    [16.61, 18.38, 16.48],
    [18.08, 19.63, 18.00],
    [21.73, 23.71, 21.68],
    [23.29, 25.15, 23.48],
    [f64::NAN, f64::NAN, 26.80],
    [f64::NAN, f64::NAN, 28.89],
];

#[test]
fn the_tables_hold_their_tenths() {
    for (mcs, [short, long, ldpc]) in (0..).zip(TENTHS) {
        assert_tenth(&AwgnTable {}, &he(mcs, Coding::Ldpc), 1458, ldpc, 1e-5);
        if mcs <= 9 {
            assert_tenth(&AwgnTable {}, &he(mcs, Coding::Bcc), 32, short, 1e-5);
            assert_tenth(&AwgnTable {}, &he(mcs, Coding::Bcc), 1458, long, 1e-5);
        }
    }
}

#[test]
fn the_tables_hold_their_other_points() {
    let snr = |mcs, coding, bytes, loss| {
        required_snr(&AwgnTable {}, &he(mcs, coding), Bytes(bytes), loss).0
    };
    let cases = [
        (0, Coding::Bcc, 32, -1.34, 0.47),
        (7, Coding::Bcc, 1458, 18.80, 20.50),
        (11, Coding::Ldpc, 1458, 28.43, 29.33),
    ];
    for (mcs, coding, bytes, half, hundredth) in cases {
        assert!((snr(mcs, coding, bytes, 0.5) - half).abs() < 1e-5);
        assert!((snr(mcs, coding, bytes, 0.01) - hundredth).abs() < 1e-5);
    }
    // Twice the bytes, twice the errors: 1 - (1 - 0.1)^2 of 2916 bytes are lost.
    let mode = he(5, Coding::Bcc);
    let chunk = SinrChunk { mode: &mode, sinr: Db(17.04), bits: 2 * 1458 * 8 };
    assert!((AwgnTable {}.success(&chunk) - 0.81).abs() < 1e-9);
}

#[test]
fn rates_of_802_11a_use_the_table_of_their_mcs() {
    let tenth = |mode: &Mode| required_snr(&AwgnTable {}, mode, Bytes(1458), 0.1).0;
    for (rate, mcs) in [(6.0, 0), (12.0, 1), (18.0, 2), (24.0, 3), (36.0, 4), (48.0, 5), (54.0, 6)]
    {
        assert_eq!(tenth(&ofdm(rate)), tenth(&he(mcs, Coding::Bcc)));
    }
    let yans = required_snr(&Yans {}, &ofdm(9.0), Bytes(1458), 0.1).0;
    assert_eq!(tenth(&ofdm(9.0)), yans, "9 Mb/s has no MCS");
}

#[test]
fn success_grows_with_the_ratio_and_falls_with_the_bits() {
    let modes = DOT11A.modes.iter().chain(DOT11B.modes).copied();
    let modes: Vec<Mode> = modes.chain((0..=9).map(|mcs| he(mcs, Coding::Bcc))).collect();
    for model in [&Nist {} as &dyn ErrorModel, &Yans {}, &AwgnTable {}] {
        for mode in &modes {
            let success = |tenth_db: i32, bits| {
                model.success(&SinrChunk { mode, sinr: Db(f64::from(tenth_db) / 10.0), bits })
            };
            let mut last = 0.0;
            for tenth_db in -200..600 {
                let now = success(tenth_db, 12_000);
                assert!((0.0..=1.0).contains(&now) && now >= last - 1e-12, "{model:?} {mode:?}");
                last = now;
                // At the length at which the tables meet, the shorter packet may have a higher
                // error rate.
                assert!(success(tenth_db, 24_000) <= now);
                assert_eq!(success(tenth_db, 0), 1.0);
            }
            assert!(last > 0.999_999, "{model:?} {mode:?}");
            assert!(success(-200, 12_000) < 1e-9);
        }
    }
}
