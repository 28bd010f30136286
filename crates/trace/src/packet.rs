//! The way of a packet through the network.

use kernel::Instant;
use wire::{DropCause, Packet, Place};

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
    Dropped(DropCause),
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
