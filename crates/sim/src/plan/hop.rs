//! The hops of flows: where packets wait on their way.

use crate::topology::{Endpoint, Hop, Interface, RadioId, Topology};
use wire::{FlowId, NodeId};

/// A hop of a flow: an interface through which its packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopPlan {
    /// The flow.
    pub flow: FlowId,
    /// Whether its data goes this way; its TCP acknowledgements go the other.
    pub is_data: bool,
    /// Where the hop begins.
    pub at: Interface,
    /// The node at which it ends.
    pub to: NodeId,
    /// The radio at which it ends, over the air.
    pub receiver: Option<RadioId>,
}

/// The hops of all flows, in their order: of each the hops of the data, then those of the TCP
/// acknowledgements. Broadcasts have none. A flow is given by its ends and whether it has
/// acknowledgements.
pub(crate) fn hops(
    topology: &Topology,
    flows: impl Iterator<Item = ([Endpoint; 2], bool)>,
) -> Vec<HopPlan> {
    let mut hops = Vec::new();
    for ((ends, has_acks), id) in flows.zip(0..) {
        let [Some(from), Some(to)] = ends.map(|end| topology.id(end)) else { continue };
        add_path(topology, FlowId(id), from, to, true, &mut hops);
        if has_acks {
            add_path(topology, FlowId(id), to, from, false, &mut hops);
        }
    }
    hops
}

fn add_path(
    topology: &Topology,
    flow: FlowId,
    from: NodeId,
    end: NodeId,
    is_data: bool,
    hops: &mut Vec<HopPlan>,
) {
    let mut node = from;
    while node != end {
        let (to, receiver) = match topology.routes().hop(node, Some(end)) {
            Some(Hop::Inside(next)) => {
                node = next;
                continue;
            }
            Some(Hop::Wire(wire)) => (topology.wire(wire).to, None),
            Some(Hop::Air { to: Some(to), .. }) => (topology.radio(to).node, Some(to)),
            _ => return,
        };
        let hop = topology.routes().hop(node, Some(end));
        let at = hop.and_then(Hop::interface).expect("a hop that is not inside has an interface");
        hops.push(HopPlan { flow, is_data, at, to, receiver });
        node = to;
    }
}
