//! Queues.

use kernel::{Bytes, Duration};
use net::{CoDelConfig, FqCoDelConfig, Limit, PieConfig, RedConfig, SfqConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a buffer is served and what it holds. A limit counts the packet in service too; where both
/// limits are given, both hold; `None` is unlimited.
#[derive(Debug, Clone, PartialEq)]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// Limit in packets, at least 1.
        limit_packets: Option<u32>,
        /// Limit in bytes of IP packets, at least the largest packet of any flow.
        limit_bytes: Option<Bytes>,
    },
    /// Deficit round robin over sub-queues (Shreedhar and Varghese 1995).
    Drr {
        /// What has a sub-queue of its own.
        per: Per,
        /// What a sub-queue may send a round; at least 1.
        quantum: Bytes,
        /// Limit of each sub-queue in packets, at least 1.
        limit_packets: Option<u32>,
        /// Limit of each sub-queue in bytes of IP packets.
        limit_bytes: Option<Bytes>,
    },
    /// Stochastic fairness queueing (`McKenney` 1990).
    Sfq(SfqConfig),
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelConfig),
    /// Controlled delay of each flow, with fair turns (RFC 8290).
    FqCoDel(FqCoDelConfig),
    /// Proportional integral controller, enhanced (RFC 8033).
    Pie(PieConfig),
    /// Equal airtime for each station; of the access point only.
    AirtimeFair {
        /// Airtime of each station a round; above 0.
        quantum: Duration,
        /// What a station sends counts too.
        count_received: bool,
        /// What the packets for one station wait in.
        station: Box<Discipline>,
        /// Limit of all stations together.
        limit: Limit,
    },
}

impl Discipline {
    /// The key of a scenario that asks for it.
    pub fn key(&self) -> &'static str {
        match self {
            Self::DropTail { .. } => "drop_tail",
            Self::Drr { .. } => "drr",
            Self::Sfq(_) => "sfq",
            Self::Red(_) => "red",
            Self::CoDel(_) => "codel",
            Self::FqCoDel(_) => "fq_codel",
            Self::Pie(_) => "pie",
            Self::AirtimeFair { .. } => "airtime_fair",
        }
    }

    /// What it holds, or each of its sub-queues.
    pub fn limit(&self) -> Limit {
        match *self {
            Self::DropTail { limit_packets: packets, limit_bytes: bytes }
            | Self::Drr { limit_packets: packets, limit_bytes: bytes, .. } => {
                Limit { packets, bytes }
            }
            Self::Sfq(SfqConfig { limit, .. })
            | Self::Red(RedConfig { limit, .. })
            | Self::CoDel(CoDelConfig { limit, .. })
            | Self::FqCoDel(FqCoDelConfig { limit, .. })
            | Self::Pie(PieConfig { limit, .. })
            | Self::AirtimeFair { limit, .. } => limit,
        }
    }
}

/// What has a sub-queue of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Each flow.
    Flow,
    /// Each station that packets go to.
    Station,
}
