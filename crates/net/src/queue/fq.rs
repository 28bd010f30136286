//! `fq` of Linux (`net/sched/sch_fq.c`): a queue for each flow. Its pacing is that of the senders.

use super::buffer::Buffer;
use super::fq_codel::{FqCoDel, Tail};
use super::shared::Shared;
use super::sub_queues::Classifier;
use super::{ControlLaw, Discipline, Limit, OutputLink, Queue};
use kernel::{Bytes, Duration, Rng};
use settings::Settings;

/// Fair queueing of Linux: each flow has a queue, served by deficit round robin with priority for
/// new flows, and arrivals beyond a limit are dropped. Flows of Linux endpoints that begin at its
/// node are paced (`tcp.pacing`). Unlike in Linux, a flow that was idle has credits again at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct FqConfig {
    /// The bytes that a flow may send per round.
    #[setting(key = "quantum_bytes", default = 3028, range = 1..=1_000_000)]
    pub quantum: Bytes,
    /// The bytes that a new flow may send before its first turn ends.
    #[setting(key = "initial_quantum_bytes", default = 15_140, range = 1..=10_000_000)]
    pub initial_quantum: Bytes,
    /// The most packets of a flow that wait.
    #[setting(key = "flow_limit_packets", default = 100, range = 1..=1_000_000)]
    pub flow_limit: u32,
    /// The most packets of all flows that wait.
    #[setting(key = "limit_packets", default = 10_000, range = 1..=1_000_000)]
    pub limit: u32,
}

/// A law by which no delay is too long.
const NEVER: ControlLaw = ControlLaw {
    target: Duration(u64::MAX),
    interval: Duration(u64::MAX),
    ecn: false,
    mtu: Bytes(u64::MAX),
    ce_threshold: None,
    ce_threshold_for: super::Codepoints::AnyEct,
};

impl Discipline for FqConfig {
    fn build(&self, _: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        let tail = Tail { each: self.flow_limit as usize, all: self.limit as usize };
        let classifier = Classifier::new(None, &mut rng);
        let credits = [self.quantum, self.initial_quantum];
        let fq = FqCoDel::new(NEVER, credits, 1, classifier, Some(tail));
        Box::new(Shared::new(fq, Buffer::boundless()))
    }

    fn limit(&self) -> Limit {
        Limit::packets(self.limit)
    }

    fn paces(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, packet, rng};
    use super::*;
    use kernel::Instant;

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
}
