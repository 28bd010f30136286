//! The interface of both route caches.

use kernel::Instant;
use std::fmt::Debug;
use wire::NodeId;

/// The routes that a node knows. Each path begins at the node itself and has no node twice.
pub(super) trait RouteCache: Debug + Send {
    /// Adds a route that this node has asked for.
    fn add(&mut self, now: Instant, path: &[NodeId]);

    /// Adds a route that it has learned from a packet of other nodes.
    fn notice(&mut self, now: Instant, path: &[NodeId]);

    /// The link from one node to another has failed.
    fn remove(&mut self, now: Instant, from: NodeId, to: NodeId);

    /// How often routes were added or removed. As long as it is the same, a route that was noticed
    /// need not be noticed again.
    fn changes(&self) -> u64;

    /// The best route to a node. `for_use` is whether a packet of this node takes it.
    fn find(&mut self, now: Instant, to: NodeId, for_use: bool) -> Option<&[NodeId]>;
}
