//! The window of `LT-TCP`: marks indicate congestion, losses do not.
//!
//! Tickoo, Subramanian, Kalyanaraman and Ramakrishnan, "LT-TCP: End-to-End Framework to Improve TCP
//! Performance over Networks with Lossy Channels", `IWQoS` 2005: the window responds to ECN alone.
//! The loss rate is estimated so that forward error correction (`crate::fec`) repairs losses.

use super::rounds::Rounds;
use super::{Ack, Cause, Connection, Control, Controller, Event, Loss, NewReno};
use crate::Config;
use kernel::Segments;
use settings::{Range, Settings};

/// The window of LT-TCP (Tickoo and others 2005): marks indicate congestion, losses do not.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Lt")]
pub struct LtConfig {
    /// The weight of a new sample in the loss estimate (equation (1)).
    #[setting(default = 0.5, range = Range::FRACTION)]
    pub weight: f64,
    /// The factor by which the window is multiplied after a mark.
    #[setting(default = 0.5, range = Range::OPEN_UNIT)]
    pub beta_ecn: f64,
    /// Whether a timeout leaves the slow start threshold as it is, since only marks indicate
    /// congestion.
    pub timeout_keeps_ssthresh: bool,
}

impl Controller for LtConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Lt::new(connection.config, *self))
    }
}

/// `NewReno` whose window losses do not reduce, with an estimate of the loss rate.
#[derive(Clone, Debug)]
pub struct Lt {
    reno: NewReno,
    settings: LtConfig,
    rounds: Rounds,
    arrived: f64,
    lost: f64,
    estimate: f64,
    /// The window before the last loss, for an undo.
    before: Option<NewReno>,
}

impl Lt {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: LtConfig) -> Self {
        Self {
            reno: NewReno::from(config).beta_ecn(settings.beta_ecn),
            settings,
            rounds: Rounds::default(),
            arrived: 0.0,
            lost: 0.0,
            estimate: 0.0,
            before: None,
        }
    }

    /// The estimated probability that a segment is lost.
    pub fn loss_estimate(&self) -> f64 {
        self.estimate
    }

    /// Equation (1): updates the estimate once per window, by the share of the window that was
    /// lost.
    fn estimate(&mut self, ack: &Ack) {
        self.arrived += ack.delivered.0;
        self.lost += ack.lost.0;
        if self.rounds.on_ack(ack) {
            let sample = self.lost / (self.arrived + self.lost).max(1.0);
            self.estimate += self.settings.weight * (sample - self.estimate);
            (self.arrived, self.lost) = (0.0, 0.0);
        }
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.reno = before;
        }
    }
}

impl Control for Lt {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.estimate(ack);
        // Recovery does not indicate congestion: the window continues to grow.
        let may_grow = ack.may_grow || ack.recovery;
        self.reno.on_ack(&Ack { may_grow, ..*ack });
    }

    fn on_loss(&mut self, loss: &Loss) {
        match loss.cause {
            // Losses are counted with the acknowledgement that reports them.
            Cause::FastRetransmit => self.before = None,
            Cause::Ecn => {
                self.before = None;
                self.reno.on_loss(loss);
            }
            Cause::Timeout => {
                self.lost += loss.lost.0;
                if !loss.repeated {
                    self.before = Some(self.reno.clone());
                }
                let keep = self.reno.threshold();
                self.reno.on_loss(loss);
                if self.settings.timeout_keeps_ssthresh {
                    self.reno.set_threshold(keep);
                }
            }
        }
    }

    fn on_event(&mut self, event: Event<'_>) {
        if event == Event::Undo {
            self.on_undo();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
        visit("loss_estimate", self.estimate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack, gauge, loss};

    fn lt(settings: LtConfig) -> Lt {
        let window = Segments(20.0);
        let config = Config {
            initial_window: Some(window),
            initial_ssthresh: Some(window),
            ..Config::default()
        };
        Lt::new(&config, settings)
    }

    #[test]
    fn a_mark_halves_and_a_loss_does_not() {
        let mut control = lt(LtConfig::default());
        control.on_loss(&loss(Cause::FastRetransmit, 20.0));
        assert_eq!(control.window().0, 20.0);
        control.on_ack(&Ack { may_grow: false, recovery: true, ..ack(20.0) });
        assert_eq!(control.window().0, 21.0, "and it grows on in recovery");
        control.on_ack(&Ack { may_grow: false, ..ack(21.0) });
        assert_eq!(control.window().0, 21.0);
        control.on_loss(&loss(Cause::Ecn, 20.0));
        assert_eq!(control.window().0, 10.0);
        control.on_undo();
        assert_eq!(control.window().0, 10.0, "a mark is no mistake");
    }

    #[test]
    fn a_timeout_is_the_last_resort() {
        let mut control = lt(LtConfig::default());
        control.on_loss(&loss(Cause::Timeout, 20.0));
        assert_eq!(control.window().0, 1.0);
        assert_eq!(gauge(&control, "ssthresh_segments"), Some(10.0));
        control.on_undo();
        assert_eq!(control.window().0, 20.0);
        let mut control = lt(LtConfig { timeout_keeps_ssthresh: true, ..LtConfig::default() });
        control.on_loss(&loss(Cause::Timeout, 20.0));
        assert_eq!(control.window().0, 1.0);
        assert_eq!(gauge(&control, "ssthresh_segments"), Some(20.0));
    }

    #[test]
    fn the_estimate_is_half_the_new_window_and_half_the_old() {
        let mut control = lt(LtConfig::default());
        let mut window = |arrived: f64, lost: f64| {
            // In two halves; nothing of the previous window is in flight.
            let half = Ack {
                lost: Segments(lost / 2.0),
                in_flight: Segments(arrived / 2.0),
                ..ack(arrived / 2.0)
            };
            control.on_ack(&half);
            control.on_ack(&Ack { in_flight: Segments(0.0), ..half });
            control.loss_estimate()
        };
        // Each window ends with the acknowledgement beyond the data that was in flight before.
        window(8.0, 2.0);
        let mut last = 0.0;
        for _ in 0..20 {
            last = window(8.0, 2.0);
        }
        assert!((last - 0.2).abs() < 1e-3, "2 of 10: {last}");
        let first = window(10.0, 0.0);
        let second = window(10.0, 0.0);
        assert!(first < last && second < first);
        for _ in 0..20 {
            last = window(10.0, 0.0);
        }
        assert!(last < 1e-3);
    }

    #[test]
    fn one_sample_moves_the_estimate_by_its_weight() {
        let mut control = lt(LtConfig { weight: 0.25, ..LtConfig::default() });
        control.on_ack(&Ack { in_flight: Segments(8.0), ..ack(1.0) });
        assert_eq!(control.loss_estimate(), 0.0);
        control.on_ack(&Ack { lost: Segments(2.0), in_flight: Segments(8.0), ..ack(8.0) });
        control.on_ack(&Ack { lost: Segments(2.0), in_flight: Segments(8.0), ..ack(4.0) });
        // 4 of 16.
        assert_eq!(control.loss_estimate(), 0.25 * 0.25);
    }
}
