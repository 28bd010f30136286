//! Builds the state machines of a run from a plan.

mod ad_hoc;
mod air;
mod link_rules;
mod links;
mod space;
mod stations;

pub(crate) use ad_hoc::{links, may_send, neighbours, neighbours_ever, nodes};
pub(crate) use air::medium;
pub(crate) use link_rules::LinkRules;
pub(crate) use links::{LateLinks, PSDU, best_budget, rate_plan};
pub(crate) use space::{mac, radio_and_sites};
pub(crate) use stations::stations;

use crate::plan::{self, Endpoint};
use crate::topology::{Hop, Interface, Radio, RadioId, Wire, WireId};
use crate::traffic::Stock;
use kernel::{IdVec, Seed};
use std::collections::BTreeSet;
use tcp::control::{Connection, External};
use wire::FlowId;

/// The queues of all radios, in the order of the radios. With EDCA, each radio has a queue per
/// access category.
pub(crate) fn queues(plan: &plan::Plan, seed: &Seed) -> IdVec<RadioId, Box<dyn net::Queue>> {
    let access_point = plan::access_point(&plan.stations);
    let build = |(id, radio): (RadioId, &Radio)| -> Box<dyn net::Queue> {
        let (queue, device) = plan.queue_of(id);
        let RadioId(number) = id;
        let site = match plan.topology.node(radio.node).end {
            Endpoint::Station(number) => plan.stations[number as usize].output_link(),
            _ => access_point,
        };
        let build = |stream| -> Box<dyn net::Queue> {
            let mut built = queue.get().build(site, stream);
            if let Some(most) = device.ring_packets {
                let follows = queue.get().traits().follows_the_device;
                built = Box::new(net::Ring::new(built, most, follows));
            }
            if let Some(most) = device.hardware_aggregates {
                built = Box::new(net::HardwareQueue::new(built, most, radio.is_shared));
            }
            built
        };
        let has_classes = plan.wlan.edca.is_some();
        let stream = |class| seed.stream("queue.class", 4 * number + class);
        let classes = || net::Classes::new([0, 1, 2, 3].map(|class| build(stream(class))));
        let one = || build(seed.stream("queue", number));
        // Schedulers of OFDMA ask what waits for each station.
        let is_counted = radio.is_shared && plan.wlan.mu.is_some();
        let traits = queue.get().traits();
        match (has_classes, is_counted) {
            (true, true) => Box::new(net::Counted::new(classes(), true, &traits)),
            (true, false) => Box::new(classes()),
            (false, true) => Box::new(net::Counted::new(one(), false, &traits)),
            (false, false) => one(),
        }
    };
    plan.topology.radios().entries().map(build).collect()
}

/// All link directions, in their order.
pub(crate) fn wires(plan: &plan::Plan, seed: &Seed) -> IdVec<WireId, net::Lossy> {
    let reporting = reporting(plan);
    let build = |at: &Wire| {
        let (link, direction) = plan.link(at.id);
        let wire = wire(link, direction, seed);
        if reporting.contains(&at.id) { wire.reporting_departures() } else { wire }
    };
    plan.topology.wires().iter().map(build).collect()
}

/// The link directions to which sources send that learn when a packet has left: saturated ones, and
/// senders with TCP small queues.
fn reporting(plan: &plan::Plan) -> BTreeSet<WireId> {
    let first = |flow: &plan::FlowPlan| {
        let path = plan.topology.path(flow.from, flow.to)?;
        path.into_iter().find_map(Hop::interface)
    };
    let learns = |flow: &&plan::FlowPlan| {
        flow.settings.traffic.is_saturated() || flow.tcp.as_ref().is_some_and(has_small_queue)
    };
    let learning = plan.flows.iter().filter(learns);
    let wire = |interface| match interface {
        Interface::Wire(wire) => Some(wire),
        Interface::Radio(_) => None,
    };
    learning.filter_map(first).filter_map(wire).collect()
}

/// Whether the sender of a connection learns when its packets have left its node.
fn has_small_queue(tcp: &plan::TcpPlan) -> bool {
    tcp.config.linux().is_some_and(|linux| linux.small_queues)
}

/// Whether any sender learns when its packets have left its node.
pub(crate) fn has_small_queues(plan: &plan::Plan) -> bool {
    plan.flows.iter().filter_map(|flow| flow.tcp.as_ref()).any(has_small_queue)
}

/// The datagrams of the saturated sources, if an access sends at most so many packets.
pub(crate) fn stock(plan: &plan::Plan, per_access: u32) -> Stock {
    let topology = &plan.topology;
    let mut stock = Stock::new(topology.nodes().len(), per_access);
    for (flow, number) in plan.flows.iter().zip(0..) {
        let from = topology.id(flow.from).filter(|_| flow.settings.traffic.is_saturated());
        stock.add(FlowId(number), from.map(|from| topology.outlet(from)));
    }
    stock
}

fn wire(link: &plan::LinkPlan, direction: usize, seed: &Seed) -> net::Lossy {
    // Each link draws random numbers by its own number, so that adding or removing a link does not
    // change the draws of other links.
    let (purposes, index) = match link.number {
        None => (["wire.queue", "wire.channel", "wire.loss", "wire.order"], direction),
        Some(number) => {
            (["link.queue", "link.channel", "link.loss", "link.order"], 2 * number + direction)
        }
    };
    let [queue, channel, packets, order] =
        purposes.map(|purpose| seed.stream(purpose, index as u32));
    let streams = net::LinkStreams { queue, channel, packets, order };
    net::Lossy::new(&link.directions[direction], streams)
}

/// The congestion control of a connection of this flow.
pub(crate) fn control(
    tcp: &plan::TcpPlan,
    flow: FlowId,
    external: &dyn External,
) -> Box<dyn tcp::Control> {
    tcp.control.get().build(&Connection { config: &tcp.config, flow, external })
}
