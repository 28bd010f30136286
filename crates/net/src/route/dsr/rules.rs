//! The settings of DSR.

use super::cache::RouteCache;
use super::{PathCacheConfig, link_cache, path_cache};
use kernel::Duration;
use settings::{Choice, Settings};
use wire::NodeId;

/// How long the initiator waits for an answer of its neighbours before it sends a Route Request to
/// all nodes: `NonpropRequestTimeout` (RFC 4728 section 9, as all below).
pub(super) const NON_PROPAGATING_TIMEOUT: Duration = Duration::from_millis(30);
/// The longest time between two requests for one target: `MaxRequestPeriod`.
pub(super) const REQUEST_PERIOD_MAX: Duration = Duration::from_secs(10);
/// Over how many hops a Route Request goes: `DiscoveryHopLimit`.
pub(super) const DISCOVERY_HOPS: u8 = 255;
/// Of how many initiators a node remembers requests, `RequestTableSize`, and how many of each,
/// `RequestTableIds`.
pub(super) const REQUEST_TABLE: (usize, usize) = (64, 16);
/// For how long a node sends no second gratuitous Route Reply for the same source and transmitter:
/// `GratReplyHoldoff`.
pub(super) const GRATUITOUS_REPLY_HOLDOFF: Duration = Duration::from_secs(1);
/// For how long a node repeats a Route Error in its next Route Request to all nodes (section
/// 3.4.3, which gives no number).
pub(super) const ERROR_ON_REQUEST: Duration = Duration::from_secs(1);

/// Dynamic source routing (RFC 4728). Constants are those of its section 9; `preset = "ns2"`
/// changes the keys that name it to what ns-2 does.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct DsrConfig {
    /// The defaults of the keys below.
    pub preset: Preset,
    /// How a node stores routes. Default: `link`; ns-2: `path`.
    pub cache: Option<CacheSettings>,
    /// Whether nodes receive the frames that are addressed to others and learn from them.
    #[setting(default = true)]
    pub promiscuous: bool,
    /// Which Route Requests go to the neighbours only (section 3.3.3). Default: `first`; ns-2:
    /// `each`.
    pub non_propagating: Option<NonPropagating>,
    /// The time after the first Route Request to all nodes until the second (`RequestPeriod`); with
    /// `non_propagating = "each"` between the requests to the neighbours.
    /// Default: 0.5 s; ns-2: 2 s.
    #[setting(key = "request_period_s", range = 0.001..=1000.0)]
    pub request_period: Option<Duration>,
    /// How many requests a node sends for one target before it drops the packets that wait
    /// (`MaxRequestRexmt`); 0 is any number. Default: 16; ns-2: any number.
    #[setting(range = 0..=10_000)]
    pub requests: Option<u32>,
    /// The longest route. Default: 63 hops, as many as a Route Reply option holds (section 6.3);
    /// ns-2: 15.
    #[setting(range = 1..=63)]
    pub route_hops: Option<u8>,
    /// The longest random delay of a Route Request, and of the target's Route Reply
    /// (`BroadcastJitter`).
    #[setting(skip, default = Duration::from_millis(10))]
    pub broadcast_jitter: Duration,
    /// Whether nodes answer Route Requests from their caches.
    #[setting(default = true)]
    pub reply_from_cache: bool,
    /// Whether the target answers each copy of a Route Request that it receives.
    #[setting(skip, default = true)]
    pub reply_to_each_copy: bool,
    /// The unit of the delay of a Route Reply from a cache: the delay is this times the length of
    /// the route less a random part of one hop (`H` in section 3.3.2). A node that hears the
    /// initiator use a route that is not longer sends no reply. Default: 3 ms; ns-2: 0.
    #[setting(key = "cached_reply_delay_ms", range = 0.0..=1000.0)]
    pub cached_reply_delay: Option<Duration>,
    /// Whether a node that hears a packet that it would receive some hops later tells the source,
    /// by a gratuitous Route Reply.
    #[setting(default = true)]
    pub shortening: bool,
    /// How often a packet may be salvaged: sent on by another route where a link of its route has
    /// failed (`MaxSalvageCount`); 0 is never.
    #[setting(default = 15, range = 0..=15)]
    pub salvage: u8,
    /// Whether a node that has no other route for a packet of another node asks its neighbours for
    /// one, once. Default: false; ns-2: true.
    pub salvage_requests: Option<bool>,
    /// Whether each node that forwards a Route Request adds the whole DSR Options header to its
    /// size again, not the node's address only. Default: false; ns-2: true.
    pub growing_requests: Option<bool>,
    /// How long after a link failure a node queues the Route Error and the salvaged packets. With 0
    /// they come before the next packet that the MAC takes from the queue. Default: 0; ns-2: 25 us.
    #[setting(key = "repair_delay_us", range = 0.0..=1e6)]
    pub repair_delay: Option<Duration>,
    /// Whether only the first three packets of a route carry it, and then one in 5 s (section 3.5,
    /// with the numbers of ns-2). Nodes forget no flow. Default: false; ns-2: true.
    pub flow_state: Option<bool>,
    /// How long a packet waits for a route (`SendBufferTimeout`).
    #[setting(key = "send_buffer_timeout_s", default = 30.0, range = 0.001..=10_000.0)]
    pub send_buffer_timeout: Duration,
    /// The least time between two looks at the send buffer; the largest is twice this. With 0,
    /// requests and timeouts happen at their exact times. Default: 0; ns-2: 30 ms.
    #[setting(key = "send_buffer_check_ms", range = 0.0..=1000.0)]
    pub send_buffer_check: Option<Duration>,
}

impl DsrConfig {
    /// The settings with the defaults of the preset.
    pub(super) fn rules(&self) -> Rules {
        let ns2 = self.preset == Preset::Ns2;
        let either = |rfc: u64, other: u64| Duration::from_millis(if ns2 { other } else { rfc });
        let cache = || match self.preset {
            Preset::Rfc4728 => CacheSettings::default(),
            Preset::Ns2 => CacheSettings::Path(PathCacheConfig::default()),
        };
        let repair_us = if ns2 { 25 } else { 0 };
        let non_propagating = if ns2 { NonPropagating::Each } else { NonPropagating::First };
        Rules {
            cache: self.cache.clone().unwrap_or_else(cache),
            reverse_routes: !ns2,
            caches_forwarded_replies: !ns2,
            non_propagating: self.non_propagating.unwrap_or(non_propagating),
            request_period: self.request_period.unwrap_or(either(500, 2000)),
            request_backoff: if ns2 { 4.0 } else { 2.0 },
            requests: Some(self.requests.unwrap_or(if ns2 { 0 } else { 16 })).filter(|&n| n > 0),
            route_hops: self.route_hops.unwrap_or(if ns2 { 15 } else { 63 }).into(),
            cached_reply_delay: self.cached_reply_delay.unwrap_or(either(3, 0)),
            salvage_requests: self.salvage_requests.unwrap_or(ns2),
            errors_of_waiting: !ns2,
            growing_requests: self.growing_requests.unwrap_or(ns2),
            repair_delay: self.repair_delay.unwrap_or(Duration::from_micros(repair_us)),
            flow_state: self.flow_state.unwrap_or(ns2),
            send_buffer_gap: either(0, 30),
            send_buffer_check: self.send_buffer_check.unwrap_or(either(0, 30)),
            same: self.clone(),
        }
    }
}

/// Whose behaviour is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
#[settings(name = "DsrPreset")]
pub enum Preset {
    /// RFC 4728.
    #[default]
    #[setting(name = "rfc4728")]
    Rfc4728,
    /// ns-2.35 with its path cache.
    #[setting(name = "ns2")]
    Ns2,
}

/// How a node stores routes.
#[derive(Clone, Debug, Default, PartialEq, Choice)]
#[settings(name = "DsrCache")]
pub enum CacheSettings {
    /// Single links, from which the node computes shortest paths. A link stays for as long as the
    /// stability of its two ends suggests (Link-MaxLife).
    #[default]
    Link,
    /// Whole paths: those that the node has asked for, and in a second store those that it has
    /// overheard. Each store replaces its oldest path.
    Path(PathCacheConfig),
}

impl CacheSettings {
    /// The empty cache of a node.
    pub(super) fn build(&self, node: NodeId) -> Box<dyn RouteCache> {
        match self {
            Self::Link => Box::new(link_cache::LinkCache::new(node)),
            Self::Path(config) => Box::new(path_cache::PathCache::new(node, config)),
        }
    }
}

/// Which Route Requests go to the neighbours only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
#[settings(name = "DsrNonPropagating")]
pub enum NonPropagating {
    /// None.
    Never,
    /// The first request for a target; those that repeat it go to all nodes.
    First,
    /// The first of each pair of requests: each repetition asks the neighbours again, and then all
    /// nodes.
    Each,
}

/// The settings, with those that depend on the preset.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub cache: CacheSettings,
    /// Whether reversed routes are stored too.
    pub reverse_routes: bool,
    /// Whether a node stores the route of a Route Reply that it forwards.
    pub caches_forwarded_replies: bool,
    pub non_propagating: NonPropagating,
    pub request_period: Duration,
    /// The factor by which the time between requests grows with each.
    pub request_backoff: f64,
    pub requests: Option<u32>,
    pub route_hops: usize,
    pub cached_reply_delay: Duration,
    pub salvage_requests: bool,
    /// Whether the sources of packets that wait for the link that has failed receive Route Errors
    /// too.
    pub errors_of_waiting: bool,
    pub growing_requests: bool,
    pub repair_delay: Duration,
    pub flow_state: bool,
    /// The gap between packets that leave the send buffer after a Route Reply.
    pub send_buffer_gap: Duration,
    pub send_buffer_check: Duration,
    /// Settings that do not depend on it.
    pub same: DsrConfig,
}
