//! Packet error rates from link simulations of an AWGN channel.
//!
//! ns-3 has tables by MCS: BCC for 32 and 1458 bytes, LDPC for 1458 bytes. This module keeps three
//! points of each table, the ratios at which 50 %, 10 % and 1 % of packets are lost. It
//! interpolates and extrapolates the logarithm of the mean number of errors, ln(-ln(1 - PER)),
//! linearly, because this function is nearly straight for coded packets. Packets of other lengths
//! have a proportional number of errors. ns-3 has no table of 4096-QAM, and takes a formula there
//! that needs 6 dB more; here it is as much above 1024-QAM as its minimum sensitivity
//! (802.11be-2024 clause 36.3.21.2), which is an assumption. Modes without a table, 9 Mb/s and
//! 1024-QAM with BCC, follow [`Yans`]. DSSS and CCK have their own formulas.

use super::{ErrorModel, SinrChunk, Yans};
use crate::phy::{CodeRate, Coding, Mode, Modulation};
use settings::Settings;

/// Tables of link simulations (R. Patidar and others, "Link-to-system mapping for ns-3 Wi-Fi OFDM
/// error models", 2017), as in ns-3; DSSS and CCK by formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct AwgnTable {}

/// A BCC chunk with fewer bytes follows the table of short packets. At this length, the two tables
/// differ by some tenths of a decibel.
const SHORT_BELOW: f64 = 400.0;
const SHORT: f64 = 32.0;
const LONG: f64 = 1458.0;

/// Ratios in dB at which 50 %, 10 % and 1 % of packets are lost.
type Points = [f64; 3];

/// BCC, 32 bytes, MCS 0 to 9.
const BCC_SHORT: [Points; 10] = [
    [-1.34, -0.36, 0.47],
    [1.66, 2.61, 3.47],
    [4.17, 5.10, 5.96],
    [6.94, 8.06, 9.11],
    [10.18, 11.28, 12.25],
    [14.06, 15.31, 16.44],
    [15.42, 16.61, 17.77],
    [16.84, 18.08, 19.30],
    [20.37, 21.73, 22.97],
    [22.04, 23.29, 24.45],
];

/// BCC, 1458 bytes, MCS 0 to 9.
const BCC_LONG: [Points; 10] = [
    [0.30, 0.92, 1.56],
    [3.30, 3.94, 4.60],
    [5.78, 6.43, 7.11],
    [8.92, 9.70, 10.48],
    [12.02, 12.80, 13.56],
    [16.22, 17.04, 17.98],
    [17.52, 18.38, 19.31],
    [18.80, 19.63, 20.50],
    [22.77, 23.71, 24.76],
    [24.26, 25.15, 26.16],
];

/// LDPC, 1458 bytes, MCS 0 to 13.
const LDPC: [Points; 14] = [
    [-0.94, -0.62, -0.29],
    [2.07, 2.39, 2.71],
    [4.57, 4.86, 5.15],
    [7.55, 7.92, 8.25],
    [10.61, 10.93, 11.23],
    [14.78, 15.13, 15.47],
    [16.15, 16.48, 16.86],
    [17.65, 18.00, 18.42],
    [21.29, 21.68, 22.05],
    [23.09, 23.48, 23.93],
    [26.38, 26.80, 27.24],
    [28.43, 28.89, 29.33],
    // The steps of the receivers' minimum sensitivity: 3 and 2 dB.
    [31.43, 31.89, 32.33],
    [33.43, 33.89, 34.33],
];

/// ln(-ln(1 - PER)) at 50 %, 10 % and 1 %.
const ERRORS: Points = [-0.366_512_920_581_664_3, -2.250_367_327_312_445, -4.600_149_226_776_579];

impl ErrorModel for AwgnTable {
    fn success(&self, chunk: &SinrChunk) -> f64 {
        let bytes = chunk.bits as f64 / 8.0;
        let Some((points, size)) = table(chunk.mode, bytes) else { return Yans {}.success(chunk) };
        let errors = libm::exp(interpolate(points, chunk.sinr.0));
        libm::exp(-errors * bytes / size)
    }
}

/// The table of a mode, and the packet length of the table in bytes.
fn table(mode: &Mode, bytes: f64) -> Option<(&'static Points, f64)> {
    let index = mcs(mode)?;
    match mode.coding {
        Coding::Ldpc => LDPC.get(index).map(|points| (points, LONG)),
        Coding::Bcc if bytes < SHORT_BELOW => BCC_SHORT.get(index).map(|points| (points, SHORT)),
        Coding::Bcc => BCC_LONG.get(index).map(|points| (points, LONG)),
    }
}

/// The MCS with this modulation and code rate.
fn mcs(mode: &Mode) -> Option<usize> {
    use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
    use Modulation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qam4096, Qpsk};
    Some(match (mode.modulation, mode.code_rate) {
        (Bpsk, Half) => 0,
        (Qpsk, Half) => 1,
        (Qpsk, ThreeQuarters) => 2,
        (Qam16, Half) => 3,
        (Qam16, ThreeQuarters) => 4,
        (Qam64, TwoThirds) => 5,
        (Qam64, ThreeQuarters) => 6,
        (Qam64, FiveSixths) => 7,
        (Qam256, ThreeQuarters) => 8,
        (Qam256, FiveSixths) => 9,
        (Qam1024, ThreeQuarters) => 10,
        (Qam1024, FiveSixths) => 11,
        (Qam4096, ThreeQuarters) => 12,
        (Qam4096, FiveSixths) => 13,
        _ => return None,
    })
}

/// Interpolates on the straight line through the two nearest points.
fn interpolate(points: &Points, sinr: f64) -> f64 {
    let left = usize::from(sinr > points[1]);
    let slope = (ERRORS[left + 1] - ERRORS[left]) / (points[left + 1] - points[left]);
    ERRORS[left] + slope * (sinr - points[left])
}
