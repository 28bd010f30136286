//! The keys of routing.

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
}
