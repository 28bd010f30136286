//! The plan of a run: the scenario with every default filled in, every pattern expanded, and every
//! unit a type.
//!
//! A [`Plan`] is plain data. Only [`Scenario::resolve`](crate::scenario::Scenario::resolve) creates
//! one from a scenario, and only after every check has passed. The world therefore does not check
//! it again. Settings that need no resolving have the same type in both.

mod hop;
mod interferer;
mod link;
mod routing;
mod space;
mod wlan;

pub use hop::HopPlan;
pub(crate) use hop::hops;
pub use interferer::InterfererPlan;
pub use link::LinkPlan;
pub use routing::RoutingPlan;
pub(crate) use space::highest_power;
pub use space::{BssPlan, MovementPlan, PlacePlan, SpacePlan};
pub use wlan::RatePlan;

pub use crate::scenario::Device;
pub use crate::scenario::tcp::LinkRate;
pub use crate::topology::Endpoint;

use crate::scenario::flow::Flow;
use crate::topology::{Interface, RadioId, Topology, WireId};
use kernel::{Duration, Id};
use net::{OutputLink, QueueSettings};
use std::sync::Arc;
use tcp::control::ControlSettings;
use wifi::MacConfig;
use wifi::phy::{Primary, Width};
use wifi::power_save::PowerSaveSettings;
use wifi::roaming::Roaming;

/// A whole run except its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The title of a report; may be empty.
    pub title: String,
    /// Simulated time.
    pub duration: Duration,
    /// The warm-up, which is not measured; less than `duration`.
    pub warmup: Duration,
    /// Medium access in the cell.
    pub wlan: MacConfig,
    /// The stations; `Endpoint::Station(n)` is the n-th. Without any there is no cell.
    pub stations: Vec<StationPlan>,
    /// The access point.
    pub ap: ApPlan,
    /// Positions and radios; `None` if every node hears every other and a cell is the medium.
    pub space: Option<SpacePlan>,
    /// How stations forward; `None` if they do not.
    pub routing: Option<RoutingPlan>,
    /// Transmitters near the network that are not 802.11.
    pub interferers: Vec<InterfererPlan>,
    /// All nodes, and their tables of next hops.
    pub topology: Arc<Topology>,
    /// The wired links, that of `[wire]` first.
    pub links: Vec<LinkPlan>,
    /// Every single flow, in the order of the scenario; at least one.
    pub flows: Vec<FlowPlan>,
    /// The settings of the measurement.
    pub measure: MeasurePlan,
}

impl Plan {
    /// Whether the scenario has a radio: distance decides who receives whom.
    pub fn has_radio(&self) -> bool {
        self.space.as_ref().is_some_and(|space| !space.is_flat)
    }

    /// The link of a direction, and which of its two directions it is.
    pub fn link(&self, wire: WireId) -> (&LinkPlan, usize) {
        link(&self.topology, &self.links, wire)
    }

    /// The name of an interface in reports: `ap`, `sta0`, `cells[0]`, or a direction of a link by
    /// its path.
    pub fn interface_name(&self, interface: Interface) -> String {
        match interface {
            Interface::Radio(radio) => self.topology.radio_name(radio),
            Interface::Wire(wire) => {
                let (link, direction) = self.link(wire);
                link.path(direction)
            }
        }
    }

    /// The primary channel of a cell.
    pub fn primary_of(&self, cell: u32) -> Primary {
        let usual = Primary::usual(self.wlan.timing.standard.band);
        match &self.space {
            Some(space) => Primary { number: space.cells[cell as usize].channel, ..usual },
            None => usual,
        }
    }

    /// The queue from which a radio sends, and what its device takes from it ahead.
    pub fn queue_of(&self, radio: RadioId) -> (&QueueSettings, Device) {
        let radio = self.topology.radio(radio);
        match (self.topology.node(radio.node).end, &self.space) {
            (Endpoint::Station(number), _) => {
                let station = &self.stations[number as usize];
                (&station.queue, station.device)
            }
            (_, Some(space)) => {
                let cell = &space.cells[radio.cell as usize];
                (&cell.queue, cell.device)
            }
            (_, None) => (&self.ap.queue, self.ap.device),
        }
    }
}

/// The link of a direction, and which of its two directions it is.
pub(crate) fn link<'a>(
    topology: &Topology,
    links: &'a [LinkPlan],
    wire: WireId,
) -> (&'a LinkPlan, usize) {
    let wire = topology.wire(wire);
    (&links[wire.link.index()], wire.direction)
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationPlan {
    /// `sta0`, `sta1`, …
    pub name: String,
    /// The name of its table, if it has one.
    pub group: String,
    /// The modes of frames to the access point.
    pub up: RatePlan,
    /// The modes of frames from the access point to the station.
    pub down: RatePlan,
    /// The queue from which it sends.
    pub queue: QueueSettings,
    /// What the device takes from it ahead.
    pub device: Device,
    /// Its share of airtime at the access point, relative to that of other stations.
    pub airtime_weight: u32,
    /// How it saves power, if it does.
    pub power_save: Option<PowerSaveSettings>,
    /// How it changes its access point, if it does.
    pub roaming: Option<Roaming>,
    /// Probability that noise corrupts a data frame on its link, in either direction; in [0, 1).
    pub data_loss: f64,
    /// Probability that noise corrupts an ACK on its link, in either direction; in [0, 1).
    pub ack_loss: f64,
}

impl StationPlan {
    /// The output link of the station's queue.
    pub(crate) fn output_link(&self) -> OutputLink {
        OutputLink::Station(self.up.mode().rate)
    }
}

/// The output link of the queue of an access point with these stations.
pub(crate) fn access_point(stations: &[StationPlan]) -> OutputLink {
    let rates = stations.iter().map(|station| station.down.mode().rate);
    OutputLink::AccessPoint(rates.max().unwrap_or_default())
}

impl SpacePlan {
    /// The widest channel of frames in a cell, also of stations that may come.
    pub(crate) fn widest(&self, cell: usize, stations: &[StationPlan]) -> Width {
        let members = stations
            .iter()
            .zip(&self.stations)
            .filter(|(station, place)| place.cell as usize == cell || station.roaming.is_some());
        let widths = members.flat_map(|(station, _)| [&station.up, &station.down]);
        widths.map(|link| link.mode().width).max().unwrap_or(Width::Mhz20)
    }
}

/// The access point.
#[derive(Debug, Clone, PartialEq)]
pub struct ApPlan {
    /// The queue from which it sends into the cell.
    pub queue: QueueSettings,
    /// What the device takes from it ahead.
    pub device: Device,
}

/// One flow; `from` and `to` differ.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowPlan {
    /// The name in reports, as `download sta3`.
    pub name: String,
    /// Which `[[flows]]` table of the scenario it comes from, counted from 0.
    pub group: usize,
    /// The end that sends the data.
    pub from: Endpoint,
    /// The end that receives the data.
    pub to: Endpoint,
    /// The settings of its table.
    pub settings: Arc<Flow>,
    /// It starts at random up to this much later than the settings say.
    pub start_spread: Duration,
    /// Present if the traffic uses TCP, absent if it uses UDP.
    pub tcp: Option<TcpPlan>,
}

/// A flow over TCP.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpPlan {
    /// Congestion control.
    pub control: ControlSettings,
    /// Both ends.
    pub config: tcp::Config,
    /// The radio links whose rate the congestion control learns.
    pub link_rate: LinkRate,
}

/// The settings of the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurePlan {
    /// Batches of the batch means; at least 2.
    pub batches: u32,
    /// Time between samples of a probe; above 0.
    pub interval: Duration,
    /// The hops at which the delay of flows is measured; none if it is not.
    pub hops: Vec<HopPlan>,
}
