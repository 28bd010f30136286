//! The random walk.

use super::super::{Area, FASTEST_MPS, TimedPosition, Track};
use super::random_waypoint::check_speeds;
use super::{Movement, RandomMovement, Source};
use kernel::{Instant, Rng};
use settings::{Faults, Path, Settings};

/// Random walk: a station keeps a random direction and speed for a time and then chooses others;
/// the border of the area reflects it (T. Camp, J. Boleng, V. Davies, Wireless Communications and
/// Mobile Computing 2:5, 2002). Positions are uniform at all times.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = speeds_ascend)]
pub struct RandomWalkConfig {
    /// The area.
    #[setting(flatten)]
    pub area: Area,
    /// The least and the greatest speed in metres per second. Speeds are uniform between them.
    #[setting(default = [1.0, 10.0], range = 0.0..=FASTEST_MPS)]
    pub speed_mps: [f64; 2],
    /// How long a station keeps its direction and speed, in seconds.
    #[setting(default = 10.0, range = 1e-3..=1e6)]
    pub step_s: f64,
}

fn speeds_ascend(config: &RandomWalkConfig, at: &Path, faults: &mut Faults) {
    check_speeds(config.speed_mps, at, faults);
}

impl Movement for RandomWalkConfig {
    fn source(&self) -> Source<'_> {
        Source::Random(self)
    }
}

impl RandomMovement for RandomWalkConfig {
    fn waypoints(&self, until: Instant, rng: &mut Rng) -> Vec<TimedPosition> {
        let mut track = Track::from(self.area.uniform(rng));
        // Stations change their directions at different times: the run starts within a step.
        let mut step_s = self.step_s * rng.uniform();
        let [least, most] = self.speed_mps;
        while track.end_s < until.as_secs_f64() {
            let direction = std::f64::consts::TAU * rng.uniform();
            let speed = least + (most - least) * rng.uniform();
            let mut velocity = [speed * libm::cos(direction), speed * libm::sin(direction)];
            walk(&mut track, &self.area, &mut velocity, step_s);
            step_s = self.step_s;
        }
        track.waypoints
    }

    fn waypoints_per_s(&self) -> f64 {
        let [width, height] = self.area.size;
        1.0 / self.step_s + self.speed_mps[1] * (1.0 / width + 1.0 / height)
    }
}

/// Moves for a time at a velocity, which changes at the border of the area as a reflected ray.
pub(super) fn walk(track: &mut Track, area: &Area, velocity: &mut [f64; 2], seconds: f64) {
    let mut rest_s = seconds;
    loop {
        let from = track.position();
        // When a coordinate reaches the border.
        let border_s = [0, 1].map(|axis| {
            let (low, high) = (area.corner[axis], area.corner[axis] + area.size[axis]);
            match velocity[axis] {
                v if v > 0.0 => ((high - from[axis]) / v).max(0.0),
                v if v < 0.0 => ((low - from[axis]) / v).max(0.0),
                _ => f64::INFINITY,
            }
        });
        let time_s = rest_s.min(border_s[0]).min(border_s[1]);
        let to = [0, 1].map(|axis| {
            let (low, high) = (area.corner[axis], area.corner[axis] + area.size[axis]);
            match velocity[axis] {
                v if border_s[axis] > time_s => (from[axis] + v * time_s).clamp(low, high),
                v if v > 0.0 => high,
                _ => low,
            }
        });
        track.arrive(to, time_s);
        rest_s -= time_s;
        if rest_s <= 0.0 {
            return;
        }
        for axis in [0, 1] {
            if border_s[axis] <= time_s {
                velocity[axis] = -velocity[axis];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        CHI_SQUARE_15, chi_square_of_uniform, fields, kolmogorov, s, speed, square, trajectories,
    };
    use super::*;

    #[test]
    fn positions_are_uniform_at_all_times() {
        let model = RandomWalkConfig { area: square(300.0), ..RandomWalkConfig::default() };
        let trajectories = trajectories(&model, 5000, 200.0);
        for at_s in [0.0, 13.0, 200.0] {
            let statistic = chi_square_of_uniform::<4>(fields(&trajectories, at_s, 300.0));
            assert!(statistic < CHI_SQUARE_15, "{at_s} s: {statistic}");
        }
        let speeds = trajectories.iter().map(|one| speed(one, 100.0)).collect();
        assert!(kolmogorov(speeds, |v| ((v - 1.0) / 9.0).clamp(0.0, 1.0)) < 1.95);
    }

    #[test]
    fn the_border_reflects() {
        let mut track = Track::from([10.0, 20.0]);
        let area = Area { size: [60.0, 40.0], corner: [0.0, 0.0] };
        let mut velocity = [5.0, 5.0];
        // North border after 4 s, east border after 10 s, south border after 12 s.
        walk(&mut track, &area, &mut velocity, 15.0);
        let points: Vec<_> =
            track.waypoints.iter().map(|point| (point.at, point.position_m)).collect();
        assert_eq!(
            points,
            [
                (s(0.0), [10.0, 20.0]),
                (s(4.0), [30.0, 40.0]),
                (s(10.0), [60.0, 10.0]),
                (s(12.0), [50.0, 0.0]),
                (s(15.0), [35.0, 15.0]),
            ]
        );
        assert_eq!(velocity, [-5.0, 5.0]);
    }
}
