use super::{Draw, MUCH, SizeLaw};
use kernel::Bytes;
use settings::{Faults, Path, Settings, said};

/// A size from a list.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = complete)]
pub struct Empirical {
    /// The sizes in bytes.
    #[setting(key = "bytes", range = 1..=MUCH)]
    pub sizes: Vec<Bytes>,
    /// The relative frequency of each size. Default: all are equally frequent.
    #[setting(range = 0.0..=1e15)]
    pub weights: Option<Vec<f64>>,
}

fn complete(list: &Empirical, at: &Path, faults: &mut Faults) {
    const LONGEST: usize = 100_000;
    let n = list.sizes.len();
    if n == 0 || n > LONGEST {
        let message = said!("{n} sizes", "a list has from 1 to {LONGEST}, as bytes = [1000, 5000]");
        faults.fault(at.key("bytes"), message);
    }
    let Some(weights) = &list.weights else { return };
    if weights.len() != n {
        let m = weights.len();
        let message = said!("{m} weights for {n} sizes", "each size has one");
        faults.fault(at.key("weights"), message);
    }
    if n > 0 && weights.iter().all(|weight| *weight == 0.0) {
        faults.fault(at.key("weights"), said!("all are 0", "at least one size must occur"));
    }
}

impl SizeLaw for Empirical {
    fn draw(&self) -> Draw {
        let sizes = self.sizes.clone();
        let cumulative = match &self.weights {
            Some(weights) => cumulative(weights),
            None => cumulative(&vec![1.0; sizes.len()]),
        };
        Draw::new(move |rng| {
            let u = rng.uniform();
            let i = cumulative.partition_point(|&c| c <= u).min(sizes.len() - 1);
            sizes[i]
        })
    }
}

/// P(size <= sizes[i]), ascending to 1.
fn cumulative(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut below = 0.0;
    let sum_up = |weight: &f64| {
        below += weight;
        below / total
    };
    let mut cumulative: Vec<f64> = weights.iter().map(sum_up).collect();
    // The cumulative probability of the last size that occurs, and of those after it, is exactly 1,
    // whatever the rounding.
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    cumulative.iter_mut().skip(last).for_each(|sum| *sum = 1.0);
    cumulative
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn weights_add_up_to_1() {
        assert_eq!(cumulative(&[1.0, 1.0]), [0.5, 1.0]);
        assert_eq!(cumulative(&[1.0, 0.0, 3.0, 0.0]), [0.25, 0.25, 1.0, 1.0]);
    }

    #[test]
    fn empirical_sizes_follow_their_weights() {
        let sizes = [1, 2, 3].map(Bytes).to_vec();
        let drawn = drawn(&Empirical { sizes, weights: Some(vec![2.0, 1.0, 1.0]) }, 40_000);
        let share = |s| drawn.iter().filter(|&&d| d == s).count() as f64 / 40_000.0;
        for (bytes, expected) in [(1, 0.5), (2, 0.25), (3, 0.25)] {
            assert!((share(bytes) - expected).abs() < 0.01);
        }
    }
}
