//! How much a buffer holds, and who holds how much of it.

use super::Signal;
use kernel::Bytes;
use settings::Settings;

/// How much a buffer holds, packets in service included; where both limits are given, both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Limit {
    /// Limit in packets; without one there is no limit.
    #[setting(
        key = "limit_packets",
        range = 1..=1_000_000_000,
        too_low = "0 would drop every packet: the limit counts the one in service too; 1 is the \
                   least, and without the key there is no limit"
    )]
    pub packets: Option<u32>,
    /// Limit in bytes of IP packets; without one there is no limit.
    #[setting(key = "limit_bytes")]
    pub bytes: Option<Bytes>,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { packets: None, bytes: None };

    /// So many packets of any size.
    pub const fn packets(count: u32) -> Self {
        Self { packets: Some(count), bytes: None }
    }
}

/// What a buffer without a limit holds: more is a mistake of the scenario, and would take memory
/// that grows with simulated time.
const UNLIMITED_PACKETS: u32 = 1_000_000;

/// The room of one buffer and how much of it is taken, by packets that wait and in service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    limit: Limit,
    packets: u32,
    bytes: Bytes,
}

impl Room {
    /// Empty room within this limit.
    pub(super) fn new(limit: Limit) -> Self {
        let packets = limit.packets.or(limit.bytes.is_none().then_some(UNLIMITED_PACKETS));
        Self { limit: Limit { packets, ..limit }, ..Self::boundless() }
    }

    /// Empty room without a limit, for packets that are limited elsewhere.
    pub(super) fn boundless() -> Self {
        Self { limit: Limit::NONE, packets: 0, bytes: Bytes::ZERO }
    }

    /// Whether there is room for a packet of this size.
    pub(super) fn has(&self, size: Bytes) -> bool {
        self.limit.packets.is_none_or(|most| self.packets < most)
            && self.limit.bytes.is_none_or(|most| self.bytes + size <= most)
    }

    /// Whether none is taken.
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Takes room for a packet of this size, whether or not there is any.
    pub(super) fn take(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Whether more is taken than the limit allows.
    pub(super) fn is_exceeded(&self) -> bool {
        self.limit.packets.is_some_and(|most| self.packets > most)
            || self.limit.bytes.is_some_and(|most| self.bytes > most)
    }

    /// Gives back the room of a packet of this size.
    pub(super) fn free(&mut self, size: Bytes) {
        debug_assert!(self.packets > 0 && self.bytes >= size, "released more than was taken");
        self.packets = self.packets.saturating_sub(1);
        self.bytes = Bytes(self.bytes.0.saturating_sub(size.0));
    }

    /// Gives back the room of what was dropped.
    pub(super) fn free_dropped(&mut self, signals: &[Signal]) {
        for signal in signals {
            if let Signal::Drop(packet) = signal {
                self.free(packet.size);
            }
        }
    }
}
