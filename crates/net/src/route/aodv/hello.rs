//! Hello messages (RFC 3561 section 6.9).

use super::table::News;
use super::{Aodv, Due, delay};
use crate::route::{Command, Context};
use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wire::{AodvMessage, AodvReply, NodeId};

/// What a node knows of its neighbours from their Hello messages.
#[derive(Debug, Default)]
pub(super) struct Hello {
    has_begun: bool,
    /// Whether this node has sent a broadcast since the last Hello message was due.
    has_broadcast: bool,
    /// When each neighbour was last heard.
    heard: BTreeMap<NodeId, Instant>,
}

impl Hello {
    /// This node sends a broadcast, which tells its neighbours as much as a Hello message.
    pub(super) fn on_broadcast(&mut self) {
        self.has_broadcast = true;
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
        let now = context.now;
        let next = now + self.until_next_hello(context);
        self.deadlines.add(next, Due::Hello);
        let lifetime = self.hello_lifetime();
        let is_silent =
            |(node, heard): (&NodeId, &Instant)| (now.since(*heard) > lifetime).then_some(*node);
        let silent: Vec<NodeId> = self.hello.heard.iter().filter_map(is_silent).collect();
        for neighbour in silent {
            self.hello.heard.remove(&neighbour);
            self.on_silence(neighbour, context);
        }
        let is_told = std::mem::take(&mut self.hello.has_broadcast);
        if !is_told && self.table.has_active(now) {
            let (node, sequence) = (self.node, self.sequence);
            let reply =
                AodvReply { destination: node, sequence, originator: node, hops: 0, lifetime };
            let packet = self.message(None, AodvMessage::Reply(reply), context);
            context.out.push(Command::Send(packet));
        }
    }

    /// Messages at regular intervals come early by a random time, at most half of the interval (RFC
    /// 5148 sections 5.1 and 5.4): late ones would make a neighbour seem silent.
    fn until_next_hello(&self, context: &mut Context<'_>) -> Duration {
        let interval = self.rules.same.hello_interval;
        let most = self.rules.originated_jitter.min(Duration(interval.0 / 2));
        interval - delay(most, context.rng)
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
