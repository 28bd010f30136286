use super::{Draw, MUCH, SizeLaw, whole};
use kernel::Bytes;
use settings::{Range, Settings};

/// Pareto: P(size > s) = (minimum / s)^shape.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Pareto {
    /// Mean.
    #[setting(key = "mean_bytes", default = 30_000, range = 1..=MUCH)]
    pub mean: Bytes,
    /// The exponent; at 2 and below the variance is infinite.
    #[setting(
        default = 1.5,
        range = Range::above(1.0, 1000.0),
        too_low = ["must be above 1, or the mean is infinite, is {is}", ""]
    )]
    pub shape: f64,
}

impl SizeLaw for Pareto {
    fn draw(&self) -> Draw {
        let (shape, mean) = (self.shape, self.mean.0 as f64);
        Draw::new(move |rng| whole(rng.pareto(shape, mean)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::drawn;
    use super::*;

    #[test]
    fn pareto_sizes_have_their_scale_and_median() {
        let mut drawn = drawn(&Pareto { mean: Bytes(30_000), shape: 1.5 }, 40_001);
        drawn.sort_unstable();
        assert_eq!(drawn[0] / 100, 100, "scale = mean/3 = 10 000");
        let median = drawn[20_000] as f64;
        let expected = 10_000.0 * libm::cbrt(2.0).powi(2);
        assert!((median / expected - 1.0).abs() < 0.02, "{median} {expected}");
    }
}
