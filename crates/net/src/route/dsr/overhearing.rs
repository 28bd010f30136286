//! What a node learns from packets of others (RFC 4728 sections 3.3.1 and 3.4.4).

use super::{Dsr, position, reversed};
use crate::route::{Command, Context};
use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wire::{Body, DsrMessage, Message, NodeId, Packet};

impl Dsr {
    /// The radio has received a packet for another node.
    pub(super) fn overhear(&mut self, from: NodeId, packet: &Packet, context: &mut Context<'_>) {
        let Some(path) = packet.source_route else { return };
        if packet.from == self.node {
            return;
        }
        let nodes = context.paths.nodes(path).to_vec();
        match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Error(ref errors))) => {
                self.on_errors(errors.as_slice(), context);
            }
            Body::Routing(Message::Dsr(DsrMessage::Reply { path })) => {
                let route = context.paths.nodes(path).to_vec();
                self.notice(&route, None, context);
            }
            Body::Routing(_) => {}
            Body::Segment(_) | Body::Datagram(_) => self.cancel_replies(&nodes, context),
        }
        self.notice(&nodes, Some(from), context);
        if !matches!(packet.body, Body::Routing(_)) && self.rules.same.shortening {
            self.shorten(&nodes, from, packet.next, context);
        }
    }

    /// Learns from a path that packets take: the rest of it if this node is on it, or else what is
    /// behind the node from which it was heard.
    pub(super) fn notice(
        &mut self,
        path: &[NodeId],
        heard_from: Option<NodeId>,
        context: &mut Context<'_>,
    ) {
        let node = self.node;
        let (ahead, back) = if let Some(place) = position(path, node) {
            (path[place..].to_vec(), reversed(&path[..=place]))
        } else {
            let Some(place) = heard_from.and_then(|from| position(path, from)) else { return };
            let ahead = [&[node], &path[place..]].concat();
            let mut back = reversed(&path[..=place]);
            back.insert(0, node);
            (ahead, back)
        };
        self.learn(&ahead, false, context);
        if self.rules.reverse_routes {
            self.learn(&back, false, context);
        }
        // ns-2 examines the send buffer at its own times only.
        if self.rules.send_buffer_check == Duration::ZERO && !self.buffer.is_empty() {
            self.release(context);
        }
    }

    /// Automatic route shortening: tells the source of a packet that this node, which it would
    /// reach some hops later, has received it already.
    fn shorten(&mut self, path: &[NodeId], from: NodeId, next: NodeId, context: &mut Context<'_>) {
        let (Some(heard), Some(own)) = (position(path, from), position(path, self.node)) else {
            return;
        };
        if own <= heard + 1 || path[heard + 1] != next {
            return;
        }
        let (source, holdoff) = (path[0], self.rules.same.gratuitous_reply_holdoff);
        if !self.shortened.may_reply(source, from, context.now, holdoff) {
            return;
        }
        let back = [&[self.node], &reversed(&path[..=heard])[..]].concat();
        self.learn(&back, true, context);
        let route = [&path[..=heard], &path[own..]].concat();
        let message = DsrMessage::Reply { path: context.paths.intern(&route) };
        let reply = self.send_back(&back, message, context);
        context.out.push(Command::Send(Packet { next: from, ..reply }));
    }
}

/// The gratuitous Route Replies of the last time (RFC 4728 section 4.4), by source and by the node
/// whose transmission was heard.
#[derive(Debug, Default)]
pub(super) struct Shortened(BTreeMap<(NodeId, NodeId), Instant>);

impl Shortened {
    /// Whether there was no reply for this long; if so, there is one now.
    pub(super) fn may_reply(
        &mut self,
        source: NodeId,
        from: NodeId,
        now: Instant,
        holdoff: Duration,
    ) -> bool {
        self.0.retain(|_, at| now.since(*at) < holdoff);
        if self.0.contains_key(&(source, from)) {
            return false;
        }
        self.0.insert((source, from), now);
        true
    }
}
