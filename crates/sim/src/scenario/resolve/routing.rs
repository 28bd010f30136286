//! Routing: it needs an ad-hoc network, and a path for each flow.

use super::check::Check;
use super::ends::{self, Places};
use crate::build;
use crate::plan::{Endpoint, MovementPlan, PlacePlan, Plan, RoutingPlan, StationPlan};
use crate::scenario::document::Document;
use crate::scenario::routing::Routing;
use kernel::{IdVec, Seed};
use net::route::{ListedRoute, Neighbours, NextHops, RoutingSettings, Site};
use net::{DropTailConfig, Limit, QueueSettings};
use settings::{Said, said, shown};
use std::collections::VecDeque;
use wire::NodeId;

/// The limit of a queue in an ad-hoc network with routing if none is given, in packets; that of
/// ns-2 scenarios (`ifqlen`).
const QUEUE_LIMIT: u32 = 50;

/// The number of moving stations up to which it is examined whether they ever meet.
const MOST_MOVING: usize = 300;

/// The path of listed routes.
const LISTED: &str = "routing.protocol.static.routes";

/// The routing of an ad-hoc network, if there is any.
pub(super) fn routing(document: &Document, check: &mut Check) -> Option<RoutingPlan> {
    let routing = document.routing.as_ref()?;
    if !document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        let message = said!(
            "stations of a cell send to their access point",
            "routing is for ad-hoc networks, with radio.ad_hoc = true"
        );
        check.fault("routing", message);
        return None;
    }
    let protocol = routing.protocol.clone();
    let Routing { gateway, arp, arp_jitter, .. } = *routing;
    let arp_jitter = arp_jitter.unwrap_or(arp.jitter());
    Some(RoutingPlan { protocol, gateway, arp, arp_jitter })
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
    for station in stations {
        limit(&mut station.queue);
    }
    if routing.gateway {
        limit(gateway);
    }
}

/// Fills in the numbers of the nodes of listed routes.
#[allow(clippy::needless_pass_by_value, reason = "an option of a reference")]
pub(super) fn list_routes(
    routing: Option<&mut RoutingPlan>,
    places: Places<'_>,
    check: &mut Check,
) {
    let Some(RoutingPlan { protocol: RoutingSettings::Static(settings), gateway, .. }) = routing
    else {
        return;
    };
    for (route, index) in settings.routes.iter().zip(0..) {
        let mut nodes = |key: &str, pattern: &str| -> Vec<NodeId> {
            let path = format!("{LISTED}[{index}].{key}");
            let ends = match ends::parse(pattern, places) {
                Ok(ends) => ends,
                Err(message) => {
                    check.fault(path, message);
                    return Vec::new();
                }
            };
            let is_member = |end: &Endpoint| match end {
                Endpoint::Station(_) => true,
                Endpoint::AccessPoint => *gateway,
                _ => false,
            };
            if !is_member(&ends.first()) {
                let message = Said::new(
                    format!("\"{}\" is no node of the ad-hoc network", shown(pattern)),
                    "take a station, or \"ap\" with routing.gateway = true",
                );
                check.fault(path, message);
                return Vec::new();
            }
            ends.iter().filter_map(|end| places.topology.id(end)).collect()
        };
        let (at, to) = (nodes("at", &route.at), nodes("to", &route.to));
        let next = nodes("next", &route.next);
        let [next] = next[..] else {
            if next.len() > 1 {
                let message = said!("several nodes", "a packet goes to one neighbour, as \"sta1\"");
                check.fault(format!("{LISTED}[{index}].next"), message);
            }
            continue;
        };
        for (&at, &to) in at.iter().flat_map(|at| to.iter().map(move |to| (at, to))) {
            if at != to && at != next {
                settings.listed.push([at, to, next]);
            }
        }
    }
}

/// A path joins the ends of each flow, as far as the paths are known before the run: where no node
/// moves and losses do not depend on the seed.
pub(super) fn flows_have_paths(plan: &Plan, check: &mut Check) {
    let (Some(routing), Some(space)) = (&plan.routing, &plan.space) else { return };
    let is_fixed = space.stations.iter().all(|place| place.movement.fixed_position().is_some());
    let is_known = |place: &PlacePlan| matches!(place.movement, MovementPlan::Waypoints(_));
    let is_known =
        is_fixed || space.stations.len() <= MOST_MOVING && space.stations.iter().all(is_known);
    if !check.found_nothing() || !is_known || space.radio.shadowing.0 > 0.0 {
        return;
    }
    let seed = Seed { root: 0, replication: 0 };
    let links =
        if is_fixed { build::neighbours(plan, &seed) } else { build::neighbours_ever(plan, &seed) };
    let Some(links) = links else { return };
    let next_hops = if is_fixed { next_hops(routing, &links) } else { IdVec::new() };
    let parts = parts(&links);
    let in_network = |end| plan.topology.id(end).map(|node| plan.topology.outlet_on_air(node));
    let mut last = None;
    for flow in &plan.flows {
        let (Some(from), Some(to)) = (in_network(flow.from), in_network(flow.to)) else { continue };
        if last == Some(flow.group) {
            continue;
        }
        let fault = if parts[from] == parts[to] {
            let circle = |from, to| circle(plan, &next_hops, &links, from, to);
            circle(from, to).or_else(|| circle(to, from))
        } else {
            let [from, to] = [flow.from, flow.to].map(|end| plan.topology.name(end));
            let message = if is_fixed {
                said!(
                    "no path joins {from} and {to}: no chain of nodes leads from one to the other \
                     in which each receives the frames of the next",
                    "`simoom hearing` shows who receives whom"
                )
            } else {
                said!(
                    "no path joins {from} and {to} at any time of the run",
                    "`simoom routes` shows the links over time"
                )
            };
            Some((format!("flows[{}].to", flow.group), message))
        };
        if let Some((path, message)) = fault {
            last = Some(flow.group);
            check.fault(path, message);
        }
    }
}

/// The next hops of all nodes, if they are fixed and some are listed.
fn next_hops(routing: &RoutingPlan, links: &Neighbours) -> IdVec<NodeId, NextHops> {
    match &routing.protocol {
        RoutingSettings::Static(settings) if !settings.listed.is_empty() => {
            links.ids().map(|node| settings.next_hops(&Site { node, links })).collect()
        }
        _ => IdVec::new(),
    }
}

/// Why packets between two nodes do not arrive by the listed routes, with the path of the route.
fn circle(
    plan: &Plan,
    next_hops: &IdVec<NodeId, NextHops>,
    links: &Neighbours,
    from: NodeId,
    to: NodeId,
) -> Option<(String, Said)> {
    let (mut node, mut visited) = (from, vec![from]);
    let name = |node: NodeId| &plan.topology.node(node).name[..];
    while node != to {
        let hops = next_hops.get(node)?;
        let (next, is_listed) = (hops.to(to)?, hops.listed(to).is_some());
        if is_listed && links[node].iter().all(|(neighbour, _)| *neighbour != next) {
            let [next, node_name] = [next, node].map(name);
            let message = said!("{next} does not receive the frames of {node_name}");
            return Some((format!("{}.next", listed_at(plan, node, to)?), message));
        }
        visited.push(next);
        if let Some(start) = visited.iter().position(|before| *before == next)
            && start + 1 < visited.len()
        {
            let listed = |&&node: &&NodeId| next_hops[node].listed(to).is_some();
            let names: Vec<&str> = visited[start..].iter().map(|&node| name(node)).collect();
            let (circle, to_name) = (names.join(" -> "), name(to));
            let first = visited[start..].iter().find(listed)?;
            let message = said!("packets for {to_name} go in a circle: {circle}");
            return Some((listed_at(plan, *first, to)?, message));
        }
        node = next;
    }
    None
}

/// The path of the route that is listed at a node for a destination.
fn listed_at(plan: &Plan, at: NodeId, to: NodeId) -> Option<String> {
    let RoutingSettings::Static(settings) = &plan.routing.as_ref()?.protocol else { return None };
    let count = |pattern: &str, node: NodeId| names(pattern, &plan.topology.node(node).name);
    let is_it = |route: &ListedRoute| count(&route.at, at) && count(&route.to, to);
    let index = settings.routes.iter().position(is_it)?;
    Some(format!("{LISTED}[{index}]"))
}

/// Whether a pattern names a node.
fn names(pattern: &str, name: &str) -> bool {
    let number = |text: &str| text.strip_prefix("sta")?.parse::<u64>().ok();
    let Some(which) = number(name) else { return pattern == name };
    match pattern.strip_prefix("sta").and_then(|range| range.split_once('-')) {
        Some((first, last)) => {
            let (first, last) = (first.parse::<u64>(), last.parse::<u64>());
            first.is_ok_and(|first| first <= which) && last.is_ok_and(|last| which <= last)
        }
        None => pattern == "sta*" || pattern == name,
    }
}

/// For each node, the first node of the part of the network in which it is.
fn parts(links: &Neighbours) -> IdVec<NodeId, Option<NodeId>> {
    let mut parts = IdVec::filled(links.len(), None);
    for start in links.ids() {
        if parts[start].is_some() {
            continue;
        }
        parts[start] = Some(start);
        let mut frontier = VecDeque::from([start]);
        while let Some(node) = frontier.pop_front() {
            for &(next, _) in &links[node] {
                if parts[next].is_none() {
                    parts[next] = Some(start);
                    frontier.push_back(next);
                }
            }
        }
    }
    parts
}
