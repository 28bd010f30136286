//! The keys of a flow: ends, traffic, congestion control, TCP.

use super::limits::LONGEST_S;
use super::tcp::Tcp;
use crate::traffic::Traffic;
use kernel::Duration;
use settings::Settings;
use tcp::control::ControlSettings;
use wire::TrafficClass;

/// More flows than this are refused: two for each of the most stations. A flow's statistics take
/// some 20 kB, so that these take half a gigabyte.
pub(super) const MOST_FLOWS: u64 = 20_000;

/// Flows: one for each pair of a `from` and a `to`.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Flow {
    /// What a report calls it; default its two ends.
    pub name: String,
    /// Where data comes from: "server", "ap", a station "sta3", all of them "sta*", or some
    /// "sta0-4"; always given.
    #[setting(required)]
    pub from: String,
    /// Where data goes to: as `from`, or "broadcast" for datagrams of server or access point;
    /// always given.
    #[setting(required)]
    pub to: String,
    /// How many flows between each pair.
    #[setting(default = 1, range = 1..=MOST_FLOWS)]
    pub count: u64,
    /// Earliest start.
    #[setting(key = "start_s", range = 0.0..=LONGEST_S)]
    pub start: Duration,
    /// Each flow starts at a time that is uniform from `start_s` to so much later.
    #[setting(key = "start_spread_s", range = 0.0..=LONGEST_S)]
    pub start_spread: Duration,
    /// Nothing new is sent from here on; default the end of the run.
    #[setting(key = "stop_s", range = 0.0..=LONGEST_S)]
    pub stop: Option<Duration>,
    /// Access category. Without `wlan.qos` all are served alike.
    pub class: TrafficClass,
    /// What there is to send.
    pub traffic: Traffic,
    /// Congestion control of "bulk" and "web"; default `new_reno`.
    pub control: ControlSettings,
    /// TCP of "bulk" and "web", at both ends.
    pub tcp: Tcp,
}
