//! A chain of stations.

use super::{Placement, Position};
use settings::Settings;

/// The stations stand in a line from `position_m` to the east, at equal distances.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ChainConfig {
    /// The distance of neighbours in metres.
    #[setting(default = 200.0, range = 1e-3..=1e5)]
    pub spacing_m: f64,
}

impl Placement for ChainConfig {
    fn position(&self, number: u64) -> Position {
        Position::From([number as f64 * self.spacing_m, 0.0])
    }
}
