//! Nodes of an ad-hoc network that forward: their routers, and the commands of routers.

use super::routers::{AdHoc, Cause, Member};
use super::{Event, World};
use crate::flow::{Side, Transport};
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::topology::{Interface, RadioId};
use kernel::{Fired, Instant};
use net::route::{Command, Context, RouteDrop, RouteNote, Router};
use tcp::Hint;
use wifi::MsduOutcome;
use wire::{Body, DropCause, NodeId, Packet};

/// A neighbour is in range if at least this fraction of the frames to it would arrive without
/// interference.
const IN_RANGE: f64 = 0.5;

impl<O: Observer> World<O> {
    /// A packet of a transport of this node, or from outside, is for a node of the ad-hoc network.
    pub(super) fn send_ad_hoc(&mut self, node: NodeId, packet: Packet) {
        self.ask_router(node, Cause::Sending, |router, context| router.on_packet(packet, context));
    }

    /// The radio of a node has received a packet.
    pub(super) fn receive_ad_hoc(&mut self, by: RadioId, from: RadioId, packet: Packet) {
        let [node, from] = [by, from].map(|radio| self.topology.radio(radio).node);
        if let Body::Arp(message) = packet.body {
            return self.on_arp_message(node, message);
        }
        self.ask_router(node, Cause::Other, |router, context| {
            router.on_received(from, packet, context);
        });
    }

    /// A radio has received a packet for another node.
    pub(super) fn overhear(&mut self, by: RadioId, from: u32, packet: &Packet) {
        if let Body::Arp(_) = packet.body {
            return;
        }
        let [node, from] = [by, RadioId(from)].map(|radio| self.topology.radio(radio).node);
        self.ask_router(node, Cause::Other, |router, context| {
            router.on_overheard(from, packet, context);
        });
    }

    /// The MAC has discarded a packet to a neighbour, which has it nevertheless if only its
    /// acknowledgements were lost.
    pub(super) fn fail_link(
        &mut self,
        by: RadioId,
        packet: &Packet,
        outcome: MsduOutcome,
        received: bool,
    ) {
        if received {
            self.observers.on(self.now, &Notice::Copied { packet });
        }
        let cause = match outcome {
            MsduOutcome::Lifetime => Cause::Lifetime,
            _ => Cause::RetryLimit,
        };
        let (node, neighbour) = (self.topology.radio(by).node, packet.next);
        if let Body::Arp(_) = packet.body {
            let lost =
                if cause == Cause::Lifetime { DropCause::Lifetime } else { DropCause::RetryLimit };
            return self.drop_packet(Interface::Radio(by), packet, lost);
        }
        self.ask_router(node, cause, |router, context| {
            router.on_link_failure(neighbour, *packet, false, context);
        });
    }

    pub(super) fn on_route_timer(&mut self, node: NodeId, generation: u32) {
        let Some(member) = self.member(node) else { return };
        match member.timer.fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Route { node, generation });
            }
            Fired::Due => {
                self.ask_router(node, Cause::Other, |router, context| router.on_timer(context));
            }
        }
    }

    pub(super) fn member(&mut self, node: NodeId) -> Option<&mut Member> {
        self.ad_hoc.as_mut()?.members[node].as_mut()
    }

    /// Passes an event to a router and executes its commands.
    pub(super) fn ask_router(
        &mut self,
        node: NodeId,
        cause: Cause,
        event: impl FnOnce(&mut dyn Router, &mut Context<'_>),
    ) {
        let Some(ad_hoc) = &mut self.ad_hoc else { return };
        let AdHoc { members, paths, exits, out, .. } = &mut **ad_hoc;
        let Some(member) = &mut members[node] else { return };
        let known = paths.len();
        let list = out.list();
        let mut context = Context { now: self.now, paths, rng: &mut member.rng, exits, out: list };
        event(&mut *member.router, &mut context);
        let turn = out.begin(node, cause);
        for (id, nodes) in paths.since(known) {
            self.observers.on(self.now, &Notice::Path { id, nodes });
        }
        let Some(mut turn) = turn else { return };
        while let Some(ad_hoc) = &mut self.ad_hoc
            && let Some((cause, command)) = ad_hoc.out.next(&mut turn)
        {
            self.follow(node, cause, command);
        }
    }

    /// Executes a command of a router.
    fn follow(&mut self, node: NodeId, cause: Cause, command: &mut Command) {
        match *command {
            Command::Send(ref packet) => self.forward(node, packet),
            Command::Deliver(ref packet) if packet.to.is_none() => self.arrive_broadcast(packet),
            Command::Deliver(ref mut packet) => self.pass_on(node, packet),
            Command::Drop(ref packet, why) => self.drop_unrouted(node, cause, packet, why),
            Command::Purge(neighbour) => self.purge(node, neighbour),
            Command::SetTimer(at) => {
                let ticket = self.member(node).and_then(|member| member.timer.set(at));
                if let Some(ticket) = ticket {
                    let generation = ticket.generation;
                    self.event_queue.at(ticket.at, Event::Route { node, generation });
                }
            }
            Command::CancelTimer => {
                if let Some(member) = self.member(node) {
                    member.timer.cancel();
                }
            }
            Command::Note(note) => self.on_route_note(node, note),
        }
    }

    /// The router of a node passes a packet to its radio.
    fn forward(&mut self, node: NodeId, packet: &Packet) {
        self.observers.on(self.now, &Notice::Forwarded { node, packet });
        if self.needs_address(packet) {
            self.resolve(node, packet);
        } else {
            self.queue_for_neighbour(node, packet);
        }
    }

    /// Queues a packet at the radio of a node.
    pub(super) fn queue_for_neighbour(&mut self, node: NodeId, packet: &Packet) {
        let by = self.routes.radio(node);
        if packet.to.is_some() {
            self.link(by, self.routes.radio(packet.next));
        }
        self.enqueue(by, packet);
    }

    /// Adds the link between two radios, unless there is one.
    fn link(&mut self, by: RadioId, to: RadioId) {
        let (Medium::Space(space), Some(ad_hoc)) = (&mut self.cell, &self.ad_hoc) else { return };
        if space.mode(by.0, to.0).is_none() {
            ad_hoc.links.add(space, by.0, to.0);
        }
    }

    fn drop_unrouted(&mut self, node: NodeId, cause: Cause, packet: &Packet, why: RouteDrop) {
        let lost = match (why, cause) {
            (RouteDrop::SalvageFailed | RouteDrop::Message, Cause::RetryLimit) => {
                DropCause::RetryLimit
            }
            (RouteDrop::SalvageFailed | RouteDrop::Message, Cause::Lifetime) => DropCause::Lifetime,
            (RouteDrop::SalvageFailed | RouteDrop::Message, Cause::Unresolved { .. }) => {
                DropCause::Unresolved
            }
            (RouteDrop::NoRoute, _) => DropCause::NoRoute,
            (RouteDrop::SendBufferFull | RouteDrop::SendBufferTimeout, _) => DropCause::SendBuffer,
            (RouteDrop::TimeToLive, _) => DropCause::TimeToLive,
            (RouteDrop::SalvageFailed, _) => DropCause::SalvageFailed,
            (RouteDrop::Message, _) => DropCause::RoutingMessage,
        };
        self.drop_packet(Interface::Radio(self.routes.radio(node)), packet, lost);
        match cause {
            // If the source sent another packet now, the router would drop it as well, and so on.
            Cause::Sending | Cause::Unresolved { at_once: true } => self.mark_short(node, packet),
            Cause::Other | Cause::Unresolved { at_once: false } => self.refill(node, packet),
            // The end of the packet's service lets the source send another.
            Cause::RetryLimit | Cause::Lifetime => {}
        }
    }

    /// A packet that was popped from the queue of a radio has left it.
    pub(super) fn release(&mut self, by: RadioId, packet: &Packet) {
        self.queues[by].release(self.now, packet, self.signals.list());
        self.settle_signals(by);
    }

    /// Removes and returns the packets that wait at a radio for a node.
    pub(super) fn withdraw(&mut self, by: RadioId, to: NodeId) -> Vec<Packet> {
        let mut waiting = Vec::new();
        let queue = &mut self.queues[by];
        queue.withdraw(self.now, to, &mut waiting, self.signals.list());
        self.settle_signals(by);
        self.note_queue(by);
        waiting
    }

    /// Gives the packets that wait at a node for a neighbour back to its router.
    fn purge(&mut self, node: NodeId, neighbour: NodeId) {
        let by = self.routes.radio(node);
        let waiting = self.withdraw(by, neighbour);
        for packet in waiting {
            self.observers.on(self.now, &Notice::Withdrawn { by, packet: &packet });
            if let Body::Arp(_) = packet.body {
                let at = Interface::Radio(by);
                self.drop_packet(at, &packet, DropCause::SalvageFailed);
                continue;
            }
            self.ask_router(node, Cause::Other, |router, context| {
                router.on_link_failure(neighbour, packet, true, context);
            });
        }
    }

    fn on_route_note(&mut self, node: NodeId, note: RouteNote) {
        let mut in_range = false;
        if let (RouteNote::LinkFailure { neighbour }, Medium::Space(space), Some(ad_hoc)) =
            (note, &mut self.cell, &self.ad_hoc)
        {
            let (from, to) = (self.routes.radio(node).0, self.routes.radio(neighbour).0);
            in_range = ad_hoc.links.success(space, self.now, from, to) >= IN_RANGE;
        }
        self.observers.on(self.now, &Notice::Route { node, note, in_range });
        match note {
            RouteNote::Changed { destination, hops: Some(hops) } => {
                self.tell_senders(node, destination, |sender, now, _| {
                    sender.on_hint(now, Hint::RouteHops(hops));
                });
            }
            RouteNote::Failure { destination } => {
                self.tell_senders(node, destination, |sender, now, out| {
                    sender.on_route(now, false, out);
                });
            }
            RouteNote::Restored { destination } => {
                self.tell_senders(node, destination, |sender, now, out| {
                    sender.on_route(now, true, out);
                });
            }
            _ => {}
        }
    }

    /// Passes a note of a node's router to the senders of this node whose packets take the route to
    /// this destination.
    fn tell_senders(
        &mut self,
        node: NodeId,
        destination: NodeId,
        tell: impl Fn(&mut tcp::Sender, Instant, &mut Vec<tcp::Command>),
    ) {
        for id in self.flows.ids() {
            let (Some(ad_hoc), flow) = (&self.ad_hoc, &mut self.flows[id]) else { return };
            let exit = flow.to.map(|to| ad_hoc.exits[to]);
            if flow.from != node || exit != Some(destination) {
                continue;
            }
            if let Transport::Tcp(tcp) = &mut flow.transport {
                tell(&mut tcp.sender, self.now, self.tcp_out.list());
                self.observers.on(self.now, &Notice::Sender { flow: id, sender: &tcp.sender });
                self.settle_tcp(id, Side::Sender);
            }
        }
    }

    /// Tells each sender the number of hops to its receiver, if a route is known before the run.
    pub(super) fn hint_hops(&mut self) {
        let Some(ad_hoc) = &self.ad_hoc else { return };
        for flow in &mut self.flows {
            let hops = flow.to.and_then(|to| ad_hoc.hops(flow.from, to));
            if let (Some(hops), Transport::Tcp(tcp)) = (hops, &mut flow.transport) {
                tcp.sender.on_hint(self.now, Hint::RouteHops(hops));
            }
        }
    }
}
