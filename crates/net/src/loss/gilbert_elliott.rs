//! The two-state channel of Gilbert (Bell System Tech. J. 39, 1960) and Elliott (42, 1963), in
//! time.

use super::{Channel, LossModel};
use kernel::{Duration, Instant, Rng};
use settings::Settings;
use wire::Packet;

/// Losses by a channel that is alternately good and bad for exponential times (Gilbert and
/// Elliott), whether or not packets are sent.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct GilbertElliottConfig {
    /// Mean duration of the good state.
    #[setting(
        key = "good_ms",
        range = 0.001..=LONGEST_MS,
        required = "mean length in milliseconds, as 100"
    )]
    pub good: Duration,
    /// Mean duration of the bad state.
    #[setting(
        key = "bad_ms",
        range = 0.001..=LONGEST_MS,
        required = "mean length in milliseconds, as 100"
    )]
    pub bad: Duration,
    /// Probability that a packet is lost in the good state.
    #[setting(range = 0.0..=1.0)]
    pub good_loss: f64,
    /// Probability that a packet is lost in the bad state.
    #[setting(default = 1.0, range = 0.0..=1.0)]
    pub bad_loss: f64,
}

/// A day: longer times would hardly ever end within a run.
const LONGEST_MS: f64 = 86_400_000.0;

impl LossModel for GilbertElliottConfig {
    /// A channel in its stationary state.
    fn build(&self, mut channel: Rng, packets: Rng) -> Box<dyn Channel> {
        let mean_s = [self.good, self.bad].map(|mean| mean.max(Duration(1)).as_secs_f64());
        let is_bad = channel.chance(mean_s[1] / (mean_s[0] + mean_s[1]));
        let (losses, until) = ([self.good_loss, self.bad_loss], Instant::ZERO);
        let mut new = GilbertElliott { mean_s, losses, is_bad, until, channel, packets };
        // The exponential distribution has no memory: the remaining time is distributed like a
        // whole one.
        new.stay();
        Box::new(new)
    }

    fn changes_per_s(&self) -> f64 {
        2.0 / (self.good + self.bad).as_secs_f64()
    }
}

#[derive(Debug)]
struct GilbertElliott {
    /// Mean durations of the good and of the bad state.
    mean_s: [f64; 2],
    /// Loss probabilities in the good and in the bad state.
    losses: [f64; 2],
    is_bad: bool,
    /// When the state changes next.
    until: Instant,
    channel: Rng,
    packets: Rng,
}

impl GilbertElliott {
    /// Draws the duration of the current state.
    fn stay(&mut self) {
        let stay_s = self.channel.exponential(self.mean_s[usize::from(self.is_bad)]);
        self.until += Duration::from_secs_f64(stay_s).max(Duration(1));
    }
}

impl Channel for GilbertElliott {
    fn loses(&mut self, now: Instant, _packet: &Packet) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.stay();
        }
        self.packets.chance(self.losses[usize::from(self.is_bad)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{losses, rate, rate_of_first};
    use super::*;

    /// A channel that loses every packet in the bad state, with these mean durations.
    fn of_millis(good: u64, bad: u64) -> GilbertElliottConfig {
        let [good, bad] = [good, bad].map(Duration::from_millis);
        GilbertElliottConfig { good, bad, good_loss: 0.0, bad_loss: 1.0 }
    }

    /// The correlation of the losses of packets at this distance.
    fn correlation(losses: &[bool], lag: usize) -> f64 {
        let p = rate(losses);
        let both = losses.iter().zip(&losses[lag..]).filter(|(a, b)| **a && **b).count() as f64;
        (both / (losses.len() - lag) as f64 - p * p) / (p * (1.0 - p))
    }

    #[test]
    fn in_time_losses_have_the_rate_and_correlation_of_the_chain() {
        let (good, bad) = (Duration::from_millis(30), Duration::from_millis(10));
        let model = GilbertElliottConfig { good, bad, good_loss: 0.02, bad_loss: 0.6 };
        let losses = losses(&model, Duration::from_millis(1), 2_000_000);
        let p = 0.75 * 0.02 + 0.25 * 0.6;
        assert!((rate(&losses) - p).abs() < 0.0025, "{} of {p}", rate(&losses));
        // The correlation of the losses of two packets at a distance t is the share of the variance
        // that the states cause, times exp(-t (1/good + 1/bad)).
        let states = 0.75 * 0.25 * (0.6f64 - 0.02).powi(2) / (p * (1.0 - p));
        for lag in [1, 5, 10, 30] {
            let expected = states * libm::exp(-(lag as f64) * (1.0 / 30.0 + 1.0 / 10.0));
            let seen = correlation(&losses, lag);
            assert!((seen - expected).abs() < 0.006, "lag {lag}: {seen} of {expected}");
        }
    }

    #[test]
    fn in_time_the_channel_goes_on_while_nothing_is_sent() {
        // Two packets a second apart encounter independent states, even if no packets are between
        // them.
        let losses = losses(&of_millis(10, 10), Duration::from_secs(1), 20_000);
        assert!((rate(&losses) - 0.5).abs() < 0.011, "{}", rate(&losses));
        assert!(correlation(&losses, 1).abs() < 0.022, "{}", correlation(&losses, 1));
    }

    #[test]
    fn the_channel_is_the_same_for_different_traffic() {
        // If the loss probabilities are 0 and 1, the losses show the state: sampled each ms and
        // each 3 ms.
        let model = of_millis(20, 5);
        let fine = losses(&model, Duration::from_millis(1), 30_000);
        let coarse = losses(&model, Duration::from_millis(3), 10_000);
        assert!(fine.iter().step_by(3).eq(&coarse));
        assert!(rate(&fine) > 0.1, "a channel that is never bad shows nothing");
    }

    #[test]
    fn it_begins_in_equilibrium() {
        let model = of_millis(30, 10);
        // Three standard deviations of 10000 draws of a quarter.
        let bad_starts = rate_of_first(&model);
        assert!((bad_starts - 0.25).abs() < 0.013, "{bad_starts}");
    }
}
