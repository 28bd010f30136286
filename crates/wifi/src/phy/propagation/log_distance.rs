//! Path loss proportional to a power of the distance.

use super::{Path, Propagation};
use kernel::Db;
use settings::Settings;

/// Loss that grows with a power of the distance beyond a reference distance (T. S. Rappaport,
/// Wireless Communications, 2nd ed., section 4.9.1); by default as in ns-3.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct LogDistance {
    /// Path loss exponent: 2 in free space, 3 in offices, 4 behind walls.
    #[setting(default = 3.0, range = 0.0..=20.0)]
    pub exponent: f64,
    /// Reference distance in metres.
    #[setting(default = 1.0, range = 1e-3..=1e6)]
    pub reference_m: f64,
    /// Loss at and below the reference distance, in decibels; by default that of free space at 5.15
    /// GHz.
    #[setting(key = "reference_loss_db", default = 46.6777, range = 0.0..=300.0)]
    pub reference_loss: Db,
}

impl Propagation for LogDistance {
    fn loss(&self, path: &Path) -> Db {
        let times = (path.distance / self.reference_m).max(1.0);
        self.reference_loss + Db(10.0 * self.exponent * libm::log10(times))
    }

    fn goes_by_distance(&self) -> bool {
        true
    }

    fn reach(&self, loss: Db) -> f64 {
        let beyond = (loss - self.reference_loss).0;
        if self.exponent > 0.0 {
            self.reference_m * libm::pow(10.0, beyond / (10.0 * self.exponent))
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Width, noise};
    use kernel::{Dbm, Instant};

    #[test]
    fn the_level_of_ns3_at_ten_metres() {
        let loss = |distance| {
            LogDistance::default().loss(&Path { distance, ends: (0, 1), now: Instant::ZERO })
        };
        let level = Dbm(16.0206) - loss(10.0);
        assert!((level.0 + 60.66).abs() < 0.005, "{level:?}");
        let snr = level - noise(Width::Mhz20, Db(7.0));
        assert!((snr.0 - 33.3).abs() < 0.05, "{snr:?}");
        assert_eq!(loss(0.2), Db(46.6777));
    }
}
