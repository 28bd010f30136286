//! Dynamic source routing (RFC 4728): the source of a packet writes the whole route into it.
//!
//! Route Discovery finds routes on demand (`dsr/discovery.rs`, `dsr/replies.rs`), Route Maintenance
//! notices links that have failed (`dsr/maintenance.rs`), and a node learns from the packets of
//! others (`dsr/overhearing.rs`). Links are used in both directions, because the MAC acknowledges
//! frames. The MAC also reports links that have failed: the RFC's acknowledgements in the network
//! layer (section 3.4) are not implemented.

mod cache;
mod discovery;
mod flows;
mod header;
mod link_cache;
mod maintenance;
mod overhearing;
mod path_cache;
mod replies;
mod rules;
#[cfg(test)]
mod tests;

pub use path_cache::PathCacheConfig;
pub use rules::{CacheSettings, DsrConfig, NonPropagating, Preset};

use super::send_buffer::SendBuffer;
use super::{Command, Context, Deadlines, Protocol, RouteDrop, RouteNote, Router, Site};
use cache::RouteCache;
use discovery::{Discovery, SeenRequests};
use flows::Flows;
use kernel::{Bytes, Instant};
use maintenance::HeldError;
use overhearing::{Lists, Noticed, Shortened};
use replies::CachedReply;
use rules::Rules;
use std::collections::BTreeMap;
use wire::{Body, DsrMessage, Message, NodeId, Packet, PathId, Paths};

impl Protocol for DsrConfig {
    fn build(&self, site: &Site<'_>) -> Box<dyn Router> {
        Box::new(Dsr::new(site.node, self.rules()))
    }

    fn is_promiscuous(&self) -> bool {
        self.promiscuous
    }
}

/// The router of a node.
#[derive(Debug)]
struct Dsr {
    node: NodeId,
    rules: Rules,
    cache: Box<dyn RouteCache>,
    /// Packets that wait for a route.
    buffer: SendBuffer,
    /// By target: the Route Requests of this node that are not answered.
    discoveries: BTreeMap<NodeId, Discovery>,
    next_request: u16,
    seen: SeenRequests,
    /// Route Replies from the cache that wait for their turn.
    replies: usize,
    held_error: Option<HeldError>,
    /// Nodes that were told of the last link that has failed.
    told: Vec<NodeId>,
    noticed: Noticed,
    lists: Lists,
    shortened: Shortened,
    /// By destination: the route of the last own packet.
    used: BTreeMap<NodeId, PathId>,
    flows: Flows,
    /// Destinations to which there was a route, and is none since.
    lost: Vec<NodeId>,
    deadlines: Deadlines<Due>,
    /// When the send buffer is examined next.
    check_at: Option<Instant>,
    /// When it was examined last.
    checked: Option<Instant>,
}

/// What happens at a deadline.
#[derive(Debug)]
enum Due {
    /// A packet is sent whose transmission was delayed.
    Send(Packet),
    /// A Route Reply from the cache is sent.
    Reply(CachedReply),
    /// The send buffer is examined.
    Check,
}

impl Dsr {
    fn new(node: NodeId, rules: Rules) -> Self {
        Self {
            node,
            cache: rules.cache.build(node),
            buffer: SendBuffer::default(),
            discoveries: BTreeMap::new(),
            next_request: 0,
            seen: SeenRequests::default(),
            replies: 0,
            held_error: None,
            told: Vec::new(),
            noticed: Noticed::default(),
            lists: Lists::default(),
            shortened: Shortened::default(),
            used: BTreeMap::new(),
            flows: Flows::default(),
            lost: Vec::new(),
            deadlines: Deadlines::default(),
            check_at: None,
            checked: None,
            rules,
        }
    }

    /// Sends a packet of this node by the best known route, or keeps it until there is one.
    fn originate(&mut self, mut packet: Packet, context: &mut Context<'_>) {
        let to = context.exit(packet.to.expect("a broadcast needs no route"));
        let Some(path) = self.cache.find(context.now, to, true) else {
            return self.wait(packet, context);
        };
        // Mostly that of the last packet.
        let last = self.used.get(&to).filter(|&&last| context.paths.nodes(last) == path);
        let path = last.copied().unwrap_or_else(|| context.paths.intern(path));
        self.set_own_route(&mut packet, to, path, context);
        self.send_along(packet, context);
    }

    /// Gives a packet of this node its route.
    fn set_own_route(
        &mut self,
        packet: &mut Packet,
        to: NodeId,
        path: PathId,
        context: &mut Context<'_>,
    ) {
        self.note_route(to, path, context);
        let is_data = !matches!(packet.body, Body::Routing(_));
        let has_flow = self.rules.flow_state && is_data;
        let path = if has_flow { self.flows.take(context.now, path) } else { path };
        header::set_route(packet, Some(path), 0, context.paths);
    }

    /// Sends a packet to the node behind this one in its source route.
    fn send_along(&self, mut packet: Packet, context: &mut Context<'_>) {
        let next = packet.source_route.and_then(|path| {
            let path = context.paths.nodes(path);
            path.get(position(path, self.node)? + 1)
        });
        match next {
            Some(&next) => {
                packet.next = next;
                context.out.push(Command::Send(packet));
            }
            None => context.out.push(Command::Drop(packet, RouteDrop::NoRoute)),
        }
    }

    /// An intact packet with a source route has reached this node.
    fn on_routed(
        &mut self,
        from: NodeId,
        packet: &Packet,
        path: PathId,
        context: &mut Context<'_>,
    ) {
        self.notice(path, from, context);
        let is_end = context.paths.nodes(path).last() == Some(&self.node);
        match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Error(ref errors))) => {
                self.on_errors(errors.as_slice(), context);
            }
            Body::Routing(Message::Dsr(DsrMessage::Reply { path }))
                if self.rules.caches_forwarded_replies || is_end =>
            {
                self.on_reply(path, context);
            }
            _ => {}
        }
        if is_end {
            return self.deliver(*packet, context);
        }
        let packet = Packet { ttl: packet.ttl.saturating_sub(1), ..*packet };
        if packet.ttl == 0 {
            return context.out.push(Command::Drop(packet, RouteDrop::TimeToLive));
        }
        self.send_along(packet, context);
    }

    /// A packet is at the end of its route.
    fn deliver(&mut self, mut packet: Packet, context: &mut Context<'_>) {
        match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Error(ref errors))) => {
                self.end_error(errors, context);
            }
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
            Body::Segment(_) | Body::Datagram(_) | Body::Echo(_) | Body::Media(_) => {
                header::set_route(&mut packet, None, 0, context.paths);
                context.out.push(Command::Deliver(packet));
            }
        }
    }

    /// A packet of this node that carries a message.
    fn message(
        &self,
        to: Option<NodeId>,
        source_route: Option<PathId>,
        message: DsrMessage,
        context: &Context<'_>,
    ) -> Packet {
        let body = Body::Routing(Message::Dsr(message));
        let packet = Packet::new(self.node, to, Bytes::ZERO, context.now, body);
        let packet = Packet { source_route, ttl: u8::MAX, ..packet };
        Packet { size: header::message_size(&packet, &message, context.paths), ..packet }
    }

    /// Records the route that packets of this node take.
    fn note_route(&mut self, to: NodeId, path: PathId, context: &mut Context<'_>) {
        if self.used.insert(to, path) == Some(path) {
            return;
        }
        let hops = Some(hops(path, context.paths));
        context.out.push(Command::Note(RouteNote::Changed { destination: to, hops }));
        if let Some(place) = self.lost.iter().position(|&lost| lost == to) {
            self.lost.swap_remove(place);
            context.out.push(Command::Note(RouteNote::Restored { destination: to }));
        }
    }

    /// Links were removed: records the destinations to which there is no route any more.
    fn note_lost_routes(&mut self, context: &mut Context<'_>) {
        let (cache, lost, now) = (&mut self.cache, &mut self.lost, context.now);
        self.used.retain(|&to, _| {
            let has_route = cache.find(now, to, false).is_some();
            if !has_route {
                lost.push(to);
                let changed = RouteNote::Changed { destination: to, hops: None };
                context.out.push(Command::Note(changed));
                context.out.push(Command::Note(RouteNote::Failure { destination: to }));
            }
            has_route
        });
    }

    /// To be called at the end of each event.
    fn settle(&mut self, context: &mut Context<'_>) {
        self.set_check(context);
        self.deadlines.set_timer(context.out);
    }
}

impl Router for Dsr {
    fn on_packet(&mut self, packet: Packet, context: &mut Context<'_>) {
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
        match (packet.source_route, &packet.body) {
            (Some(path), _) => self.on_routed(from, packet, path, context),
            (None, Body::Routing(Message::Dsr(DsrMessage::Request { .. }))) => {
                self.on_request(*packet, context);
            }
            (None, _) => context.out.push(Command::Deliver(*packet)),
        }
        self.settle(context);
    }

    fn on_overheard(&mut self, from: NodeId, packet: &Packet, context: &mut Context<'_>) {
        self.overhear(from, packet, context);
        self.settle(context);
    }

    fn on_link_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        purged: bool,
        context: &mut Context<'_>,
    ) {
        let first = context.out.len();
        self.on_failure(neighbour, packet, purged, context);
        self.postpone(first, context);
        self.settle(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>) {
        self.deadlines.on_timer();
        while let Some(due) = self.deadlines.take(context.now) {
            match due {
                Due::Send(packet) if packet.to.is_none() => {
                    context.out.push(Command::Send(packet));
                }
                Due::Send(packet) => self.send_along(packet, context),
                Due::Reply(reply) => {
                    self.replies -= 1;
                    self.send_along(reply.packet, context);
                }
                Due::Check => {
                    self.check_at = None;
                    self.check_buffer(context);
                }
            }
        }
        self.settle(context);
    }

    fn hops(&self, destination: NodeId, paths: &Paths) -> Option<u8> {
        self.used.get(&destination).map(|&path| hops(path, paths))
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.each(visit);
        for due in self.deadlines.iter() {
            match due {
                Due::Send(packet) => visit(packet),
                Due::Reply(reply) => visit(&reply.packet),
                Due::Check => {}
            }
        }
    }
}

/// The place of a node in a path.
fn position(path: &[NodeId], node: NodeId) -> Option<usize> {
    path.iter().position(|&at| at == node)
}

/// The number of links of a path.
fn hops(path: PathId, paths: &Paths) -> u8 {
    (paths.nodes(path).len() - 1).try_into().unwrap_or(u8::MAX)
}

/// The path in the opposite direction.
fn reversed(path: &[NodeId]) -> Vec<NodeId> {
    path.iter().rev().copied().collect()
}
