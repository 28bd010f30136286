//! The keys of a scenario: cell, nodes and measurement. The flows stand in `flow.rs`.
//!
//! The comment of a key is its description in the JSON schema: meaning, unit, default, source.

use super::flow::Flow;
use super::queue::{Loss, Queue};
use crate::plan::{
    BackoffDraw, Countdown, Durations, Eifs, LossDirection, Preamble, Slot, SlotGrid, Standard,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A scenario: one 802.11 cell, the server behind its access point, and the flows between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Simoom scenario", extend("required" = ["standard", "stations", "flows"]))]
pub struct Document {
    /// What a report is headed with.
    pub title: String,
    /// What the scenario is for.
    pub description: String,
    /// The 802.11 standard of the cell; always given.
    pub standard: Option<Standard>,
    /// How many stations there are, or one table for all of them, or an array of tables, one for
    /// each group of equal stations. They are numbered `sta0`, `sta1`, … in this order.
    pub stations: Stations,
    /// Simulated time in seconds, at most 1000000; default 30.
    pub duration_s: f64,
    /// What is discarded at the beginning, in seconds; default a tenth of `duration_s`.
    pub warmup_s: Option<f64>,
    /// What all stations of the cell have in common.
    pub wlan: Wlan,
    /// The access point.
    pub ap: Ap,
    /// The link between server and access point; without it the server sits at the access point.
    pub wire: Option<Wire>,
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
            wire: None,
            flows: Vec::new(),
            measure: Measure::default(),
        }
    }
}

/// The stations of a cell in one of three forms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Stations {
    /// So many stations with all defaults.
    Count(u64),
    /// Equal stations.
    Equal(Station),
    /// Groups of equal stations.
    Groups(Vec<Station>),
}

/// Stations that are all alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Station {
    /// How many; default 1.
    pub count: u64,
    /// Rate of data frames between each of them and the access point, in both directions, in
    /// Mb/s; default `wlan.rate_mbps`.
    pub rate_mbps: Option<f64>,
    /// What each of them sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Probability that noise spoils a data frame on the link to the access point, in either
    /// direction; from 0 to below 1, default 0.
    pub data_loss: f64,
    /// Likewise for an acknowledgement of the MAC.
    pub ack_loss: f64,
}

impl Default for Station {
    fn default() -> Self {
        Self { count: 1, rate_mbps: None, queue: Queue::default(), data_loss: 0.0, ack_loss: 0.0 }
    }
}

/// What all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wlan {
    /// Rate of data frames in Mb/s; default the highest of the standard.
    pub rate_mbps: Option<f64>,
    /// Preamble of DSSS and CCK frames, so in 802.11b and g only; a frame at 1 Mb/s has the long
    /// one in any case; default "long".
    pub preamble: Option<Preamble>,
    /// The basic rates in Mb/s, from which control frames and broadcasts take theirs; default 1, 2
    /// in 802.11b; 6, 12, 24 in 802.11a; 1, 2, 5.5, 11, 6, 12, 24 in 802.11g.
    pub basic_rates_mbps: Option<Vec<f64>>,
    /// PSDUs longer than this many bytes, with MAC header and FCS, are preceded by RTS and CTS; 0
    /// is always, the default 2347 never (dot11RTSThreshold).
    pub rts_threshold_bytes: u64,
    /// Attempts in all of a frame without RTS, and of an RTS; 1 to 255, default 7
    /// (dot11ShortRetryLimit).
    pub short_retry_limit: u64,
    /// Attempts in all of a frame that follows RTS and CTS; 1 to 255, default 4
    /// (dot11LongRetryLimit).
    pub long_retry_limit: u64,
    /// Smallest contention window in slots, of the form 2^k - 1; default 31 in 802.11b, 15 in a
    /// and g (aCWmin).
    pub cw_min: Option<u64>,
    /// Largest contention window in slots, of the form 2^k - 1, at most 32767; default 1023
    /// (aCWmax).
    pub cw_max: u64,
    /// Slot time of 802.11g: "short" (9 us, default) or "long" (20 us). 802.11b always has the
    /// long one, 802.11a the short one.
    pub slot: Option<Slot>,
    /// MAC header of a data frame in bytes, without the 4 of the FCS; default 24, with four
    /// addresses 30.
    pub mac_header_bytes: u64,
    /// LLC and SNAP header before each IP packet in bytes; default 8.
    pub llc_bytes: u64,
    /// How long a station defers after a frame that it could not read: "standard" (SIFS + ACK at
    /// the lowest basic rate + DIFS; default), "estimated" (with the ACK that the failed PPDU asks
    /// for, 802.11-2016) or "none" (DIFS).
    pub eifs: Eifs,
    /// How slots lie after a collision: "standard" (as timeouts and EIFS place them; default),
    /// "shared" (all stations resume together) or "free" (each where its own rule ends).
    pub slot_grid: SlotGrid,
    /// Whether a slot in which another station begins to send counts as counted down: "standard"
    /// (no; default) or "bianchi" (yes, as in Bianchi's chain).
    pub countdown: Countdown,
    /// Range of a back-off draw: "standard" (0 to CW with CW; default) or "ns2" (without CW).
    pub backoff_draw: BackoffDraw,
    /// Durations of DSSS and CCK frames: "standard" (whole microseconds; default) or "ns2" (exact
    /// on
    /// the air and rounded in Duration fields, so that bystanders may resume a little later than
    /// the two parties of an exchange and hear them within the slot).
    pub durations: Durations,
}

impl Default for Wlan {
    fn default() -> Self {
        Self {
            rate_mbps: None,
            preamble: None,
            basic_rates_mbps: None,
            rts_threshold_bytes: 2347,
            short_retry_limit: 7,
            long_retry_limit: 4,
            cw_min: None,
            cw_max: 1023,
            slot: None,
            mac_header_bytes: 24,
            llc_bytes: 8,
            eifs: Eifs::Standard,
            slot_grid: SlotGrid::Standard,
            countdown: Countdown::Standard,
            backoff_draw: BackoffDraw::Standard,
            durations: Durations::Standard,
        }
    }
}

/// The access point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ap {
    /// What it sends from into the cell; default a drop-tail queue without limit.
    pub queue: Queue,
}

/// A full-duplex link between server and access point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wire {
    /// Rate of each direction in Mb/s; default infinitely fast.
    pub rate_mbps: Option<f64>,
    /// Propagation one way in milliseconds; default 0.
    pub delay_ms: f64,
    /// What each end sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Framing around each IP packet in bytes, 38 for Ethernet with preamble and gap; default 0.
    pub overhead_bytes: u64,
    /// What it loses; default nothing.
    pub loss: Option<Loss>,
    /// Where it loses: in "both" directions (default), each by itself, or only "down" from the
    /// server or "up" to it.
    pub loss_direction: LossDirection,
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
        Station::deserialize(MapAccessDeserializer::new(map)).map(Stations::Equal)
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
