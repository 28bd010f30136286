//! Drop-tail: first in, first out; what finds no room is dropped.

use super::fifo::Fifo;
use super::{Limit, Queue, Room, Signal, Wanted};
use kernel::{Bytes, Instant};
use wire::Packet;

/// First in, first out; what finds no room is dropped.
#[derive(Debug)]
pub struct DropTail {
    fifo: Fifo,
    room: Room,
}

impl DropTail {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Self { fifo: Fifo::default(), room: Room::new(limit) }
    }
}

impl Queue for DropTail {
    fn push(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>) {
        if self.room.take(packet.size) {
            self.fifo.push(now, packet);
        } else {
            out.push(Signal::Drop(packet));
        }
    }

    fn pop(&mut self, _now: Instant, _out: &mut Vec<Signal>) -> Option<Packet> {
        self.fifo.pop().map(|(_, packet)| packet)
    }

    fn pop_for(
        &mut self,
        _now: Instant,
        wanted: &Wanted,
        _out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        if !self.fifo.has(wanted) {
            return None;
        }
        self.fifo.pop_for(wanted.station).map(|(_, packet)| packet)
    }

    fn release(&mut self, _now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        self.room.free(packet.size);
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn backlog(&self) -> Bytes {
        self.fifo.backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.fifo.each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, packet};
    use super::*;

    const NOW: Instant = Instant(0);

    #[test]
    fn the_packet_in_service_holds_its_room_until_released() {
        let mut queue = DropTail::new(Limit::packets(2));
        assert!(accepts(&mut queue, NOW, packet(0, 0, 100)));
        assert!(accepts(&mut queue, NOW, packet(0, 1, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 2, 100)));
        assert_eq!(queue.pop(NOW, &mut Vec::new()), Some(packet(0, 0, 100)));
        assert_eq!((queue.len(), queue.backlog()), (1, Bytes(100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
        queue.release(NOW, &packet(0, 0, 100), &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 4, 100)));
    }

    #[test]
    fn several_packets_may_be_in_service() {
        let mut queue = DropTail::new(Limit::packets(3));
        for number in 0..3 {
            assert!(accepts(&mut queue, NOW, packet(0, number, 100)));
        }
        assert_eq!(drain(&mut queue, NOW), [(0, 0), (0, 1), (0, 2)]);
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
        queue.release(NOW, &packet(0, 0, 100), &mut Vec::new());
        queue.release(NOW, &packet(0, 1, 100), &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 4, 100)));
        assert!(accepts(&mut queue, NOW, packet(0, 5, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 6, 100)));
    }

    #[test]
    fn a_limit_in_bytes_is_filled_to_the_last_byte_and_lets_a_smaller_packet_in() {
        let mut queue = DropTail::new(Limit::bytes(Bytes(1000)));
        assert!(accepts(&mut queue, NOW, packet(0, 0, 600)));
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 401)));
        assert!(accepts(&mut queue, NOW, packet(0, 2, 400)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 1)));
    }

    #[test]
    fn both_limits_hold_together() {
        let limit = Limit { packets: Some(2), bytes: Some(Bytes(1000)) };
        let mut queue = DropTail::new(limit);
        assert!(accepts(&mut queue, NOW, packet(0, 0, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 950)));
        assert!(accepts(&mut queue, NOW, packet(0, 2, 100)));
        assert!(!accepts(&mut queue, NOW, packet(0, 3, 100)));
    }
}
