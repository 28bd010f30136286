//! Automatic rate fallback.

use super::{AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Duration, Instant, Rng};
use settings::Settings;

/// Automatic rate fallback (Kamerman and Monteban 1997).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Arf")]
pub struct ArfSettings {
    /// After this number of attempts at a mode, the next success raises the rate whatever the
    /// failures, as in ns-3; 0 is never.
    #[setting(default = 15, range = 0..=1_000_000)]
    pub patience_attempts: u32,
    /// After so many milliseconds at a mode instead, 60 in the original; default by attempts.
    #[setting(key = "patience_ms", range = 0.001..=1e6)]
    pub patience: Option<Duration>,
}

impl ArfSettings {
    fn patience(&self) -> Patience {
        match (self.patience, self.patience_attempts) {
            (Some(time), _) => Patience::Time(time),
            (None, 0) => Patience::Endless,
            (None, attempts) => Patience::Attempts(attempts),
        }
    }
}

impl Rule for ArfSettings {
    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        let count = ArfCount::new(10, 2, self.patience());
        Some(Box::new(Arf { ladder: link.ladder(), count, probes: true }))
    }
}

/// When ARF tries a higher rate despite failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Attempts(u32),
    Time(Duration),
    Endless,
}

/// The counters of ARF and its descendants.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArfCount {
    /// Consecutive successes that raise the rate.
    pub(super) up_after: u32,
    /// Consecutive failures that lower it.
    pub(super) down_after: u32,
    /// When the next success raises it despite failures.
    pub(super) patience: Patience,
    successes: u32,
    failures: u32,
    attempts: u32,
    since: Option<Instant>,
    probing: bool,
}

/// The decision after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Stay,
    Up,
    Down,
    /// The first attempt after the rate was raised has failed.
    Back,
}

impl ArfCount {
    pub(super) fn new(up_after: u32, down_after: u32, patience: Patience) -> Self {
        Self {
            up_after,
            down_after,
            patience,
            successes: 0,
            failures: 0,
            attempts: 0,
            since: None,
            probing: false,
        }
    }

    /// Consecutive failures so far.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn on_attempt(&mut self, now: Instant, success: bool) -> Move {
        let since = *self.since.get_or_insert(now);
        self.attempts += 1;
        if success {
            self.successes += 1;
            self.failures = 0;
            self.probing = false;
            let patient = match self.patience {
                Patience::Attempts(most) => self.attempts < most,
                Patience::Time(most) => now.since(since) < most,
                Patience::Endless => true,
            };
            return if self.successes < self.up_after && patient { Move::Stay } else { Move::Up };
        }
        self.successes = 0;
        self.failures += 1;
        if self.probing {
            Move::Back
        } else if self.failures >= self.down_after {
            Move::Down
        } else {
            Move::Stay
        }
    }

    /// Resets the counters at another rate, or after an attempt to change it. The first attempt at
    /// a higher rate is a probe.
    pub(super) fn restart(&mut self, now: Instant, probing: bool) {
        *self = Self {
            since: Some(now),
            probing,
            ..Self::new(self.up_after, self.down_after, self.patience)
        };
    }
}

/// Automatic rate fallback (A. Kamerman, L. Monteban, "WaveLAN-II", Bell Labs Technical Journal
/// 2:3, 1997): ten consecutive successes raise the rate. Two consecutive failures lower it, and so
/// does a failure of the first attempt after it was raised.
#[derive(Clone, Debug)]
pub struct Arf {
    pub(super) ladder: Ladder,
    pub(super) count: ArfCount,
    /// Whether the first attempt after the rate was raised is a probe.
    pub(super) probes: bool,
}

impl RateControl for Arf {
    fn select(&mut self, _now: Instant, _attempt: u32) -> AttemptParameters {
        AttemptParameters::plain(self.ladder.mode())
    }

    fn on_report(&mut self, now: Instant, report: &TxReport) {
        let Some(success) = report.success() else { return };
        match self.count.on_attempt(now, success) {
            Move::Stay => {}
            Move::Up => {
                let moved = self.ladder.up();
                self.count.restart(now, moved && self.probes);
            }
            Move::Down | Move::Back => {
                self.ladder.down();
                self.count.restart(now, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, build};
    use super::*;

    #[test]
    fn ten_successes_go_up_and_two_failures_down() {
        let mut script = Script::new(build(&ArfSettings::default()));
        assert_eq!(script.places("+++++++++"), [0; 9]);
        assert_eq!(script.places("+++"), [1, 1, 1]);
        assert_eq!(script.places("-+-"), [1, 1, 1], "not in a row");
        assert_eq!(script.places("-"), [0]);
        assert_eq!(script.places("-----"), [0; 5], "there is no lower rate");
    }

    #[test]
    fn a_failed_probe_lowers_the_rate_at_once() {
        let mut script = Script::new(build(&ArfSettings::default()));
        assert_eq!(script.places("++++++++++"), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(script.places("-"), [0]);
        assert_eq!(script.places("++++++++++"), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(script.places("+-"), [1, 1], "the second attempt is no probe");
    }

    #[test]
    fn after_fifteen_attempts_the_next_success_goes_up() {
        let mut script = Script::new(build(&ArfSettings::default()));
        script.places("++++-++++-++++");
        assert_eq!(script.places("+"), [1], "the fifteenth attempt");
        let endless = ArfSettings { patience_attempts: 0, ..ArfSettings::default() };
        let mut script = Script::new(build(&endless));
        script.places("++++-++++-++++-++++-++++-++++");
        assert_eq!(script.places("-++++"), [0; 5]);
        let patience = Some(Duration::from_millis(60));
        let timed = ArfSettings { patience, ..ArfSettings::default() };
        let mut script = Script::new(build(&timed));
        // One attempt in each 10 ms.
        assert_eq!(script.places("+-+-+-+"), [0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_missing_cts_changes_no_statistics() {
        let mut script = Script::new(build(&ArfSettings::default()));
        script.places("++++++++++");
        assert_eq!(script.places("r+r-rrr-"), [1, 1, 1, 1, 1, 1, 1, 0]);
    }
}
