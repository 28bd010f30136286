//! SFQ, stochastic fairness queueing (`McKenney`, IEEE INFOCOM 1990).

use super::buffer::Buffer;
use super::fifo::Fifo;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Classifier, SubQueues};
use super::{Discipline, Limit, OutputLink, Queue, Signal, Wanted};
use kernel::{Instant, Rng};
use settings::Settings;
use std::collections::VecDeque;
use wire::Packet;

/// SFQ, stochastic fairness queueing (`McKenney` 1990): sub-queues to which flows are hashed and
/// which send one packet each in turn. If the buffer is full, the longest sub-queue loses its first
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct SfqConfig {
    /// The number of sub-queues.
    #[setting(default = 1024, range = 1..=1_048_576)]
    pub buckets: u32,
    /// The limits of all sub-queues together.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for SfqConfig {
    fn build(&self, _: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        Box::new(Sfq::queue(*self, &mut rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// Sub-queues that send one packet each in turn. The hash is drawn once: drawing it again
/// periodically, as in the paper, would reorder packets of a flow.
#[derive(Debug)]
struct Sfq {
    classifier: Classifier,
    sub_queues: SubQueues<Fifo>,
    /// Backlogged sub-queues in the order of their turns.
    turns: VecDeque<usize>,
}

impl Sfq {
    /// An empty queue.
    fn queue(config: SfqConfig, rng: &mut Rng) -> Shared<Self> {
        let classifier = Classifier::new(Some(config.buckets), rng);
        let sfq = Self { classifier, sub_queues: SubQueues::new(), turns: VecDeque::new() };
        Shared::new(sfq, Buffer::new(config.limit))
    }
}

impl Scheduler for Sfq {
    fn enqueue(&mut self, now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        let number = self.sub_queues.number_or(self.classifier.key(packet), Fifo::default);
        if self.sub_queues[number].is_empty() {
            self.turns.push_back(number);
        }
        self.sub_queues[number].push(now, packet);
    }

    fn dequeue(&mut self, _now: Instant, _out: &mut Vec<Signal>) -> Option<Packet> {
        let number = self.turns.pop_front()?;
        let packet = self.sub_queues[number].pop()?;
        if !self.sub_queues[number].is_empty() {
            self.turns.push_back(number);
        }
        Some(packet)
    }

    /// The turn of this sub-queue has ended.
    fn dequeue_for(
        &mut self,
        _now: Instant,
        wanted: &Wanted,
        _out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let sub_queues = &mut self.sub_queues;
        let turn = self.turns.iter().position(|&number| sub_queues[number].has(wanted))?;
        let number = self.turns.remove(turn)?;
        let packet = sub_queues[number].pop_for(wanted.to)?;
        if !sub_queues[number].is_empty() {
            self.turns.push_back(number);
        }
        Some(packet)
    }

    /// The first packet of the longest sub-queue; of equally long ones, the one whose turn is last.
    fn give_up(&mut self, _now: Instant, out: &mut Vec<Signal>) {
        let sub_queues = &self.sub_queues;
        let longest = (0..self.turns.len()).max_by_key(|&turn| sub_queues[self.turns[turn]].len());
        let Some(turn) = longest else { return };
        let number = self.turns[turn];
        let Some(packet) = self.sub_queues[number].pop() else { return };
        if self.sub_queues[number].is_empty() {
            self.turns.remove(turn);
        }
        out.push(Signal::Drop(packet));
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.sub_queues.iter().for_each(|sub_queue| sub_queue.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, packet, rng};
    use super::*;
    use kernel::Bytes;

    const NOW: Instant = Instant(0);

    fn sfq(buckets: u32, limit: Limit) -> Shared<Sfq> {
        Sfq::queue(SfqConfig { buckets, limit }, &mut rng())
    }

    /// Two flows that are hashed to different sub-queues.
    fn apart(queue: &Shared<Sfq>) -> (u32, u32) {
        let key = |flow| queue.scheduler.classifier.key(&packet(flow, 0, 100));
        (0, (1..100).find(|&flow| key(flow) != key(0)).expect("not all in one bucket"))
    }

    #[test]
    fn flows_send_a_packet_each_in_turn() {
        let mut queue = sfq(1024, Limit::NONE);
        let (a, b) = apart(&queue);
        for number in 0..3 {
            assert!(accepts(&mut queue, NOW, packet(a, number, 1500)));
        }
        assert!(accepts(&mut queue, NOW, packet(b, 0, 100)));
        assert!(accepts(&mut queue, NOW, packet(b, 1, 100)));
        assert_eq!(drain(&mut queue, NOW), [(a, 0), (b, 0), (a, 1), (b, 1), (a, 2)]);
        assert_eq!((queue.len(), queue.backlog()), (0, Bytes::ZERO));
    }

    #[test]
    fn flows_of_one_bucket_wait_behind_each_other() {
        let mut queue = sfq(1, Limit::NONE);
        for (flow, number) in [(0, 0), (0, 1), (5, 0), (0, 2)] {
            assert!(accepts(&mut queue, NOW, packet(flow, number, 100)));
        }
        assert_eq!(drain(&mut queue, NOW), [(0, 0), (0, 1), (5, 0), (0, 2)]);
    }

    #[test]
    fn the_longest_gives_room_to_the_others() {
        let mut queue = sfq(1024, Limit::packets(3));
        let (a, b) = apart(&queue);
        for number in 0..3 {
            assert!(accepts(&mut queue, NOW, packet(a, number, 1500)));
        }
        assert!(accepts(&mut queue, NOW, packet(b, 0, 100)), "and the first of the other goes");
        assert_eq!(drain(&mut queue, NOW), [(a, 1), (b, 0), (a, 2)]);
    }

    #[test]
    fn a_packet_in_service_holds_its_room() {
        let mut queue = sfq(8, Limit::packets(1));
        assert!(accepts(&mut queue, NOW, packet(0, 0, 100)));
        let first = queue.pop(NOW, &mut Vec::new()).expect("one waits");
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 100)));
        queue.release(NOW, &first, &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 2, 100)));
    }
}
