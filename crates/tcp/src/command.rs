//! The commands that a TCP sender or receiver returns to its environment.

use kernel::{Bytes, Duration, Instant};
use wire::Segment;

/// The timers of a sender or receiver. At most one of each kind runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerId {
    /// Retransmits unacknowledged segments (RFC 6298): the sender's data, the receiver's SYN-ACK
    /// and FIN. The sender's tail loss probe and reordering timer (RFC 8985) and its zero-window
    /// probe (RFC 9293 §3.8.6.1) use the same timer: only one of them is needed at a time.
    Retransmit,
    /// The receiver's delayed acknowledgement (RFC 1122 §4.2.3.2).
    DelayedAck,
    /// Sender: when pacing allows the next segment. Receiver: when the application, which reads at
    /// a limited rate, will have freed buffer space.
    Pacing,
    /// Sender: the timer of the congestion control.
    Control,
}

impl TimerId {
    /// All kinds of timers, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Retransmit, Self::DelayedAck, Self::Pacing, Self::Control];
}

/// A request or an indication of a sender or receiver to its environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Hand this segment down to the network.
    Send(Segment),
    /// Receiver: this much new data reached the application in order.
    Deliver(Bytes),
    /// Call `on_timer` at this time; replaces an earlier `Set` of the same timer.
    Set(TimerId, Instant),
    /// Stop the timer.
    Cancel(TimerId),
    /// Sender: a valid sample of the round-trip time was taken.
    Rtt(Duration),
    /// Sender: its SYN was acknowledged.
    Connected,
    /// Sender: no more data will be written, and all of it has been acknowledged.
    Acknowledged,
    /// The sender or receiver has finished: both directions are closed or, if the connection ends
    /// without FIN, all data has been acknowledged. It still answers segments which show that the
    /// peer missed its last segment.
    Closed,
}
