//! Transmissions that are known ahead: where packets leave in the order of their arrival, and an
//! arrival is dropped only if it does not fit, it is known when a packet arrives when its
//! transmission will begin and end. Neither needs an event.

use super::Wired;
use crate::queue::{Buffer, Limit};
use kernel::{Duration, Instant};
use std::collections::VecDeque;
use wire::Packet;

/// The transmitter of a link whose packets are on its wire from their arrival on.
#[derive(Debug)]
pub(super) struct Ahead {
    /// The room that packets have until their transmission ends.
    room: Buffer,
    /// When the last transmission ends.
    until: Instant,
    /// How many of the packets on the wire have given up their room.
    ended: usize,
    /// Of how many it was told that their transmission has begun.
    begun: usize,
}

impl Ahead {
    pub(super) fn new(limit: Limit) -> Self {
        Self { room: Buffer::new(limit), until: Instant::ZERO, ended: 0, begun: 0 }
    }

    /// When the transmission of a packet that arrives now will begin and end; `None` if there is no
    /// room for it. Its transmission lasts for `length`, and `delay` later it has arrived.
    #[inline]
    pub(super) fn take(
        &mut self,
        now: Instant,
        packet: &Packet,
        length: Duration,
        delay: Duration,
        wire: &VecDeque<Wired>,
    ) -> Option<(Instant, Instant)> {
        while let Some(first) = wire.get(self.ended)
            && first.arrival <= now + delay
        {
            self.room.free(first.packet.size);
            self.ended += 1;
        }
        if !self.room.has(packet.size) {
            return None;
        }
        self.room.take(packet.size);
        let begin = now.max(self.until);
        self.until = begin + length;
        Some((begin, self.until))
    }

    /// The first packet of the wire has arrived.
    #[inline]
    pub(super) fn on_arrival(&mut self, packet: &Packet) {
        if self.ended == 0 {
            self.room.free(packet.size);
        }
        self.ended = self.ended.saturating_sub(1);
        self.begun = self.begun.saturating_sub(1);
    }

    /// The next packet of which it was not told yet that its transmission has begun until now, and
    /// how many wait behind it.
    #[inline]
    pub(super) fn next_begun<'a>(
        &mut self,
        now: Instant,
        wire: &'a VecDeque<Wired>,
    ) -> Option<(&'a Wired, usize)> {
        let next = wire.get(self.begun).filter(|next| next.begin <= now)?;
        self.begun += 1;
        Some((next, wire.len() - self.begun))
    }

    /// The transmission of so many packets on the wire has begun, which nobody must be told.
    #[inline]
    pub(super) fn skip_to(&mut self, begun: usize) {
        self.begun = begun;
    }

    /// Of how many packets on the wire it was told that their transmission has begun.
    pub(super) fn begun(&self) -> usize {
        self.begun
    }

    /// When the next transmission begins of which it was not told yet.
    pub(super) fn next_begin(&self, wire: &VecDeque<Wired>) -> Option<Instant> {
        wire.get(self.begun).map(|next| next.begin)
    }

    /// How much of the time of all transmissions is still ahead.
    pub(super) fn left(&self, now: Instant) -> Duration {
        self.until.since(now)
    }
}
