//! The air between nodes that hear different things: places, propagation, receivers.

use kernel::Instant;
use net::QueueSettings;
use wifi::space::RadioSettings;

/// Where nodes stand and what their radios do; without it all hear all.
#[derive(Debug, Clone, PartialEq)]
pub struct SpacePlan {
    /// The cells; the first is that of the access point.
    pub cells: Vec<BssPlan>,
    /// Cell and place of each station.
    pub stations: Vec<PlacePlan>,
    /// Stations send to each other without an access point.
    pub ad_hoc: bool,
    /// What all radios do.
    pub radio: RadioSettings,
}

/// An access point, or the place of an ad-hoc network's first node.
#[derive(Debug, Clone, PartialEq)]
pub struct BssPlan {
    /// Where it stands, in metres.
    pub position_m: [f64; 2],
    /// Channel of its cell.
    pub channel: u16,
    /// What it sends from.
    pub queue: QueueSettings,
    /// Frames that its device holds below that.
    pub ring: Option<u32>,
}

/// Where a station is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacePlan {
    /// Which of the cells it belongs to.
    pub cell: u32,
    /// Where it is when; at least one, each later than the one before.
    pub waypoints: Vec<WaypointPlan>,
}

/// A place on a station's way. It goes straight and evenly from each to the next, and stands before
/// the first and after the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaypointPlan {
    /// When it is there.
    pub at: Instant,
    /// Where, in metres.
    pub position_m: [f64; 2],
}
