//! Distributions of file sizes. Each is a file in `size/` and a line below.

use kernel::{Bytes, Rng};
use std::fmt;

settings::registry! {
    /// The distribution of file sizes.
    pub enum Size: SizeLaw = Pareto;
    constant: Constant(Constant),
    exponential: Exponential(Exponential),
    pareto: Pareto(Pareto),
    empirical: Empirical(Empirical),
}

/// A distribution of sizes.
pub trait SizeLaw {
    /// A sampler of this distribution.
    fn draw(&self) -> Draw;
}

/// Draws file sizes.
pub struct Draw(Box<dyn Fn(&mut Rng) -> Bytes + Send>);

impl Draw {
    /// A sampler by this function.
    pub fn new(draw: impl Fn(&mut Rng) -> Bytes + Send + 'static) -> Self {
        Self(Box::new(draw))
    }

    /// The next size.
    pub fn of(&self, rng: &mut Rng) -> Bytes {
        (self.0)(rng)
    }
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Draw")
    }
}

/// More data than the longest run could transfer.
pub(super) const MUCH: u64 = 1_000_000_000_000_000;

/// Sizes are whole bytes, at least one, and at most a petabyte, since a Pareto variate with a shape
/// near 1 is not bounded.
fn whole(drawn: f64) -> Bytes {
    Bytes((drawn + 0.5).clamp(1.0, MUCH as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Seed;

    /// The first `n` sizes of a distribution.
    pub(super) fn drawn(law: &dyn SizeLaw, n: usize) -> Vec<u64> {
        let mut rng = Seed { root: 1, replication: 0 }.stream("traffic.size", 0);
        let draw = law.draw();
        (0..n).map(|_| draw.of(&mut rng).0).collect()
    }

    #[test]
    fn every_law_has_a_mean_of_30_kilobytes() {
        let all = Size::all().into_iter().filter(|size| !matches!(size, Size::Empirical(_)));
        for size in all {
            let drawn = drawn(size.get(), 100_000);
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / 30_000.0 - 1.0).abs() < 0.1, "{size:?}: {mean}");
        }
    }
}
