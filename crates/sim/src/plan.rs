//! What runs: the scenario with every default filled in, every pattern expanded, every unit a type.
//!
//! A [`Plan`] is plain data. Only [`Scenario::resolve`](crate::scenario::Scenario::resolve) makes
//! one from what a user wrote, and only after every check has passed: the world reads it without
//! asking again. Choices that need no resolving are the same type in both.

mod link;
mod space;
mod wlan;

pub use link::LinkPlan;
pub use space::{BssPlan, PlacePlan, SpacePlan, WaypointPlan};
pub use wlan::RatePlan;

pub use crate::scenario::tcp::LinkRate;
pub use crate::topology::Endpoint;

use crate::scenario::flow::Flow;
use crate::topology::{Topology, WireId};
use kernel::Duration;
use net::{QueueSettings, Site};
use std::sync::Arc;
use tcp::control::ControlSettings;
use wifi::MacConfig;

/// A whole run but its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What a report is headed with; may be empty.
    pub title: String,
    /// Simulated time.
    pub duration: Duration,
    /// What is discarded at the beginning; less than `duration`.
    pub warmup: Duration,
    /// Medium access in the cell.
    pub wlan: MacConfig,
    /// The stations; `Endpoint::Station(n)` is the n-th. Without any there is no cell.
    pub stations: Vec<StationPlan>,
    /// The access point.
    pub ap: ApPlan,
    /// Places and radios; `None` where all hear all.
    pub space: Option<SpacePlan>,
    /// All nodes, and where each sends what is for others.
    pub topology: Arc<Topology>,
    /// The wired links, that of `[wire]` first.
    pub links: Vec<LinkPlan>,
    /// Every single flow, in the order of the scenario; at least one.
    pub flows: Vec<FlowPlan>,
    /// What is measured, and how finely.
    pub measure: MeasurePlan,
}

impl Plan {
    /// The link of a direction, and which of its two directions that is.
    pub fn link(&self, wire: WireId) -> (&LinkPlan, usize) {
        link(&self.topology, &self.links, wire)
    }
}

/// The link of a direction, and which of its two directions that is.
pub(crate) fn link<'a>(
    topology: &Topology,
    links: &'a [LinkPlan],
    wire: WireId,
) -> (&'a LinkPlan, usize) {
    let wire = topology.wire(wire);
    (&links[wire.link.0 as usize], wire.direction)
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationPlan {
    /// `sta0`, `sta1`, …
    pub name: String,
    /// How it sends to the access point.
    pub up: RatePlan,
    /// How the access point sends to it.
    pub down: RatePlan,
    /// What it sends from.
    pub queue: QueueSettings,
    /// Frames that its device holds below that, those in service included; at least 1.
    pub ring: Option<u32>,
    /// Probability that noise spoils a data frame on its link, in either direction; in [0, 1).
    pub data_loss: f64,
    /// Probability that noise spoils an ACK on its link, in either direction; in [0, 1).
    pub ack_loss: f64,
}

impl StationPlan {
    /// What its queue stands before.
    pub(crate) fn site(&self) -> Site {
        Site::Station(self.up.mode().rate)
    }
}

/// What the queue of an access point of these stations stands before.
pub(crate) fn access_point(stations: &[StationPlan]) -> Site {
    let rates = stations.iter().map(|station| station.down.mode().rate);
    Site::AccessPoint(rates.max().unwrap_or_default())
}

/// The access point.
#[derive(Debug, Clone, PartialEq)]
pub struct ApPlan {
    /// What it sends from into the cell.
    pub queue: QueueSettings,
    /// Frames that its device holds below that.
    pub ring: Option<u32>,
}

/// One flow; `from` and `to` differ.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowPlan {
    /// What a report calls it, as `download sta3`.
    pub name: String,
    /// Which `[[flows]]` table of the scenario it comes from, counted from 0.
    pub group: usize,
    /// Where data comes from.
    pub from: Endpoint,
    /// Where data goes to.
    pub to: Endpoint,
    /// What its table says.
    pub settings: Arc<Flow>,
    /// Present where its traffic travels over TCP, absent where it travels over UDP.
    pub tcp: Option<TcpPlan>,
}

/// A flow over TCP.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpPlan {
    /// Congestion control.
    pub control: ControlSettings,
    /// Both ends.
    pub config: tcp::Config,
    /// Of which radio links the controller is told the rate.
    pub link_rate: LinkRate,
}

/// What is measured, and how finely.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurePlan {
    /// Batches of the batch means; at least 2.
    pub batches: u32,
    /// Time between samples of a probe; above 0.
    pub interval: Duration,
}
