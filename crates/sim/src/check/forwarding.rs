//! Checks of nodes that forward: a node sends on, delivers and drops only packets that it has, and
//! packets that follow a fixed route visit no node twice.

use super::rule::rule;
use crate::notice::NodeNote;
use crate::plan::Plan;
use crate::topology::{Interface, RadioId, Topology, WireId};
use kernel::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use wifi::MsduOutcome;
use wire::{Body, NodeId, Packet};

/// What distinguishes the packets of flows: flow, direction, number and time of birth.
type Key = (u32, bool, u64, u64, Instant);

/// The packets of flows at the nodes of an ad-hoc network.
#[derive(Debug)]
pub(super) struct Forwarding {
    topology: Arc<Topology>,
    /// Whether all routes are fixed for the run.
    is_static: bool,
    /// How many equal packets a node has.
    held: BTreeMap<(NodeId, Key), u32>,
    /// The nodes that a packet has visited; `None` once a link has failed under it.
    visited: BTreeMap<Key, Option<Vec<NodeId>>>,
}

impl Forwarding {
    /// The records of a plan, if its nodes forward.
    pub(super) fn new(plan: &Plan) -> Option<Box<Self>> {
        let routing = plan.routing.as_ref()?;
        Some(Box::new(Self {
            topology: Arc::clone(&plan.topology),
            is_static: routing.protocol.get().metric().is_some(),
            held: BTreeMap::new(),
            visited: BTreeMap::new(),
        }))
    }

    /// Whether all routes are fixed for the run.
    pub(super) fn is_static(&self) -> bool {
        self.is_static
    }

    /// A transport sends a packet, or a node receives one.
    fn gain(&mut self, node: NodeId, packet: &Packet) {
        if let Some(key) = key(packet) {
            *self.held.entry((node, key)).or_default() += 1;
        }
    }

    /// A node no longer has a packet.
    fn lose(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        let Some(key) = key(packet) else { return };
        let count = self.held.get_mut(&(node, key)).filter(|count| **count > 0);
        rule(now, count.is_some(), "a node passes on only what it has", || {
            format!("node {}: {packet:?}", node.0)
        });
        if let Some(count) = count {
            *count -= 1;
            if *count == 0 {
                self.held.remove(&(node, key));
            }
        }
    }

    pub(super) fn on_sent(&mut self, packet: &Packet) {
        // A server without a link is at the gateway.
        let from = self.topology.outlet(packet.from);
        self.gain(from, packet);
        // Acknowledgements that are sent at one instant may be equal.
        if let Some(key) = key(packet) {
            let is_alone = self.held.get(&(from, key)) == Some(&1);
            let is_first = is_alone && !self.visited.contains_key(&key);
            self.visited.insert(key, is_first.then(|| vec![from]));
        }
    }

    /// The MAC of a node delivers a packet.
    pub(super) fn on_received(&mut self, now: Instant, by: RadioId, packet: &Packet) {
        let (Some(key), node) = (key(packet), self.topology.radio(by).node) else { return };
        self.gain(node, packet);
        let follows = self.is_static || packet.source_route.is_some() && packet.salvage == 0;
        let Some(Some(visited)) = self.visited.get_mut(&key) else { return };
        rule(now, !follows || !visited.contains(&node), "a route visits no node twice", || {
            format!("node {} after {visited:?}: {packet:?}", node.0)
        });
        visited.push(node);
    }

    /// A node has told this.
    pub(super) fn on_note(&mut self, now: Instant, node: NodeId, note: NodeNote<'_>) {
        if let NodeNote::Forwarded(packet) = note {
            self.on_forwarded(now, node, packet);
        }
    }

    fn on_forwarded(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        let Some(key) = key(packet) else { return };
        let has = self.held.contains_key(&(node, key));
        rule(now, has, "what is forwarded was received", || format!("node {}: {packet:?}", node.0));
        rule(now, packet.ttl > 0, "a packet lives no longer than its time to live", || {
            format!("node {}: {packet:?}", node.0)
        });
    }

    /// The service of a packet has ended.
    pub(super) fn on_served(
        &mut self,
        now: Instant,
        by: RadioId,
        packet: &Packet,
        outcome: MsduOutcome,
        received: bool,
    ) {
        if outcome == MsduOutcome::Sent && received {
            return self.lose(now, self.topology.radio(by).node, packet);
        }
        // The router has the packet again.
        if let Some(key) = key(packet) {
            self.visited.insert(key, None);
        }
    }

    /// A packet is offered to an interface: if it is that of a wire, the node has it no longer.
    pub(super) fn on_queued(&mut self, now: Instant, at: Interface, packet: &Packet) {
        if let Interface::Wire(wire) = at {
            self.lose(now, self.topology.wire(wire).from, packet);
        }
    }

    /// A packet reaches the far end of a link direction.
    pub(super) fn on_crossed(&mut self, wire: WireId, packet: &Packet) {
        self.gain(self.topology.wire(wire).to, packet);
    }

    pub(super) fn on_dropped(&mut self, now: Instant, at: Interface, packet: &Packet) {
        if let Interface::Radio(radio) = at {
            self.lose(now, self.topology.radio(radio).node, packet);
            self.forget(packet);
        }
    }

    pub(super) fn on_arrived(&mut self, now: Instant, packet: &Packet) {
        let Some(to) = packet.to else { return };
        // A server without a link is at the gateway.
        self.lose(now, self.topology.outlet(to), packet);
        self.forget(packet);
    }

    fn forget(&mut self, packet: &Packet) {
        if let Some(key) = key(packet) {
            self.visited.remove(&key);
        }
    }
}

/// The key of a packet of a flow between two nodes; other packets are not followed.
fn key(packet: &Packet) -> Option<Key> {
    packet.to?;
    match &packet.body {
        Body::Segment(of) => Some((of.flow.0, of.forward, of.seq, of.ack, packet.born)),
        Body::Datagram(of) => Some((of.flow.0, true, of.number, 0, packet.born)),
        Body::Echo(of) => Some((of.flow.0, !of.is_reply, of.number, 0, packet.born)),
        Body::Media(of) => Some((of.flow.0, of.is_forward(), of.number, 0, packet.born)),
        Body::Routing(_) | Body::Arp(_) | Body::Management(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Members;
    use kernel::Bytes;
    use wire::{Datagram, FlowId};

    const NOW: Instant = Instant(1);

    /// The records of three stations with static routes: nodes 1, 2 and 3.
    fn records() -> Forwarding {
        let stations = ["sta0", "sta1", "sta2"].map(|name| (name.to_owned(), 0)).to_vec();
        let topology = Topology::new(&Members { stations, ad_hoc: true, ..Members::default() });
        let (held, visited) = (BTreeMap::new(), BTreeMap::new());
        Forwarding { topology: Arc::new(topology), is_static: true, held, visited }
    }

    /// A packet from node 1 to node 3.
    fn packet() -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 72, stream: 0 });
        Packet::new(NodeId(1), Some(NodeId(3)), Bytes(100), Instant::ZERO, body)
    }

    #[test]
    fn a_packet_over_two_hops_breaks_no_rule() {
        let mut records = records();
        records.on_sent(&packet());
        records.on_forwarded(NOW, NodeId(1), &packet());
        records.on_received(NOW, RadioId(2), &packet());
        records.on_served(NOW, RadioId(1), &packet(), MsduOutcome::Sent, true);
        records.on_forwarded(NOW, NodeId(2), &packet());
        records.on_received(NOW, RadioId(3), &packet());
        records.on_served(NOW, RadioId(2), &packet(), MsduOutcome::Sent, true);
        records.on_arrived(NOW, &packet());
        assert!(records.held.is_empty() && records.visited.is_empty());
    }

    #[test]
    #[should_panic(expected = "what is forwarded was received")]
    fn forwarding_what_was_not_received_is_found() {
        let mut records = records();
        records.on_sent(&packet());
        records.on_forwarded(NOW, NodeId(2), &packet());
    }

    #[test]
    #[should_panic(expected = "a packet lives no longer than its time to live")]
    fn forwarding_without_time_to_live_is_found() {
        let mut records = records();
        records.on_sent(&packet());
        records.on_forwarded(NOW, NodeId(1), &Packet { ttl: 0, ..packet() });
    }

    #[test]
    #[should_panic(expected = "a node passes on only what it has")]
    fn dropping_twice_is_found() {
        let mut records = records();
        records.on_sent(&packet());
        let at = Interface::Radio(RadioId(1));
        records.on_dropped(NOW, at, &packet());
        records.on_dropped(NOW, at, &packet());
    }

    #[test]
    #[should_panic(expected = "a route visits no node twice")]
    fn a_loop_is_found() {
        let mut records = records();
        records.on_sent(&packet());
        records.on_received(NOW, RadioId(2), &packet());
        records.on_received(NOW, RadioId(1), &packet());
    }
}
