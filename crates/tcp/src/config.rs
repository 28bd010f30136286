//! The settings of a connection, shared by both ends.

use crate::fec::Fec;
use kernel::{BitRate, Bytes, Duration, Segments};

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

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By cumulative acknowledgements alone: one hole per round trip (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 2018), which the receiver then sends.
    Sack(Sack),
}

/// Recovery by selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// What is lost by time: RACK, and with it tail loss probes (RFC 8985); else by what was
    /// acknowledged above it (RFC 6675).
    pub rack: bool,
    /// How the window falls during recovery.
    pub reduction: Reduction,
    /// Whether a timeout without need is noticed by what is acknowledged after it (RFC 5682).
    pub f_rto: bool,
    /// Whether a loss is taken back once all that was resent proves to have been a duplicate
    /// (RFC 2883, RFC 3708).
    pub undo: bool,
}

/// How the window falls during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// At once; nothing is sent until enough has left the network (RFC 6675).
    AtOnce,
    /// In proportion to what is delivered (RFC 9937).
    Proportional,
    /// The same as RFC 6937 has it: what is in flight at the start is `FlightSize`, and each
    /// acknowledgement below the target gains a segment.
    Proportional6937,
}

impl Default for Sack {
    fn default() -> Self {
        Self { rack: true, reduction: Reduction::Proportional, f_rto: true, undo: true }
    }
}

/// What the retransmission timeout is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// SRTT + max(G, 4·RTTVAR), the whole at least `rto_min` (RFC 6298).
    Rfc6298,
    /// SRTT + max(`rto_min`, 4·RTTVAR), as Linux has it with 200 ms: the minimum is the
    /// variation's.
    Linux,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// None.
    Off,
    /// A mark is echoed until the sender has answered it, once a round trip (RFC 3168).
    Classic,
    /// Each mark is echoed by itself, and acknowledgements wait for no change of marks (RFC 8257
    /// §3.2).
    Accurate,
}

/// The settings of a connection, shared by both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Data bytes of a full-sized segment (SMSS).
    pub mss: Bytes,
    /// The window the receiver advertises (the literature's W*), constant where its application
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
    pub rto_granularity: Duration,
    /// Samples are rounded to whole ticks, at least one, before they enter the estimator; zero
    /// keeps them exact. ns-2's tick is 10 ms.
    pub rtt_tick: Duration,
    /// What the retransmission timeout is made of.
    pub rto_rule: RtoRule,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// How data is coded against losses; with it, selective acknowledgements report the numbers of
    /// transmissions, and losses are found by these (RFC 9002), whatever `recovery` says.
    pub fec: Option<Fec>,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Whether to pace by the window where the controller gives no rate of its own: twice the
    /// window per round trip in slow start, 1.2 times after it, as Linux does.
    pub pacing: bool,
    /// Whether the receiver's application reads when it is told to, by `on_read`, so that the
    /// window may close; else it reads at once.
    pub reads: bool,
    /// The rate at which the receiver's application reads, if it is slow; the window then closes
    /// where it falls behind.
    pub read_rate: Option<BitRate>,
    /// Whether the first two duplicate acknowledgements send new data (RFC 3042).
    pub limited_transmit: bool,
    /// Whether to start again from the initial window after an idle time longer than the
    /// retransmission timeout (RFC 5681 §4.1).
    pub restart_after_idle: bool,
    /// Whether a window that is not used is kept for five minutes and then halved (RFC 7661), in
    /// place of `restart_after_idle`.
    pub validation: bool,
    /// When to delay acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Whether delayed acknowledgements leave at multiples of their timer since the start, as
    /// 4.4BSD's heartbeat of 200 ms lets them, and not that long after the segment.
    pub ack_heartbeat: bool,
    /// Whether the connection ends with FINs; else it just ends, as ns-2's one-way agents do.
    pub fin: bool,
    /// Whether what is written is rounded up to full-sized segments, as ns-2 does.
    pub pad_last: bool,
}

impl Config {
    /// The settings of recovery by selective acknowledgements, if that is what recovers.
    pub fn sack(&self) -> Option<Sack> {
        match self.recovery {
            Recovery::NewReno => None,
            Recovery::Sack(sack) => Some(sack),
        }
    }
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
            rto_rule: RtoRule::Rfc6298,
            recovery: Recovery::Sack(Sack::default()),
            fec: None,
            ecn: EcnMode::Off,
            pacing: false,
            reads: false,
            read_rate: None,
            limited_transmit: true,
            restart_after_idle: true,
            validation: false,
            delayed_ack: DelayedAck::Fixed { segments: 2, timer: Duration::from_millis(100) },
            ack_heartbeat: false,
            fin: true,
            pad_last: false,
        }
    }
}
