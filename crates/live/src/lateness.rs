//! How late an emulation was.

use hdrhistogram::Histogram;
use std::time::Duration;

/// What takes longer is a stall, which the report names.
const STALL: Duration = Duration::from_millis(10);
/// What keeps up is later than this in a thousandth of the cases at most.
pub const KEPT_UP: Duration = Duration::from_millis(1);
/// The most stalls that are kept; all are counted.
const MOST_STALLS: usize = 1000;
/// The longest lateness that is told apart.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Times from when something was due to when it was done.
#[derive(Clone, Debug)]
pub struct Lateness {
    histogram: Histogram<u64>,
}

/// A time that was due much earlier than it was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// The simulated time at which it was due.
    pub at_s: f64,
    /// How late it was.
    pub late_s: f64,
}

impl Default for Lateness {
    fn default() -> Self {
        let histogram = Histogram::new_with_max(LONGEST_NS, 3);
        Self { histogram: histogram.expect("three digits up to an hour are possible") }
    }
}

impl Lateness {
    /// Something was this late.
    pub(crate) fn add(&mut self, late: Duration) {
        self.histogram.saturating_record(late.as_nanos() as u64);
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// A quantile in seconds, to three digits; 0 if nothing was recorded.
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        self.histogram.value_at_quantile(quantile) as f64 * 1e-9
    }

    /// The longest in seconds.
    pub fn max_s(&self) -> f64 {
        self.histogram.max() as f64 * 1e-9
    }

    /// The fraction that was later than this.
    pub fn fraction_above(&self, limit: Duration) -> f64 {
        let count = self.histogram.len();
        let within = self.histogram.count_between(0, limit.as_nanos() as u64);
        if count == 0 { 0.0 } else { 1.0 - within as f64 / count as f64 }
    }
}

/// The stalls of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalls {
    pub(crate) count: u64,
    pub(crate) first: Vec<Stall>,
}

impl Stalls {
    /// What was due at `at` was this late.
    pub(crate) fn note(&mut self, at: Duration, late: Duration) {
        if late < STALL {
            return;
        }
        self.count += 1;
        if self.first.len() < MOST_STALLS {
            self.first.push(Stall { at_s: at.as_secs_f64(), late_s: late.as_secs_f64() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_the_longest_are_told() {
        let mut lateness = Lateness::default();
        for micros in 1..=1000 {
            lateness.add(Duration::from_micros(micros));
        }
        let near = |is: f64, wanted: f64| (is / wanted - 1.0).abs() < 2e-3;
        assert!(near(lateness.quantile_s(0.5), 500e-6), "{}", lateness.quantile_s(0.5));
        assert!(near(lateness.quantile_s(0.99), 990e-6));
        assert!(near(lateness.max_s(), 1e-3));
        let above = lateness.fraction_above(Duration::from_micros(750));
        assert!((above - 0.25).abs() < 2e-3, "{above}");
    }

    #[test]
    fn stalls_have_their_times() {
        let mut stalls = Stalls::default();
        stalls.note(Duration::from_secs(1), Duration::from_millis(9));
        stalls.note(Duration::from_secs(2), Duration::from_millis(50));
        assert_eq!(stalls.first, [Stall { at_s: 2.0, late_s: 0.05 }]);
    }
}
