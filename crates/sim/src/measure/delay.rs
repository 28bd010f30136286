//! Delay statistics: exact moments, and quantiles with a bounded relative error.

use hdrhistogram::Histogram;
use kernel::Duration;

/// Statistics of delays. Count, mean, extremes and standard deviation are exact up to rounding;
/// quantiles come from a histogram of logarithmic bins (Tene's HDR histogram).
#[derive(Clone, Debug)]
pub struct DelayStats {
    count: u64,
    mean_s: f64,
    /// Sum of squared deviations from the mean (Welford, Technometrics 4:3, 1962).
    squares: f64,
    min: Duration,
    max: Duration,
    /// Significant digits of the histogram.
    digits: u8,
    /// In nanoseconds. Counters of 32 bits, which saturate, halve its memory. It is absent until
    /// the first delay, since most of many flows may never have one.
    histogram: Option<Histogram<u32>>,
}

impl DelayStats {
    /// The longest delay that the histogram distinguishes: about eleven days.
    const LONGEST_NS: u64 = 1_000_000_000_000_000;
    /// The histogram does not distinguish delays below a microsecond.
    const SHORTEST_NS: u64 = 1_000;

    /// For packets: quantiles to 1 %, in 8 KiB if the longest delay is a second, and in at most 18
    /// KiB.
    pub fn coarse() -> Self {
        Self::new(2)
    }

    /// For sessions: quantiles to 0.1 %, at most 128 KiB.
    pub fn fine() -> Self {
        Self::new(3)
    }

    fn new(digits: u8) -> Self {
        Self {
            count: 0,
            mean_s: 0.0,
            squares: 0.0,
            min: Duration(u64::MAX),
            max: Duration::ZERO,
            digits,
            histogram: None,
        }
    }

    fn histogram(&mut self) -> &mut Histogram<u32> {
        self.histogram.get_or_insert_with(|| {
            let mut histogram =
                Histogram::new_with_bounds(Self::SHORTEST_NS, 1_000_000, self.digits)
                    .expect("the bounds are valid constants");
            histogram.auto(true);
            histogram
        })
    }

    /// Adds one delay.
    pub fn record(&mut self, delay: Duration) {
        self.count += 1;
        let (x, before) = (delay.as_secs_f64(), self.mean_s);
        self.mean_s += (x - before) / self.count as f64;
        self.squares += (x - before) * (x - self.mean_s);
        self.min = self.min.min(delay);
        self.max = self.max.max(delay);
        let clamped = delay.0.min(Self::LONGEST_NS);
        let histogram = self.histogram();
        if histogram.record(clamped).is_err() {
            histogram.saturating_record(clamped);
        }
    }

    /// Adds all delays of another accumulator, as if recorded here (moments: Chan, Golub and
    /// `LeVeque`, 1979).
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let apart = other.mean_s - self.mean_s;
        self.mean_s += apart * m / (n + m);
        self.squares += other.squares + apart * apart * n * m / (n + m);
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        let histogram = self.histogram();
        for bin in other.histogram.iter().flat_map(Histogram::iter_recorded) {
            let value = bin.value_iterated_to();
            if histogram.record_n(value, bin.count_at_value()).is_err() {
                histogram.saturating_record_n(value, bin.count_at_value());
            }
        }
    }

    /// The number of recorded delays.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Arithmetic mean in seconds; NaN if there are no delays.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean_s }
    }

    /// Standard deviation of the sample in seconds; NaN for fewer than two delays.
    pub fn sd(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }

    /// Shortest delay in seconds; NaN if there are none.
    pub fn min(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.min.as_secs_f64() }
    }

    /// Longest delay in seconds; NaN if there are none.
    pub fn max(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.max.as_secs_f64() }
    }

    /// The delay in seconds that a share `q` of all delays does not exceed: the middle of its bin,
    /// limited to the minimum and the maximum, which are the quantiles of 0 and 1. NaN if there are
    /// no delays.
    pub fn quantile(&self, q: f64) -> f64 {
        let Some(histogram) = &self.histogram else { return f64::NAN };
        if q <= 0.0 {
            return self.min();
        }
        if q >= 1.0 {
            return self.max();
        }
        let bin = histogram.value_at_quantile(q);
        let middle = Duration(histogram.median_equivalent(bin));
        middle.clamp(self.min, self.max).as_secs_f64()
    }

    /// The mean in seconds of the delays up to this quantile, by the middles of their bins; NaN if
    /// there are none.
    pub fn trimmed_mean(&self, q: f64) -> f64 {
        let Some(histogram) = &self.histogram else { return f64::NAN };
        let kept = ((self.count as f64 * q).ceil() as u64).max(1);
        let (mut left, mut sum) = (kept, 0.0);
        for bin in histogram.iter_recorded() {
            let count = u64::from(bin.count_at_value()).min(left);
            let middle = Duration(histogram.median_equivalent(bin.value_iterated_to()));
            sum += middle.clamp(self.min, self.max).as_secs_f64() * count as f64;
            left -= count;
        }
        sum / (kept - left) as f64
    }

    /// The distribution: upper end in seconds and count of each bin that holds a delay, shortest
    /// first.
    pub fn distribution(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let bins = self.histogram.iter().flat_map(Histogram::iter_recorded);
        bins.map(|bin| {
            (Duration(bin.value_iterated_to()).as_secs_f64(), u64::from(bin.count_at_value()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(mut delay: DelayStats, ns: &[u64]) -> DelayStats {
        for &ns in ns {
            delay.record(Duration(ns));
        }
        delay
    }

    #[test]
    fn moments_are_exact() {
        let ms = [2, 4, 4, 4, 5, 5, 7, 9].map(|ms| ms * 1_000_000);
        let delay = recorded(DelayStats::coarse(), &ms);
        assert_eq!(delay.count(), 8);
        assert!((delay.mean() - 5e-3).abs() < 1e-17);
        assert!((delay.sd() - (32.0f64 / 7.0).sqrt() * 1e-3).abs() < 1e-16);
        assert_eq!((delay.min, delay.max), (Duration(ms[0]), Duration(ms[7])));
    }

    #[test]
    fn a_constant_delay_has_no_spread_and_exact_quantiles() {
        let delay = recorded(DelayStats::coarse(), &[123_456_789; 1000]);
        let exact = Duration(123_456_789).as_secs_f64();
        assert_eq!((delay.sd(), delay.mean()), (0.0, exact));
        for q in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(delay.quantile(q), exact);
        }
    }

    #[test]
    fn none_is_not_a_number() {
        let delay = DelayStats::fine();
        assert!(
            [delay.mean(), delay.sd(), delay.min(), delay.max(), delay.quantile(0.5)]
                .iter()
                .all(|x| x.is_nan())
        );
        assert_eq!(delay.distribution().count(), 0);
        assert!(recorded(delay, &[5]).sd().is_nan());
    }

    #[test]
    fn a_trimmed_mean_leaves_the_longest_delays_out() {
        let mut ns = vec![10_000_000; 95];
        ns.extend([1_000_000_000; 5]);
        let delay = recorded(DelayStats::fine(), &ns);
        let (all, trimmed) = (delay.trimmed_mean(1.0), delay.trimmed_mean(0.95));
        assert!((all / 0.0595 - 1.0).abs() < 1e-3, "{all}");
        assert!((trimmed / 0.01 - 1.0).abs() < 1e-3, "{trimmed}");
        assert!(DelayStats::fine().trimmed_mean(0.95).is_nan());
    }

    #[test]
    fn delays_beyond_the_range_saturate() {
        let delay = recorded(DelayStats::coarse(), &[0, u64::MAX, u64::MAX]);
        assert_eq!(delay.count(), 3);
        assert_eq!(delay.quantile(0.0), 0.0);
        let top = delay.quantile(0.9);
        assert!((1e6..1.01e6).contains(&top), "{top}");
        assert_eq!(delay.max(), Duration(u64::MAX).as_secs_f64());
    }

    #[test]
    fn memory_is_bounded() {
        let bytes = |delay: DelayStats, ns: &[u64]| {
            recorded(delay, ns).histogram.map_or(0, |histogram| histogram.distinct_values() * 4)
        };
        assert_eq!(bytes(DelayStats::fine(), &[]), 0);
        assert!(bytes(DelayStats::coarse(), &[u64::MAX]) <= 18 * 1024);
        assert!(bytes(DelayStats::coarse(), &[1_000_000_000]) <= 8 * 1024);
        assert!(bytes(DelayStats::fine(), &[u64::MAX]) <= 128 * 1024);
    }

    #[test]
    fn the_distribution_holds_every_delay() {
        let delay = recorded(DelayStats::fine(), &[1_000_000, 1_000_100, 5_000_000_000]);
        let bins: Vec<_> = delay.distribution().collect();
        assert_eq!(bins.iter().map(|&(_, count)| count).sum::<u64>(), 3);
        assert!(bins.windows(2).all(|w| w[0].0 < w[1].0));
        assert!((bins.last().unwrap().0 - 5.0).abs() < 5e-3);
    }

    proptest! {
        #[test]
        fn quantiles_keep_their_digits(
            mut ns in prop::collection::vec(100_000u64..20_000_000_000, 1..400),
            q in 0.0..=1.0f64,
        ) {
            for (delay, error) in [(DelayStats::coarse(), 0.01), (DelayStats::fine(), 0.001)] {
                let delay = recorded(delay, &ns);
                ns.sort_unstable();
                let rank = ((q * ns.len() as f64).ceil() as usize).max(1);
                let exact = ns[rank - 1] as f64 * 1e-9;
                let found = delay.quantile(q);
                prop_assert!((found - exact).abs() <= error * exact, "{found} for {exact}");
            }
        }

        #[test]
        fn a_merger_is_as_if_recorded_together(
            a in prop::collection::vec(0u64..5_000_000_000, 0..100),
            b in prop::collection::vec(0u64..5_000_000_000, 0..100),
        ) {
            let mut merged = recorded(DelayStats::coarse(), &a);
            merged.merge(&recorded(DelayStats::coarse(), &b));
            let both = recorded(recorded(DelayStats::coarse(), &a), &b);
            prop_assert_eq!(merged.count(), both.count());
            prop_assert!(merged.distribution().eq(both.distribution()));
            let pairs = [
                (merged.mean(), both.mean()),
                (merged.sd(), both.sd()),
                (merged.min(), both.min()),
                (merged.max(), both.max()),
            ];
            for (x, y) in pairs {
                prop_assert!((x - y).abs() < 1e-9 || (x.is_nan() && y.is_nan()), "{x} {y}");
            }
        }
    }
}
