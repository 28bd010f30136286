//! Hello messages (RFC 3561 section 6.9).

use super::table::News;
use super::{Aodv, Due};
use crate::route::{Command, Context};
use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wire::{AodvMessage, AodvReply, NodeId};

/// What a node knows of its neighbours from their Hello messages.
#[derive(Debug, Default)]
pub(super) struct Hello {
    has_begun: bool,
    /// When this node has sent a broadcast.
    last_broadcast: Option<Instant>,
    /// When each neighbour was last heard.
    heard: BTreeMap<NodeId, Instant>,
}

impl Hello {
    /// This node sends a broadcast, which tells its neighbours as much as a Hello message.
    pub(super) fn on_broadcast(&mut self, now: Instant) {
        self.last_broadcast = Some(now);
    }
}

impl Aodv {
    /// Hello messages begin with the first event, at a random part of the interval.
    pub(super) fn begin_hello(&mut self, context: &mut Context<'_>) {
        if self.rules.same.hello && !self.hello.has_begun {
            self.hello.has_begun = true;
            let interval = self.rules.same.hello_interval.as_secs_f64();
            let first = Duration::from_secs_f64(interval * context.rng.uniform());
            self.deadlines.add(context.now + first, Due::Hello);
        }
    }

    /// A node on an active route sends a Hello message; neighbours that are silent are lost.
    pub(super) fn on_hello_due(&mut self, context: &mut Context<'_>) {
        let (now, interval) = (context.now, self.rules.same.hello_interval);
        self.deadlines.add(now + interval, Due::Hello);
        let lifetime = self.hello_lifetime();
        let is_silent =
            |(node, heard): (&NodeId, &Instant)| (now.since(*heard) > lifetime).then_some(*node);
        let silent: Vec<NodeId> = self.hello.heard.iter().filter_map(is_silent).collect();
        for neighbour in silent {
            self.hello.heard.remove(&neighbour);
            self.on_silence(neighbour, context);
        }
        let is_told = self.hello.last_broadcast.is_some_and(|at| now.since(at) < interval);
        if !is_told && self.table.has_active(now) {
            let (node, sequence) = (self.node, self.sequence);
            let reply =
                AodvReply { destination: node, sequence, originator: node, hops: 0, lifetime };
            let packet = self.message(None, AodvMessage::Reply(reply), context);
            self.hello.on_broadcast(now);
            context.out.push(Command::Send(packet));
        }
    }

    /// A Hello message has arrived.
    pub(super) fn on_hello(&mut self, hello: &AodvReply, now: Instant) {
        let neighbour = hello.destination;
        let expires = now + hello.lifetime;
        let news = News { sequence: Some(hello.sequence), hops: 1, next: neighbour, expires };
        self.table.update(neighbour, news, now);
        self.table.extend(neighbour, expires, now);
        if self.rules.same.hello {
            self.hello.heard.insert(neighbour, now);
        }
    }

    /// A neighbour has sent anything.
    pub(super) fn hear(&mut self, neighbour: NodeId, now: Instant) {
        if let Some(heard) = self.hello.heard.get_mut(&neighbour) {
            *heard = now;
        }
    }

    fn hello_lifetime(&self) -> Duration {
        Duration(self.rules.same.hello_interval.0 * u64::from(self.rules.allowed_hello_loss))
    }
}
