//! Route Requests at other nodes, and Route Replies (RFC 3561 sections 6.5 to 6.7).

use super::Aodv;
use super::table::{News, is_newer, newest};
use crate::route::{Command, Context};
use kernel::{Duration, Instant};
use wire::{AodvMessage, AodvReply, AodvRequest, NodeId, Packet};

/// Above this number, requests that need not be remembered any more are removed.
const MANY: usize = 256;

impl Aodv {
    /// A Route Request has arrived from a neighbour.
    pub(super) fn on_request(
        &mut self,
        from: NodeId,
        request: AodvRequest,
        ttl: u8,
        context: &mut Context<'_>,
    ) {
        let now = context.now;
        self.learn_neighbour(from, now);
        self.release(from, context);
        if request.originator == self.node || !self.is_new(&request, now) {
            return;
        }
        let request = AodvRequest { hops: request.hops.saturating_add(1), ..request };
        self.learn_reverse(from, &request, now);
        self.release(request.originator, context);
        if context.exit(request.destination) == self.node {
            return self.answer(&request, context);
        }
        if self.answer_for(from, &request, context) || ttl <= 1 {
            return;
        }
        let known = self.table.get(request.destination, now).and_then(|route| route.sequence);
        let destination_sequence = match (request.destination_sequence, known) {
            (Some(asked), Some(known)) => Some(newest(asked, known)),
            (asked, known) => asked.or(known),
        };
        let request = AodvRequest { destination_sequence, ..request };
        let packet = self.message(None, AodvMessage::Request(request), context);
        let jitter = self.rules.same.broadcast_jitter;
        self.broadcast(Packet { ttl: ttl - 1, ..packet }, jitter, context);
    }

    /// Remembers a request; returns whether it is new.
    fn is_new(&mut self, request: &AodvRequest, now: Instant) -> bool {
        if self.seen.len() > MANY {
            self.seen.retain(|_, until| *until > now);
        }
        let key = (request.originator, request.id);
        let until = now + self.rules.path_discovery();
        self.seen.insert(key, until).is_none_or(|before| before <= now)
    }

    /// The route back to the originator of a request.
    fn learn_reverse(&mut self, from: NodeId, request: &AodvRequest, now: Instant) {
        let hops = u64::from(request.hops);
        let traversal = 2 * hops * self.rules.node_traversal.0;
        let lifetime = (2 * self.rules.net_traversal().0).saturating_sub(traversal);
        let expires = now + Duration(lifetime);
        let sequence = Some(request.originator_sequence);
        let news = News { sequence, hops: request.hops, next: from, expires };
        self.table.update(request.originator, news, now);
        self.table.extend(request.originator, expires, now);
    }

    /// Answers a request for this node (section 6.6.1).
    fn answer(&mut self, request: &AodvRequest, context: &mut Context<'_>) {
        if let Some(asked) = request.destination_sequence {
            self.sequence = newest(self.sequence, asked);
        }
        let reply = AodvReply {
            destination: request.destination,
            sequence: self.sequence,
            originator: request.originator,
            hops: 0,
            lifetime: self.rules.my_route_timeout,
        };
        self.send_reply(reply, context);
    }

    /// Answers a request from the routing table, if it has a route that is new enough (section
    /// 6.6.2).
    fn answer_for(
        &mut self,
        from: NodeId,
        request: &AodvRequest,
        context: &mut Context<'_>,
    ) -> bool {
        let now = context.now;
        let Some((back, back_hops)) = self.active(request.originator, now) else { return false };
        let Some(route) = self.table.get(request.destination, now) else { return false };
        let Some(sequence) = route.sequence.filter(|_| route.is_valid) else { return false };
        let is_old = request.destination_sequence.is_some_and(|asked| is_newer(asked, sequence));
        // A route over the node that asks would be a loop.
        if request.destination_only || is_old || route.next == from {
            return false;
        }
        let (hops, next) = (route.hops, route.next);
        let lifetime = route.expires.since(now);
        route.precursors.insert(back);
        let reverse = self.table.get(request.originator, now).expect("it is active");
        reverse.precursors.insert(next);
        let back_lifetime = reverse.expires.since(now);
        let AodvRequest { originator, destination, originator_sequence, .. } = *request;
        let reply = AodvReply { destination, sequence, originator, hops, lifetime };
        self.send_reply(reply, context);
        if request.gratuitous {
            // Section 6.6.3.
            self.send_reply(
                AodvReply {
                    destination: originator,
                    sequence: originator_sequence,
                    originator: destination,
                    hops: back_hops,
                    lifetime: back_lifetime,
                },
                context,
            );
        }
        true
    }

    /// Sends a reply to the next hop towards the node that has asked.
    fn send_reply(&mut self, reply: AodvReply, context: &mut Context<'_>) {
        if let Some((next, _)) = self.active(reply.originator, context.now) {
            let packet = self.message(Some(next), AodvMessage::Reply(reply), context);
            context.out.push(Command::Send(packet));
        }
    }

    /// A Route Reply or a Hello message has arrived from a neighbour.
    pub(super) fn on_reply(&mut self, from: NodeId, reply: AodvReply, context: &mut Context<'_>) {
        let now = context.now;
        self.learn_neighbour(from, now);
        self.release(from, context);
        if reply.is_hello() {
            return self.on_hello(&reply, now);
        }
        if reply.destination == self.node {
            return;
        }
        let reply = AodvReply { hops: reply.hops.saturating_add(1), ..reply };
        let (sequence, expires) = (Some(reply.sequence), now + reply.lifetime);
        let news = News { sequence, hops: reply.hops, next: from, expires };
        let is_updated = self.table.update(reply.destination, news, now);
        self.release(reply.destination, context);
        if !is_updated || reply.originator == self.node {
            return;
        }
        let Some((back, _)) = self.active(reply.originator, now) else { return };
        for to in [reply.destination, from] {
            if let Some(route) = self.table.get(to, now) {
                route.precursors.insert(back);
            }
        }
        self.table.extend(reply.originator, now + self.rules.active_route_timeout, now);
        self.send_reply(reply, context);
    }
}
