//! Power in milliwatts, thermal noise, and the signal to interference and noise ratio.

use super::Occupied;
use kernel::{Db, Dbm};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A power in milliwatts. Only powers in milliwatts can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Milliwatts(pub f64);

impl Milliwatts {
    /// No power.
    pub const ZERO: Self = Self(0.0);

    /// The power as a level; minus infinity for none.
    pub fn level(self) -> Dbm {
        Dbm(10.0 * libm::log10(self.0))
    }
}

impl From<Dbm> for Milliwatts {
    fn from(level: Dbm) -> Self {
        Self(linear(Db(level.0)))
    }
}

impl From<Milliwatts> for Dbm {
    fn from(power: Milliwatts) -> Self {
        Self(decibels(power.0).0)
    }
}

impl Add for Milliwatts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Milliwatts {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Milliwatts {
    fn sum<I: Iterator<Item = Self>>(powers: I) -> Self {
        powers.fold(Self::ZERO, Add::add)
    }
}

/// Converts a ratio in decibels to a linear ratio.
pub fn linear(ratio: Db) -> f64 {
    libm::exp(ratio.0 * (std::f64::consts::LN_10 / 10.0))
}

/// Converts a linear ratio to decibels.
pub fn decibels(ratio: f64) -> Db {
    Db(10.0 * libm::log10(ratio))
}

/// Boltzmann's constant in joules per kelvin (SI, 2019).
const BOLTZMANN: f64 = 1.380_649e-23;
/// The temperature to which a noise figure refers, in kelvin (IEEE Std 211).
const REFERENCE_K: f64 = 290.0;

/// Noise of a receiver: thermal noise of the bandwidth, k·T·B, and the noise figure.
pub fn noise(within: impl Into<Occupied>, figure: Db) -> Dbm {
    let mhz = within.into().mhz();
    let watts = BOLTZMANN * REFERENCE_K * f64::from(mhz) * 1e6;
    Milliwatts(watts * 1e3).level() + figure
}

/// Signal to interference and noise ratio.
pub fn sinr(signal: Milliwatts, interference: Milliwatts, noise: Milliwatts) -> Db {
    decibels(signal.0 / (interference + noise).0)
}

#[cfg(test)]
mod tests {
    use super::super::Width;
    use super::*;

    #[test]
    fn thermal_noise() {
        let level = |width, figure| noise(width, Db(figure)).0;
        // ns-3 prints -93.97 dBm for 20 MHz and 7 dB.
        assert!((level(Width::Mhz20, 7.0) + 93.97).abs() < 0.01);
        assert!((level(Width::Mhz20, 0.0) + 100.97).abs() < 0.01);
        assert!((level(Width::Mhz160, 7.0) - level(Width::Mhz20, 7.0) - 9.031).abs() < 0.001);
    }

    #[test]
    fn powers_add_up() {
        let one = Milliwatts::from(Dbm(-60.0));
        assert!(((one + one).level().0 + 56.9897).abs() < 1e-4);
        let sum: Milliwatts = [one, one, one].into_iter().sum();
        assert!((sum.0 - 3e-6).abs() < 1e-18);
        assert_eq!(Milliwatts::ZERO.level(), Dbm(f64::NEG_INFINITY));
        let ratio = sinr(one, one, Milliwatts(1e-9));
        assert!(ratio.0 < 0.0 && ratio.0 > -0.005);
    }
}
