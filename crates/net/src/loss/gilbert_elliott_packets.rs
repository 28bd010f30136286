//! The two-state channel of Gilbert (Bell System Tech. J. 39, 1960) and Elliott (42, 1963), in
//! packets.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::{Range, Settings};
use wire::Packet;

/// Losses by a channel that may change state after each packet. A run in the bad state has
/// 1/`to_good` packets on average.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct GilbertElliottPacketsConfig {
    /// Probability that a good channel is bad for the next packet.
    #[setting(range = 0.0..=1.0, required = "a probability per packet, as 0.01")]
    pub to_bad: f64,
    /// Probability that a bad channel is good for the next packet.
    #[setting(
        range = Range::FRACTION,
        too_low = ["0 would leave the channel bad forever", "above 0 to 1"],
        required = "a probability per packet, as 0.2"
    )]
    pub to_good: f64,
    /// Probability that a packet is lost in the good state.
    #[setting(range = 0.0..=1.0)]
    pub good_loss: f64,
    /// Probability that a packet is lost in the bad state.
    #[setting(default = 1.0, range = 0.0..=1.0)]
    pub bad_loss: f64,
}

impl LossModel for GilbertElliottPacketsConfig {
    /// A channel in its stationary state. A channel that never changes starts in the good state and
    /// stays in it.
    fn build(&self, mut channel: Rng, packets: Rng) -> Box<dyn Channel> {
        let Self { to_bad, to_good, good_loss, bad_loss } = *self;
        let is_bad = to_bad > 0.0 && channel.chance(to_bad / (to_bad + to_good));
        let (changes, losses) = ([to_bad, to_good], [good_loss, bad_loss]);
        Box::new(GilbertElliottPackets { changes, losses, is_bad, channel, packets })
    }
}

#[derive(Debug)]
struct GilbertElliottPackets {
    /// The probabilities of a change from the good and from the bad state.
    changes: [f64; 2],
    /// Loss probabilities in the good and in the bad state.
    losses: [f64; 2],
    is_bad: bool,
    channel: Rng,
    packets: Rng,
}

impl Channel for GilbertElliottPackets {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let state = usize::from(self.is_bad);
        self.is_bad ^= self.channel.chance(self.changes[state]);
        self.packets.chance(self.losses[state])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{losses, rate, rate_of_first};
    use super::*;
    use kernel::Duration;

    #[test]
    fn in_packets_bursts_are_geometric() {
        // Gilbert's channel: every packet is lost in the bad state.
        let (to_bad, to_good) = (0.01, 0.2);
        let model = GilbertElliottPacketsConfig { to_bad, to_good, good_loss: 0.0, bad_loss: 1.0 };
        let losses = losses(&model, Duration(0), 1_000_000);
        let expected = to_bad / (to_bad + to_good);
        // The variance of the mean of correlated losses is p q (1 + c) / (1 - c) / n, with the
        // channel's correlation c = 0.79. This is a standard deviation of 0.0006.
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
    fn a_channel_that_never_changes_stays_good() {
        let (to_bad, to_good) = (0.0, 0.0);
        let model = GilbertElliottPacketsConfig { to_bad, to_good, good_loss: 0.0, bad_loss: 1.0 };
        assert_eq!(rate(&losses(&model, Duration(0), 1000)), 0.0);
    }

    #[test]
    fn it_begins_in_equilibrium() {
        let model = GilbertElliottPacketsConfig {
            to_bad: 0.1,
            to_good: 0.3,
            good_loss: 0.0,
            bad_loss: 1.0,
        };
        // Three standard deviations of 10000 draws of a quarter.
        let bad_starts = rate_of_first(&model);
        assert!((bad_starts - 0.25).abs() < 0.013, "{bad_starts}");
    }
}
