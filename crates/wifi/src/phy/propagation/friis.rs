//! Free space path loss.

use super::{LIGHT, Path, Propagation};
use kernel::Db;
use settings::Settings;

/// Free space (H. T. Friis, Proceedings of the IRE 34, 1946).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Friis {
    /// Carrier frequency in MHz.
    #[setting(default = 5150.0, range = 1.0..=1e6)]
    pub frequency_mhz: f64,
}

impl Friis {
    fn wavelength(self) -> f64 {
        LIGHT / (self.frequency_mhz * 1e6)
    }
}

impl Propagation for Friis {
    fn loss(&self, path: &Path) -> Db {
        free_space(self.wavelength(), path.distance)
    }

    fn factors(&self, squares: &mut [f64]) -> bool {
        let wavelength = self.wavelength();
        for square in squares {
            *square = factor_in_free_space(wavelength, *square);
        }
        true
    }

    fn goes_by_distance(&self) -> bool {
        true
    }

    fn reach(&self, loss: Db) -> f64 {
        let far_field = self.wavelength() / (4.0 * std::f64::consts::PI);
        far_field * libm::pow(10.0, loss.0 / 20.0)
    }
}

/// The loss in free space at a wavelength: (4πd/λ)². It is never a gain, because the formula holds
/// in the far field only.
pub(super) fn free_space(wavelength: f64, distance: f64) -> Db {
    let ratio = 4.0 * std::f64::consts::PI * distance / wavelength;
    Db((20.0 * libm::log10(ratio)).max(0.0))
}

/// The same as a factor of the power, from the square of the distance.
pub(super) fn factor_in_free_space(wavelength: f64, square_metres: f64) -> f64 {
    let ratio = wavelength / (4.0 * std::f64::consts::PI);
    (ratio * ratio / square_metres).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Instant;

    fn loss(frequency_hz: f64, distance: f64) -> f64 {
        Friis { frequency_mhz: frequency_hz * 1e-6 }
            .loss(&Path { distance, ends: (0, 1), now: Instant::ZERO })
            .0
    }

    #[test]
    fn free_space_grows_with_the_square() {
        // 20 log10(d) + 20 log10(f) - 147.55.
        for (frequency, distance) in [(2.4e9, 1.0), (5.15e9, 10.0), (914e6, 250.0)] {
            let expected = 20.0 * libm::log10(distance * frequency) - 147.552_216;
            assert!((loss(frequency, distance) - expected).abs() < 1e-5);
        }
        assert!((loss(5e9, 20.0) - loss(5e9, 10.0) - 6.0206).abs() < 1e-4);
    }

    #[test]
    fn near_the_antenna_nothing_is_gained() {
        assert_eq!(loss(5e9, 0.0), 0.0);
        assert_eq!(loss(5e9, 1e-3), 0.0);
    }
}
