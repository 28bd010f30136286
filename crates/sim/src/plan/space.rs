//! Space: positions, propagation and receivers of nodes that do not all hear the same.

use kernel::Instant;
use net::QueueSettings;
use wifi::space::RadioSettings;

/// Positions and radios of the nodes; without it every node hears every other.
#[derive(Debug, Clone, PartialEq)]
pub struct SpacePlan {
    /// The cells; the first is that of the access point.
    pub cells: Vec<BssPlan>,
    /// Cell and place of each station.
    pub stations: Vec<PlacePlan>,
    /// Stations send to each other without an access point.
    pub ad_hoc: bool,
    /// The settings of all radios.
    pub radio: RadioSettings,
}

/// An access point, or the position of the first node of an ad-hoc network.
#[derive(Debug, Clone, PartialEq)]
pub struct BssPlan {
    /// Where it stands, in metres.
    pub position_m: [f64; 2],
    /// Channel of its cell.
    pub channel: u16,
    /// The queue from which it sends.
    pub queue: QueueSettings,
    /// Frames that the device below the queue holds.
    pub ring: Option<u32>,
}

/// The position of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacePlan {
    /// The number of its cell.
    pub cell: u32,
    /// Its positions over time; at least one, each later than the previous one.
    pub waypoints: Vec<WaypointPlan>,
}

/// A waypoint of a station. The station moves straight and at constant speed from each to the next,
/// and stands still before the first and after the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaypointPlan {
    /// When the station is there.
    pub at: Instant,
    /// The position, in metres.
    pub position_m: [f64; 2],
}
