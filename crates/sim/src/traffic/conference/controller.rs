//! The delay-based half of the congestion control: at the sender with transport feedback, at the
//! receiver with REMB.

use super::arrival::Groups;
use super::detector::{Detector, Signal};
use super::estimator::Filter;
use super::keys::Conference;
use super::rate::{RateController, Received};
use super::viewer::Seen;
use kernel::{Duration, Instant};

#[derive(Debug)]
pub(super) struct DelayBased {
    groups: Groups,
    filter: Filter,
    detector: Detector,
    controller: RateController,
    received: Received,
    signal: Signal,
    /// Estimates so far, and the number of groups by which they are multiplied at most.
    estimates: u64,
    most_groups: u64,
    gradient_ms: f64,
    limits: (f64, f64),
}

impl DelayBased {
    pub(super) fn new(conference: &Conference) -> Self {
        Self {
            groups: Groups::default(),
            filter: conference.estimator.filter(),
            detector: Detector::new(conference.estimator.threshold_gains()),
            controller: RateController::new(conference.start_rate.0 as f64),
            received: Received::default(),
            signal: Signal::Normal,
            estimates: 0,
            most_groups: conference.gradient_groups,
            gradient_ms: 0.0,
            limits: (conference.min_rate.0 as f64, conference.max_rate.0 as f64),
        }
    }

    /// A packet of this size has arrived. Returns whether over-use is detected anew.
    pub(super) fn on_packet(&mut self, sent: Instant, arrived: Instant, bytes: u64) -> bool {
        self.received.add(arrived, bytes);
        let Some(delta) = self.groups.on_packet(sent, arrived) else { return false };
        self.estimates += 1;
        self.gradient_ms = self.filter.update(delta) * self.estimates.min(self.most_groups) as f64;
        let before = self.signal;
        self.signal = self.detector.update(self.gradient_ms, delta.sent_ms, delta.arrived_ms);
        self.signal == Signal::Overuse && before != Signal::Overuse
    }

    /// The rate now.
    pub(super) fn update(&mut self, now: Instant, rtt: Duration) -> f64 {
        let rate = self.controller.update(now, self.signal, &self.received, rtt);
        self.controller.rate = rate.clamp(self.limits.0, self.limits.1);
        self.controller.rate
    }

    pub(super) fn tell(&self, seen: &mut Seen) {
        seen.gradient_ms = self.gradient_ms;
        seen.threshold_ms = self.detector.threshold_ms;
    }
}
