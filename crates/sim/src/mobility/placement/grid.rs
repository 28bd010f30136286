//! A grid of stations.

use super::{Placement, Position};
use settings::Settings;

/// The stations stand in rows from `position_m` to the east, and the rows follow each other to the
/// north.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct GridConfig {
    /// The number of stations in a row.
    #[setting(default = 5, range = 1..=10_000)]
    pub columns: u64,
    /// The distance of neighbours in a row and of rows, in metres.
    #[setting(default = 200.0, range = 1e-3..=1e5)]
    pub spacing_m: f64,
}

impl Placement for GridConfig {
    fn position(&self, number: u64) -> Position {
        let (row, column) = (number / self.columns, number % self.columns);
        Position::From([column as f64 * self.spacing_m, row as f64 * self.spacing_m])
    }
}
