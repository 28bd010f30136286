//! What nearly every discipline is made of: packets in the order of their arrival, each with the
//! instant at which it came.

use kernel::{Bytes, Instant};
use std::collections::VecDeque;
use wire::Packet;

/// Waiting packets, first in, first out.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<(Instant, Packet)>,
    backlog: Bytes,
}

impl Fifo {
    pub(super) fn push(&mut self, now: Instant, packet: Packet) {
        self.backlog += packet.size;
        self.waiting.push_back((now, packet));
    }

    /// The first packet and since when it has waited.
    pub(super) fn pop(&mut self) -> Option<(Instant, Packet)> {
        let (since, packet) = self.waiting.pop_front()?;
        self.backlog -= packet.size;
        Some((since, packet))
    }

    pub(super) fn first(&self) -> Option<&Packet> {
        self.waiting.front().map(|(_, packet)| packet)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn backlog(&self) -> Bytes {
        self.backlog
    }

    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(|(_, packet)| visit(packet));
    }
}
