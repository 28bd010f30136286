//! Drop-tail: first in, first out; what finds no room is dropped.

use super::{Limit, Queue, Room, Verdict};
use kernel::{Bytes, Instant};
use std::collections::VecDeque;
use wire::Packet;

/// First in, first out; what finds no room is dropped.
#[derive(Debug)]
pub struct DropTail {
    waiting: VecDeque<Packet>,
    backlog: Bytes,
    room: Room,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Self { waiting: VecDeque::new(), backlog: Bytes::ZERO, room: Room::new(limit) }
    }
}

impl Queue for DropTail {
    fn push(&mut self, _now: Instant, packet: Packet) -> Verdict {
        if !self.room.take(packet.size) {
            return Verdict::Dropped;
        }
        self.backlog += packet.size;
        self.waiting.push_back(packet);
        Verdict::Queued
    }

    fn pop(&mut self, _now: Instant) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.backlog -= packet.size;
        Some(packet)
    }

    fn release(&mut self, size: Bytes) {
        self.room.free(size);
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn backlog(&self) -> Bytes {
        self.backlog
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;

    const NOW: Instant = Instant(0);

    #[test]
    fn the_packet_in_service_holds_its_room_until_released() {
        let mut queue = DropTail::new(Limit::packets(2));
        assert_eq!(queue.push(NOW, packet(0, 0, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 1, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 2, 100)), Verdict::Dropped);
        assert_eq!(queue.pop(NOW), Some(packet(0, 0, 100)));
        assert_eq!((queue.len(), queue.backlog()), (1, Bytes(100)));
        assert_eq!(queue.push(NOW, packet(0, 3, 100)), Verdict::Dropped);
        queue.release(Bytes(100));
        assert_eq!(queue.push(NOW, packet(0, 4, 100)), Verdict::Queued);
    }

    #[test]
    fn several_packets_may_be_in_service() {
        let mut queue = DropTail::new(Limit::packets(3));
        for number in 0..3 {
            assert_eq!(queue.push(NOW, packet(0, number, 100)), Verdict::Queued);
        }
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop(NOW)).collect();
        assert_eq!(popped.len(), 3);
        assert_eq!(queue.push(NOW, packet(0, 3, 100)), Verdict::Dropped);
        queue.release(Bytes(100));
        queue.release(Bytes(100));
        assert_eq!(queue.push(NOW, packet(0, 4, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 5, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 6, 100)), Verdict::Dropped);
    }

    #[test]
    fn a_limit_in_bytes_is_filled_to_the_last_byte_and_lets_a_smaller_packet_in() {
        let mut queue = DropTail::new(Limit::bytes(Bytes(1000)));
        assert_eq!(queue.push(NOW, packet(0, 0, 600)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 1, 401)), Verdict::Dropped);
        assert_eq!(queue.push(NOW, packet(0, 2, 400)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 3, 1)), Verdict::Dropped);
    }

    #[test]
    fn both_limits_hold_together() {
        let limit = Limit { packets: Some(2), bytes: Some(Bytes(1000)) };
        let mut queue = DropTail::new(limit);
        assert_eq!(queue.push(NOW, packet(0, 0, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 1, 950)), Verdict::Dropped);
        assert_eq!(queue.push(NOW, packet(0, 2, 100)), Verdict::Queued);
        assert_eq!(queue.push(NOW, packet(0, 3, 100)), Verdict::Dropped);
    }
}
