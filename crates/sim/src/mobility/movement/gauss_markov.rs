//! The Gauss-Markov model.

use super::super::{Area, TimedPosition, Track, normal};
use super::random_walk::walk;
use super::{Movement, RandomMovement, Source};
use kernel::{Instant, Rng};
use settings::Settings;

/// Gauss-Markov: both components of a station's velocity are Gauss-Markov processes, so that speed
/// and direction change smoothly; the border of the area reflects the station (B. Liang, Z. J.
/// Haas, IEEE INFOCOM 1999). Positions are uniform at all times.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct GaussMarkovConfig {
    /// The area.
    #[setting(flatten)]
    pub area: Area,
    /// Standard deviation of the velocity to the east and of that to the north, in metres per
    /// second. The mean speed is 1.25 times as much.
    #[setting(default = 2.0, range = 1e-6..=100.0)]
    pub deviation_mps: f64,
    /// The correlation of velocities one step apart: 0 is without memory, 1 a straight line.
    #[setting(default = 0.75, range = 0.0..=1.0)]
    pub memory: f64,
    /// The time between two changes of the velocity, in seconds.
    #[setting(default = 1.0, range = 1e-3..=1e6)]
    pub step_s: f64,
}

impl Movement for GaussMarkovConfig {
    fn source(&self) -> Source<'_> {
        Source::Random(self)
    }
}

impl RandomMovement for GaussMarkovConfig {
    fn waypoints(&self, until: Instant, rng: &mut Rng) -> Vec<TimedPosition> {
        let mut track = Track::from(self.area.uniform(rng));
        let mut velocity = [0, 1].map(|_| self.deviation_mps * normal(rng));
        let mut step_s = self.step_s * rng.uniform();
        // Equation 3 of the paper, with a mean of 0.
        let noise = self.deviation_mps * libm::sqrt(1.0 - self.memory * self.memory);
        while track.end_s < until.as_secs_f64() {
            walk(&mut track, &self.area, &mut velocity, step_s);
            velocity = velocity.map(|v| self.memory * v + noise * normal(rng));
            step_s = self.step_s;
        }
        track.waypoints
    }

    fn waypoints_per_s(&self) -> f64 {
        let [width, height] = self.area.size;
        1.0 / self.step_s + self.deviation_mps * (1.0 / width + 1.0 / height)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        CHI_SQUARE_15, chi_square_of_uniform, fields, s, square, trajectories,
    };
    use super::*;

    #[test]
    fn velocities_have_the_stationary_variance_and_correlation() {
        // The area is so large that no station comes near the border.
        let model =
            GaussMarkovConfig { area: square(1e6), deviation_mps: 3.0, memory: 0.8, step_s: 2.0 };
        let trajectories = trajectories(&model, 4000, 100.0);
        // The velocity to the east, from positions a millisecond apart.
        let velocity = |at_s: f64| -> Vec<f64> {
            let v = |one: &wifi::phy::propagation::Trajectory| {
                (one.at(s(at_s + 1e-3)).x - one.at(s(at_s)).x) / 1e-3
            };
            trajectories.iter().map(v).collect()
        };
        let product = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64
        };
        for at_s in [0.0, 20.0, 90.0] {
            let (now, next, later) = (velocity(at_s), velocity(at_s + 2.0), velocity(at_s + 8.0));
            let mean = now.iter().sum::<f64>() / 4000.0;
            // Standard errors: 0.047 of the mean, 0.2 of the variance and the covariances.
            assert!(mean.abs() < 0.17, "{at_s} s: mean {mean}");
            for (name, found, expected) in [
                ("variance", product(&now, &now), 9.0),
                ("covariance of neighbours", product(&now, &next), 9.0 * 0.8),
                ("covariance four steps apart", product(&now, &later), 9.0 * 0.4096),
            ] {
                assert!((found - expected).abs() < 0.7, "{at_s} s: {name} {found}");
            }
        }
    }

    #[test]
    fn positions_are_uniform_at_all_times() {
        let model = GaussMarkovConfig { area: square(100.0), ..GaussMarkovConfig::default() };
        let trajectories = trajectories(&model, 5000, 200.0);
        for at_s in [0.0, 17.0, 200.0] {
            let statistic = chi_square_of_uniform::<4>(fields(&trajectories, at_s, 100.0));
            assert!(statistic < CHI_SQUARE_15, "{at_s} s: {statistic}");
        }
    }
}
