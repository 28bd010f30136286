//! Route Requests at the originator: the expanding ring and the packets that wait (RFC 3561
//! sections 6.3 and 6.4).

use super::rules::{TTL_INCREMENT, TTL_THRESHOLD};
use super::table::News;
use super::{Aodv, Due};
use crate::route::send_buffer::MOST_WAITING;
use crate::route::send_buffer::Waiting;
use crate::route::{Command, Context, RouteDrop, RouteNote};
use kernel::{Duration, Instant};
use std::collections::VecDeque;
use wire::{AodvMessage, AodvRequest, NodeId, Packet};

/// The Route Requests for one destination that are not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    /// The time to live of the last Route Request.
    ttl: u8,
    /// How often a request to the whole network was repeated.
    retries: u32,
    /// Whether it repairs a route for other nodes.
    pub(super) is_repair: bool,
    /// Whether the next request waits for the limit of the rate.
    is_delayed: bool,
}

impl Discovery {
    pub(super) fn new(ttl: u8, is_repair: bool) -> Self {
        Self { ttl, retries: 0, is_repair, is_delayed: false }
    }
}

impl Aodv {
    /// Keeps a packet until there is a route, and requests one.
    pub(super) fn wait(&mut self, packet: Packet, to: NodeId, context: &mut Context<'_>) {
        self.hold(packet, to, context);
        if !self.discoveries.contains_key(&to) {
            self.discover(to, context);
        }
    }

    /// Keeps a packet until there is a route.
    pub(super) fn hold(&mut self, packet: Packet, to: NodeId, context: &mut Context<'_>) {
        let waiting = Waiting { since: context.now, to, packet };
        if let Some(oldest) = self.buffer.push(waiting, MOST_WAITING) {
            context.out.push(Command::Drop(oldest, RouteDrop::SendBufferFull));
        }
        self.deadlines.add(context.now + self.rules.same.send_buffer_timeout, Due::Expire);
    }

    /// Drops the packets that have waited too long.
    pub(super) fn expire(&mut self, context: &mut Context<'_>) {
        let timeout = self.rules.same.send_buffer_timeout;
        while let Some(packet) = self.buffer.expire(context.now, timeout) {
            context.out.push(Command::Drop(packet, RouteDrop::SendBufferTimeout));
        }
    }

    /// Begins an expanding ring search. It begins with the distance of the last known route.
    fn discover(&mut self, to: NodeId, context: &mut Context<'_>) {
        let known = self.table.get(to, context.now).map(|route| route.hops);
        let first = known.map_or(self.rules.ttl_start, |hops| hops.saturating_add(TTL_INCREMENT));
        self.discoveries.insert(to, Discovery::new(self.ring(first), false));
        self.ask(to, context);
    }

    /// The time to live of a request: beyond a threshold that of the whole network.
    fn ring(&self, ttl: u8) -> u8 {
        if ttl > TTL_THRESHOLD { self.rules.diameter } else { ttl }
    }

    /// Sends the next Route Request for a destination, when the limit of the rate permits it.
    pub(super) fn ask(&mut self, to: NodeId, context: &mut Context<'_>) {
        let now = context.now;
        let discovery = self.discoveries.get_mut(&to).expect("a route is requested");
        if let Err(at) = self.requests.take(now) {
            discovery.is_delayed = true;
            return self.deadlines.add(at, Due::Request(to));
        }
        let Discovery { ttl, retries, .. } = *discovery;
        let timeout = if ttl >= self.rules.diameter {
            // Binary exponential back-off.
            Duration(self.rules.net_traversal().0.saturating_mul(1 << retries.min(32)))
        } else {
            self.rules.ring_traversal(ttl)
        };
        let destination_sequence = self.table.get(to, now).and_then(|route| route.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.next_request = self.next_request.wrapping_add(1);
        let request = AodvRequest {
            id: self.next_request,
            originator: self.node,
            originator_sequence: self.sequence,
            destination: to,
            destination_sequence,
            hops: 0,
            gratuitous: self.rules.gratuitous_reply,
            destination_only: self.rules.same.destination_only,
        };
        self.seen.insert((self.node, request.id), now + self.rules.path_discovery());
        let packet = self.message(None, AodvMessage::Request(request), context);
        self.hello.on_broadcast();
        let sent = self.broadcast(Packet { ttl, ..packet }, self.rules.originated_jitter, context);
        self.deadlines.add(sent + timeout, Due::Request(to));
    }

    /// A Route Request has found nothing in time, or may be sent now.
    pub(super) fn on_request_timeout(&mut self, to: NodeId, context: &mut Context<'_>) {
        let Some(mut discovery) = self.discoveries.remove(&to) else { return };
        if discovery.is_delayed {
            discovery.is_delayed = false;
        } else if discovery.is_repair {
            return self.fail_repair(to, context);
        } else if discovery.ttl < self.rules.diameter {
            let ttl = discovery.ttl.saturating_add(TTL_INCREMENT);
            discovery.ttl = self.ring(ttl).min(self.rules.diameter);
        } else if discovery.retries < self.rules.request_retries {
            discovery.retries += 1;
        } else {
            return self.give_up(to, RouteDrop::NoRoute, |_| true, context);
        }
        if self.buffer.iter().any(|waiting| waiting.to == to) {
            self.discoveries.insert(to, discovery);
            self.ask(to, context);
        }
    }

    /// Drops packets that wait for a route to this destination.
    pub(super) fn give_up(
        &mut self,
        to: NodeId,
        cause: RouteDrop,
        which: impl Fn(&Packet) -> bool,
        context: &mut Context<'_>,
    ) {
        while let Some(waiting) = self.buffer.take(|w| w.to == to && which(&w.packet)) {
            context.out.push(Command::Drop(waiting.packet, cause));
        }
    }

    /// A repair has failed: this node requests a route for its own packets alone.
    pub(super) fn discover_for_own(&mut self, to: NodeId, context: &mut Context<'_>) {
        if self.buffer.iter().any(|waiting| waiting.to == to) {
            self.discover(to, context);
        }
    }

    /// Sends the packets that wait for a destination, if there is a route now.
    pub(super) fn release(&mut self, to: NodeId, context: &mut Context<'_>) {
        let now = context.now;
        let Some((next, hops)) = self.active(to, now) else { return };
        let discovery = self.discoveries.remove(&to);
        if discovery.is_some() {
            self.deadlines.remove(|due| matches!(due, Due::Request(of) if *of == to));
        }
        let mut own = None;
        while let Some(Waiting { mut packet, since, .. }) =
            self.buffer.take(|waiting| waiting.to == to)
        {
            self.refresh(to, next, now);
            if packet.from == self.node && own.is_none() {
                own = Some(since);
                self.note_route(to, (next, hops), context);
            }
            packet.next = next;
            context.out.push(Command::Send(packet));
        }
        if let (Some(_), Some(since)) = (discovery, own) {
            context.out.push(Command::Note(RouteNote::Discovered { destination: to, since }));
        }
    }

    /// A neighbour has sent a message: there is a route to it (section 6.2).
    pub(super) fn learn_neighbour(&mut self, neighbour: NodeId, now: Instant) {
        let expires = now + self.rules.active_route_timeout;
        let news = News { sequence: None, hops: 1, next: neighbour, expires };
        self.table.update(neighbour, news, now);
    }
}

/// At most this many messages in a second.
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    /// When the last ones were sent.
    sent: VecDeque<Instant>,
}

impl RateLimit {
    pub(super) fn new(per_s: u32) -> Self {
        Self { most: per_s as usize, sent: VecDeque::new() }
    }

    /// Counts a message, or tells when the next is permitted.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Instant> {
        const SECOND: Duration = Duration::from_secs(1);
        if self.sent.len() >= self.most {
            let permitted = self.sent[0] + SECOND;
            if permitted > now {
                return Err(permitted);
            }
            self.sent.pop_front();
        }
        self.sent.push_back(now);
        Ok(())
    }
}
