//! Builds the nodes of an ad-hoc network.

use super::links::{ENOUGH, success};
use crate::medium::Medium;
use crate::plan::{Plan, RoutingPlan};
use crate::topology::{ACCESS_POINT, RadioId};
use kernel::{IdVec, Instant, Seed};
use net::route::{Metric, Neighbours, Site};
use net::{Arp, Node};
use wifi::space::Space;
use wire::NodeId;

/// With the metric ETX, links over which a smaller fraction of the frames arrives are not used.
const ETX_LEAST: f64 = 0.1;

/// The neighbours of each node of an ad-hoc network at the start of the run, each with the cost of
/// the link; `None` without routing.
pub(crate) fn neighbours(plan: &Plan, seed: &Seed) -> Option<Neighbours> {
    let routing = plan.routing.as_ref()?;
    let Medium::Space(mut space) = super::medium(plan, seed) else { return None };
    let metric = routing.protocol.get().metric().unwrap_or_default();
    Some(links(plan, routing.gateway, metric, &mut space, Instant::ZERO))
}

/// The neighbours that each node of an ad-hoc network has at any time of the run, if the movement
/// of all nodes is known; `None` without routing.
pub(crate) fn neighbours_ever(plan: &Plan, seed: &Seed) -> Option<Neighbours> {
    let routing = plan.routing.as_ref()?;
    let Medium::Space(mut space) = super::medium(plan, seed) else { return None };
    let end = Instant::ZERO + plan.duration;
    let when = |space: &Space, a: u32, b: u32| space.closest_at(a, b, end);
    Some(links_when(plan, routing.gateway, Metric::Hops, &mut space, when))
}

/// The nodes of an ad-hoc network, before their first packets; `None` at nodes outside.
pub(crate) fn nodes(
    plan: &Plan,
    routing: &RoutingPlan,
    space: &mut Space,
    seed: &Seed,
) -> IdVec<NodeId, Option<Node>> {
    let metric = routing.protocol.get().metric();
    let links = metric.map(|metric| links(plan, routing.gateway, metric, space, Instant::ZERO));
    let links = links.unwrap_or_default();
    let build = |node: NodeId| {
        let router = routing.protocol.get().build(&Site { node, links: &links });
        let stream = |purpose| seed.stream(purpose, node.0);
        let arp = Arp::new(node, routing.arp, routing.arp_jitter, stream("arp"));
        Node::new(router, stream("routing"), arp)
    };
    IdVec::from_fn(plan.topology.nodes().len(), |node| {
        is_member(plan, routing.gateway, node).then(|| build(node))
    })
}

/// Whether two radios may exchange packets in a network whose nodes forward.
pub(crate) fn may_send(plan: &Plan, from: u32, to: u32) -> bool {
    let Some(routing) = &plan.routing else { return false };
    let is_member =
        |radio: u32| is_member(plan, routing.gateway, plan.topology.radio(RadioId(radio)).node);
    from != to && is_member(from) && is_member(to)
}

/// Whether a node is in the ad-hoc network: all stations are, and the gateway is.
fn is_member(plan: &Plan, gateway: bool, node: NodeId) -> bool {
    plan.topology.is_station(node) || gateway && node == ACCESS_POINT
}

/// The links of the network at a time: pairs of nodes of which each receives the other.
pub(crate) fn links(
    plan: &Plan,
    gateway: bool,
    metric: Metric,
    space: &mut Space,
    now: Instant,
) -> Neighbours {
    links_when(plan, gateway, metric, space, |_, _, _| now)
}

/// The links of the network, of each pair of radios at an instant of its own.
fn links_when(
    plan: &Plan,
    gateway: bool,
    metric: Metric,
    space: &mut Space,
    when: impl Fn(&Space, u32, u32) -> Instant,
) -> Neighbours {
    let mut links = Neighbours::filled(plan.topology.nodes().len(), Vec::new());
    let members: Vec<(u32, NodeId)> = (0..plan.topology.radios().len() as u32)
        .map(|radio| (radio, plan.topology.radio(RadioId(radio)).node))
        .filter(|&(_, node)| is_member(plan, gateway, node))
        .collect();
    let mut cost = |a: u32, b: u32| {
        let now = when(space, a, b);
        let forward = success(plan, space, now, a, b);
        if forward == 0.0 {
            return None;
        }
        let reverse = success(plan, space, now, b, a);
        match metric {
            Metric::Hops => (forward >= ENOUGH && reverse >= ENOUGH).then_some(1.0),
            // The expected number of transmissions (De Couto et al., MobiCom 2003).
            Metric::Etx => (forward.min(reverse) >= ETX_LEAST).then(|| 1.0 / (forward * reverse)),
        }
    };
    for (index, &(a, from)) in members.iter().enumerate() {
        for &(b, to) in &members[index + 1..] {
            if let Some(cost) = cost(a, b) {
                links[from].push((to, cost));
                links[to].push((from, cost));
            }
        }
    }
    links
}
