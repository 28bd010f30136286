//! The send buffer: packets that wait for a route (RFC 4728 section 4.2; RFC 3561 section 6.3).

use kernel::{Duration, Instant};
use std::collections::VecDeque;
use wire::{NodeId, Packet};

/// How many packets wait for routes at a node. A packet that finds no room replaces the oldest.
pub(super) const MOST_WAITING: usize = 64;

/// Packets in the order in which they began to wait.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    waiting: VecDeque<Waiting>,
}

/// A packet that waits for a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Since when.
    pub since: Instant,
    /// The last node of the route.
    pub to: NodeId,
    /// The packet.
    pub packet: Packet,
}

impl Waiting {
    /// Whether this node is the first that chooses a route for the packet. A packet of another node
    /// has the route that has failed.
    pub(super) fn is_own(&self) -> bool {
        self.packet.source_route.is_none()
    }
}

impl SendBuffer {
    /// Adds a packet. If there are then more than `most`, removes and returns the oldest.
    pub(super) fn push(&mut self, waiting: Waiting, most: usize) -> Option<Packet> {
        self.waiting.push_back(waiting);
        if self.waiting.len() > most { self.waiting.pop_front().map(|w| w.packet) } else { None }
    }

    /// Removes and returns the next packet that has waited this long.
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration) -> Option<Packet> {
        let first = self.waiting.front()?;
        if now.since(first.since) < timeout {
            return None;
        }
        self.waiting.pop_front().map(|waiting| waiting.packet)
    }

    /// Removes and returns the first packet that fulfils the condition.
    pub(super) fn take(&mut self, is_wanted: impl FnMut(&Waiting) -> bool) -> Option<Waiting> {
        let place = self.waiting.iter().position(is_wanted)?;
        self.waiting.remove(place)
    }

    /// The packets, in the order in which they began to wait.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    /// Whether no packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Calls `visit` for each packet.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(|waiting| visit(&waiting.packet));
    }
}
