//! Ad hoc on-demand distance vector routing (RFC 3561): nodes keep the next hop to each
//! destination, and sequence numbers of the destinations prevent loops.
//!
//! `aodv/table.rs` has the routes and the rules of sequence numbers, `aodv/discovery.rs` Route
//! Requests at the originator, `aodv/replies.rs` Route Requests and Route Replies at other nodes,
//! `aodv/errors.rs` links that have failed and local repair, `aodv/hello.rs` Hello messages. Of the
//! RFC's optional parts, multicast, subnets, the blacklist and Route Reply Acknowledgments for
//! links in one direction (sections 6.8 and 6.9) and the N flag of Route Errors, which only informs
//! the originator, are not implemented.

mod discovery;
mod errors;
mod hello;
mod replies;
mod rules;
mod table;
#[cfg(test)]
mod tests;

pub use rules::{AodvConfig, AodvPreset};

use super::send_buffer::SendBuffer;
use super::{Command, Context, Deadlines, Protocol, RouteDrop, RouteNote, Router, Site, jitter};
use discovery::{Discovery, RateLimit};
use hello::Hello;
use kernel::{Bytes, Duration, Instant, Rng};
use rules::{RATE_LIMIT_PER_S, Rules};
use std::collections::BTreeMap;
use table::Table;
use wire::{AodvMessage, Body, Message, NodeId, Packet, Paths};

impl Protocol for AodvConfig {
    fn build(&self, site: &Site<'_>) -> Box<dyn Router> {
        Box::new(Aodv::new(site.node, self.rules()))
    }
}

/// The router of a node.
#[derive(Debug)]
struct Aodv {
    node: NodeId,
    rules: Rules,
    /// The sequence number of this node.
    sequence: u32,
    table: Table,
    next_request: u32,
    /// Route Requests that this node has received or sent, by originator and identifier, until when
    /// they are ignored.
    seen: BTreeMap<(NodeId, u32), Instant>,
    /// Packets that wait for a route.
    buffer: SendBuffer,
    /// By destination: the Route Requests of this node that are not answered.
    discoveries: BTreeMap<NodeId, Discovery>,
    requests: RateLimit,
    errors: RateLimit,
    hello: Hello,
    /// By destination: next hop and number of hops of the last own packet.
    used: BTreeMap<NodeId, (NodeId, u8)>,
    /// Destinations to which there was a route, and is none since.
    lost: Vec<NodeId>,
    deadlines: Deadlines<Due>,
}

/// What happens at a deadline.
#[derive(Debug)]
enum Due {
    /// A broadcast is sent whose transmission was delayed.
    Send(Packet),
    /// A Route Request is repeated, or given up.
    Request(NodeId),
    /// Packets that have waited too long for a route are dropped.
    Expire,
    /// A Hello message is due, and neighbours are checked.
    Hello,
}

impl Aodv {
    fn new(node: NodeId, rules: Rules) -> Self {
        Self {
            node,
            sequence: 0,
            table: Table::new(rules.delete_period),
            next_request: 0,
            seen: BTreeMap::new(),
            buffer: SendBuffer::default(),
            discoveries: BTreeMap::new(),
            requests: RateLimit::new(RATE_LIMIT_PER_S),
            errors: RateLimit::new(RATE_LIMIT_PER_S),
            hello: Hello::default(),
            used: BTreeMap::new(),
            lost: Vec::new(),
            deadlines: Deadlines::default(),
            rules,
        }
    }

    /// Sends a packet of this node by its route, or keeps it until there is one.
    fn originate(&mut self, mut packet: Packet, context: &mut Context<'_>) {
        let to = context.exit(packet.to.expect("a broadcast needs no route"));
        let Some((next, hops)) = self.active(to, context.now) else {
            return self.wait(packet, to, context);
        };
        self.note_route(to, (next, hops), context);
        self.refresh(to, next, context.now);
        packet.next = next;
        context.out.push(Command::Send(packet));
    }

    /// Sends on a packet of another node (section 6.2).
    fn forward(&mut self, from: NodeId, mut packet: Packet, context: &mut Context<'_>) {
        // RFC 1812 section 5.3.1.
        packet.ttl = packet.ttl.saturating_sub(1);
        if packet.ttl == 0 {
            return context.out.push(Command::Drop(packet, RouteDrop::TimeToLive));
        }
        let to = context.exit(packet.to.expect("a broadcast is not forwarded"));
        let now = context.now;
        if let Some((next, _)) = self.active(to, now) {
            self.refresh(to, next, now);
            self.refresh(context.exit(packet.from), from, now);
            packet.next = next;
            return context.out.push(Command::Send(packet));
        }
        if self.is_repairing(to) {
            return self.hold(packet, to, context);
        }
        context.out.push(Command::Drop(packet, RouteDrop::NoRoute));
        self.report_missing(to, from, context);
    }

    /// Next hop and number of hops of an active route.
    fn active(&mut self, to: NodeId, now: Instant) -> Option<(NodeId, u8)> {
        let route = self.table.get(to, now)?;
        route.is_valid.then_some((route.next, route.hops))
    }

    /// A packet uses the route to a node: the route, and that to its next hop, last longer.
    fn refresh(&mut self, to: NodeId, next: NodeId, now: Instant) {
        let until = now + self.rules.active_route_timeout;
        for node in [to, next] {
            self.table.extend(node, until, now);
        }
    }

    /// A packet that carries a message, to a neighbour or to all.
    fn message(&self, to: Option<NodeId>, message: AodvMessage, context: &Context<'_>) -> Packet {
        // 20 bytes of IP and 8 of UDP.
        let size = Bytes(28 + message.size());
        let body = Body::Routing(Message::Aodv(message));
        Packet { ttl: 1, ..Packet::new(self.node, to, size, context.now, body) }
    }

    /// Sends a broadcast after a random delay up to `most`, because other nodes may have the same
    /// cause to broadcast at the same time. Returns when it is sent.
    fn broadcast(&mut self, packet: Packet, most: Duration, context: &mut Context<'_>) -> Instant {
        let at = context.now + delay(most, context.rng);
        if at == context.now {
            context.out.push(Command::Send(packet));
        } else {
            self.deadlines.add(at, Due::Send(packet));
        }
        at
    }

    /// Records the route that packets of this node take.
    fn note_route(&mut self, to: NodeId, route: (NodeId, u8), context: &mut Context<'_>) {
        if self.used.insert(to, route) == Some(route) {
            return;
        }
        let hops = Some(route.1);
        context.out.push(Command::Note(RouteNote::Changed { destination: to, hops }));
        if let Some(place) = self.lost.iter().position(|&lost| lost == to) {
            self.lost.swap_remove(place);
            context.out.push(Command::Note(RouteNote::Restored { destination: to }));
        }
    }

    /// The route to a destination has become invalid.
    fn note_lost_route(&mut self, to: NodeId, context: &mut Context<'_>) {
        if self.used.remove(&to).is_some() {
            self.lost.push(to);
            let changed = RouteNote::Changed { destination: to, hops: None };
            context.out.push(Command::Note(changed));
            context.out.push(Command::Note(RouteNote::Failure { destination: to }));
        }
    }

    /// To be called at the end of each event.
    fn settle(&mut self, context: &mut Context<'_>) {
        self.deadlines.set_timer(context.out);
    }
}

/// A random delay up to `most`. Without jitter nothing is drawn.
fn delay(most: Duration, rng: &mut Rng) -> Duration {
    if most == Duration::ZERO { most } else { jitter(most, rng) }
}

impl Router for Aodv {
    fn on_packet(&mut self, packet: Packet, context: &mut Context<'_>) {
        self.begin_hello(context);
        match packet.to {
            None => context.out.push(Command::Send(packet)),
            Some(to) if context.exit(to) == self.node => {
                context.out.push(Command::Deliver(packet));
            }
            Some(_) => self.originate(packet, context),
        }
        self.settle(context);
    }

    fn on_received(&mut self, from: NodeId, packet: &Packet, context: &mut Context<'_>) {
        self.begin_hello(context);
        self.hear(from, context.now);
        match packet.body {
            Body::Routing(Message::Aodv(AodvMessage::Request(request))) => {
                self.on_request(from, request, packet.ttl, context);
            }
            Body::Routing(Message::Aodv(AodvMessage::Reply(reply))) => {
                self.on_reply(from, reply, context);
            }
            Body::Routing(Message::Aodv(AodvMessage::Error(errors))) => {
                self.on_error(from, errors.as_slice(), context);
            }
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
            Body::Segment(_) | Body::Datagram(_) | Body::Echo(_) | Body::Media(_) => {
                match packet.to {
                    Some(to) if context.exit(to) != self.node => {
                        self.forward(from, *packet, context);
                    }
                    _ => {
                        self.refresh(context.exit(packet.from), from, context.now);
                        context.out.push(Command::Deliver(*packet));
                    }
                }
            }
        }
        self.settle(context);
    }

    fn on_link_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        purged: bool,
        context: &mut Context<'_>,
    ) {
        self.on_failure(neighbour, packet, purged, context);
        self.settle(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.deadlines.on_timer();
        while let Some(due) = self.deadlines.take(context.now) {
            match due {
                Due::Send(packet) => context.out.push(Command::Send(packet)),
                Due::Request(to) => self.on_request_timeout(to, context),
                Due::Expire => self.expire(context),
                Due::Hello => self.on_hello_due(context),
            }
        }
        self.settle(context);
    }

    fn hops(&self, destination: NodeId, _paths: &Paths) -> Option<u8> {
        self.used.get(&destination).map(|&(_, hops)| hops)
    }

    fn next_hop(&self, destination: NodeId, now: Instant) -> Option<NodeId> {
        self.table.next_hop(destination, now)
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.each(visit);
        for due in self.deadlines.iter() {
            if let Due::Send(packet) = due {
                visit(packet);
            }
        }
    }
}
