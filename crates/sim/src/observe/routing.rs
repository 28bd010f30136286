//! The observables of an ad-hoc network whose nodes forward.

use super::observable::Kind::{Counter, Delays, Gauge, Once, Part, Ratio};
use super::observable::{Condition, Observable, observables};
use crate::meter::{RoutedFlow, RoutingMeter};
use crate::observers::World;
use kernel::Id;
use net::ArpRules;
use std::borrow::Cow;
use wire::{ArpMessage, FlowId};

pub(super) const ROUTING: Condition = Condition {
    says: "with routing",
    holds: |plan, _| plan.routing.is_some(),
    lacks: |_, _, name| format!("without routing no flow has {name}"),
};

pub(super) const ARP: Condition = Condition {
    says: "with ARP",
    holds: |plan, _| plan.routing.as_ref().is_some_and(|routing| routing.arp != ArpRules::Off),
    lacks: |_, _, name| format!("without ARP (routing.arp) there is no {name}"),
};

pub(super) static ROUTED_FLOW: &[Observable] = observables! {
    /// The hops over the air of a data packet that arrived, on average.
    "hops_mean": "hops" as "hops" if ROUTING =>
        Ratio(|world, i| flow(world, i).hops, |world, i| flow(world, i).arrived);
    /// The hops of the route that a data packet would take now; NaN without a route.
    "route_hops": "hops" if ROUTING => Gauge(|world, i| {
        let (from, to) = (world.flows[FlowId::at(i)].from, world.flows[FlowId::at(i)].to);
        let hops = to.and_then(|to| world.network.as_ref()?.hops(from, to));
        hops.map_or(f64::NAN, f64::from)
    });
    /// Data packets that were lost on the way, of those that the sender sent, retransmissions
    /// included.
    "dropped_fraction": "1" as "lost" if ROUTING =>
        Part(|world, i| flow(world, i).dropped, |world, i| flow(world, i).sent);
    /// The fraction of the bytes that the sender sent, retransmissions included, that the receiver
    /// did not deliver as new data.
    "undelivered_fraction": "1" if ROUTING =>
        Once(|world, i| {
            let delivered = world.observers.meter.flows[FlowId::at(i)].delivered_in_window();
            flow(world, i).undelivered(delivered).into()
        });
};

pub(super) static ROUTING_TOTAL: &[Observable] = observables! {
    /// Packets of flows that nodes sent to neighbours, at each hop.
    "forwarded": "packets" => Counter(|world, _| meter(world).forwarded);
    /// Routing messages that nodes sent, at each hop.
    "messages": "messages" as "routing messages" => Counter(|world, _| meter(world).messages);
    /// The bytes of these messages, IP headers included.
    "message_bytes": "bytes" => Counter(|world, _| meter(world).message_bytes);
    /// Requests for MAC addresses, which are broadcast.
    "arp_requests": "messages" if ARP => Counter(|world, _| meter(world).arp[0]);
    /// Replies to them.
    "arp_replies": "messages" if ARP => Counter(|world, _| meter(world).arp[1]);
    /// The bytes of both, 28 each.
    "arp_bytes": "bytes" if ARP =>
        Counter(|world, _| ArpMessage::SIZE * meter(world).arp.iter().sum::<u64>());
    /// Changes of the route from a node to a destination.
    "route_changes": "1" => Counter(|world, _| meter(world).changes);
    /// Links to neighbours that failed.
    "link_failures": "1" => Counter(|world, _| meter(world).link_failures);
    /// Those of these links whose neighbour was in range.
    "false_link_failures": "1" => Counter(|world, _| meter(world).false_failures);
    /// From the first packet that waits for a route to the route.
    "discovery_delay_s": "s" as "discovery" => Delays {
        read: |world, _| Some(Cow::Borrowed(&meter(world).discovery)),
        title: "time to find a route",
        of: "routes",
    };
    /// Data packets that were lost on the way, of those that senders sent, retransmissions
    /// included.
    "dropped_fraction": "1" as "lost" => Part(
        |world, _| over_flows(world, |flow| flow.dropped),
        |world, _| over_flows(world, |flow| flow.sent),
    );
};

fn meter(world: &World) -> &RoutingMeter {
    world.observers.meter.routing.as_deref().expect("its place exists with routing only")
}

fn flow(world: &World, flow: usize) -> &RoutedFlow {
    &meter(world).flows[FlowId::at(flow)]
}

fn over_flows(world: &World, count: fn(&RoutedFlow) -> u64) -> u64 {
    meter(world).flows.iter().map(count).sum()
}
