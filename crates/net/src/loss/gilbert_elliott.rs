//! The two-state channel of Gilbert (Bell System Tech. J. 39, 1960) and Elliott (42, 1963), in time
//! and in packets.

use super::LossModel;
use kernel::{Duration, Instant, Rng};
use wire::Packet;

/// A channel that is good or bad for exponential times, whether or not anything is sent.
#[derive(Debug)]
pub struct GilbertElliott {
    /// Mean times, good and bad.
    mean_s: [f64; 2],
    /// Probabilities of a loss, good and bad.
    losses: [f64; 2],
    is_bad: bool,
    /// When the state changes next.
    until: Instant,
    channel: Rng,
    packets: Rng,
}

impl GilbertElliott {
    /// A channel in equilibrium, with mean times and losses for good and bad.
    pub fn new(means: [Duration; 2], losses: [f64; 2], mut channel: Rng, packets: Rng) -> Self {
        let mean_s = means.map(|mean| mean.max(Duration(1)).as_secs_f64());
        let is_bad = channel.chance(mean_s[1] / (mean_s[0] + mean_s[1]));
        let mut new = Self { mean_s, losses, is_bad, until: Instant::ZERO, channel, packets };
        // What is left of an exponential time is as long as a whole one.
        new.stay();
        new
    }

    /// Draws how long the channel stays as it is.
    fn stay(&mut self) {
        let stay_s = self.channel.exponential(self.mean_s[usize::from(self.is_bad)]);
        self.until += Duration::from_secs_f64(stay_s).max(Duration(1));
    }
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, now: Instant, _packet: &Packet) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.stay();
        }
        self.packets.chance(self.losses[usize::from(self.is_bad)])
    }
}

/// A channel that may change its state after each packet.
#[derive(Debug)]
pub struct GilbertElliottPackets {
    /// Probabilities that it changes, from good and from bad.
    changes: [f64; 2],
    /// Probabilities of a loss, good and bad.
    losses: [f64; 2],
    is_bad: bool,
    channel: Rng,
    packets: Rng,
}

impl GilbertElliottPackets {
    /// A channel in equilibrium, with probabilities of a change and of a loss for good and bad.
    /// One that never changes stays good.
    pub fn new(changes: [f64; 2], losses: [f64; 2], mut channel: Rng, packets: Rng) -> Self {
        let [to_bad, to_good] = changes;
        let is_bad = to_bad > 0.0 && channel.chance(to_bad / (to_bad + to_good));
        Self { changes, losses, is_bad, channel, packets }
    }
}

impl LossModel for GilbertElliottPackets {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let state = usize::from(self.is_bad);
        self.is_bad ^= self.channel.chance(self.changes[state]);
        self.packets.chance(self.losses[state])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::packet;
    use kernel::Seed;

    const SEED: Seed = Seed { root: 11, replication: 0 };

    fn streams() -> (Rng, Rng) {
        (SEED.stream("test.channel", 0), SEED.stream("test.packets", 0))
    }

    /// Whether each of `count` packets, `gap` apart, is lost.
    fn losses(model: &mut dyn LossModel, gap: Duration, count: u64) -> Vec<bool> {
        (0..count).map(|n| model.loses(Instant(gap.0 * n), &packet(0, n, 1000))).collect()
    }

    fn rate(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }

    /// Correlation of losses this many packets apart.
    fn correlation(losses: &[bool], lag: usize) -> f64 {
        let p = rate(losses);
        let both = losses.iter().zip(&losses[lag..]).filter(|(a, b)| **a && **b).count() as f64;
        (both / (losses.len() - lag) as f64 - p * p) / (p * (1.0 - p))
    }

    #[test]
    fn in_packets_bursts_are_geometric() {
        // Gilbert's channel: all is lost while it is bad.
        let (to_bad, to_good) = (0.01, 0.2);
        let (channel, packets) = streams();
        let mut model = GilbertElliottPackets::new([to_bad, to_good], [0.0, 1.0], channel, packets);
        let losses = losses(&mut model, Duration(0), 1_000_000);
        let expected = to_bad / (to_bad + to_good);
        // The variance of the mean of correlated losses: p q (1 + c) / (1 - c) / n with the
        // channel's correlation c = 0.79: a standard deviation of 0.0006.
        assert!((rate(&losses) - expected).abs() < 0.0019, "{} of {expected}", rate(&losses));
        let bursts: Vec<usize> =
            losses.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        assert!((mean - 1.0 / to_good).abs() < 0.15, "bursts of {mean} on average, of 5");
        for length in 1..6 {
            let share =
                bursts.iter().filter(|&&l| l == length).count() as f64 / bursts.len() as f64;
            let expected = to_good * (1.0f64 - to_good).powi(length as i32 - 1);
            assert!((share - expected).abs() < 0.015, "length {length}: {share} of {expected}");
        }
    }

    #[test]
    fn in_time_losses_have_the_rate_and_correlation_of_the_chain() {
        let (good, bad) = (Duration::from_millis(30), Duration::from_millis(10));
        let (channel, packets) = streams();
        let mut model = GilbertElliott::new([good, bad], [0.02, 0.6], channel, packets);
        let losses = losses(&mut model, Duration::from_millis(1), 2_000_000);
        let p = 0.75 * 0.02 + 0.25 * 0.6;
        assert!((rate(&losses) - p).abs() < 0.0025, "{} of {p}", rate(&losses));
        // Losses of two packets t apart correlate by the states' part of the variance times
        // exp(-t (1/good + 1/bad)).
        let states = 0.75 * 0.25 * (0.6f64 - 0.02).powi(2) / (p * (1.0 - p));
        for lag in [1, 5, 10, 30] {
            let expected = states * libm::exp(-(lag as f64) * (1.0 / 30.0 + 1.0 / 10.0));
            let seen = correlation(&losses, lag);
            assert!((seen - expected).abs() < 0.006, "lag {lag}: {seen} of {expected}");
        }
    }

    #[test]
    fn in_time_the_channel_goes_on_while_nothing_is_sent() {
        // Two packets a second apart meet independent states, however few lie between them.
        let (channel, packets) = streams();
        let millis = Duration::from_millis;
        let mut model = GilbertElliott::new([millis(10), millis(10)], [0.0, 1.0], channel, packets);
        let losses = losses(&mut model, Duration::from_secs(1), 20_000);
        assert!((rate(&losses) - 0.5).abs() < 0.011, "{}", rate(&losses));
        assert!(correlation(&losses, 1).abs() < 0.022, "{}", correlation(&losses, 1));
    }

    #[test]
    fn the_channel_is_the_same_for_different_traffic() {
        // With certain losses what is lost shows the channel: seen each ms and each 3 ms.
        let fine = {
            let (channel, packets) = streams();
            let means = [Duration::from_millis(20), Duration::from_millis(5)];
            GilbertElliott::new(means, [0.0, 1.0], channel, packets)
        };
        let coarse = {
            let (channel, packets) = streams();
            let means = [Duration::from_millis(20), Duration::from_millis(5)];
            GilbertElliott::new(means, [0.0, 1.0], channel, packets)
        };
        let (mut fine, mut coarse) = (fine, coarse);
        let fine = losses(&mut fine, Duration::from_millis(1), 30_000);
        let coarse = losses(&mut coarse, Duration::from_millis(3), 10_000);
        assert!(fine.iter().step_by(3).eq(&coarse));
        assert!(rate(&fine) > 0.1, "a channel that is never bad shows nothing");
    }

    #[test]
    fn a_channel_that_never_changes_stays_good() {
        let (channel, packets) = streams();
        let mut model = GilbertElliottPackets::new([0.0, 0.0], [0.0, 1.0], channel, packets);
        assert_eq!(rate(&losses(&mut model, Duration(0), 1000)), 0.0);
    }

    #[test]
    fn it_begins_in_equilibrium() {
        let bad_starts = |build: &dyn Fn(Rng, Rng) -> Box<dyn LossModel>| {
            let begins = |n| {
                let streams = (SEED.stream("test.channel", n), SEED.stream("test.packets", n));
                build(streams.0, streams.1).loses(Instant::ZERO, &packet(0, 1, 1000))
            };
            (0..10_000).filter(|&n| begins(n)).count() as f64 / 10_000.0
        };
        let millis = Duration::from_millis;
        let in_time = bad_starts(&|a, b| {
            Box::new(GilbertElliott::new([millis(30), millis(10)], [0.0, 1.0], a, b))
        });
        let in_packets =
            bad_starts(&|a, b| Box::new(GilbertElliottPackets::new([0.1, 0.3], [0.0, 1.0], a, b)));
        // Three standard deviations of 10000 draws of a quarter.
        assert!((in_time - 0.25).abs() < 0.013, "{in_time}");
        assert!((in_packets - 0.25).abs() < 0.013, "{in_packets}");
    }
}
