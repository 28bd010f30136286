//! The air between nodes that hear different things: places, propagation, receivers.

use super::Discipline;
use kernel::{Db, Dbm, Duration, Instant};

/// Where nodes stand and what their radios do; without it all hear all.
#[derive(Debug, Clone, PartialEq)]
pub struct SpacePlan {
    /// The cells; the first is that of the access point.
    pub cells: Vec<BssPlan>,
    /// Cell and place of each station.
    pub stations: Vec<PlacePlan>,
    /// Stations send to each other without an access point.
    pub ad_hoc: bool,
    /// What signals lose.
    pub losses: LossPlan,
    /// Standard deviation of log-normal shadowing; 0 is none.
    pub shadowing: Db,
    /// Block fading.
    pub fading: Option<FadingPlan>,
    /// Power with which all nodes send.
    pub tx_power: Dbm,
    /// What a receiver adds to thermal noise.
    pub noise_figure: Db,
    /// Power from which on a preamble makes the medium busy.
    pub detect: Dbm,
    /// How far it must stand above noise and interference.
    pub detect_snr: Db,
    /// Less than this is never understood.
    pub sensitivity: Option<Dbm>,
    /// Power from which on anything makes the medium busy.
    pub energy: Dbm,
    /// Whether a stronger later frame is received instead: by how much, and how long.
    pub capture: Option<(Db, Duration)>,
    /// Which bits are understood.
    pub errors: ErrorPlan,
    /// A NAV set by an RTS ends if nothing follows it.
    pub nav_reset: bool,
}

/// An access point, or the place of an ad-hoc network's first node.
#[derive(Debug, Clone, PartialEq)]
pub struct BssPlan {
    /// Where it stands, in metres.
    pub position_m: [f64; 2],
    /// Channel of its cell.
    pub channel: u16,
    /// What it sends from.
    pub queue: Discipline,
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

/// What signals lose on their way, on average.
#[derive(Debug, Clone, PartialEq)]
pub enum LossPlan {
    /// Free space at a frequency in hertz.
    Friis {
        /// Carrier frequency.
        frequency_hz: f64,
    },
    /// A power of the distance.
    LogDistance {
        /// The power.
        exponent: f64,
        /// Reference distance.
        reference_m: f64,
        /// Loss there.
        reference_loss: Db,
    },
    /// Two rays, with the constants of ns-2.
    TwoRay,
    /// As listed, from row to column: access point, stations, further access points.
    Matrix(Vec<Vec<Db>>),
}

/// Nakagami block fading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FadingPlan {
    /// Shape; 1 is Rayleigh.
    pub m: f64,
    /// Length of a block.
    pub coherence: Duration,
}

/// An error model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorPlan {
    /// Tables of link simulations.
    Table,
    /// NIST's bound.
    Nist,
    /// The bound of YANS.
    Yans,
    /// All from a ratio on, nothing below.
    Threshold(Db),
}
