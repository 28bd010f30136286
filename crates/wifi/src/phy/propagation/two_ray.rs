//! A direct ray and one from the ground.

use super::friis::free_space;
use super::{Path, Propagation};
use kernel::Db;

/// Free space up to a crossover distance, the fourth power of the distance beyond, where the ray
/// that the ground reflects meets the direct one (Rappaport, section 4.6). Antenna heights are
/// those of the model, not of the positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoRay {
    /// Wavelength in metres.
    pub wavelength_m: f64,
    /// Heights of the antennas above the ground in metres.
    pub heights_m: (f64, f64),
}

impl TwoRay {
    /// That of ns-2: 914 MHz, light at 3·10⁸ m/s, antennas 1.5 m high.
    pub const NS2: Self = Self { wavelength_m: 3e8 / 914e6, heights_m: (1.5, 1.5) };

    /// Where free space ends: 4π·h·h/λ.
    pub fn crossover_m(&self) -> f64 {
        4.0 * std::f64::consts::PI * self.heights_m.0 * self.heights_m.1 / self.wavelength_m
    }
}

impl Propagation for TwoRay {
    fn loss(&self, path: &Path) -> Db {
        if path.distance < self.crossover_m() {
            return free_space(self.wavelength_m, path.distance);
        }
        let squares = path.distance * path.distance / (self.heights_m.0 * self.heights_m.1);
        Db(20.0 * libm::log10(squares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Milliwatts;
    use crate::phy::error::NS2_TX_POWER;
    use kernel::Instant;

    /// Watts that arrive from a transmitter of ns-2.
    fn received(distance: f64) -> f64 {
        let path = Path { distance, ends: (0, 1), now: Instant::ZERO };
        Milliwatts::from(NS2_TX_POWER - TwoRay::NS2.loss(&path)).0 * 1e-3
    }

    #[test]
    fn the_powers_of_ns2() {
        assert!((TwoRay::NS2.crossover_m() - 86.14).abs() < 0.005);
        for (distance, watts) in [(250.0, 3.6526e-10), (550.0, 1.5592e-11), (100.0, 1.4268e-8)] {
            assert!((received(distance) / watts - 1.0).abs() < 1e-4, "{distance} m");
        }
    }

    #[test]
    fn nothing_jumps_at_the_crossover() {
        let crossover = TwoRay::NS2.crossover_m();
        let ratio = received(crossover - 1e-9) / received(crossover + 1e-9);
        assert!((ratio - 1.0).abs() < 1e-9);
    }
}
