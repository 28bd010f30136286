//! The nodes of a run: where a packet goes that a node has, and the commands of nodes that forward
//! for others.

use super::{Event, World};
use crate::flow::Transport;
use crate::network::Network;
use crate::notice::{NodeNote, Notice, Observer};
use crate::topology::{ACCESS_POINT, Hop, Interface};
use crate::traffic;
use net::Node;
use net::node::{Command, Refill, Scope, TimerId};
use net::route::RouteNote;
use wire::{Body, DropCause, Ecn, Flags, Media, NodeId, Packet, Segment};

impl<O: Observer> World<O> {
    /// Forwards a packet that `node` has received. An access point is a bridge; every other node is
    /// a router, which takes one off the time to live (RFC 1812 section 5.3.1). A path over wires
    /// has no loop, and the time to live therefore discards nothing there.
    pub(super) fn pass_on(&mut self, node: NodeId, packet: &mut Packet) {
        let is_bridge = node == ACCESS_POINT && self.network.is_none();
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
                    if self.topology.has_wired_stations()
                        && let Some(to) = to.filter(|_| self.topology.radio(by).is_shared)
                    {
                        packet.next = self.topology.radio(to).node;
                    }
                    return match self.network {
                        None => self.enqueue(by, packet),
                        Some(_) => self.at_node(node, |it, scope| it.on_packet(*packet, scope)),
                    };
                }
                Hop::Inside(next) => node = next,
            }
        }
        self.arrive(packet);
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
            Body::Media(media) => self.on_media(*media),
            _ => {}
        }
        if let Body::Echo(echo) = packet.body
            && !echo.is_reply
        {
            self.on_request(echo.flow, packet);
        }
    }

    /// A packet of a conference has reached the other end. It is apart, so that runs without one
    /// have the code that they had.
    #[inline(never)]
    fn on_media(&mut self, Media { flow, kind, number, .. }: Media) {
        self.notify_source(flow, traffic::Event::Arrived { kind, number });
    }

    /// A node has received a broadcast. The flow counts each broadcast once, at the first node.
    pub(super) fn arrive_broadcast(&mut self, packet: &Packet) {
        let Body::Datagram(datagram) = packet.body else { return };
        let Transport::Udp(udp) = &mut self.flows[datagram.flow].transport else {
            return;
        };
        if udp.is_first(&datagram) {
            self.arrive(packet);
        }
    }

    pub(super) fn drop_packet(&mut self, at: Interface, packet: &Packet, cause: DropCause) {
        self.observers.on(self.now, &Notice::Dropped { at, packet, cause });
    }

    /// A packet is lost at an interface before it is sent.
    pub(super) fn lose(&mut self, at: Interface, packet: &Packet, cause: DropCause) {
        self.drop_packet(at, packet, cause);
        self.note_lost(self.topology.node_at(at), packet);
    }

    /// A packet that was lost before it was sent no longer counts at a node.
    pub(super) fn note_lost(&mut self, node: NodeId, packet: &Packet) {
        self.stock.on_dropped(node, packet);
        self.complete(node, packet);
    }

    /// Passes an event to a node that forwards, and executes its commands.
    pub(super) fn at_node(&mut self, node: NodeId, event: impl FnOnce(&mut Node, &mut Scope<'_>)) {
        let begins = self.ask_node(node, |it, scope| {
            event(it, scope);
            Some(it.begins())
        });
        if begins == Some(true) {
            while let Some(mut command) = self.ask_node(node, Node::next) {
                self.follow_node(node, &mut command);
            }
        }
    }

    /// Asks a node that forwards, and tells observers of the lists of nodes that are new.
    fn ask_node<T>(
        &mut self,
        node: NodeId,
        question: impl FnOnce(&mut Node, &mut Scope<'_>) -> Option<T>,
    ) -> Option<T> {
        let Network { nodes, shared, .. } = &mut **self.network.as_mut()?;
        let machine = nodes[node].as_mut()?;
        let known = shared.paths.len();
        let answer = question(machine, &mut Scope { now: self.now, shared });
        for (id, nodes) in shared.paths.since(known) {
            let note = NodeNote::Path { id, nodes };
            self.observers.on(self.now, &Notice::Node { node, note });
        }
        answer
    }

    pub(super) fn on_node_timer(&mut self, node: NodeId, timer: TimerId, generation: u32) {
        self.at_node(node, |it, scope| it.on_timer(timer, generation, scope));
    }

    /// Executes a command of a node.
    fn follow_node(&mut self, node: NodeId, command: &mut Command) {
        match *command {
            Command::Send { ref packet, is_new } => {
                if is_new {
                    self.note_forwarded(node, packet);
                }
                self.queue_for_neighbour(node, packet);
            }
            Command::Hold(ref packet) => self.note_forwarded(node, packet),
            Command::Deliver(ref packet) if packet.to.is_none() => self.arrive_broadcast(packet),
            Command::Deliver(ref mut packet) => self.pass_on(node, packet),
            Command::Drop { ref packet, cause, refill } => {
                self.drop_packet(Interface::Radio(self.routes.radio(node)), packet, cause);
                match refill {
                    Refill::Now => self.refill(node, packet),
                    Refill::Later => self.stock.on_dropped(node, packet),
                    Refill::Served => {}
                }
            }
            Command::Purge(neighbour) => self.purge(node, neighbour),
            Command::Schedule { timer, ticket } => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Node { node, timer, generation });
            }
            Command::Note(note) => self.on_route_note(node, note),
        }
    }

    fn note_forwarded(&mut self, node: NodeId, packet: &Packet) {
        let note = NodeNote::Forwarded(packet);
        self.observers.on(self.now, &Notice::Node { node, note });
    }

    /// Queues a packet at the radio of a node, which has a link to each neighbour from its first
    /// packet on.
    fn queue_for_neighbour(&mut self, node: NodeId, packet: &Packet) {
        let by = self.routes.radio(node);
        if let Some(network) = self.network.as_ref().filter(|_| packet.to.is_some()) {
            network.link(&mut self.cell, by, self.routes.radio(packet.next));
        }
        self.enqueue(by, packet);
    }

    /// Gives the packets that wait at a node's radio for a neighbour back to the node.
    fn purge(&mut self, node: NodeId, neighbour: NodeId) {
        let by = self.routes.radio(node);
        for packet in self.withdraw(by, neighbour) {
            self.observers.on(self.now, &Notice::Withdrawn { by, packet: &packet });
            self.at_node(node, |it, scope| it.on_returned(packet, scope));
        }
    }

    fn on_route_note(&mut self, node: NodeId, note: RouteNote) {
        let mut in_range = false;
        if let (RouteNote::LinkFailure { neighbour }, Some(network)) = (note, &self.network) {
            let [by, to] = [node, neighbour].map(|node| self.routes.radio(node));
            in_range = network.reaches(&mut self.cell, self.now, by, to);
        }
        let told = NodeNote::Route { note, in_range };
        self.observers.on(self.now, &Notice::Node { node, note: told });
        if let Some(destination) = note.destination_for_transports() {
            self.tell_senders(node, destination, &note);
        }
    }
}
