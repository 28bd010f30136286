//! What a link has others do, and when it is to be called again.

use crate::queue::Signal;
use kernel::Instant;
use wire::Packet;

/// A command of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Hand the packet to the node at the far end, now.
    Deliver(Packet),
    /// The queue of the link has dropped or marked a packet.
    Signal(Signal),
    /// The packet has reached the far end corrupted and is discarded.
    Lost(Packet),
    /// The transmission of the packet begins; only for a link that is watched.
    Began(Packet),
    /// The transmission of the packet has ended, and its driver knows; only for a link that reports
    /// departures.
    Departed(Packet),
    /// Call [`Lossy::on_timer`](crate::Lossy::on_timer) for this timer at this instant.
    Set(LinkTimer, Instant),
}

/// The timers of a link. At most one event of each is pending, and none is ever stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTimer {
    /// The first packet on the wire reaches the far end.
    Arrival,
    /// The transmitter is idle and can send a waiting packet.
    Ready,
    /// The driver learns which transmissions have ended.
    Completion,
    /// The first packet that reordering holds goes on.
    Held,
}
