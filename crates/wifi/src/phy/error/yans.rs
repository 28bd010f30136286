//! The YANS model of coded OFDM.

use super::{ErrorModel, SinrChunk, all_right, dsss};
use crate::phy::{CodeRate, Mode, Modulation, linear};
use settings::Settings;

/// The first terms of the union bound with the signal to noise ratio of a coded bit (M. Lacage, T.
/// R. Henderson, "Yet another network simulator", 2006), as in ns-3. DSSS and CCK have their own
/// formulas. Needs about 3 dB less than "nist".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Yans {}

impl ErrorModel for Yans {
    fn success(&self, chunk: &SinrChunk) -> f64 {
        let snr = linear(chunk.sinr);
        let error = match chunk.mode.modulation {
            Modulation::Dsss | Modulation::Cck => dsss::bit_error(chunk.mode, snr),
            modulation => decoded(chunk.mode.code_rate, modulation, coded(chunk.mode, snr)),
        };
        all_right(error, chunk.bits)
    }
}

/// Probability that a coded bit is wrong. The signal to noise ratio in the bandwidth is converted
/// to that of a coded bit.
fn coded(mode: &Mode, snr: f64) -> f64 {
    let (data, coded) = mode.code_rate.parts();
    let coded_rate = mode.rate.0 as f64 * f64::from(coded) / f64::from(data);
    let bit_snr = snr * f64::from(mode.width.mhz()) * 1e6 / coded_rate;
    if mode.modulation == Modulation::Bpsk {
        return 0.5 * libm::erfc(libm::sqrt(bit_snr));
    }
    let bits = f64::from(mode.modulation.bits());
    let points = f64::from(1 << mode.modulation.bits());
    let argument = libm::sqrt(1.5 * bits * bit_snr / (points - 1.0));
    let side = (1.0 - 1.0 / libm::sqrt(points)) * libm::erfc(argument);
    (1.0 - (1.0 - side) * (1.0 - side)) / bits
}

/// Probability that a decoded bit is wrong: errors at the free distance and, except for BPSK, at
/// the next distance.
fn decoded(rate: CodeRate, modulation: Modulation, error: f64) -> f64 {
    let (distance, first, second) = match rate {
        CodeRate::Half => (10, 11.0, 0.0),
        CodeRate::TwoThirds => (6, 1.0, 16.0),
        CodeRate::ThreeQuarters => (5, 8.0, 31.0),
        CodeRate::FiveSixths => (4, 14.0, 69.0),
        CodeRate::Uncoded => return error,
    };
    let second = if modulation == Modulation::Bpsk { 0.0 } else { second };
    let bound = first * wrong_path(distance, error) + second * wrong_path(distance + 1, error);
    bound.min(1.0)
}

/// Probability that a wrong path at a Hamming distance is closer than the right one. ns-3 omits the
/// last term of the sum, in which all bits are wrong.
fn wrong_path(distance: u32, error: f64) -> f64 {
    let mut term = power(1.0 - error, distance);
    let odds = error / (1.0 - error);
    let mut sum = 0.0;
    for wrong in 0..distance {
        if 2 * wrong > distance {
            sum += term;
        } else if 2 * wrong == distance {
            sum += term / 2.0;
        }
        term *= odds * f64::from(distance - wrong) / f64::from(wrong + 1);
    }
    sum
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}
