//! Routing in an ad-hoc network.

use kernel::Duration;
use net::ArpRules;
use net::route::RoutingSettings;

/// How the nodes of an ad-hoc network forward.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutingPlan {
    /// The routing protocol.
    pub protocol: RoutingSettings,
    /// Whether the access point is a node of the network and its gateway.
    pub gateway: bool,
    /// How a node learns the MAC addresses of its neighbours.
    pub arp: ArpRules,
    /// The longest random delay of a request for an address.
    pub arp_jitter: Duration,
}
