//! `Vegas`: keeps a small number of its own segments in the queue.
//!
//! Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", JSAC
//! 13:8, 1995.

use super::rounds::Rounds;
use super::{Ack, Connection, Control, Controller, Event, Loss, NewReno, Steerable};
use crate::Config;
use kernel::{Duration, Segments};
use settings::{Faults, Path, Settings, number};

/// Vegas (Brakmo and Peterson 1995).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Vegas", check = relate)]
pub struct VegasConfig {
    /// The window grows while fewer segments than this are queued (section 3.2).
    #[setting(default = 2.0, range = 0.0..=1e6)]
    pub alpha: f64,
    /// The window shrinks while more segments than this are queued (section 3.2).
    #[setting(default = 4.0, range = 0.0..=1e6)]
    pub beta: f64,
    /// Slow start ends when more segments than this are queued (section 3.3).
    #[setting(default = 1.0, range = 0.0..=1e6)]
    pub gamma: f64,
}

fn relate(vegas: &VegasConfig, at: &Path, faults: &mut Faults) {
    if vegas.alpha > vegas.beta {
        let message = format!("{} is above beta, {}", number(vegas.alpha), number(vegas.beta));
        faults.fault(at.key("alpha"), message);
    }
}

impl Controller for VegasConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Vegas::new(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(Vegas::new(config, *self)))
    }
}

/// Vegas' congestion avoidance and slow start over `NewReno`'s response to losses. RACK and SACK
/// replace the finer retransmission timer of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    reno: NewReno,
    settings: VegasConfig,
    rounds: Rounds,
    /// The minimum round-trip time of the current round trip.
    least: Option<Duration>,
    /// Whether slow start pauses: it grows in every other round trip (§3.3).
    rests: bool,
    /// The number of own segments in queues, by the last estimate.
    queued: f64,
}

impl Vegas {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: VegasConfig) -> Self {
        Self {
            reno: NewReno::from(config),
            settings,
            rounds: Rounds::default(),
            least: None,
            rests: false,
            queued: f64::NAN,
        }
    }

    fn on_round(&mut self, ack: &Ack, least: Duration) {
        let window = self.window().0;
        // Diff of §3.2, times BaseRTT: Expected - Actual = W/BaseRTT - W/RTT.
        let share = ack.rtt_min.as_secs_f64() / least.as_secs_f64();
        self.queued = window * (1.0 - share);
        let slow_start = window < self.reno.threshold();
        self.rests = slow_start && !self.rests;
        if slow_start {
            if self.queued > self.settings.gamma {
                // Reduces the window to the bandwidth-delay product and one segment.
                self.reno.steer(Segments((window * share + 1.0).min(window).max(2.0)));
            }
        } else if !ack.may_grow {
            // A window that is not used neither grows nor shrinks.
        } else if self.queued < self.settings.alpha {
            self.reno.grow(1.0);
        } else if self.queued > self.settings.beta {
            self.reno.steer(Segments((window - 1.0).max(2.0)));
        }
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }
}

impl Control for Vegas {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        let ended = self.rounds.on_ack(ack);
        if let (true, false, Some(least)) = (ended, ack.recovery, self.least) {
            self.least = None;
            self.on_round(ack, least);
        }
        if self.window().0 < self.reno.threshold() && !self.rests {
            self.reno.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
        self.rests = false;
    }

    fn on_event(&mut self, event: Event<'_>) {
        if event == Event::Undo {
            self.on_undo();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
        visit("queued_segments", self.queued);
    }
}

impl Steerable for Vegas {
    fn steer(&mut self, window: Segments) {
        self.reno.steer(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::control::fixture::{ack_at, gauge, loss};

    fn vegas(window: f64, ssthresh: Option<f64>) -> Vegas {
        let config = Config {
            initial_window: Some(Segments(window)),
            initial_ssthresh: ssthresh.map(Segments),
            ..Config::default()
        };
        Vegas::new(&config, VegasConfig::default())
    }

    /// Round trips of this length over a path of 100 ms, with one segment per acknowledgement.
    fn rounds(control: &mut Vegas, number: u32, rtt_ms: f64) {
        let rtt_min = Duration::from_millis(100);
        for _ in 0..number {
            let window = control.window().0;
            for _ in 0..window as u32 {
                let in_flight = Segments(control.window().0.floor() - 1.0);
                control.on_ack(&Ack { in_flight, rtt_min, ..ack_at(0.0, 1.0, rtt_ms) });
            }
        }
    }

    #[test]
    fn the_window_keeps_two_to_four_segments_queued() {
        // 20 segments: Diff = 20·(1 - 100/RTT) is 1.8, 2.0, 4.0 and 4.1 at these RTTs.
        for (rtt_ms, step) in [(109.9, 1.0), (111.2, 0.0), (124.9, 0.0), (126.0, -1.0)] {
            let mut control = vegas(20.0, Some(20.0));
            let rtt_min = Duration::from_millis(100);
            for acked in [1.0, 20.0] {
                let in_flight = Segments(19.0);
                control.on_ack(&Ack { in_flight, rtt_min, ..ack_at(0.0, acked, rtt_ms) });
                if acked == 1.0 {
                    control.reno.steer(Segments(20.0));
                }
            }
            assert_eq!(control.window().0, 20.0 + step, "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_grows_in_every_other_round_trip_until_a_segment_queues() {
        let mut control = vegas(4.0, None);
        let mut windows = Vec::new();
        for _ in 0..8 {
            rounds(&mut control, 1, 100.0);
            windows.push(control.window().0);
        }
        // Eight round trips double the window four times and not eight.
        let grown = windows[7] / 4.0;
        assert!((8.0..=32.0).contains(&grown), "{windows:?}");
        let before = control.window().0;
        rounds(&mut control, 3, 150.0);
        let end = gauge(&control, "ssthresh_segments").unwrap();
        assert!(end < before && end.is_finite(), "{before} to {end}");
        assert!(control.window().0 <= end + 1.0);
    }

    #[test]
    fn a_loss_is_answered_as_new_reno_does() {
        let mut control = vegas(20.0, Some(20.0));
        control.on_loss(&loss(Cause::FastRetransmit, 20.0));
        assert_eq!(control.window().0, 10.0);
        control.on_undo();
        assert_eq!(control.window().0, 20.0);
    }
}
