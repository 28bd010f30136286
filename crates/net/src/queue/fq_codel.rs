//! FQ-CoDel (RFC 8290): a sub-queue with `CoDel` for each flow, served by deficit round robin with
//! priority for new flows.

use super::buffer::Buffer;
use super::codel::Control;
use super::fifo::Fifo;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Classifier, SubQueues};
use super::{
    ControlLaw, Destination, Discipline, Limit, OutputLink, Queue, Signal, Traits, Wanted,
};
use kernel::{Bytes, Instant, Rng};
use settings::Settings;
use std::collections::VecDeque;
use wire::Packet;

/// FQ-CoDel: `CoDel` for each flow and deficit round robin with priority for new flows (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct FqCoDelConfig {
    /// The control law of each sub-queue.
    #[setting(flatten, default = ControlLaw { ecn: true, ..ControlLaw::default() })]
    pub law: ControlLaw,
    /// The bytes that a sub-queue may send per round (RFC 8290 section 5.2.4).
    #[setting(key = "quantum_bytes", default = 1514, range = 1..=1_000_000)]
    pub quantum: Bytes,
    /// The number of sub-queues to which flows are hashed, 1024 in RFC 8290. Default: one for each
    /// direction of each flow.
    #[setting(range = 1..=1_048_576)]
    pub buckets: Option<u32>,
    /// The maximum number of packets dropped at once from the sub-queue with the most bytes when
    /// the limit is reached.
    #[setting(key = "drop_batch_packets", default = 64, range = 1..=1_000_000)]
    pub drop_batch: u32,
    /// The limits of all sub-queues together.
    #[setting(flatten, default = Limit::packets(10_240))]
    pub limit: Limit,
}

impl Discipline for FqCoDelConfig {
    fn build(&self, _: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        Box::new(FqCoDel::queue(*self, &mut rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn traits(&self) -> Traits<'_> {
        Traits { tells_l4s_apart: self.law.ce_threshold.is_some(), ..Traits::default() }
    }
}

#[derive(Debug)]
struct FlowQueue {
    fifo: Fifo,
    control: Control,
    /// The credits in bytes: what it may send before its turn ends; below 0 after a larger packet.
    credits: i64,
    /// Whether it is in the list of new sub-queues or in that of old ones.
    is_listed: bool,
}

impl FlowQueue {
    fn new() -> Self {
        let (fifo, control) = (Fifo::default(), Control::default());
        Self { fifo, control, credits: 0, is_listed: false }
    }
}

/// The sub-queues and the lists of new and old ones.
#[derive(Debug)]
struct FqCoDel {
    law: ControlLaw,
    quantum: i64,
    drop_batch: u32,
    classifier: Classifier,
    sub_queues: SubQueues<FlowQueue>,
    /// Sub-queues on their first turn, which are served before all old ones.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl FqCoDel {
    /// An empty queue. With a quantum of zero it would never send, so that zero counts as one byte.
    fn queue(config: FqCoDelConfig, rng: &mut Rng) -> Shared<Self> {
        let fq_codel = Self {
            law: config.law,
            quantum: (config.quantum.0 as i64).max(1),
            drop_batch: config.drop_batch.max(1),
            classifier: Classifier::new(config.buckets, rng),
            sub_queues: SubQueues::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        };
        Shared::new(fq_codel, Buffer::new(config.limit))
    }

    /// The sub-queue whose turn it is, and whether it is a new one.
    fn turn(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let number = *list.front()?;
            let sub_queue = &mut self.sub_queues[number];
            if sub_queue.credits > 0 {
                return Some((number, is_new));
            }
            sub_queue.credits += self.quantum;
            self.move_to_old(is_new);
        }
    }

    /// Takes a packet from a sub-queue, of those for `to`, and deducts it from the credits.
    fn take(
        &mut self,
        number: usize,
        to: Destination,
        now: Instant,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let sub_queue = &mut self.sub_queues[number];
        let packet = sub_queue.control.pop(&self.law, now, &mut sub_queue.fifo, to, out)?;
        sub_queue.credits -= packet.size.0 as i64;
        Some(packet)
    }

    /// Moves the first sub-queue of its list to the end of the old ones.
    fn move_to_old(&mut self, is_new: bool) {
        if let Some(number) = if is_new { &mut self.new } else { &mut self.old }.pop_front() {
            self.old.push_back(number);
        }
    }
}

impl Scheduler for FqCoDel {
    fn enqueue(&mut self, now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        let number = self.sub_queues.number_or(self.classifier.key(packet), FlowQueue::new);
        let sub_queue = &mut self.sub_queues[number];
        sub_queue.fifo.push(now, packet);
        if !sub_queue.is_listed {
            sub_queue.is_listed = true;
            sub_queue.credits = self.quantum;
            self.new.push_back(number);
        }
    }

    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        loop {
            let (number, is_new) = self.turn()?;
            let packet = self.take(number, Destination::Any, now, out);
            if packet.is_some() {
                return packet;
            }
            // An empty sub-queue is removed, but a new one only after a turn in the list of old
            // ones. Otherwise it could always return as new, and the others would get no service
            // (section 4.2).
            if is_new {
                self.move_to_old(true);
            } else {
                self.sub_queues[number].is_listed = false;
                self.old.pop_front();
            }
        }
    }

    /// Bytes sent beyond the credits delay the next turn of the sub-queue.
    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let mut listed = self.new.iter().chain(&self.old).copied();
        let sub_queues = &mut self.sub_queues;
        let number = listed.find(|&number| sub_queues[number].fifo.has(wanted))?;
        self.take(number, wanted.to, now, out)
    }

    /// Drops from the head of the sub-queue with the most bytes: half of its backlog, but at most a
    /// batch (section 4.1.2). Of sub-queues with equally many bytes, the one with the most packets
    /// drops: packets may have no bytes.
    fn give_up(&mut self, _now: Instant, out: &mut Vec<Signal>) {
        let occupancy =
            |sub_queue: &&mut FlowQueue| (sub_queue.fifo.backlog(), sub_queue.fifo.len());
        let Some(fattest) = self.sub_queues.iter_mut().max_by_key(occupancy) else { return };
        let enough = fattest.fifo.backlog().0 / 2;
        let mut dropped = Bytes::ZERO;
        for _ in 0..self.drop_batch {
            let Some(packet) = fattest.fifo.pop() else { break };
            dropped += packet.size;
            out.push(Signal::Drop(packet));
            if dropped.0 >= enough {
                break;
            }
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.sub_queues.iter().for_each(|sub_queue| sub_queue.fifo.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Codepoints;
    use super::super::load::{SERVICE, responsive};
    use super::super::tests::{accepts, drain, number, packet, rng};
    use super::*;
    use kernel::{Duration, Id};
    use wire::{Body, Flags, FlowId, SackBlocks, Segment};

    const LAW: ControlLaw = ControlLaw {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu: Bytes(1500),
        ecn: false,
        ce_threshold: None,
        ce_threshold_for: Codepoints::AnyEct,
    };
    const CONFIG: FqCoDelConfig = FqCoDelConfig {
        law: LAW,
        quantum: Bytes(1514),
        buckets: None,
        drop_batch: 64,
        limit: Limit::packets(10_240),
    };
    const NOW: Instant = Instant(0);

    fn queue(config: FqCoDelConfig) -> Shared<FqCoDel> {
        FqCoDel::queue(config, &mut rng())
    }

    fn fill(queue: &mut Shared<FqCoDel>, flow: u32, numbers: std::ops::Range<u64>, size: u64) {
        for number in numbers {
            assert!(accepts(queue, NOW, packet(flow, number, size)));
        }
    }

    #[test]
    fn a_flow_that_has_just_begun_goes_first_and_once() {
        let mut queue = queue(CONFIG);
        fill(&mut queue, 1, 0..10, 1500);
        fill(&mut queue, 2, 0..10, 1500);
        let mut order = Vec::new();
        let mut next = |queue: &mut Shared<FqCoDel>| {
            let packet = queue.pop(NOW, &mut Vec::new()).unwrap();
            order.push((packet.flow().unwrap().0, number(&packet)));
        };
        // Each may send a packet beyond its credits of 1514 bytes before its first turn ends.
        (0..5).for_each(|_| next(&mut queue));
        fill(&mut queue, 3, 0..1, 100);
        (0..3).for_each(|_| next(&mut queue));
        assert_eq!(
            order,
            [(1, 0), (1, 1), (2, 0), (2, 1), (1, 2), (3, 0), (2, 2), (1, 3)],
            "flow 3 cuts in before both old ones"
        );
    }

    #[test]
    fn an_emptied_new_flow_has_a_turn_among_the_old_before_it_is_new_again() {
        let mut queue = queue(FqCoDelConfig { quantum: Bytes(3000), ..CONFIG });
        let next = |queue: &mut Shared<FqCoDel>| {
            queue.pop(NOW, &mut Vec::new()).unwrap().flow().unwrap().0
        };
        fill(&mut queue, 1, 0..100, 1000);
        assert_eq!([1, 1, 1].map(|_| next(&mut queue)), [1; 3]);
        fill(&mut queue, 2, 0..1, 100);
        assert_eq!([(); 2].map(|()| next(&mut queue)), [2, 1]);
        // Flow 2 was found empty. It is now among the old ones, behind flow 1.
        fill(&mut queue, 2, 1..2, 100);
        assert_eq!([(); 4].map(|()| next(&mut queue)), [1, 1, 2, 1]);
        // An old sub-queue that is found empty is removed, and is new again when a packet arrives.
        assert_eq!([(); 6].map(|()| next(&mut queue)), [1; 6]);
        fill(&mut queue, 2, 2..3, 100);
        assert_eq!([(); 2].map(|()| next(&mut queue)), [2, 1]);
    }

    #[test]
    fn backlogged_flows_share_bytes_and_not_packets() {
        let mut queue = queue(FqCoDelConfig { quantum: Bytes(300), ..CONFIG });
        fill(&mut queue, 1, 0..1000, 1500);
        fill(&mut queue, 2, 0..6000, 250);
        let mut bytes = [0, 0];
        for _ in 0..3000 {
            let packet = queue.pop(NOW, &mut Vec::new()).unwrap();
            bytes[packet.flow().unwrap().index() - 1] += packet.size.0;
            let apart = bytes[0].abs_diff(bytes[1]);
            assert!(apart <= 300 + 2 * 1500, "{bytes:?}: more than a quantum and two packets");
        }
    }

    #[test]
    fn without_room_the_fattest_loses_half_from_its_head_but_no_more_than_a_batch() {
        let mut wide = queue(FqCoDelConfig { limit: Limit::packets(11), ..CONFIG });
        fill(&mut wide, 1, 0..8, 1500);
        fill(&mut wide, 2, 0..3, 100);
        let mut out = Vec::new();
        wide.push(NOW, &packet(2, 3, 100), &mut out);
        let dropped = |number| Signal::Drop(packet(1, number, 1500));
        assert_eq!(out, [0, 1, 2, 3].map(dropped));
        assert_eq!((wide.len(), wide.backlog()), (8, Bytes(4 * 1500 + 4 * 100)));
        let batch = FqCoDelConfig { limit: Limit::packets(11), drop_batch: 2, ..CONFIG };
        let mut narrow = queue(batch);
        fill(&mut narrow, 1, 0..11, 1500);
        out.clear();
        narrow.push(NOW, &packet(2, 0, 100), &mut out);
        assert_eq!(out, [0, 1].map(dropped));
        assert_eq!(narrow.len(), 10);
    }

    #[test]
    fn without_room_packets_without_bytes_are_dropped_where_most_of_them_wait() {
        let mut queue = queue(FqCoDelConfig { limit: Limit::packets(3), ..CONFIG });
        fill(&mut queue, 1, 0..2, 0);
        fill(&mut queue, 2, 0..1, 0);
        let mut out = Vec::new();
        queue.push(NOW, &packet(2, 1, 0), &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(queue.len(), 3);
    }

    #[test]
    fn both_directions_of_a_connection_are_flows_of_their_own() {
        let segment = |forward| Segment {
            flow: FlowId(3),
            connection: 0,
            forward,
            seq: 0,
            len: 0,
            ack: 0,
            window: 0,
            flags: Flags::ACK,
            timestamps: None,
            sack: SackBlocks::NONE,
            coded: None,
        };
        let of = |forward| Packet { body: Body::Segment(segment(forward)), ..packet(3, 0, 1500) };
        let mut queue = queue(CONFIG);
        for _ in 0..3 {
            assert!(accepts(&mut queue, NOW, of(true)));
        }
        assert!(accepts(&mut queue, NOW, of(false)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(NOW, &mut Vec::new())).collect();
        assert_eq!(order, [of(true), of(true), of(false), of(true)]);
    }

    #[test]
    fn hashed_flows_share_buckets_as_chance_has_it() {
        let mut queue = queue(FqCoDelConfig { buckets: Some(64), ..CONFIG });
        for flow in 0..1000 {
            fill(&mut queue, flow, 0..1, 100);
        }
        let sub_queues = &queue.scheduler.sub_queues;
        let sizes: Vec<_> =
            sub_queues.iter().map(|sub_queue| sub_queue.fifo.len() as f64).collect();
        assert_eq!(sizes.len(), 64);
        let expected = 1000.0 / 64.0;
        let chi2: f64 = sizes.iter().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi2 < 103.4, "chi-squared of 63 degrees at 0.1 %: {chi2}");
        let mut other = FqCoDel::queue(
            FqCoDelConfig { buckets: Some(64), ..CONFIG },
            &mut kernel::Seed { root: 8, replication: 0 }.stream("test.queue", 0),
        );
        for flow in 0..1000 {
            fill(&mut other, flow, 0..1, 100);
        }
        assert_ne!(drain(&mut queue, NOW), drain(&mut other, NOW), "each run hashes anew");
        let mut one = queue_of_one_bucket();
        fill(&mut one, 1, 0..2, 1500);
        fill(&mut one, 2, 0..1, 1500);
        assert_eq!(drain(&mut one, NOW), [(1, 0), (1, 1), (2, 0)], "one bucket is a FIFO");
    }

    fn queue_of_one_bucket() -> Shared<FqCoDel> {
        queue(FqCoDelConfig { buckets: Some(1), ..CONFIG })
    }

    #[test]
    fn one_aggressive_flow_takes_no_more_than_its_share_and_delays_no_sparse_one() {
        // Flows 0 and 1 send 4 and 1.5 packets in the service time of one packet; flow 2 sends one
        // in 20.
        let mut queue = queue(CONFIG);
        let mut served = [0u32; 3];
        let (mut worst, mut sent) = (Duration::ZERO, [0u64; 3]);
        let mut out = Vec::new();
        for slot in 0..20_000u64 {
            let now = Instant(slot * SERVICE.0);
            let due = [slot * 4, slot * 3 / 2, slot / 20];
            for flow in 0..3 {
                while sent[flow] <= due[flow] {
                    let born = Packet { born: now, ..packet(flow as u32, sent[flow], 1500) };
                    queue.push(now, &born, &mut out);
                    sent[flow] += 1;
                }
            }
            let packet = queue.pop(now, &mut out).unwrap();
            queue.release(now, &packet, &mut Vec::new());
            served[packet.flow().unwrap().index()] += 1;
            if packet.flow() == Some(FlowId(2)) && slot > 10 {
                worst = worst.max(now - packet.born);
            }
        }
        assert_eq!(u64::from(served[2]), sent[2], "the sparse flow loses nothing");
        assert!(worst <= SERVICE, "a sparse packet waited {worst}");
        let share = f64::from(served[0]) / f64::from(served[0] + served[1]);
        assert!((share - 0.5).abs() < 0.001, "{served:?}");
    }

    #[test]
    fn responsive_flows_share_equally_at_a_short_delay() {
        let (from, end) = (Instant(20_000_000_000), Instant(120_000_000_000));
        let mut fair = queue(CONFIG);
        let outcome = responsive(&mut fair, 4, false, end);
        let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
        assert!((2.0..10.0).contains(&mean), "{mean} ms");
        assert!(used > 0.97, "{used}");
        let shares: Vec<f64> = outcome.served.iter().map(|&n| f64::from(n)).collect();
        let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
        let jain = sum * sum / (4.0 * squares);
        assert!(jain > 0.999, "{jain}: {shares:?}");
    }
}
