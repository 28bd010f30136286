//! Which senders are told of the rates of which radio links.

use crate::plan::{FlowPlan, LinkRate, Plan};
use crate::topology::{Hop, RadioId, Topology};
use std::collections::BTreeMap;
use wire::FlowId;

/// A direction of a radio link: who sends to whom.
pub(super) type Way = (RadioId, RadioId);

/// Which flows are told of which ways.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Ways by flow, in the order in which data crosses them.
    ways: Vec<Vec<Way>>,
    flows: BTreeMap<Way, Vec<FlowId>>,
}

impl Told {
    /// Finds out which ways concern which flows.
    pub(super) fn new(plan: &Plan) -> Self {
        let mut told = Self::default();
        for (flow, index) in plan.flows.iter().zip(0..) {
            let ways = ways(&plan.topology, flow);
            for &way in &ways {
                told.flows.entry(way).or_default().push(FlowId(index));
            }
            told.ways.push(ways);
        }
        told
    }

    /// The ways that concern a flow.
    pub(super) fn ways(&self, flow: FlowId) -> &[Way] {
        &self.ways[flow.0 as usize]
    }

    /// The flows that a way concerns.
    pub(super) fn flows(&self, way: Way) -> &[FlowId] {
        self.flows.get(&way).map_or(&[], |flows| flows)
    }
}

/// The ways of a flow's data between stations and access points, or the sender's own alone.
fn ways(topology: &Topology, flow: &FlowPlan) -> Vec<Way> {
    let (Some(tcp), Some(from)) = (&flow.tcp, topology.id(flow.from)) else { return Vec::new() };
    let path = topology.path(flow.from, flow.to).unwrap_or_default();
    let way = |hop| match hop {
        Hop::Air { by, to: Some(to) } => Some((by, to)),
        _ => None,
    };
    let own = topology.outlet(from);
    let is_told = |&(by, to): &Way| {
        let is_own = tcp.link_rate == LinkRate::Path || topology.radio(by).node == own;
        is_own && (topology.is_access_point(by) || topology.is_access_point(to))
    };
    path.into_iter().filter_map(way).filter(is_told).collect()
}
