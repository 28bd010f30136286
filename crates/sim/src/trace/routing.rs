//! What nodes that forward for others do, in a trace.

use super::Tracer;
use super::order::Held;
use crate::notice::NodeNote;
use ::trace::{RouteEvent, RouteStep};
use kernel::Instant;
use net::route::RouteNote;
use wire::{NodeId, PathId};

impl Tracer {
    /// A node has told this.
    pub(super) fn on_node(&mut self, now: Instant, node: NodeId, note: NodeNote<'_>) {
        match note {
            // Each hop of a routing message is a packet of its own: the message changes on its way.
            NodeNote::Forwarded(packet) if packet.flow().is_none() => {
                self.on_sent(now, *packet, None);
            }
            NodeNote::Forwarded(_) => {}
            NodeNote::Route { note, in_range } => self.on_route(now, node, note, in_range),
            NodeNote::Path { id, nodes } => self.on_path(id, nodes),
        }
    }

    #[cold]
    #[inline(never)]
    fn on_route(&mut self, at: Instant, node: NodeId, note: RouteNote, in_range: bool) {
        if self.is_over() {
            return;
        }
        self.settle_arrived();
        let (destination, step) = match note {
            RouteNote::Changed { destination, hops } => (destination, RouteStep::Changed { hops }),
            RouteNote::Discovered { destination, .. } => (destination, RouteStep::Discovered),
            RouteNote::Failure { destination } => (destination, RouteStep::Failed),
            RouteNote::Restored { destination } => (destination, RouteStep::Restored),
            RouteNote::LinkFailure { neighbour } => (neighbour, RouteStep::LinkFailed { in_range }),
        };
        self.order.add_event(Held::Route(RouteEvent { at, node, destination, step }));
    }

    #[cold]
    #[inline(never)]
    fn on_path(&mut self, id: PathId, nodes: &[NodeId]) {
        for sink in &mut self.sinks {
            sink.on_path(id, nodes);
        }
    }
}
