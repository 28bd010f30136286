//! `fq` of Linux (`net/sched/sch_fq.c`): a queue for each flow, in three bands. Its pacing is that
//! of the senders, which know their rates (`resolve/queues.rs`).

use super::buffer::Buffer;
use super::fifo::Fifo;
use super::pfifo_fast::band;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Classifier, SubQueues};
use super::{Discipline, Limit, OutputLink, Queue, Signal, Traits, Wanted};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::Settings;
use std::collections::VecDeque;
use wire::Packet;

/// Fair queueing of Linux: each flow has a queue, served by deficit round robin with priority for
/// new flows, and arrivals beyond a limit are dropped. Flows of Linux endpoints that begin at its
/// node are paced (`tcp.pacing`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct FqConfig {
    /// The bytes that a flow may send per round.
    #[setting(key = "quantum_bytes", default = 3028, range = 1..=1_000_000)]
    pub quantum: Bytes,
    /// The bytes that a new flow may send before its first turn ends.
    #[setting(skip, default = Bytes(15_140))]
    pub initial_quantum: Bytes,
    /// How long a flow must have been idle to have the bytes of a round at its next packet. One
    /// that was idle for a shorter time has what it had left, or owes what it had sent beyond.
    #[setting(skip, default = Duration::from_millis(40))]
    pub refill_delay: Duration,
    /// Whether the flows of access categories are apart, in three bands: voice, best effort and
    /// video, and background. Bands with packets send 9 : 3 : 1 bytes, as since Linux 6.7; before
    /// there was one.
    #[setting(default = true)]
    pub bands: bool,
    /// The most packets of a flow that wait.
    #[setting(key = "flow_limit_packets", default = 100, range = 1..=1_000_000)]
    pub flow_limit: u32,
    /// The most packets of all flows of a band that wait.
    #[setting(key = "limit_packets", default = 10_000, range = 1..=1_000_000)]
    pub limit: u32,
}

/// The bytes that each band sends before the next one (`weights`).
const WEIGHTS: [i64; 3] = [9 << 16, 3 << 16, 1 << 16];

impl Discipline for FqConfig {
    fn build(&self, _: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        Box::new(Shared::new(Fq::new(*self, &mut rng), Buffer::boundless()))
    }

    fn limit(&self) -> Limit {
        Limit::packets(self.limit)
    }

    fn traits(&self) -> Traits<'_> {
        Traits { paces: true, ..Traits::default() }
    }
}

/// Whether a flow is in a list of its band.
#[derive(Clone, Copy, Debug)]
enum Place {
    Listed,
    /// It has been idle since this instant.
    Idle(Instant),
}

#[derive(Debug)]
struct Flow {
    fifo: Fifo,
    band: usize,
    /// What it may send before its turn ends; below 0 after a larger packet.
    credits: i64,
    place: Place,
}

/// The flows of a band.
#[derive(Debug, Default)]
struct Band {
    /// Flows on their first turn, which go before all old ones.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    credits: i64,
    waiting: u32,
}

/// The flows and the bands.
#[derive(Debug)]
struct Fq {
    config: FqConfig,
    classifier: Classifier,
    flows: SubQueues<Flow>,
    bands: [Band; 3],
    /// The band whose turn it is.
    turn: usize,
}

impl Fq {
    fn new(config: FqConfig, rng: &mut Rng) -> Self {
        let bands = WEIGHTS.map(|credits| Band { credits, ..Band::default() });
        let (classifier, flows) = (Classifier::new(None, rng), SubQueues::new());
        Self { config, classifier, flows, bands, turn: 0 }
    }

    /// The flow whose turn it is. A flow that is found empty is removed, but a new one only after a
    /// turn in the list of old ones: otherwise it could always return as new.
    fn next(&mut self, now: Instant) -> Option<usize> {
        if self.bands.iter().all(|band| band.waiting == 0) {
            return None;
        }
        let mut passed = 0;
        while passed <= self.bands.len() {
            let band = &mut self.bands[self.turn];
            let is_new = !band.new.is_empty();
            let list = if is_new { &mut band.new } else { &mut band.old };
            let Some(&number) = list.front().filter(|_| band.credits > 0) else {
                passed += 1;
                self.turn = (self.turn + 1) % self.bands.len();
                let weight = WEIGHTS[self.turn];
                let band = &mut self.bands[self.turn];
                band.credits = (band.credits + weight).min(weight);
                continue;
            };
            passed = 0;
            let flow = &mut self.flows[number];
            if flow.credits > 0 && !flow.fifo.is_empty() {
                return Some(number);
            }
            list.pop_front();
            if flow.credits <= 0 {
                flow.credits += self.config.quantum.0 as i64;
            } else if !is_new {
                flow.place = Place::Idle(now);
                continue;
            }
            band.old.push_back(number);
        }
        None
    }

    /// A packet of this flow leaves.
    fn deduct(&mut self, number: usize, packet: &Packet) {
        let flow = &mut self.flows[number];
        let band = &mut self.bands[flow.band];
        let size = packet.size.0 as i64;
        flow.credits -= size;
        band.credits -= size;
        band.waiting -= 1;
    }
}

impl Scheduler for Fq {
    fn enqueue(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let number = if self.config.bands { band(packet) } else { 0 };
        let initial = self.config.initial_quantum.0 as i64;
        let make = || Flow {
            fifo: Fifo::default(),
            band: number,
            credits: initial,
            place: Place::Idle(now),
        };
        let number = self.flows.number_or(self.classifier.key(packet), make);
        let flow = &mut self.flows[number];
        let band = &mut self.bands[flow.band];
        if flow.fifo.len() >= self.config.flow_limit as usize || band.waiting >= self.config.limit {
            out.push(Signal::Drop(*packet));
            return;
        }
        band.waiting += 1;
        if let Place::Idle(since) = flow.place {
            flow.place = Place::Listed;
            if now > since + self.config.refill_delay {
                flow.credits = flow.credits.max(self.config.quantum.0 as i64);
            }
            band.new.push_back(number);
        }
        flow.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Instant, _: &mut Vec<Signal>) -> Option<Packet> {
        let number = self.next(now)?;
        let packet = self.flows[number].fifo.pop()?;
        self.deduct(number, &packet);
        Some(packet)
    }

    /// Bytes sent beyond the credits delay the next turn of the flow.
    fn dequeue_for(&mut self, _: Instant, wanted: &Wanted, _: &mut Vec<Signal>) -> Option<Packet> {
        let (before, from) = self.bands.split_at(self.turn);
        let bands = from.iter().chain(before);
        let mut listed = bands.flat_map(|band| band.new.iter().chain(&band.old));
        let flows = &mut self.flows;
        let number = *listed.find(|&&number| flows[number].fifo.has(wanted))?;
        let packet = self.flows[number].fifo.pop_for(wanted.to)?;
        self.deduct(number, &packet);
        Some(packet)
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flows.iter().for_each(|flow| flow.fifo.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, packet, rng};
    use super::*;
    use kernel::Id;
    use wire::TrafficClass;

    const NOW: Instant = Instant(0);

    fn queue(config: FqConfig) -> Box<dyn Queue> {
        config.build(OutputLink::Wire(None, Duration::ZERO), rng())
    }

    #[test]
    fn a_new_flow_sends_ten_packets_and_then_each_two_in_turn() {
        let mut queue = queue(FqConfig::default());
        for n in 0..14 {
            (1..3).for_each(|flow| assert!(accepts(&mut *queue, NOW, packet(flow, n, 1514))));
        }
        let order: Vec<_> = drain(&mut *queue, NOW).into_iter().map(|(flow, _)| flow).collect();
        let expected = [vec![1; 10], vec![2; 10], vec![1, 1, 2, 2, 1, 1, 2, 2]].concat();
        assert_eq!(order, expected);
    }

    #[test]
    fn arrivals_beyond_a_limit_are_dropped() {
        let mut queue = queue(FqConfig { flow_limit: 3, limit: 5, ..FqConfig::default() });
        let mut offer = |flow, n| accepts(&mut *queue, NOW, packet(flow, n, 100));
        assert_eq!([0, 1, 2, 3].map(|n| offer(1, n)), [true, true, true, false]);
        assert_eq!([0, 1, 2].map(|n| offer(2, n)), [true, true, false], "five in all");
        assert_eq!(queue.len(), 5);
        assert_eq!(drain(&mut *queue, NOW), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
        assert!(accepts(&mut *queue, NOW, packet(1, 4, 100)), "there is room again");
    }

    #[test]
    fn a_long_wait_is_no_reason_to_drop() {
        let mut queue = queue(FqConfig::default());
        for n in 0..90 {
            assert!(accepts(&mut *queue, NOW, packet(1, n, 1500)));
        }
        let late = Instant::ZERO + Duration::from_secs_f64(100.0);
        assert_eq!(drain(&mut *queue, late).len(), 90);
    }

    #[test]
    fn a_flow_has_credits_again_after_40_ms_without_packets() {
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        for (idle, expected) in [(40, [1, 2, 1, 1, 2]), (41, [1, 1, 2, 1, 2])] {
            let (quantum, initial_quantum) = (Bytes(1514), Bytes(1));
            let mut queue = queue(FqConfig { quantum, initial_quantum, ..FqConfig::default() });
            assert!(accepts(&mut *queue, NOW, packet(1, 0, 1514)));
            (0..2).for_each(|n| assert!(accepts(&mut *queue, NOW, packet(2, n, 757))));
            // Flow 1 is found empty, with a credit of one byte, before the last packet of flow 2.
            assert_eq!(drain(&mut *queue, ms(1)), [(1, 0), (2, 0), (2, 1)]);
            for (flow, numbers) in [(1, 1..4), (2, 2..4)] {
                let mut offer = |n| accepts(&mut *queue, ms(1 + idle), packet(flow, n, 757));
                numbers.for_each(|n| assert!(offer(n)));
            }
            let order = drain(&mut *queue, ms(1 + idle));
            let flows: Vec<_> = order.into_iter().map(|(flow, _)| flow).collect();
            assert_eq!(flows, expected, "{idle} ms");
        }
    }

    /// Fills three flows, of voice, best effort and background, and counts the bytes of the first
    /// packets that leave.
    fn shares(config: FqConfig) -> [u64; 3] {
        let mut queue = queue(FqConfig { flow_limit: 1_000_000, limit: 1_000_000, ..config });
        let classes = [TrafficClass::Voice, TrafficClass::BestEffort, TrafficClass::Background];
        for (class, flow) in classes.into_iter().zip(0..) {
            for n in 0..20_000 {
                assert!(accepts(&mut *queue, NOW, Packet { class, ..packet(flow, n, 1000) }));
            }
        }
        let mut bytes = [0; 3];
        for _ in 0..13_000 {
            let packet = queue.pop(NOW, &mut Vec::new()).unwrap();
            bytes[packet.flow().unwrap().index()] += packet.size.0;
        }
        bytes
    }

    #[test]
    fn bands_send_nine_three_and_one() {
        let bytes = shares(FqConfig::default());
        // 852 kB are a round; a round is not complete.
        for (bytes, part) in bytes.into_iter().zip([9, 3, 1]) {
            assert!(bytes.abs_diff(part * 1_000_000) < 600_000, "{bytes} of {part}");
        }
        let bytes = shares(FqConfig { bands: false, ..FqConfig::default() });
        assert!(bytes.iter().all(|bytes| bytes.abs_diff(13_000_000 / 3) < 20_000), "{bytes:?}");
    }

    #[test]
    fn an_empty_band_holds_nobody_up() {
        let mut queue = queue(FqConfig::default());
        let class = TrafficClass::Background;
        for n in 0..90 {
            assert!(accepts(&mut *queue, NOW, Packet { class, ..packet(1, n, 1500) }));
        }
        assert_eq!(drain(&mut *queue, NOW).len(), 90, "more than the weight of its band");
        assert!(accepts(&mut *queue, NOW, packet(2, 0, 1500)));
        assert_eq!(drain(&mut *queue, NOW), [(2, 0)]);
    }
}
