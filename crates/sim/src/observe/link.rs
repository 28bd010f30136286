//! The observables of a direction of a wired link.

use super::observable::Kind::{Counter, Gauge, MeanTime, Once, Share, Text, Total};
use super::observable::{Observable, observables};
use crate::observers::World;
use crate::plan::Plan;
use crate::topology::{Wire, WireId};
use kernel::Id;
use net::{Counters, Lossy};

/// Of the link of `[wire]`: counts refer to the whole run.
pub(super) static WIRE: &[Observable] = observables! {
    /// Packets that it delivered, in the whole run.
    "packets": "packets" => Total(delivered);
    /// Packets that its queue dropped, in the whole run.
    "drops": "packets" as "queue\ndrops" => Total(|world, w| counters(world, w).dropped);
    /// Packets that it lost, in the whole run.
    "losses": "packets" as "lost" => Total(|world, w| wire(world, w).lost());
    /// Packets that its queue marked, in the whole run.
    "ecn_marks": "packets" as "ECN\nmarks" => Total(|world, w| counters(world, w).marked.all);
    /// The fraction of time in which it transmits.
    "utilisation": "1" was "busy_fraction" => Share(busy);
};

pub(super) static NAME: &[Observable] = observables! {
    /// The link's name.
    "name": "text" as "link" => Text(|plan, w| plan.link(WireId(w as u32)).0.name.clone());
};

/// Of a link of `[[links]]`.
pub(super) static LINK: &[Observable] = observables! {
    /// The node at which this direction begins.
    "from": "text" => Text(|plan, w| ends(plan, w).0.to_owned());
    /// The node at which this direction ends.
    "to": "text" => Text(|plan, w| ends(plan, w).1.to_owned());
    /// Packets that it delivered.
    "packets": "packets" => Counter(delivered);
    /// Packets that its queue dropped.
    "drops": "packets" as "queue\ndrops" => Counter(|world, w| counters(world, w).dropped);
    /// Packets that it lost.
    "losses": "packets" as "lost" => Counter(|world, w| wire(world, w).lost());
    /// Packets that its queue marked.
    "ecn_marks": "packets" as "ECN\nmarks" => Counter(|world, w| counters(world, w).marked.all);
    /// The fraction of time in which it transmits.
    "utilisation": "1" => Share(busy);
};

/// Of either.
pub(super) static DIRECTION: &[Observable] = observables! {
    /// Packets that wait for transmission, without the one being transmitted.
    "queue_packets": "packets" => Gauge(|world, w| wire(world, w).link().waiting() as f64);
    /// Packets that wait for transmission, averaged over time.
    "queue_packets.mean": "packets" as "queue\nmean" =>
        Once(|world, w| world.observers.meter.wires[WireId::at(w)].mean().into());
    /// Mean time of a packet in the queue, of all flows.
    "queueing_s": "s" as "queue-\ning" =>
        MeanTime(|world, w| world.observers.meter.wires[WireId::at(w)].time(), carried);
    /// Mean time of the transmission of a packet; 0 at an infinite rate.
    "transmission_s": "s" as "sending" => MeanTime(busy, carried);
    /// Propagation delay.
    "propagation_s": "s" as "propa-\ngation" =>
        Once(|world, w| wire(world, w).link().delay().as_secs_f64().into());
    /// The maximum number of packets that waited for transmission.
    "queue_packets.max": "packets" as "queue\nmax" =>
        Once(|world, w| (world.observers.meter.wires[WireId::at(w)].max() as u64).into());
    /// Bytes that wait for transmission.
    "queue_bytes": "bytes" =>
        Gauge(|world, w| wire(world, w).link().backlog().0 as f64);
    /// Packets whose transmission has begun and that have not reached the far end.
    "in_flight_packets": "packets" => Gauge(|world, w| wire(world, w).in_flight() as f64);
};

/// The names of the nodes at which a direction begins and ends.
fn ends(plan: &Plan, wire: usize) -> (&str, &str) {
    let Wire { from, to, .. } = plan.topology.wires()[WireId::at(wire)];
    let [from, to] = [from, to].map(|node| &plan.topology.node(node).name[..]);
    (from, to)
}

fn wire(world: &World, wire: usize) -> &Lossy {
    &world.wires[WireId::at(wire)]
}

fn counters(world: &World, wire: usize) -> &Counters {
    world.wires[WireId::at(wire)].link().counters()
}

/// Packets that arrived: the link's counter of delivered packets includes lost ones.
fn delivered(world: &World, wire: usize) -> u64 {
    counters(world, wire).packets - world.wires[WireId::at(wire)].lost()
}

/// Packets that reached the far end, lost ones included.
fn carried(world: &World, wire: usize) -> u64 {
    counters(world, wire).packets
}

fn busy(world: &World, wire: usize) -> u64 {
    world.wires[WireId::at(wire)].link().busy(world.now).0
}
