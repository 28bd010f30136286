//! Path loss with a direct ray and one that the ground reflects.

use super::friis::{factor_in_free_space, free_space};
use super::{Path, Propagation};
use kernel::Db;
use settings::Settings;

/// Free space path loss up to 86 m, two rays beyond, with the constants of ns-2 (914 MHz, antennas
/// at 1.5 m).
// Free space up to a crossover distance, the fourth power of the distance beyond, where the
// reflected ray interferes with the direct one (Rappaport, section 4.6). Antenna heights are those
// of the model, not of the positions.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct TwoRay {}

/// 914 MHz, light at 3·10⁸ m/s.
const WAVELENGTH_M: f64 = 3e8 / 914e6;
/// Height of all antennas above the ground.
pub const ANTENNA_HEIGHT_M: f64 = 1.5;
/// The product of both antenna heights.
const HEIGHTS_M2: f64 = ANTENNA_HEIGHT_M * ANTENNA_HEIGHT_M;

impl TwoRay {
    /// The crossover distance: 4π·h·h/λ.
    fn crossover_m() -> f64 {
        4.0 * std::f64::consts::PI * ANTENNA_HEIGHT_M * ANTENNA_HEIGHT_M / WAVELENGTH_M
    }
}

impl Propagation for TwoRay {
    fn loss(&self, path: &Path) -> Db {
        if path.distance < Self::crossover_m() {
            return free_space(WAVELENGTH_M, path.distance);
        }
        Db(20.0 * libm::log10(path.distance * path.distance / HEIGHTS_M2))
    }

    fn factors(&self, squares: &mut [f64]) -> bool {
        let crossover = Self::crossover_m() * Self::crossover_m();
        for square in squares {
            let ratio = HEIGHTS_M2 / *square;
            let near = factor_in_free_space(WAVELENGTH_M, *square);
            *square = if *square < crossover { near } else { ratio * ratio };
        }
        true
    }

    fn goes_by_distance(&self) -> bool {
        true
    }

    fn reach(&self, loss: Db) -> f64 {
        let on_two_rays = libm::sqrt(HEIGHTS_M2 * libm::pow(10.0, loss.0 / 20.0));
        on_two_rays.max(Self::crossover_m())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Milliwatts;
    use kernel::{Dbm, Instant};

    /// The transmit power of ns-2 (`Pt_`), 281.84 mW, its reception threshold (`RXThresh_`), and
    /// its carrier sense threshold (`CSThresh_`).
    const SENT: Dbm = Dbm(24.5);
    const UNDERSTOOD: Dbm = Dbm(-64.3747);
    const SENSED: Dbm = Dbm(-78.0715);
    /// Capture threshold: the least ratio of a frame to a later one (`CPThresh_`).
    const CAPTURE: Db = Db(10.0);

    fn level(distance: f64) -> Dbm {
        SENT - TwoRay {}.loss(&Path { distance, ends: (0, 1), now: Instant::ZERO })
    }

    /// Received power in watts from a transmitter of ns-2.
    fn received(distance: f64) -> f64 {
        Milliwatts::from(level(distance)).0 * 1e-3
    }

    #[test]
    fn the_powers_of_ns2() {
        assert!((TwoRay::crossover_m() - 86.14).abs() < 0.005);
        for (distance, watts) in [(250.0, 3.6526e-10), (550.0, 1.5592e-11), (100.0, 1.4268e-8)] {
            assert!((received(distance) / watts - 1.0).abs() < 1e-4, "{distance} m");
        }
    }

    #[test]
    fn the_ranges_of_ns2() {
        assert!(level(200.0) >= UNDERSTOOD && level(250.0) >= UNDERSTOOD);
        assert!(level(250.1) < UNDERSTOOD && level(550.0) >= SENSED);
        assert!(level(550.1) < SENSED);
    }

    #[test]
    fn capture_in_ns2_needs_1_78_times_the_distance() {
        let survives = |first, later| level(first) - level(later) >= CAPTURE;
        assert!(survives(200.0, 200.0 * 1.779));
        assert!(!survives(200.0, 200.0 * 1.777));
        assert!(!survives(200.0, 100.0));
    }

    #[test]
    fn nothing_jumps_at_the_crossover() {
        let crossover = TwoRay::crossover_m();
        let ratio = received(crossover - 1e-9) / received(crossover + 1e-9);
        assert!((ratio - 1.0).abs() < 1e-9);
    }
}
