//! Robust rate adaptation.

use super::{Answer, AttemptParameters, Ladder, LinkModes, RateControl, Rule, TxReport};
use crate::phy::error::ErrorModel;
use kernel::{Duration, Instant, Rng};
use settings::Settings;

/// Robust rate adaptation (Wong and others 2006).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct RraaSettings {}

impl Rule for RraaSettings {
    fn build(&self, link: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        Some(Box::new(Rraa::new(link.ladder())))
    }
}

/// Robust rate adaptation (S. H. Y. Wong, H. Yang, S. Lu, V. Bharghavan, `MobiCom` 2006): the loss
/// ratio within a short window determines the rate, and an adaptive RTS removes collisions from it.
#[derive(Clone, Debug)]
pub struct Rraa {
    ladder: Ladder,
    bounds: Vec<LossThresholds>,
    /// Attempts left in the window.
    left: u32,
    failed: u32,
    expires: Instant,
    rts: AdaptiveRts,
}

/// The loss thresholds of a rate.
#[derive(Clone, Copy, Debug)]
struct LossThresholds {
    /// Maximum tolerable loss: above it the rate is lowered.
    tolerable: f64,
    /// Opportunistic rate increase: below it the rate is raised.
    opportune: f64,
    /// Attempts of a window.
    window: u32,
}

/// The duration of a window of attempts (τ).
const SPAN: Duration = Duration::from_millis(12);
/// A window that is not full after this time restarts.
const EXPIRY: Duration = Duration::from_millis(50);
/// Ratio of the tolerable loss to the critical one, at which the next lower rate is as fast (α).
const TOLERANCE: f64 = 1.25;
/// Ratio of the loss that raises the rate to the tolerable loss of the next higher rate (1/β).
const OPPORTUNITY: f64 = 0.5;

impl Rraa {
    /// Begins at the fastest rate.
    pub fn new(mut ladder: Ladder) -> Self {
        let bounds = bounds(&ladder);
        ladder.go_to(bounds.len() - 1);
        let left = bounds[ladder.at()].window;
        let rts = AdaptiveRts::default();
        Self { ladder, bounds, left, failed: 0, expires: Instant::ZERO + EXPIRY, rts }
    }

    fn restart(&mut self, now: Instant) {
        self.left = self.bounds[self.ladder.at()].window;
        self.failed = 0;
        self.expires = now + EXPIRY;
    }

    /// Changes the rate as soon as the remaining attempts of the window cannot change the result.
    fn evaluate_window(&mut self, now: Instant) {
        let bound = self.bounds[self.ladder.at()];
        let window = f64::from(bound.window);
        let (least, most) = (f64::from(self.failed), f64::from(self.failed + self.left));
        if least / window > bound.tolerable {
            self.ladder.down();
        } else if most / window < bound.opportune {
            self.ladder.up();
        } else if self.left > 0 {
            return;
        }
        self.restart(now);
    }
}

impl RateControl for Rraa {
    fn select(&mut self, now: Instant, _attempt: u32) -> AttemptParameters {
        if now >= self.expires {
            self.restart(now);
        }
        AttemptParameters { rts: self.rts.is_on(), ..AttemptParameters::plain(self.ladder.mode()) }
    }

    fn on_report(&mut self, now: Instant, report: &TxReport) {
        if report.answer == Answer::NoCts {
            return;
        }
        let success = report.success() == Some(true);
        self.rts.on_attempt(report.rts, success);
        // The result of an attempt that began before the rate changed does not count for the new
        // rate.
        if report.mode != self.ladder.mode() {
            return;
        }
        self.left = self.left.saturating_sub(1);
        self.failed += u32::from(!success);
        self.evaluate_window(now);
    }
}

fn bounds(ladder: &Ladder) -> Vec<LossThresholds> {
    let rungs = ladder.rungs();
    let tolerable = |place: usize| match place.checked_sub(1) {
        None => 1.0,
        Some(below) => {
            let ratio = rungs[place].time.0 as f64 / rungs[below].time.0 as f64;
            TOLERANCE * (1.0 - ratio)
        }
    };
    let bound = |place: usize| LossThresholds {
        tolerable: tolerable(place),
        opportune: if place + 1 < rungs.len() { OPPORTUNITY * tolerable(place + 1) } else { 0.0 },
        window: SPAN.0.div_ceil(rungs[place].time.0) as u32,
    };
    (0..rungs.len()).map(bound).collect()
}

/// The number of attempts with RTS: incremented after a loss without RTS, halved after a loss with
/// RTS or a success without.
#[derive(Clone, Copy, Debug, Default)]
struct AdaptiveRts {
    window: u32,
    left: u32,
}

impl AdaptiveRts {
    fn is_on(self) -> bool {
        self.left > 0
    }

    fn on_attempt(&mut self, rts: bool, success: bool) {
        self.left = self.left.saturating_sub(1);
        match (rts, success) {
            (true, true) => return,
            (false, false) => self.window += 1,
            (true, false) | (false, true) => self.window /= 2,
        }
        self.left = self.window;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Script, ladder};
    use super::*;

    #[test]
    fn thresholds_follow_the_times() {
        let bounds = bounds(&ladder());
        assert_eq!(bounds[0].tolerable, 1.0);
        assert_eq!(bounds.last().unwrap().opportune, 0.0);
        let times: Vec<f64> = ladder().rungs().iter().map(|rung| rung.time.0 as f64).collect();
        for place in 1..bounds.len() {
            let critical = 1.0 - times[place] / times[place - 1];
            assert!((bounds[place].tolerable - 1.25 * critical).abs() < 1e-12);
            assert!((bounds[place - 1].opportune - 0.625 * critical).abs() < 1e-12);
            assert!(bounds[place].window >= bounds[place - 1].window);
        }
        // 12 ms of exchanges of 1785.5 µs at 6 Mb/s.
        assert_eq!(bounds[0].window, 7);
    }

    #[test]
    fn a_window_of_losses_lowers_the_rate_at_once() {
        let mut script = Script::new(Rraa::new(ladder()));
        let top = ladder().rungs().len() - 1;
        let bound = bounds(&ladder())[top];
        let enough = (bound.tolerable * f64::from(bound.window)).floor() as usize + 1;
        let places = script.places(&"-".repeat(enough));
        assert_eq!(places[..enough - 1], vec![top; enough - 1]);
        assert_eq!(places[enough - 1], top - 1);
    }

    #[test]
    fn a_window_without_loss_raises_the_rate_before_it_ends() {
        let mut rraa = Rraa::new(ladder());
        rraa.ladder.go_to(0);
        rraa.restart(Instant::ZERO);
        let mut script = Script::with_step(rraa, Duration::from_millis(2));
        let bound = bounds(&ladder())[0];
        let enough = (1..=7).find(|n| f64::from(bound.window - n) / 7.0 < bound.opportune).unwrap();
        let places = script.places(&"+".repeat(enough as usize));
        assert_eq!(places.iter().filter(|&&place| place == 0).count(), enough as usize - 1);
        assert_eq!(*places.last().unwrap(), 1);
    }

    #[test]
    fn an_expired_window_restarts() {
        let mut script = Script::with_step(Rraa::new(ladder()), Duration::from_millis(60));
        let top = ladder().rungs().len() - 1;
        assert_eq!(script.places(&"-".repeat(100)), vec![top; 100]);
    }

    #[test]
    fn rts_follows_losses() {
        let mut rts = AdaptiveRts::default();
        let mut after = |used, success| {
            rts.on_attempt(used, success);
            (rts.window, rts.left)
        };
        assert_eq!(after(false, false), (1, 1));
        assert_eq!(after(true, true), (1, 0));
        assert_eq!(after(false, false), (2, 2));
        assert_eq!(after(true, true), (2, 1));
        assert_eq!(after(true, true), (2, 0));
        assert_eq!(after(false, false), (3, 3));
        assert_eq!(after(true, false), (1, 1));
        assert_eq!(after(true, true), (1, 0));
        assert_eq!(after(false, true), (0, 0));
    }
}
