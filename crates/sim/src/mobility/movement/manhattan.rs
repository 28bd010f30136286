//! Movement along the streets of a grid.

use super::super::{Area, FASTEST_MPS, TimedPosition, Track};
use super::random_waypoint::check_speeds;
use super::{Movement, RandomMovement, Source};
use kernel::{Instant, Rng};
use settings::{Faults, Path, Settings};

/// Manhattan grid: stations move along streets that cross at right angles, and turn at crossings
/// at random (F. Bai, N. Sadagopan, A. Helmy, IEEE INFOCOM 2003). Each station keeps its own
/// speed. Positions are uniform along the streets at all times.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = speeds_ascend)]
pub struct ManhattanConfig {
    /// The area.
    #[setting(flatten)]
    pub area: Area,
    /// How many streets run from south to north, and how many from west to east. The outermost are
    /// at the border of the area.
    #[setting(default = [5, 5], range = 2..=1000)]
    pub streets: [u64; 2],
    /// The least and the greatest speed of stations in metres per second. Speeds are uniform
    /// between them.
    #[setting(default = [1.0, 10.0], range = 0.0..=FASTEST_MPS)]
    pub speed_mps: [f64; 2],
    /// The probability to go straight on where four streets meet; turns to the left and to the
    /// right are equally probable. Where three streets meet, the two others are equally probable.
    #[setting(default = 0.5, range = 0.0..=1.0)]
    pub straight: f64,
}

fn speeds_ascend(config: &ManhattanConfig, at: &Path, faults: &mut Faults) {
    check_speeds(config.speed_mps, at, faults);
}

impl Movement for ManhattanConfig {
    fn source(&self) -> Source<'_> {
        Source::Random(self)
    }
}

/// A direction: one step east, or north, or back.
type Direction = [i64; 2];

impl RandomMovement for ManhattanConfig {
    fn waypoints(&self, until: Instant, rng: &mut Rng) -> Vec<TimedPosition> {
        let [least, most] = self.speed_mps;
        let speed = most - (most - least) * rng.uniform();
        let (mut crossing, mut direction, part) = self.place(rng);
        let [from, to] = [crossing, ahead(crossing, direction)].map(|place| self.position(place));
        let mut track = Track::from([0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part));
        while track.end_s < until.as_secs_f64() {
            crossing = ahead(crossing, direction);
            track.go(self.position(crossing), speed);
            direction = self.turn(crossing, direction, rng);
        }
        track.waypoints
    }

    fn waypoints_per_s(&self) -> f64 {
        let block = self.block();
        self.speed_mps[1] / block[0].min(block[1])
    }
}

impl ManhattanConfig {
    /// The distances of neighbouring crossings to the east and to the north.
    fn block(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.area.size[axis] / (self.streets[axis] - 1) as f64)
    }

    fn position(&self, crossing: [i64; 2]) -> [f64; 2] {
        let block = self.block();
        [0, 1].map(|axis| self.area.corner[axis] + crossing[axis] as f64 * block[axis])
    }

    /// A place uniform along the streets: the crossing behind it, a direction, and the part of the
    /// block that is passed.
    fn place(&self, rng: &mut Rng) -> ([i64; 2], Direction, f64) {
        let [columns, rows] = self.streets.map(|streets| streets as f64);
        let [width, height] = self.area.size;
        let is_eastward = rng.uniform() * (rows * width + columns * height) < rows * width;
        let along = usize::from(!is_eastward);
        let mut crossing = [0, 0];
        crossing[along] = rng.up_to(self.streets[along] as u32 - 2).into();
        crossing[1 - along] = rng.up_to(self.streets[1 - along] as u32 - 1).into();
        let mut direction = [0, 0];
        direction[along] = 1;
        if rng.chance(0.5) {
            crossing = ahead(crossing, direction);
            direction[along] = -1;
        }
        (crossing, direction, rng.uniform())
    }

    /// The direction in which a station leaves a crossing.
    fn turn(&self, crossing: [i64; 2], [x, y]: Direction, rng: &mut Rng) -> Direction {
        let is_open = |direction: &Direction| {
            let next = ahead(crossing, *direction);
            (0..2).all(|axis| (0..self.streets[axis] as i64).contains(&next[axis]))
        };
        let (straight, left, right) = ([x, y], [-y, x], [y, -x]);
        let open: Vec<Direction> = [straight, left, right].into_iter().filter(is_open).collect();
        match open[..] {
            [only] => only,
            [first, second] => {
                if rng.chance(0.5) {
                    first
                } else {
                    second
                }
            }
            _ if rng.chance(self.straight) => straight,
            _ if rng.chance(0.5) => left,
            _ => right,
        }
    }
}

/// The next crossing in a direction.
fn ahead(crossing: [i64; 2], direction: Direction) -> [i64; 2] {
    [crossing[0] + direction[0], crossing[1] + direction[1]]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, s, trajectories};
    use super::*;

    /// Four streets to the north 100 m apart, three to the east 50 m apart.
    fn model() -> ManhattanConfig {
        ManhattanConfig {
            area: Area { size: [300.0, 100.0], corner: [20.0, 10.0] },
            streets: [4, 3],
            ..ManhattanConfig::default()
        }
    }

    #[test]
    fn positions_are_uniform_along_the_streets_at_all_times() {
        let trajectories = trajectories(&model(), 10_000, 300.0);
        for at_s in [0.0, 31.0, 300.0] {
            // Blocks to the east by street and column, then blocks to the north.
            let mut counts = [0.0; 9 + 8];
            for trajectory in &trajectories {
                let at = trajectory.at(s(at_s));
                let (x, y) = ((at.x - 20.0) / 100.0, (at.y - 10.0) / 50.0);
                let is_on = |at: f64| (at - libm::round(at)).abs() < 1e-9;
                assert!(is_on(x) || is_on(y), "{at:?} is on no street");
                let block = if is_on(y) {
                    3 * libm::round(y) as usize + (x as usize).min(2)
                } else {
                    9 + 2 * libm::round(x) as usize + (y as usize).min(1)
                };
                counts[block] += 1.0;
            }
            // Nine blocks of 100 m, eight of 50 m: 1300 m.
            let expected = |block| 10_000.0 * if block < 9 { 100.0 } else { 50.0 } / 1300.0;
            let pairs = counts.into_iter().enumerate().map(|(block, n)| (n, expected(block)));
            let statistic = chi_square(pairs);
            // The 99.9 % quantile with 16 degrees of freedom.
            assert!(statistic < 39.25, "{at_s} s: {statistic}");
        }
    }

    #[test]
    fn a_station_keeps_its_speed() {
        let seed = kernel::Seed { root: 4, replication: 0 };
        let mut fastest = Vec::new();
        for station in 0..50 {
            let waypoints = model().waypoints(s(100.0), &mut seed.stream("movement", station));
            let speeds = waypoints.windows(2).map(|pair| {
                let [x, y] = [0, 1].map(|axis| pair[1].position_m[axis] - pair[0].position_m[axis]);
                libm::hypot(x, y) / (pair[1].at - pair[0].at).as_secs_f64()
            });
            let speeds: Vec<f64> = speeds.collect();
            assert!(speeds.iter().all(|speed| (speed - speeds[0]).abs() < 1e-3), "{speeds:?}");
            fastest.push(speeds[0]);
        }
        fastest.sort_by(f64::total_cmp);
        assert!(fastest[0] > 1.0 && fastest[49] < 10.0 && fastest[49] > 2.0 * fastest[0]);
    }

    #[test]
    fn it_turns_at_crossings_as_often_as_it_should() {
        let model = ManhattanConfig { straight: 0.6, ..model() };
        let mut rng = kernel::Seed { root: 1, replication: 0 }.stream("test", 0);
        let mut share = |crossing, expected: [f64; 3]| {
            let mut counts = [0.0; 3];
            for _ in 0..10_000 {
                let turned = model.turn(crossing, [1, 0], &mut rng);
                let ways = [[1, 0], [0, 1], [0, -1]];
                counts[ways.iter().position(|way| *way == turned).unwrap()] += 1e-4;
            }
            for (found, expected) in counts.into_iter().zip(expected) {
                assert!((found - expected).abs() < 0.017, "{crossing:?}: {counts:?}");
            }
        };
        share([1, 1], [0.6, 0.2, 0.2]);
        share([1, 0], [0.5, 0.5, 0.0]);
        share([3, 1], [0.0, 0.5, 0.5]);
        share([3, 2], [0.0, 0.0, 1.0]);
    }
}
