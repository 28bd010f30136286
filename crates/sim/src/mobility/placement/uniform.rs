//! Stations anywhere in an area.

use super::super::Area;
use super::{Placement, Position};
use settings::Settings;

/// The stations stand at independent random positions, uniform in an area.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct UniformConfig {
    /// The area.
    #[setting(flatten)]
    pub area: Area,
}

impl Placement for UniformConfig {
    fn position(&self, _number: u64) -> Position {
        Position::In(self.area)
    }
}
