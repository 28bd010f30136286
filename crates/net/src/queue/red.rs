//! RED, random early detection (Floyd and Jacobson, IEEE/ACM Trans. Networking 1:4, 1993), with
//! ECN (RFC 3168 section 7), the gentle slope (Floyd, 2000) and Adaptive RED (Floyd, Gummadi and
//! Shenker, 2001).

use super::fifo::Fifo;
use super::{Limit, Queue, Room, Signal, Wanted, mark_or_drop};
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use wire::Packet;

/// What thresholds and average count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// What a [`Red`] queue is made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// What the thresholds count.
    pub unit: QueueUnit,
    /// Up to this average nothing is dropped.
    pub min: f64,
    /// At this average the probability is `max_p`; above `min`.
    pub max: f64,
    /// The probability at `max`; in adaptive RED only its first value.
    pub max_p: f64,
    /// Weight of the present length in the average, in (0, 1].
    pub weight: f64,
    /// Above `max` the probability rises to 1 at twice `max`, and does not jump to 1.
    pub gentle: bool,
    /// Drops are at least 1/p packets apart and not up to 1/p (`wait_` of ns-2).
    pub wait: bool,
    /// The probability of a packet grows with its size over `mean_packet`.
    pub by_size: bool,
    /// `max_p` is steered so that the average stays in the middle between the thresholds.
    pub adaptive: bool,
    /// Whether packets that can be marked are marked and not dropped.
    pub ecn: bool,
    /// The probability up to which they are marked, even beyond the upper threshold (`mark_p_` of
    /// ns-2); `None` marks up to that threshold.
    pub mark_limit: Option<f64>,
    /// Size of a usual packet.
    pub mean_packet: Bytes,
    /// What such a packet takes to send; while the queue is idle the average falls as if so many
    /// had found it empty. Zero forgets the average at once.
    pub packet_time: Duration,
    /// What it holds.
    pub limit: Limit,
}

/// A weight for a link (`q_weight_` -1 of ns-2): the average follows in ten round-trip times, which
/// are taken to be 100 ms, or three times delay and sending time where that is more.
pub fn red_weight(rate: BitRate, delay: Duration, mean_packet: Bytes) -> f64 {
    let packet_s = rate.time_for(mean_packet).as_secs_f64();
    let round_trip_s = f64::max(3.0 * (delay.as_secs_f64() + packet_s), 0.1);
    -libm::expm1(-packet_s / (10.0 * round_trip_s))
}

/// How often `max_p` is adapted (Floyd et al. 2001, Figure 1).
const INTERVAL: Duration = Duration::from_millis(500);
/// The range in which `max_p` is adapted (ibidem).
const RANGE: (f64, f64) = (0.01, 0.5);
/// The most that `max_p` grows by; it grows by no more than a quarter of itself (ibidem).
const INCREMENT: f64 = 0.01;
/// What `max_p` is multiplied by to fall (ibidem).
const DECREASE: f64 = 0.9;
/// The part of the way between the thresholds that is too low, and too high (ibidem).
const OFF_TARGET: f64 = 0.4;

/// A first-in-first-out queue under RED.
#[derive(Debug)]
pub struct Red {
    config: RedConfig,
    rng: Rng,
    fifo: Fifo,
    room: Room,
    average: f64,
    max_p: f64,
    /// Packets, or with `by_size` parts of a usual packet, since the last signal; nothing below the
    /// lower threshold.
    count: Option<f64>,
    /// While nothing waits and nothing is in service: up to when the average knows of it.
    idle_since: Instant,
    adapted: Instant,
}

/// What RED does with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Pass,
    Mark,
    Drop,
}

impl Red {
    /// An empty queue.
    pub fn new(config: RedConfig, rng: Rng) -> Self {
        Self {
            config,
            rng,
            fifo: Fifo::default(),
            room: Room::new(config.limit),
            average: 0.0,
            max_p: config.max_p,
            count: None,
            idle_since: Instant::ZERO,
            adapted: Instant::ZERO,
        }
    }

    /// Takes the present length into the average.
    fn observe(&mut self, now: Instant) {
        let keep = 1.0 - self.config.weight;
        if self.room.packets == 0 {
            let (idle, packet) = (now.since(self.idle_since), self.config.packet_time);
            self.idle_since = now;
            if packet > Duration::ZERO {
                self.average *= libm::pow(keep, (idle / packet) as f64);
            } else if idle > Duration::ZERO {
                self.average = 0.0;
            }
        }
        let length = match self.config.unit {
            QueueUnit::Packets => self.fifo.len() as f64,
            QueueUnit::Bytes => self.fifo.backlog().0 as f64,
        };
        self.average = keep * self.average + self.config.weight * length;
        if self.config.adaptive && now.since(self.adapted) > INTERVAL {
            self.adapt(now);
        }
    }

    /// Steers `max_p`, if the average is off its target.
    fn adapt(&mut self, now: Instant) {
        let RedConfig { min, max, .. } = self.config;
        let part = OFF_TARGET * (max - min);
        if self.average < min + part && self.max_p > RANGE.0 {
            self.max_p *= DECREASE;
            self.adapted = now;
        } else if self.average > max - part && self.max_p < RANGE.1 {
            self.max_p += f64::min(INCREMENT, self.max_p / 4.0);
            self.adapted = now;
        }
    }

    /// The probability by the average alone (`p_b`).
    fn probability(&self) -> f64 {
        let RedConfig { min, max, gentle, .. } = self.config;
        let average = self.average;
        if average < max {
            self.max_p * (average - min).max(0.0) / (max - min)
        } else if gentle {
            (self.max_p + (1.0 - self.max_p) * (average - max) / max).min(1.0)
        } else {
            1.0
        }
    }

    /// The probability that makes the gaps between signals uniform (`p_a`), after so many packets
    /// without one.
    fn spread(&self, probability: f64, count: f64) -> f64 {
        let done = count * probability;
        match self.config.wait {
            true if done < 1.0 => 0.0,
            true if done < 2.0 => probability / (2.0 - done),
            false if done < 1.0 => probability / (1.0 - done),
            _ => 1.0,
        }
    }

    /// What happens to an arrival of this size, if there is room for it.
    fn decide(&mut self, size: Bytes) -> Decision {
        let RedConfig { min, max, gentle, by_size, mark_limit, mean_packet, .. } = self.config;
        let share = if by_size { size.0 as f64 / mean_packet.0.max(1) as f64 } else { 1.0 };
        // One that finds the queue all but empty passes, whatever the average still is.
        if self.average < min || self.fifo.len() <= 1 {
            self.count = None;
            return Decision::Pass;
        }
        let top = if gentle { 2.0 * max } else { max };
        if mark_limit.is_none() && self.average >= top {
            self.count = Some(0.0);
            return Decision::Drop;
        }
        let Some(count) = &mut self.count else {
            // The first above the threshold passes.
            self.count = Some(share);
            return Decision::Pass;
        };
        *count += share;
        let count = *count;
        let probability = self.probability();
        let spread = self.spread(probability, count);
        if !self.rng.chance(if spread < 1.0 { spread * share } else { 1.0 }) {
            return Decision::Pass;
        }
        self.count = Some(0.0);
        if mark_limit.is_none_or(|limit| probability <= limit) {
            Decision::Mark
        } else {
            Decision::Drop
        }
    }
}

impl Queue for Red {
    fn push(&mut self, now: Instant, mut packet: Packet, out: &mut Vec<Signal>) {
        self.observe(now);
        if !self.room.has(packet.size) {
            self.count = self.count.map(|_| 0.0);
            return out.push(Signal::Drop(packet));
        }
        let decision = self.decide(packet.size);
        if decision != Decision::Pass {
            let ecn = self.config.ecn && decision == Decision::Mark;
            let Some(marked) = mark_or_drop(ecn, packet, out) else { return };
            packet = marked;
        }
        self.room.force(packet.size);
        self.fifo.push(now, packet);
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

    fn release(&mut self, now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        self.room.free(packet.size);
        self.idle_since = now;
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
    use super::super::load::responsive;
    use super::super::tests::{accepts, capable, packet, rng};
    use super::*;

    const CONFIG: RedConfig = RedConfig {
        unit: QueueUnit::Packets,
        min: 5.0,
        max: 15.0,
        max_p: 0.1,
        weight: 0.002,
        gentle: true,
        wait: false,
        by_size: false,
        adaptive: false,
        ecn: false,
        mark_limit: None,
        mean_packet: Bytes(1500),
        packet_time: Duration::from_millis(1),
        limit: Limit::NONE,
    };

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A queue whose average is its present length, with so many packets in it.
    fn at_length(config: RedConfig, length: u32) -> Red {
        let mut queue = Red::new(RedConfig { weight: 1.0, ..config }, rng());
        for number in 0..length {
            queue.room.force(Bytes(1500));
            queue.fifo.push(ms(0), packet(0, u64::from(number), 1500));
        }
        queue
    }

    /// Offers packets and keeps the length; what became of each.
    fn offer(queue: &mut Red, count: u64, make: impl Fn(u64) -> Packet) -> Vec<Decision> {
        let mut fates = Vec::new();
        for number in 0..count {
            let mut out = Vec::new();
            queue.push(ms(1), make(number), &mut out);
            fates.push(match out[..] {
                [] => Decision::Pass,
                [Signal::Mark(_)] => Decision::Mark,
                _ => Decision::Drop,
            });
            if *fates.last().unwrap() != Decision::Drop {
                let popped = queue.pop(ms(1), &mut out).unwrap();
                queue.release(ms(1), &popped, &mut Vec::new());
            }
        }
        fates
    }

    /// Packets from one signal to the next.
    fn gaps(fates: &[Decision]) -> Vec<usize> {
        let at: Vec<_> = (0..fates.len()).filter(|&i| fates[i] != Decision::Pass).collect();
        at.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn assert_close(seen: f64, expected: f64, tolerance: f64) {
        assert!((seen - expected).abs() <= tolerance, "{seen}, expected {expected}");
    }

    #[test]
    fn the_average_of_a_constant_length_has_its_closed_form() {
        let never = RedConfig { min: 1000.0, max: 2000.0, ..CONFIG };
        let mut queue = at_length(never, 40);
        queue.config.weight = 0.002;
        for arrivals in 1..=2000 {
            offer(&mut queue, 1, |n| packet(0, n, 1500));
            let expected = 40.0 * (1.0 - (1.0f64 - 0.002).powi(arrivals));
            assert_close(queue.average, expected, 1e-9);
        }
    }

    #[test]
    fn while_idle_the_average_falls_as_if_packets_found_the_queue_empty() {
        let mut queue = Red::new(CONFIG, rng());
        queue.average = 12.0;
        assert!(accepts(&mut queue, ms(0), packet(0, 0, 1500)));
        let popped = queue.pop(ms(10), &mut Vec::new()).unwrap();
        let before = queue.average;
        // In service it is not idle; from its release on it is.
        queue.release(ms(20), &popped, &mut Vec::new());
        assert!(accepts(&mut queue, ms(520), packet(0, 1, 1500)));
        assert_close(queue.average, before * (1.0f64 - 0.002).powi(500 + 1), 1e-9);
        let mut forgetful = Red::new(RedConfig { packet_time: Duration::ZERO, ..CONFIG }, rng());
        forgetful.average = 12.0;
        assert!(accepts(&mut forgetful, ms(1), packet(0, 0, 1500)));
        assert_close(forgetful.average, 0.0, 0.0);
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
        // So every tenth is dropped: 2p, and not p.
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
            queue.average = f64::from(length);
            queue.probability()
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
        let passes = |queue: &mut Red| {
            let fates = offer(queue, 10_000, |n| packet(0, n, 1500));
            fates.iter().all(|&fate| fate == Decision::Pass)
        };
        assert!(passes(&mut at_length(CONFIG, 4)));
        let mut short = at_length(CONFIG, 1);
        (short.config.weight, short.average) = (1e-9, 100.0);
        assert!(passes(&mut short));
        let mut longer = at_length(CONFIG, 2);
        (longer.config.weight, longer.average) = (1e-9, 100.0);
        assert!(!passes(&mut longer));
    }

    #[test]
    fn marks_up_to_the_upper_threshold_and_drops_beyond() {
        let fates = |length, mark_limit, gentle| {
            let config = RedConfig { ecn: true, mark_limit, gentle, ..CONFIG };
            let fates = offer(&mut at_length(config, length), 2000, |n| capable(0, n, 1500));
            [Decision::Mark, Decision::Drop].map(|x| fates.contains(&x))
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
        assert!(fates.contains(&Decision::Drop) && !fates.contains(&Decision::Mark));
    }

    #[test]
    fn by_size_a_packet_is_dropped_in_proportion_to_its_bytes() {
        let config = RedConfig { by_size: true, mean_packet: Bytes(500), max_p: 0.02, ..CONFIG };
        let size = |n: u64| if n.is_multiple_of(2) { 1000 } else { 250 };
        let fates = offer(&mut at_length(config, 10), 800_000, |n| packet(0, n, size(n)));
        let dropped = |odd| {
            let of_size = fates.iter().skip(odd).step_by(2);
            of_size.filter(|&&fate| fate == Decision::Drop).count() as f64
        };
        let ratio = dropped(0) / dropped(1);
        assert!((ratio - 4.0).abs() < 0.4, "{ratio}");
    }

    #[test]
    fn bytes_are_counted_where_thresholds_are_in_bytes() {
        let config = RedConfig { unit: QueueUnit::Bytes, min: 6000.0, max: 9000.0, ..CONFIG };
        let mut queue = at_length(config, 5);
        offer(&mut queue, 1, |n| packet(0, n, 1500));
        assert_close(queue.average, 7500.0, 0.0);
        assert_close(queue.probability(), 0.05, 1e-12);
    }

    #[test]
    fn the_limit_holds_whatever_the_average() {
        let mut queue = Red::new(RedConfig { limit: Limit::packets(3), ..CONFIG }, rng());
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
                queue.observe(ms(501 * step));
                queue.observe(ms(501 * step + 100));
            }
            queue.max_p
        };
        // The target is 9 to 11 packets.
        assert_close(after(12, 1), 0.11, 1e-12);
        assert_close(after(12, 3), 0.13, 1e-12);
        assert_close(after(8, 2), 0.1 * 0.9 * 0.9, 1e-12);
        assert_close(after(10, 5), 0.1, 0.0);
        assert_close(after(12, 1000), 0.5, 0.011);
        assert_close(after(8, 1000), 0.01, 0.001);
        let mut small = at_length(RedConfig { max_p: 0.02, ..adaptive }, 12);
        small.observe(ms(501));
        assert_close(small.max_p, 0.025, 1e-12);
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
            let mut queue = Red::new(RedConfig { adaptive, ecn, ..CONFIG }, rng());
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
