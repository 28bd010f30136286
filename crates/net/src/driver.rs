//! The transmit ring of a driver below the queue of a wired link, and how much of it is used.
//!
//! A wired link takes one packet at a time from its queue, unless it has a driver. The ring stands
//! between the queue and the transmitter. It takes packets when they arrive and when the driver
//! learns of transmissions, which may be later than they end and has an event of its own. It is no
//! decorator of the queue as a radio's ring is: completions come in groups, and a limit that adapts
//! (`driver/byte_limit.rs`) needs the group.

mod byte_limit;

use crate::queue::{Queue, Signal};
use byte_limit::ByteLimit;
use kernel::{Bytes, Duration, Instant};
use settings::{Faults, Path, Settings};
use std::collections::VecDeque;
use wire::Packet;

/// The transmit ring of a driver. It takes packets from the queue ahead, in FIFO order whatever the
/// discipline of the queue, so that packets that the queue would send first wait for those in the
/// ring. A packet that the ring has taken occupies no room in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(check = bounds)]
pub struct DriverSettings {
    /// The most packets in the ring, the one in transmission and those whose completion the driver
    /// has not learned included.
    #[setting(default = 256, range = 1..=100_000)]
    pub ring_packets: u32,
    /// Whether byte queue limits (BQL) bound the bytes in the ring, as drivers of Linux do: by a
    /// limit that grows when the ring runs dry while the queue has more, and shrinks by what was
    /// never needed in a second (`lib/dynamic_queue_limits.c`). Bytes are those of IP packets.
    #[setting(default = true)]
    pub bql: bool,
    /// The least value of that limit (`limit_min`).
    #[setting(key = "bql_min_bytes", range = 0..=1_000_000_000)]
    pub least: Bytes,
    /// The greatest value of that limit (`limit_max`). Default: none.
    #[setting(key = "bql_max_bytes", range = 0..=1_000_000_000)]
    pub most: Option<Bytes>,
    /// How long after the end of a transmission the driver learns of it and of those that have
    /// ended since, by one interrupt (`tx-usecs` of ethtool).
    #[setting(key = "coalescing_us", range = 0.0..=1_000_000.0)]
    pub coalescing: Duration,
}

fn bounds(driver: &DriverSettings, at: &Path, faults: &mut Faults) {
    if let Some(most) = driver.most.filter(|most| *most < driver.least) {
        let least = driver.least.0;
        let message = format!("{} is below bql_min_bytes, {least}", most.0);
        faults.fault(at.key("bql_max_bytes"), message);
    }
}

/// A number of packets or bytes, integrated over time.
#[derive(Clone, Copy, Debug, Default)]
struct Integral {
    sum: u128,
    since: Instant,
}

impl Integral {
    /// The value has been `value` since the last call.
    fn add(&mut self, now: Instant, value: u64) {
        self.sum = self.at(now, value);
        self.since = now;
    }

    /// The integral up to `now`, in nanoseconds times the unit of the value.
    fn at(&self, now: Instant, value: u64) -> u128 {
        self.sum + u128::from(now.since(self.since).0) * u128::from(value)
    }
}

/// A driver with its ring.
#[derive(Debug)]
pub struct Driver {
    ring_packets: usize,
    coalescing: Duration,
    limit: Option<ByteLimit>,
    /// Packets in the ring before their transmission.
    held: VecDeque<Packet>,
    bytes: Bytes,
    /// Packets in the ring in any state.
    inside: usize,
    /// Packets whose transmission has ended, of which the driver does not know.
    pub(crate) done: Vec<Packet>,
    waited: Integral,
    limited: Integral,
}

impl Driver {
    /// A driver with an empty ring.
    pub(crate) fn new(settings: &DriverSettings) -> Self {
        let DriverSettings { ring_packets, bql, least, most, coalescing } = *settings;
        Self {
            ring_packets: ring_packets as usize,
            coalescing,
            limit: bql.then(|| ByteLimit::new(least..=most.unwrap_or(Bytes(u64::MAX)))),
            held: VecDeque::new(),
            bytes: Bytes::ZERO,
            inside: 0,
            done: Vec::new(),
            waited: Integral::default(),
            limited: Integral::default(),
        }
    }

    /// When the driver learns of a transmission that ends now.
    pub(crate) fn learns(&self, end: Instant) -> Instant {
        end + self.coalescing
    }

    /// Takes packets from the queue while there is room in the ring. They leave the buffer of the
    /// queue.
    pub(crate) fn fill(&mut self, now: Instant, queue: &mut dyn Queue, out: &mut Vec<Signal>) {
        while self.inside < self.ring_packets
            && self.limit.as_ref().is_none_or(ByteLimit::has_room)
            && let Some(packet) = queue.pop(now, out)
        {
            queue.release(now, &packet, out);
            self.waited.add(now, self.held.len() as u64);
            if let Some(limit) = &mut self.limit {
                limit.on_queued(packet.size);
            }
            self.inside += 1;
            self.bytes += packet.size;
            self.held.push_back(packet);
        }
    }

    /// The next packet to transmit.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Packet> {
        self.waited.add(now, self.held.len() as u64);
        let packet = self.held.pop_front()?;
        self.bytes -= packet.size;
        Some(packet)
    }

    /// The driver learns of all transmissions that have ended. The caller takes them from `done`.
    pub(crate) fn complete(&mut self, now: Instant) {
        self.inside -= self.done.len();
        let bytes = self.done.iter().map(|packet| packet.size).sum();
        if let Some(limit) = &mut self.limit {
            self.limited.add(now, limit.limit().0);
            limit.on_completed(now, bytes);
        }
    }

    /// Packets in the ring before their transmission.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no packet in the ring waits for its transmission.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Bytes in the ring before their transmission.
    pub fn backlog(&self) -> Bytes {
        self.bytes
    }

    /// The limit of bytes in the ring; `None` without BQL.
    pub fn limit(&self) -> Option<Bytes> {
        self.limit.as_ref().map(ByteLimit::limit)
    }

    /// The number of packets that wait in the ring, integrated over time, in packets times
    /// nanoseconds.
    pub fn waited(&self, now: Instant) -> u64 {
        self.waited.at(now, self.held.len() as u64) as u64
    }

    /// The limit, integrated over time, in bytes times microseconds.
    pub fn limited(&self, now: Instant) -> u64 {
        let limit = self.limit().unwrap_or_default();
        (self.limited.at(now, limit.0) / 1000) as u64
    }

    /// Calls `visit` for each packet in the ring before its transmission.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.held.iter().for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use crate::queue::tests::{drop_tail, number, packet};

    /// A ring below a queue that holds some packets of 100 bytes.
    fn filled(settings: DriverSettings, packets: u64) -> (Driver, Box<dyn Queue>) {
        let (mut driver, mut queue) = (Driver::new(&settings), drop_tail(Limit::packets(10)));
        (0..packets).for_each(|n| queue.push(Instant(0), &packet(0, n, 100), &mut Vec::new()));
        driver.fill(Instant(0), &mut *queue, &mut Vec::new());
        (driver, queue)
    }

    #[test]
    fn a_fixed_ring_takes_as_many_packets_as_it_has_places() {
        let settings = DriverSettings { ring_packets: 3, bql: false, ..DriverSettings::default() };
        let (mut driver, mut queue) = filled(settings, 8);
        assert_eq!((driver.len(), driver.backlog(), queue.len()), (3, Bytes(300), 5));
        let first = driver.take(Instant(10)).unwrap();
        driver.fill(Instant(10), &mut *queue, &mut Vec::new());
        assert_eq!((number(&first), driver.len()), (0, 2), "its place is in use to the end");
        driver.done.push(first);
        driver.fill(Instant(20), &mut *queue, &mut Vec::new());
        assert_eq!(driver.len(), 2, "and until the driver knows of the end");
        driver.complete(Instant(30));
        driver.fill(Instant(30), &mut *queue, &mut Vec::new());
        assert_eq!((driver.len(), queue.len()), (3, 4));
        assert_eq!(driver.waited(Instant(40)), 10 * 3 + 20 * 2 + 10 * 3);
        assert_eq!((driver.limit(), driver.limited(Instant(40))), (None, 0));
        // The queue holds ten; those in the ring do not count.
        for n in 8..14 {
            queue.push(Instant(40), &packet(0, n, 100), &mut Vec::new());
        }
        assert_eq!(queue.len(), 10);
    }

    #[test]
    fn the_byte_limit_holds_packets_back_in_the_queue() {
        let (least, most) = (Bytes(150), Some(Bytes(150)));
        let settings = DriverSettings { least, most, ..DriverSettings::default() };
        let (mut driver, mut queue) = filled(settings, 8);
        assert_eq!(driver.len(), 2, "a packet may exceed the limit, none follows it");
        assert_eq!((driver.limit(), driver.limited(Instant(2000))), (most, 300));
        let first = driver.take(Instant(10)).unwrap();
        driver.done.push(first);
        driver.complete(Instant(10));
        driver.fill(Instant(10), &mut *queue, &mut Vec::new());
        assert_eq!(driver.len(), 2);
    }
}
