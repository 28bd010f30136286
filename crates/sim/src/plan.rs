//! What runs: the scenario with every default filled in, every pattern expanded, every unit a type.
//!
//! A [`Plan`] is plain data. Only [`Scenario::resolve`](crate::scenario::Scenario::resolve) makes
//! one from what a user wrote, and only after every check has passed: the world reads it without
//! asking again. Choices that need no resolving are the same type in both.

mod queue;

pub use queue::{Discipline, LossDirection, Per, WirePlan};

use kernel::{BitRate, Bytes, Duration};
pub use net::{
    CoDelConfig, ControlLaw, FqCoDelConfig, Limit, Loss, PieConfig, QueueUnit, RedConfig,
    red_weight,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tcp::control::{
    self, AfwConfig, BbrConfig, CubicConfig, LtConfig, Throughputs, VegasConfig,
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
    /// The stations; `Endpoint::Station(n)` is the n-th. At least one.
    pub stations: Vec<StationPlan>,
    /// The access point.
    pub ap: ApPlan,
    /// The link between server and access point; `None` puts the server at the access point.
    pub wire: Option<WirePlan>,
    /// Every single flow, in the order of the scenario; at least one.
    pub flows: Vec<FlowPlan>,
    /// What is measured, and how finely.
    pub measure: MeasurePlan,
}

/// The standard of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// 802.11b: DSSS and CCK at 2.4 GHz (802.11-2020 clauses 15 and 16).
    #[serde(rename = "11b")]
    B,
    /// 802.11a: OFDM at 5 GHz (clause 17).
    #[serde(rename = "11a")]
    A,
    /// 802.11g: ERP, that is OFDM beside DSSS and CCK at 2.4 GHz (clause 18).
    #[serde(rename = "11g")]
    G,
}

/// The DSSS/CCK preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preamble {
    /// 144 us, and a header of 48 us.
    Long,
    /// 72 us, and a header of 24 us; a frame at 1 Mb/s has the long one nevertheless.
    Short,
}

/// The slot time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// 9 us.
    Short,
    /// 20 us.
    Long,
}

/// How long a station defers after a frame that it could not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eifs {
    /// SIFS + an ACK at the lowest basic rate + DIFS (802.11-2007 clause 9.2.3.5).
    Standard,
    /// With the ACK that the failed PPDU would have been answered with (802.11-2016 and later).
    Estimated,
    /// DIFS, as after a frame that was read.
    None,
}

/// How the slots of stations lie to each other after a collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotGrid {
    /// As the standard's timeouts and EIFS place them.
    Standard,
    /// All stations resume together.
    Shared,
    /// Each station resumes where its own rule ends, without a common grid.
    Free,
}

/// Whether a slot in which another station begins to send counts as counted down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Countdown {
    /// No: the slot is not idle (802.11-2020 clause 10.3.4.3).
    Standard,
    /// Yes: one step of the chain per busy period, as in Bianchi's model (JSAC 18:3, 2000).
    Bianchi,
}

/// The range of a back-off draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackoffDraw {
    /// Uniform in 0..=CW (802.11-2020 clause 10.3.3).
    Standard,
    /// Uniform in 0..CW, without CW itself, as ns-2 does.
    Ns2,
}

/// How exact the durations of DSSS and CCK frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durations {
    /// Whole microseconds (802.11-2020 clause 16.3.4).
    Standard,
    /// Exact on the air, and rounded to the nearest microsecond in Duration fields.
    Ns2,
}

/// What all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct WlanPlan {
    /// 802.11b, a or g.
    pub standard: Standard,
    /// DSSS/CCK preamble; without meaning in 802.11a.
    pub preamble: Preamble,
    /// The basic rates, ascending, at least one; the first is not above any station's rate.
    pub basic_rates: Vec<BitRate>,
    /// PSDUs longer than this are preceded by RTS and CTS; 0: always.
    pub rts_threshold: Bytes,
    /// Attempts in all of a frame without RTS, and of an RTS; at least 1.
    pub short_retry_limit: u8,
    /// Attempts in all of a frame after RTS and CTS; at least 1.
    pub long_retry_limit: u8,
    /// Smallest contention window, 2^k - 1.
    pub cw_min: u32,
    /// Largest contention window, 2^k - 1, at least `cw_min`.
    pub cw_max: u32,
    /// Slot time: long in 802.11b, short in a, either in g.
    pub slot: Slot,
    /// MAC header of a data frame, without FCS.
    pub mac_header: Bytes,
    /// LLC and SNAP header before each IP packet.
    pub llc: Bytes,
    /// Deferral after a frame that could not be read.
    pub eifs: Eifs,
    /// Slots after a collision.
    pub slot_grid: SlotGrid,
    /// Slots in which another station begins to send.
    pub countdown: Countdown,
    /// Range of a back-off draw.
    pub backoff_draw: BackoffDraw,
    /// Durations of DSSS and CCK frames.
    pub durations: Durations,
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationPlan {
    /// `sta0`, `sta1`, …
    pub name: String,
    /// Rate of data frames in both directions between it and the access point.
    pub rate: BitRate,
    /// What it sends from.
    pub queue: Discipline,
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
}

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The server behind the wire.
    Server,
    /// The access point itself.
    AccessPoint,
    /// The n-th of `Plan::stations`.
    Station(u32),
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
    /// How losses are found and repaired.
    pub recovery: Recovery,
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
