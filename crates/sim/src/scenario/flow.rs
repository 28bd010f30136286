//! The keys of a flow: ends, traffic, congestion control, TCP.

use super::control::Control;
use super::fec::Fec;
use crate::plan::{Close, DelayEnd, Ecn, First, LinkRate, Reduction, RtoRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flows: one for each pair of a `from` and a `to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["from", "to"]))]
pub struct Flow {
    /// What a report calls it; default its two ends.
    pub name: String,
    /// Where data comes from: "server", "ap", a station "sta3", all of them "sta*", or some
    /// "sta0-4"; always given.
    pub from: String,
    /// Where data goes to: as `from`, or "broadcast" for datagrams of server or access point;
    /// always given.
    pub to: String,
    /// How many flows between each pair; default 1.
    pub count: u64,
    /// Earliest start in seconds; default 0.
    pub start_s: f64,
    /// Each flow starts uniformly within so many seconds after `start_s`; default 0.
    pub start_spread_s: f64,
    /// Nothing new is sent from here on, in seconds; default the end of the run.
    pub stop_s: Option<f64>,
    /// Access category; default `best_effort`. Without `wlan.qos` all are served alike.
    pub class: Class,
    /// What there is to send; default "bulk" without end.
    pub traffic: Traffic,
    /// Congestion control of "bulk" and "web"; default `new_reno`.
    pub control: Control,
    /// TCP of "bulk" and "web", at both ends.
    pub tcp: Tcp,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            name: String::new(),
            from: String::new(),
            to: String::new(),
            count: 1,
            start_s: 0.0,
            start_spread_s: 0.0,
            stop_s: None,
            class: Class::default(),
            traffic: Traffic::default(),
            control: Control::default(),
            tcp: Tcp::default(),
        }
    }
}

/// Access category (802.11-2020 clause 10.2.3.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// `AC_BK`.
    Background,
    /// `AC_BE`.
    #[default]
    BestEffort,
    /// `AC_VI`.
    Video,
    /// `AC_VO`.
    Voice,
}

/// What there is to send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// One transfer over TCP.
    Bulk(Bulk),
    /// Files over TCP with pauses between them, each file over a new connection.
    Web(Web),
    /// Datagrams over UDP at a constant rate.
    Cbr(Cbr),
    /// Datagrams over UDP, of which one is always waiting.
    Saturated(Saturated),
}

impl Default for Traffic {
    fn default() -> Self {
        Self::Bulk(Bulk::default())
    }
}

/// One transfer over TCP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bulk {
    /// How much is sent, in bytes; default endless.
    pub size_bytes: Option<u64>,
}

/// Files over TCP with pauses between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// How large files are; default Pareto.
    pub size: Size,
    /// Mean of the exponential pause in seconds; default 10.
    pub think_s: f64,
    /// How many files each flow has; default endless.
    pub files: Option<u64>,
    /// What a session begins with: "think" (default), so that sessions do not begin together, or
    /// "file".
    pub first: First,
    /// When a file's delay ends: its last byte is "delivered" (default) to the receiver's
    /// application, or "acknowledged" at the sender.
    pub delay: DelayEnd,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            size: Size::default(),
            think_s: 10.0,
            files: None,
            first: First::Think,
            delay: DelayEnd::Delivered,
        }
    }
}

/// How large files are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// All alike.
    Constant(Constant),
    /// Exponential.
    Exponential(Exponential),
    /// Pareto: P(size > s) = (minimum / s)^shape.
    Pareto(Pareto),
    /// One of a list.
    Empirical(Empirical),
}

impl Default for Size {
    fn default() -> Self {
        Self::Pareto(Pareto::default())
    }
}

/// Files that are all alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constant {
    /// Size in bytes; default 30000.
    pub bytes: u64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { bytes: 30_000 }
    }
}

/// Exponential sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Exponential {
    /// Mean in bytes; default 30000.
    pub mean_bytes: u64,
}

impl Default for Exponential {
    fn default() -> Self {
        Self { mean_bytes: 30_000 }
    }
}

/// Pareto sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pareto {
    /// Mean in bytes; default 30000.
    pub mean_bytes: u64,
    /// The exponent, above 1; 2 and below have no variance; default 1.5.
    pub shape: f64,
}

impl Default for Pareto {
    fn default() -> Self {
        Self { mean_bytes: 30_000, shape: 1.5 }
    }
}

/// Sizes from a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Empirical {
    /// The sizes in bytes.
    pub bytes: Vec<u64>,
    /// How often each occurs, in proportion; default all equally often.
    pub weights: Option<Vec<f64>>,
}

/// Datagrams over UDP at a constant rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cbr {
    /// Rate of user data, without headers, in Mb/s; default 1.
    pub rate_mbps: f64,
    /// User data of each datagram in bytes; default 1000.
    pub payload_bytes: u64,
    /// UDP and IP headers of each datagram in bytes; default 28.
    pub header_bytes: u64,
}

impl Default for Cbr {
    fn default() -> Self {
        Self { rate_mbps: 1.0, payload_bytes: 1000, header_bytes: 28 }
    }
}

/// Datagrams over UDP, of which one is always waiting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Saturated {
    /// User data of each datagram in bytes; default 1472, an IP packet of 1500.
    pub payload_bytes: u64,
    /// UDP and IP headers of each datagram in bytes; default 28.
    pub header_bytes: u64,
}

impl Default for Saturated {
    fn default() -> Self {
        Self { payload_bytes: 1472, header_bytes: 28 }
    }
}

/// TCP at both ends of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// User data of a full segment in bytes; default what IP packets of 1500 leave beside
    /// `header_bytes`: 1448 with timestamps, 1460 without.
    pub mss_bytes: Option<u64>,
    /// The window the receiver advertises (W*), in bytes; default 65535.
    pub window_bytes: Option<u64>,
    /// The same in segments; only one of both is given.
    pub window_segments: Option<u64>,
    /// Initial congestion window in segments; default 10 (RFC 6928).
    pub initial_window_segments: u64,
    /// Initial slow-start threshold in segments, at least 2; default infinite (RFC 5681).
    pub initial_ssthresh_segments: Option<u64>,
    /// The rate at which the receiver's application reads in Mb/s, so that its window closes where
    /// it falls behind; default as fast as data arrives.
    pub read_rate_mbps: Option<f64>,
    /// Timestamps (RFC 7323); default true.
    pub timestamps: bool,
    /// TCP and IP headers of each segment in bytes; default 52 with timestamps, 40 without.
    pub header_bytes: Option<u64>,
    /// When the receiver acknowledges data in order; default each second segment, or after 40 ms.
    pub delayed_ack: DelayedAck,
    /// Whether delayed acknowledgements leave at multiples of their timer since the start of the
    /// run, on a heartbeat of all connections as in 4.4BSD, instead of a timer's time after the
    /// segment; default false.
    pub ack_heartbeat: bool,
    /// Retransmission timeout before the first sample, in milliseconds; default 1000 (RFC 6298).
    pub rto_initial_ms: f64,
    /// Smallest retransmission timeout in milliseconds; default 1000 (RFC 6298).
    pub rto_min_ms: f64,
    /// Largest retransmission timeout in milliseconds; default 60000 (RFC 6298).
    pub rto_max_ms: f64,
    /// What a retransmission timeout is made of: "rfc6298" (default) or "linux".
    pub rto_rule: RtoRule,
    /// Of which radio links the controller is told the rate, at first and at each change: "own"
    /// (those of the sender's own node; default) or "path" (the slowest that its data crosses).
    pub link_rate: LinkRate,
    /// How losses are found and repaired; default by selective acknowledgements.
    pub recovery: Recovery,
    /// Data in blocks with parity, as in LT-TCP; default none. Congestion control "lt" goes with
    /// it, and `ecn`.
    pub fec: Option<Fec>,
    /// Explicit congestion notification; default "off".
    pub ecn: Ecn,
    /// Whether segments are paced by the window where the congestion control gives no rate; default
    /// false.
    pub pacing: bool,
    /// Whether the window grows by the data acknowledged (RFC 3465; default true); else each
    /// acknowledgement counts as one segment, whatever it covers, as in ns-2.
    pub byte_counting: bool,
    /// Limited transmit (RFC 3042); default true.
    pub limited_transmit: bool,
    /// Whether the congestion window restarts after an idle retransmission timeout (RFC 5681
    /// section 4.1); default true.
    pub restart_after_idle: bool,
    /// How a connection ends: with "fin" (default) of both sides, or "none" without a segment.
    pub close: Close,
    /// Whether the last segment of a transfer is filled up, as in ns-2; default false.
    pub pad_last_segment: bool,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            mss_bytes: None,
            window_bytes: None,
            window_segments: None,
            initial_window_segments: 10,
            initial_ssthresh_segments: None,
            read_rate_mbps: None,
            timestamps: true,
            header_bytes: None,
            delayed_ack: DelayedAck::default(),
            ack_heartbeat: false,
            rto_initial_ms: 1000.0,
            rto_min_ms: 1000.0,
            rto_max_ms: 60_000.0,
            rto_rule: RtoRule::Rfc6298,
            link_rate: LinkRate::default(),
            recovery: Recovery::default(),
            fec: None,
            ecn: Ecn::Off,
            pacing: false,
            byte_counting: true,
            limited_transmit: true,
            restart_after_idle: true,
            close: Close::Fin,
            pad_last_segment: false,
        }
    }
}

/// How losses are found and repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// By cumulative acknowledgements alone, a hole per round trip (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 2018).
    Sack(Sack),
}

impl Default for Recovery {
    fn default() -> Self {
        Self::Sack(Sack::default())
    }
}

/// Recovery by selective acknowledgements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sack {
    /// Whether losses are found by time, with tail loss probes (RFC 8985), and not by what arrived
    /// above them (RFC 6675); default true.
    pub rack: bool,
    /// How the window falls during recovery; default "proportional".
    pub reduction: Reduction,
    /// Whether a timeout without need is noticed (F-RTO, RFC 5682); default true.
    pub f_rto: bool,
    /// Whether a loss is taken back once all that was resent is reported as a duplicate (RFC 2883,
    /// RFC 3708); default true.
    pub undo: bool,
}

impl Default for Sack {
    fn default() -> Self {
        Self { rack: true, reduction: Reduction::Proportional, f_rto: true, undo: true }
    }
}

/// When a receiver acknowledges data in order; other data it acknowledges at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayedAck {
    /// At once.
    None,
    /// Each so many segments.
    Fixed(Fixed),
    /// The more rarely, the longer the connection lasts.
    Dynamic(Dynamic),
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self::Fixed(Fixed::default())
    }
}

/// An acknowledgement each so many segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fixed {
    /// Full segments that one acknowledgement answers; default 2 (RFC 1122).
    pub segments: u64,
    /// Longest wait in milliseconds; default 40.
    pub timer_ms: f64,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { segments: 2, timer_ms: 40.0 }
    }
}

/// An acknowledgement each 1, 2, 3, then 4 segments: with thresholds 2, 5, 9 the first segment of
/// a connection is answered at once, the 2nd to 4th by twos, the 5th to 8th by threes, all later
/// ones by fours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dynamic {
    /// Three numbers of segments, ascending; default 2, 5, 9.
    pub thresholds: Vec<u64>,
    /// Longest wait in milliseconds; default 40.
    pub timer_ms: f64,
}

impl Default for Dynamic {
    fn default() -> Self {
        Self { thresholds: vec![2, 5, 9], timer_ms: 40.0 }
    }
}
