//! Deficit round robin (Shreedhar and Varghese, IEEE/ACM Trans. Networking 4:3, 1996).

use super::{Limit, Queue, Room, Verdict};
use kernel::{Bytes, Instant};
use std::collections::VecDeque;
use wire::Packet;

/// What has a sub-queue of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Each flow.
    Flow,
    /// Each destination; broadcast is one of them.
    Station,
}

impl Per {
    /// Index of a packet's sub-queue: the plan numbers flows and nodes densely from 0.
    fn index(self, packet: &Packet) -> usize {
        match self {
            Self::Flow => packet.flow().0 as usize,
            Self::Station => packet.to.map_or(0, |node| node.0 as usize + 1),
        }
    }
}

/// Deficit round robin: per round, each backlogged sub-queue sends its quantum of bytes.
///
/// Each packet costs O(1) if the quantum is at least the greatest packet. With a smaller one a
/// packet costs as many rounds as its size takes quanta.
#[derive(Debug)]
pub struct Drr {
    per: Per,
    quantum: Bytes,
    limit: Limit,
    queues: Vec<SubQueue>,
    /// Backlogged sub-queues in the order of their turns; the first one's turn is running.
    turns: VecDeque<usize>,
    /// Whether the first one has got its quantum for this turn.
    granted: bool,
    /// Sub-queue and size of each packet in service, oldest first.
    in_service: VecDeque<(usize, Bytes)>,
    len: usize,
    backlog: Bytes,
}

#[derive(Debug)]
struct SubQueue {
    waiting: VecDeque<Packet>,
    deficit: Bytes,
    room: Room,
}

impl Drr {
    /// An empty queue. A quantum of zero would never send: it counts as one byte.
    pub fn new(per: Per, quantum: Bytes, limit: Limit) -> Self {
        Self {
            per,
            quantum: quantum.max(Bytes(1)),
            limit,
            queues: Vec::new(),
            turns: VecDeque::new(),
            granted: false,
            in_service: VecDeque::new(),
            len: 0,
            backlog: Bytes::ZERO,
        }
    }
}

impl Queue for Drr {
    fn push(&mut self, _now: Instant, packet: Packet) -> Verdict {
        let index = self.per.index(&packet);
        if index >= self.queues.len() {
            let empty = || SubQueue {
                waiting: VecDeque::new(),
                deficit: Bytes::ZERO,
                room: Room::new(self.limit),
            };
            self.queues.resize_with(index + 1, empty);
        }
        let queue = &mut self.queues[index];
        if !queue.room.take(packet.size) {
            return Verdict::Dropped;
        }
        if queue.waiting.is_empty() {
            self.turns.push_back(index);
        }
        queue.waiting.push_back(packet);
        self.len += 1;
        self.backlog += packet.size;
        Verdict::Queued
    }

    fn pop(&mut self, _now: Instant) -> Option<Packet> {
        loop {
            let index = *self.turns.front()?;
            let queue = &mut self.queues[index];
            if !self.granted {
                queue.deficit += self.quantum;
                self.granted = true;
            }
            let Some(packet) = queue.waiting.pop_front_if(|first| first.size <= queue.deficit)
            else {
                self.turns.rotate_left(1);
                self.granted = false;
                continue;
            };
            queue.deficit -= packet.size;
            if queue.waiting.is_empty() {
                // Credit is not saved up while there is nothing to send (the paper's rule).
                queue.deficit = Bytes::ZERO;
                self.turns.pop_front();
                self.granted = false;
            }
            self.in_service.push_back((index, packet.size));
            self.len -= 1;
            self.backlog -= packet.size;
            return Some(packet);
        }
    }

    /// Frees the room of the oldest packet in service of this size. Where packets of equal size
    /// but of different sub-queues are in service together, they should leave in their order.
    fn release(&mut self, size: Bytes) {
        let leaving = self.in_service.iter().position(|&(_, held)| held == size);
        debug_assert!(leaving.is_some(), "no packet of {size} is in service");
        if let Some((index, size)) = leaving.and_then(|i| self.in_service.remove(i)) {
            self.queues[index].room.free(size);
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn backlog(&self) -> Bytes {
        self.backlog
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queues.iter().flat_map(|queue| &queue.waiting).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{number, packet};
    use super::*;
    use proptest::prelude::*;

    const NOW: Instant = Instant(0);

    fn drain(queue: &mut Drr) -> Vec<(u32, u64)> {
        let popped = std::iter::from_fn(|| queue.pop(NOW));
        popped.map(|p| (p.flow().0, number(&p))).collect()
    }

    #[test]
    fn serves_a_quantum_per_turn_and_carries_the_deficit() {
        let mut queue = Drr::new(Per::Flow, Bytes(500), Limit::NONE);
        for (number, size) in [200, 750, 100].into_iter().enumerate() {
            queue.push(NOW, packet(1, number as u64, size));
        }
        for (number, size) in [500, 500].into_iter().enumerate() {
            queue.push(NOW, packet(2, number as u64, size));
        }
        // Turn by turn: 1 sends 200 and keeps 300; 2 sends 500; 1 has 800 and sends 750, keeps 50;
        // 2 sends 500; 1 has 550 and sends 100.
        assert_eq!(drain(&mut queue), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
    }

    #[test]
    fn an_emptied_sub_queue_loses_its_credit() {
        let mut queue = Drr::new(Per::Flow, Bytes(1000), Limit::NONE);
        queue.push(NOW, packet(0, 0, 100));
        assert_eq!(drain(&mut queue), [(0, 0)]);
        assert_eq!(queue.queues[0].deficit, Bytes::ZERO);
    }

    #[test]
    fn a_packet_above_the_quantum_waits_for_several_rounds() {
        let mut queue = Drr::new(Per::Flow, Bytes(0), Limit::NONE);
        queue.push(NOW, packet(0, 0, 90));
        queue.push(NOW, packet(1, 0, 30));
        assert_eq!(drain(&mut queue), [(1, 0), (0, 0)]);
    }

    #[test]
    fn broadcast_and_stations_have_sub_queues_of_their_own() {
        let mut queue = Drr::new(Per::Station, Bytes(1500), Limit::packets(1));
        let broadcast = Packet { to: None, ..packet(7, 1, 1500) };
        let same_station = Packet { to: packet(3, 0, 1500).to, ..packet(9, 2, 1500) };
        assert_eq!(queue.push(NOW, packet(3, 0, 1500)), Verdict::Queued);
        assert_eq!(queue.push(NOW, broadcast), Verdict::Queued);
        assert_eq!(queue.push(NOW, same_station), Verdict::Dropped, "flow 9 shares with flow 3");
        assert_eq!(drain(&mut queue), [(3, 0), (7, 1)]);
    }

    #[test]
    fn room_is_given_back_to_the_sub_queue_that_held_it() {
        let mut queue = Drr::new(Per::Flow, Bytes(1500), Limit::packets(1));
        queue.push(NOW, packet(0, 0, 1500));
        queue.push(NOW, packet(1, 0, 40));
        assert_eq!(drain(&mut queue).len(), 2);
        queue.release(Bytes(40));
        assert_eq!(queue.push(NOW, packet(0, 1, 1500)), Verdict::Dropped);
        assert_eq!(queue.push(NOW, packet(1, 1, 40)), Verdict::Queued);
        queue.release(Bytes(1500));
        assert_eq!(queue.push(NOW, packet(0, 1, 1500)), Verdict::Queued);
    }

    proptest! {
        /// Between any two sub-queues that stay backlogged, the bytes served never differ by more
        /// than a quantum and two packets (Shreedhar and Varghese's bound on the fairness measure).
        #[test]
        fn is_fair_while_backlogged(
            quantum in 100u64..3000,
            sizes in prop::collection::vec(prop::collection::vec(28u64..1600, 200), 2..6),
        ) {
            let mut queue = Drr::new(Per::Flow, Bytes(quantum), Limit::NONE);
            let most = *sizes.iter().flatten().max().unwrap();
            for number in 0..200 {
                for (flow, sizes) in sizes.iter().enumerate() {
                    queue.push(NOW, packet(flow as u32, number, sizes[number as usize]));
                }
            }
            let mut served = vec![0; sizes.len()];
            while let Some(packet) = queue.pop(NOW) {
                served[packet.flow().0 as usize] += packet.size.0;
                if queue.queues.iter().any(|q| q.waiting.is_empty()) {
                    break;
                }
                let (low, high) = (served.iter().min().unwrap(), served.iter().max().unwrap());
                prop_assert!(high - low <= quantum + 2 * most, "{served:?}");
            }
            prop_assert!(served.iter().all(|&bytes| bytes > 0));
        }
    }
}
