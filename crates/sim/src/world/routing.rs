//! How a packet finds its way between nodes: over links, hop by hop, and through the cell.

use super::{ACCESS_POINT, Event, World};
use crate::flow::Transport;
use crate::meter::DropCause;
use net::{LinkTimer, Signal};
use wire::{Body, Ecn, Flags, NodeId, Packet};

impl World {
    fn server(&self) -> NodeId {
        NodeId(self.queues.len() as u32)
    }

    /// The node at which a node's packets wait: without a link the server sits at the access point.
    pub(super) fn home(&self, node: NodeId) -> NodeId {
        let apart = node != self.server() || self.network.has_server();
        if apart { node } else { ACCESS_POINT }
    }

    /// Forwards a packet from `node` towards its destination.
    pub(super) fn route(&mut self, node: NodeId, packet: Packet) {
        let node = self.home(self.bss.joined(node));
        if packet.to.is_some_and(|to| self.home(to) == node) {
            return self.arrive(&packet);
        }
        match self.next_wire(node, packet.to) {
            Some(wire) => self.transmit(wire, packet),
            None => self.enqueue(self.bss.gate(node, packet.to), packet),
        }
    }

    /// The direction of a link by which a packet leaves a node; `None` is the air.
    fn next_wire(&self, node: NodeId, to: Option<NodeId>) -> Option<usize> {
        let is_station = node > ACCESS_POINT && node < self.server();
        if is_station {
            return None;
        }
        self.network.hop(self.site(node), to.map_or(0, |to| self.site(self.home(to))))
    }

    /// The node's number in the wired network, in which the whole cell is the access point.
    fn site(&self, node: NodeId) -> usize {
        let stations = self.queues.len() - 1;
        (node.0 as usize).saturating_sub(stations)
    }

    /// Offers a packet to a link.
    fn transmit(&mut self, wire: usize, packet: Packet) {
        if let Some(checker) = &mut self.checker {
            checker.on_offered(wire);
        }
        let first = self.wire_out.len();
        self.wires[wire].on_packet(self.now, packet, &mut self.wire_out);
        self.settle_wire(wire, first);
    }

    pub(super) fn on_wire_timer(&mut self, wire: usize, timer: LinkTimer) {
        let first = self.wire_out.len();
        self.wires[wire].on_timer(self.now, timer, &mut self.wire_out);
        self.settle_wire(wire, first);
    }

    /// Carries out what a link asks for, which stands in the buffer from `first` on. A packet that
    /// is delivered may go on over another link, whose commands then stand behind these for a
    /// while: one buffer serves a way of any length.
    fn settle_wire(&mut self, wire: usize, first: usize) {
        let waiting = self.wires[wire].link().queue().len();
        self.meter.on_wire_queue(self.now, wire, waiting);
        for i in first..self.wire_out.len() {
            let near = self.near_ends[wire];
            match self.wire_out[i] {
                net::Command::Deliver(packet) => {
                    if let Some(checker) = &mut self.checker {
                        checker.on_passed(wire);
                    }
                    if self.is_listed(wire) {
                        self.digest.add(self.now.0 ^ packet.size.0 << 48 ^ (wire as u64) << 32);
                    }
                    self.route(self.near_ends[wire ^ 1], packet);
                }
                net::Command::Signal(Signal::Drop(packet)) => {
                    self.drop_on_wire(wire, &packet, DropCause::WireQueue);
                    self.starve(near, &packet);
                }
                net::Command::Signal(Signal::Mark(packet)) => {
                    self.meter.on_mark(None, packet.flow().0);
                }
                net::Command::Lost(packet) => {
                    self.drop_on_wire(wire, &packet, DropCause::WireLoss);
                }
                net::Command::Departed(packet) => self.refill(near, &packet),
                net::Command::Arrive(at) => {
                    self.agenda.at(at, Event::Wire(wire as u32, LinkTimer::Arrival));
                }
                net::Command::Ready(at) => {
                    self.agenda.at(at, Event::Wire(wire as u32, LinkTimer::Ready));
                }
            }
        }
        self.wire_out.truncate(first);
    }

    /// Whether a direction is one of `[[links]]`: what passes `[wire]` also passes the cell, where
    /// the digest takes note of it.
    fn is_listed(&self, wire: usize) -> bool {
        self.network.direction(wire).0.number.is_some()
    }

    fn drop_on_wire(&mut self, wire: usize, packet: &Packet, cause: DropCause) {
        if let Some(checker) = &mut self.checker {
            checker.on_passed(wire);
        }
        self.drop_packet(None, packet, cause);
    }

    pub(super) fn drop_packet(&mut self, node: Option<NodeId>, packet: &Packet, cause: DropCause) {
        self.meter.on_drop(node, packet.flow().0, cause);
        if let Some(checker) = &mut self.checker {
            checker.on_dropped(packet);
        }
    }

    /// A packet is where it was sent to.
    fn arrive(&mut self, packet: &Packet) {
        if let Some(checker) = &mut self.checker {
            checker.on_arrived(packet);
        }
        match &packet.body {
            Body::Segment(segment) => {
                if segment.len > 0 {
                    self.meter.on_delay(self.now, segment.flow.0, packet.born);
                }
                let mut segment = *segment;
                if packet.ecn == Ecn::Experienced {
                    segment.flags = segment.flags.and(Flags::CE);
                }
                self.on_segment(&segment);
            }
            Body::Datagram(datagram) => {
                self.meter.on_delay(self.now, datagram.flow.0, packet.born);
                self.meter.on_bytes(datagram.flow.0, packet.payload());
            }
        }
    }

    /// One of the cell's nodes has a broadcast; the flow counts each once, at the first node.
    pub(super) fn arrive_broadcast(&mut self, packet: &Packet) {
        let Body::Datagram(datagram) = packet.body else { return };
        let Transport::Udp(udp) = &mut self.flows[datagram.flow.0 as usize].transport else {
            return;
        };
        if udp.next_broadcast > datagram.number {
            return;
        }
        udp.next_broadcast = datagram.number + 1;
        self.arrive(packet);
    }
}
