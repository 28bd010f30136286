//! Forwarding of packets between nodes: over links, hop by hop, and through the cell.

use super::{Event, World};
use crate::flow::Transport;
use crate::notice::{Notice, Observer};
use crate::topology::{ACCESS_POINT, Hop, Interface, WireId};
use net::{LinkTimer, Signal};
use wire::{Body, DropCause, Ecn, Flags, NodeId, Packet, Segment};

impl<O: Observer> World<O> {
    /// Forwards a packet that `node` has received. An access point is a bridge; every other node is
    /// a router, which takes one off the time to live (RFC 1812 section 5.3.1). A path over wires
    /// has no loop, and the time to live therefore discards nothing there.
    pub(super) fn pass_on(&mut self, node: NodeId, packet: &mut Packet) {
        let is_bridge = node == ACCESS_POINT && self.ad_hoc.is_none();
        if !is_bridge && packet.to != Some(node) {
            packet.ttl = packet.ttl.saturating_sub(1).max(1);
        }
        self.route(node, packet);
    }

    /// Forwards a packet from `node` towards its destination.
    pub(super) fn route(&mut self, mut node: NodeId, packet: &mut Packet) {
        while packet.to != Some(node) {
            let hop = self.routes.hop(node, packet.to);
            match hop.expect("the plan has no flow without a path") {
                Hop::Wire(wire) => return self.transmit(wire, packet),
                Hop::Air { by, to } => {
                    if self.has_wired_stations
                        && let Some(to) = to.filter(|_| self.topology.radio(by).is_shared)
                    {
                        packet.next = self.topology.radio(to).node;
                    }
                    return match self.ad_hoc {
                        None => self.enqueue(by, packet),
                        Some(_) => self.send_ad_hoc(node, *packet),
                    };
                }
                Hop::Inside(next) => node = next,
            }
        }
        self.arrive(packet);
    }

    /// Offers a packet to a link.
    fn transmit(&mut self, wire: WireId, packet: &Packet) {
        let at = Interface::Wire(wire);
        self.observers.on(self.now, &Notice::Queued { at, packet });
        self.wires[wire].on_packet(self.now, packet, self.wire_out.list());
        self.settle_wire(wire);
    }

    pub(super) fn on_wire_timer(&mut self, wire: WireId, timer: LinkTimer) {
        self.wires[wire].on_timer(self.now, timer, self.wire_out.list());
        self.settle_wire(wire);
    }

    /// Executes the commands of a link, which are in the outbox.
    fn settle_wire(&mut self, wire: WireId) {
        let at = Interface::Wire(wire);
        let packets = self.wires[wire].link().waiting();
        self.observers.on(self.now, &Notice::Waiting { at, packets });
        let Some(mut turn) = self.wire_out.begin(wire, ()) else { return };
        while let Some(((), command)) = self.wire_out.next(&mut turn) {
            match *command {
                net::Command::Deliver(ref mut packet) => {
                    self.observers.on(self.now, &Notice::Crossed { wire, packet });
                    self.pass_on(self.topology.wire(wire).to, packet);
                }
                net::Command::Signal(Signal::Drop(ref packet)) => {
                    self.drop_packet(at, packet, DropCause::Queue);
                    self.mark_short(self.topology.wire(wire).from, packet);
                    self.complete(self.topology.wire(wire).from, packet);
                }
                net::Command::Signal(Signal::Mark(ref packet, before)) => {
                    self.observers.on(self.now, &Notice::Marked { at, packet, before });
                }
                net::Command::Lost(ref packet) => {
                    self.drop_packet(at, packet, DropCause::WireLoss);
                }
                net::Command::Began(ref packet) => {
                    self.observers.on(self.now, &Notice::Began { wire, packet });
                }
                net::Command::Departed(ref packet) => {
                    self.refill(self.topology.wire(wire).from, packet);
                    self.complete(self.topology.wire(wire).from, packet);
                }
                net::Command::Arrive(at) => {
                    self.event_queue.at(at, Event::Wire(wire, LinkTimer::Arrival));
                }
                net::Command::Ready(at) => {
                    self.event_queue.at(at, Event::Wire(wire, LinkTimer::Ready));
                }
                net::Command::Hold(at) => {
                    self.event_queue.at(at, Event::Wire(wire, LinkTimer::Held));
                }
                net::Command::Complete(at) => {
                    self.event_queue.at(at, Event::Wire(wire, LinkTimer::Completion));
                }
            }
        }
    }

    pub(super) fn drop_packet(&mut self, at: Interface, packet: &Packet, cause: DropCause) {
        self.observers.on(self.now, &Notice::Dropped { at, packet, cause });
    }

    /// A packet has reached its destination.
    fn arrive(&mut self, packet: &Packet) {
        self.observers.on(self.now, &Notice::Arrived { packet });
        match &packet.body {
            Body::Segment(segment) if packet.ecn == Ecn::Experienced => {
                let flags = segment.flags.and(Flags::CE);
                self.on_segment(&Segment { flags, ..*segment });
            }
            Body::Segment(segment) => self.on_segment(segment),
            _ => {}
        }
        if let Body::Echo(echo) = packet.body
            && !echo.is_reply
        {
            self.on_request(packet, echo);
        }
    }

    /// A node of the cell has received a broadcast. The flow counts each broadcast once, at the
    /// first node.
    pub(super) fn arrive_broadcast(&mut self, packet: &Packet) {
        let Body::Datagram(datagram) = packet.body else { return };
        let Transport::Udp(udp) = &mut self.flows[datagram.flow].transport else {
            return;
        };
        if udp.last_broadcast.replace(datagram.number) == Some(datagram.number) {
            return;
        }
        self.arrive(packet);
    }
}
