//! Events of routing.

use kernel::Instant;
use wire::NodeId;

/// An event of a node's router.
#[derive(Clone, Copy, Debug)]
pub struct RouteEvent {
    /// When.
    pub at: Instant,
    /// The node.
    pub node: NodeId,
    /// The destination of the route; if a link has failed, the neighbour.
    pub destination: NodeId,
    /// What happens.
    pub step: RouteStep,
}

/// What happens to a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteStep {
    /// Packets take another route from now on, with this number of hops; `None` is no route.
    Changed {
        /// The number of hops.
        hops: Option<u8>,
    },
    /// A discovery has found a route.
    Discovered,
    /// The route has failed, and no other is known.
    Failed,
    /// There is a route again.
    Restored,
    /// The link to a neighbour has failed.
    LinkFailed {
        /// Whether the neighbour was in range.
        in_range: bool,
    },
}

impl RouteStep {
    /// The names, in the order of [`Self::code`].
    pub const NAMES: [&str; 5] = ["changed", "discovered", "failed", "restored", "link failed"];

    /// The number of the name.
    pub fn code(self) -> u32 {
        match self {
            Self::Changed { .. } => 0,
            Self::Discovered => 1,
            Self::Failed => 2,
            Self::Restored => 3,
            Self::LinkFailed { .. } => 4,
        }
    }
}
