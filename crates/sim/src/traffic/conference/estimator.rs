//! Estimators of the delay gradient.

use super::arrival::Delta;
use super::detector::Gains;
use settings::Choice;
use std::collections::VecDeque;

/// How the gradient of the delay is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Estimator {
    /// The Kalman filter of draft-ietf-rmcat-gcc-02 section 5.3, with its threshold.
    #[default]
    Kalman,
    /// The trendline filter of WebRTC since 2016, with its threshold.
    Trendline,
}

impl Estimator {
    /// The filter.
    pub(super) fn filter(self) -> Filter {
        match self {
            Self::Kalman => Filter::Kalman(Kalman::default()),
            Self::Trendline => Filter::Trendline(Trendline::default()),
        }
    }

    /// The gains by which the threshold rises and falls, per ms: section 5.4 of the draft, and the
    /// implementation of WebRTC.
    pub(super) fn threshold_gains(self) -> Gains {
        match self {
            Self::Kalman => Gains { up: 0.01, down: 0.00018 },
            Self::Trendline => Gains { up: 0.0087, down: 0.039 },
        }
    }
}

/// A filter of delay variations.
#[derive(Debug)]
pub(super) enum Filter {
    Kalman(Kalman),
    Trendline(Trendline),
}

impl Filter {
    /// The estimate after a further group, in ms per group.
    pub(super) fn update(&mut self, delta: Delta) -> f64 {
        match self {
            Self::Kalman(kalman) => kalman.update(delta),
            Self::Trendline(line) => line.update(delta),
        }
    }
}

/// The arrival-time filter: m(i) as the state of a scalar Kalman filter.
#[derive(Debug)]
pub(super) struct Kalman {
    /// The estimate m(i) in ms.
    offset: f64,
    /// The variance e(i) of its error.
    error: f64,
    /// The variance of the noise.
    noise: f64,
    /// The times between the last groups, of which the shortest gives `f_max`.
    periods_ms: VecDeque<f64>,
}

/// The variance q(i) of the state noise.
const STATE_NOISE: f64 = 1e-3;
/// The coefficient chi of the measured noise; the draft recommends 0.001 to 0.1.
const CHI: f64 = 0.01;
/// The number K of groups for `f_max`, as in the implementation of WebRTC.
const PERIODS: usize = 60;

impl Default for Kalman {
    fn default() -> Self {
        Self { offset: 0.0, error: 0.1, noise: 1.0, periods_ms: VecDeque::new() }
    }
}

impl Kalman {
    fn update(&mut self, delta: Delta) -> f64 {
        if self.periods_ms.len() == PERIODS {
            self.periods_ms.pop_front();
        }
        self.periods_ms.push_back(delta.sent_ms);
        let shortest = self.periods_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = libm::pow(1.0 - CHI, shortest.max(0.1) * 30.0 / 1000.0);
        let most = 3.0 * self.noise.sqrt();
        let residual = (delta.variation_ms() - self.offset).clamp(-most, most);
        self.noise = (alpha * self.noise + (1.0 - alpha) * residual * residual).max(1.0);
        let error = self.error + STATE_NOISE;
        let gain = error / (self.noise + error);
        self.offset += gain * residual;
        self.error = (1.0 - gain) * error;
        self.offset
    }
}

/// The slope of the smoothed sum of the delay variations over the last groups, by least squares.
#[derive(Debug, Default)]
pub(super) struct Trendline {
    sum_ms: f64,
    smoothed_ms: f64,
    first_at_s: Option<f64>,
    /// Time in ms since the first group, and the smoothed sum then.
    points: VecDeque<(f64, f64)>,
    slope: f64,
}

/// Groups in the window, the smoothing of the sum, and the gain of the slope.
const WINDOW: usize = 20;
const SMOOTHING: f64 = 0.9;
const SLOPE_GAIN: f64 = 4.0;

impl Trendline {
    fn update(&mut self, delta: Delta) -> f64 {
        self.sum_ms += delta.variation_ms();
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.sum_ms;
        let at = delta.at.as_secs_f64();
        let first = *self.first_at_s.get_or_insert(at);
        if self.points.len() == WINDOW {
            self.points.pop_front();
        }
        self.points.push_back((1e3 * (at - first), self.smoothed_ms));
        if self.points.len() == WINDOW {
            self.slope = slope(&self.points).unwrap_or(self.slope);
        }
        SLOPE_GAIN * self.slope
    }
}

/// The slope of the line of least squares, unless all abscissae are equal.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / n, y / n);
    let products = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    let squares = points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Duration, Instant};

    fn delta(sent_ms: f64, arrived_ms: f64, at_ms: u64) -> Delta {
        Delta { sent_ms, arrived_ms, at: Instant::ZERO + Duration::from_millis(at_ms) }
    }

    #[test]
    fn the_kalman_filter_follows_the_draft_by_hand() {
        let mut kalman = Kalman::default();
        // z = 2, alpha = 0.99^1 for groups of 1000/30 ms: noise = 0.99 + 0.01 * 4 = 1.03,
        // k = 0.101 / (1.03 + 0.101) = 0.0893015, m = 2 k.
        let third = 1000.0 / 30.0;
        let m = kalman.update(delta(third, third + 2.0, 33));
        assert!((m - 0.178_603_0).abs() < 1e-6, "{m}");
        assert!((kalman.noise - 1.03).abs() < 1e-12);
        assert!((kalman.error - (1.0 - 0.089_301_5) * 0.101).abs() < 1e-7);
        // An outlier of 100 ms counts as 3 sqrt(1.03) = 3.044667 ms: k = 0.0929805.
        let before = kalman.error + 1e-3;
        let noise = 0.99 * 1.03 + 0.01 * 9.0 * 1.03;
        let m = kalman.update(delta(third, third + 100.0, 166));
        let expected = 0.178_603_0 + before / (noise + before) * 3.044_667;
        assert!((m - expected).abs() < 1e-5, "{m} {expected}");
    }

    #[test]
    fn the_kalman_filter_converges_to_a_constant_gradient() {
        let mut kalman = Kalman::default();
        let m = (0..1000).map(|i| kalman.update(delta(10.0, 11.0, 11 * i))).last();
        assert!(m.is_some_and(|m| (m - 1.0).abs() < 0.01), "{m:?}");
    }

    #[test]
    fn the_trendline_is_the_slope_of_the_delay() {
        let mut line = Trendline::default();
        // The delay rises by 1 ms in 10 ms of arrivals.
        let values: Vec<_> = (0..200).map(|i| line.update(delta(9.0, 10.0, 10 * i))).collect();
        assert!(values[..18].iter().all(|&value| value == 0.0), "until the window is full");
        let last = values.last().expect("values");
        assert!((last - 4.0 * 0.1).abs() < 1e-6, "{last}");
    }
}
