//! The parts of the path model that all versions of BBR share: round trips, the detection of a rate
//! plateau, and the aggregation of acknowledgements. Sections are those of draft-ietf-ccwg-bbr, as
//! of August 2026.

use super::max_filter::MaxFilter;
use super::{Ack, Delivery};
use kernel::Instant;

/// §5.3.1.2: growth of less than a quarter in three round trips means that the pipe is full.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;
/// §5.5.9: the length of the filter for excess acknowledgements in round trips.
const MEMORY: u64 = 10;

/// Packet-timed round trips (§5.5.1): each ends with the first acknowledgement of data that left in
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    pub(super) count: u64,
    ends: f64,
}

impl RoundTrips {
    /// Whether this sample ends a round trip and begins the next.
    pub(super) fn on_sample(&mut self, delivery: &Delivery) -> bool {
        let ends = delivery.prior.0 >= self.ends;
        if ends {
            self.begin(delivery.total.0);
            self.count += 1;
        }
        ends
    }

    /// A round trip begins now that this amount has been delivered.
    pub(super) fn begin(&mut self, delivered: f64) {
        self.ends = delivered;
    }

    /// Whether the round trip is still in progress when this amount has been delivered.
    pub(super) fn before(&self, delivered: f64) -> bool {
        self.ends < delivered
    }
}

/// Detects that the rate has stopped rising.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    baseline: Option<f64>,
    rounds: u32,
}

impl Plateau {
    /// Restarts the detection of a plateau with this rate.
    pub(super) fn from(rate: f64) -> Self {
        Self { baseline: Some(rate), rounds: 0 }
    }

    /// A round trip with this rate has ended; returns whether the plateau is reached.
    pub(super) fn on_round(&mut self, rate: f64) -> bool {
        if self.baseline.is_none_or(|baseline| rate >= GROWTH * baseline) {
            *self = Self::from(rate);
            return false;
        }
        self.rounds += 1;
        self.rounds >= ROUNDS
    }
}

/// The excess of acknowledged data over the estimated rate.
#[derive(Clone, Debug)]
pub(super) struct Bunches {
    most: MaxFilter,
    since: Option<Instant>,
    delivered: f64,
}

impl Bunches {
    pub(super) fn new() -> Self {
        Self { most: MaxFilter::new(MEMORY), since: None, delivered: 0.0 }
    }

    /// An acknowledgement in this round trip; `rate` is the estimated rate in segments per second,
    /// and `window` limits the excess.
    pub(super) fn on_ack(&mut self, ack: &Ack, rate: f64, window: f64, round: u64) {
        let since = *self.since.get_or_insert(ack.now);
        let explained = rate * ack.now.since(since).as_secs_f64();
        if self.delivered <= explained {
            (self.since, self.delivered) = (Some(ack.now), 0.0);
        }
        self.delivered += ack.delivered.0;
        let explained = if self.since == Some(ack.now) { 0.0 } else { explained };
        self.most.push(round, (self.delivered - explained).min(window));
    }

    /// Sets the length of the filter in round trips.
    pub(super) fn remember(&mut self, rounds: u64) {
        self.most.rounds = rounds;
    }

    /// Restarts the measurement after a time in which nothing was sent.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.delivered) = (Some(now), 0.0);
    }

    pub(super) fn greatest(&self) -> Option<f64> {
        self.most.greatest()
    }
}
