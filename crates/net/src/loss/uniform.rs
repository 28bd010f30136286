//! Independent losses.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::{Range, Settings};
use wire::Packet;

/// Each packet is lost with the same probability, independently.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct UniformConfig {
    /// Probability that a packet is lost.
    #[setting(range = Range::PROBABILITY, required = "as 0.01 for one in a hundred")]
    pub probability: f64,
}

impl LossModel for UniformConfig {
    fn build(&self, _channel: Rng, packets: Rng) -> Box<dyn Channel> {
        Box::new(Uniform { probability: self.probability, rng: packets })
    }
}

#[derive(Debug)]
struct Uniform {
    probability: f64,
    rng: Rng,
}

impl Channel for Uniform {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.rng.chance(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lost;
    use super::*;

    #[test]
    fn uniform_losses_are_as_many_and_as_clustered_as_independence_says() {
        let (n, p) = (200_000u64, 0.03);
        let lost = lost(&UniformConfig { probability: p }, Instant, n);
        // Three standard deviations of the binomial distribution.
        let sd = (n as f64 * p * (1.0 - p)).sqrt();
        assert!((lost.len() as f64 - n as f64 * p).abs() < 3.0 * sd, "{}", lost.len());
        // After a loss, the loss probability of the next packet is the same.
        let pairs = lost.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as f64;
        let expected = lost.len() as f64 * p;
        assert!((pairs - expected).abs() < 3.0 * expected.sqrt(), "{pairs} of {expected}");
    }

    #[test]
    fn without_probability_nothing_is_lost_and_with_certainty_everything() {
        assert_eq!(lost(&UniformConfig { probability: 0.0 }, Instant, 1000), [0; 0]);
        assert_eq!(lost(&UniformConfig { probability: 1.0 }, Instant, 3), [1, 2, 3]);
    }
}
