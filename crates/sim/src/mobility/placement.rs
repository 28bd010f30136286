//! Positions of stations that do not move, one placement a file.

settings::registry! {
    /// The positions of the stations of a group.
    #[settings(name = "Placement")]
    pub enum PlacementSettings: Placement = Chain;
    chain: Chain(ChainConfig),
    grid: Grid(GridConfig),
    uniform: Uniform(UniformConfig),
}

/// The settings of a placement.
pub trait Placement {
    /// Where the station with this number stands.
    fn position(&self, number: u64) -> Position;
}

/// Where a station stands.
pub enum Position {
    /// This far from the group's `position_m`, in metres east and north.
    From([f64; 2]),
    /// Anywhere in an area, at random.
    In(super::Area),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(placement: &dyn Placement, count: u64) -> Vec<[f64; 2]> {
        let offset = |number| match placement.position(number) {
            Position::From(offset) => offset,
            Position::In(area) => panic!("somewhere in {area:?}"),
        };
        (0..count).map(offset).collect()
    }

    #[test]
    fn a_chain_goes_to_the_east() {
        let chain = ChainConfig { spacing_m: 150.0 };
        assert_eq!(offsets(&chain, 3), [[0.0, 0.0], [150.0, 0.0], [300.0, 0.0]]);
    }

    #[test]
    fn a_grid_has_rows() {
        let grid = GridConfig { columns: 2, spacing_m: 10.0 };
        let expected = [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0], [0.0, 20.0]];
        assert_eq!(offsets(&grid, 5), expected);
    }
}
