//! The keys of a scenario: cell, nodes and measurement. The flows stand in `flow.rs`.
//!
//! The comment of a key is its description in the JSON schema: meaning, unit, default, source.

use super::flow::Flow;
use super::limits::LONGEST_S;
use super::link::{Link, Wire};
use super::radio::{Bss, FARTHEST_M, Radio};
use super::wlan::{Edca, Wlan};
use kernel::Instant;
use net::QueueSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value as Json;
use settings::{Check, Fault, Faults, Node, Path, Range, Root, Setting, Settings, Unit, Value};
use std::borrow::Cow;
use wifi::phy::{Amendment, McsKeys};
use wifi::rate::RateControlSettings;

/// A scenario: one 802.11 cell, the wired network around it, and the flows between them; or the
/// wired network alone.
#[derive(Debug, Clone, PartialEq, Settings)]
#[settings(name = "Simoom scenario")]
pub struct Document {
    /// What a report is headed with.
    pub title: String,
    /// What the scenario is for.
    pub description: String,
    /// The 802.11 standard of the cell; always given where there is a cell.
    pub standard: Option<Amendment>,
    /// How many stations there are, or one table for all of them, or an array of tables, one for
    /// each group of equal stations. They are numbered `sta0`, `sta1`, … in this order. Without
    /// stations and standard there is no cell, but links alone.
    #[setting(default = Stations::Count(0))]
    pub stations: Stations,
    /// Simulated time in seconds.
    #[setting(default = 30.0, range = 1e-6..=LONGEST_S)]
    pub duration_s: f64,
    /// What is discarded at the beginning, in seconds; default a tenth of `duration_s`.
    #[setting(range = 0.0..=LONGEST_S)]
    pub warmup_s: Option<f64>,
    /// What all stations of the cell have in common.
    pub wlan: Wlan,
    /// The access point.
    pub ap: Ap,
    /// Radios with power, noise and interference; without the table all nodes hear all others.
    pub radio: Option<Radio>,
    /// Further cells; they take a radio. All access points are one to the network, joined by wires
    /// of no delay.
    pub cells: Vec<Bss>,
    /// The link between server and access point; without it, and where no other link ends at the
    /// server, that sits at the access point.
    pub wire: Option<Wire>,
    /// Further wired links, between any two nodes: hosts and routers by names of one's own, server
    /// and access point. Packets take the way with the fewest links.
    pub links: Vec<Link>,
    /// The flows; at least one.
    #[setting(required)]
    pub flows: Vec<Flow>,
    /// What is measured, and how finely.
    pub measure: Measure,
}

impl Root for Document {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[("stations", "count")];
}

impl Document {
    /// Whether there is a cell: if anything is said of one, or no links are there instead.
    pub(super) fn has_cell(&self) -> bool {
        let silent = self.standard.is_none() && self.stations == Stations::Count(0);
        !silent || self.links.is_empty() || !self.cells.is_empty()
    }
}

/// The stations of a cell in one of three forms.
#[derive(Debug, Clone, PartialEq)]
pub enum Stations {
    /// So many stations with all defaults.
    Count(u64),
    /// Equal stations.
    Equal(Box<Station>),
    /// Groups of equal stations.
    Groups(Vec<Station>),
}

/// Stations that are all alike.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Station {
    /// How many.
    #[setting(default = 1)]
    pub count: u64,
    /// The standard of these stations, if it is not that of all: "11b" in a network of 802.11g.
    pub standard: Option<Amendment>,
    /// Rate of data frames between each of them and the access point, in both directions, in
    /// Mb/s; default `wlan.rate_mbps`, and the highest of 802.11b if that is none of its rates.
    pub rate_mbps: Option<f64>,
    /// Their modes; what is left open is as `wlan` has it.
    #[setting(flatten)]
    pub modes: McsKeys,
    /// MCS of the access point's data frames to them; default `mcs`.
    #[setting(range = 0..=31)]
    pub ap_mcs: Option<u32>,
    /// How each of them chooses the modes of its own data frames; default `wlan.rate_control`.
    pub rate_control: Option<RateControlSettings>,
    /// What each of them sends from; default a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// Frames that the device takes over from that queue, those in service included, as a driver's
    /// ring does; default none: the queue itself holds them until they are through.
    #[setting(range = 1..=100_000)]
    pub ring_packets: Option<u32>,
    /// Probability that noise spoils a data frame on the link to the access point, in either
    /// direction.
    #[setting(range = Range::PROBABILITY)]
    pub data_loss: f64,
    /// Likewise for an acknowledgement of the MAC.
    #[setting(range = Range::PROBABILITY)]
    pub ack_loss: f64,
    /// Where they stand, in metres east and north; with a radio, default where the access point
    /// stands if there is a `ring_m`.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Instead of all at one place they stand evenly on a circle of so many metres around it.
    #[setting(range = 0.0..=FARTHEST_M)]
    pub ring_m: Option<f64>,
    /// Instead of at one place they are on the way between these, all together; with a radio.
    pub waypoints: Option<Vec<Waypoint>>,
    /// Which cell they belong to: 0 (default) is that of `ap`, 1 the first of `cells`.
    pub cell: Option<u64>,
}

/// A place on a station's way. It goes straight and evenly from each to the next, and stands before
/// the first and after the last.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Waypoint {
    /// When it is there, in seconds; always given, and later than at the one before.
    #[setting(key = "at_s", required = "as 20.0", range = 0.0..=LONGEST_S)]
    pub at: Instant,
    /// Where that is, in metres east and north; always given.
    #[setting(required, range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Vec<f64>,
}

/// The access point.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Ap {
    /// What it sends from into the cell; default a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// Frames that the device takes over from that queue, as at a station; default none.
    #[setting(range = 1..=100_000)]
    pub ring_packets: Option<u32>,
    /// What its own access categories contend with; default by `wlan.edca_defaults`.
    pub edca: Edca,
    /// How it chooses the modes of its data frames, for each station apart; default
    /// `wlan.rate_control`.
    pub rate_control: Option<RateControlSettings>,
    /// Where it stands, in metres east and north; with a radio, default [0, 0].
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Channel of its cell, with a radio; default 1.
    #[setting(range = 1..=233)]
    pub channel: Option<u64>,
}

/// What is measured, and how finely.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Measure {
    /// Batches of the batch means behind 95 % intervals within a run.
    #[setting(default = 20, range = 2..=1000)]
    pub batches: u64,
    /// Time between two samples of a probe in seconds; default a thousandth of `duration_s`.
    #[setting(range = 1e-9..=LONGEST_S)]
    pub interval_s: Option<f64>,
}

impl Setting for Stations {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        match &node.value {
            Value::Integer(_) | Value::Float(_) => match node.whole() {
                Ok(count) => Ok(Self::Count(count)),
                Err(_) => {
                    Err(Fault::here(format!("must be a whole number, is {}", node.described())))
                }
            },
            Value::Table(_) => Setting::read(node, unit).map(Self::Equal),
            Value::List(_) => Setting::read(node, unit).map(Self::Groups),
            _ => Err(Fault::here(format!(
                "must be a number of stations, a table [stations] or an array of tables \
                 [[stations]], is {}",
                node.described()
            ))),
        }
    }

    fn write(&self, unit: Unit) -> Json {
        match self {
            Self::Count(count) => Json::from(*count),
            Self::Equal(station) => station.write(unit),
            Self::Groups(groups) => groups.write(unit),
        }
    }

    fn schema(_: Unit, _: &Range, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }

    fn check(node: &Node, check: Check<'_>) {
        match node.value {
            Value::Table(_) => Station::check(node, check),
            Value::List(_) => Vec::<Station>::check(node, check),
            _ => {}
        }
    }

    fn relate(&self, at: &Path, faults: &mut Faults) {
        match self {
            Self::Count(_) => {}
            Self::Equal(station) => station.relate(at, faults),
            Self::Groups(groups) => groups.relate(at, faults),
        }
    }
}

impl JsonSchema for Stations {
    fn schema_name() -> Cow<'static, str> {
        "Stations".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let station = generator.subschema_for::<Station>();
        json_schema!({
            "description": "A number of equal stations, one table, or one table for each group.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 10_000 },
                station,
                { "type": "array", "items": station, "minItems": 1 },
            ]
        })
    }
}
