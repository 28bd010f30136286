//! The NIST model of coded OFDM.

use super::{ErrorModel, SinrChunk, all_right, dsss};
use crate::phy::{CodeRate, Modulation, linear};
use settings::Settings;

/// NIST's hard-decision union bound of the convolutional code, by code rate (G. Pei, T. R.
/// Henderson, "Validation of OFDM error rate model in ns-3", 2010, after L. E. Miller, NIST, 2003).
/// DSSS and CCK have their own formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Nist {}

impl ErrorModel for Nist {
    fn success(&self, chunk: &SinrChunk) -> f64 {
        let snr = linear(chunk.sinr);
        let error = match chunk.mode.modulation {
            Modulation::Dsss | Modulation::Cck => dsss::bit_error(chunk.mode, snr),
            modulation => decoded(chunk.mode.code_rate, coded(modulation, snr)),
        };
        all_right(error, chunk.bits)
    }
}

/// Probability that a coded bit is wrong.
fn coded(modulation: Modulation, snr: f64) -> f64 {
    let points = f64::from(1 << modulation.bits());
    match modulation {
        Modulation::Bpsk => 0.5 * libm::erfc(libm::sqrt(snr)),
        Modulation::Qpsk => 0.5 * libm::erfc(libm::sqrt(snr / 2.0)),
        _ => {
            let side = libm::sqrt(points);
            let bits_of_side = f64::from(modulation.bits()) / 2.0;
            let argument = libm::sqrt(3.0 * snr / (2.0 * (points - 1.0)));
            (side - 1.0) / (side * bits_of_side) * libm::erfc(argument)
        }
    }
}

/// Coefficients of the bound in powers of D: the first exponent, the step of the exponents, and the
/// divisor of the sum.
struct Bound {
    first: i32,
    step: i32,
    weights: &'static [f64],
    divisor: f64,
}

const HALF: Bound = Bound {
    first: 10,
    step: 2,
    weights: &[
        36.0,
        211.0,
        1404.0,
        11_633.0,
        77_433.0,
        502_690.0,
        3_322_763.0,
        21_292_910.0,
        134_365_911.0,
    ],
    divisor: 2.0,
};
const TWO_THIRDS: Bound = Bound {
    first: 6,
    step: 1,
    weights: &[
        3.0,
        70.0,
        285.0,
        1276.0,
        6160.0,
        27_128.0,
        117_019.0,
        498_860.0,
        2_103_891.0,
        8_784_123.0,
    ],
    divisor: 4.0,
};
const THREE_QUARTERS: Bound = Bound {
    first: 5,
    step: 1,
    weights: &[
        42.0,
        201.0,
        1492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
    divisor: 6.0,
};
const FIVE_SIXTHS: Bound = Bound {
    first: 4,
    step: 1,
    weights: &[
        92.0,
        528.0,
        8694.0,
        79_453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
    divisor: 10.0,
};

/// Probability that a decoded bit is wrong if a coded bit is wrong with probability `error`.
fn decoded(rate: CodeRate, error: f64) -> f64 {
    let bound = match rate {
        CodeRate::Half => HALF,
        CodeRate::TwoThirds => TWO_THIRDS,
        CodeRate::ThreeQuarters => THREE_QUARTERS,
        CodeRate::FiveSixths => FIVE_SIXTHS,
        CodeRate::Uncoded => return error,
    };
    let d = libm::sqrt(4.0 * error * (1.0 - error));
    let step = power(d, bound.step);
    let sum = bound.weights.iter().rev().fold(0.0, |sum, weight| sum * step + weight);
    (sum * power(d, bound.first) / bound.divisor).min(1.0)
}

fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}
