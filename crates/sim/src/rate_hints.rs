//! Which senders receive hints about the rates of which radio links.

use crate::plan::{FlowPlan, LinkRate, Plan};
use crate::topology::{Hop, RadioId, Topology};
use kernel::IdVec;
use std::collections::BTreeMap;
use wire::FlowId;

/// A direction of a radio link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkDirection {
    /// The transmitter.
    pub(crate) by: RadioId,
    /// The receiver.
    pub(crate) to: RadioId,
}

impl LinkDirection {
    /// The other direction of the same link.
    pub(crate) fn reverse(self) -> Self {
        Self { by: self.to, to: self.by }
    }
}

/// Which flows receive hints about which link directions.
#[derive(Debug, Default)]
pub(crate) struct RateHints {
    /// Link directions by flow, in the order in which data crosses them.
    directions: IdVec<FlowId, Vec<LinkDirection>>,
    flows: BTreeMap<LinkDirection, Vec<FlowId>>,
}

impl RateHints {
    /// Derives the link directions of each flow from the plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut hints = Self::default();
        for (flow, index) in plan.flows.iter().zip(0..) {
            let directions = directions(&plan.topology, flow);
            for &direction in &directions {
                hints.flows.entry(direction).or_default().push(FlowId(index));
            }
            hints.directions.push(directions);
        }
        hints
    }

    /// The link directions about which a flow receives hints.
    pub(crate) fn directions(&self, flow: FlowId) -> &[LinkDirection] {
        &self.directions[flow]
    }

    /// A station has moved from one access point to another.
    pub(crate) fn move_station(&mut self, station: RadioId, from: RadioId, to: RadioId) {
        let [before, after] =
            [from, to].map(|access_point| LinkDirection { by: station, to: access_point });
        let pairs = [(before, after), (before.reverse(), after.reverse())];
        for (before, after) in pairs {
            for direction in self.directions.iter_mut().flatten() {
                if *direction == before {
                    *direction = after;
                }
            }
            if let Some(flows) = self.flows.remove(&before) {
                self.flows.insert(after, flows);
            }
        }
    }

    /// The flows that receive hints about a link direction.
    pub(crate) fn flows(&self, direction: LinkDirection) -> &[FlowId] {
        self.flows.get(&direction).map_or(&[], |flows| flows)
    }
}

/// The link directions of a flow's data between stations and access points, or only that of the
/// sender's own link.
fn directions(topology: &Topology, flow: &FlowPlan) -> Vec<LinkDirection> {
    let (Some(tcp), Some(from)) = (&flow.tcp, topology.id(flow.from)) else { return Vec::new() };
    let path = topology.path(flow.from, flow.to).unwrap_or_default();
    let direction = |hop| match hop {
        Hop::Air { by, to: Some(to) } => Some(LinkDirection { by, to }),
        _ => None,
    };
    let own = topology.outlet(from);
    let is_hinted = |&LinkDirection { by, to }: &LinkDirection| {
        let is_own = tcp.link_rate == LinkRate::Path || topology.radio(by).node == own;
        is_own && (topology.is_access_point(by) || topology.is_access_point(to))
    };
    path.into_iter().filter_map(direction).filter(is_hinted).collect()
}
