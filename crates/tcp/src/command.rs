//! What a machine asks of the world.

use kernel::{Bytes, Duration, Instant};
use wire::Segment;

/// A machine's timers; each machine has at most one running of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerId {
    /// Resends what was not acknowledged in time (RFC 6298): the sender's data, the receiver's
    /// SYN-ACK and FIN. The sender's tail loss probe and reordering timer (RFC 8985), and its
    /// probes of a closed window (RFC 9293 §3.8.6.1), run on it too: only one is wanted at a time.
    Retransmit,
    /// The receiver's delayed acknowledgement (RFC 1122 §4.2.3.2).
    DelayedAck,
    /// The sender's next segment by its pacing rate; the receiver's next room, by the rate at which
    /// its application reads.
    Pacing,
}

/// What a machine asks of the world, or tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Hand this segment down to the network.
    Send(Segment),
    /// Receiver: this much new data reached the application in order.
    Deliver(Bytes),
    /// Call `on_timer` at this time; replaces an earlier `Set` of the same timer.
    Set(TimerId, Instant),
    /// The timer is no longer wanted.
    Cancel(TimerId),
    /// Sender: a valid sample of the round-trip time was taken.
    Rtt(Duration),
    /// Sender: its SYN was acknowledged.
    Connected,
    /// Sender: no more data will be written, and all of it has been acknowledged.
    Acknowledged,
    /// The machine is done: both directions are closed or, without closing segments, all data
    /// has been acknowledged. It still answers segments that show the peer missed the last one.
    Closed,
}
