//! The limits of a buffer, and its occupancy.
//!
//! A frame occupies its buffer until it is acknowledged: a limit of B packets is B waiting and in
//! service together.
//!
//! A queue has no limit by default, and says so. Devices have one: 1,000 packets in Linux
//! (`txqueuelen`), or what FQ-CoDel allows. The standard has none, the models of `simoom.models`
//! and of the papers have queues without loss, and with a limit as default a result would depend on
//! a number that nobody wrote. A run in which more than 1,000 packets wait in such a queue for
//! seconds has a notice with the key (`run.notices`); of the scenarios that come with Simoom these
//! are `one_station`, `full_duplex_ac` and `full_duplex_space`. A limit as default would move their
//! results, those of the studies without a limit, and a part of the recorded random scenarios, and
//! nothing else.

use super::Signal;
use kernel::Bytes;
use settings::Settings;

/// The limits of a buffer, packets in service included; if both are given, both apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Limit {
    /// Limit in packets; without one there is no limit.
    #[setting(
        key = "limit_packets",
        range = 1..=1_000_000_000,
        too_low = [
            "0 would drop every packet: the limit counts the one in service too",
            "1 is the least, and without the key there is no limit"
        ]
    )]
    pub packets: Option<u32>,
    /// Limit in bytes of IP packets; without one there is no limit.
    #[setting(key = "limit_bytes")]
    pub bytes: Option<Bytes>,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { packets: None, bytes: None };

    /// A number of packets of any size.
    pub const fn packets(count: u32) -> Self {
        Self { packets: Some(count), bytes: None }
    }
}

/// The capacity of a buffer without a limit. A larger backlog is a mistake of the scenario, and
/// would take memory that grows with simulated time.
const UNLIMITED_PACKETS: u32 = 1_000_000;

/// The limits of one buffer and its occupancy by packets that wait or are in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    limit: Limit,
    packets: u32,
    bytes: Bytes,
}

impl Buffer {
    /// An empty buffer with these limits.
    pub(crate) fn new(limit: Limit) -> Self {
        let packets = limit.packets.or(limit.bytes.is_none().then_some(UNLIMITED_PACKETS));
        Self { limit: Limit { packets, ..limit }, ..Self::boundless() }
    }

    /// An empty buffer without a limit, for packets that are limited elsewhere.
    pub(super) fn boundless() -> Self {
        Self { limit: Limit::NONE, packets: 0, bytes: Bytes::ZERO }
    }

    /// Whether a packet of this size fits.
    pub(crate) fn has(&self, size: Bytes) -> bool {
        self.limit.packets.is_none_or(|most| self.packets < most)
            && self.limit.bytes.is_none_or(|most| self.bytes + size <= most)
    }

    /// Whether the buffer is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Adds a packet of this size, whether or not it fits.
    pub(crate) fn take(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Whether the occupancy exceeds a limit.
    pub(super) fn is_exceeded(&self) -> bool {
        self.limit.packets.is_some_and(|most| self.packets > most)
            || self.limit.bytes.is_some_and(|most| self.bytes > most)
    }

    /// Removes a packet of this size.
    pub(crate) fn free(&mut self, size: Bytes) {
        debug_assert!(self.packets > 0 && self.bytes >= size, "released more than was taken");
        self.packets = self.packets.saturating_sub(1);
        self.bytes = Bytes(self.bytes.0.saturating_sub(size.0));
    }

    /// Removes the packets that were dropped.
    pub(super) fn free_dropped(&mut self, signals: &[Signal]) {
        for signal in signals {
            if let Signal::Drop(packet) = signal {
                self.free(packet.size);
            }
        }
    }
}
