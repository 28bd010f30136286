//! Route Requests at the nodes that receive them, and Route Replies (RFC 4728 sections 8.2.2 to
//! 8.2.6).

use super::discovery::Requested;
use super::rules::REQUEST_TABLE;
use super::{Dsr, Due, header, position, reversed};
use crate::route::{Command, Context, jitter};
use wire::{Body, DsrMessage, Message, NodeId, Packet, PathId};

/// A Route Reply from the cache that waits for its turn (RFC 4728 section 3.3.2).
#[derive(Debug)]
pub(super) struct CachedReply {
    /// The packet, which knows its initiator.
    pub packet: Packet,
    /// The target of the Route Request.
    pub target: NodeId,
    /// The length of the route that it tells, in nodes.
    pub nodes: usize,
}

impl Dsr {
    /// A Route Request has reached this node.
    pub(super) fn on_request(&mut self, packet: Packet, context: &mut Context<'_>) {
        let Body::Routing(Message::Dsr(DsrMessage::Request { id, target, path, error })) =
            packet.body
        else {
            return;
        };
        if let Some(error) = error {
            self.on_errors(&[error], context);
        }
        let mut nodes = context.paths.nodes(path).to_vec();
        if position(&nodes, self.node).is_some() {
            return;
        }
        nodes.push(self.node);
        if self.rules.reverse_routes {
            self.learn(&reversed(&nodes), false, context);
        }
        let (most_nodes, most_ids) = REQUEST_TABLE;
        let is_new = self.seen.insert(packet.from, Requested { id, target }, most_nodes, most_ids);
        if target == self.node {
            if (is_new || self.rules.same.reply_to_each_copy)
                && nodes.len() - 1 <= self.rules.route_hops
            {
                let reply = self.reply(&nodes, &nodes, context);
                self.send_later(reply, context);
            }
            return;
        }
        if !is_new || (self.rules.same.reply_from_cache && self.answer(target, &nodes, context)) {
            return;
        }
        // The target will be one hop further.
        if packet.ttl > 1 && nodes.len() <= self.rules.route_hops {
            let path = context.paths.intern(&nodes);
            let message = DsrMessage::Request { id, target, path, error };
            let mut request = self.message(None, None, message, context);
            (request.from, request.ttl) = (packet.from, packet.ttl - 1);
            request.born = packet.born;
            if self.rules.growing_requests {
                request.size += packet.size - header::IP;
            }
            self.send_later(request, context);
        }
    }

    /// Answers a request that has come over this path, this node included, from the cache; returns
    /// whether there is an answer.
    fn answer(&mut self, target: NodeId, path: &[NodeId], context: &mut Context<'_>) -> bool {
        let Some(rest) = self.cache.find(context.now, target, false) else { return false };
        // Section 8.2.3: no node may be in the route twice.
        if rest[1..].iter().any(|&node| position(path, node).is_some()) {
            return false;
        }
        let route = [path, &rest[1..]].concat();
        if route.len() - 1 > self.rules.route_hops {
            return false;
        }
        let packet = self.reply(&route, path, context);
        let unit = self.rules.cached_reply_delay;
        // d = H (h - 1 + r), where h is the number of hops of the route and r is random.
        let delay = unit * (route.len() as u64 - 2) + jitter(unit, context.rng);
        let reply = CachedReply { packet, target, nodes: route.len() };
        self.replies += 1;
        self.deadlines.add(context.now + delay, Due::Reply(reply));
        true
    }

    /// A Route Reply with this route, which goes back over the path on which the request has come.
    fn reply(&mut self, route: &[NodeId], path: &[NodeId], context: &mut Context<'_>) -> Packet {
        let back = reversed(path);
        self.learn(&back, true, context);
        let message = DsrMessage::Reply { path: context.paths.intern(route) };
        self.send_back(&back, message, context)
    }

    /// A packet with a message that goes over this path, which begins at this node.
    pub(super) fn send_back(
        &self,
        path: &[NodeId],
        message: DsrMessage,
        context: &mut Context<'_>,
    ) -> Packet {
        let source_route = context.paths.intern(path);
        self.message(path.last().copied(), Some(source_route), message, context)
    }

    /// A Route Reply has reached this node, at its end or on its way.
    pub(super) fn on_reply(&mut self, path: PathId, context: &mut Context<'_>) {
        let route = context.paths.nodes(path).to_vec();
        let Some(place) = position(&route, self.node) else { return };
        self.learn(&route[place..], place == 0, context);
        if place == 0 {
            self.release(self.rules.send_buffer_gap, context);
            // A later request begins with the shortest delay again.
            if let Some(target) = route.last() {
                self.discoveries.remove(target);
            }
        }
    }

    /// Stores a route that begins at this node: `wanted` is whether this node has asked for it.
    pub(super) fn learn(&mut self, path: &[NodeId], wanted: bool, context: &mut Context<'_>) {
        if path.len() < 2 || path.len() - 1 > self.rules.route_hops {
            return;
        }
        if wanted {
            self.cache.add(context.now, path);
        } else {
            self.cache.notice(context.now, path);
        }
    }

    /// The initiator of a request uses this route: a reply that waits at this node and tells no
    /// shorter one is of no use.
    pub(super) fn cancel_replies(&mut self, path: &[NodeId]) {
        let (initiator, target) = (path.first().copied(), path.last().copied());
        let is_useless = |due: &Due| {
            matches!(due, Due::Reply(reply) if reply.packet.to == initiator
                && Some(reply.target) == target && path.len() <= reply.nodes)
        };
        while self.deadlines.remove(is_useless).is_some() {
            self.replies -= 1;
        }
    }
}

/// Drops a message.
pub(super) fn drop_message(packet: Packet, context: &mut Context<'_>) {
    context.out.push(Command::Drop(packet, crate::route::RouteDrop::Message));
}
