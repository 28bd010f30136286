//! The over-use detector and its adaptive threshold (draft-ietf-rmcat-gcc-02 section 5.4).

/// What the delay says of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Signal {
    /// The queue is constant.
    #[default]
    Normal,
    /// The queue grows.
    Overuse,
    /// The queue drains.
    Underuse,
}

/// `del_var_th(0)` and the limits of the threshold, in ms.
const FIRST_MS: f64 = 12.5;
const LEAST_MS: f64 = 6.0;
const MOST_MS: f64 = 600.0;
/// An estimate that exceeds the threshold by more than this does not change it.
const MOST_ABOVE_MS: f64 = 15.0;
/// `overuse_time_th`: over-use must last for this long.
const OVERUSE_MS: f64 = 10.0;
/// The longest time that one update counts, as in the implementation of WebRTC.
const LONGEST_MS: f64 = 100.0;

/// The gains of the threshold per ms: `K_u` and `K_d`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    pub(super) up: f64,
    pub(super) down: f64,
}

/// Compares the estimate with a threshold that follows it.
#[derive(Debug)]
pub(super) struct Detector {
    gains: Gains,
    pub(super) threshold_ms: f64,
    /// For how long and over how many groups the estimate has exceeded the threshold.
    above: Option<(f64, u32)>,
    before: f64,
    signal: Signal,
}

impl Detector {
    pub(super) fn new(gains: Gains) -> Self {
        let (above, before, signal) = (None, 0.0, Signal::Normal);
        Self { gains, threshold_ms: FIRST_MS, above, before, signal }
    }

    /// The signal after an estimate, `sent_ms` and `arrived_ms` after the last one.
    pub(super) fn update(&mut self, estimate: f64, sent_ms: f64, arrived_ms: f64) -> Signal {
        if estimate > self.threshold_ms {
            // The estimate has exceeded the threshold for half of the time since the last group.
            let first = (sent_ms / 2.0, 1);
            let (time, groups) = self.above.map_or(first, |(t, n)| (t + sent_ms, n + 1));
            self.above = Some((time, groups));
            if time > OVERUSE_MS && groups > 1 && estimate >= self.before {
                self.above = None;
                self.signal = Signal::Overuse;
            }
        } else {
            self.above = None;
            self.signal =
                if estimate < -self.threshold_ms { Signal::Underuse } else { Signal::Normal };
        }
        self.before = estimate;
        self.adapt(estimate.abs(), arrived_ms);
        self.signal
    }

    /// `del_var_th(i)`.
    fn adapt(&mut self, size: f64, passed_ms: f64) {
        if size > self.threshold_ms + MOST_ABOVE_MS {
            return;
        }
        let gain = if size < self.threshold_ms { self.gains.down } else { self.gains.up };
        let passed = passed_ms.clamp(0.0, LONGEST_MS);
        self.threshold_ms += gain * (size - self.threshold_ms) * passed;
        self.threshold_ms = self.threshold_ms.clamp(LEAST_MS, MOST_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: Gains = Gains { up: 0.01, down: 0.00018 };

    #[test]
    fn overuse_lasts_for_ten_milliseconds_and_grows() {
        let mut detector = Detector::new(DRAFT);
        let mut on = |estimate| detector.update(estimate, 8.0, 8.0);
        assert_eq!(on(20.0), Signal::Normal, "4 ms");
        assert_eq!(on(20.0), Signal::Overuse, "12 ms");
        assert_eq!(on(0.0), Signal::Normal);
        assert_eq!(on(24.0), Signal::Normal);
        assert_eq!(on(23.0), Signal::Normal, "12 ms, but it falls");
        assert_eq!(on(23.5), Signal::Overuse);
        assert_eq!(on(-30.0), Signal::Underuse);
    }

    #[test]
    fn the_threshold_rises_quickly_and_falls_slowly() {
        let mut detector = Detector::new(DRAFT);
        detector.update(20.0, 10.0, 10.0);
        assert!((detector.threshold_ms - 13.25).abs() < 1e-12, "12.5 + 0.01 * 7.5 * 10");
        detector.update(3.25, 10.0, 10.0);
        assert!((detector.threshold_ms - 13.232).abs() < 1e-12, "13.25 - 0.00018 * 10 * 10");
        detector.update(60.0, 10.0, 10.0);
        assert!((detector.threshold_ms - 13.232).abs() < 1e-12, "an outlier");
        for _ in 0..10_000 {
            detector.update(0.0, 10.0, 10.0);
        }
        assert_eq!(detector.threshold_ms, 6.0);
    }
}
