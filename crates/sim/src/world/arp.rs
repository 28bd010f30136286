//! Address resolution of the nodes of an ad-hoc network, and its commands.

use super::routers::{AdHoc, Cause, Resolver};
use super::{Event, World};
use crate::notice::{Notice, Observer};
use crate::topology::Interface;
use kernel::{Fired, Instant};
use net::{Arp, ArpCommand};
use wire::{ArpMessage, DropCause, NodeId, Packet};

impl<O: Observer> World<O> {
    /// Whether a packet waits until the MAC address of its next hop is known.
    pub(super) fn needs_address(&self, packet: &Packet) -> bool {
        packet.to.is_some() && self.ad_hoc.as_ref().is_some_and(|ad_hoc| ad_hoc.resolves)
    }

    /// The router of a node sends a packet to a neighbour whose address may be unknown.
    pub(super) fn resolve(&mut self, node: NodeId, packet: &Packet) {
        let now = self.now;
        if self.resolver(node).is_some_and(|resolver| resolver.arp.knows(packet.next, now)) {
            return self.send_resolved(node, packet);
        }
        let how = Cause::Unresolved { at_once: true };
        self.ask_arp(node, how, |arp, now, out| arp.on_packet(*packet, now, out));
    }

    /// A node has received a message of ARP.
    pub(super) fn on_arp_message(&mut self, node: NodeId, message: ArpMessage) {
        let how = Cause::Unresolved { at_once: false };
        self.ask_arp(node, how, |arp, now, out| arp.on_message(message, now, out));
    }

    pub(super) fn on_arp_timer(&mut self, node: NodeId, generation: u32) {
        let Some(resolver) = self.resolver(node) else { return };
        match resolver.timer.fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Arp { node, generation });
            }
            Fired::Due => {
                let how = Cause::Unresolved { at_once: false };
                self.ask_arp(node, how, Arp::on_timer);
            }
        }
    }

    fn resolver(&mut self, node: NodeId) -> Option<&mut Resolver> {
        self.member(node)?.resolver.as_deref_mut()
    }

    /// A packet is sent that needs no address, or whose address is known.
    fn send_resolved(&mut self, node: NodeId, packet: &Packet) {
        if packet.flow().is_none() && packet.from == node {
            self.observers.on(self.now, &Notice::Forwarded { node, packet });
        }
        self.queue_for_neighbour(node, packet);
    }

    /// Passes an event to the address resolution of a node and executes its commands.
    fn ask_arp(
        &mut self,
        node: NodeId,
        cause: Cause,
        event: impl FnOnce(&mut Arp, Instant, &mut Vec<ArpCommand>),
    ) {
        let Some(ad_hoc) = &mut self.ad_hoc else { return };
        let AdHoc { members, arp_out, .. } = &mut **ad_hoc;
        let member = members[node].as_mut();
        let Some(resolver) = member.and_then(|it| it.resolver.as_mut()) else { return };
        event(&mut resolver.arp, self.now, arp_out.list());
        let Some(mut turn) = arp_out.begin(node, cause) else { return };
        while let Some(ad_hoc) = &mut self.ad_hoc
            && let Some((cause, command)) = ad_hoc.arp_out.next(&mut turn)
        {
            match *command {
                ArpCommand::Send(ref packet) => self.send_resolved(node, packet),
                ArpCommand::Drop(packet) => {
                    let at = Interface::Radio(self.routes.radio(node));
                    self.drop_packet(at, &packet, DropCause::Unresolved);
                    self.mark_short(node, &packet);
                }
                ArpCommand::Fail(packet) => {
                    let neighbour = packet.next;
                    self.ask_router(node, cause, |router, context| {
                        router.on_link_failure(neighbour, packet, false, context);
                    });
                }
                ArpCommand::SetTimer(at) => {
                    let ticket = self.resolver(node).and_then(|resolver| resolver.timer.set(at));
                    if let Some(ticket) = ticket {
                        let generation = ticket.generation;
                        self.event_queue.at(ticket.at, Event::Arp { node, generation });
                    }
                }
            }
        }
    }
}
