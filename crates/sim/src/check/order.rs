//! What each node has in service for each other, in order: it comes up in that order, and once.

use super::rule;
use kernel::Instant;
use std::collections::{BTreeMap, VecDeque};
use wifi::Outcome;
use wire::{Packet, TrafficClass};

/// Receiver, class and sender.
type Stream = (u32, TrafficClass, u32);

/// Packets in service that have not come up yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Order(BTreeMap<Stream, VecDeque<Packet>>);

impl Order {
    /// A node takes a packet into service for another.
    pub(super) fn on_taken(&mut self, from: u32, to: u32, packet: &Packet) {
        self.0.entry((to, packet.class, from)).or_default().push_back(*packet);
    }

    /// A packet comes up at a node. What was in service before it is not to come any more.
    pub(super) fn on_up(&mut self, now: Instant, node: u32, packet: &Packet) {
        if packet.to.is_none() {
            return;
        }
        let streams = (node, packet.class, 0)..=(node, packet.class, u32::MAX);
        let found = self.0.range_mut(streams).find_map(|(_, waiting)| {
            let at = waiting.iter().position(|other| other == packet)?;
            Some((waiting, at))
        });
        rule(now, found.is_some(), "frames are handed up in order, and once", || {
            format!("node {node}: {packet:?}")
        });
        if let Some((waiting, at)) = found {
            waiting.drain(..=at);
        }
    }

    /// The service of a packet has ended.
    pub(super) fn on_done(
        &mut self,
        now: Instant,
        node: u32,
        packet: &Packet,
        outcome: Outcome,
        received: bool,
    ) {
        let is_true = received || outcome != Outcome::Sent || packet.to.is_none();
        rule(now, is_true, "what is acknowledged has arrived", || format!("{packet:?}"));
        if received {
            return;
        }
        let streams = self.0.iter_mut().filter(|((_, _, from), _)| *from == node);
        for (_, waiting) in streams {
            if let Some(at) = waiting.iter().position(|other| other == packet) {
                waiting.remove(at);
                return;
            }
        }
    }
}
