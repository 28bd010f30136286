//! TCP segments at the ends of their connections.

use kernel::{Duration, Instant};
use wire::{Ecn, Segment};

/// Whether a segment leaves or arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRecord {
    /// Its end sends it.
    Sent,
    /// It arrives at the other end.
    Received,
}

/// The state of the flow's data sender after the event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// Congestion window in bytes.
    pub cwnd_bytes: f64,
    /// Slow start threshold in bytes; infinite before the first reduction.
    pub ssthresh_bytes: f64,
    /// Bytes in flight as the sender estimates them.
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The last sample of the round-trip time.
    pub rtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Duration,
    /// The phase: `syn_sent`, `open`, `recovery`, `loss`, `closed` …
    pub state: &'static str,
}

/// A segment at an end of its connection.
#[derive(Clone, Copy, Debug)]
pub struct SegmentEvent {
    /// When.
    pub at: Instant,
    /// Number of its packet in the trace: [`crate::PacketEvent::packet_id`].
    pub packet_id: u64,
    /// Whether it leaves or arrives.
    pub event: SegmentRecord,
    /// The segment.
    pub segment: Segment,
    /// ECN field of its packet.
    pub ecn: Ecn,
    /// Whether it repeats data, SYN or FIN that was sent before.
    pub retransmission: bool,
    /// The sender after the event; `None` before the connection has a sender state.
    pub sender: Option<SenderState>,
}
