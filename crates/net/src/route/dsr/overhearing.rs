//! What a node learns from packets of others (RFC 4728 sections 3.3.1 and 3.4.4).

use super::rules::GRATUITOUS_REPLY_HOLDOFF;
use super::{Dsr, position, reversed};
use crate::route::{Command, Context};
use kernel::{Duration, Id, Instant};
use std::collections::BTreeMap;
use wire::{Body, DsrMessage, Message, NodeId, Packet, PathId};

impl Dsr {
    /// The radio has received a packet for another node.
    pub(super) fn overhear(&mut self, from: NodeId, packet: &Packet, context: &mut Context<'_>) {
        let Some(path) = packet.source_route else { return };
        if packet.from == self.node {
            return;
        }
        let is_known = path.is_implied()
            || self.replies == 0
                && !matches!(packet.body, Body::Routing(_))
                && self.noticed.is_known(path, from, context.now, self.cache.changes());
        if is_known {
            if self.rules.same.shortening {
                self.shorten(path, from, packet.next, context);
            }
            return;
        }
        match packet.body {
            Body::Routing(Message::Dsr(DsrMessage::Error(ref errors))) => {
                self.on_errors(errors.as_slice(), context);
            }
            Body::Routing(Message::Dsr(DsrMessage::Reply { path })) => {
                let route = context.paths.nodes(path).to_vec();
                self.notice_path(&route, None, context);
            }
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
            Body::Segment(_) | Body::Datagram(_) | Body::Echo(_) | Body::Media(_) => {
                self.cancel_replies(context.paths.nodes(path));
            }
        }
        self.notice(path, from, context);
        if !matches!(packet.body, Body::Routing(_)) && self.rules.same.shortening {
            self.shorten(path, from, packet.next, context);
        }
    }

    /// Learns from the path of a packet that this node has received from another.
    pub(super) fn notice(&mut self, path: PathId, from: NodeId, context: &mut Context<'_>) {
        let is_known = || self.noticed.is_known(path, from, context.now, self.cache.changes());
        if path.is_implied() || is_known() {
            return;
        }
        let mut nodes = std::mem::take(&mut self.lists.path);
        nodes.clear();
        nodes.extend_from_slice(context.paths.nodes(path));
        self.notice_path(&nodes, Some(from), context);
        self.lists.path = nodes;
        self.noticed.insert(path, from, context.now, self.cache.changes());
    }

    /// Learns from a path that packets take: the rest of it if this node is on it, or else what is
    /// behind the node from which it was heard.
    fn notice_path(
        &mut self,
        path: &[NodeId],
        heard_from: Option<NodeId>,
        context: &mut Context<'_>,
    ) {
        let own = position(path, self.node);
        let heard = || heard_from.and_then(|from| position(path, from));
        let Some(place) = own.or_else(heard) else { return };
        // The node stands before both parts of a path that it is not on.
        let first = &[self.node][..usize::from(own.is_none())];
        let mut learned = std::mem::take(&mut self.lists.learned);
        learned.clear();
        learned.extend(first.iter().chain(&path[place..]));
        self.learn(&learned, false, context);
        if self.rules.reverse_routes {
            learned.clear();
            learned.extend(first.iter().chain(path[..=place].iter().rev()));
            self.learn(&learned, false, context);
        }
        self.lists.learned = learned;
        // ns-2 examines the send buffer at its own times only.
        if self.rules.send_buffer_check == Duration::ZERO && !self.buffer.is_empty() {
            self.release(self.rules.send_buffer_gap, context);
        }
    }

    /// Automatic route shortening: tells the source of a packet that this node, which it would
    /// reach some hops later, has received it already.
    fn shorten(&mut self, path: PathId, from: NodeId, next: NodeId, context: &mut Context<'_>) {
        let path = context.paths.nodes(path);
        let (Some(own), Some(heard)) = (position(path, self.node), position(path, from)) else {
            return;
        };
        if own <= heard + 1 || path[heard + 1] != next {
            return;
        }
        let path = path.to_vec();
        if !self.shortened.may_reply(path[0], from, context.now, GRATUITOUS_REPLY_HOLDOFF) {
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

/// Lists for the work of one packet, which keep their memory.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The path of the packet.
    path: Vec<NodeId>,
    /// A path from this node.
    learned: Vec<NodeId>,
}

/// The paths that were noticed last.
#[derive(Debug, Default)]
pub(super) struct Noticed([Option<Notice>; Noticed::COUNT]);

/// A path of a packet, from whom it was heard, when, and how often the cache had changed then.
#[derive(Clone, Copy, Debug)]
struct Notice {
    path: PathId,
    from: NodeId,
    at: Instant,
    changes: u64,
}

impl Noticed {
    const COUNT: usize = 32;
    /// A path that is heard again sooner does not extend the lifetime of its links.
    const REFRESH: Duration = Duration::from_secs(1);

    fn place(path: PathId, from: NodeId) -> usize {
        (path.number() as usize ^ from.index() << 2) % Self::COUNT
    }

    /// Whether to notice the path again would change nothing.
    fn is_known(&self, path: PathId, from: NodeId, now: Instant, changes: u64) -> bool {
        self.0[Self::place(path, from)].is_some_and(|last| {
            (last.path, last.from, last.changes) == (path, from, changes)
                && now.since(last.at) < Self::REFRESH
        })
    }

    fn insert(&mut self, path: PathId, from: NodeId, at: Instant, changes: u64) {
        self.0[Self::place(path, from)] = Some(Notice { path, from, at, changes });
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
