//! The nodes that forward for others, and what they share.

use crate::build::{self, LateLinks};
use crate::medium::Medium;
use crate::plan::Plan;
use crate::topology::RadioId;
use kernel::{IdVec, Instant, Seed};
use net::Node;
use net::node::Shared;
use wire::{NodeId, Packet};

/// A neighbour is in range if at least this fraction of the frames to it would arrive without
/// interference.
const IN_RANGE: f64 = 0.5;

/// The nodes that forward for others.
#[derive(Debug)]
pub(crate) struct Network {
    /// `None` at nodes outside.
    pub(crate) nodes: IdVec<NodeId, Option<Node>>,
    pub(crate) shared: Shared,
    pub(crate) links: LateLinks,
}

impl Network {
    /// The nodes of a plan that forward, if it has any.
    pub(crate) fn new(plan: &Plan, medium: &mut Medium, seed: &Seed) -> Option<Box<Self>> {
        let (Some(routing), Medium::Space(space)) = (&plan.routing, medium) else { return None };
        let settings = plan.space.as_ref().expect("an ad-hoc network is in space");
        let nodes = build::nodes(plan, routing, space, seed);
        let exits = nodes.ids().map(|node| plan.topology.outlet_on_air(node)).collect();
        let links = LateLinks::new(plan, &settings.radio.error_model, seed);
        Some(Box::new(Self { nodes, shared: Shared { exits, ..Shared::default() }, links }))
    }

    /// The number of hops of the route from a node to another that a packet would take now.
    pub(crate) fn hops(&self, from: NodeId, to: NodeId) -> Option<u8> {
        self.nodes[from].as_ref()?.hops(to, &self.shared)
    }

    /// A node sends to a neighbour: their radios have a link from its first packet on.
    pub(crate) fn link(&self, medium: &mut Medium, by: RadioId, to: RadioId) {
        if let Medium::Space(space) = medium
            && space.mode(by.0, to.0).is_none()
        {
            self.links.add(space, by.0, to.0);
        }
    }

    /// Whether a neighbour is in range now.
    pub(crate) fn reaches(
        &self,
        medium: &mut Medium,
        now: Instant,
        by: RadioId,
        to: RadioId,
    ) -> bool {
        let Medium::Space(space) = medium else { return false };
        self.links.success(space, now, by.0, to.0) >= IN_RANGE
    }

    /// Calls `visit` for each packet that waits at a node for a route or an address.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.nodes.iter().flatten().for_each(|node| node.each(visit));
    }
}
