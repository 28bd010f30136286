//! Units as types: amounts of data, rates, levels and windows.

use crate::Duration;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

/// A power level in decibel-milliwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A ratio in decibels. `Dbm - Dbm = Db`; two levels cannot be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Db(pub f64);

/// A window or an amount in flight, in full-sized segments, with fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Segments(pub f64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// The amount in bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl BitRate {
    /// A rate in megabits per second, rounded to the nearest bit per second.
    pub fn from_mbps(mbps: f64) -> Self {
        Self((mbps * 1e6 + 0.5) as u64)
    }

    /// The rate in megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// The time that `amount` takes at this rate, rounded up to a nanosecond.
    #[inline]
    pub fn time_for(self, amount: Bytes) -> Duration {
        const SECOND: u64 = 1_000_000_000;
        // Division of 128 bits is slow, and amounts below 2 GB do not need it.
        if let Some(bit_ns) = amount.bits().checked_mul(SECOND) {
            return Duration(bit_ns.div_ceil(self.0));
        }
        let bit_ns = u128::from(amount.bits()) * u128::from(SECOND);
        Duration(bit_ns.div_ceil(u128::from(self.0)) as u64)
    }
}

macro_rules! additive {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self::default(), Add::add)
            }
        }
    )*};
}
additive!(Bytes, Db, Segments);

impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Self) -> Db {
        Db(self.0 - other.0)
    }
}

impl Add<Db> for Dbm {
    type Output = Self;
    fn add(self, gain: Db) -> Self {
        Self(self.0 + gain.0)
    }
}

impl Sub<Db> for Dbm {
    type Output = Self;
    fn sub(self, loss: Db) -> Self {
        Self(self.0 - loss.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mb/s", self.as_mbps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_takes_whole_nanoseconds_rounded_up() {
        assert_eq!(BitRate::from_mbps(5.5).0, 5_500_000);
        assert_eq!(BitRate(1_000_000_000).time_for(Bytes(1500)), Duration(12_000));
        assert_eq!(BitRate(3_000_000_000).time_for(Bytes(1)), Duration(3));
    }

    #[test]
    fn levels_subtract_to_ratios() {
        assert_eq!(Dbm(-60.0) - Dbm(-93.0), Db(33.0));
        assert_eq!(Dbm(16.0) - Db(76.0), Dbm(-60.0));
    }
}
