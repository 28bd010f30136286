//! Adaptive automatic rate fallback.

use super::arf::{ArfCount, Move, Patience};
use super::{AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Instant, Rng};
use settings::Settings;

/// Adaptive automatic rate fallback (Lacage, Manshaei and Turletti 2004).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Aarf")]
pub struct AarfSettings {
    /// Upper limit of the consecutive successes that raise the rate, as in ns-3; 50 in the paper.
    #[setting(default = 60, range = 1..=1_000_000)]
    pub most_successes: u32,
}

impl Rule for AarfSettings {
    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        let count = ArfCount::new(SUCCESSES, 2, Patience::Attempts(ATTEMPTS));
        Some(Box::new(Aarf { ladder: link.ladder(), count, most: self.most_successes }))
    }
}

/// Adaptive ARF (M. Lacage, M. H. Manshaei, T. Turletti, "IEEE 802.11 rate adaptation: a practical
/// approach", `MSWiM` 2004): as ARF, but each failed probe doubles the successes and the attempts
/// before the next probe, up to a limit. Two consecutive failures reset both.
#[derive(Clone, Debug)]
pub struct Aarf {
    ladder: Ladder,
    count: ArfCount,
    most: u32,
}

/// Successes, and attempts, that raise the rate initially.
const SUCCESSES: u32 = 10;
const ATTEMPTS: u32 = 15;

impl RateControl for Aarf {
    fn select(&mut self, _now: Instant, _attempt: u32) -> AttemptParameters {
        AttemptParameters::plain(self.ladder.mode())
    }

    fn on_report(&mut self, now: Instant, report: &TxReport) {
        let Some(success) = report.success() else { return };
        match self.count.on_attempt(now, success) {
            Move::Stay => {}
            Move::Up => {
                let moved = self.ladder.up();
                self.count.restart(now, moved);
            }
            Move::Back => {
                self.ladder.down();
                self.count.up_after = (self.count.up_after * 2).min(self.most);
                if let Patience::Attempts(attempts) = self.count.patience {
                    self.count.patience = Patience::Attempts(attempts.saturating_mul(2));
                }
                self.count.restart(now, false);
            }
            Move::Down => {
                self.ladder.down();
                self.count.up_after = SUCCESSES;
                self.count.patience = Patience::Attempts(ATTEMPTS);
                self.count.restart(now, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, build};
    use super::*;

    /// Successes until the rate is raised.
    fn successes(script: &mut Script<Box<dyn RateControl>>) -> usize {
        (1..=100).find(|_| script.places("+") == [1]).unwrap()
    }

    #[test]
    fn failed_probes_become_rarer() {
        let mut script = Script::new(build(&AarfSettings::default()));
        let mut needed = Vec::new();
        for _ in 0..5 {
            needed.push(successes(&mut script));
            assert_eq!(script.places("-"), [0]);
        }
        assert_eq!(needed, [10, 20, 40, 60, 60]);
        let mut script = Script::new(build(&AarfSettings { most_successes: 50 }));
        let mut last = 0;
        for _ in 0..5 {
            last = successes(&mut script);
            script.places("-");
        }
        assert_eq!(last, 50);
    }

    #[test]
    fn two_failures_reset_the_patience() {
        let mut script = Script::new(build(&AarfSettings::default()));
        successes(&mut script);
        script.places("-");
        assert_eq!(successes(&mut script), 20);
        script.places("+--");
        assert_eq!(successes(&mut script), 10);
    }

    #[test]
    fn the_patience_doubles_too() {
        let mut script = Script::new(build(&AarfSettings::default()));
        successes(&mut script);
        script.places("-");
        // Thirty attempts, of which one in ten fails.
        let places = script.places("+++++++++-+++++++++-++++++++++");
        assert_eq!(places[28..], [0, 1]);
    }
}
