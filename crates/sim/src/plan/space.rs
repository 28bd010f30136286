//! Space: positions, propagation and receivers of nodes that do not all hear the same.

use super::Device;
use crate::mobility::movement::MovementSettings;
use crate::mobility::{Area, TimedPosition};
use kernel::{Dbm, Instant};
use net::QueueSettings;
use wifi::space::RadioSettings;

/// Positions and radios of the nodes; without it every node hears every other, and the medium is a
/// cell.
#[derive(Debug, Clone, PartialEq)]
pub struct SpacePlan {
    /// The scenario has no radio: all nodes are at one place, every node hears every other, and the
    /// medium is a space because a cell does not have what the scenario asks for.
    pub is_flat: bool,
    /// The cells; the first is that of the access point.
    pub cells: Vec<BssPlan>,
    /// Cell and place of each station.
    pub stations: Vec<PlacePlan>,
    /// Stations send to each other without an access point.
    pub ad_hoc: bool,
    /// The settings of all radios.
    pub radio: RadioSettings,
}

/// The highest transmit power of these nodes.
pub(crate) fn highest_power(cells: &[BssPlan], stations: &[PlacePlan]) -> Dbm {
    let powers = cells.iter().map(|cell| cell.tx_power);
    let powers = powers.chain(stations.iter().map(|station| station.tx_power));
    Dbm(powers.map(|power| power.0).fold(f64::NEG_INFINITY, f64::max))
}

/// An access point, or the position of the first node of an ad-hoc network.
#[derive(Debug, Clone, PartialEq)]
pub struct BssPlan {
    /// Where it stands, in metres.
    pub position_m: [f64; 2],
    /// Number of the primary channel of its cell.
    pub channel: u16,
    /// Its BSS color; with 0, other nodes do not know it.
    pub color: u8,
    /// The transmit power of its access point.
    pub tx_power: Dbm,
    /// The queue from which it sends.
    pub queue: QueueSettings,
    /// What the device takes from it ahead.
    pub device: Device,
}

/// The position of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacePlan {
    /// The number of its cell.
    pub cell: u32,
    /// Its transmit power.
    pub tx_power: Dbm,
    /// Its positions over time.
    pub movement: MovementPlan,
}

/// The positions of a station over time.
#[derive(Debug, Clone, PartialEq)]
pub enum MovementPlan {
    /// Through these waypoints; at least one, each later than the previous one.
    Waypoints(Vec<TimedPosition>),
    /// As its random stream decides.
    Random(MovementSettings),
    /// At a position in an area that its random stream decides.
    Anywhere(Area),
}

impl MovementPlan {
    /// At one position.
    pub fn at(position_m: [f64; 2]) -> Self {
        Self::Waypoints(vec![TimedPosition { at: Instant::ZERO, position_m }])
    }

    /// The position of a station that does not move, if it is not random.
    pub fn fixed_position(&self) -> Option<[f64; 2]> {
        match self {
            Self::Waypoints(waypoints) => match waypoints[..] {
                [TimedPosition { position_m, .. }] => Some(position_m),
                _ => None,
            },
            Self::Random(_) | Self::Anywhere(_) => None,
        }
    }
}
