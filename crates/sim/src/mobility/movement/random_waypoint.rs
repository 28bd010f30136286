//! The random waypoint model.

use super::super::{Area, FASTEST_MPS, TimedPosition, Track};
use super::{Movement, RandomMovement, Source};
use kernel::{Instant, Rng};
use settings::{Choice, Faults, Path, Settings, said};

/// Random waypoint: a station moves straight to a random position of the area at a random speed,
/// pauses, and chooses the next position (D. B. Johnson, D. A. Maltz, Mobile Computing, 1996).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = speeds_ascend)]
pub struct RandomWaypointConfig {
    /// The area.
    #[setting(flatten)]
    pub area: Area,
    /// The least and the greatest speed of a trip in metres per second. Speeds are uniform between
    /// them.
    #[setting(default = [1.0, 20.0], range = 0.0..=FASTEST_MPS)]
    pub speed_mps: [f64; 2],
    /// The mean pause after each trip in seconds.
    #[setting(default = 0.0, range = 0.0..=1e6)]
    pub pause_s: f64,
    /// The distribution of pauses.
    pub pause: Pause,
    /// The state at the start of the run.
    pub start: Start,
}

/// The distribution of pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Pause {
    /// All pauses are `pause_s`.
    #[default]
    Constant,
    /// Pauses are uniform between 0 and twice `pause_s`.
    Uniform,
}

/// The state at the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Start {
    /// Pause, speed and position are drawn from their stationary distributions (W. Navidi, T. Camp,
    /// IEEE Transactions on Mobile Computing 3:1, 2004), so that no part of a run differs from the
    /// others.
    #[default]
    Stationary,
    /// All stations pause at uniform positions, as in the first version of ns-2's `setdest`. The
    /// mean speed then falls during the run, and the stations move towards the centre.
    Setdest,
}

fn speeds_ascend(config: &RandomWaypointConfig, at: &Path, faults: &mut Faults) {
    check_speeds(config.speed_mps, at, faults);
    if config.start == Start::Stationary && config.speed_mps[0] <= 0.0 {
        let message = said!(
            "a least speed of 0 has no stationary state, because the mean duration of a trip is \
             infinite",
            "take at least 0.1, or start = \"setdest\""
        );
        faults.fault(at.key("speed_mps"), message);
    }
}

/// The least speed is not above the greatest, which is not 0.
pub(super) fn check_speeds([least, most]: [f64; 2], at: &Path, faults: &mut Faults) {
    if least > most || most <= 0.0 {
        let (least, most) = (settings::number(least), settings::number(most));
        let message = format!("[{least}, {most}] must be the least and the greatest speed");
        faults.fault(at.key("speed_mps"), message);
    }
}

impl Movement for RandomWaypointConfig {
    fn source(&self) -> Source<'_> {
        Source::Random(self)
    }
}

impl RandomMovement for RandomWaypointConfig {
    fn waypoints(&self, until: Instant, rng: &mut Rng) -> Vec<TimedPosition> {
        let mut track = match self.start {
            Start::Stationary => self.stationary(rng),
            Start::Setdest => {
                let mut track = Track::from(self.area.uniform(rng));
                track.stay(self.draw_pause(rng));
                track
            }
        };
        while track.end_s < until.as_secs_f64() {
            let to = self.area.uniform(rng);
            track.go(to, self.draw_speed(rng));
            track.stay(self.draw_pause(rng));
        }
        track.waypoints
    }

    fn waypoints_per_s(&self) -> f64 {
        2.0 / (self.mean_trip_m() / self.speed_mps[1] + self.pause_s)
    }
}

impl RandomWaypointConfig {
    /// A station in the stationary state, until the end of its first pause.
    fn stationary(&self, rng: &mut Rng) -> Track {
        let trip_s = self.mean_trip_m() * self.mean_slowness();
        if rng.chance(self.pause_s / (self.pause_s + trip_s)) {
            let mut track = Track::from(self.area.uniform(rng));
            track.stay(self.residual_pause(rng));
            return track;
        }
        // A long trip is more probable to be under way than a short one.
        let (from, to) = loop {
            let (from, to) = (self.area.uniform(rng), self.area.uniform(rng));
            let length = libm::hypot(to[0] - from[0], to[1] - from[1]);
            if rng.uniform() * self.area.diagonal() < length {
                break (from, to);
            }
        };
        let part = rng.uniform();
        let mut track = Track::from([0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part));
        // A slow trip as well: the density is proportional to 1/v.
        let [least, most] = self.speed_mps;
        let speed = least * libm::pow(most / least, rng.uniform());
        track.go(to, speed);
        track.stay(self.draw_pause(rng));
        track
    }

    fn draw_speed(&self, rng: &mut Rng) -> f64 {
        let [least, most] = self.speed_mps;
        // In (least, most], so that no speed is 0.
        most - (most - least) * rng.uniform()
    }

    fn draw_pause(&self, rng: &mut Rng) -> f64 {
        match self.pause {
            Pause::Constant => self.pause_s,
            Pause::Uniform => 2.0 * self.pause_s * rng.uniform(),
        }
    }

    /// The rest of a pause at a random time within it: its density is proportional to the
    /// probability that a pause is longer.
    fn residual_pause(&self, rng: &mut Rng) -> f64 {
        match self.pause {
            Pause::Constant => self.pause_s * rng.uniform(),
            Pause::Uniform => 2.0 * self.pause_s * (1.0 - libm::sqrt(1.0 - rng.uniform())),
        }
    }

    /// The mean of 1/v.
    fn mean_slowness(&self) -> f64 {
        let [least, most] = self.speed_mps;
        if most > least { libm::log(most / least) / (most - least) } else { 1.0 / most }
    }

    /// The mean distance of two uniform points of a rectangle (B. Ghosh, Bulletin of the Calcutta
    /// Mathematical Society 43, 1951).
    fn mean_trip_m(&self) -> f64 {
        let ([a, b], d) = (self.area.size, self.area.diagonal());
        let (ratio, inverse) = (a * a / (b * b), b * b / (a * a));
        let powers = a * ratio + b * inverse + d * (3.0 - ratio - inverse);
        let logs = b * b / a * libm::log((a + d) / b) + a * a / b * libm::log((b + d) / a);
        powers / 15.0 + logs / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, fields, kolmogorov, speed, square, trajectories};
    use super::*;
    use wifi::phy::propagation::Trajectory;

    const SIDE: f64 = 1000.0;
    const STATIONS: u32 = 10_000;
    /// The start of a run and two later times.
    const TIMES_S: [f64; 3] = [0.0, 90.0, 400.0];

    fn model(speed_mps: [f64; 2], pause_s: f64) -> RandomWaypointConfig {
        RandomWaypointConfig {
            area: square(SIDE),
            speed_mps,
            pause_s,
            ..RandomWaypointConfig::default()
        }
    }

    /// The density at a position of the unit square, without pauses (E. Hyytiä, P. Lassila, J.
    /// Virtamo, IEEE Transactions on Mobile Computing 5:6, 2006, equation 8): the integral over all
    /// directions of a₁·a₂·(a₁ + a₂), with the distances a₁ and a₂ to the border in a direction and
    /// in its opposite, over the mean length of a trip.
    fn density(x: f64, y: f64) -> f64 {
        const DIRECTIONS: u32 = 360;
        let step = std::f64::consts::PI / f64::from(DIRECTIONS);
        let border = |east: f64, north: f64| {
            let along = |at: f64, by: f64| if by > 0.0 { (1.0 - at) / by } else { -at / by };
            along(x, east).min(along(y, north))
        };
        let of_direction = |number| {
            let angle = (f64::from(number) + 0.5) * step;
            let (east, north) = (libm::cos(angle), libm::sin(angle));
            let (ahead, behind) = (border(east, north), border(-east, -north));
            ahead * behind * (ahead + behind) * step
        };
        (0..DIRECTIONS).map(of_direction).sum::<f64>() / 0.521_405
    }

    /// The probability of each of 4 x 4 fields.
    fn probabilities() -> [[f64; 4]; 4] {
        const POINTS: usize = 20;
        let at = |number: usize| (number as f64 + 0.5) / (4 * POINTS) as f64;
        let mut fields = [[0.0; 4]; 4];
        for (row, column) in (0..4 * POINTS).flat_map(|r| (0..4 * POINTS).map(move |c| (r, c))) {
            let part = density(at(column), at(row)) / (16 * POINTS * POINTS) as f64;
            fields[row / POINTS][column / POINTS] += part;
        }
        fields
    }

    fn moving(trajectories: &[Trajectory], at_s: f64) -> Vec<f64> {
        let speeds = trajectories.iter().map(|trajectory| speed(trajectory, at_s));
        speeds.filter(|speed| *speed > 1e-6).collect()
    }

    #[test]
    fn positions_have_the_stationary_density_at_all_times() {
        let expected = probabilities();
        let sum: f64 = expected.iter().flatten().sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        let trajectories = trajectories(&model([1.0, 20.0], 0.0), STATIONS, 400.0);
        for at_s in TIMES_S {
            let counts = fields::<4>(&trajectories, at_s, SIDE).into_iter().flatten();
            let expected = expected.iter().flatten().map(|p| p * f64::from(STATIONS) / sum);
            let statistic = chi_square(counts.zip(expected));
            assert!(statistic < super::super::tests::CHI_SQUARE_15, "{at_s} s: {statistic}");
        }
    }

    #[test]
    fn speeds_have_the_stationary_distribution_at_all_times() {
        // The density is proportional to 1/v (J. Yoon, M. Liu, B. Noble, IEEE INFOCOM 2003).
        let trajectories = trajectories(&model([1.0, 20.0], 0.0), STATIONS, 400.0);
        for at_s in TIMES_S {
            let speeds = moving(&trajectories, at_s);
            let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
            // A standard error is 0.05.
            assert!((mean - 6.34).abs() < 0.17, "{at_s} s: mean {mean}");
            // A turn within the millisecond shortens some distances.
            let distance =
                kolmogorov(speeds, |v| (libm::log(v.max(1.0)) / libm::log(20.0)).min(1.0));
            assert!(distance < 1.95, "{at_s} s: {distance}");
        }
    }

    #[test]
    fn as_many_pause_at_the_start_as_later() {
        for pause in [Pause::Constant, Pause::Uniform] {
            let model = RandomWaypointConfig { pause, ..model([1.0, 20.0], 60.0) };
            let trajectories = trajectories(&model, STATIONS, 400.0);
            // A mean trip of 521.405 m takes ln(20)/19 s/m: 82.21 s.
            let expected = 60.0 / (60.0 + 521.405 * 0.157_670);
            for at_s in TIMES_S {
                let pausing = 1.0 - moving(&trajectories, at_s).len() as f64 / 10_000.0;
                // Three and a half standard errors.
                assert!((pausing - expected).abs() < 0.0175, "{pause:?}, {at_s} s: {pausing}");
            }
        }
    }

    #[test]
    fn the_first_pause_has_the_distribution_of_a_rest() {
        for (pause, longest, distribution) in [
            (Pause::Constant, 60.0, (|t| t / 60.0) as fn(f64) -> f64),
            (Pause::Uniform, 120.0, |t| 1.0 - (1.0 - t / 120.0) * (1.0 - t / 120.0)),
        ] {
            let model = RandomWaypointConfig { pause, ..model([1.0, 20.0], 60.0) };
            let seed = kernel::Seed { root: 5, replication: 0 };
            let first = |station| {
                let until = super::super::tests::s(1.0);
                let waypoints = model.waypoints(until, &mut seed.stream("movement", station));
                let pauses = waypoints[0].position_m == waypoints[1].position_m;
                pauses.then(|| waypoints[1].at.as_secs_f64())
            };
            let rests: Vec<f64> = (0..STATIONS).filter_map(first).collect();
            assert!(rests.iter().all(|rest| *rest <= longest));
            let distance = kolmogorov(rests, distribution);
            assert!(distance < 1.95, "{pause:?}: {distance}");
        }
    }

    #[test]
    fn with_the_start_of_setdest_the_mean_speed_falls() {
        let model = RandomWaypointConfig { start: Start::Setdest, ..model([0.0, 20.0], 1.0) };
        let trajectories = trajectories(&model, 2000, 900.0);
        let mean = |at_s| {
            let speeds = moving(&trajectories, at_s);
            speeds.iter().sum::<f64>() / speeds.len() as f64
        };
        assert!(moving(&trajectories, 0.5).is_empty(), "all begin with a pause");
        // The speeds of the first trips are uniform; later the slow trips are left.
        assert!((mean(1.5) - 10.0).abs() < 0.5, "{}", mean(1.5));
        assert!(mean(850.0) < 5.0, "{}", mean(850.0));
    }

    #[test]
    fn the_mean_trip_in_a_rectangle() {
        // 0.5214 sides in a square; a third of the length on a line.
        assert!((model([1.0, 2.0], 0.0).mean_trip_m() - 521.405).abs() < 1e-3);
        let mut narrow = model([1.0, 2.0], 0.0);
        narrow.area.size = [3000.0, 1.0];
        assert!((narrow.mean_trip_m() - 1000.0).abs() < 1e-2, "{}", narrow.mean_trip_m());
    }
}
