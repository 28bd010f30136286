//! The settings of a connection, shared by both ends.

use kernel::{Bytes, Duration, Segments};

/// When a receiver acknowledges data that arrives in order. Everything else (data out of order,
/// data that fills a gap, duplicates, SYN and FIN) is acknowledged at once (RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once.
    None,
    /// Once this many full-sized segments are unacknowledged, or when the timer expires.
    Fixed {
        /// Full-sized segments per acknowledgement (d); 2 is RFC 5681's.
        segments: u32,
        /// The longest an acknowledgement waits; below 500 ms (RFC 1122 §4.2.3.2).
        timer: Duration,
    },
    /// As `Fixed`, with d growing from 1 to 4 by the number n of the segment, counted from 1
    /// (Altman and Jiménez, "Novel delayed ACK techniques for improving TCP performance in
    /// multihop wireless networks", 2003).
    Dynamic {
        /// d = 1 for n below the first, 2 below the second, 3 below the third, then 4; the
        /// authors' are 2, 5, 9.
        thresholds: [u64; 3],
        /// The longest an acknowledgement waits.
        timer: Duration,
    },
}

/// The settings of a connection, shared by both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Data bytes of a full-sized segment (SMSS).
    pub mss: Bytes,
    /// The window the receiver advertises (the literature's W*), constant as its application
    /// reads at once.
    pub window: Bytes,
    /// The window a connection starts with; 10 segments in RFC 6928.
    pub initial_window: Segments,
    /// Where slow start ends at first; `None` is "arbitrarily high" (RFC 5681 §3.1).
    pub initial_ssthresh: Option<Segments>,
    /// Whether to negotiate the timestamps option (RFC 7323).
    pub timestamps: bool,
    /// TCP and IP header of each segment: 40 bytes, 52 with timestamps.
    pub header: Bytes,
    /// The retransmission timeout before the first sample; 1 s in RFC 6298 (2.1).
    pub rto_initial: Duration,
    /// The least retransmission timeout; 1 s in RFC 6298 (2.4).
    pub rto_min: Duration,
    /// The greatest retransmission timeout; at least 60 s in RFC 6298 (2.5).
    pub rto_max: Duration,
    /// RFC 6298's clock granularity G, the least the variance adds: RTO = SRTT + max(G, 4·RTTVAR).
    /// 200 ms with an `rto_min` of zero is Linux's rule.
    pub rto_granularity: Duration,
    /// Samples are rounded to whole ticks, at least one, before they enter the estimator; zero
    /// keeps them exact. ns-2's tick is 10 ms.
    pub rtt_tick: Duration,
    /// Whether the first two duplicate acknowledgements send new data (RFC 3042).
    pub limited_transmit: bool,
    /// Whether to start again from the initial window after an idle time longer than the
    /// retransmission timeout (RFC 5681 §4.1).
    pub restart_after_idle: bool,
    /// When to delay acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Whether the connection ends with FINs; else it just ends, as ns-2's one-way agents do.
    pub fin: bool,
    /// Whether what is written is rounded up to full-sized segments, as ns-2 does.
    pub pad_last: bool,
}

impl Default for Config {
    /// The RFCs' values, without the timestamps option.
    fn default() -> Self {
        Self {
            mss: Bytes(1460),
            window: Bytes(65_535),
            initial_window: Segments(10.0),
            initial_ssthresh: None,
            timestamps: false,
            header: Bytes(40),
            rto_initial: Duration::from_secs(1),
            rto_min: Duration::from_secs(1),
            rto_max: Duration::from_secs(60),
            rto_granularity: Duration::from_millis(1),
            rtt_tick: Duration::ZERO,
            limited_transmit: true,
            restart_after_idle: true,
            delayed_ack: DelayedAck::Fixed { segments: 2, timer: Duration::from_millis(100) },
            fin: true,
            pad_last: false,
        }
    }
}
