//! Losses without a memory of the channel: uniform, periodic, listed, and by the clock.

use super::LossModel;
use kernel::{Duration, Instant, Rng};
use wire::Packet;

/// Each packet is lost with the same probability, independently.
#[derive(Debug)]
pub struct Uniform {
    probability: f64,
    rng: Rng,
}

impl Uniform {
    /// Losses of this probability. Of 0 nothing is drawn.
    pub fn new(probability: f64, rng: Rng) -> Self {
        Self { probability, rng }
    }
}

impl LossModel for Uniform {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.rng.chance(self.probability)
    }
}

/// Each n-th packet is lost.
#[derive(Debug)]
pub struct Periodic {
    every: u64,
    passed: u64,
}

impl Periodic {
    /// The packets `every`, 2 `every`, … are lost, counted from 1; 0 counts as 1.
    pub fn new(every: u64) -> Self {
        Self { every: every.max(1), passed: 0 }
    }
}

impl LossModel for Periodic {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.passed += 1;
        self.passed.is_multiple_of(self.every)
    }
}

/// Listed packets are lost.
#[derive(Debug)]
pub struct List {
    /// Numbers still to come, descending.
    numbers: Vec<u64>,
    passed: u64,
}

impl List {
    /// The packets of these numbers are lost, counted from 1.
    pub fn new(mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        Self { numbers, passed: 0 }
    }
}

impl LossModel for List {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.passed += 1;
        self.numbers.pop_if(|next| *next <= self.passed).is_some_and(|next| next == self.passed)
    }
}

/// Packets are lost with a probability that changes at given times.
#[derive(Debug)]
pub struct Trace {
    steps: Vec<(Instant, f64)>,
    period: Option<Duration>,
    rng: Rng,
}

impl Trace {
    /// From each step's instant on its probability holds, before the first none; after a period
    /// the trace begins again.
    pub fn new(mut steps: Vec<(Instant, f64)>, period: Option<Duration>, rng: Rng) -> Self {
        steps.sort_by_key(|&(from, _)| from);
        Self { steps, period: period.filter(|period| period.0 > 0), rng }
    }

    /// The probability that holds at this instant.
    fn probability(&self, now: Instant) -> f64 {
        let now = self.period.map_or(now, |period| Instant(now.0 % period.0));
        match self.steps.partition_point(|&(from, _)| from <= now) {
            0 => 0.0,
            begun => self.steps[begun - 1].1,
        }
    }
}

impl LossModel for Trace {
    fn loses(&mut self, now: Instant, _packet: &Packet) -> bool {
        self.rng.chance(self.probability(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{packet, rng};

    /// Numbers, from 1, of those of `count` packets at these instants that are lost.
    fn lost(model: &mut dyn LossModel, at: impl Fn(u64) -> Instant, count: u64) -> Vec<u64> {
        (1..=count).filter(|&n| model.loses(at(n), &packet(0, n, 1000))).collect()
    }

    #[test]
    fn uniform_losses_are_as_many_and_as_clustered_as_independence_says() {
        let (n, p) = (200_000u64, 0.03);
        let mut model = Uniform::new(p, rng());
        let lost = lost(&mut model, Instant, n);
        // Three standard deviations of the binomial distribution.
        let sd = (n as f64 * p * (1.0 - p)).sqrt();
        assert!((lost.len() as f64 - n as f64 * p).abs() < 3.0 * sd, "{}", lost.len());
        // After a loss the next packet is lost as often as any.
        let pairs = lost.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as f64;
        let expected = lost.len() as f64 * p;
        assert!((pairs - expected).abs() < 3.0 * expected.sqrt(), "{pairs} of {expected}");
    }

    #[test]
    fn without_probability_nothing_is_lost_and_with_certainty_everything() {
        assert_eq!(lost(&mut Uniform::new(0.0, rng()), Instant, 1000), []);
        assert_eq!(lost(&mut Uniform::new(1.0, rng()), Instant, 3), [1, 2, 3]);
    }

    #[test]
    fn each_nth_packet_is_lost() {
        assert_eq!(lost(&mut Periodic::new(4), Instant, 13), [4, 8, 12]);
        assert_eq!(lost(&mut Periodic::new(1), Instant, 3), [1, 2, 3]);
        assert_eq!(lost(&mut Periodic::new(0), Instant, 3), [1, 2, 3]);
    }

    #[test]
    fn listed_packets_are_lost_in_whatever_order_they_are_listed() {
        let mut model = List::new(vec![7, 1, 3, 3, 100]);
        assert_eq!(lost(&mut model, Instant, 50), [1, 3, 7]);
        let mut zero = List::new(vec![0, 2]);
        assert_eq!(lost(&mut zero, Instant, 5), [2], "packets are counted from 1");
    }

    #[test]
    fn a_trace_holds_from_its_times_on_and_repeats() {
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        let steps = vec![(ms(20), 1.0), (ms(30), 0.0), (ms(5), 0.0)];
        let mut once = Trace::new(steps.clone(), None, rng());
        let each_ms = |n| ms(n);
        assert_eq!(lost(&mut once, each_ms, 100), (20..30).collect::<Vec<_>>());
        let mut again = Trace::new(steps, Some(Duration::from_millis(50)), rng());
        assert_eq!(lost(&mut again, each_ms, 100), (20..30).chain(70..80).collect::<Vec<_>>());
    }

    #[test]
    fn a_trace_loses_by_its_probability() {
        let steps = vec![(Instant::ZERO, 0.5), (Instant(100_000), 0.1)];
        let lost = lost(&mut Trace::new(steps, None, rng()), Instant, 200_000);
        let early = lost.iter().filter(|&&n| n < 100_000).count() as f64;
        let late = lost.len() as f64 - early;
        // Three standard deviations of the binomial distributions, of 158 and 95.
        assert!((early - 50_000.0).abs() < 474.0, "{early}");
        assert!((late - 10_000.0).abs() < 285.0, "{late}");
    }
}
