//! The bytes of packets that are in the network.

use kernel::Instant;
use std::collections::VecDeque;

/// The most bytes that may be in the network; a packet beyond is refused.
const MOST_BYTES: usize = 64 << 20;

/// The packets of each flow, by number.
#[derive(Debug)]
pub(crate) struct Arena {
    flows: Vec<Line>,
    bytes: usize,
}

/// The packets of a flow from the oldest that is in the network.
#[derive(Clone, Debug, Default)]
struct Line {
    first: u64,
    packets: VecDeque<Option<(Instant, Box<[u8]>)>>,
}

impl Arena {
    /// For this many flows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { flows: vec![Line::default(); flows], bytes: 0 }
    }

    /// Whether a packet of this size has room.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.bytes + len <= MOST_BYTES
    }

    /// Keeps the next packet of a flow, which enters at this instant.
    pub(crate) fn put(&mut self, flow: usize, at: Instant, bytes: Box<[u8]>) {
        self.bytes += bytes.len();
        self.flows[flow].packets.push_back(Some((at, bytes)));
    }

    /// Takes a packet out, with the instant at which it has entered; it is there once.
    pub(crate) fn take(&mut self, flow: usize, number: u64) -> Option<(Instant, Box<[u8]>)> {
        let line = &mut self.flows[flow];
        let place = number.checked_sub(line.first)? as usize;
        let (at, bytes) = line.packets.get_mut(place)?.take()?;
        while let Some(None) = line.packets.front() {
            line.packets.pop_front();
            line.first += 1;
        }
        self.bytes -= bytes.len();
        Some((at, bytes))
    }

    /// How many packets are in the network.
    pub(crate) fn resident(&self) -> usize {
        (0..self.flows.len()).map(|flow| self.resident_of(flow)).sum()
    }

    /// How many packets of a flow are in the network.
    pub(crate) fn resident_of(&self, flow: usize) -> usize {
        self.flows[flow].packets.iter().flatten().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_taken_once_and_in_any_order() {
        let mut arena = Arena::new(2);
        for number in 0..4 {
            arena.put(1, Instant(u64::from(number)), vec![number; 10].into());
        }
        assert_eq!(arena.take(1, 2), Some((Instant(2), [2; 10].into())));
        assert_eq!(arena.take(1, 2), None);
        assert_eq!(arena.take(0, 0), None);
        assert_eq!(arena.resident(), 3);
        for number in [0, 1, 3] {
            assert!(arena.take(1, number).is_some());
        }
        arena.put(1, Instant(4), vec![4; 10].into());
        assert_eq!(arena.take(1, 3), None);
        assert_eq!(arena.take(1, 4).map(|(_, bytes)| bytes).as_deref(), Some(&[4; 10][..]));
        assert_eq!((arena.resident(), arena.bytes), (0, 0));
    }

    #[test]
    fn room_ends_and_comes_again() {
        let mut arena = Arena::new(1);
        arena.put(0, Instant::ZERO, vec![0; MOST_BYTES - 5].into());
        assert!(arena.has_room(5) && !arena.has_room(6));
        arena.take(0, 0);
        assert!(arena.has_room(MOST_BYTES));
    }
}
