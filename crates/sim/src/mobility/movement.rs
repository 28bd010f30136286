//! Movement of stations, one model or file format a file.

mod file;

pub use file::{FileFault, MovementFile, Tracks};

use super::TimedPosition;
use kernel::{Instant, Rng};

settings::registry! {
    /// The movement of the stations of a group, each on its own.
    #[settings(name = "Movement")]
    pub enum MovementSettings: Movement = RandomWaypoint;
    bonnmotion: Bonnmotion(BonnmotionConfig),
    csv: Csv(CsvConfig),
    gauss_markov: GaussMarkov(GaussMarkovConfig),
    manhattan: Manhattan(ManhattanConfig),
    random_walk: RandomWalk(RandomWalkConfig),
    random_waypoint: RandomWaypoint(RandomWaypointConfig),
    setdest: Setdest(SetdestConfig),
}

/// The settings of a movement.
pub trait Movement {
    /// Where the waypoints come from.
    fn source(&self) -> Source<'_>;
}

/// Where waypoints come from.
pub enum Source<'a> {
    /// They are drawn.
    Random(&'a dyn RandomMovement),
    /// They are read from a file.
    File(&'a dyn MovementFile),
}

/// A movement whose waypoints are drawn.
pub trait RandomMovement {
    /// The waypoints of one station until a time, from its random stream.
    fn waypoints(&self, until: Instant, rng: &mut Rng) -> Vec<TimedPosition>;

    /// About how many waypoints a station has per second.
    fn waypoints_per_s(&self) -> f64;
}

#[cfg(test)]
mod tests {
    //! Fixtures of the tests of random movements.

    use super::RandomMovement;
    use crate::mobility::Area;
    use kernel::{Duration, Instant, Seed};
    use wifi::phy::propagation::{Position, Trajectory};

    pub(super) fn square(side: f64) -> Area {
        Area { size: [side, side], corner: [0.0, 0.0] }
    }

    pub(super) fn s(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    /// The trajectories of this many stations until a time.
    pub(super) fn trajectories(
        movement: &dyn RandomMovement,
        count: u32,
        until_s: f64,
    ) -> Vec<Trajectory> {
        let seed = Seed { root: 11, replication: 0 };
        let trajectory = |station| {
            let waypoints = movement.waypoints(s(until_s), &mut seed.stream("movement", station));
            let place = |[x, y]: [f64; 2]| Position { x, y, z: 0.0 };
            let points = waypoints.iter().map(|point| (point.at, place(point.position_m)));
            Trajectory::through(points.collect())
        };
        (0..count).map(trajectory).collect()
    }

    /// How many stations are in each field of a chessboard on a square.
    pub(super) fn fields<const N: usize>(
        trajectories: &[Trajectory],
        at_s: f64,
        side: f64,
    ) -> [[f64; N]; N] {
        let mut counts = [[0.0; N]; N];
        for trajectory in trajectories {
            let at = trajectory.at(s(at_s));
            let [column, row] = [at.x, at.y].map(|metres| {
                assert!((0.0..=side).contains(&metres), "{metres} m is outside of {side} m");
                ((metres / side * N as f64) as usize).min(N - 1)
            });
            counts[row][column] += 1.0;
        }
        counts
    }

    /// Pearson's statistic of counts and their expectations.
    pub(super) fn chi_square(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        pairs.map(|(count, expected)| (count - expected) * (count - expected) / expected).sum()
    }

    /// Pearson's statistic of a uniform distribution over the fields of a chessboard.
    pub(super) fn chi_square_of_uniform<const N: usize>(counts: [[f64; N]; N]) -> f64 {
        let all: f64 = counts.iter().flatten().sum();
        let expected = all / (N * N) as f64;
        chi_square(counts.into_iter().flatten().map(|count| (count, expected)))
    }

    /// The 99.9 % quantile of the chi-square distribution with 15 degrees of freedom.
    pub(super) const CHI_SQUARE_15: f64 = 37.70;

    /// The speed at a time, from two positions a millisecond apart.
    pub(super) fn speed(trajectory: &Trajectory, at_s: f64) -> f64 {
        trajectory.at(s(at_s)).distance(trajectory.at(s(at_s + 1e-3))) / 1e-3
    }

    /// The largest difference of the distribution of samples from a distribution function
    /// (Kolmogorov, Smirnov), times the root of their number. It exceeds 1.95 with a probability of
    /// 0.1 %.
    pub(super) fn kolmogorov(mut samples: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
        samples.sort_by(f64::total_cmp);
        let n = samples.len() as f64;
        let apart = |(place, sample): (usize, &f64)| {
            let (below, expected) = (place as f64 / n, distribution(*sample));
            (expected - below).abs().max((expected - below - 1.0 / n).abs())
        };
        samples.iter().enumerate().map(apart).fold(0.0, f64::max) * libm::sqrt(n)
    }
}
