//! The way of a packet through the network.

use kernel::Instant;
use wire::{NodeId, Packet};

/// Where something happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a node: its transport.
    Node(NodeId),
    /// At a radio, by number.
    Radio(u32),
    /// At a link direction, by number.
    Wire(u32),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dropped {
    /// The queue dropped it, because of its limit or to signal congestion.
    Queue,
    /// The MAC discarded it at a retry limit.
    RetryLimit,
    /// The MAC discarded it at the end of its lifetime.
    Lifetime,
    /// A broadcast was lost.
    Broadcast,
    /// A wired link lost it.
    Loss,
    /// A router has no route to its destination.
    NoRoute,
    /// It waited at a router for a route in vain.
    SendBuffer,
    /// Its time to live ended.
    TimeToLive,
    /// It waited for a neighbour that can no longer be reached, and the router knows no other way.
    SalvageFailed,
    /// It is a routing message that a router does not send on.
    RoutingMessage,
    /// The MAC address of its next hop was not known in time.
    Unresolved,
    /// It waited at an access point for a station that saves power.
    PowerSave,
    /// Its station scanned other channels, or had moved to another access point.
    Roaming,
}

/// A step on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketStep {
    /// The transport hands it to the network layer of its node.
    Sent,
    /// It is offered to the queue of an interface.
    Queued {
        /// Packets that wait there already.
        waiting: u32,
    },
    /// The queue marks it (ECN).
    Marked,
    /// It leaves the queue of a radio and enters service.
    Dequeued,
    /// It is lost.
    Dropped(Dropped),
    /// Its transmission over a link direction begins.
    Began,
    /// It reaches the far end of a link direction.
    Crossed,
    /// The MAC of a radio received it for the first time and delivers it.
    Received,
    /// Its service at a radio ends with an acknowledgement.
    Served,
    /// It reaches its destination's transport.
    Arrived,
    /// The run ends, and it is still here.
    Resident,
}

/// A step of a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent {
    /// When.
    pub at: Instant,
    /// Number of the packet in the run, in the order in which transports sent them.
    pub packet_id: u64,
    /// The packet.
    pub packet: Packet,
    /// Where.
    pub place: Place,
    /// What happens.
    pub step: PacketStep,
}
