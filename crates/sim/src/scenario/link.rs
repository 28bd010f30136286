//! The keys of wired links.

use super::queue::{Loss, Queue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A full-duplex link between server and access point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wire {
    /// Rate of each direction in Mb/s; default infinitely fast.
    pub rate_mbps: Option<f64>,
    /// Propagation one way in milliseconds; default 0.
    pub delay_ms: f64,
    /// What each end sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Framing around each IP packet in bytes, 38 for Ethernet with preamble and gap; default 0.
    pub overhead_bytes: u64,
    /// What it loses; default nothing.
    pub loss: Option<Loss>,
    /// Where it loses: in "both" directions (default), each by itself, or only "down" from the
    /// server or "up" to it.
    pub loss_direction: LossDirection,
}

/// The directions of a wire that lose packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDirection {
    /// Both, each by itself.
    #[default]
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

/// A full-duplex link between two nodes. A host or router exists where a link names it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["from", "to"]))]
pub struct Link {
    /// What reports call it; default its two ends, as "r1-r2".
    pub name: String,
    /// One end: "server", "ap", or a name for a host or router, as "r1"; always given.
    pub from: String,
    /// The other end; always given.
    pub to: String,
    /// Rate from `from` to `to` in Mb/s; default infinitely fast.
    pub rate_mbps: Option<f64>,
    /// Propagation in milliseconds; default 0.
    pub delay_ms: f64,
    /// What `from` sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Framing around each IP packet in bytes, 38 for Ethernet with preamble and gap; default 0.
    pub overhead_bytes: u64,
    /// What is lost on the way from `from` to `to`; default nothing.
    pub loss: Option<Loss>,
    /// The direction from `to` to `from`.
    pub reverse: Reverse,
}

/// The direction of a link from `to` to `from`, where it differs from the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reverse {
    /// Rate in Mb/s; default as in the other direction.
    pub rate_mbps: Option<f64>,
    /// Propagation in milliseconds; default as in the other direction.
    pub delay_ms: Option<f64>,
    /// What `to` sends from; default such a queue as in the other direction.
    pub queue: Option<Queue>,
    /// Framing around each IP packet in bytes; default as in the other direction.
    pub overhead_bytes: Option<u64>,
    /// What is lost in this direction; default nothing, whatever the other loses.
    pub loss: Option<Loss>,
}
