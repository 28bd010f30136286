//! What runs: the scenario with every default filled in, every pattern expanded, every unit a type.
//!
//! A [`Plan`] is plain data. Only [`Scenario::resolve`](crate::scenario::Scenario::resolve) makes
//! one from what a user wrote, and only after every check has passed: the world reads it without
//! asking again. Choices that need no resolving are the same type in both.

mod network;
mod queue;
mod space;
mod wlan;

pub use network::{DirectionPlan, LinkPlan, Network};
pub use queue::{Discipline, Per};
pub use space::{BssPlan, ErrorPlan, FadingPlan, LossPlan, PlacePlan, SpacePlan, WaypointPlan};
pub use wlan::{
    AdaptiveRule, AggregationPlan, BackoffDraw, Band, Countdown, Delivery, Durations, Edca, Eifs,
    MissedBlockAck, Mode, Patience, Preamble, Protection, QosPlan, RateControlPlan, RatePlan,
    Retries, Slot, SlotGrid, Standard, WlanPlan,
};

use kernel::{BitRate, Bytes, Duration};
pub use net::{
    CoDelConfig, ControlLaw, FqCoDelConfig, Limit, Loss, PieConfig, QueueUnit, RedConfig,
    SfqConfig, red_weight,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tcp::control::{
    self, AfwConfig, Bbr3Config, BbrConfig, CubicConfig, LtConfig, Throughputs, VegasConfig,
};
pub use wire::TrafficClass;

/// A whole run but its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What a report is headed with; may be empty.
    pub title: String,
    /// Simulated time.
    pub duration: Duration,
    /// What is discarded at the beginning; less than `duration`.
    pub warmup: Duration,
    /// The cell.
    pub wlan: WlanPlan,
    /// The stations; `Endpoint::Station(n)` is the n-th. Without any there is no cell.
    pub stations: Vec<StationPlan>,
    /// The access point.
    pub ap: ApPlan,
    /// Places and radios; `None` where all hear all.
    pub space: Option<SpacePlan>,
    /// The wired links.
    pub network: Network,
    /// Every single flow, in the order of the scenario; at least one.
    pub flows: Vec<FlowPlan>,
    /// What is measured, and how finely.
    pub measure: MeasurePlan,
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationPlan {
    /// `sta0`, `sta1`, …
    pub name: String,
    /// It is of 802.11b in a network of 802.11g, and understands no OFDM.
    pub non_erp: bool,
    /// How it sends to the access point.
    pub up: RatePlan,
    /// How the access point sends to it.
    pub down: RatePlan,
    /// What it sends from.
    pub queue: Discipline,
    /// Frames that its device holds below that, those in service included; at least 1.
    pub ring: Option<u32>,
    /// Probability that noise spoils a data frame on its link, in either direction; in [0, 1).
    pub data_loss: f64,
    /// Probability that noise spoils an ACK on its link, in either direction; in [0, 1).
    pub ack_loss: f64,
}

/// The access point.
#[derive(Debug, Clone, PartialEq)]
pub struct ApPlan {
    /// What it sends from into the cell.
    pub queue: Discipline,
    /// Frames that its device holds below that.
    pub ring: Option<u32>,
}

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The server, at the access point or behind wires.
    Server,
    /// The access point itself.
    AccessPoint,
    /// The n-th of `Plan::stations`.
    Station(u32),
    /// The n-th of `Network::hosts`.
    Host(u32),
    /// All stations of the cell; only where a datagram flow from server or access point goes to.
    Broadcast,
}

/// One flow; `from` and `to` differ.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowPlan {
    /// What a report calls it, as `download sta3`.
    pub name: String,
    /// Which `[[flows]]` table of the scenario it comes from, counted from 0.
    pub group: usize,
    /// Where data comes from.
    pub from: Endpoint,
    /// Where data goes to.
    pub to: Endpoint,
    /// Earliest start.
    pub start: Duration,
    /// It starts uniformly within this after `start`.
    pub start_spread: Duration,
    /// Nothing new is sent from here on; `None` until the run ends.
    pub stop: Option<Duration>,
    /// Access category.
    pub class: TrafficClass,
    /// What is to be sent.
    pub traffic: TrafficPlan,
    /// Present where `traffic` travels over TCP, absent where it travels over UDP.
    pub tcp: Option<TcpPlan>,
}

/// What a flow has to send.
#[derive(Debug, Clone, PartialEq)]
pub enum TrafficPlan {
    /// One transfer over TCP.
    Bulk {
        /// How much; `None` is endless.
        size: Option<Bytes>,
    },
    /// Files over TCP, each over a connection of its own, and a pause before each but perhaps the
    /// first.
    Web {
        /// Size of a file.
        size: SizePlan,
        /// Mean of the exponential pause.
        think: Duration,
        /// How many files; `None` is endless.
        files: Option<u64>,
        /// What comes first.
        first: First,
        /// When a file's delay ends.
        delay: DelayEnd,
    },
    /// Datagrams at a constant rate over UDP.
    Cbr {
        /// Rate of `payload`, without headers; above 0.
        rate: BitRate,
        /// User data of each datagram.
        payload: Bytes,
        /// UDP and IP headers of each datagram.
        header: Bytes,
    },
    /// A source of datagrams over UDP that has one waiting whenever the last was taken.
    Saturated {
        /// User data of each datagram.
        payload: Bytes,
        /// UDP and IP headers of each datagram.
        header: Bytes,
    },
}

/// How large files are.
#[derive(Debug, Clone, PartialEq)]
pub enum SizePlan {
    /// All alike.
    Constant(Bytes),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Bytes,
    },
    /// Pareto: P(size > s) = (minimum / s)^shape.
    Pareto {
        /// Mean.
        mean: Bytes,
        /// The exponent, above 1.
        shape: f64,
    },
    /// One of a list.
    Empirical {
        /// The sizes, each at least 1.
        sizes: Vec<Bytes>,
        /// P(size <= sizes[i]) as listed: ascending in (0, 1], the last is 1, as long as `sizes`.
        cumulative: Vec<f64>,
    },
}

/// What a web session begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum First {
    /// A pause, so that sessions do not begin together.
    Think,
    /// A file.
    File,
}

/// When a file's delay ends; it begins when the file is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayEnd {
    /// The last byte has reached the receiver's application.
    Delivered,
    /// The sender has seen the last byte acknowledged.
    Acknowledged,
}

/// Both ends of a TCP connection.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpPlan {
    /// Congestion control.
    pub control: ControlPlan,
    /// User data of a full segment; at least 1.
    pub mss: Bytes,
    /// The window the receiver advertises (the papers' W*); at least `mss`.
    pub window: Bytes,
    /// Initial congestion window in segments; at least 1.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments, at least 2; `None` is infinite.
    pub initial_ssthresh: Option<u32>,
    /// The rate at which the receiver's application reads, if it is slow.
    pub read_rate: Option<BitRate>,
    /// RFC 7323 timestamps.
    pub timestamps: bool,
    /// TCP and IP headers of each segment.
    pub header: Bytes,
    /// The receiver's rule for acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Delayed acknowledgements leave at multiples of their timer, all connections together.
    pub ack_heartbeat: bool,
    /// Retransmission timeout before the first sample; within `rto_min..=rto_max`.
    pub rto_initial: Duration,
    /// Smallest retransmission timeout.
    pub rto_min: Duration,
    /// Largest retransmission timeout.
    pub rto_max: Duration,
    /// What a retransmission timeout is made of.
    pub rto_rule: RtoRule,
    /// Of which radio links the controller is told the rate.
    pub link_rate: LinkRate,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// How data is coded against losses.
    pub fec: Option<tcp::fec::Fec>,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Paced by the window where the congestion control gives no rate.
    pub pacing: bool,
    /// RFC 3465; else each acknowledgement counts as one segment.
    pub byte_counting: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// The congestion window restarts after an idle retransmission timeout (RFC 5681 section 4.1).
    pub restart_after_idle: bool,
    /// How a connection ends.
    pub close: Close,
    /// The last segment of a transfer is filled to `mss`, as in ns-2.
    pub pad_last_segment: bool,
}

/// Congestion control.
#[derive(Debug, Clone, PartialEq)]
pub enum ControlPlan {
    /// A controller with a window of its own.
    Steerable(Steered),
    /// LT-TCP's window.
    Lt(LtConfig),
    /// BBR, version 1.
    Bbr(BbrConfig),
    /// BBR, version 3.
    Bbr3(Bbr3Config),
    /// A controller written in Python.
    Python {
        /// Where it is found: `module:Class`.
        path: String,
    },
    /// A controller that is told of the rate of the link.
    CrossLayer {
        /// The controller in between.
        inner: Steered,
        /// What the application gets at which rate.
        throughputs: Throughputs,
        /// Which round-trip time makes the window.
        average: control::Average,
    },
}

/// A controller that another one may steer.
#[derive(Debug, Clone, PartialEq)]
pub enum Steered {
    /// `NewReno` (RFC 5681).
    NewReno {
        /// RFC 9406 ends the first slow start.
        hystart: bool,
        /// What of the flight is left after a mark.
        beta_ecn: f64,
    },
    /// CUBIC (RFC 9438).
    Cubic(CubicConfig),
    /// Westwood+.
    Westwood {
        /// What of the estimate is kept at each sample.
        memory: f64,
    },
    /// Vegas.
    Vegas(VegasConfig),
    /// `FeW`.
    Few {
        /// Segments by which the window grows per round trip.
        alpha: f64,
    },
    /// AFW.
    Afw(AfwConfig),
}

/// Which events are congestion to AFW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Congested {
    /// Timeouts.
    Timeout,
    /// Timeouts, fast retransmissions and marks.
    AnyLoss,
}

/// Which round-trip time makes the window of a link's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Average {
    /// The mean of the last samples.
    Samples,
    /// The smoothed one of RFC 6298.
    Smoothed,
}

/// What a retransmission timeout is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RtoRule {
    /// SRTT and four times its variation, the whole at least the minimum (RFC 6298).
    #[serde(rename = "rfc6298")]
    Rfc6298,
    /// SRTT and four times its variation, the latter at least the minimum, as in Linux.
    #[serde(rename = "linux")]
    Linux,
}

/// Of which radio links a controller is told the rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkRate {
    /// Those by which the sender's own node sends its data.
    #[default]
    Own,
    /// The slowest that its data crosses, as if the network told it.
    Path,
}

/// Explicit congestion notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until it is answered, once a round trip (RFC 3168).
    Classic,
    /// Each mark is echoed by itself (RFC 8257 section 3.2).
    Accurate,
}

/// How the window falls during recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Reduction {
    /// At once; nothing is sent until enough has left the network (RFC 6675).
    #[serde(rename = "at_once")]
    AtOnce,
    /// In proportion to what is delivered (RFC 9937).
    #[serde(rename = "proportional")]
    Proportional,
    /// The same in its first form (RFC 6937).
    #[serde(rename = "proportional_rfc6937")]
    Proportional6937,
}

/// How losses are found and repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// By cumulative acknowledgements alone (RFC 6582).
    NewReno,
    /// By selective acknowledgements (RFC 2018).
    Sack {
        /// Losses are found by time (RFC 8985), else by count (RFC 6675).
        rack: bool,
        /// How the window falls.
        reduction: Reduction,
        /// RFC 5682.
        f_rto: bool,
        /// RFC 3708.
        undo: bool,
    },
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    /// With FIN segments of both ends.
    Fin,
    /// Without a further segment.
    None,
}

/// When a receiver acknowledges data in order; other data it acknowledges at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayedAck {
    /// At once.
    None,
    /// Each `segments` full segments, or when `timer` has passed since the first unacknowledged.
    Fixed {
        /// At least 1.
        segments: u32,
        /// The longest wait.
        timer: Duration,
    },
    /// Each d segments, where d grows with n, the segment's number within the connection from 1:
    /// n < t0: 1; n < t1: 2; n < t2: 3; else 4.
    Dynamic {
        /// t0 <= t1 <= t2, each at least 1.
        thresholds: [u64; 3],
        /// The longest wait.
        timer: Duration,
    },
}

/// What is measured, and how finely.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurePlan {
    /// Batches of the batch means; at least 2.
    pub batches: u32,
    /// Time between samples of a probe; above 0.
    pub interval: Duration,
}
