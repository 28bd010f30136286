//! Where mobile stations are: positions and movement as functions of time.
//!
//! A placement gives each station of a group its position. A movement gives each its waypoints,
//! drawn from the station's own random stream or read from a file. Movement causes no events.

pub mod movement;
pub mod placement;

use kernel::{Duration, Instant, Rng};
use settings::Settings;

/// The maximum speed of a node in metres per second.
pub const FASTEST_MPS: f64 = 1000.0;

/// A position at a time. A station moves straight and at constant speed from each waypoint to the
/// next, and stands still before the first and after the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPosition {
    /// When the station is there.
    pub at: Instant,
    /// East and north, in metres.
    pub position_m: [f64; 2],
}

/// The rectangle in which stations are.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Area {
    /// Width and height of the area in metres, east and north; required.
    #[setting(key = "area_m", required = "as [1000.0, 1000.0]", range = 1e-3..=1e6)]
    pub size: [f64; 2],
    /// The south-west corner of the area in metres east and north.
    #[setting(key = "corner_m", default = [0.0, 0.0], range = -1e6..=1e6)]
    pub corner: [f64; 2],
}

impl Area {
    /// A position of a uniform distribution.
    pub fn uniform(&self, rng: &mut Rng) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.size[axis] * rng.uniform())
    }

    /// The length of the diagonal in metres.
    fn diagonal(&self) -> f64 {
        libm::hypot(self.size[0], self.size[1])
    }
}

/// The waypoints of one station, in the order of time.
#[derive(Debug)]
struct Track {
    waypoints: Vec<TimedPosition>,
    /// The time after the last waypoint, in seconds.
    end_s: f64,
}

impl Track {
    /// At this position from time zero on.
    fn from(position_m: [f64; 2]) -> Self {
        Self { waypoints: vec![TimedPosition { at: Instant::ZERO, position_m }], end_s: 0.0 }
    }

    /// The last position.
    fn position(&self) -> [f64; 2] {
        self.waypoints.last().expect("a track has a first position").position_m
    }

    /// Stays for this time.
    fn stay(&mut self, seconds: f64) {
        self.arrive(self.position(), seconds);
    }

    /// Moves to a position at this speed.
    fn go(&mut self, to: [f64; 2], speed_mps: f64) {
        let from = self.position();
        self.arrive(to, libm::hypot(to[0] - from[0], to[1] - from[1]) / speed_mps);
    }

    /// Is at a position this time later.
    fn arrive(&mut self, position_m: [f64; 2], seconds: f64) {
        self.end_s += seconds;
        let at = Instant::ZERO + Duration::from_secs_f64(self.end_s);
        match self.waypoints.last_mut() {
            Some(last) if last.at >= at => last.position_m = position_m,
            _ => self.waypoints.push(TimedPosition { at, position_m }),
        }
    }
}

/// A standard normal variate (G. E. P. Box, M. E. Muller, Annals of Mathematical Statistics 29,
/// 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(2.0 * rng.exponential(1.0));
    radius * libm::cos(std::f64::consts::TAU * rng.uniform())
}
