//! From a plan to the machines that run it.

mod air;
mod space;

pub(crate) use air::medium;
pub(crate) use space::radio_and_sites;

use crate::plan;
use kernel::Seed;
use net::{QueueSettings, Site};
use tcp::control::{Connection, External};
use wire::FlowId;

/// The queues of the cell's nodes, in their order; with access categories each node has one for
/// each.
pub(crate) fn queues(plan: &plan::Plan, seed: &Seed) -> Vec<Box<dyn net::Queue>> {
    let access_point = plan::access_point(&plan.stations);
    let ap = std::iter::once((&plan.ap.queue, access_point, plan.ap.ring));
    let bss = plan.space.iter().flat_map(|space| &space.cells[1..]);
    let further = bss.map(|bss| (&bss.queue, access_point, bss.ring));
    let stations = plan.stations.iter().map(|s| (&s.queue, s.site(), s.ring));
    let plans = ap.chain(stations).chain(further);
    let build = |(node, (queue, site, ring)): (u32, (&QueueSettings, Site, _))| {
        let build = |stream| -> Box<dyn net::Queue> {
            let queue = queue.get().build(site, stream);
            match ring {
                Some(most) => Box::new(net::Ring::new(queue, most)),
                None => queue,
            }
        };
        if plan.wlan.edca.is_none() {
            return build(seed.stream("queue", node));
        }
        let stream = |class| seed.stream("queue.class", 4 * node + class);
        Box::new(net::Classes::new([0, 1, 2, 3].map(|class| build(stream(class)))))
    };
    (0..).zip(plans).map(build).collect()
}

/// The directions of all links, two a link. `saturated` tells by which a source leaves that has a
/// packet whenever the last has gone.
pub(crate) fn wires(
    network: &plan::Network,
    saturated: impl Fn(usize) -> bool,
    seed: &Seed,
) -> Vec<net::Lossy> {
    let both = |link| [0, 1].map(|direction| (link, direction));
    network
        .links
        .iter()
        .flat_map(both)
        .enumerate()
        .map(|(number, (link, direction))| wire(link, direction, saturated(number), seed))
        .collect()
}

fn wire(link: &plan::LinkPlan, direction: usize, saturated: bool, seed: &Seed) -> net::Lossy {
    // Links draw by their numbers, so that a wire more or less changes no other link's draws.
    let (queue, channel, packets, index) = match link.number {
        None => ("wire.queue", "wire.channel", "wire.loss", direction),
        Some(number) => ("link.queue", "link.channel", "link.loss", 2 * number + direction),
    };
    let [queue, channel, packets] =
        [queue, channel, packets].map(|purpose| seed.stream(purpose, index as u32));
    let streams = net::LinkStreams { queue, channel, packets };
    let wire = net::Lossy::new(&link.directions[direction], streams);
    if saturated { wire.telling_departures() } else { wire }
}

/// The controller of a connection of this flow.
pub(crate) fn control(
    tcp: &plan::TcpPlan,
    flow: FlowId,
    external: &dyn External,
) -> Box<dyn tcp::Control> {
    tcp.control.get().build(&Connection { config: &tcp.config, flow, external })
}
