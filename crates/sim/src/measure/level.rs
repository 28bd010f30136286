//! A time-weighted histogram of a small integer: contending stations, packets in a queue.

use kernel::{Duration, Instant};

/// How long a level had each value in the measured window.
///
/// Values below [`Level::BINS`] have a bin each, and all others share one. The mean and the maximum
/// are exact in any case.
#[derive(Clone, Debug)]
pub struct Level {
    from: Instant,
    to: Instant,
    value: usize,
    since: Instant,
    /// Grows to the greatest value that lasted for any time, up to `BINS`.
    bins: Vec<Duration>,
    /// The values without a bin.
    above: Above,
}

/// The values that have no bin of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Above {
    /// How long they lasted.
    lasted: Duration,
    /// Sum of the values times their durations in nanoseconds.
    area: u128,
    max: usize,
}

impl Level {
    /// The number of values with a bin of their own: 0 to 1023.
    pub const BINS: usize = 1024;

    /// A level of 0 from the start of the run, observed from `from` to `to`.
    pub fn new(from: Instant, to: Instant) -> Self {
        debug_assert!(from <= to, "a window that ends before it begins");
        Self {
            from,
            to: to.max(from),
            value: 0,
            since: Instant::ZERO,
            bins: Vec::new(),
            above: Above::default(),
        }
    }

    /// From now on the level has this value.
    #[inline]
    pub fn set(&mut self, now: Instant, value: usize) {
        if value != self.value {
            // Within an event a level may change several times.
            if now != self.since {
                self.add_time(now);
            }
            self.value = value;
        }
    }

    /// Adds the time up to `now`; to be called before reading.
    pub fn finish(&mut self, now: Instant) {
        self.add_time(now);
    }

    fn add_time(&mut self, now: Instant) {
        debug_assert!(now >= self.since, "time runs backwards");
        let lasted = now.min(self.to).since(self.since.max(self.from));
        self.since = now;
        if lasted == Duration::ZERO {
            return;
        }
        match self.bins.get_mut(self.value) {
            Some(bin) => *bin += lasted,
            None => self.add_new(lasted),
        }
    }

    /// The value has no bin, or none yet.
    #[cold]
    fn add_new(&mut self, lasted: Duration) {
        let value = self.value;
        if value < Self::BINS {
            self.bins.resize(value + 1, Duration::ZERO);
            self.bins[value] = lasted;
            return;
        }
        self.above.lasted += lasted;
        self.above.area += value as u128 * u128::from(lasted.0);
        self.above.max = self.above.max.max(value);
    }

    /// The sum of the values times their durations in nanoseconds.
    fn area(&self) -> u128 {
        let of_bin = |(value, lasted): (u128, &Duration)| value * u128::from(lasted.0);
        (0..).zip(&self.bins).map(of_bin).sum::<u128>() + self.above.area
    }

    /// The current value.
    pub fn value(&self) -> usize {
        self.value
    }

    /// Time added so far.
    pub fn observed(&self) -> Duration {
        self.bins.iter().copied().sum::<Duration>() + self.above.lasted
    }

    /// Share of the observed time at `value`; for one without a bin of its own, 0. NaN if no time
    /// was observed.
    pub fn fraction(&self, value: usize) -> f64 {
        let lasted = self.bins.get(value).copied().unwrap_or_default();
        lasted.0 as f64 / self.observed().0 as f64
    }

    /// Share of the observed time at each value from 0 to the greatest that has a bin.
    pub fn fractions(&self) -> Vec<f64> {
        let observed = self.observed().0 as f64;
        self.bins.iter().map(|lasted| lasted.0 as f64 / observed).collect()
    }

    /// Time-weighted mean. NaN if no time was observed.
    pub fn mean(&self) -> f64 {
        self.area() as f64 / self.observed().0 as f64
    }

    /// The sum of the values times their durations in nanoseconds.
    pub fn time(&self) -> u64 {
        self.area() as u64
    }

    /// The greatest value that lasted for any time within the window.
    pub fn max(&self) -> usize {
        // The last bin is that of the greatest value.
        self.above.max.max(self.bins.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weighs_by_time_within_the_window() {
        let mut level = Level::new(Instant(100), Instant(200));
        level.set(Instant(50), 3);
        level.set(Instant(120), 1);
        level.set(Instant(160), 4);
        level.set(Instant(160), 0);
        level.set(Instant(250), 9);
        level.finish(Instant(300));
        assert_eq!(level.fractions(), [0.4, 0.4, 0.0, 0.2]);
        assert_eq!((level.fraction(3), level.fraction(4), level.fraction(9)), (0.2, 0.0, 0.0));
        assert_eq!(level.mean(), (20.0 * 3.0 + 40.0) / 100.0);
        assert_eq!(level.max(), 3, "4 lasted for no time, 9 came after the window");
        assert_eq!(level.observed(), Duration(100));
    }

    #[test]
    fn finish_may_be_called_again() {
        let mut level = Level::new(Instant(0), Instant(100));
        level.set(Instant(0), 2);
        level.finish(Instant(50));
        assert_eq!((level.mean(), level.observed()), (2.0, Duration(50)));
        level.set(Instant(75), 0);
        level.finish(Instant(100));
        level.finish(Instant(100));
        assert_eq!((level.mean(), level.fraction(2)), (1.5, 0.75));
    }

    #[test]
    fn great_values_share_a_bin_but_count_exactly_in_the_mean() {
        let mut level = Level::new(Instant(0), Instant(100));
        level.set(Instant(0), 1_000_000);
        level.set(Instant(25), 1023);
        level.set(Instant(50), 1024);
        level.set(Instant(75), 0);
        level.finish(Instant(100));
        assert_eq!(level.above.lasted, Duration(50));
        assert_eq!(level.fraction(1023), 0.25);
        assert_eq!(level.fraction(1024), 0.0);
        assert_eq!(level.mean(), (1e6 + 1023.0 + 1024.0) / 4.0);
        assert_eq!(level.max(), 1_000_000);
        assert_eq!(level.bins.len(), Level::BINS);
    }

    #[test]
    fn nothing_observed_is_not_a_number() {
        let mut level = Level::new(Instant(100), Instant(200));
        level.finish(Instant(100));
        assert!(level.mean().is_nan() && level.fraction(0).is_nan());
    }

    proptest! {
        #[test]
        fn agrees_with_a_count_of_every_nanosecond(
            steps in prop::collection::vec((0u64..50, 0usize..6), 0..60),
            window in (0u64..500, 1u64..1000),
        ) {
            let (from, to) = (window.0, window.0 + window.1);
            let mut level = Level::new(Instant(from), Instant(to));
            let (mut now, mut value, mut counts) = (0, 0, [0u64; 6]);
            let mut spend = |start: u64, end: u64, value: usize| {
                counts[value] += end.min(to).saturating_sub(start.max(from));
            };
            for (gap, next) in steps {
                spend(now, now + gap, value);
                now += gap;
                level.set(Instant(now), next);
                value = next;
            }
            let end = now.max(to);
            spend(now, end, value);
            level.finish(Instant(end));
            prop_assert_eq!(level.observed().0, to - from);
            let total: u64 = (0u64..).zip(counts).map(|(value, ns)| value * ns).sum();
            prop_assert!((level.mean() - total as f64 / (to - from) as f64).abs() < 1e-12);
            for (value, ns) in counts.into_iter().enumerate() {
                prop_assert_eq!(level.fraction(value), ns as f64 / (to - from) as f64);
            }
        }
    }
}
