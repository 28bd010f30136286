//! Shadowing: a random loss of each pair of nodes, constant during a run.

use super::variates::normal;
use super::{Path, Propagation};
use kernel::{Db, Seed};

/// Log-normal shadowing in addition to another model (Rappaport, section 4.9.2): a normally
/// distributed number of decibels for each pair of nodes, the same in both directions and during
/// the whole run, also if the nodes move.
#[derive(Clone, Debug)]
pub struct Shadowing<P> {
    /// The model of the mean loss.
    pub inner: P,
    /// Standard deviation.
    pub deviation: Db,
    /// Seed of the streams; that of a pair is "radio.shadowing".
    pub seed: Seed,
}

impl<P: Propagation> Propagation for Shadowing<P> {
    fn loss(&self, path: &Path) -> Db {
        let mut rng = self.seed.stream("radio.shadowing", path.pair());
        self.inner.loss(path) + Db(self.deviation.0 * normal(&mut rng))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LogDistance;
    use super::*;
    use kernel::Instant;

    fn excess(root: u64, ends: (u32, u32), now: Instant) -> f64 {
        let seed = Seed { root, replication: 0 };
        let model = Shadowing { inner: LogDistance::default(), deviation: Db(8.0), seed };
        let path = Path { distance: 30.0, ends, now };
        (model.loss(&path) - LogDistance::default().loss(&path)).0
    }

    #[test]
    fn a_pair_keeps_its_wall() {
        let first = excess(1, (3, 7), Instant::ZERO);
        assert_eq!(first, excess(1, (7, 3), Instant::ZERO));
        assert_eq!(first, excess(1, (3, 7), Instant(5_000_000_000)));
        assert!(first != excess(1, (3, 8), Instant::ZERO));
        assert!(first != excess(2, (3, 7), Instant::ZERO));
    }

    #[test]
    fn the_decibels_are_normal() {
        let draws: Vec<f64> = (1..20_000).map(|n| excess(1, (0, n), Instant::ZERO)).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let deviation = libm::sqrt(draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n);
        let within = draws.iter().filter(|x| x.abs() < 8.0).count() as f64 / n;
        assert!(mean.abs() < 0.2 && (deviation - 8.0).abs() < 0.15, "{mean} {deviation}");
        assert!((within - 0.6827).abs() < 0.012, "{within}");
    }
}
