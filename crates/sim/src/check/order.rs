//! Checks that the packets in service between two nodes are delivered in order and once.

use super::rule::rule;
use kernel::Instant;
use std::collections::{BTreeMap, VecDeque};
use wifi::MsduOutcome;
use wire::{Packet, TrafficClass};

/// Sender, receiver and class. A router may send copies of a packet to two neighbours, so that a
/// node receives equal packets from both.
type StreamKey = (u32, u32, TrafficClass);

/// Packets in service that have not been delivered by the receiving MAC yet, oldest first, and
/// whether a later one was delivered, so that they must not be. Copies of a packet that a router
/// sends again may be equal.
#[derive(Debug, Default)]
pub(super) struct Order(BTreeMap<StreamKey, VecDeque<(Packet, bool)>>);

impl Order {
    /// A node takes a packet into service for another.
    pub(super) fn on_taken(&mut self, from: u32, to: u32, packet: &Packet) {
        self.0.entry((from, to, packet.class)).or_default().push_back((*packet, false));
    }

    /// A node's MAC delivers a packet of another node. Earlier packets in service must not be
    /// delivered after it.
    pub(super) fn on_up(&mut self, now: Instant, (from, node): (u32, u32), packet: &Packet) {
        if packet.to.is_none() {
            return;
        }
        let waiting = self.0.get_mut(&(from, node, packet.class));
        let at =
            waiting.as_ref().and_then(|it| it.iter().position(|other| *other == (*packet, false)));
        rule(now, at.is_some(), "packets are delivered in order, and once", || {
            format!("node {from} to node {node}: {packet:?}")
        });
        if let (Some(waiting), Some(at)) = (waiting, at) {
            waiting.iter_mut().take(at).for_each(|(_, is_late)| *is_late = true);
            waiting.remove(at);
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
        let streams = self
            .0
            .range_mut((node, 0, TrafficClass::Background)..)
            .take_while(|((from, ..), _)| *from == node);
        for (_, waiting) in streams {
            let place = |is_late| waiting.iter().position(|other| *other == (*packet, is_late));
            // One that was passed over has not arrived; an equal one may wait for earlier ones.
            if let Some(at) = place(true).or_else(|| place(false)) {
                waiting.remove(at);
                return;
            }
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
            Body::Datagram(Datagram { flow: FlowId(0), number, len: 72 }),
        )
    }

    /// Packets 0 to 4 are in service from node 1 to node 0; the MAC of node 0 delivers these.
    fn up(numbers: &[u64]) -> Order {
        let mut order = Order::default();
        for number in 0..5 {
            order.on_taken(1, 0, &packet(number));
        }
        for &number in numbers {
            order.on_up(Instant(1), (1, 0), &packet(number));
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
        order.on_up(Instant(1), (1, 0), &packet(1));
    }

    #[test]
    #[should_panic(expected = "in order, and once")]
    fn one_at_the_wrong_node_is_found() {
        up(&[]).on_up(Instant(1), (1, 2), &packet(0));
    }

    #[test]
    fn of_equal_packets_the_one_that_was_passed_over_is_given_up() {
        let mut order = up(&[]);
        order.on_taken(1, 0, &packet(0));
        order.on_up(Instant(1), (1, 0), &packet(1));
        order.on_done(Instant(1), 1, &packet(0), MsduOutcome::RetryLimit, false);
        order.on_up(Instant(1), (1, 0), &packet(0));
    }

    #[test]
    fn equal_packets_of_two_nodes_are_two() {
        let mut order = up(&[]);
        order.on_taken(2, 0, &packet(1));
        order.on_taken(2, 0, &packet(0));
        order.on_up(Instant(1), (2, 0), &packet(0));
        order.on_up(Instant(1), (1, 0), &packet(0));
        order.on_up(Instant(1), (1, 0), &packet(1));
    }

    #[test]
    #[should_panic(expected = "an acknowledged packet has arrived")]
    fn an_acknowledgement_of_what_has_not_arrived_is_found() {
        up(&[]).on_done(Instant(1), 1, &packet(0), MsduOutcome::Sent, false);
    }
}
