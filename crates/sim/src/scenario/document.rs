//! The keys of a scenario: cell, nodes and measurement. The flows stand in `flow.rs`.
//!
//! The comment of a key is its description in the JSON schema: meaning, unit, default, source.

use super::flow::Flow;
use super::link::{Link, Wire};
use super::queue::Queue;
use super::radio::{Bss, Radio};
use super::rate::RateControl;
use super::wlan::{Edca, Wlan};
use crate::plan::Standard;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A scenario: one 802.11 cell, the wired network around it, and the flows between them; or the
/// wired network alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Simoom scenario", extend("required" = ["flows"]))]
#[schemars(extend("anyOf" = [{ "required": ["standard", "stations"] }, { "required": ["links"] }]))]
pub struct Document {
    /// What a report is headed with.
    pub title: String,
    /// What the scenario is for.
    pub description: String,
    /// The 802.11 standard of the cell; always given where there is a cell.
    pub standard: Option<Standard>,
    /// How many stations there are, or one table for all of them, or an array of tables, one for
    /// each group of equal stations. They are numbered `sta0`, `sta1`, … in this order. Without
    /// stations and standard there is no cell, but links alone.
    pub stations: Stations,
    /// Simulated time in seconds, at most 1000000; default 30.
    pub duration_s: f64,
    /// What is discarded at the beginning, in seconds; default a tenth of `duration_s`.
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
    pub flows: Vec<Flow>,
    /// What is measured, and how finely.
    pub measure: Measure,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            standard: None,
            stations: Stations::Count(0),
            duration_s: 30.0,
            warmup_s: None,
            wlan: Wlan::default(),
            ap: Ap::default(),
            radio: None,
            cells: Vec::new(),
            wire: None,
            links: Vec::new(),
            flows: Vec::new(),
            measure: Measure::default(),
        }
    }
}

impl Document {
    /// Whether there is a cell: if anything is said of one, or no links are there instead.
    pub(super) fn has_cell(&self) -> bool {
        let silent = self.standard.is_none() && self.stations == Stations::Count(0);
        !silent || self.links.is_empty() || !self.cells.is_empty()
    }
}

/// The stations of a cell in one of three forms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Stations {
    /// So many stations with all defaults.
    Count(u64),
    /// Equal stations.
    Equal(Box<Station>),
    /// Groups of equal stations.
    Groups(Vec<Station>),
}

/// Stations that are all alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Station {
    /// How many; default 1.
    pub count: u64,
    /// The standard of these stations, if it is not that of all: "11b" in a network of 802.11g.
    pub standard: Option<Standard>,
    /// Rate of data frames between each of them and the access point, in both directions, in
    /// Mb/s; default `wlan.rate_mbps`, and the highest of 802.11b if that is none of its rates.
    pub rate_mbps: Option<f64>,
    /// MCS of data frames in both directions; default `wlan.mcs`.
    pub mcs: Option<u64>,
    /// MCS of the access point's data frames to them; default `mcs`.
    pub ap_mcs: Option<u64>,
    /// Spatial streams; default `wlan.streams`.
    pub streams: Option<u64>,
    /// Bandwidth in MHz; default `wlan.width_mhz`.
    pub width_mhz: Option<u64>,
    /// Guard interval in nanoseconds; default `wlan.guard_ns`.
    pub guard_ns: Option<u64>,
    /// How each of them chooses the modes of its own data frames; default `wlan.rate_control`.
    pub rate_control: Option<RateControl>,
    /// What each of them sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Frames that the device takes over from that queue, those in service included, as a driver's
    /// ring does; default none: the queue itself holds them until they are through.
    pub ring_packets: Option<u64>,
    /// Probability that noise spoils a data frame on the link to the access point, in either
    /// direction; from 0 to below 1, default 0.
    pub data_loss: f64,
    /// Likewise for an acknowledgement of the MAC.
    pub ack_loss: f64,
    /// Where they stand, in metres east and north; with a radio, default where the access point
    /// stands if there is a `ring_m`.
    pub position_m: Option<Vec<f64>>,
    /// Instead of all at one place they stand evenly on a circle of so many metres around it.
    pub ring_m: Option<f64>,
    /// Instead of at one place they are on the way between these, all together; with a radio.
    pub waypoints: Option<Vec<Waypoint>>,
    /// Which cell they belong to: 0 (default) is that of `ap`, 1 the first of `cells`.
    pub cell: Option<u64>,
}

impl Default for Station {
    fn default() -> Self {
        Self {
            count: 1,
            standard: None,
            rate_mbps: None,
            mcs: None,
            ap_mcs: None,
            streams: None,
            width_mhz: None,
            guard_ns: None,
            rate_control: None,
            queue: Queue::default(),
            ring_packets: None,
            data_loss: 0.0,
            ack_loss: 0.0,
            position_m: None,
            ring_m: None,
            waypoints: None,
            cell: None,
        }
    }
}

/// A place on a station's way. It goes straight and evenly from each to the next, and stands before
/// the first and after the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["at_s", "position_m"]))]
pub struct Waypoint {
    /// When it is there, in seconds; always given, and later than at the one before.
    pub at_s: f64,
    /// Where that is, in metres east and north; always given.
    pub position_m: Vec<f64>,
}

/// The access point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ap {
    /// What it sends from into the cell; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Frames that the device takes over from that queue, as at a station; default none.
    pub ring_packets: Option<u64>,
    /// What its own access categories contend with; default by `wlan.edca_defaults`.
    pub edca: Edca,
    /// How it chooses the modes of its data frames, for each station apart; default
    /// `wlan.rate_control`.
    pub rate_control: Option<RateControl>,
    /// Where it stands, in metres east and north; with a radio, default [0, 0].
    pub position_m: Option<Vec<f64>>,
    /// Channel of its cell, with a radio; default 1.
    pub channel: Option<u64>,
}

/// What is measured, and how finely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Batches of the batch means behind 95 % intervals within a run; 2 to 1000, default 20.
    pub batches: u64,
    /// Time between two samples of a probe in seconds; default a thousandth of `duration_s`.
    pub interval_s: Option<f64>,
}

impl Default for Measure {
    fn default() -> Self {
        Self { batches: 20, interval_s: None }
    }
}

struct StationsVisitor;

impl<'de> Visitor<'de> for StationsVisitor {
    type Value = Stations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of stations, a table [stations] or an array of tables [[stations]]")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Stations, E> {
        Ok(Stations::Count(count))
    }

    fn visit_f64<E: Error>(self, count: f64) -> Result<Stations, E> {
        if (0.0..=1e15).contains(&count) && count.trunc() == count {
            return Ok(Stations::Count(count as u64));
        }
        Err(E::custom(format!("must be a whole number, is {count:?}")))
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Stations, E> {
        Err(E::custom(format!("must be a whole number, is {count}")))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Stations, E> {
        Err(E::custom(format!("must be {}, is {value}", Expected(&self))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Stations, E> {
        let text = super::path::shown(text);
        Err(E::custom(format!("must be {}, is \"{text}\"", Expected(&self))))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Stations, A::Error> {
        let station = Station::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Stations::Equal(Box::new(station)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Stations, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(Stations::Groups)
    }
}

/// Prints what a visitor expects.
struct Expected<'a>(&'a StationsVisitor);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
}

impl<'de> Deserialize<'de> for Stations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StationsVisitor)
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
