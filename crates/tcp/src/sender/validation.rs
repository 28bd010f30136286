//! Congestion window validation (RFC 7661): a window that is not used is kept for five minutes and
//! then halved, whereas RFC 5681 §4.1 restarts after an idle time. A loss reduces it to what was
//! used.

use crate::Config;
use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// §4.4, the non-validated period.
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);
/// §4.2, the pipeACK sampling period: a number of round trips, and a minimum time.
const ROUNDS: u64 = 3;
const LEAST_PERIOD: Duration = Duration::from_secs(1);

/// How a window that is not used changes.
#[derive(Clone, Debug)]
pub(super) enum Unused {
    /// It does not change.
    Kept,
    /// After an idle retransmission timeout it restarts (RFC 5681 §4.1).
    Restarts,
    /// RFC 7661.
    Validated(Validation),
}

impl Unused {
    pub(super) fn new(config: &Config) -> Self {
        match (config.validation, config.restart_after_idle) {
            (true, _) => Self::Validated(Validation::default()),
            (false, true) => Self::Restarts,
            (false, false) => Self::Kept,
        }
    }
}

/// Measures the used part of the congestion window (pipeACK), in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Validation {
    /// The pipeACK samples of the sampling period, each with its time: the data acknowledged in a
    /// round trip.
    samples: VecDeque<(Instant, u64)>,
    /// The greatest of them; `None` is the undefined value of §4.1.
    pipe_ack: Option<u64>,
    /// The round trip that is being measured: its beginning, which at first is the first ACK, and
    /// the data acknowledged in it.
    began: Option<Instant>,
    acked: u64,
    last_ack: Instant,
    /// The beginning of the non-validated phase.
    non_validated_since: Option<Instant>,
    /// After a loss in the non-validated phase: `max(pipeACK, LossFlightSize)` of §4.4.1.
    used_at_loss: Option<u64>,
}

impl Validation {
    /// §4.2: `acked` bytes were acknowledged outside fast recovery while the window was `window`
    /// bytes.
    pub(super) fn on_ack(&mut self, now: Instant, acked: u64, window: u64, srtt: Duration) {
        self.last_ack = now;
        self.acked += acked;
        if now.since(*self.began.get_or_insert(now)) < srtt {
            return;
        }
        self.samples.push_back((now, std::mem::take(&mut self.acked)));
        self.began = Some(now);
        let period = LEAST_PERIOD.max(srtt * ROUNDS);
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.samples.pop_front();
        }
        self.pipe_ack = self.samples.iter().map(|(_, acked)| *acked).max();
        self.non_validated_since =
            if self.is_validated(window) { None } else { self.non_validated_since.or(Some(now)) };
    }

    /// §4.3: whether at least half of the window is used, or it is not known how much is.
    pub(super) fn is_validated(&self, window: u64) -> bool {
        self.pipe_ack.is_none_or(|pipe_ack| 2 * pipe_ack >= window)
    }

    /// §4.4.1: a loss was detected with `flight` bytes in flight; returns the amount from which the
    /// window is reduced.
    pub(super) fn on_loss(&mut self, flight: u64, window: u64) -> u64 {
        match self.pipe_ack {
            Some(pipe_ack) if !self.is_validated(window) => {
                *self.used_at_loss.insert(pipe_ack.max(flight))
            }
            _ => flight,
        }
    }

    /// §4.4.1: loss recovery has ended, with `resent` bytes retransmitted; returns the window if
    /// the loss occurred in the non-validated phase.
    pub(super) fn on_recovered(&mut self, now: Instant, resent: u64) -> Option<u64> {
        let window = self.used_at_loss.map(|used| used.saturating_sub(resent) / 2);
        let (began, last_ack) = (Some(now), self.last_ack);
        *self = Self { began, last_ack, ..Self::default() };
        window
    }

    /// §4.4.3: the number of complete non-validated periods that have passed; each is reported
    /// once. A window is not used while nothing is outstanding (`is_idle`).
    pub(super) fn periods(&mut self, now: Instant, is_idle: bool) -> u64 {
        let since = self.non_validated_since.or(is_idle.then_some(self.last_ack));
        let Some(since) = since.filter(|since| now.since(*since) >= NON_VALIDATED_PERIOD) else {
            return 0;
        };
        let periods = now.since(since).0 / NON_VALIDATED_PERIOD.0;
        self.non_validated_since = Some(since + NON_VALIDATED_PERIOD * periods);
        periods
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ms;

    const SRTT: Duration = Duration(100_000_000);

    /// A sender whose first round trip has been measured, with this data acknowledged in it.
    fn measured(acked: u64, window: u64) -> Validation {
        let mut validation = Validation::default();
        validation.on_ack(ms(900), acked, window, SRTT);
        validation.on_ack(ms(1000), 0, window, SRTT);
        validation
    }

    #[test]
    fn the_first_sample_is_all_that_is_acknowledged_in_a_round_trip() {
        let mut validation = Validation::default();
        for (at, acked) in [(900, 200), (920, 200), (940, 200)] {
            validation.on_ack(ms(at), acked, 1000, SRTT);
            assert!(
                validation.is_validated(1000),
                "pipeACK is undefined until a round trip is over"
            );
        }
        validation.on_ack(ms(1000), 60, 1000, SRTT);
        assert_eq!(validation.pipe_ack, Some(660));
        assert!(validation.is_validated(1000), "two thirds of the window are used");
    }

    #[test]
    fn a_window_is_not_validated_once_less_than_half_of_it_is_acknowledged_in_a_round_trip() {
        let mut validation = Validation::default();
        assert!(validation.is_validated(1000), "pipeACK is undefined at first");
        validation = measured(500, 1000);
        assert!(validation.is_validated(1000), "half is enough");
        assert_eq!(validation.periods(ms(400_000), false), 0);
        validation.on_ack(ms(3000), 499, 1000, SRTT);
        assert!(!validation.is_validated(1000));
        validation.on_ack(ms(4000), 499, 1000, SRTT);
        assert_eq!(validation.periods(ms(302_999), false), 0);
        assert_eq!(validation.periods(ms(303_000), false), 1);
        assert_eq!(validation.periods(ms(303_000), false), 0, "reported once");
        assert_eq!(validation.periods(ms(1_203_000), false), 3);
    }

    #[test]
    fn a_used_window_ages_from_the_last_acknowledgement_while_nothing_is_outstanding() {
        let mut validation = measured(1000, 1000);
        assert_eq!(validation.periods(ms(301_000), false), 0);
        assert_eq!(validation.periods(ms(301_000), true), 1);
    }

    #[test]
    fn a_loss_reduces_an_unused_window_to_half_of_what_was_used() {
        let mut validation = measured(2000, 10_000);
        assert_eq!(validation.on_loss(2400, 10_000), 2400, "LossFlightSize exceeds pipeACK");
        assert_eq!(validation.on_recovered(ms(1200), 400), Some(1000), "(24 - 4)/2 segments");
        assert!(validation.is_validated(1000), "pipeACK is undefined after recovery");
        validation.on_ack(ms(1400), 6000, 10_000, SRTT);
        assert_eq!(validation.on_loss(2400, 10_000), 2400, "a validated window: FlightSize");
        assert_eq!(validation.on_recovered(ms(1600), 400), None, "and the standard response");
    }

    #[test]
    fn the_setting_says_what_becomes_of_an_unused_window() {
        let of = |restart_after_idle, validation| {
            Unused::new(&Config { restart_after_idle, validation, ..Config::default() })
        };
        assert!(matches!(of(true, true), Unused::Validated(_)));
        assert!(matches!(of(true, false), Unused::Restarts));
        assert!(matches!(of(false, false), Unused::Kept));
    }
}
