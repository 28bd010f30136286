//! Bit errors of DSSS and CCK (G. Pei, T. R. Henderson, "Validation of ns-3 802.11b PHY model",
//! 2009), with the signal to noise ratio taken in 22 MHz.

use crate::phy::{Mode, Modulation};
use std::f64::consts::{PI, SQRT_2};

/// Probability that a bit is wrong at a linear signal to noise ratio.
pub(super) fn bit_error(mode: &Mode, snr: f64) -> f64 {
    debug_assert!(matches!(mode.modulation, Modulation::Dsss | Modulation::Cck));
    match mode.mcs {
        0 => 0.5 * libm::exp(-22.0 * snr),
        1 => dqpsk(11.0 * snr),
        2 => fitted(snr, cck_5_5),
        _ => fitted(snr, cck_11),
    }
}

/// An approximation that grows without bound as the signal vanishes.
fn dqpsk(bit_snr: f64) -> f64 {
    let factor = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2 * bit_snr);
    (factor * libm::exp(-(2.0 - SQRT_2) * bit_snr)).min(0.5)
}

/// The fits hold from -10 to 10 dB. That of 11 Mb/s is cut off at 10 dB, where it is not zero.
fn fitted(snr: f64, fit: fn(f64) -> f64) -> f64 {
    match snr {
        _ if snr > 10.0 => 0.0,
        _ if snr < 0.1 => 0.5,
        _ => fit(snr),
    }
}

fn cck_5_5(snr: f64) -> f64 {
    let power = libm::pow((snr - 0.003_309_24) / 0.416_543_72, 1.028_889_81);
    0.536_816_34 * libm::exp(-power)
}

fn cck_11(snr: f64) -> f64 {
    let above = (0.007_905_674_2 * snr - 0.183_974_495) * snr + 1.074_068_947;
    let below = ((snr + 1.052_331_69) * snr + 0.305_522_987) * snr + 2.203_271_513;
    above / below
}
