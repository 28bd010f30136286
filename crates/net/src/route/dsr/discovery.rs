//! Route Discovery at the initiator (RFC 4728 sections 3.3 and 8.2.1): Route Requests and the
//! packets that wait for their answers.

use super::rules::{DISCOVERY_HOPS, NON_PROPAGATING_TIMEOUT, REQUEST_PERIOD_MAX};
use super::{Dsr, Due, NonPropagating, header};
use crate::route::send_buffer::MOST_WAITING;
use crate::route::send_buffer::Waiting;
use crate::route::{Command, Context, RouteDrop, RouteNote, jitter};
use kernel::{Duration, Instant, Rng};
use std::collections::VecDeque;
use wire::{DsrMessage, NodeId, Packet};

/// The Route Requests for one target since the last Route Reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    /// How many there were; one to the neighbours and the next to all nodes count as one.
    requests: u32,
    /// When the next is allowed.
    next_at: Instant,
    /// When the neighbours have had their time to answer and all nodes are asked.
    propagate_at: Option<Instant>,
}

impl Dsr {
    /// Keeps a packet of this node until there is a route, and requests one.
    pub(super) fn wait(&mut self, packet: Packet, context: &mut Context<'_>) {
        let to = self.hold(packet, context);
        self.request(to, context);
    }

    /// Keeps a packet until there is a route; returns the target.
    pub(super) fn hold(&mut self, packet: Packet, context: &mut Context<'_>) -> NodeId {
        let to = context.exit(packet.to.expect("a broadcast needs no route"));
        let waiting = Waiting { since: context.now, to, packet };
        if let Some(oldest) = self.buffer.push(waiting, MOST_WAITING) {
            context.out.push(Command::Drop(oldest, RouteDrop::SendBufferFull));
        }
        to
    }

    /// Examines the send buffer: drops what has waited too long, sends what has a route, and
    /// requests the other routes again.
    pub(super) fn check_buffer(&mut self, context: &mut Context<'_>) {
        self.checked = Some(context.now);
        let timeout = self.rules.same.send_buffer_timeout;
        while let Some(packet) = self.buffer.expire(context.now, timeout) {
            context.out.push(Command::Drop(packet, RouteDrop::SendBufferTimeout));
        }
        self.release(Duration::ZERO, context);
        let mut targets: Vec<NodeId> = self.buffer.iter().map(|waiting| waiting.to).collect();
        targets.sort_unstable();
        targets.dedup();
        for to in targets {
            self.request(to, context);
        }
    }

    /// Sends the packets to whose destinations a route is known now, with this gap between them.
    pub(super) fn release(&mut self, gap: Duration, context: &mut Context<'_>) {
        let (cache, now) = (&mut self.cache, context.now);
        // A path that is used may displace another, which another packet would have taken.
        let mut released = Vec::new();
        while let Some(waiting) = self.buffer.take(|w| cache.find(now, w.to, false).is_some()) {
            let path = cache.find(now, waiting.to, true).expect("a route was found just now");
            released.push((waiting, context.paths.intern(path)));
        }
        let mut send_at = now;
        for (waiting, path) in released {
            let (is_own, Waiting { to, mut packet, since }) = (waiting.is_own(), waiting);
            if self.discoveries.contains_key(&to) {
                let found = RouteNote::Discovered { destination: to, since };
                context.out.push(Command::Note(found));
            }
            // In ns-2 only a Route Reply ends a discovery.
            if self.rules.send_buffer_check == Duration::ZERO {
                self.discoveries.remove(&to);
            }
            if is_own {
                self.set_own_route(&mut packet, to, path, context);
            } else {
                let salvage = packet.salvage + 1;
                header::set_route(&mut packet, Some(path), salvage, context.paths);
            }
            if send_at == now {
                self.send_along(packet, context);
            } else {
                self.deadlines.add(send_at, Due::Send(packet));
            }
            send_at += gap;
        }
    }

    /// Sets the deadline at which the send buffer is examined next.
    pub(super) fn set_check(&mut self, context: &mut Context<'_>) {
        let period = self.rules.send_buffer_check;
        let at = if period == Duration::ZERO {
            self.first_due()
        } else if self.check_at.is_some() || self.buffer.is_empty() {
            return;
        } else if self.checked == Some(context.now) {
            Some(context.now + period + jitter(period, context.rng))
        } else {
            // The node looks all the time, also while the buffer is empty.
            Some(context.now + until_next_look(period, context.rng))
        };
        if at != self.check_at {
            self.deadlines.remove(|due| matches!(due, Due::Check));
            self.check_at = at;
            if let Some(at) = at {
                self.deadlines.add(at.max(context.now), Due::Check);
            }
        }
    }

    /// When the first packet of the send buffer has waited too long, or a request is repeated.
    fn first_due(&self) -> Option<Instant> {
        let timeout = self.rules.same.send_buffer_timeout;
        let due = |waiting: &Waiting| {
            let discovery = self.discoveries.get(&waiting.to);
            let request = discovery.map_or(waiting.since, |it| {
                it.propagate_at.filter(|_| waiting.is_own()).unwrap_or(it.next_at)
            });
            request.min(waiting.since + timeout)
        };
        self.buffer.iter().map(due).min()
    }

    /// Requests a route to a target if it is time to do so.
    fn request(&mut self, to: NodeId, context: &mut Context<'_>) {
        let now = context.now;
        let own = self.buffer.iter().any(|waiting| waiting.to == to && waiting.is_own());
        let new = Discovery { requests: 0, next_at: now, propagate_at: None };
        let discovery = self.discoveries.entry(to).or_insert(new);
        if own && discovery.propagate_at.is_some_and(|at| now >= at) {
            discovery.propagate_at = None;
            return self.send_request(to, DISCOVERY_HOPS, context);
        }
        if now < discovery.next_at {
            return;
        }
        let is_last = self.rules.requests.is_some_and(|most| discovery.requests >= most);
        let period = self.rules.request_period.as_secs_f64()
            * libm::pow(self.rules.request_backoff, f64::from(discovery.requests));
        let period = Duration::from_secs_f64(period).min(REQUEST_PERIOD_MAX);
        discovery.next_at = now + period;
        discovery.propagate_at = None;
        if is_last {
            discovery.requests = 0;
            return self.give_up(to, usize::MAX, context);
        }
        discovery.requests += 1;
        // A node asks its neighbours once for packets of other nodes. Each time at which it does
        // not ask again, it drops one of them; the others wait for a route that it learns.
        if !own && discovery.requests > 1 {
            return self.give_up(to, 1, context);
        }
        let is_first = discovery.requests == 1;
        let asks_neighbours = match self.rules.non_propagating {
            NonPropagating::Never => !own,
            NonPropagating::First => is_first,
            NonPropagating::Each => true,
        };
        if asks_neighbours {
            let propagate_at = now + NON_PROPAGATING_TIMEOUT;
            discovery.propagate_at = Some(propagate_at);
            // With `each`, the period is that of the requests to the neighbours.
            if self.rules.non_propagating != NonPropagating::Each {
                discovery.next_at = propagate_at + period;
            }
        }
        let hops = if asks_neighbours { 1 } else { DISCOVERY_HOPS };
        self.send_request(to, hops, context);
    }

    /// Drops at most so many of the packets that wait for a route to this target.
    fn give_up(&mut self, to: NodeId, most: usize, context: &mut Context<'_>) {
        let waiting = std::iter::from_fn(|| self.buffer.take(|waiting| waiting.to == to));
        for waiting in waiting.take(most) {
            context.out.push(Command::Drop(waiting.packet, RouteDrop::NoRoute));
        }
    }

    fn send_request(&mut self, target: NodeId, hops: u8, context: &mut Context<'_>) {
        let id = self.next_request;
        self.next_request = id.wrapping_add(1);
        let path = context.paths.intern(&[self.node]);
        let error = self.error_to_repeat(hops > 1, context.now);
        let message = DsrMessage::Request { id, target, path, error };
        let request = Packet { ttl: hops, ..self.message(None, None, message, context) };
        self.send_later(request, context);
    }

    /// Sends a packet after the jitter of broadcasts.
    pub(super) fn send_later(&mut self, packet: Packet, context: &mut Context<'_>) {
        let delay = jitter(self.rules.same.broadcast_jitter, context.rng);
        self.deadlines.add(context.now + delay, Due::Send(packet));
    }
}

/// The time from any instant to the next look, if looks are one to two periods apart, uniform.
pub(super) fn until_next_look(period: Duration, rng: &mut Rng) -> Duration {
    let part = rng.uniform();
    // The density is the probability that a gap is longer: constant up to one period, which is 2/3
    // of the probability, and then falling to 0 at two periods.
    let periods = if part < 2.0 / 3.0 { 1.5 * part } else { 2.0 - (3.0 * (1.0 - part)).sqrt() };
    Duration::from_secs_f64(period.as_secs_f64() * periods)
}

/// What distinguishes the Route Requests of an initiator (RFC 4728 section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requested {
    pub(super) id: u16,
    pub(super) target: NodeId,
}

/// The Route Requests that a node has seen (RFC 4728 section 4.3), those of the last initiators.
#[derive(Debug, Default)]
pub(super) struct SeenRequests {
    /// By initiator, the one that was heard of last at the back.
    initiators: VecDeque<(NodeId, VecDeque<Requested>)>,
}

impl SeenRequests {
    /// Records a request; returns whether it is new.
    pub(super) fn insert(
        &mut self,
        initiator: NodeId,
        request: Requested,
        nodes: usize,
        ids: usize,
    ) -> bool {
        let place = self.initiators.iter().position(|(node, _)| *node == initiator);
        let entry = place.and_then(|place| self.initiators.remove(place));
        let (_, mut seen) = entry.unwrap_or((initiator, VecDeque::new()));
        let is_new = !seen.contains(&request);
        if is_new {
            seen.push_back(request);
            if seen.len() > ids {
                seen.pop_front();
            }
        }
        self.initiators.push_back((initiator, seen));
        if self.initiators.len() > nodes {
            self.initiators.pop_front();
        }
        is_new
    }
}
