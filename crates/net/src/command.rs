//! What a link has others do, and when it is to be called again.

use crate::queue::Signal;
use kernel::Instant;
use wire::Packet;

/// A command of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The queue of the link has dropped or marked a packet.
    Signal(Signal),
    /// The transmission of the packet begins; only for a link that is watched.
    Began(Packet),
    /// The transmission of the packet has ended, and its driver knows; only for a link that reports
    /// departures.
    Departed(Packet),
    /// The timer expires at this instant: take the packets of
    /// [`Lossy::first_crossed`](crate::Lossy::first_crossed), then call
    /// [`Lossy::on_timer`](crate::Lossy::on_timer).
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
