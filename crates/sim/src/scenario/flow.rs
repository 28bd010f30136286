//! The keys of a flow: ends, traffic, congestion control, TCP.

use super::limits::LONGEST_S;
use super::tcp::Tcp;
use crate::traffic::Traffic;
use kernel::Duration;
use settings::Settings;
use tcp::control::ControlSettings;
use wire::{Dscp, TrafficClass};

/// The maximum number of flows: two for each of the most stations. The statistics of a flow take
/// some 20 kB, so that this number takes half a gigabyte.
pub(super) const MOST_FLOWS: u64 = 20_000;

/// Flows: one for each pair of a `from` and a `to`.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Flow {
    /// The name in reports. Default: the two ends.
    pub name: String,
    /// The end that sends data: "server", "ap", a station "sta3", all of them "sta*", some
    /// "sta0-4", or those of a table by its `name`; required.
    #[setting(required)]
    pub from: String,
    /// The end that receives data: as `from`, or "broadcast" for datagrams of server or access
    /// point; required.
    #[setting(required)]
    pub to: String,
    /// The number of flows between each pair; 0 switches the flows off.
    #[setting(default = 1, range = 0..=MOST_FLOWS)]
    pub count: u64,
    /// Earliest start.
    #[setting(key = "start_s", range = 0.0..=LONGEST_S)]
    pub start: Duration,
    /// The start of each flow is uniformly distributed from `start_s` to this much later. Default:
    /// one interval of traffic with a constant interval (between datagrams, pings, writes, segments
    /// of a video, constant pauses), but not beyond the flow's end, so that sources do not stay in
    /// step; 0 for other traffic. With 0 all begin at `start_s`.
    #[setting(key = "start_spread_s", range = 0.0..=LONGEST_S)]
    pub start_spread: Option<Duration>,
    /// From this time on nothing new is sent. Default: the end of the run.
    #[setting(key = "stop_s", range = 0.0..=LONGEST_S)]
    pub stop: Option<Duration>,
    /// Access category. Without `wlan.qos` all packets are served alike.
    pub class: TrafficClass,
    /// DSCP of its packets, in both directions: a name, as "EF", or a number. The access category
    /// follows from it (RFC 8325). Default: the DSCP that stands for `class`.
    pub dscp: Option<Dscp>,
    /// The traffic that the flow carries.
    pub traffic: Traffic,
    /// Congestion control of traffic over TCP. Default: `new_reno`.
    pub control: ControlSettings,
    /// The settings of TCP, of traffic over TCP, for both ends.
    pub tcp: Tcp,
}
