//! `FeW`, fractional window increment: `NewReno` that grows by α segments per round trip instead of
//! one (Nahm, Helmy and Kuo, "TCP over Multihop 802.11 Networks", `MobiHoc` 2005).
//!
//! In a chain of radio hops, a window of a few segments already fills the path. A larger window
//! causes collisions, which routing interprets as a broken link. With a small increment the window
//! stays small for longer.

use super::{Ack, Connection, Control, Controller, Counting, Event, Loss, NewReno, Steerable};
use crate::Config;
use kernel::Segments;
use settings::{Range, Settings};

/// `FeW`, fractional window increment (Nahm, Helmy and Kuo 2005).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Few")]
pub struct FewConfig {
    /// Segments by which the window grows per round trip; `NewReno` has 1. The default is that of
    /// "Performance Comparison of TCP AFW and TCP `FeW` in IEEE 802.11 Wireless Networks".
    #[setting(default = 0.01, range = Range::FRACTION)]
    pub alpha: f64,
}

impl Controller for FewConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Few::new(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(Few::new(config, *self)))
    }
}

/// `NewReno` with W ← W + α/W per acknowledgement in congestion avoidance.
#[derive(Clone, Debug)]
pub struct Few {
    reno: NewReno,
    alpha: f64,
}

impl Few {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: FewConfig) -> Self {
        let reno = NewReno::from(config).counting(Counting::of(config));
        Self { reno, alpha: settings.alpha }
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }
}

impl Control for Few {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(count) = self.reno.slow_start_or_count(ack) {
            self.reno.grow(self.alpha * count / self.reno.window().0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
    }

    fn on_event(&mut self, event: Event<'_>) {
        if event == Event::Undo {
            self.on_undo();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
    }
}

impl Steerable for Few {
    fn steer(&mut self, window: Segments) {
        self.reno.steer(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::control::fixture::{ack, loss, round};

    fn few(window: f64, byte_counting: bool) -> Few {
        let window = Segments(window);
        let config = Config {
            initial_window: Some(window),
            initial_ssthresh: Some(window),
            byte_counting,
            ..Config::default()
        };
        Few::new(&config, FewConfig { alpha: 0.01 })
    }

    #[test]
    fn the_window_grows_by_alpha_per_round_trip() {
        let mut control = few(4.0, false);
        for n in 1..=400 {
            round(&mut control, 0.0, 100.0);
            let wanted = 4.0 + 0.01 * f64::from(n);
            let window = control.window().0;
            // The last, incomplete segment of a window is not sent, so that a round consists of
            // floor(W) segments.
            assert!((window - wanted).abs() < 0.12 * (wanted - 4.0) + 1e-9, "{window} after {n}");
        }
    }

    #[test]
    fn one_acknowledgement_adds_alpha_over_the_window() {
        let mut control = few(4.0, false);
        control.on_ack(&ack(2.0));
        assert_eq!(control.window().0, 4.0 + 0.01 / 4.0);
        let mut control = few(4.0, true);
        control.on_ack(&ack(2.0));
        assert_eq!(control.window().0, 4.0 + 0.02 / 4.0, "by what it covers");
    }

    #[test]
    fn slow_start_and_losses_are_those_of_new_reno() {
        let initial_window = Some(Segments(2.0));
        let config = Config { initial_window, byte_counting: false, ..Config::default() };
        let mut control = Few::new(&config, FewConfig { alpha: 0.01 });
        for _ in 0..6 {
            control.on_ack(&ack(1.0));
        }
        assert_eq!(control.window().0, 8.0);
        control.on_loss(&loss(Cause::FastRetransmit, 8.0));
        assert_eq!(control.window().0, 4.0);
        control.on_ack(&ack(1.0));
        assert_eq!(control.window().0, 4.0 + 0.01 / 4.0);
        control.on_undo();
        assert_eq!(control.window().0, 8.0);
        control.on_loss(&loss(Cause::Timeout, 8.0));
        assert_eq!(control.window().0, 1.0);
    }
}
