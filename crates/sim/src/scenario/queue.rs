//! The keys of a queue, and of the losses of a wire.

use crate::plan::Per;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a buffer is served. Limits count the packet in service too; where two are given both hold;
/// without any the buffer is unlimited. What else a queue measures are the packets that wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// Deficit round robin over sub-queues (Shreedhar and Varghese 1995).
    Drr(Drr),
    /// SFQ, stochastic fairness queueing (`McKenney` 1990).
    Sfq(Sfq),
    /// Random early detection (Floyd and Jacobson 1993), also gentle and adaptive.
    Red(Red),
    /// `CoDel`, controlled delay (RFC 8289).
    Codel(Codel),
    /// FQ-CoDel: each flow under `CoDel`, with fair turns (RFC 8290).
    FqCodel(FqCodel),
    /// PIE, proportional integral controller, enhanced (RFC 8033).
    Pie(Pie),
    /// Equal airtime for each station, as in the Wi-Fi stack of Linux; of the access point only.
    AirtimeFair(AirtimeFair),
}

impl Default for Queue {
    fn default() -> Self {
        Self::DropTail(DropTail::default())
    }
}

/// A first-in-first-out queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropTail {
    /// Limit in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

/// A fair queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Drr {
    /// What has a sub-queue of its own: each "flow" (default) or each "station".
    pub per: Per,
    /// What a sub-queue may send a round, in bytes; default 1514.
    pub quantum_bytes: u64,
    /// Limit of each sub-queue in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit of each sub-queue in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for Drr {
    fn default() -> Self {
        Self { per: Per::Flow, quantum_bytes: 1514, limit_packets: None, limit_bytes: None }
    }
}

/// Sub-queues that flows are hashed to and that send a packet each in turn; where there is no room,
/// the longest loses its first packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sfq {
    /// How many sub-queues there are; default 1024.
    pub buckets: u64,
    /// Limit of all sub-queues together in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit of all sub-queues together in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for Sfq {
    fn default() -> Self {
        Self { buckets: 1024, limit_packets: None, limit_bytes: None }
    }
}

/// A queue that drops or marks at random, the more the longer it is on average.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Red {
    /// Up to this average nothing is dropped, in packets; default 5, or half of what the wire sends
    /// in `target_delay_ms` if that is more.
    pub min_packets: Option<f64>,
    /// At this average the probability is `max_p`, in packets; default three times `min_packets`.
    pub max_packets: Option<f64>,
    /// `min_packets` in bytes: the average counts bytes then, and not packets.
    pub min_bytes: Option<u64>,
    /// `max_packets` in bytes; default three times `min_bytes`.
    pub max_bytes: Option<u64>,
    /// Probability at the upper threshold, in adaptive RED at the start; above 0 to 1, default 0.1.
    pub max_p: f64,
    /// Weight of the present length in the average; above 0 to 1; default such that the average
    /// follows in ten round-trip times of 100 ms (or of three times the wire's delay if that is
    /// more; `q_weight` -1 of ns-2), or 0.002 where there is no wire of a fixed rate.
    pub weight: Option<f64>,
    /// Whether the probability rises to 1 at twice the upper threshold, and does not jump there;
    /// default true.
    pub gentle: bool,
    /// Whether drops are at least 1/p packets apart, and not up to 1/p (`wait_` of ns-2); default
    /// false.
    pub wait: bool,
    /// Whether the probability of a packet grows with its size over `mean_packet_bytes`; default
    /// false.
    pub by_size: bool,
    /// Whether `max_p` is steered to hold the average in the middle between the thresholds (Floyd,
    /// Gummadi and Shenker 2001); default false.
    pub adaptive: bool,
    /// The delay behind the default of `min_packets`, in milliseconds; default 5.
    pub target_delay_ms: f64,
    /// Whether packets of ECN-capable flows are marked and not dropped (RFC 3168); default false.
    pub ecn: bool,
    /// Probability up to which they are marked, even beyond the upper threshold (`mark_p_` of
    /// ns-2); default up to where all else is dropped.
    pub mark_limit_p: Option<f64>,
    /// Size of a usual packet in bytes, by which idle time is counted in packets; default 500.
    pub mean_packet_bytes: u64,
    /// Limit in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for Red {
    fn default() -> Self {
        Self {
            min_packets: None,
            max_packets: None,
            min_bytes: None,
            max_bytes: None,
            max_p: 0.1,
            weight: None,
            gentle: true,
            wait: false,
            by_size: false,
            adaptive: false,
            target_delay_ms: 5.0,
            ecn: false,
            mark_limit_p: None,
            mean_packet_bytes: 500,
            limit_packets: None,
            limit_bytes: None,
        }
    }
}

/// A queue that drops at its head while packets have waited too long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Codel {
    /// The standing delay that is tolerated, in milliseconds; default 5.
    pub target_ms: f64,
    /// How long the delay must stay above it, about a round-trip time, in milliseconds; default
    /// 100.
    pub interval_ms: f64,
    /// Whether packets of ECN-capable flows are marked and not dropped; default false.
    pub ecn: bool,
    /// A queue of no more bytes is never too long; default 1500, one packet.
    pub mtu_bytes: u64,
    /// Limit in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for Codel {
    fn default() -> Self {
        Self {
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn: false,
            mtu_bytes: 1500,
            limit_packets: None,
            limit_bytes: None,
        }
    }
}

/// A sub-queue for each flow, each under `CoDel`; flows that have just begun go first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodel {
    /// The standing delay that is tolerated, in milliseconds; default 5.
    pub target_ms: f64,
    /// How long the delay must stay above it, about a round-trip time, in milliseconds; default
    /// 100.
    pub interval_ms: f64,
    /// Whether packets of ECN-capable flows are marked and not dropped; default true.
    pub ecn: bool,
    /// A sub-queue of no more bytes is never too long; default 1500, one packet.
    pub mtu_bytes: u64,
    /// What a sub-queue may send a round, in bytes; default 1514.
    pub quantum_bytes: u64,
    /// How many sub-queues flows are hashed to, 1024 in RFC 8290; default one for each direction
    /// of each flow.
    pub buckets: Option<u64>,
    /// Packets that are dropped at most at once, from the sub-queue with the most bytes, where the
    /// limit is reached; default 64.
    pub drop_batch_packets: u64,
    /// Limit of all sub-queues together in packets, at least 1; default 10240.
    pub limit_packets: u64,
    /// Limit of all sub-queues together in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for FqCodel {
    fn default() -> Self {
        Self {
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn: true,
            mtu_bytes: 1500,
            quantum_bytes: 1514,
            buckets: None,
            drop_batch_packets: 64,
            limit_packets: 10_240,
            limit_bytes: None,
        }
    }
}

/// A queue that drops at random, with a probability that steers the delay to a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pie {
    /// The delay that is aimed at, in milliseconds; default 15.
    pub target_ms: f64,
    /// Time between two updates of the probability, in milliseconds; default 15.
    pub update_ms: f64,
    /// Weight of the delay's distance from the target, per second; default 0.125.
    pub alpha: f64,
    /// Weight of the delay's change, per second; default 1.25.
    pub beta: f64,
    /// How long a burst goes unpunished, in milliseconds; default 150.
    pub max_burst_ms: f64,
    /// Whether packets of ECN-capable flows are marked and not dropped; default false.
    pub ecn: bool,
    /// Probability up to which they are marked; default 0.1.
    pub mark_limit_p: f64,
    /// Whether drops keep a distance (RFC 8033 section 5.4); default false.
    pub derandomize: bool,
    /// A queue of no more than two packets of this size, in bytes, is never too long; default 1024.
    pub mean_packet_bytes: u64,
    /// Limit in packets, at least 1; default none.
    pub limit_packets: Option<u64>,
    /// Limit in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for Pie {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            alpha: 0.125,
            beta: 1.25,
            max_burst_ms: 150.0,
            ecn: false,
            mark_limit_p: 0.1,
            derandomize: false,
            mean_packet_bytes: 1024,
            limit_packets: None,
            limit_bytes: None,
        }
    }
}

/// A queue for each station, and equal airtime for each queue (Høiland-Jørgensen et al., USENIX ATC
/// 2017).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AirtimeFair {
    /// Airtime of each station a round, in microseconds; default 300.
    pub quantum_us: f64,
    /// Whether what a station sends counts too, while packets wait for it; default true.
    pub count_received: bool,
    /// What the packets for one station wait in; default `fq_codel`. Linux takes a target of 20 ms
    /// there.
    pub station: StationQueue,
    /// Limit of all stations together in packets, at least 1; default 8192.
    pub limit_packets: u64,
    /// Limit of all stations together in bytes of IP packets; default none.
    pub limit_bytes: Option<u64>,
}

impl Default for AirtimeFair {
    fn default() -> Self {
        Self {
            quantum_us: 300.0,
            count_received: true,
            station: StationQueue::default(),
            limit_packets: 8192,
            limit_bytes: None,
        }
    }
}

/// What the packets for one station wait in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationQueue {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// `CoDel`, controlled delay (RFC 8289).
    Codel(Codel),
    /// FQ-CoDel: each flow under `CoDel`, with fair turns (RFC 8290).
    FqCodel(FqCodel),
}

impl Default for StationQueue {
    fn default() -> Self {
        Self::FqCodel(FqCodel::default())
    }
}

/// What a wire loses. A lost packet has used its place in the queue and its time on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Each packet with the same probability, independently.
    Uniform(UniformLoss),
    /// By a channel that is good or bad for exponential times (Gilbert and Elliott).
    GilbertElliott(GilbertElliott),
    /// By a channel that may change after each packet.
    GilbertElliottPackets(GilbertElliottPackets),
    /// Each n-th packet.
    Periodic(Periodic),
    /// Certain packets.
    List(List),
    /// With a probability that changes at given times.
    Trace(Trace),
}

/// Independent losses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["probability"]))]
pub struct UniformLoss {
    /// Probability that a packet is lost, from 0 to below 1; always given.
    pub probability: Option<f64>,
}

/// Losses by a channel that changes in time, whether or not anything is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["good_ms", "bad_ms"]))]
pub struct GilbertElliott {
    /// Mean length of a good time in milliseconds; always given.
    pub good_ms: Option<f64>,
    /// Mean length of a bad time in milliseconds; always given.
    pub bad_ms: Option<f64>,
    /// Probability that a packet is lost in a good time; default 0.
    pub good_loss: f64,
    /// Probability that a packet is lost in a bad time; default 1.
    pub bad_loss: f64,
}

impl Default for GilbertElliott {
    fn default() -> Self {
        Self { good_ms: None, bad_ms: None, good_loss: 0.0, bad_loss: 1.0 }
    }
}

/// Losses by a channel that changes with packets: bad runs have 1/`to_good` packets on average.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["to_bad", "to_good"]))]
pub struct GilbertElliottPackets {
    /// Probability that a good channel is bad for the next packet; always given.
    pub to_bad: Option<f64>,
    /// Probability that a bad channel is good for the next packet; above 0, always given.
    pub to_good: Option<f64>,
    /// Probability that a packet is lost while it is good; default 0.
    pub good_loss: f64,
    /// Probability that a packet is lost while it is bad; default 1.
    pub bad_loss: f64,
}

impl Default for GilbertElliottPackets {
    fn default() -> Self {
        Self { to_bad: None, to_good: None, good_loss: 0.0, bad_loss: 1.0 }
    }
}

/// Losses at equal distances.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["every"]))]
pub struct Periodic {
    /// Each packet whose number is a multiple of this is lost, counted from 1 in each direction;
    /// always given.
    pub every: Option<u64>,
}

/// Losses by number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["packets"]))]
pub struct List {
    /// Numbers of the lost packets, ascending, counted from 1 in each direction; always given.
    pub packets: Vec<u64>,
}

/// Losses by the clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["times_s", "probabilities"]))]
pub struct Trace {
    /// From when on each probability holds, ascending, in seconds; before the first nothing is
    /// lost; always given.
    pub times_s: Vec<f64>,
    /// Probability that a packet is lost, for each of the times; always given.
    pub probabilities: Vec<f64>,
    /// After this the trace begins again, in seconds; default never.
    pub period_s: Option<f64>,
}
