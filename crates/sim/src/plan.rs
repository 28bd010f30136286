//! What runs: the scenario with every default filled in, every pattern expanded, every unit a type.
//!
//! A [`Plan`] is plain data. Only [`Scenario::resolve`](crate::scenario::Scenario::resolve) makes
//! one from what a user wrote, and only after every check has passed: the world reads it without
//! asking again. Choices that need no resolving are the same type in both.

mod network;
mod space;
mod wlan;

pub use network::{LinkPlan, Network};
pub use space::{BssPlan, PlacePlan, SpacePlan, WaypointPlan};
pub use wlan::RatePlan;

use crate::scenario::Flow;
use kernel::Duration;
use net::{QueueSettings, Site};
use settings::Choice;
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
    /// The wired links.
    pub network: Network,
    /// Every single flow, in the order of the scenario; at least one.
    pub flows: Vec<FlowPlan>,
    /// What is measured, and how finely.
    pub measure: MeasurePlan,
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

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The server, at the access point or behind wires.
    Server,
    /// The access point itself.
    AccessPoint,
    /// The n-th of `Plan::stations`.
    Station(u32),
    /// The n-th of `Network::hosts`.
    Host(u32),
    /// All stations of the cell; only where a datagram flow from server or access point goes to.
    Broadcast,
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

/// Of which radio links a controller is told the rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Choice)]
pub enum LinkRate {
    /// Those by which the sender's own node sends its data.
    #[default]
    Own,
    /// The slowest that its data crosses, as if the network told it.
    Path,
}

/// What is measured, and how finely.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurePlan {
    /// Batches of the batch means; at least 2.
    pub batches: u32,
    /// Time between samples of a probe; above 0.
    pub interval: Duration,
}
