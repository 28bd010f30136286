//! How a packet finds its way between nodes: server, wire, access point, station.

use super::{ACCESS_POINT, Direction, Event, World};
use crate::flow::Transport;
use crate::meter::DropCause;
use net::Signal;
use wire::{Body, Ecn, Flags, NodeId, Packet};

impl World {
    fn server(&self) -> NodeId {
        NodeId(self.queues.len() as u32)
    }

    /// The node at which a node's packets wait: without a wire the server sits at the access point.
    pub(super) fn home(&self, node: NodeId) -> NodeId {
        if node == self.server() && self.wires.is_none() { ACCESS_POINT } else { node }
    }

    /// Forwards a packet from `node` towards its destination.
    pub(super) fn route(&mut self, node: NodeId, packet: Packet) {
        let server = self.server();
        let node = self.home(node);
        let at_access_point = node == ACCESS_POINT;
        match packet.to {
            Some(to) if to == node => self.arrive(&packet),
            _ if node == server => self.transmit(Direction::Down, packet),
            Some(to) if at_access_point && to == server => match self.wires {
                Some(_) => self.transmit(Direction::Up, packet),
                None => self.arrive(&packet),
            },
            _ => self.enqueue(node, packet),
        }
    }

    /// Offers a packet to the link to or from the server.
    fn transmit(&mut self, direction: Direction, packet: Packet) {
        let Some(wires) = &mut self.wires else { return };
        wires[direction as usize].on_packet(self.now, packet, &mut self.wire_out);
        self.settle_wire(direction);
    }

    pub(super) fn settle_wire(&mut self, direction: Direction) {
        let mut out = std::mem::take(&mut self.wire_out);
        for command in &out {
            match *command {
                net::Command::Deliver(packet) => {
                    let node = match direction {
                        Direction::Down => ACCESS_POINT,
                        Direction::Up => self.server(),
                    };
                    self.route(node, packet);
                }
                net::Command::Signal(Signal::Drop(packet)) => {
                    self.drop_packet(None, &packet, DropCause::WireQueue);
                }
                net::Command::Signal(Signal::Mark(packet)) => {
                    self.meter.on_mark(None, packet.flow().0);
                }
                net::Command::Lost(packet) => {
                    self.drop_packet(None, &packet, DropCause::WireLoss);
                }
                net::Command::Arrive(at) => {
                    self.agenda.at(at, Event::Wire(direction, net::LinkTimer::Arrival));
                }
                net::Command::Ready(at) => {
                    self.agenda.at(at, Event::Wire(direction, net::LinkTimer::Ready));
                }
            }
        }
        out.clear();
        self.wire_out = out;
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
