//! Named, portable random streams.
//!
//! A stream is named by (seed, replication, purpose, index of the entity). A station or a purpose
//! that is added therefore changes no draw of another stream. The generator is PCG64-MCG. The
//! variates are inverse transforms over `libm`, so that they are bit-identical on every platform.

use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;

/// The root of a replication's random streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The seed that the user gives.
    pub root: u64,
    /// The number of the replication with this seed.
    pub replication: u32,
}

impl Seed {
    /// The stream of one purpose and one entity.
    pub fn stream(&self, purpose: &'static str, index: u32) -> Rng {
        let mut state = mix(self.root ^ 0x5157_4d4f_4f4d_2121);
        state = mix(state ^ u64::from(self.replication));
        for chunk in purpose.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            state = mix(state ^ u64::from_le_bytes(word));
        }
        state = mix(state ^ (purpose.len() as u64) << 32 ^ u64::from(index));
        let high = mix(state ^ 0x9e37_79b9_7f4a_7c15);
        Rng(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(state)))
    }
}

impl Seed {
    /// The draws by number of one purpose and one entity.
    pub fn draws(&self, purpose: &'static str, index: u32) -> Draws {
        Draws(self.stream(purpose, index).0.next_u64())
    }
}

/// Random draws by number: each is computed without those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws(u64);

impl Draws {
    /// A whole number, uniform in `0..=max`; a value is more probable than another by less than
    /// `max` / 2^32.
    pub fn up_to(self, number: u64, max: u32) -> u32 {
        ((u64::from(self.at(number) as u32) * (u64::from(max) + 1)) >> 32) as u32
    }

    /// A number uniform in [0, 1).
    pub fn uniform(self, number: u64) -> f64 {
        (self.at(number) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn at(self, number: u64) -> u64 {
        mix(self.0 ^ mix(number))
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood, 2014): a bijection that mixes all bits.
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// One random stream.
#[derive(Clone, Debug)]
pub struct Rng(Pcg64Mcg);

impl Rng {
    /// A whole number, uniform in `0..=max`.
    pub fn up_to(&mut self, max: u32) -> u32 {
        let range = u64::from(max) + 1;
        // Lemire's multiply-shift with rejection of the biased remainder (ACM TOMACS 29:1, 2019).
        loop {
            let product = u64::from(self.0.next_u32()) * range;
            if u64::from(product as u32) >= (1u64 << 32) % range {
                return (product >> 32) as u32;
            }
        }
    }

    /// A number uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Whether an event of this probability happens. A probability of 0 or 1 draws nothing.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && (probability >= 1.0 || self.uniform() < probability)
    }

    /// An exponential variate.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// A Pareto variate of this shape and mean (shape > 1; scale = mean·(shape-1)/shape).
    pub fn pareto(&mut self, shape: f64, mean: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed { root: 1, replication: 0 };

    #[test]
    fn streams_are_frozen() {
        // A seed promises these draws: a change of them changes all results.
        let mut rng = SEED.stream("mac.backoff", 3);
        let draws: Vec<u32> = (0..8).map(|_| rng.up_to(31)).collect();
        assert_eq!(draws, FROZEN);
    }

    const FROZEN: [u32; 8] = [8, 22, 24, 5, 21, 22, 14, 23];

    #[test]
    fn every_part_of_the_name_matters() {
        let first = |seed: Seed, purpose, index| seed.stream(purpose, index).uniform().to_bits();
        let draws = [
            first(SEED, "mac.backoff", 0),
            first(SEED, "mac.backoff", 1),
            first(SEED, "mac.backofg", 0),
            first(SEED, "traffic.size", 0),
            first(Seed { replication: 1, ..SEED }, "mac.backoff", 0),
            first(Seed { root: 2, ..SEED }, "mac.backoff", 0),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn whole_numbers_are_uniform() {
        let mut rng = SEED.stream("test", 0);
        let mut counts = [0u32; 31];
        for _ in 0..310_000 {
            counts[rng.up_to(30) as usize] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 59.7, "chi-squared of 30 degrees at 0.1 %: {chi2}");
    }

    #[test]
    fn draws_by_number_are_uniform_and_independent() {
        let draws = SEED.draws("test", 5);
        assert_eq!(draws.up_to(7, 78), SEED.draws("test", 5).up_to(7, 78));
        let (mut counts, mut pairs) = ([0u32; 79], 0.0);
        let n = 790_000;
        for number in 0..n {
            counts[draws.up_to(number, 78) as usize] += 1;
            pairs += (draws.uniform(number) - 0.5) * (draws.uniform(number + 1) - 0.5);
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 122.3, "chi-squared of 78 degrees at 0.1 %: {chi2}");
        // The product of two independent draws has the standard deviation 1/12.
        let deviations = pairs * 12.0 / (n as f64).sqrt();
        assert!(deviations.abs() < 3.3, "{deviations}");
    }

    #[test]
    fn variates_have_their_means() {
        let mut rng = SEED.stream("test", 1);
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || rng.exponential(10.0)) - 10.0).abs() < 0.1);
        let mut rng = SEED.stream("test", 2);
        assert!((mean(&mut || rng.pareto(3.0, 6.0)) - 6.0).abs() < 0.1);
        let mut rng = SEED.stream("test", 3);
        assert!((0..1000).all(|_| rng.pareto(1.5, 30e3) >= 10e3));
    }

    #[test]
    fn certain_events_draw_nothing() {
        let (mut a, mut b) = (SEED.stream("test", 4), SEED.stream("test", 4));
        assert!(!a.chance(0.0) && a.chance(1.0));
        assert_eq!(a.uniform().to_bits(), b.uniform().to_bits());
    }
}
