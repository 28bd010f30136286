//! Normal and gamma variates for the propagation models.

use kernel::Rng;

/// A standard normal variate (G. E. P. Box, M. E. Muller, Annals of Mathematical Statistics 29,
/// 1958).
pub(super) fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(2.0 * rng.exponential(1.0));
    radius * libm::cos(std::f64::consts::TAU * rng.uniform())
}

/// A gamma variate of a shape and mean 1 (G. Marsaglia, W. W. Tsang, ACM Transactions on
/// Mathematical Software 26:3, 2000).
pub(super) fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape == 1.0 {
        return rng.exponential(1.0);
    }
    if shape < 1.0 {
        let boost = libm::exp(-rng.exponential(1.0) / shape);
        return gamma(rng, shape + 1.0) * (shape + 1.0) / shape * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let cube = 1.0 + c * x;
        if cube <= 0.0 {
            continue;
        }
        let v = cube * cube * cube;
        // -ln U is exponential.
        if -rng.exponential(1.0) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v / shape;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Seed;

    fn moments(mut draw: impl FnMut(&mut Rng) -> f64) -> (f64, f64, f64) {
        let mut rng = Seed { root: 3, replication: 0 }.stream("test", 0);
        let draws: Vec<f64> = (0..200_000).map(|_| draw(&mut rng)).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let moment = |k| draws.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
        (mean, moment(2), moment(3))
    }

    #[test]
    fn normal_has_its_moments() {
        let (mean, variance, skew) = moments(normal);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.015 && skew.abs() < 0.03);
    }

    #[test]
    fn gamma_has_its_moments() {
        for shape in [0.5, 0.75, 1.0, 1.5, 4.0, 20.0] {
            let (mean, variance, third) = moments(|rng| gamma(rng, shape));
            assert!((mean - 1.0).abs() < 0.015, "{shape}: mean {mean}");
            assert!((variance * shape - 1.0).abs() < 0.04, "{shape}: variance {variance}");
            assert!((third * shape * shape / 2.0 - 1.0).abs() < 0.2, "{shape}: third {third}");
        }
    }
}
