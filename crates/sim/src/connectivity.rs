//! Which nodes of an ad-hoc network can exchange frames, and where they are, over time.

use crate::build;
use crate::medium::Medium;
use crate::plan::{Endpoint, Plan};
use crate::topology::RadioId;
use kernel::{Instant, Seed};
use net::route::Metric;
use std::collections::BTreeMap;
use wire::NodeId;

/// An ad-hoc network at some times.
#[derive(Clone, Debug, PartialEq)]
pub struct Connectivity {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The first and the last node of each flow on the air, by their numbers in `nodes`.
    pub flows: Vec<(u32, u32)>,
    /// The network at each time.
    pub snapshots: Vec<Snapshot>,
}

/// An ad-hoc network at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The position of each node, in metres.
    pub positions_m: Vec<[f64; 2]>,
    /// The pairs of nodes that have a link, by number, the lower number first.
    pub links: Vec<(u32, u32)>,
}

/// The links at these times, without interference and fading; `None` if the scenario has no ad-hoc
/// network. There is a link if most frames arrive in each direction.
pub fn connectivity(plan: &Plan, seed: &Seed, times: &[Instant]) -> Option<Connectivity> {
    let space_plan = plan.space.as_ref().filter(|space| space.ad_hoc)?;
    let Medium::Space(mut space) = build::medium(plan, seed) else { return None };
    let (_, sites) = build::radio_and_sites(plan, space_plan, seed);
    let gateway = plan.routing.as_ref().is_some_and(|routing| routing.gateway);
    let is_member = |radio: &u32| {
        let end = plan.topology.node(plan.topology.radio(RadioId(*radio)).node).end;
        matches!(end, Endpoint::Station(_)) || gateway
    };
    let radios: Vec<u32> = (0..sites.len() as u32).filter(is_member).collect();
    let numbers: BTreeMap<NodeId, u32> =
        radios.iter().map(|&radio| plan.topology.radio(RadioId(radio)).node).zip(0..).collect();
    let number = |end| {
        let node = plan.topology.outlet_on_air(plan.topology.id(end)?);
        numbers.get(&node).copied()
    };
    let flows = plan.flows.iter().filter_map(|flow| Some((number(flow.from)?, number(flow.to)?)));
    let flows = flows.collect();
    let snapshot = |now: &Instant| {
        let position = |radio: &u32| {
            let at = sites[*radio as usize].trajectory.at(*now);
            [at.x, at.y]
        };
        let neighbours = build::links(plan, gateway, Metric::Hops, &mut space, *now);
        let of = |(node, &number): (&NodeId, &u32)| {
            let others = neighbours[*node].iter();
            let others = others.filter_map(|(other, _)| numbers.get(other).copied());
            others.filter(|&other| other > number).map(|other| (number, other)).collect::<Vec<_>>()
        };
        Snapshot {
            positions_m: radios.iter().map(position).collect(),
            links: numbers.iter().flat_map(of).collect(),
        }
    };
    let snapshots = times.iter().map(snapshot).collect();
    let name = |&radio: &u32| plan.topology.radio_name(RadioId(radio));
    Some(Connectivity { nodes: radios.iter().map(name).collect(), flows, snapshots })
}
