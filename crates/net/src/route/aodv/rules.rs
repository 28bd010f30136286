//! The settings of AODV.

use kernel::Duration;
use settings::{Choice, Settings};

/// By how much the time to live of each further Route Request is greater: `TTL_INCREMENT` (RFC 3561
/// section 10, as all below).
pub(super) const TTL_INCREMENT: u8 = 2;
/// Above this time to live a Route Request goes to the whole network: `TTL_THRESHOLD`.
pub(super) const TTL_THRESHOLD: u8 = 7;
/// How many hops a Route Reply may be late: `TIMEOUT_BUFFER`.
const TIMEOUT_BUFFER: u8 = 2;
/// The most Route Requests, and the most Route Errors, of a node in a second: `RREQ_RATELIMIT`,
/// `RERR_RATELIMIT`.
pub(super) const RATE_LIMIT_PER_S: u32 = 10;
/// What is added to the time to live of a Route Request for a repair: `LOCAL_ADD_TTL`.
pub(super) const LOCAL_ADD_TTL: u8 = 2;

/// Ad hoc on-demand distance vector routing (RFC 3561). Constants are those of its section 10;
/// `preset = "ns2"` changes the keys that name it to what ns-2 does.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct AodvConfig {
    /// The defaults of the keys below.
    pub preset: AodvPreset,
    /// For how long a route that is not used stays active (`ACTIVE_ROUTE_TIMEOUT`). Default: 3 s;
    /// ns-2: 10 s.
    #[setting(key = "active_route_timeout_s", range = 0.001..=1e6)]
    pub active_route_timeout: Option<Duration>,
    /// The lifetime of a route in the destination's own Route Reply (`MY_ROUTE_TIMEOUT`). Default:
    /// 6 s; ns-2: 10 s.
    #[setting(skip)]
    pub my_route_timeout: Option<Duration>,
    /// For how long the sequence number of a route that is not active any more is kept
    /// (`DELETE_PERIOD`). Default: five times the larger of `active_route_timeout_s` and
    /// `hello_interval_s`, but at least as long as a Route Request or Reply makes a route valid: a
    /// node that forgets a number while others use it may accept a route that leads back.
    #[setting(key = "delete_period_s", range = 0.001..=1e6)]
    pub delete_period: Option<Duration>,
    /// An estimate of the time that a packet takes over one hop (`NODE_TRAVERSAL_TIME`). Default:
    /// 40 ms; ns-2: 30 ms.
    #[setting(key = "node_traversal_time_ms", range = 0.001..=10_000.0)]
    pub node_traversal_time: Option<Duration>,
    /// The time to live of the first Route Request (`TTL_START`). Default: 1; ns-2: 5.
    #[setting(skip)]
    pub ttl_start: Option<u8>,
    /// The longest random delay of a broadcast message that a node forwards (RFC 5148 section 5.3).
    #[setting(skip, default = Duration::from_millis(10))]
    pub broadcast_jitter: Duration,
    /// The longest random delay of a broadcast message that a node originates: Route Requests and
    /// Route Errors are late by it (RFC 5148 section 5.2), Hello messages early (section 5.1), by
    /// half of `hello_interval_s` at most. Default: 10 ms; ns-2: 0.
    #[setting(key = "originated_jitter_ms", range = 0.0..=10_000.0)]
    pub originated_jitter: Option<Duration>,
    /// Whether only the destination answers a Route Request (the D flag).
    pub destination_only: bool,
    /// Whether a node that answers a Route Request for another also tells the destination (the G
    /// flag): TCP needs a route in each direction. Default: true; ns-2: false.
    pub gratuitous_reply: Option<bool>,
    /// Whether the MAC's retry limit tells that a link has failed (section 6.10).
    #[setting(default = true)]
    pub link_feedback: bool,
    /// Whether nodes on active routes broadcast Hello messages (section 6.9), and a neighbour that
    /// is silent counts as a link that has failed.
    pub hello: bool,
    /// The time between two Hello messages (`HELLO_INTERVAL`).
    #[setting(key = "hello_interval_s", default = 1.0, range = 0.001..=1000.0)]
    pub hello_interval: Duration,
    /// Whether a node whose link has failed looks for another route of the packets that it forwards
    /// (section 6.12).
    #[setting(default = true)]
    pub local_repair: bool,
    /// How long a packet waits for a route.
    #[setting(key = "send_buffer_timeout_s", default = 30.0, range = 0.001..=10_000.0)]
    pub send_buffer_timeout: Duration,
}

impl AodvConfig {
    /// The settings with the defaults of the preset.
    pub(super) fn rules(&self) -> Rules {
        let ns2 = self.preset == AodvPreset::Ns2;
        let either = |rfc: u64, other: u64| Duration::from_millis(if ns2 { other } else { rfc });
        let active_route_timeout = self.active_route_timeout.unwrap_or(either(3000, 10_000));
        let diameter = if ns2 { 30 } else { 35 };
        let repair = match self.preset {
            AodvPreset::Ns2 => Repair::CloserToTheDestination,
            AodvPreset::Rfc3561 => Repair::Within((u32::from(diameter) * 3 / 10) as u8),
        };
        let my_route_timeout = self.my_route_timeout.unwrap_or(either(6000, 10_000));
        let node_traversal = self.node_traversal_time.unwrap_or(either(40, 30));
        let path_discovery = Duration(4 * node_traversal.0 * u64::from(diameter));
        let longest = active_route_timeout.max(self.hello_interval);
        let own_jitter = if ns2 { Duration::ZERO } else { self.broadcast_jitter };
        let delete_period =
            Duration(longest.0.saturating_mul(5)).max(my_route_timeout).max(path_discovery);
        Rules {
            active_route_timeout,
            my_route_timeout,
            delete_period: self.delete_period.unwrap_or(delete_period),
            diameter,
            node_traversal,
            ttl_start: self.ttl_start.unwrap_or(if ns2 { 5 } else { 1 }),
            originated_jitter: self.originated_jitter.unwrap_or(own_jitter),
            request_retries: if ns2 { 3 } else { 2 },
            gratuitous_reply: self.gratuitous_reply.unwrap_or(!ns2),
            allowed_hello_loss: if ns2 { 3 } else { 2 },
            repair: self.local_repair.then_some(repair),
            keep_own_packets: !ns2,
            same: self.clone(),
        }
    }
}

/// Whose behaviour is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AodvPreset {
    /// RFC 3561.
    #[default]
    #[setting(name = "rfc3561")]
    Rfc3561,
    /// ns-2.35.
    #[setting(name = "ns2")]
    Ns2,
}

/// For which packets a node repairs a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Those whose destination is at most this many hops away (`MAX_REPAIR_TTL`).
    Within(u8),
    /// Those that have passed more hops than are left.
    CloserToTheDestination,
}

/// The settings, with those that depend on the preset.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub active_route_timeout: Duration,
    pub my_route_timeout: Duration,
    pub delete_period: Duration,
    /// The largest number of hops between two nodes (`NET_DIAMETER`).
    pub diameter: u8,
    pub node_traversal: Duration,
    pub ttl_start: u8,
    pub originated_jitter: Duration,
    /// How often a Route Request to the whole network is repeated (`RREQ_RETRIES`).
    pub request_retries: u32,
    pub gratuitous_reply: bool,
    /// For how many Hello intervals a neighbour may be silent (`ALLOWED_HELLO_LOSS`).
    pub allowed_hello_loss: u32,
    pub repair: Option<Repair>,
    /// Whether a node keeps its own packets when their link fails, and requests a route again.
    pub keep_own_packets: bool,
    /// Settings that do not depend on it.
    pub same: AodvConfig,
}

impl Rules {
    /// How long a Route Reply from anywhere may take (`NET_TRAVERSAL_TIME`).
    pub(super) fn net_traversal(&self) -> Duration {
        Duration(2 * self.node_traversal.0 * u64::from(self.diameter))
    }

    /// How long a Route Reply from this many hops away may take (`RING_TRAVERSAL_TIME`).
    pub(super) fn ring_traversal(&self, ttl: u8) -> Duration {
        let hops = u64::from(ttl) + u64::from(TIMEOUT_BUFFER);
        Duration(2 * self.node_traversal.0 * hops)
    }

    /// For how long a node ignores copies of a Route Request (`PATH_DISCOVERY_TIME`).
    pub(super) fn path_discovery(&self) -> Duration {
        Duration(2 * self.net_traversal().0)
    }
}
