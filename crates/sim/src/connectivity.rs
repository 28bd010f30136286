//! Which nodes of an ad-hoc network can exchange frames, and where they are, over time.

use crate::build;
use crate::medium::Medium;
use crate::plan::{Endpoint, Plan};
use crate::topology::RadioId;
use kernel::{Bytes, Instant, Seed};
use wifi::phy::Mode;
use wifi::space::Space;

/// The size of the frames in bytes.
const PSDU: Bytes = Bytes(1536);
/// There is a link if at least this fraction of the frames arrives in each direction.
const ENOUGH: f64 = 0.9;

/// An ad-hoc network at some times.
#[derive(Clone, Debug, PartialEq)]
pub struct Connectivity {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// Source and destination of each flow between nodes, by their numbers.
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
/// network.
pub fn connectivity(plan: &Plan, seed: &Seed, times: &[Instant]) -> Option<Connectivity> {
    let space_plan = plan.space.as_ref().filter(|space| space.ad_hoc)?;
    let Medium::Space(mut space) = build::medium(plan, seed) else { return None };
    let (_, sites) = build::radio_and_sites(plan, space_plan, seed);
    let station = |radio: &u32| {
        let node = plan.topology.radio(RadioId(*radio)).node;
        match plan.topology.node(node).end {
            Endpoint::Station(number) => Some(number),
            _ => None,
        }
    };
    let radios: Vec<u32> =
        (0..sites.len() as u32).filter(|radio| station(radio).is_some()).collect();
    let nodes = radios.iter().map(|&radio| plan.topology.radio_name(RadioId(radio))).collect();
    let modes: Vec<Mode> = radios
        .iter()
        .filter_map(station)
        .map(|number| plan.stations[number as usize].up.mode())
        .collect();
    let number = |end: Endpoint| match end {
        Endpoint::Station(number) => Some(number),
        _ => None,
    };
    let flows = plan.flows.iter().filter_map(|flow| Some((number(flow.from)?, number(flow.to)?)));
    let mut snapshot = |now: &Instant| {
        let position = |radio: &u32| {
            let at = sites[*radio as usize].trajectory.at(*now);
            [at.x, at.y]
        };
        Snapshot {
            positions_m: radios.iter().map(position).collect(),
            links: links(&mut space, *now, &radios, &modes),
        }
    };
    let snapshots = times.iter().map(&mut snapshot).collect();
    Some(Connectivity { nodes, flows: flows.collect(), snapshots })
}

fn links(space: &mut Space, now: Instant, radios: &[u32], modes: &[Mode]) -> Vec<(u32, u32)> {
    let mut arrives = |from: usize, to: usize| {
        let budget = space.link_budget(now, (radios[from], radios[to]), &modes[from], PSDU);
        budget.is_some_and(|budget| budget.success >= ENOUGH)
    };
    let mut links = Vec::new();
    for low in 0..radios.len() {
        for high in low + 1..radios.len() {
            if arrives(low, high) && arrives(high, low) {
                links.push((low as u32, high as u32));
            }
        }
    }
    links
}
