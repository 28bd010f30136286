//! Propagation: the loss of a signal between two nodes.

mod fading;
mod shadowing;
mod trajectory;
mod variates;

pub use fading::Fading;
pub use shadowing::Shadowing;
pub use trajectory::{Leg, Trajectory};

use kernel::{Db, Duration, Instant};
use std::fmt::Debug;

settings::registry! {
    /// Path loss by distance.
    #[settings(name = "Propagation")]
    pub enum PropagationSettings: Propagation = LogDistance;
    friis: Friis(Friis),
    log_distance: LogDistance(LogDistance),
    two_ray: TwoRay(TwoRay),
}

/// A position, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
    /// Up.
    pub z: f64,
}

impl Position {
    /// The distance of two positions in metres.
    pub fn distance(self, other: Self) -> f64 {
        libm::sqrt(self.square_distance(other))
    }

    /// The square of the distance.
    #[inline]
    pub fn square_distance(self, other: Self) -> f64 {
        let (x, y, z) = (self.x - other.x, self.y - other.y, self.z - other.z);
        x * x + y * y + z * z
    }

    /// The same of two positions at one height, equal to the last bit.
    #[inline]
    pub fn square_ground_distance(self, other: Self) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        x * x + y * y
    }
}

/// A path between two nodes at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Distance in metres.
    pub distance: f64,
    /// The two nodes, in either order.
    pub ends: (u32, u32),
    /// The instant.
    pub now: Instant,
}

impl Path {
    /// A number for the pair of nodes, the same in both directions, so that both have the same
    /// shadowing: 0 for nodes 0 and 1, 1 for 0 and 2, 2 for 1 and 2, …
    fn pair(&self) -> u32 {
        let (a, b) = self.ends;
        let (low, high) = (u64::from(a.min(b)), u64::from(a.max(b)));
        debug_assert!(low != high, "a node has no path to itself");
        (high * high.saturating_sub(1) / 2 + low) as u32
    }
}

/// A propagation model. The loss depends only on the path, and not on the order of calls: a random
/// loss is a fixed function of the seed, the pair of nodes and the time. All else equal, the loss
/// does not decrease with the distance.
pub trait Propagation: Debug + Send {
    /// The loss of the signal. Antennas have no gain.
    fn loss(&self, path: &Path) -> Db;

    /// Replaces squares of distances in metres by the losses over these distances as factors of the
    /// power. Returns whether the model has a formula for that. The factors differ from
    /// [`Self::loss`] by rounding only, and are faster.
    fn factors(&self, _squares: &mut [f64]) -> bool {
        false
    }

    /// Whether the loss is a function of the distance alone.
    fn goes_by_distance(&self) -> bool {
        false
    }

    /// A distance in metres beyond which every path loses more than this; infinite if there is
    /// none.
    fn reach(&self, _loss: Db) -> f64 {
        f64::INFINITY
    }
}

impl<P: Propagation + ?Sized> Propagation for Box<P> {
    fn loss(&self, path: &Path) -> Db {
        (**self).loss(path)
    }

    fn factors(&self, squares: &mut [f64]) -> bool {
        (**self).factors(squares)
    }

    fn goes_by_distance(&self) -> bool {
        (**self).goes_by_distance()
    }

    fn reach(&self, loss: Db) -> f64 {
        (**self).reach(loss)
    }
}

/// Speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;

/// How long a signal takes over a distance in metres. It is rounded up, so that over two sides of a
/// triangle it takes no less than over the third: of nodes that count slots from the end of one
/// frame, none senses another one that begins in the same slot.
pub fn delay(distance: f64) -> Duration {
    Duration(libm::ceil(distance / LIGHT * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let (a, b) = (Position { x: 1.0, y: 2.0, z: 3.0 }, Position { x: 4.0, y: 6.0, z: 15.0 });
        assert_eq!(a.distance(b), 13.0);
        assert_eq!(b.distance(a), 13.0);
        assert_ne!(a.square_ground_distance(b), a.square_distance(b));
        let level = Position { z: a.z, ..b };
        assert_eq!(a.square_ground_distance(level), a.square_distance(level));
    }

    #[test]
    fn the_factor_of_the_power_is_the_loss() {
        let models: [Box<dyn Propagation>; 2] =
            [Box::new(TwoRay {}), Box::new(Friis { frequency_mhz: 5150.0 })];
        for model in models {
            for distance in [0.001, 0.1, 1.0, 50.0, 86.0, 87.0, 250.0, 550.0, 1e4] {
                let loss = model.loss(&Path { distance, ends: (0, 1), now: Instant::ZERO });
                let expected = libm::pow(10.0, -loss.0 / 10.0);
                let mut factors = [distance * distance];
                assert!(model.factors(&mut factors));
                let [factor] = factors;
                assert!((factor / expected - 1.0).abs() < 1e-12, "{model:?} at {distance} m");
            }
        }
    }

    #[test]
    fn beyond_its_reach_every_loss_is_greater() {
        let log_distance =
            |exponent, reference_m| LogDistance { exponent, reference_m, ..LogDistance::default() };
        let models: [Box<dyn Propagation>; 6] = [
            Box::new(Friis { frequency_mhz: 5150.0 }),
            Box::new(Friis { frequency_mhz: 60.0 }),
            Box::new(log_distance(3.0, 1.0)),
            Box::new(log_distance(0.5, 0.01)),
            Box::new(log_distance(0.0, 1.0)),
            Box::new(TwoRay {}),
        ];
        for model in models {
            for most in (-20..200).map(|db| Db(f64::from(db) + 0.1)) {
                let reach = model.reach(most);
                let loss =
                    |distance| model.loss(&Path { distance, ends: (0, 1), now: Instant::ZERO });
                for beyond in [1.0 + 1e-9, 1.5, 1e6].map(|times| reach * times) {
                    let lost = !beyond.is_finite() || loss(beyond).0 > most.0 - 1e-6;
                    assert!(lost, "{model:?}: {most:?} at {beyond} m");
                }
            }
        }
    }

    #[test]
    fn the_reach_is_the_distance_of_that_loss() {
        let models: [(Box<dyn Propagation>, f64); 3] = [
            (Box::new(Friis { frequency_mhz: 5150.0 }), 100.0),
            (Box::new(LogDistance::default()), 100.0),
            (Box::new(TwoRay {}), 100.0),
        ];
        for (model, most) in models {
            let path =
                Path { distance: 0.999 * model.reach(Db(most)), ends: (0, 1), now: Instant::ZERO };
            assert!(model.loss(&path).0 < most, "{model:?}");
        }
    }

    #[test]
    fn every_pair_has_its_number() {
        let mut numbers = Vec::new();
        for high in 1..60 {
            for low in 0..high {
                let pair = |ends| Path { distance: 1.0, ends, now: Instant::ZERO }.pair();
                assert_eq!(pair((low, high)), pair((high, low)));
                numbers.push(pair((low, high)));
            }
        }
        assert!(numbers.into_iter().eq(0..59 * 60 / 2));
    }
}
