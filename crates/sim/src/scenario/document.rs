//! The keys of a scenario: cell, nodes and measurement. The keys of flows are in `flow.rs`.
//!
//! The comment of a key is its description in the JSON schema: meaning, unit, default, source.

use super::device::Device;
use super::flow::Flow;
use super::interferer::Interferer;
use super::limits::{LONGEST_S, MOST_STATIONS};
use super::link::{Link, Wire};
use super::radio::{AccessPoint, Bss, FARTHEST_M, Radio};
use super::routing::Routing;
use super::wlan::{Edca, Wlan};
use crate::mobility::movement::MovementSettings;
use crate::mobility::placement::PlacementSettings;
use kernel::{Dbm, Instant};
use net::QueueSettings;
use serde_json::{Value as Json, json};
use settings::{
    Check, Defined, Definitions, Fault, Faults, Node, Path, Range, Root, Setting, Settings, Unit,
    Value,
};
use wifi::phy::{Amendment, Guard, McsKeys};
use wifi::power_save::PowerSaveSettings;
use wifi::rate::RateControlSettings;
use wifi::roaming::Roaming;

/// A scenario: one 802.11 cell, the wired network around it, and the flows between them; or the
/// wired network alone.
#[derive(Debug, Clone, PartialEq, Settings)]
#[settings(name = "Simoom scenario")]
pub struct Document {
    /// The title of reports.
    pub title: String,
    /// The purpose of the scenario.
    pub description: String,
    /// The 802.11 standard of the cell; required if there is a cell.
    pub standard: Option<Amendment>,
    /// The number of stations, one table for all of them, or an array of tables, one for each group
    /// of equal stations. They are numbered `sta0`, `sta1`, … in this order. Without stations and
    /// standard there is no cell, and only wired links.
    #[setting(default = Stations::Count(0))]
    pub stations: Stations,
    /// Simulated time in seconds.
    #[setting(default = 30.0, range = 1e-6..=LONGEST_S)]
    pub duration_s: f64,
    /// The warm-up in seconds, which is not measured. Default: a tenth of `duration_s`.
    #[setting(range = 0.0..=LONGEST_S)]
    pub warmup_s: Option<f64>,
    /// The settings common to all stations of the cell.
    pub wlan: Wlan,
    /// The access point.
    pub ap: Ap,
    /// Radios with power, noise and interference. Without this table every node hears every other.
    pub radio: Option<Radio>,
    /// Further cells, which require a radio. All access points are one node of the network,
    /// connected by wires without delay.
    pub cells: Vec<Bss>,
    /// Routing in an ad-hoc network. Without this table stations do not forward.
    pub routing: Option<Routing>,
    /// Transmitters near the network that are not 802.11.
    pub interferers: Vec<Interferer>,
    /// The link between server and access point. Without it, and if no other link ends at the
    /// server, the server is at the access point.
    pub wire: Option<Wire>,
    /// Further wired links between any two nodes: server, access point, and hosts and routers with
    /// names of your choice. Packets take the path with the fewest links.
    pub links: Vec<Link>,
    /// The flows; at least one.
    #[setting(required)]
    pub flows: Vec<Flow>,
    /// The settings of the measurement.
    pub measure: Measure,
}

impl Root for Document {
    const SHORT_FORMS: &'static [(&'static str, &'static str)] = &[("stations", "count")];
}

impl Document {
    /// Whether there is a cell: if any setting of a cell is given, or if there are no links.
    pub(super) fn has_cell(&self) -> bool {
        let silent = self.standard.is_none() && self.stations == Stations::Count(0);
        !silent || self.links.is_empty() || !self.cells.is_empty()
    }

    /// All access points, and the path of the table of each.
    pub(super) fn access_points(&self) -> impl Iterator<Item = (String, &AccessPoint)> {
        let further = self.cells.iter().enumerate();
        let further = further.map(|(n, bss)| (format!("cells[{n}]"), &bss.access_point));
        std::iter::once(("ap".to_owned(), &self.ap.access_point)).chain(further)
    }

    /// The groups of stations that have tables, and the path of each.
    pub(super) fn groups(&self) -> Vec<(String, &Station)> {
        match &self.stations {
            Stations::Count(_) => Vec::new(),
            Stations::Equal(station) => vec![("stations".to_owned(), &**station)],
            Stations::Groups(groups) => {
                let path = |index| format!("stations[{index}]");
                groups.iter().enumerate().map(|(index, group)| (path(index), group)).collect()
            }
        }
    }
}

/// The stations of a cell in one of three forms.
#[derive(Debug, Clone, PartialEq)]
pub enum Stations {
    /// This many stations with all defaults.
    Count(u64),
    /// Equal stations.
    Equal(Box<Station>),
    /// Groups of equal stations.
    Groups(Vec<Station>),
}

/// Equal stations.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Station {
    /// The number of stations.
    #[setting(default = 1)]
    pub count: u64,
    /// A name for all of them, as "laptops": flows name their ends by it, and paths as
    /// `stations["laptops"].mcs` the table. Tables beside each other may share a name.
    pub name: String,
    /// The standard of these stations if it is earlier than that of the cell: "11b" in a network of
    /// 802.11g, "11n", "11ac" or "11ax" in one of a later standard. Their frames, and those of the
    /// access point to them, are then of that standard, at most in its highest MCS, widest channel
    /// and most streams where `wlan` has more, and they take no part in OFDMA.
    pub standard: Option<Amendment>,
    /// Rate in Mb/s of data frames between each of them and the access point, in both directions.
    /// Default: `wlan.rate_mbps`, or the highest rate of 802.11b if that is not a rate of 802.11b.
    pub rate_mbps: Option<f64>,
    /// The modes with an MCS; keys that are absent are as in `wlan`.
    #[setting(flatten)]
    pub modes: McsKeys,
    /// MCS of the access point's data frames to these stations. In 802.11n it implies the number of
    /// streams, as `mcs` does, unless `streams` or `ap_streams` is given. Default: `mcs`.
    #[setting(range = 0..=31)]
    pub ap_mcs: Option<u32>,
    /// Spatial streams of these frames. Default: `streams`.
    #[setting(range = 1..=8)]
    pub ap_streams: Option<u32>,
    /// Guard interval of these frames in nanoseconds. Default: `guard_ns`.
    #[setting(key = "ap_guard_ns")]
    pub ap_guard: Option<Guard>,
    /// Rate in Mb/s of their data frames if these have a legacy rate, as in 802.11a, in a cell of
    /// 802.11n or later: 6, 9, 12, 18, 24, 36, 48 or 54. Such frames are not aggregated.
    pub legacy_rate_mbps: Option<f64>,
    /// Likewise of the access point's data frames to these stations.
    pub ap_legacy_rate_mbps: Option<f64>,
    /// The rate control of each station for its data frames. Default: `wlan.rate_control`.
    pub rate_control: Option<RateControlSettings>,
    /// The queue of each station. Default: a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// What the device takes from that queue ahead.
    #[setting(flatten)]
    pub device: Device,
    /// Their share of airtime at an access point whose queue is `mac80211`, relative to that of
    /// other stations.
    #[setting(default = net::LinkState::WEIGHT, range = 1..=65_535)]
    pub airtime_weight: u32,
    /// How each station saves power; requires `wlan.beacons`. Default: it is awake all the time.
    pub power_save: Option<PowerSaveSettings>,
    /// When each station changes its access point, and how; requires `wlan.beacons`, a radio,
    /// `cells` and stations that move. Default: it stays with the access point of its cell.
    pub roaming: Option<Roaming>,
    /// Probability that noise corrupts a data frame on the link to the access point, in either
    /// direction.
    #[setting(range = Range::PROBABILITY)]
    pub data_loss: f64,
    /// Likewise for an acknowledgement of the MAC.
    #[setting(range = Range::PROBABILITY)]
    pub ack_loss: f64,
    /// Their position, in metres east and north. With a radio, the default is the position of the
    /// access point if there is a `ring_m`.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// The radius in metres of a circle around that position, on which the stations are evenly
    /// distributed.
    #[setting(range = 0.0..=FARTHEST_M)]
    pub ring_m: Option<f64>,
    /// Where the stations stand, instead of a ring: the first at `position_m`; requires a radio.
    pub placement: Option<PlacementSettings>,
    /// How each station moves, instead of one position; requires a radio.
    pub movement: Option<MovementSettings>,
    /// The waypoints along which all of them move together, instead of one position; requires a
    /// radio.
    pub waypoints: Option<Vec<Waypoint>>,
    /// Transmit power of each of them, antenna gains included; requires a radio. Default:
    /// `radio.tx_power_dbm`.
    #[setting(key = "tx_power_dbm", range = Range::TX_POWER)]
    pub tx_power: Option<Dbm>,
    /// The number of their cell: 0 (default) is that of `ap`, 1 the first of `cells`.
    pub cell: Option<u64>,
}

/// A waypoint of a station. The station moves straight and at constant speed from each to the next,
/// and stands still before the first and after the last.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Waypoint {
    /// When the station is there, in seconds; required, and later than at the previous waypoint.
    #[setting(key = "at_s", required = "as 20.0", range = 0.0..=LONGEST_S)]
    pub at: Instant,
    /// The position in metres east and north; required.
    #[setting(required, range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Vec<f64>,
}

/// The access point.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Ap {
    /// The queue from which it sends into the cell. Default: a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// What the device takes from that queue ahead.
    #[setting(flatten)]
    pub device: Device,
    /// The contention parameters of its own access categories. Default: by `wlan.edca_defaults`.
    pub edca: Edca,
    /// The rate control of its data frames, separately for each station. Default:
    /// `wlan.rate_control`.
    pub rate_control: Option<RateControlSettings>,
    /// Where it is, and what its cell has of the air.
    #[setting(flatten)]
    pub access_point: AccessPoint,
}

/// The settings of the measurement.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Measure {
    /// The number of batches for the 95 % intervals within a run (batch means).
    #[setting(default = 20, range = 2..=1000)]
    pub batches: u64,
    /// Time between two samples of a probe in seconds. Default: a thousandth of `duration_s`.
    #[setting(range = 1e-9..=LONGEST_S)]
    pub interval_s: Option<f64>,
    /// Whether the delay of each flow is measured at each hop, and split into queueing, contention,
    /// transmission and retries. It takes computing time and changes no other result.
    pub hops: bool,
}

impl Setting for Stations {
    fn read(node: &Node, unit: Unit) -> Result<Self, Fault> {
        match &node.value {
            Value::Integer(_) | Value::Float(_) => node.whole().map(Self::Count).map_err(|_| {
                let rule = match node.value {
                    Value::Integer(_) => format!("from 1 to {MOST_STATIONS}"),
                    _ => "a whole number".to_owned(),
                };
                Fault::here(format!("must be {rule}, is {}", node.described()))
            }),
            Value::Text(text) if text.trim().parse::<u64>().is_ok() => {
                node.whole().map(Self::Count)
            }
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

    settings::refers_to_definition!();

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

impl Defined for Stations {
    fn schema_name() -> &'static str {
        "Stations"
    }

    fn definition(definitions: &mut Definitions) -> Json {
        let station = definitions.refer::<Station>();
        json!({
            "description": "A number of equal stations, one table, or one table for each group.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 10_000 },
                station,
                { "type": "array", "items": station, "minItems": 1 },
            ]
        })
    }
}
