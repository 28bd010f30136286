//! `DualPI2` (RFC 9332): two coupled queues, a shallow one for L4S and one for classic traffic.

use super::buffer::Buffer;
use super::fifo::Fifo;
use super::{
    Codepoints, Discipline, Limit, OutputLink, Queue, Served, Signal, Traits, Wanted, mark_or_drop,
};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::{Choice, Said, Settings, number};
use std::collections::BTreeMap;
use wire::{Ecn, NodeId, Packet};

/// `DualPI2` (RFC 9332): packets with ECT(1) or CE wait in a low-latency queue, L, and all others
/// in a classic one, C. A PI controller sets a probability p'; C drops or marks with p'², L marks
/// with p' times `coupling`, or if a packet has waited longer than the step. Defaults and rules are
/// those of Linux. For the pseudo-code of RFC 9332 appendix A: `rules = "rfc9332"`, `update_ms =
/// 15`,
/// `alpha = 0.15`, `beta = 3`, `step_us = 800`, `ramp_us = 400`, `step_min_packets = 1` and
/// `classic_weight_percent = 6.25`.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct DualPi2Config {
    /// The target delay.
    #[setting(key = "target_ms", default = 15.0, range = 0.0..=60_000.0)]
    pub target: Duration,
    /// Time between two updates of the probability p'.
    #[setting(key = "update_ms", default = 16.0, range = 1.0..=60_000.0)]
    pub update: Duration,
    /// Weight of the difference between delay and target, per second; 41/256 in Linux.
    #[setting(default = 0.160_156_25, range = 0.0..=1e6)]
    pub alpha: f64,
    /// Weight of the change of the delay, per second; 819/256 in Linux.
    #[setting(default = 3.199_218_75, range = 0.0..=1e6)]
    pub beta: f64,
    /// The delay in L beyond which packets are marked, whatever p' is. It should exceed the time of
    /// two packets on the link.
    #[setting(key = "step_us", default = 1000.0, range = 0.0..=60e6)]
    pub step: Duration,
    /// The range of delays above the step in which the probability of this mark rises from 0 to 1.
    /// Default: it is 1 beyond the step.
    #[setting(key = "ramp_us", range = 0.001..=60e6)]
    pub ramp: Option<Duration>,
    /// The step applies to a packet only if at least this many packets waited in L when it arrived;
    /// with `rules = "rfc9332"`, if as many wait behind it when it leaves.
    #[setting(range = 0..=1_000_000)]
    pub step_min_packets: u32,
    /// The step is raised by this many times of an aggregate: the packets for a station that leave
    /// at one instant. Its time is the mean (weight 1/8) of the time since the one before, or of
    /// the time for which its first packet has waited if that is shorter. On a wire an aggregate is
    /// a packet.
    #[setting(range = 0.0..=1000.0)]
    pub step_aggregates: f64,
    /// The factor k between p' and the probability of a mark in L.
    #[setting(
        default = 2.0,
        range = 0.01..=1000.0,
        too_low = ["without coupling L4S flows leave classic ones no share", "RFC 9332 takes 2"]
    )]
    pub coupling: f64,
    /// The share of C in per cent while packets wait in both queues.
    #[setting(default = 10.0, range = 0.1..=99.9)]
    pub classic_weight_percent: f64,
    /// Whether in an overload, when p' times `coupling` exceeds 1, L drops packets with p'², and C
    /// drops those that it would mark. Otherwise p' is limited to 1/`coupling`, and only the limit
    /// drops packets.
    #[setting(default = true)]
    pub drop_overload: bool,
    /// What waits in L, besides CE.
    pub low_latency: Codepoints,
    /// The rules in which Linux and the pseudo-code of RFC 9332 differ.
    pub rules: Rules,
    /// Whether p' is computed in the integers of Linux: multiples of 2⁻³², from weights per 64 ns.
    pub integers: bool,
    /// With a backlog of less than two packets of this size no packet is marked or dropped.
    #[setting(key = "mtu_bytes", default = 1500, range = 0..=1_000_000)]
    pub mtu: Bytes,
    /// The limits of both queues together.
    #[setting(flatten, default = Limit::packets(10_000))]
    pub limit: Limit,
}

/// Rules of `DualPI2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Rules {
    /// Linux 6.17 and later: p' follows the longer of the delays of both queues; each signal is an
    /// independent random event.
    #[default]
    Linux,
    /// RFC 9332 appendix A: p' follows the delay of C; signals are evenly spaced (`recur`); the
    /// greater of both probabilities holds for L; an overload begins when p'² reaches
    /// 1/`coupling`².
    Rfc9332,
}

impl Discipline for DualPi2Config {
    fn build(&self, _: OutputLink, rng: Rng) -> Box<dyn Queue> {
        Box::new(DualPi2::new(*self, rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn traits(&self) -> Traits<'_> {
        Traits { has_two_queues: true, tells_l4s_apart: true, ..Traits::default() }
    }

    /// A step below the time of a packet marks whatever waits for one other packet.
    fn refusal(&self, output_link: OutputLink) -> Option<Said> {
        let OutputLink::Wire(..) = output_link else { return None };
        let time = output_link.time_for(self.mtu);
        let spares_one = self.step_min_packets > 0 || self.step_aggregates >= 1.0;
        let is_too_short = self.step < time && !spares_one;
        let micros = |time: Duration| number(time.as_micros_f64());
        is_too_short.then(|| {
            Said::new(
                format!(
                    "step_us is {}, and the link takes {} us for a packet of {} bytes: each that \
                     waits for another would be marked",
                    micros(self.step),
                    micros(time),
                    self.mtu.0
                ),
                "raise step_us, or set step_min_packets = 1",
            )
        })
    }
}

/// The numbers of the two queues.
const L: usize = 0;
const C: usize = 1;

/// One of the two queues.
#[derive(Debug, Default)]
struct Class {
    fifo: Fifo<Arrival>,
    /// The sum of probabilities since the last signal (`recur` of RFC 9332 appendix A.1).
    likelihood: f64,
    served: Served,
}

/// A packet's arrival.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Instant,
    /// The packets that waited in the same queue.
    found: usize,
}

/// A packet that leaves: its codepoint, how long it has waited, the step for it, and the packets
/// that it found.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    ecn: Ecn,
    sojourn: Duration,
    step: Duration,
    found: usize,
}

/// The last aggregate for a station, and the mean time of one.
#[derive(Clone, Copy, Debug)]
struct Aggregates {
    last: Instant,
    time: Option<Duration>,
}

/// The fate of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    /// Marked, or dropped if it cannot be marked.
    Mark,
    Drop,
}

/// The state of `DualPI2`.
#[derive(Debug)]
struct DualPi2 {
    config: DualPi2Config,
    rng: Rng,
    buffer: Buffer,
    classes: [Class; 2],
    /// p' of RFC 9332.
    probability: f64,
    /// The delay at the last update.
    last_delay: Duration,
    next_update: Instant,
    /// The credit of C in per cent of bytes: L sends while it is 0 or less.
    credit: f64,
    /// By station; empty without `step_aggregates`.
    aggregates: BTreeMap<Option<NodeId>, Aggregates>,
}

impl DualPi2 {
    fn new(config: DualPi2Config, rng: Rng) -> Self {
        let mut queue = Self {
            config,
            rng,
            buffer: Buffer::new(config.limit),
            classes: [Class::default(), Class::default()],
            probability: 0.0,
            last_delay: Duration::ZERO,
            next_update: Instant::ZERO + config.update,
            credit: 0.0,
            aggregates: BTreeMap::new(),
        };
        queue.reset_credit();
        queue
    }

    fn class_of(&self, packet: &Packet) -> usize {
        let is_low = packet.ecn == Ecn::Experienced || self.config.low_latency.has(packet.ecn);
        if is_low { L } else { C }
    }

    /// The initial credit lets L send (1 - w)/w times as much as C, without a first packet of C.
    fn reset_credit(&mut self) {
        let weight = self.config.classic_weight_percent;
        self.credit = self.config.mtu.0 as f64 * (2.0 * weight - 100.0);
    }

    /// Performs the updates that were due since the last call. The heads of the queues change only
    /// in calls, so that no update is too late.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.probability == 0.0 && self.last_delay == Duration::ZERO && self.is_empty() {
                // From here on, further updates change nothing.
                let missed = now.since(self.next_update) / self.config.update + 1;
                self.next_update += self.config.update * missed;
                return;
            }
            let delay = self.delay_at(self.next_update);
            self.update(delay);
            self.next_update += self.config.update;
        }
    }

    /// The delay that p' follows: how long the first packet has waited.
    fn delay_at(&self, now: Instant) -> Duration {
        let delay = |class: usize| {
            let since = self.classes[class].fifo.oldest();
            since.map_or(Duration::ZERO, |arrival| now.since(arrival.at))
        };
        match self.config.rules {
            Rules::Linux => delay(L).max(delay(C)),
            Rules::Rfc9332 => delay(C),
        }
    }

    /// One update of p' (RFC 9332 figure 6).
    fn update(&mut self, delay: Duration) {
        let DualPi2Config { alpha, beta, target, coupling, .. } = self.config;
        let growth = if self.config.integers {
            let apart = |other: Duration| i128::from(delay.0) - i128::from(other.0);
            let nanos = apart(target) * integer_weight(alpha)
                + apart(self.last_delay) * integer_weight(beta);
            // Integer division towards 0: Linux divides the absolute value.
            (nanos / 64) as f64 / INTEGER_ONE
        } else {
            let seconds = Duration::as_secs_f64;
            alpha * (seconds(delay) - seconds(target))
                + beta * (seconds(delay) - seconds(self.last_delay))
        };
        let most = if self.config.drop_overload { 1.0 } else { (1.0 / coupling).min(1.0) };
        self.probability = (self.probability + growth).clamp(0.0, most);
        self.last_delay = delay;
    }

    /// The queue whose turn it is, of those with a packet that is requested, and the change of the
    /// credit for each byte: it changes only while packets wait in both queues.
    fn turn(&mut self, wanted: &Wanted) -> Option<(usize, f64)> {
        let has = [L, C].map(|class| self.classes[class].fifo.has(wanted));
        let weight = self.config.classic_weight_percent;
        let other_waits = |class: usize| !self.classes[class].fifo.is_empty();
        if has[L] && (!has[C] || self.credit <= 0.0) {
            return Some((L, if other_waits(C) { weight } else { 0.0 }));
        }
        has[C].then(|| (C, if other_waits(L) { weight - 100.0 } else { 0.0 }))
    }

    /// Whether an event of this probability happens, at random.
    fn roll(&mut self, probability: f64) -> bool {
        self.rng.chance(probability.min(1.0))
    }

    /// The same, evenly spaced (`recur` of RFC 9332 appendix A.1).
    fn recur(&mut self, class: usize, probability: f64) -> bool {
        let likelihood = &mut self.classes[class].likelihood;
        *likelihood += probability.min(1.0);
        if *likelihood < 1.0 {
            return false;
        }
        *likelihood -= 1.0;
        true
    }

    /// The delay beyond which a packet for a station that leaves now is marked.
    fn step_for(&mut self, now: Instant, to: Option<NodeId>, sojourn: Duration) -> Duration {
        let DualPi2Config { step, step_aggregates, .. } = self.config;
        if step_aggregates == 0.0 {
            return step;
        }
        let known = self.aggregates.entry(to).or_insert(Aggregates { last: now, time: None });
        if known.last < now || known.time.is_none() {
            let since = now.since(known.last);
            let sample = if known.time.is_none() { sojourn } else { sojourn.min(since) };
            let before = known.time.unwrap_or(sample);
            *known = Aggregates { last: now, time: Some((before * 7 + sample) / 8) };
        }
        let time = known.time.unwrap_or(Duration::ZERO);
        step + Duration::from_secs_f64(step_aggregates * time.as_secs_f64())
    }

    /// The probability of a mark in L by the delay of the packet alone (`laqm`).
    fn native(&self, leaving: &Leaving) -> f64 {
        let &Leaving { sojourn, step, found, .. } = leaving;
        let DualPi2Config { ramp, step_min_packets, rules, .. } = self.config;
        let others = match rules {
            Rules::Linux => found,
            Rules::Rfc9332 => self.classes[L].fifo.len(),
        };
        if sojourn <= step || others < step_min_packets as usize {
            return 0.0;
        }
        let above = sojourn - step;
        ramp.map_or(1.0, |ramp| (above.as_secs_f64() / ramp.as_secs_f64()).min(1.0))
    }

    /// The fate of a packet of this queue that leaves now.
    fn fate(&mut self, class: usize, leaving: &Leaving) -> Fate {
        if self.backlog().0 < 2 * self.config.mtu.0 {
            return Fate::Pass;
        }
        match self.config.rules {
            Rules::Linux => self.fate_in_linux(class, leaving),
            Rules::Rfc9332 => self.fate_in_rfc(class, leaving),
        }
    }

    /// `must_drop` of Linux.
    fn fate_in_linux(&mut self, class: usize, leaving: &Leaving) -> Fate {
        let DualPi2Config { coupling, drop_overload, .. } = self.config;
        let probability = self.probability;
        let overload = probability * coupling > 1.0;
        if class == C {
            let signals = self.roll(probability) && self.roll(probability);
            return match signals {
                false => Fate::Pass,
                true if overload || leaving.ecn == Ecn::NotCapable => Fate::Drop,
                true => Fate::Mark,
            };
        }
        if overload {
            let drops = drop_overload && self.roll(probability) && self.roll(probability);
            return if drops { Fate::Drop } else { Fate::Mark };
        }
        let coupled = self.roll(probability * coupling);
        let native = self.native(leaving);
        if coupled || native >= 1.0 || native > 0.0 && self.roll(native) {
            return Fate::Mark;
        }
        Fate::Pass
    }

    /// RFC 9332 figure 5 and the overload of appendix A.2.
    fn fate_in_rfc(&mut self, class: usize, leaving: &Leaving) -> Fate {
        let DualPi2Config { coupling, drop_overload, .. } = self.config;
        let (classic, coupled) = (self.probability * self.probability, self.probability * coupling);
        let overload = drop_overload && coupled >= 1.0;
        if class == C {
            return match self.recur(C, classic) {
                false => Fate::Pass,
                true if overload || leaving.ecn == Ecn::NotCapable => Fate::Drop,
                true => Fate::Mark,
            };
        }
        if overload && self.recur(C, classic) {
            return Fate::Drop;
        }
        let native = if overload { 0.0 } else { self.native(leaving) };
        if self.recur(L, coupled.max(native)) { Fate::Mark } else { Fate::Pass }
    }

    /// Takes the next packet that is not dropped.
    fn take(&mut self, now: Instant, mut wanted: Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        self.catch_up(now);
        loop {
            let (number, credit_per_byte) = self.turn(&wanted)?;
            let (arrival, packet) = self.classes[number].fifo.take_for(wanted.to)?;
            let sojourn = now.since(arrival.at);
            let step = self.step_for(now, packet.receiver(), sojourn);
            let leaving = Leaving { ecn: packet.ecn, sojourn, step, found: arrival.found };
            let fate = self.fate(number, &leaving);
            let served = &mut self.classes[number].served;
            let packet = match fate {
                Fate::Pass => Some(packet),
                Fate::Mark => mark_or_drop(true, packet, out),
                Fate::Drop => mark_or_drop(false, packet, out),
            };
            let Some(packet) = packet else {
                let Some(Signal::Drop(dropped)) = out.last() else { unreachable!("a drop") };
                self.buffer.free(dropped.size);
                served.dropped += 1;
                // After a drop the next packet may be larger than requested.
                wanted.most = Bytes(u64::MAX);
                continue;
            };
            served.packets += 1;
            served.marked += u64::from(fate == Fate::Mark);
            served.waited += sojourn;
            self.credit += credit_per_byte * packet.size.0 as f64;
            return Some(packet);
        }
    }
}

/// The number of a probability of 1 in Linux.
const INTEGER_ONE: f64 = 4_294_967_296.0;

/// A weight of Linux: `dualpi2_scale_alpha_beta` of the number that stands for it, in 256ths. The
/// factor from 1/s to 1/(64 ns) is 2⁶/10⁹.
fn integer_weight(weight: f64) -> i128 {
    let parameter = libm::round(weight * 256.0) as i128;
    ((parameter * i128::from(u32::MAX)) >> 2) / 1_000_000_000
}

impl Queue for DualPi2 {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.catch_up(now);
        let class = self.class_of(packet);
        if !self.buffer.has(packet.size) {
            self.classes[class].served.dropped += 1;
            return out.push(Signal::Drop(*packet));
        }
        if self.is_empty() {
            self.reset_credit();
        }
        self.buffer.take(packet.size);
        let fifo = &mut self.classes[class].fifo;
        fifo.push(Arrival { at: now, found: fifo.len() }, packet);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(now, Wanted::ANY, out)
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(now, *wanted, out)
    }

    fn release(&mut self, _now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        self.buffer.free(packet.size);
    }

    fn len(&self) -> usize {
        self.classes.iter().map(|class| class.fifo.len()).sum()
    }

    fn backlog(&self) -> Bytes {
        self.classes.iter().map(|class| class.fifo.backlog()).sum()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.classes.iter().for_each(|class| class.fifo.each(visit));
    }

    fn dual(&self) -> Option<[Served; 2]> {
        Some([self.classes[L].served, self.classes[C].served])
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::{Outcome, responsive};
    use super::super::tests::{accepts, capable, number, packet, rng};
    use super::*;

    fn ms(ms: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(ms / 1e3)
    }

    fn l4s(flow: u32, number: u64, size: u64) -> Packet {
        Packet { ecn: Ecn::Ect1, ..packet(flow, number, size) }
    }

    fn dual(config: DualPi2Config) -> DualPi2 {
        DualPi2::new(config, rng())
    }

    /// The delays of the first packet at the ends of five periods, in ms.
    const DELAYS_MS: [u64; 5] = [0, 20, 25, 25, 15];

    /// The values of p' after updates at these delays, and after one at 10 ms.
    fn trace(config: DualPi2Config) -> Vec<f64> {
        let mut queue = dual(config);
        let update = |&delay: &u64| {
            queue.update(Duration::from_millis(delay));
            queue.probability
        };
        DELAYS_MS.iter().chain(&[10]).map(update).collect()
    }

    #[test]
    fn p_follows_the_control_law() {
        let (alpha, beta) = (41.0 / 256.0, 819.0 / 256.0);
        let changes = [
            alpha * 0.005 + beta * 0.020,
            alpha * 0.010 + beta * 0.005,
            alpha * 0.010,
            -beta * 0.010,
            -alpha * 0.005 - beta * 0.005,
        ];
        let mut expected = 0.0;
        let seen = trace(DualPi2Config::default());
        assert_eq!(seen[0], 0.0, "an empty queue");
        for (seen, change) in seen[1..].iter().zip(changes) {
            expected += change;
            assert!((seen - expected).abs() < 1e-12, "{seen}, expected {expected}");
        }
        let rounded: Vec<f64> = seen.iter().map(|p| (p * 1e6).round() / 1e6).collect();
        assert_eq!(rounded, [0.0, 0.064_785, 0.082_383, 0.083_984, 0.051_992, 0.035_195]);
    }

    #[test]
    fn integers_are_those_of_linux() {
        // 41 and 819 of 256 per second become 44 and 879 of 2³² per 64 ns.
        assert_eq!([41, 819].map(|n| integer_weight(f64::from(n) / 256.0)), [44, 879]);
        let units = |p: &f64| (p * INTEGER_ONE) as u64;
        let config = DualPi2Config { integers: true, ..Default::default() };
        let seen: Vec<u64> = trace(config).iter().map(units).collect();
        let first = (5_000_000 * 44 + 20_000_000 * 879) / 64;
        let second = first + (10_000_000 * 44 + 5_000_000 * 879) / 64;
        assert_eq!(seen[..3], [0, first, second]);
        let share = |&n: &u64| (n as f64 / INTEGER_ONE * 1e6).round();
        let shares: Vec<f64> = seen.iter().map(share).collect();
        assert_eq!(shares, [0.0, 64_756.0, 82_346.0, 83_946.0, 51_969.0, 35_179.0]);
    }

    #[test]
    fn updates_are_at_their_times_and_see_the_first_packets_of_then() {
        let mut queue = dual(DualPi2Config::default());
        assert!(accepts(&mut queue, ms(12.0), packet(0, 0, 1500)));
        assert!(accepts(&mut queue, ms(31.0), l4s(1, 0, 1500)));
        // Updates at 16, 32, 48, 64, 80 ms; the first packet has waited since 12 ms.
        let mut by_hand = dual(DualPi2Config::default());
        for delay in [4, 20, 36, 52, 68] {
            by_hand.update(Duration::from_millis(delay));
        }
        queue.catch_up(ms(80.0));
        assert_eq!(queue.probability, by_hand.probability);
        assert!(queue.probability > 0.05);
        let rfc = DualPi2Config { rules: Rules::Rfc9332, ..Default::default() };
        let mut low = dual(rfc);
        assert!(accepts(&mut low, ms(0.0), l4s(1, 0, 1500)));
        low.catch_up(ms(1000.0));
        assert_eq!(low.probability, 0.0, "only the delay of C counts");
        // A minute without packets is no work, and p' has decayed to 0.
        while queue.pop(ms(81.0), &mut Vec::new()).is_some() {}
        queue.catch_up(ms(60_000.0));
        assert_eq!((queue.probability, queue.next_update), (0.0, ms(60_000.0 + 16.0)));
    }

    /// Which of both queues send, if each always has packets, and the order of the first ten.
    fn shares(config: DualPi2Config, sizes: [u64; 2], packets: usize) -> ([u64; 2], Vec<usize>) {
        let mut queue = dual(config);
        let (mut bytes, mut order) = ([0; 2], Vec::new());
        for number in 0..packets as u64 {
            assert!(accepts(&mut queue, ms(0.0), l4s(1, number, sizes[L])));
            assert!(accepts(&mut queue, ms(0.0), packet(0, number, sizes[C])));
        }
        for _ in 0..packets {
            let packet = queue.pop(ms(0.0), &mut Vec::new()).unwrap();
            queue.release(ms(0.0), &packet, &mut Vec::new());
            let class = queue.class_of(&packet);
            bytes[class] += packet.size.0;
            order.push(class);
        }
        order.truncate(20);
        (bytes, order)
    }

    #[test]
    fn under_load_of_both_a_tenth_of_the_bytes_is_of_the_classic_queue() {
        let mtu = DualPi2Config { mtu: Bytes(1514), ..Default::default() };
        let (bytes, order) = shares(mtu, [1514, 1514], 1000);
        assert_eq!(dual(mtu).credit, -121_120.0);
        let one = [L, L, L, L, L, L, L, L, L, C];
        assert_eq!(order, [one, one].concat());
        assert_eq!(bytes, [900 * 1514, 100 * 1514]);
        let (bytes, _) = shares(DualPi2Config::default(), [250, 1500], 2000);
        let classic = bytes[C] as f64 / (bytes[L] + bytes[C]) as f64;
        assert!((classic - 0.1).abs() < 0.005, "{classic}");
        let even = DualPi2Config { classic_weight_percent: 50.0, ..Default::default() };
        assert_eq!(shares(even, [1500, 1500], 1000).0, [500 * 1500, 500 * 1500]);
    }

    #[test]
    fn l_waits_for_nothing_while_it_alone_has_packets_and_the_credit_stays() {
        let mut queue = dual(DualPi2Config::default());
        let start = queue.credit;
        for number in 0..50 {
            assert!(accepts(&mut queue, ms(0.0), l4s(1, number, 1500)));
        }
        for _ in 0..49 {
            queue.pop(ms(0.0), &mut Vec::new()).unwrap();
        }
        assert_eq!(queue.credit, start);
        // With both: nine of L, one of C; then both are empty, and the credit begins anew.
        assert!(accepts(&mut queue, ms(0.0), packet(0, 0, 1500)));
        queue.pop(ms(0.0), &mut Vec::new()).unwrap();
        assert_ne!(queue.credit, start);
        queue.pop(ms(0.0), &mut Vec::new()).unwrap();
        assert!(accepts(&mut queue, ms(0.0), packet(0, 1, 1500)));
        assert_eq!(queue.credit, start);
    }

    /// Packets of this kind leave after this sojourn while p' has this value: the fractions of
    /// drops and of marks.
    fn fates(
        config: DualPi2Config,
        probability: f64,
        make: fn(u32, u64, u64) -> Packet,
        sojourn_ms: f64,
    ) -> (f64, f64) {
        const COUNT: u32 = 20_000;
        let update = Duration::from_secs(60);
        let mut queue = dual(DualPi2Config { update, limit: Limit::NONE, ..config });
        queue.probability = probability;
        for number in 0..u64::from(COUNT) {
            assert!(accepts(&mut queue, ms(0.0), make(0, number, 1500)));
        }
        let mut out = Vec::new();
        while queue.pop(ms(sojourn_ms), &mut out).is_some() {}
        let drops = out.iter().filter(|signal| matches!(signal, Signal::Drop(_))).count();
        let share = |count: usize| count as f64 / f64::from(COUNT);
        (share(drops), share(out.len() - drops))
    }

    #[track_caller]
    fn assert_near((drops, marks): (f64, f64), expected: (f64, f64)) {
        let close = |seen: f64, expected: f64| (seen - expected).abs() < 0.012;
        assert!(
            close(drops, expected.0) && close(marks, expected.1),
            "drops {drops}, marks {marks}, expected {expected:?}"
        );
    }

    #[test]
    fn both_queues_signal_with_coupled_probabilities() {
        for rules in [Rules::Linux, Rules::Rfc9332] {
            let config = DualPi2Config { rules, ..Default::default() };
            assert_near(fates(config, 0.3, packet, 5.0), (0.09, 0.0));
            assert_near(fates(config, 0.3, capable, 5.0), (0.0, 0.09));
            assert_near(fates(config, 0.3, l4s, 0.5), (0.0, 0.6));
            assert_near(fates(config, 0.0, l4s, 0.5), (0.0, 0.0));
            assert_near(fates(config, 0.0, capable, 500.0), (0.0, 0.0));
        }
        let four = DualPi2Config { coupling: 4.0, ..Default::default() };
        assert_near(fates(four, 0.1, l4s, 0.5), (0.0, 0.4));
    }

    #[test]
    fn the_step_marks_whatever_waits_longer() {
        let config = DualPi2Config::default();
        assert_near(fates(config, 0.0, l4s, 1.0), (0.0, 0.0));
        assert_near(fates(config, 0.0, l4s, 1.000_001), (0.0, 1.0));
        let any = DualPi2Config { low_latency: Codepoints::AnyEct, ..config };
        assert_near(fates(any, 0.0, capable, 2.0), (0.0, 1.0));
        assert_near(fates(any, 0.0, packet, 2.0), (0.0, 0.0));
        let ramp = Some(Duration::from_micros(400));
        let ramp = DualPi2Config { step: Duration::from_micros(800), ramp, ..config };
        for (sojourn_ms, expected) in [(0.8, 0.0), (0.9, 0.25), (1.1, 0.75), (1.2, 1.0)] {
            assert_near(fates(ramp, 0.0, l4s, sojourn_ms), (0.0, expected));
            let rfc = DualPi2Config { rules: Rules::Rfc9332, ..ramp };
            assert_near(fates(rfc, 0.0, l4s, sojourn_ms), (0.0, expected));
            // The greater probability counts in the RFC; in Linux either event.
            assert_near(fates(rfc, 0.25, l4s, sojourn_ms), (0.0, expected.max(0.5)));
            let either = 1.0 - (1.0 - expected) * 0.5;
            assert_near(fates(ramp, 0.25, l4s, sojourn_ms), (0.0, either));
        }
        // Linux counts what an arriving packet finds, the RFC what a leaving packet leaves: the
        // first or the last 5000 of 20,000 are exempt.
        for rules in [Rules::Linux, Rules::Rfc9332] {
            let few = DualPi2Config { step_min_packets: 5000, rules, ..config };
            assert_near(fates(few, 0.0, l4s, 2.0), (0.0, 0.75));
            let marks = [0, 1].map(|found| {
                let mut queue = dual(DualPi2Config { step_min_packets: 1, rules, ..config });
                for number in 0..3 {
                    assert!(accepts(&mut queue, ms(0.0), l4s(0, number, 9000)));
                }
                let mut out = Vec::new();
                for _ in 0..=found {
                    queue.pop(ms(2.0), &mut out);
                }
                out.len()
            });
            assert_eq!(marks, if rules == Rules::Linux { [0, 1] } else { [1, 2] }, "{rules:?}");
        }
    }

    /// Aggregates of `size` packets leave every 4 ms, and each packet arrives this long before the
    /// aggregate leaves. Returns whether the packets of the last aggregates are marked.
    fn marks_of_aggregates(step_aggregates: f64, waited_ms: f64) -> bool {
        let config = DualPi2Config { step_aggregates, ..Default::default() };
        let mut queue = dual(config);
        let mut out = Vec::new();
        for number in 1..=40u32 {
            let leaves = 4.0 * f64::from(number);
            for each in 0..8u32 {
                let packet = l4s(0, u64::from(8 * number + each), 1500);
                assert!(accepts(&mut queue, ms(leaves - waited_ms), packet));
            }
            out.clear();
            for _ in 0..8 {
                let packet = queue.pop(ms(leaves), &mut out).unwrap();
                queue.release(ms(leaves), &packet, &mut Vec::new());
            }
        }
        // The last two packets are no backlog.
        assert!([0, 6].contains(&out.len()), "{}", out.len());
        !out.is_empty()
    }

    #[test]
    fn a_step_that_follows_the_aggregates_spares_what_waits_for_one() {
        assert!(marks_of_aggregates(0.0, 3.0), "3 ms exceed the step of 1 ms");
        assert!(!marks_of_aggregates(1.0, 3.0), "they have waited for one aggregate");
        // Steps of 1 ms and half of the 3 ms for which a first packet waits.
        assert!(marks_of_aggregates(0.5, 3.0));
        assert!(!marks_of_aggregates(0.75, 3.0));
    }

    #[test]
    fn a_packet_that_waits_for_two_aggregates_is_marked() {
        // Two aggregates wait whenever one leaves: sojourn times of 8 ms, a step of 1 + 4 ms.
        let mut queue = dual(DualPi2Config { step_aggregates: 1.0, ..Default::default() });
        let mut out = Vec::new();
        for number in 0..80u32 {
            let now = 4.0 * f64::from(number);
            if number >= 2 {
                out.clear();
                for _ in 0..8 {
                    let packet = queue.pop(ms(now), &mut out).unwrap();
                    queue.release(ms(now), &packet, &mut Vec::new());
                }
            }
            for each in 0..8u32 {
                let packet = l4s(0, u64::from(8 * number + each), 1500);
                assert!(accepts(&mut queue, ms(now), packet));
            }
        }
        assert_eq!(out.len(), 8);
    }

    #[test]
    fn an_overload_drops_in_both_queues_or_marks_all() {
        for rules in [Rules::Linux, Rules::Rfc9332] {
            let config = DualPi2Config { rules, ..Default::default() };
            assert_near(fates(config, 0.7, packet, 5.0), (0.49, 0.0));
            assert_near(fates(config, 0.7, capable, 5.0), (0.49, 0.0));
            assert_near(fates(config, 0.7, l4s, 0.5), (0.49, 0.51));
        }
        let marks = DualPi2Config { drop_overload: false, ..Default::default() };
        let mut full = dual(marks);
        full.update(Duration::from_secs(10));
        assert_eq!(full.probability, 0.5, "at most 1/k");
        assert_near(fates(marks, 0.5, l4s, 0.5), (0.0, 1.0));
        assert_near(fates(marks, 0.5, capable, 5.0), (0.0, 0.25));
    }

    #[test]
    fn two_packets_are_no_backlog_and_the_limit_drops_arrivals() {
        let config = DualPi2Config { limit: Limit::packets(2), ..Default::default() };
        let mut queue = dual(config);
        assert!(accepts(&mut queue, ms(0.0), l4s(0, 0, 1500)));
        assert!(accepts(&mut queue, ms(0.0), packet(0, 1, 1500)));
        assert!(!accepts(&mut queue, ms(0.0), packet(0, 2, 1500)));
        queue.probability = 1.0;
        let mut out = Vec::new();
        let sent = queue.pop(ms(9.0), &mut out).unwrap();
        assert_eq!((number(&sent), out), (0, vec![]));
        assert!(!accepts(&mut queue, ms(9.0), packet(0, 3, 1500)), "it is in service");
        queue.release(ms(9.0), &sent, &mut Vec::new());
        assert!(accepts(&mut queue, ms(9.0), packet(0, 4, 1500)));
        let served = |packets, dropped, waited_ms| Served {
            packets,
            dropped,
            waited: Duration::from_millis(waited_ms),
            ..Served::default()
        };
        assert_eq!(queue.dual(), Some([served(1, 0, 9), served(0, 2, 0)]));
    }

    #[test]
    fn classic_flows_are_held_at_the_target_with_the_link_in_use() {
        let (from, end) = (ms(20_000.0), ms(120_000.0));
        let run = |ecn, rules| -> Outcome {
            let config = DualPi2Config { rules, ..Default::default() };
            responsive(&mut dual(config), 4, ecn, end)
        };
        for (ecn, rules) in [(false, Rules::Linux), (true, Rules::Linux), (true, Rules::Rfc9332)] {
            let outcome = run(ecn, rules);
            let (mean, used) = (outcome.mean_ms(from), outcome.use_of(from, end));
            assert!((10.0..20.0).contains(&mean), "{rules:?}, ecn {ecn}: {mean} ms");
            assert!(used > 0.97, "{rules:?}, ecn {ecn}: {used}");
            assert_eq!((outcome.marks > 100, outcome.drops > 100), (ecn, !ecn));
        }
    }
}
