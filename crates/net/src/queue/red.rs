//! RED, random early detection (Floyd and Jacobson, IEEE/ACM Trans. Networking 1:4, 1993), with
//! ECN (RFC 3168 section 7), the gentle slope (Floyd, 2000) and Adaptive RED (Floyd, Gummadi and
//! Shenker, 2001).

use super::fifo::Fifo;
use super::line::{Arrival, Line, Policy, Verdict};
use super::{Discipline, Limit, OutputLink, Queue};
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use settings::{Faults, Path, Range, Settings, number, said};

/// Random early detection (Floyd and Jacobson 1993), also gentle and adaptive: drops or marks at
/// random, with a probability that grows with the average queue length.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(check = thresholds_are_in_order)]
pub struct RedConfig {
    /// Lower threshold: up to this average, in packets, no packet is dropped. Default: 5, or half
    /// of what the link sends in `target_delay_ms` if that is more.
    #[setting(range = 0.0..=MOST)]
    pub min_packets: Option<f64>,
    /// Upper threshold: at this average, in packets, the probability is `max_p`. Default: three
    /// times `min_packets`.
    #[setting(range = 0.0..=MOST)]
    pub max_packets: Option<f64>,
    /// `min_packets` in bytes: the average then counts bytes instead of packets.
    #[setting(range = 0.0..=MOST)]
    pub min_bytes: Option<Bytes>,
    /// `max_packets` in bytes. Default: three times `min_bytes`.
    #[setting(range = 0.0..=MOST)]
    pub max_bytes: Option<Bytes>,
    /// Probability at the upper threshold; with adaptive RED its initial value.
    #[setting(default = 0.1, range = Range::FRACTION)]
    pub max_p: f64,
    /// Weight of the current length in the average. Default: a weight with which the average
    /// follows in ten round-trip times of 100 ms (or of three times the link's delay if that is
    /// more; `q_weight` -1 of ns-2), or 0.002 if the queue has no output link of a fixed rate.
    #[setting(range = Range::FRACTION)]
    pub weight: Option<f64>,
    /// Whether the probability rises linearly to 1 at twice the upper threshold (gentle RED)
    /// instead of jumping at the threshold.
    #[setting(default = true)]
    pub gentle: bool,
    /// Whether drops are at least 1/p packets apart, instead of at most 1/p (`wait_` of ns-2).
    pub wait: bool,
    /// Whether the probability is proportional to the packet size over `mean_packet_bytes`.
    pub by_size: bool,
    /// Whether `max_p` is adapted to hold the average in the middle between the thresholds (Floyd,
    /// Gummadi and Shenker 2001).
    pub adaptive: bool,
    /// The delay from which the default of `min_packets` is derived.
    #[setting(key = "target_delay_ms", default = 5.0, range = 0.001..=60_000.0)]
    pub target_delay: Duration,
    /// Whether packets of ECN-capable flows are marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// Probability up to which packets are marked, even above the upper threshold (`mark_p_` of
    /// ns-2). Default: up to the average at which every packet is dropped.
    #[setting(key = "mark_limit_p", range = 0.0..=1.0)]
    pub mark_limit: Option<f64>,
    /// Size of a typical packet, by which idle time is converted to packets.
    #[setting(key = "mean_packet_bytes", default = 500, range = 1..=1_000_000)]
    pub mean_packet: Bytes,
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

/// The greatest threshold; higher ones are never reached.
const MOST: f64 = 1e12;

/// The unit of thresholds and average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// The range of averages in which the probability rises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The unit.
    pub unit: QueueUnit,
    /// Up to this average no packet is dropped.
    pub min: f64,
    /// At this average the probability is `max_p`; above `min`.
    pub max: f64,
}

impl RedConfig {
    /// The thresholds, with the defaults for a link.
    pub fn thresholds(&self, output_link: OutputLink) -> Thresholds {
        let in_target = match output_link {
            OutputLink::Wire(Some(_), _) => {
                self.target_delay.0 as f64 / output_link.time_for(self.mean_packet).0 as f64
            }
            // A rule of thumb for a constant rate; the rate of a cell varies.
            _ => 0.0,
        };
        self.thresholds_or(f64::max(5.0, in_target / 2.0))
    }

    /// The thresholds, with this default of the lower one in packets.
    fn thresholds_or(&self, usual: f64) -> Thresholds {
        let Self { min_packets, max_packets, min_bytes, max_bytes, .. } = *self;
        let in_bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0 as f64);
        let (unit, min, max) = if min_bytes.is_some() || max_bytes.is_some() {
            (QueueUnit::Bytes, in_bytes(min_bytes).unwrap_or(0.0), in_bytes(max_bytes))
        } else {
            let below = |max| f64::min(usual, max / 3.0);
            let min = min_packets.unwrap_or_else(|| max_packets.map_or(usual, below));
            (QueueUnit::Packets, min, max_packets)
        };
        Thresholds { unit, min, max: max.unwrap_or(3.0 * min) }
    }

    /// The weight of the current length, with the default for a link.
    pub fn weight_at(&self, output_link: OutputLink) -> f64 {
        self.weight.unwrap_or_else(|| match output_link {
            OutputLink::Wire(Some(rate), delay) => red_weight(rate, delay, self.mean_packet),
            // Floyd and Jacobson 1993, section 7.
            _ => 0.002,
        })
    }
}

impl Discipline for RedConfig {
    fn build(&self, output_link: OutputLink, rng: Rng) -> Box<dyn Queue> {
        Box::new(Red::queue(*self, output_link, rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

fn thresholds_are_in_order(red: &RedConfig, at: &Path, faults: &mut Faults) {
    let Thresholds { unit, min, max } = red.thresholds_or(5.0);
    let (in_bytes, unit) = match unit {
        QueueUnit::Packets => (false, "packets"),
        QueueUnit::Bytes => (true, "bytes"),
    };
    if in_bytes && (red.min_packets.is_some() || red.max_packets.is_some()) {
        faults.fault(at, said!("thresholds are in packets or in bytes", "give one pair of them"));
    }
    if in_bytes && red.min_bytes.is_none() {
        let message = said!("missing", "with max_bytes both thresholds are in bytes");
        faults.fault(at.key("min_bytes"), message);
    }
    if max <= min {
        let (max, min) = (number(max), number(min));
        let message = format!("{max} is not above min_{unit}, {min}");
        faults.fault(at.key(&format!("max_{unit}")), message);
    }
}

/// The weight for a link (`q_weight_` -1 of ns-2): the average follows in ten round-trip times,
/// which are assumed to be 100 ms, or three times the sum of delay and transmission time if that is
/// more.
pub fn red_weight(rate: BitRate, delay: Duration, mean_packet: Bytes) -> f64 {
    let packet_s = rate.time_for(mean_packet).as_secs_f64();
    let round_trip_s = f64::max(3.0 * (delay.as_secs_f64() + packet_s), 0.1);
    -libm::expm1(-packet_s / (10.0 * round_trip_s))
}

/// How often `max_p` is adapted (Floyd et al. 2001, Figure 1).
const INTERVAL: Duration = Duration::from_millis(500);
/// The range in which `max_p` is adapted (ibidem).
const RANGE: (f64, f64) = (0.01, 0.5);
/// The maximum increase of `max_p`, which also is at most a quarter of `max_p` (ibidem).
const INCREMENT: f64 = 0.01;
/// The factor by which `max_p` decreases (ibidem).
const DECREASE: f64 = 0.9;
/// The part of the range between the thresholds that is too low, and the part that is too high
/// (ibidem).
const OFF_TARGET: f64 = 0.4;

/// The state of RED.
#[derive(Debug)]
struct Red {
    config: RedConfig,
    thresholds: Thresholds,
    weight: f64,
    /// The transmission time of a typical packet. While the queue is idle, the average decreases as
    /// if this many packets had found it empty. Zero resets the average at once.
    packet_time: Duration,
    rng: Rng,
    average: f64,
    max_p: f64,
    /// Packets since the last signal, or with `by_size` fractions of a typical packet; `None` below
    /// the lower threshold.
    count: Option<f64>,
    /// While the queue is idle: the time up to which the average is updated.
    idle_since: Instant,
    adapted: Instant,
}

impl Red {
    /// An empty queue.
    fn queue(config: RedConfig, output_link: OutputLink, rng: Rng) -> Line<Self> {
        let red = Self {
            config,
            thresholds: config.thresholds(output_link),
            weight: config.weight_at(output_link),
            packet_time: output_link.time_for(config.mean_packet),
            rng,
            average: 0.0,
            max_p: config.max_p,
            count: None,
            idle_since: Instant::ZERO,
            adapted: Instant::ZERO,
        };
        Line::new(red, config.limit)
    }

    /// Updates the average with the current length.
    fn observe(&mut self, now: Instant, is_idle: bool, waiting: &Fifo) {
        let keep = 1.0 - self.weight;
        if is_idle {
            let (idle, packet) = (now.since(self.idle_since), self.packet_time);
            self.idle_since = now;
            if packet > Duration::ZERO {
                self.average *= libm::pow(keep, (idle / packet) as f64);
            } else if idle > Duration::ZERO {
                self.average = 0.0;
            }
        }
        let length = match self.thresholds.unit {
            QueueUnit::Packets => waiting.len() as f64,
            QueueUnit::Bytes => waiting.backlog().0 as f64,
        };
        self.average = keep * self.average + self.weight * length;
        if self.config.adaptive && now.since(self.adapted) > INTERVAL {
            self.adapt(now);
        }
    }

    /// Adapts `max_p` if the average is off its target.
    fn adapt(&mut self, now: Instant) {
        let Thresholds { min, max, .. } = self.thresholds;
        let part = OFF_TARGET * (max - min);
        if self.average < min + part && self.max_p > RANGE.0 {
            self.max_p *= DECREASE;
            self.adapted = now;
        } else if self.average > max - part && self.max_p < RANGE.1 {
            self.max_p += f64::min(INCREMENT, self.max_p / 4.0);
            self.adapted = now;
        }
    }

    /// The probability that depends on the average alone (`p_b`).
    fn probability(&self) -> f64 {
        let (Thresholds { min, max, .. }, gentle) = (self.thresholds, self.config.gentle);
        let average = self.average;
        if average < max {
            self.max_p * (average - min).max(0.0) / (max - min)
        } else if gentle {
            (self.max_p + (1.0 - self.max_p) * (average - max) / max).min(1.0)
        } else {
            1.0
        }
    }

    /// The probability that makes the gaps between signals uniform (`p_a`), after this many packets
    /// without a signal.
    fn spread(&self, probability: f64, count: f64) -> f64 {
        let done = count * probability;
        match self.config.wait {
            true if done < 1.0 => 0.0,
            true if done < 2.0 => probability / (2.0 - done),
            false if done < 1.0 => probability / (1.0 - done),
            _ => 1.0,
        }
    }

    /// The decision about an arrival of this size, if it fits.
    fn decide(&mut self, size: Bytes, waiting: &Fifo) -> Verdict {
        let RedConfig { gentle, by_size, ecn, mark_limit, mean_packet, .. } = self.config;
        let Thresholds { min, max, .. } = self.thresholds;
        let share = if by_size { size.0 as f64 / mean_packet.0.max(1) as f64 } else { 1.0 };
        // An arrival at an almost empty queue passes, whatever the average.
        if self.average < min || waiting.len() <= 1 {
            self.count = None;
            return Verdict::Pass;
        }
        let top = if gentle { 2.0 * max } else { max };
        if mark_limit.is_none() && self.average >= top {
            self.count = Some(0.0);
            return Verdict::Drop;
        }
        let Some(count) = &mut self.count else {
            // The first arrival above the threshold passes.
            self.count = Some(share);
            return Verdict::Pass;
        };
        *count += share;
        let count = *count;
        let probability = self.probability();
        let spread = self.spread(probability, count);
        if !self.rng.chance(if spread < 1.0 { spread * share } else { 1.0 }) {
            return Verdict::Pass;
        }
        self.count = Some(0.0);
        if ecn && mark_limit.is_none_or(|limit| probability <= limit) {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

impl Policy for Red {
    fn enqueue(&mut self, arrival: &Arrival, waiting: &Fifo) -> Verdict {
        self.observe(arrival.now, arrival.is_first, waiting);
        if arrival.fits {
            return self.decide(arrival.size, waiting);
        }
        self.count = self.count.map(|_| 0.0);
        Verdict::Drop
    }

    fn release(&mut self, now: Instant) {
        self.idle_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Signal;
    use super::super::load::responsive;
    use super::super::tests::{accepts, capable, packet, rng};
    use super::*;
    use wire::Packet;

    /// Thresholds of 5 and 15 packets, each of which takes a ms.
    const CONFIG: RedConfig = RedConfig {
        min_packets: Some(5.0),
        max_packets: Some(15.0),
        min_bytes: None,
        max_bytes: None,
        max_p: 0.1,
        weight: Some(0.002),
        gentle: true,
        wait: false,
        by_size: false,
        adaptive: false,
        target_delay: Duration::from_millis(5),
        ecn: false,
        mark_limit: None,
        mean_packet: Bytes(1500),
        limit: Limit::NONE,
    };
    const OUTPUT_LINK: OutputLink = OutputLink::Wire(Some(BitRate(12_000_000)), Duration::ZERO);

    fn queue(config: RedConfig) -> Line<Red> {
        queue_at(config, OUTPUT_LINK)
    }

    fn queue_at(config: RedConfig, output_link: OutputLink) -> Line<Red> {
        Red::queue(config, output_link, rng())
    }

    /// Updates the average with the length of a queue that is in use.
    fn observe(queue: &mut Line<Red>, now: Instant) {
        queue.policy.observe(now, false, &queue.waiting);
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A queue with this many packets, whose average is its length.
    fn at_length(config: RedConfig, length: u32) -> Line<Red> {
        let mut queue = queue(RedConfig { weight: Some(1.0), ..config });
        for number in 0..length {
            queue.buffer.take(Bytes(1500));
            queue.waiting.push(ms(0), &packet(0, u64::from(number), 1500));
        }
        queue
    }

    /// Offers packets while the length stays constant; returns what happened to each.
    fn offer(queue: &mut Line<Red>, count: u64, make: impl Fn(u64) -> Packet) -> Vec<Verdict> {
        let mut fates = Vec::new();
        for number in 0..count {
            let mut out = Vec::new();
            queue.push(ms(1), &make(number), &mut out);
            fates.push(match out[..] {
                [] => Verdict::Pass,
                [Signal::Mark(..)] => Verdict::Mark,
                _ => Verdict::Drop,
            });
            if *fates.last().unwrap() != Verdict::Drop {
                let popped = queue.pop(ms(1), &mut out).unwrap();
                queue.release(ms(1), &popped, &mut Vec::new());
            }
        }
        fates
    }

    /// The number of packets from one signal to the next.
    fn gaps(fates: &[Verdict]) -> Vec<usize> {
        let at: Vec<_> = (0..fates.len()).filter(|&i| fates[i] != Verdict::Pass).collect();
        at.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn assert_close(seen: f64, expected: f64, tolerance: f64) {
        assert!((seen - expected).abs() <= tolerance, "{seen}, expected {expected}");
    }

    #[test]
    fn the_average_of_a_constant_length_has_its_closed_form() {
        let never = RedConfig { min_packets: Some(1000.0), max_packets: Some(2000.0), ..CONFIG };
        let mut queue = at_length(never, 40);
        queue.policy.weight = 0.002;
        for arrivals in 1..=2000 {
            offer(&mut queue, 1, |n| packet(0, n, 1500));
            let expected = 40.0 * (1.0 - (1.0f64 - 0.002).powi(arrivals));
            assert_close(queue.policy.average, expected, 1e-9);
        }
    }

    #[test]
    fn while_idle_the_average_falls_as_if_packets_found_the_queue_empty() {
        let mut queue = queue(CONFIG);
        queue.policy.average = 12.0;
        assert!(accepts(&mut queue, ms(0), packet(0, 0, 1500)));
        let popped = queue.pop(ms(10), &mut Vec::new()).unwrap();
        let before = queue.policy.average;
        // A queue with a packet in service is not idle; from its release on it is.
        queue.release(ms(20), &popped, &mut Vec::new());
        assert!(accepts(&mut queue, ms(520), packet(0, 1, 1500)));
        assert_close(queue.policy.average, before * (1.0f64 - 0.002).powi(500 + 1), 1e-9);
        let mut forgetful = queue_at(CONFIG, OutputLink::Wire(None, Duration::ZERO));
        forgetful.policy.average = 12.0;
        assert!(accepts(&mut forgetful, ms(1), packet(0, 0, 1500)));
        assert_close(forgetful.policy.average, 0.0, 0.0);
    }

    #[test]
    fn gaps_between_signals_are_uniform() {
        // p = 0.1 · (10 - 5) / (15 - 5): with the count's rule gaps are 1 to 1/p - 1 = 19.
        let fates = offer(&mut at_length(CONFIG, 10), 400_000, |n| packet(0, n, 1500));
        let gaps = gaps(&fates);
        let mut counts = [0.0f64; 20];
        for &gap in &gaps {
            counts[gap] += 1.0;
        }
        assert_eq!(counts[0], 0.0);
        let expected = gaps.len() as f64 / 19.0;
        let chi2: f64 = counts[1..].iter().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi2 < 42.3, "chi-squared of 18 degrees at 0.1 %: {chi2}");
        // Every tenth packet is dropped: the rate is 2p, and not p.
        assert_close(gaps.len() as f64 / 400_000.0, 0.1, 0.001);
    }

    #[test]
    fn those_who_wait_have_gaps_from_one_to_two_over_p() {
        let wait = RedConfig { wait: true, ..CONFIG };
        let fates = offer(&mut at_length(wait, 10), 400_000, |n| packet(0, n, 1500));
        let gaps = gaps(&fates);
        let mut counts = [0.0f64; 40];
        for &gap in &gaps {
            counts[gap] += 1.0;
        }
        assert_eq!(counts[..20], [0.0; 20], "p = 1/20");
        let expected = gaps.len() as f64 / 20.0;
        let chi2: f64 = counts[20..].iter().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi2 < 43.8, "chi-squared of 19 degrees at 0.1 %: {chi2}");
    }

    #[test]
    fn the_slope_is_linear_between_thresholds_and_then_gentle_or_a_jump() {
        let probability = |gentle, length| {
            let mut queue = at_length(RedConfig { gentle, ..CONFIG }, length);
            queue.policy.average = f64::from(length);
            queue.policy.probability()
        };
        for (length, gentle, steep) in [
            (5, 0.0, 0.0),
            (6, 0.01, 0.01),
            (14, 0.09, 0.09),
            (15, 0.1, 1.0),
            (20, 0.4, 1.0),
            (30, 1.0, 1.0),
            (40, 1.0, 1.0),
        ] {
            assert_close(probability(true, length), gentle, 1e-12);
            assert_close(probability(false, length), steep, 1e-12);
        }
    }

    #[test]
    fn below_the_lower_threshold_and_with_an_all_but_empty_queue_nothing_is_dropped() {
        let passes = |queue: &mut Line<Red>| {
            let fates = offer(queue, 10_000, |n| packet(0, n, 1500));
            fates.iter().all(|&fate| fate == Verdict::Pass)
        };
        assert!(passes(&mut at_length(CONFIG, 4)));
        let mut short = at_length(CONFIG, 1);
        (short.policy.weight, short.policy.average) = (1e-9, 100.0);
        assert!(passes(&mut short));
        let mut longer = at_length(CONFIG, 2);
        (longer.policy.weight, longer.policy.average) = (1e-9, 100.0);
        assert!(!passes(&mut longer));
    }

    #[test]
    fn marks_up_to_the_upper_threshold_and_drops_beyond() {
        let fates = |length, mark_limit, gentle| {
            let config = RedConfig { ecn: true, mark_limit, gentle, ..CONFIG };
            let fates = offer(&mut at_length(config, length), 2000, |n| capable(0, n, 1500));
            [Verdict::Mark, Verdict::Drop].map(|x| fates.contains(&x))
        };
        let (marks, drops) = ([true, false], [false, true]);
        assert_eq!(fates(14, None, false), marks);
        assert_eq!(fates(15, None, false), drops);
        assert_eq!(fates(29, None, true), marks);
        assert_eq!(fates(30, None, true), drops);
        // ns-2 marks by probability: p is 0.09, then 0.1, 0.16 with the gentle slope, 1 without.
        assert_eq!(fates(14, Some(0.1), false), marks);
        assert_eq!(fates(15, Some(0.1), false), drops);
        assert_eq!(fates(15, Some(0.1), true), marks);
        assert_eq!(fates(16, Some(0.1), true), drops);
        assert_eq!(fates(40, Some(1.0), true), marks);
        let unable = RedConfig { ecn: true, ..CONFIG };
        let fates = offer(&mut at_length(unable, 10), 2000, |n| packet(0, n, 1500));
        assert!(fates.contains(&Verdict::Drop) && !fates.contains(&Verdict::Mark));
    }

    #[test]
    fn by_size_a_packet_is_dropped_in_proportion_to_its_bytes() {
        let config = RedConfig { by_size: true, mean_packet: Bytes(500), max_p: 0.02, ..CONFIG };
        let size = |n: u64| if n.is_multiple_of(2) { 1000 } else { 250 };
        let fates = offer(&mut at_length(config, 10), 800_000, |n| packet(0, n, size(n)));
        let dropped = |odd| {
            let of_size = fates.iter().skip(odd).step_by(2);
            of_size.filter(|&&fate| fate == Verdict::Drop).count() as f64
        };
        let ratio = dropped(0) / dropped(1);
        assert!((ratio - 4.0).abs() < 0.4, "{ratio}");
    }

    #[test]
    fn bytes_are_counted_where_thresholds_are_in_bytes() {
        let config = RedConfig {
            min_packets: None,
            max_packets: None,
            min_bytes: Some(Bytes(6000)),
            max_bytes: Some(Bytes(9000)),
            ..CONFIG
        };
        let mut queue = at_length(config, 5);
        offer(&mut queue, 1, |n| packet(0, n, 1500));
        assert_close(queue.policy.average, 7500.0, 0.0);
        assert_close(queue.policy.probability(), 0.05, 1e-12);
    }

    #[test]
    fn the_limit_holds_whatever_the_average() {
        let mut queue = queue(RedConfig { limit: Limit::packets(3), ..CONFIG });
        for number in 0..3 {
            assert!(accepts(&mut queue, ms(0), packet(0, number, 1500)));
        }
        assert!(!accepts(&mut queue, ms(0), packet(0, 3, 1500)));
    }

    #[test]
    fn adaptive_red_moves_max_p_twice_a_second_and_within_its_range() {
        let adaptive = RedConfig { adaptive: true, ..CONFIG };
        let after = |length: u32, steps: u64| {
            let mut queue = at_length(adaptive, length);
            for step in 1..=steps {
                observe(&mut queue, ms(501 * step));
                observe(&mut queue, ms(501 * step + 100));
            }
            queue.policy.max_p
        };
        // The target is 9 to 11 packets.
        assert_close(after(12, 1), 0.11, 1e-12);
        assert_close(after(12, 3), 0.13, 1e-12);
        assert_close(after(8, 2), 0.1 * 0.9 * 0.9, 1e-12);
        assert_close(after(10, 5), 0.1, 0.0);
        assert_close(after(12, 1000), 0.5, 0.011);
        assert_close(after(8, 1000), 0.01, 0.001);
        let mut small = at_length(RedConfig { max_p: 0.02, ..adaptive }, 12);
        observe(&mut small, ms(501));
        assert_close(small.policy.max_p, 0.025, 1e-12);
    }

    #[test]
    fn a_weight_for_a_link_follows_in_ten_round_trips() {
        // 10 Mb/s and packets of 500 bytes: 2500 packets a second, in 100 ms 250.
        let rate = BitRate::from_mbps(10.0);
        let near = red_weight(rate, Duration::from_millis(10), Bytes(500));
        assert_close(near, 1.0 - libm::exp(-1.0 / 2500.0), 1e-12);
        let far = red_weight(rate, Duration::from_millis(100), Bytes(500));
        assert_close(far, 1.0 - libm::exp(-1.0 / (2500.0 * 10.0 * 3.0 * 0.1004)), 1e-12);
    }

    #[test]
    fn holds_the_average_between_the_thresholds() {
        let (from, end) = (ms(20_000), ms(120_000));
        for (adaptive, ecn) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut queue = queue(RedConfig { adaptive, ecn, ..CONFIG });
            let outcome = responsive(&mut queue, 4, ecn, end);
            let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
            let kind = format!("adaptive {adaptive}, ecn {ecn}: {mean} ms, use {used}");
            // A packet is served in a ms: the delay in ms is the queue in packets.
            let target = if adaptive { 8.5..11.5 } else { 5.0..15.0 };
            assert!(target.contains(&mean), "{kind}");
            assert!(used > 0.94, "{kind}");
            // In slow start marks come too late, and the average passes all thresholds.
            let (marks, drops) = (outcome.marks, outcome.drops);
            let expected = if ecn { marks > drops } else { marks == 0 && drops > 100 };
            assert!(expected, "{kind}: {marks} marks, {drops} drops");
        }
    }
}
