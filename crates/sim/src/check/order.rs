//! Checks that the packets in service between two nodes are delivered in order and once.

use super::rule::rule;
use kernel::Instant;
use std::collections::{BTreeMap, VecDeque};
use wifi::MsduOutcome;
use wire::{Packet, TrafficClass};

/// Sender, receiver and class. A router may send copies of a packet to two neighbours, so that a
/// node receives equal packets from both.
type StreamKey = (u32, u32, TrafficClass);

/// The packets of a stream.
#[derive(Debug, Default)]
struct Stream {
    /// Packets in service that have not been delivered by the receiving MAC yet, oldest first, and
    /// whether a later one was delivered, so that they must not be.
    waiting: VecDeque<(Packet, bool)>,
    /// Packets that were given up before they arrived, while equal ones wait: a router may send
    /// copies of a packet again, and nothing tells which of them was given up.
    given_up: Vec<Packet>,
}

impl Stream {
    /// Whether more equal packets wait than were given up.
    fn expects(&self, packet: &Packet) -> bool {
        let waiting = self.waiting.iter().filter(|(other, _)| other == packet).count();
        let given_up = self.given_up.iter().filter(|&other| other == packet).count();
        waiting > given_up
    }

    /// Forgets equal packets of which all are given up.
    fn settle(&mut self, packet: &Packet) {
        if !self.given_up.is_empty() && !self.expects(packet) {
            self.waiting.retain(|(other, _)| other != packet);
            self.given_up.retain(|other| other != packet);
        }
    }
}

/// Checks the order of the packets of each stream.
#[derive(Debug, Default)]
pub(super) struct Order(BTreeMap<StreamKey, Stream>);

impl Order {
    /// A node takes a packet into service for another.
    pub(super) fn on_taken(&mut self, from: u32, to: u32, packet: &Packet) {
        let stream = self.0.entry((from, to, packet.class)).or_default();
        stream.waiting.push_back((*packet, false));
    }

    /// A node's MAC delivers a packet of another node. Earlier packets in service must not be
    /// delivered after it.
    pub(super) fn on_up(&mut self, now: Instant, from: u32, node: u32, packet: &Packet) {
        if packet.to.is_none() {
            return;
        }
        let stream = self.0.get_mut(&(from, node, packet.class));
        let at = stream
            .as_ref()
            .and_then(|it| it.waiting.iter().position(|other| *other == (*packet, false)));
        rule(now, at.is_some(), "packets are delivered in order, and once", || {
            format!("node {from} to node {node}: {packet:?}")
        });
        if let (Some(stream), Some(at)) = (stream, at) {
            stream.waiting.iter_mut().take(at).for_each(|(_, is_late)| *is_late = true);
            stream.waiting.remove(at);
            stream.settle(packet);
        }
    }

    /// The service of a packet has ended.
    pub(super) fn on_done(
        &mut self,
        now: Instant,
        node: u32,
        packet: &Packet,
        outcome: MsduOutcome,
        received: bool,
    ) {
        let is_true = received || outcome != MsduOutcome::Sent || packet.to.is_none();
        rule(now, is_true, "an acknowledged packet has arrived", || format!("{packet:?}"));
        if received {
            return;
        }
        let stream = self
            .0
            .range_mut((node, 0, TrafficClass::Background)..)
            .take_while(|((from, ..), _)| *from == node)
            .find(|(_, stream)| stream.expects(packet));
        if let Some((_, stream)) = stream {
            stream.given_up.push(*packet);
            stream.settle(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Bytes;
    use wire::{Body, Datagram, FlowId, NodeId};

    fn packet(number: u64) -> Packet {
        Packet::new(
            NodeId(1),
            Some(NodeId(0)),
            Bytes(100),
            Instant::ZERO,
            Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 }),
        )
    }

    /// Packets 0 to 4 are in service from node 1 to node 0; the MAC of node 0 delivers these.
    fn up(numbers: &[u64]) -> Order {
        let mut order = Order::default();
        for number in 0..5 {
            order.on_taken(1, 0, &packet(number));
        }
        for &number in numbers {
            order.on_up(Instant(1), 1, 0, &packet(number));
        }
        order
    }

    #[test]
    fn some_may_be_left_out() {
        let mut order = up(&[0, 2, 3]);
        order.on_done(Instant(1), 1, &packet(1), MsduOutcome::Lifetime, false);
        order.on_done(Instant(1), 1, &packet(3), MsduOutcome::RetryLimit, true);
    }

    #[test]
    #[should_panic(expected = "in order, and once")]
    fn one_that_comes_late_is_found() {
        up(&[0, 2, 1]);
    }

    #[test]
    #[should_panic(expected = "in order, and once")]
    fn one_that_comes_twice_is_found() {
        up(&[0, 1, 1]);
    }

    #[test]
    #[should_panic(expected = "in order, and once")]
    fn one_that_was_given_up_is_found() {
        let mut order = up(&[0]);
        order.on_done(Instant(1), 1, &packet(1), MsduOutcome::Lifetime, false);
        order.on_up(Instant(1), 1, 0, &packet(1));
    }

    #[test]
    #[should_panic(expected = "in order, and once")]
    fn one_at_the_wrong_node_is_found() {
        up(&[]).on_up(Instant(1), 1, 2, &packet(0));
    }

    /// Packets 0, 1, 2 and 0 again are in service, of which the last is given up while the others
    /// wait in the recipient's reorder buffer.
    #[test]
    fn of_equal_packets_the_later_one_may_be_given_up_first() {
        let mut order = Order::default();
        for number in [0, 1, 2, 0] {
            order.on_taken(1, 0, &packet(number));
        }
        order.on_done(Instant(1), 1, &packet(0), MsduOutcome::RetryLimit, false);
        for number in [0, 1, 2] {
            order.on_up(Instant(1), 1, 0, &packet(number));
        }
    }

    #[test]
    fn of_equal_packets_the_one_that_was_passed_over_is_given_up() {
        let mut order = up(&[]);
        order.on_taken(1, 0, &packet(0));
        order.on_up(Instant(1), 1, 0, &packet(1));
        order.on_done(Instant(1), 1, &packet(0), MsduOutcome::RetryLimit, false);
        order.on_up(Instant(1), 1, 0, &packet(0));
    }

    #[test]
    fn equal_packets_of_two_nodes_are_two() {
        let mut order = up(&[]);
        order.on_taken(2, 0, &packet(1));
        order.on_taken(2, 0, &packet(0));
        order.on_up(Instant(1), 2, 0, &packet(0));
        order.on_up(Instant(1), 1, 0, &packet(0));
        order.on_up(Instant(1), 1, 0, &packet(1));
    }

    #[test]
    #[should_panic(expected = "an acknowledged packet has arrived")]
    fn an_acknowledgement_of_what_has_not_arrived_is_found() {
        up(&[]).on_done(Instant(1), 1, &packet(0), MsduOutcome::Sent, false);
    }
}
