//! PIE, proportional integral controller, enhanced (RFC 8033): drops arrivals with a probability
//! that controls the delay.

use super::fifo::Fifo;
use super::line::{Arrival, Line, Policy, Verdict};
use super::{Destination, Discipline, Limit, OutputLink, Queue, Signal};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::Settings;
use wire::Packet;

/// PIE, proportional integral controller, enhanced (RFC 8033): drops arrivals at random, with a
/// probability that controls the delay.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct PieConfig {
    /// The target delay (`QDELAY_REF`).
    #[setting(key = "target_ms", default = 15.0, range = 0.0..=60_000.0)]
    pub target: Duration,
    /// Time between two updates of the probability (`T_UPDATE`).
    #[setting(key = "update_ms", default = 15.0, range = 1.0..=60_000.0)]
    pub update: Duration,
    /// Weight of the difference between delay and target, per second.
    #[setting(default = 0.125, range = 0.0..=1e6)]
    pub alpha: f64,
    /// Weight of the change of the delay, per second.
    #[setting(default = 1.25, range = 0.0..=1e6)]
    pub beta: f64,
    /// How long a burst is accepted without drops (`MAX_BURST`).
    #[setting(key = "max_burst_ms", default = 150.0, range = 0.0..=60_000.0)]
    pub max_burst: Duration,
    /// Whether packets of ECN-capable flows are marked instead of dropped.
    pub ecn: bool,
    /// Probability up to which packets are marked (`MARK_ECNTH`, RFC 8033 section 5.1).
    #[setting(key = "mark_limit_p", default = 0.1, range = 0.0..=1.0)]
    pub mark_limit: f64,
    /// Whether drops have a minimum distance (RFC 8033 section 5.4).
    pub derandomize: bool,
    /// A backlog of at most two packets of this size causes no drops.
    #[setting(key = "mean_packet_bytes", default = 1024, range = 1..=1_000_000)]
    pub mean_packet: Bytes,
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for PieConfig {
    fn build(&self, _: OutputLink, rng: Rng) -> Box<dyn Queue> {
        Box::new(Pie::queue(*self, rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// A probability, and the divisor of the adjustment below it (section 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// Above this probability, an update adds at most [`MOST_GROWTH`] (section 5.5).
const HIGH_PROBABILITY: f64 = 0.1;
const MOST_GROWTH: f64 = 0.02;
/// The factor of the probability per update while no packet waits (section 4.2).
const DECAY: f64 = 0.98;
/// Below this probability, and with a delay under half the target, no packet is dropped (section
/// 4.1).
const LOW_PROBABILITY: f64 = 0.2;
/// Drops are random only between these sums of probabilities since the last drop (section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// The state of PIE.
#[derive(Debug)]
struct Pie {
    config: PieConfig,
    rng: Rng,
    probability: f64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    burst_allowance: Duration,
    /// How long the last packet that left had waited; zero if it left an empty queue.
    delay: Duration,
    /// The value of `delay` at the last update.
    old_delay: Duration,
    next_update: Instant,
}

impl Pie {
    /// An empty queue.
    fn queue(config: PieConfig, rng: Rng) -> Line<Self> {
        let pie = Self {
            config,
            rng,
            probability: 0.0,
            accumulated: 0.0,
            burst_allowance: config.max_burst,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            next_update: Instant::ZERO + config.update,
        };
        Line::new(pie, config.limit)
    }

    /// Performs the updates that were due since the last call. The delay changes only in calls, so
    /// that no update is too late.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.is_calm() && self.burst_allowance == self.config.max_burst {
                // From here on, further updates change nothing.
                self.old_delay = self.delay;
                let missed = now.since(self.next_update) / self.config.update + 1;
                self.next_update += self.config.update * missed;
                return;
            }
            self.update();
            self.next_update += self.config.update;
        }
    }

    /// Congestion has ended (section 4.4).
    fn is_calm(&self) -> bool {
        let half = self.config.target / 2;
        self.probability == 0.0 && self.delay < half && self.old_delay < half
    }

    /// One update of the probability (section 4.2) and of the burst allowance (section 4.4).
    fn update(&mut self) {
        let Self { config, delay, old_delay, .. } = *self;
        let seconds = Duration::as_secs_f64;
        let mut growth = config.alpha * (seconds(delay) - seconds(config.target))
            + config.beta * (seconds(delay) - seconds(old_delay));
        if let Some((_, divisor)) = SCALES.iter().find(|(below, _)| self.probability < *below) {
            growth /= divisor;
        }
        if self.probability >= HIGH_PROBABILITY {
            growth = growth.min(MOST_GROWTH);
        }
        self.probability += growth;
        if delay == Duration::ZERO && old_delay == Duration::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(config.update);
        if self.is_calm() {
            self.burst_allowance = config.max_burst;
        }
        self.old_delay = delay;
    }

    /// Whether to signal congestion on a packet that arrives now (section 4.1).
    fn is_unlucky(&mut self, waiting: &Fifo) -> bool {
        let config = &self.config;
        let is_short = self.old_delay < config.target / 2 && self.probability < LOW_PROBABILITY;
        let is_tiny = waiting.backlog().0 <= 2 * config.mean_packet.0;
        if self.burst_allowance > Duration::ZERO || is_short || is_tiny {
            return false;
        }
        if !config.derandomize {
            return self.rng.chance(self.probability);
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let unlucky = self.accumulated >= ACCUMULATED.0
            && (self.accumulated >= ACCUMULATED.1 || self.rng.chance(self.probability));
        if unlucky {
            self.accumulated = 0.0;
        }
        unlucky
    }
}

impl Policy for Pie {
    fn enqueue(&mut self, arrival: &Arrival, waiting: &Fifo) -> Verdict {
        self.catch_up(arrival.now);
        if !arrival.fits || !self.is_unlucky(waiting) {
            return Verdict::Pass;
        }
        let marks = self.config.ecn && self.probability <= self.config.mark_limit;
        if marks { Verdict::Mark } else { Verdict::Drop }
    }

    fn dequeue(
        &mut self,
        now: Instant,
        waiting: &mut Fifo,
        to: Destination,
        _out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        self.catch_up(now);
        let (since, packet) = waiting.take_for(to)?;
        self.delay = if waiting.is_empty() { Duration::ZERO } else { now.since(since) };
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::responsive;
    use super::super::tests::{capable, packet, rng};
    use super::*;

    /// The defaults of RFC 8033.
    const CONFIG: PieConfig = PieConfig {
        target: Duration::from_millis(15),
        update: Duration::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Duration::from_millis(150),
        ecn: false,
        mark_limit: 0.1,
        derandomize: false,
        mean_packet: Bytes(1500),
        limit: Limit::NONE,
    };

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn queue(config: PieConfig) -> Line<Pie> {
        Pie::queue(config, rng())
    }

    fn assert_close(seen: f64, expected: f64) {
        assert!((seen - expected).abs() < 1e-12, "{seen}, expected {expected}");
    }

    #[test]
    fn the_probability_follows_the_control_law_and_its_scales() {
        let mut queue = queue(CONFIG);
        queue.policy.delay = Duration::from_millis(35);
        queue.policy.update();
        // 0.125 · (35 - 15) ms + 1.25 · (35 - 0) ms, scaled down while the probability is small.
        assert_close(queue.policy.probability, (0.125 * 0.020 + 1.25 * 0.035) / 2048.0);
        let mut expected = queue.policy.probability;
        for divisor in [128.0, 128.0, 128.0, 128.0, 32.0] {
            queue.policy.update();
            expected += 0.125 * 0.020 / divisor;
            assert_close(queue.policy.probability, expected);
        }
        queue.policy.delay = Duration::from_millis(5);
        queue.policy.probability = 0.05;
        queue.policy.update();
        assert_close(queue.policy.probability, 0.05 - (0.125 * 0.010 + 1.25 * 0.030) * 0.5);
        queue.policy.probability = 0.2;
        queue.policy.old_delay = Duration::ZERO;
        queue.policy.delay = Duration::from_millis(500);
        queue.policy.update();
        assert_close(queue.policy.probability, 0.22);
    }

    #[test]
    fn without_a_delay_the_probability_decays_and_at_last_the_burst_allowance_is_back() {
        let mut queue = queue(CONFIG);
        queue.policy.probability = 0.5;
        queue.policy.burst_allowance = Duration::ZERO;
        queue.policy.update();
        assert_close(queue.policy.probability, (0.5 - 0.125 * 0.015) * 0.98);
        assert_eq!(queue.policy.burst_allowance, Duration::ZERO);
        queue.policy.catch_up(ms(60_000));
        assert_eq!(queue.policy.probability, 0.0);
        assert_eq!(queue.policy.burst_allowance, CONFIG.max_burst);
        let next = ms(60_000) + CONFIG.update;
        assert_eq!(queue.policy.next_update, next, "a minute is 4000 updates");
    }

    /// Takes a packet each ms, and offers five in four ms; returns the times of the drops.
    fn overload(queue: &mut Line<Pie>, until: u64) -> Vec<u64> {
        let (mut out, mut drops) = (Vec::new(), Vec::new());
        for now in 0..until {
            let offered = if now % 4 == 0 { 2 } else { 1 };
            for copy in 0..offered {
                out.clear();
                queue.push(ms(now), &packet(0, now * 2 + copy, 1500), &mut out);
                drops.extend(out.iter().map(|_| now));
            }
            let popped = queue.pop(ms(now), &mut out);
            if let Some(packet) = popped {
                queue.release(ms(now), &packet, &mut Vec::new());
            }
        }
        drops
    }

    #[test]
    fn a_burst_is_accepted_without_drops_as_long_as_it_is_allowed() {
        // Without the random draw: once the burst allowance is used up, the first arrival that may
        // be dropped is dropped.
        let first_chance = |max_burst| {
            let mut queue = queue(PieConfig { max_burst, ..CONFIG });
            for number in 0..100 {
                queue.push(ms(0), &packet(0, number, 1500), &mut Vec::new());
            }
            let popped = queue.pop(ms(20), &mut Vec::new()).unwrap();
            queue.release(ms(20), &popped, &mut Vec::new());
            let mut chances = (21..1000).filter(|&at| {
                queue.policy.catch_up(ms(at));
                queue.policy.probability = 1.0;
                queue.policy.is_unlucky(&queue.waiting)
            });
            chances.next()
        };
        // The update at 30 ms is the first with this delay; ten updates use up 150 ms.
        assert_eq!(first_chance(Duration::from_millis(150)), Some(165));
        assert_eq!(first_chance(Duration::ZERO), Some(21));
    }

    #[test]
    fn the_probability_of_an_overload_is_its_excess() {
        // The load exceeds the capacity by one packet in five.
        let mut queue = queue(CONFIG);
        let drops = overload(&mut queue, 120_000);
        let late = drops.iter().filter(|&&at| at >= 40_000).count() as f64 / 100_000.0;
        assert!((late - 0.2).abs() < 0.005, "{late}");
        assert!((queue.policy.probability - 0.2).abs() < 0.05, "{}", queue.policy.probability);
        let delay_ms = queue.policy.delay.as_secs_f64() * 1e3;
        assert!((8.0..22.0).contains(&delay_ms), "{delay_ms} ms");
    }

    #[test]
    fn a_short_queue_and_a_short_delay_let_all_through() {
        let mut queue = queue(CONFIG);
        (queue.policy.burst_allowance, queue.policy.probability) = (Duration::ZERO, 1.0);
        queue.policy.old_delay = Duration::from_millis(100);
        let mut out = Vec::new();
        for number in 0..3 {
            queue.push(ms(1), &packet(0, number, 1500), &mut out);
        }
        assert_eq!(out, [], "up to two packets are no queue");
        queue.push(ms(1), &packet(0, 3, 1500), &mut out);
        assert_eq!(out, [Signal::Drop(packet(0, 3, 1500))]);
        out.clear();
        (queue.policy.probability, queue.policy.old_delay) = (0.19, Duration::from_millis(7));
        for number in 4..100 {
            queue.push(ms(1), &packet(0, number, 1500), &mut out);
        }
        assert_eq!(out, [], "less than half the target is no delay");
    }

    #[test]
    fn marks_up_to_a_probability_and_drops_beyond() {
        let mut queue = queue(PieConfig { ecn: true, ..CONFIG });
        for number in 0..10 {
            queue.push(ms(1), &packet(0, number, 1500), &mut Vec::new());
        }
        queue.policy.burst_allowance = Duration::ZERO;
        queue.policy.old_delay = Duration::from_millis(100);
        let mut count = |probability, make: fn(u32, u64, u64) -> Packet| {
            queue.policy.probability = probability;
            let mut out = Vec::new();
            for number in 0..20_000 {
                queue.push(ms(1), &make(0, number, 1500), &mut out);
            }
            let marks = out.iter().filter(|s| matches!(s, Signal::Mark(..))).count();
            (marks, out.len() - marks)
        };
        // Three standard deviations of the binomial distributions around 2000 and 4000.
        assert!(matches!(count(0.1, capable), (1873..=2127, 0)));
        assert!(matches!(count(0.2, capable), (0, 3830..=4170)));
        assert!(matches!(count(0.1, packet), (0, 1873..=2127)));
    }

    #[test]
    fn derandomized_drops_keep_a_distance() {
        let gaps = |derandomize| {
            let mut queue = queue(PieConfig { derandomize, ..CONFIG });
            for number in 0..10 {
                queue.push(ms(1), &packet(0, number, 1500), &mut Vec::new());
            }
            (queue.policy.burst_allowance, queue.policy.probability) = (Duration::ZERO, 0.1);
            queue.policy.old_delay = Duration::from_millis(100);
            let Line { policy, waiting, .. } = &mut queue;
            let unlucky: Vec<_> = (0..100_000).filter(|_| policy.is_unlucky(waiting)).collect();
            unlucky.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<i32>>()
        };
        let (random, spread) = (gaps(false), gaps(true));
        assert_eq!(random.iter().min(), Some(&1));
        // The probabilities sum to 0.85 with the ninth packet, and to 8.5 with the 85th.
        assert_eq!(spread.iter().min(), Some(&9));
        assert!(spread.iter().max() <= Some(&86));
        let mean = f64::from(spread.iter().sum::<i32>()) / spread.len() as f64;
        assert!((mean - 18.0).abs() < 0.4, "eight pass, then one in ten is dropped: {mean}");
    }

    #[test]
    fn holds_the_delay_at_the_target() {
        let (from, end) = (ms(20_000), ms(120_000));
        for ecn in [false, true] {
            let outcome = responsive(&mut queue(PieConfig { ecn, ..CONFIG }), 4, ecn, end);
            let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
            assert!((11.0..19.0).contains(&mean), "ecn {ecn}: {mean} ms");
            assert!(used > 0.97, "ecn {ecn}: {used}");
            assert!(outcome.drops + outcome.marks > 100);
            assert!(!ecn || outcome.marks > outcome.drops);
        }
    }
}
