//! The observables of a hop of a flow (`measure.hops`). A hop over the air begins at the queue of a
//! radio, and a hop over a link at the queue of the link.

use super::observable::Kind::{Once, Text};
use super::observable::{Observable, observables};
use crate::meter::HopMeter;
use crate::observers::World;
use kernel::Id;

pub(super) static HOP: &[Observable] = observables! {
    /// The flow's name.
    "flow": "text" => Text(|plan, i| {
        plan.flows[plan.measure.hops[i].flow.index()].name.clone()
    });
    /// What goes this way: "data" or "TCP ACKs".
    "packets_of": "text" as "packets" => Text(|plan, i| {
        if plan.measure.hops[i].is_data { "data" } else { "TCP ACKs" }.to_owned()
    });
    /// The interface at which the hop begins: a node of the cell, or a direction of a link by its
    /// path.
    "at": "text" => Text(|plan, i| plan.interface_name(plan.measure.hops[i].at));
    /// The node at which the hop ends.
    "to": "text" =>
        Text(|plan, i| plan.topology.node(plan.measure.hops[i].to).name.clone());
    /// Packets of the flow that crossed the hop.
    "packets": "packets" => Once(|world, i| hops(world).crossed(i).into());
    /// Packets of the flow that were lost at the hop.
    "lost": "packets" => Once(|world, i| hops(world).lost(i).into());
    /// Mean time of a packet from the arrival at the queue to the end of the hop: the sum of the
    /// parts that follow.
    "delay_s": "s" as "delay" => Once(|world, i| hops(world).parts(i).total().into());
    /// Mean time in the queue. At a link it is the time until the transmission begins.
    "queueing_s": "s" as "queue-\ning" => Once(|world, i| hops(world).parts(i).queueing.into());
    /// Mean time in service at a radio in which the packet was not on the air: interframe spaces,
    /// back-off, and the transmissions of others.
    "contention_s": "s" as "conten-\ntion" =>
        Once(|world, i| hops(world).parts(i).contention.into());
    /// Mean time of the transmission in which the packet arrived; RTS and CTS belong to it.
    "transmission_s": "s" as "on the\nair" =>
        Once(|world, i| hops(world).parts(i).transmission.into());
    /// Mean time of the transmissions before it, which collided or were lost.
    "retries_s": "s" as "retries" => Once(|world, i| hops(world).parts(i).retries.into());
    /// Propagation delay of a link.
    "propagation_s": "s" as "propa-\ngation" =>
        Once(|world, i| hops(world).parts(i).propagation.into());
    /// The fraction of the window taken by transmissions with packets of the flow at this hop,
    /// MAC ACKs and collisions included; 0 at a link.
    "airtime_fraction": "1" as "airtime" => Once(|world, i| hops(world).airtime(i).into());
};

fn hops(world: &World) -> &HopMeter {
    world.observers.hops().expect("a plan with hops has a meter of hops")
}
