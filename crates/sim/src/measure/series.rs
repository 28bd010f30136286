//! A time series of a probe, in bounded memory.

use kernel::Instant;

/// Points of a probe over time. When full, it discards every other point and then keeps one of
/// twice as many samples. The points stay evenly spread over the whole run.
#[derive(Clone, Debug)]
pub struct SampleSeries {
    points: Vec<(Instant, f64)>,
    capacity: usize,
    /// One of this many samples is kept.
    stride: u64,
    samples: u64,
}

impl SampleSeries {
    /// Points kept of each probe of a run.
    pub const MOST: usize = 1_000_000;

    /// An empty series of at most `capacity` points, and at least 2.
    pub fn new(capacity: usize) -> Self {
        Self { points: Vec::new(), capacity: capacity.max(2), stride: 1, samples: 0 }
    }

    /// Adds the next sample of the probe.
    pub fn push(&mut self, now: Instant, value: f64) {
        debug_assert!(self.points.last().is_none_or(|&(last, _)| last <= now), "backwards");
        if self.samples.is_multiple_of(self.stride) {
            if self.points.len() == self.capacity {
                self.thin();
            }
            // After thinning, this sample may be one that is discarded.
            if self.samples.is_multiple_of(self.stride) {
                self.points.push((now, value));
            }
        }
        self.samples += 1;
    }

    /// Keeps the samples whose number is a multiple of twice the stride.
    fn thin(&mut self) {
        let mut keep = false;
        self.points.retain(|_| {
            keep = !keep;
            keep
        });
        self.stride *= 2;
    }

    /// The points kept, in the order of time.
    pub fn points(&self) -> &[(Instant, f64)] {
        &self.points
    }

    /// One of this many samples is kept; 1 means that none is missing.
    pub fn stride(&self) -> u64 {
        self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keeps_everything_while_there_is_room() {
        let mut series = SampleSeries::new(3);
        for (ns, value) in [(0, 1.0), (5, 2.0), (5, 3.0)] {
            series.push(Instant(ns), value);
        }
        assert_eq!(series.points(), [(Instant(0), 1.0), (Instant(5), 2.0), (Instant(5), 3.0)]);
        assert_eq!(series.stride(), 1);
    }

    #[test]
    fn thins_evenly_when_full() {
        let mut series = SampleSeries::new(4);
        for ns in 0..9 {
            series.push(Instant(ns), ns as f64);
        }
        let kept: Vec<_> = series.points().iter().map(|&(at, _)| at.0).collect();
        assert_eq!(kept, [0, 4, 8]);
        assert_eq!(series.stride(), 4);
    }

    proptest! {
        #[test]
        fn is_bounded_and_evenly_spread(capacity in 0usize..40, samples in 0u64..2000) {
            let mut series = SampleSeries::new(capacity);
            for ns in 0..samples {
                series.push(Instant(ns), ns as f64);
                prop_assert!(series.points().len() <= capacity.max(2));
            }
            let expected: Vec<_> = (0..samples)
                .step_by(series.stride() as usize)
                .map(|ns| (Instant(ns), ns as f64))
                .collect();
            prop_assert_eq!(series.points(), expected);
        }
    }
}
