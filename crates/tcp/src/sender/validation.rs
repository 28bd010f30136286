//! Congestion window validation (RFC 7661): a window that is not used is kept for five minutes and
//! then halved, whereas RFC 5681 §4.1 restarts after an idle time.

use crate::Config;
use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// §4.1, the non-validated period.
const KEPT: Duration = Duration::from_secs(300);
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

/// Measures how much was acknowledged recently (pipeACK).
#[derive(Clone, Debug, Default)]
pub(super) struct Validation {
    /// The bytes acknowledged in each of the last round trips, with the end of the round trip.
    rounds: VecDeque<(Instant, u64)>,
    /// The round trip that is being measured.
    began: Instant,
    acked: u64,
    last_ack: Instant,
    /// Since when less than half of the window was acknowledged per round trip.
    unused_since: Option<Instant>,
}

impl Validation {
    /// §4.2 and §4.3: `acked` bytes were acknowledged while the window was `window` bytes.
    pub(super) fn on_ack(&mut self, now: Instant, acked: u64, window: u64, srtt: Duration) {
        self.last_ack = now;
        self.acked += acked;
        if now.since(self.began) < srtt {
            return;
        }
        self.rounds.push_back((now, std::mem::take(&mut self.acked)));
        self.began = now;
        let period = LEAST_PERIOD.max(srtt * ROUNDS);
        while self.rounds.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.rounds.pop_front();
        }
        let most = self.rounds.iter().map(|(_, acked)| *acked).max().unwrap_or(0);
        // A window is validated if pipeACK is at least half of it.
        self.unused_since = if 2 * most >= window { None } else { self.unused_since.or(Some(now)) };
    }

    /// §4.4.3: for how many complete periods of five minutes the window was not used; each period
    /// is reported once. If nothing is outstanding (`idle`), the window is not used.
    pub(super) fn periods(&mut self, now: Instant, idle: bool) -> u64 {
        let since = self.unused_since.or(idle.then_some(self.last_ack));
        let Some(since) = since.filter(|since| now.since(*since) >= KEPT) else { return 0 };
        let periods = now.since(since).0 / KEPT.0;
        self.unused_since = Some(since + KEPT * periods);
        periods
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ms;

    const SRTT: Duration = Duration(100_000_000);

    #[test]
    fn a_window_is_unused_from_when_less_than_half_of_it_was_acknowledged_a_round_trip() {
        let mut validation = Validation::default();
        validation.on_ack(ms(1000), 500, 1000, SRTT);
        assert_eq!(validation.periods(ms(400_000), false), 0, "half is enough");
        validation.on_ack(ms(3000), 499, 1000, SRTT);
        validation.on_ack(ms(4000), 499, 1000, SRTT);
        assert_eq!(validation.periods(ms(302_999), false), 0);
        assert_eq!(validation.periods(ms(303_000), false), 1);
        assert_eq!(validation.periods(ms(303_000), false), 0, "reported once");
        assert_eq!(validation.periods(ms(1_203_000), false), 3);
    }

    #[test]
    fn a_used_window_ages_from_the_last_acknowledgement_while_nothing_is_outstanding() {
        let mut validation = Validation::default();
        validation.on_ack(ms(1000), 1000, 1000, SRTT);
        assert_eq!(validation.periods(ms(301_000), false), 0);
        assert_eq!(validation.periods(ms(301_000), true), 1);
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
