//! Fading: a random gain of a pair of nodes, constant within a block of time.

use super::Path;
use super::variates::gamma;
use crate::phy::power::decibels;
use kernel::{Db, Duration, Seed};
use settings::Settings;

/// Nakagami block fading (M. Nakagami, in Statistical Methods in Radio Wave Propagation, 1960): the
/// power gain of a pair of nodes is drawn anew in each block of time.
// It is a gamma variate of shape `m` and mean 1, constant within a block and independent between
// blocks.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Fading {
    /// Shape: 1 is Rayleigh fading, greater if one path dominates.
    #[setting(default = 1.0, range = 0.5..=1000.0)]
    pub m: f64,
    /// Length of a block in milliseconds.
    #[setting(key = "coherence_ms", default = 10.0, range = 1e-3..=1e7)]
    pub coherence: Duration,
}

impl Fading {
    /// The loss in addition to the mean loss. The streams are "radio.fading" of each pair.
    pub fn loss(&self, seed: &Seed, path: &Path) -> Db {
        let mut pair = seed.stream("radio.fading", path.pair());
        let root = u64::from(pair.up_to(u32::MAX)) << 32 | u64::from(pair.up_to(u32::MAX));
        let block = path.now.0 / self.coherence.0;
        let seed = Seed { root, replication: block as u32 };
        let gain = gamma(&mut seed.stream("radio.fading.block", (block >> 32) as u32), self.m);
        Db(0.0) - decibels(gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::power::linear;
    use kernel::Instant;

    fn gain(m: f64, ends: (u32, u32), now: Instant) -> f64 {
        let (seed, coherence) = (Seed { root: 9, replication: 2 }, Duration::from_millis(10));
        let path = Path { distance: 30.0, ends, now };
        linear(Db(0.0) - Fading { m, coherence }.loss(&seed, &path))
    }

    #[test]
    fn a_block_is_constant_and_the_next_is_another() {
        let at = |ms| gain(1.0, (1, 2), Instant::ZERO + Duration::from_millis(ms));
        assert_eq!(at(20), at(29));
        assert!(at(29) != at(30));
        assert_eq!(at(29), gain(1.0, (2, 1), Instant(25_000_000)));
        assert!(at(29) != gain(1.0, (1, 3), Instant(25_000_000)));
    }

    #[test]
    fn rayleigh_power_is_exponential() {
        let gains: Vec<f64> = (0..20_000)
            .map(|n| gain(1.0, (0, 1), Instant::ZERO + Duration::from_millis(10 * n)))
            .collect();
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        for (level, expected) in [(0.1, 0.0952), (1.0, 0.6321), (3.0, 0.9502)] {
            let below = gains.iter().filter(|&&gain| gain < level).count() as f64 / n;
            assert!((below - expected).abs() < 0.012, "{level}: {below}");
        }
    }

    #[test]
    fn a_larger_m_fades_less() {
        let deep = |m| {
            let at = |n: u64| gain(m, (0, 1), Instant::ZERO + Duration::from_millis(10 * n));
            (0..10_000).filter(|&n| at(n) < 0.1).count()
        };
        // A gamma variate of shape 4 and mean 1 is below 0.1 with probability 0.08 %.
        assert!(deep(4.0) < 20 && deep(0.5) > 2300, "{} {}", deep(4.0), deep(0.5));
    }
}
