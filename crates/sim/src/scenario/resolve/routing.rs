//! Routing: it needs an ad-hoc network, and a path for each flow.

use super::check::Check;
use crate::build;
use crate::plan::{Endpoint, Plan, RoutingPlan, StationPlan};
use crate::scenario::document::Document;
use kernel::Seed;
use net::{DropTailConfig, Limit, QueueSettings};
use std::collections::VecDeque;
use wire::NodeId;

/// The limit of a queue in an ad-hoc network with routing if none is given, in packets; that of
/// ns-2 scenarios (`ifqlen`).
const QUEUE_LIMIT: u32 = 50;

/// The routing of an ad-hoc network, if there is any.
pub(super) fn routing(document: &Document, check: &mut Check) -> Option<RoutingPlan> {
    let routing = document.routing.as_ref()?;
    if !document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        let message = "stations of a cell send to their access point; routing is for ad-hoc \
                       networks, with radio.ad_hoc = true";
        check.fault("routing", message);
        return None;
    }
    Some(RoutingPlan { protocol: routing.protocol.clone(), gateway: routing.gateway })
}

/// Nodes that forward have a limited queue unless the scenario gives another.
pub(super) fn limit_queues(
    routing: Option<&RoutingPlan>,
    stations: &mut [StationPlan],
    gateway: &mut QueueSettings,
) {
    let Some(routing) = routing else { return };
    let limit = |queue: &mut QueueSettings| {
        if *queue == QueueSettings::default() {
            let limit = Limit::packets(QUEUE_LIMIT);
            *queue = QueueSettings::DropTail(DropTailConfig { limit });
        }
    };
    stations.iter_mut().for_each(|station| limit(&mut station.queue));
    if routing.gateway {
        limit(gateway);
    }
}

/// A path joins the ends of each flow, as far as the paths are known before the run: where no node
/// moves and losses do not depend on the seed.
pub(super) fn flows_have_paths(plan: &Plan, check: &mut Check) {
    let (Some(_), Some(space)) = (&plan.routing, &plan.space) else { return };
    let is_fixed = space.stations.iter().all(|place| place.waypoints.len() == 1);
    if !check.found_nothing() || !is_fixed || space.radio.shadowing.0 > 0.0 {
        return;
    }
    let Some(links) = build::neighbours(plan, &Seed { root: 0, replication: 0 }) else { return };
    let parts = parts(&links);
    let mut last = None;
    for flow in &plan.flows {
        let in_network = |end| plan.topology.id(end).map(|node| plan.topology.outlet_on_air(node));
        let (Some(from), Some(to)) = (in_network(flow.from), in_network(flow.to)) else { continue };
        if parts[from.0 as usize] == parts[to.0 as usize] || last == Some(flow.group) {
            continue;
        }
        last = Some(flow.group);
        let [from, to] = [flow.from, flow.to].map(|end: Endpoint| plan.topology.name(end));
        let message = format!(
            "no path joins {from} and {to}: no chain of nodes leads from one to the other in which \
             each receives the frames of the next; `simoom hearing` shows the links"
        );
        check.fault(format!("flows[{}].to", flow.group), message);
    }
}

/// For each node, the number of the part of the network in which it is.
fn parts(links: &[Vec<(NodeId, f64)>]) -> Vec<usize> {
    let mut parts = vec![usize::MAX; links.len()];
    for start in 0..links.len() {
        if parts[start] != usize::MAX {
            continue;
        }
        parts[start] = start;
        let mut frontier = VecDeque::from([start]);
        while let Some(node) = frontier.pop_front() {
            for &(next, _) in &links[node] {
                if parts[next.0 as usize] == usize::MAX {
                    parts[next.0 as usize] = start;
                    frontier.push_back(next.0 as usize);
                }
            }
        }
    }
    parts
}
