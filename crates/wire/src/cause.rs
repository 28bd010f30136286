//! Why packets are lost.

use self::DropGroup as Group;

/// What is told of a cause.
#[derive(Clone, Copy, Debug)]
pub struct DropFacts {
    /// Its name in traces.
    pub name: &'static str,
    /// Where or how packets are lost: "7 packets were lost in queues".
    pub label: &'static str,
    /// The result of a flow that counts them; empty if no flow has such packets.
    pub result: &'static str,
    /// The key that matters, or what else helps to understand the cause; may be empty.
    pub hint: &'static str,
    /// Which flows may lose packets by it.
    pub group: DropGroup,
}

/// Which flows may lose packets by a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropGroup {
    /// All flows.
    All,
    /// Those with a cell on their way.
    Cell,
    /// Those of which a MAC discards packets. The results of flows count all discards, because a
    /// packet that is discarded may have arrived.
    Discards,
    /// Those to or from stations that save power.
    PowerSave,
    /// Those whose nodes forward.
    Routing,
    /// Those whose nodes ask for MAC addresses.
    Arp,
    /// Those to or from stations that roam.
    Roaming,
    /// None: what is lost is a message of routers.
    Messages,
}

kernel::listed! {
    /// Why packets were lost. A cause is declared here and nowhere else: its result, its words in
    /// reports and its name in traces follow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DropCause: DropFacts {
        /// Queues dropped them, because of a limit or to signal congestion.
        Queue => {
            name: "queue", label: "in queues", result: "queue_drops",
            hint: "their limits", group: Group::All,
        },
        /// MACs discarded them at a retry limit.
        RetryLimit => {
            name: "retry limit", label: "at the retry limit", result: "retry_drops",
            hint: "wlan.rate_control, positions", group: Group::Discards,
        },
        /// MACs discarded them at the end of their lifetime.
        Lifetime => {
            name: "lifetime", label: "at the end of their lifetime", result: "lifetime_drops",
            hint: "wlan.aggregation.lifetime_ms", group: Group::Discards,
        },
        /// No node received these broadcasts, most of which collided; nobody retransmits them.
        Broadcast => {
            name: "broadcast", label: "as broadcasts", result: "broadcast_losses",
            hint: "nobody retransmits them", group: Group::Cell,
        },
        /// Wired links lost them.
        WireLoss => {
            name: "loss", label: "on wires", result: "wire_losses",
            hint: "their loss", group: Group::All,
        },
        /// A router had no route to their destination.
        NoRoute => {
            name: "no route", label: "without a route", result: "no_route_drops",
            hint: "`simoom routes` shows them", group: Group::Routing,
        },
        /// They waited at a router for a route in vain, because its buffer was full or the route
        /// did not come in time.
        SendBuffer => {
            name: "send buffer", label: "in send buffers", result: "send_buffer_drops",
            hint: "`simoom routes` shows the routes", group: Group::Routing,
        },
        /// Their time to live ended.
        TimeToLive => {
            name: "time to live", label: "at the end of their time to live",
            result: "time_to_live_drops", hint: "", group: Group::Routing,
        },
        /// They waited for a neighbour that could no longer be reached, and its router knew no
        /// other way.
        SalvageFailed => {
            name: "salvage failed", label: "at failed links", result: "salvage_drops",
            hint: "", group: Group::Routing,
        },
        /// They are messages of routers that a router did not send on.
        RoutingMessage => {
            name: "routing message", label: "as messages of routers", result: "",
            hint: "", group: Group::Messages,
        },
        /// The MAC address of their next hop was not known, because another packet for the same
        /// node took their place or no node answered.
        Unresolved => {
            name: "ARP", label: "without a MAC address", result: "arp_drops",
            hint: "routing.arp", group: Group::Arp,
        },
        /// They waited at an access point for a station that saves power, and the buffer was full
        /// or the station did not fetch them in time.
        PowerSave => {
            name: "power-save buffer", label: "in power-save buffers", result: "power_save_drops",
            hint: "stations.power_save", group: Group::PowerSave,
        },
        /// Their station scanned other channels, or had moved to another access point.
        Roaming => {
            name: "roaming", label: "by roaming", result: "roaming_drops",
            hint: "stations.roaming", group: Group::Roaming,
        },
    }
}
