//! The position of a node over time.

use super::Position;
use kernel::{Duration, Instant, Span};
use std::ops::Range;

/// The trajectory of a node: until the time of its first waypoint the node is at that waypoint,
/// then it moves in a straight line at constant speed from each waypoint to the next, and it stays
/// at the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory(Waypoints);

#[derive(Clone, Debug, PartialEq)]
enum Waypoints {
    Fixed(Position),
    /// At least two waypoints, each later than the one before, and not all at one position.
    Moving(Vec<(Instant, Position)>),
}

impl From<Position> for Trajectory {
    /// The node stays at this position.
    fn from(position: Position) -> Self {
        Self(Waypoints::Fixed(position))
    }
}

impl Trajectory {
    /// A trajectory through these waypoints; at least one, each later than the one before.
    pub fn through(waypoints: Vec<(Instant, Position)>) -> Self {
        assert!(waypoints.is_sorted_by(|(a, _), (b, _)| a < b), "times rise");
        let (_, first) = *waypoints.first().expect("a trajectory has a waypoint");
        if waypoints.iter().all(|(_, position)| *position == first) {
            return first.into();
        }
        Self(Waypoints::Moving(waypoints))
    }

    /// Whether the node moves.
    pub fn moves(&self) -> bool {
        matches!(self.0, Waypoints::Moving(_))
    }

    /// Whether the node is at this height at any time.
    pub fn stays_at(&self, z: f64) -> bool {
        match &self.0 {
            Waypoints::Fixed(position) => position.z == z,
            Waypoints::Moving(waypoints) => waypoints.iter().all(|(_, position)| position.z == z),
        }
    }

    /// The position at this instant.
    pub fn at(&self, now: Instant) -> Position {
        let waypoints = match &self.0 {
            Waypoints::Fixed(position) => return *position,
            Waypoints::Moving(waypoints) => waypoints,
        };
        let next = waypoints.partition_point(|(at, _)| *at <= now);
        let last = waypoints.len() - 1;
        if next == 0 || next > last {
            return waypoints[next.min(last)].1;
        }
        let ((begin, from), (end, to)) = (waypoints[next - 1], waypoints[next]);
        let part = (now - begin).0 as f64 / (end - begin).0 as f64;
        let between = |from: f64, to: f64| from + (to - from) * part;
        Position { x: between(from.x, to.x), y: between(from.y, to.y), z: between(from.z, to.z) }
    }

    /// The part of the trajectory at this instant in which the node stands or moves straight.
    pub fn leg(&self, now: Instant) -> Leg {
        let stands = |during, place| Leg { during, place, per_ns: [0.0; 3] };
        let waypoints = match &self.0 {
            Waypoints::Fixed(position) => {
                return stands(Instant::ZERO..Instant::NEVER, *position);
            }
            Waypoints::Moving(waypoints) => waypoints,
        };
        let next = waypoints.partition_point(|(at, _)| *at <= now);
        let Some(&(end, to)) = waypoints.get(next) else {
            let (last, place) = waypoints[next - 1];
            return stands(last..Instant::NEVER, place);
        };
        let Some(&(begin, place)) = next.checked_sub(1).map(|before| &waypoints[before]) else {
            return stands(Instant::ZERO..end, to);
        };
        let ns = (end - begin).0 as f64;
        let per_ns = [(to.x - place.x) / ns, (to.y - place.y) / ns, (to.z - place.z) / ns];
        Leg { during: begin..end, place, per_ns }
    }

    /// The greatest speed, in metres per second.
    pub fn fastest(&self) -> f64 {
        let Waypoints::Moving(waypoints) = &self.0 else { return 0.0 };
        let speed = |pair: &[(Instant, Position)]| {
            pair[0].1.distance(pair[1].1) / (pair[1].0 - pair[0].0).as_secs_f64()
        };
        waypoints.windows(2).map(speed).fold(0.0, f64::max)
    }

    /// The least distance to another trajectory at any instant, in metres.
    pub fn closest(&self, other: &Self) -> f64 {
        self.closest_during(other, Span { start: Instant::ZERO, end: Instant::NEVER })
    }

    /// The least distance to another trajectory in a span of time, in metres.
    pub fn closest_during(&self, other: &Self, during: Span) -> f64 {
        self.approach(other, during).0
    }

    /// The least distance to another trajectory in a span of time, in metres, and when it is
    /// reached first.
    pub fn approach(&self, other: &Self, during: Span) -> (f64, Instant) {
        let Span { start: begin, end } = during;
        let mut times = [self, other].map(|trajectory| trajectory.times_in(begin, end).iter());
        let [mut a, mut b] = times.each_mut().map(|times| times.next().map(|(at, _)| *at));
        let apart = |now| {
            let (a, b) = (self.at(now), other.at(now));
            [a.x - b.x, a.y - b.y, a.z - b.z]
        };
        // Between two waypoints of either node, one moves in a straight line relative to the other.
        let (mut since, mut before) = (begin, apart(begin));
        let mut closest = (past(before, before).0, begin);
        loop {
            let next = match (a, b) {
                (Some(first), Some(second)) => first.min(second),
                (first, second) => first.or(second).unwrap_or(end),
            };
            let after = apart(next);
            let (distance, part) = past(before, after);
            if distance < closest.0 {
                closest = (distance, since + Duration(((next - since).0 as f64 * part) as u64));
            }
            if a.is_none() && b.is_none() {
                return closest;
            }
            (since, before) = (next, after);
            for (time, times) in [&mut a, &mut b].into_iter().zip(&mut times) {
                if *time == Some(next) {
                    *time = times.next().map(|(at, _)| *at);
                }
            }
        }
    }

    /// The waypoints between two instants.
    fn times_in(&self, begin: Instant, end: Instant) -> &[(Instant, Position)] {
        let Waypoints::Moving(waypoints) = &self.0 else { return &[] };
        let from = waypoints.partition_point(|(at, _)| *at <= begin);
        let until = from + waypoints[from..].partition_point(|(at, _)| *at < end);
        &waypoints[from..until]
    }
}

/// A part of a trajectory in which the node stands or moves straight at constant speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// When.
    pub during: Range<Instant>,
    /// The position at the begin.
    place: Position,
    /// The velocity, in metres per nanosecond.
    per_ns: [f64; 3],
}

impl Leg {
    /// The position at an instant of the leg; it differs from [`Trajectory::at`] by rounding only.
    #[inline]
    pub fn at(&self, now: Instant) -> Position {
        // As a signed number, which the processor converts at once.
        let ns = (now - self.during.start).0 as i64 as f64;
        let [x, y, z] = self.per_ns;
        let Position { x: east, y: north, z: up } = self.place;
        Position { x: east + x * ns, y: north + y * ns, z: up + z * ns }
    }
}

/// The least distance of a line segment from the origin, and at which part of the segment it is.
fn past(from: [f64; 3], to: [f64; 3]) -> (f64, f64) {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let line = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    let length = dot(line, line);
    let part = if length > 0.0 { (-dot(from, line) / length).clamp(0.0, 1.0) } else { 0.0 };
    let foot = [0, 1, 2].map(|i| from[i] + line[i] * part);
    (libm::sqrt(dot(foot, foot)), part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn place(x: f64, y: f64) -> Position {
        Position { x, y, z: 1.5 }
    }

    #[test]
    fn it_goes_straight_from_waypoint_to_waypoint() {
        let trajectory = Trajectory::through(vec![
            (s(10.0), place(2.0, 0.0)),
            (s(20.0), place(42.0, 30.0)),
            (s(30.0), place(42.0, 30.0)),
            (s(40.0), place(42.0, -10.0)),
        ]);
        assert!(trajectory.moves());
        assert!(trajectory.stays_at(1.5) && !trajectory.stays_at(0.0));
        let climbing = vec![(s(0.0), place(0.0, 0.0)), (s(9.0), Position::default())];
        assert!(!Trajectory::through(climbing).stays_at(1.5));
        let expected = [
            (0.0, 2.0, 0.0),
            (10.0, 2.0, 0.0),
            (15.0, 22.0, 15.0),
            (20.0, 42.0, 30.0),
            (25.0, 42.0, 30.0),
            (32.5, 42.0, 20.0),
            (40.0, 42.0, -10.0),
            (1000.0, 42.0, -10.0),
        ];
        for (at, x, y) in expected {
            assert_eq!(trajectory.at(s(at)), place(x, y), "at {at} s");
        }
    }

    #[test]
    fn its_legs_have_its_positions() {
        let waypoints = [(3.0, 2.0, 0.0), (20.0, 42.0, 30.0), (30.0, 42.0, 30.0), (47.0, 4.0, 1.0)];
        let moving = waypoints.map(|(at, x, y)| (s(at), place(x, y)));
        for trajectory in [Trajectory::through(moving.to_vec()), place(1.0, 2.0).into()] {
            for tenth in 0..600 {
                let now = s(f64::from(tenth) * 0.1);
                let leg = trajectory.leg(now);
                assert!(leg.during.contains(&now), "{leg:?} at {now}");
                assert!(leg.at(now).distance(trajectory.at(now)) < 1e-9, "{leg:?} at {now}");
            }
        }
    }

    #[test]
    fn waypoints_at_one_place_are_that_place() {
        let here = place(0.1, 0.7);
        let trajectory = Trajectory::through(vec![(s(1.0), here), (s(7.0), here)]);
        assert_eq!(trajectory, Trajectory::from(here));
        assert!(!trajectory.moves());
        assert_eq!(trajectory.at(s(3.3)), here);
    }

    #[test]
    fn two_that_pass_each_other_are_closest_on_their_way() {
        let stands = Trajectory::from(place(0.0, 3.0));
        let goes =
            Trajectory::through(vec![(s(0.0), place(-40.0, 0.0)), (s(8.0), place(40.0, 0.0))]);
        assert_eq!(goes.closest(&stands), 3.0);
        assert_eq!(stands.closest(&goes), 3.0);
        assert_eq!(stands.closest(&Trajectory::from(place(4.0, 0.0))), 5.0);
        // They meet at 4 s. A second later, the first has moved on, and the second is 10 m behind.
        let meets =
            Trajectory::through(vec![(s(0.0), place(40.0, 0.0)), (s(8.0), place(-40.0, 0.0))]);
        assert_eq!(goes.closest(&meets), 0.0);
        assert_eq!(goes.approach(&meets, Span { start: s(1.0), end: s(9.0) }), (0.0, s(4.0)));
        let behind =
            Trajectory::through(vec![(s(1.0), place(-40.0, 0.0)), (s(9.0), place(40.0, 0.0))]);
        assert_eq!(goes.closest(&behind), 0.0, "before they go both stand there");
        // A position that it has left before the other arrives.
        let late =
            Trajectory::through(vec![(s(8.0), place(0.0, 90.0)), (s(16.0), place(0.0, 10.0))]);
        let expected = libm::sqrt(40.0 * 40.0 + 10.0 * 10.0);
        assert!((goes.closest(&late) - expected).abs() < 1e-9, "{}", goes.closest(&late));
    }

    #[test]
    fn no_moment_is_closer_than_the_closest() {
        let goes = Trajectory::through(vec![
            (s(0.0), place(-7.0, 1.0)),
            (s(3.0), place(5.0, 9.0)),
            (s(4.5), place(6.0, -20.0)),
        ]);
        let other =
            Trajectory::through(vec![(s(1.0), place(8.0, 8.0)), (s(5.0), place(-3.0, -11.0))]);
        let distances: Vec<f64> = (0..6000)
            .map(|ms| f64::from(ms) * 1e-3)
            .map(|t| goes.at(s(t)).distance(other.at(s(t))))
            .collect();
        let least = distances.into_iter().fold(f64::INFINITY, f64::min);
        let closest = goes.closest(&other);
        assert!(closest <= least && least < closest + 0.02, "{closest} {least}");
    }
}
