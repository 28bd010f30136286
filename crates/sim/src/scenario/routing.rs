//! The keys of routing.

use kernel::Duration;
use net::ArpRules;
use net::route::RoutingSettings;
use settings::Settings;

/// Routing in an ad-hoc network (`radio.ad_hoc`): stations forward packets of other stations.
/// Without this table a flow needs two stations that receive each other.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Routing {
    /// The routing protocol.
    pub protocol: RoutingSettings,
    /// Whether the access point is a node of the ad-hoc network, and the gateway to the server and
    /// to the links.
    pub gateway: bool,
    /// How a node learns the MAC address of the next hop of a packet.
    pub arp: ArpRules,
    /// The longest random delay of a request of ARP: broadcasts are not repeated, and nodes that
    /// ask at one instant collide. Default: 10 ms, as in ns-3; with `arp = "ns2"` 0.
    #[setting(key = "arp_jitter_ms", range = 0.0..=1000.0)]
    pub arp_jitter: Option<Duration>,
}
