//! `Westwood+`: after a loss, the window is the estimated bandwidth-delay product instead of half
//! the window.
//!
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34:2, 2004.

use super::{Ack, Connection, Control, Controller, Event, Loss, NewReno, Steerable};
use crate::Config;
use kernel::{Duration, Instant, Segments};
use settings::{Range, Settings};

/// Westwood+ (Grieco and Mascolo 2004).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Westwood")]
pub struct WestwoodConfig {
    /// The weight of the previous rate estimate at each sample (α of section 2.1).
    #[setting(default = 0.9, range = Range::PROBABILITY)]
    pub memory: f64,
}

impl Controller for WestwoodConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Westwood::new(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(Westwood::new(config, *self)))
    }
}

/// `NewReno` whose threshold after a loss is the rate of acknowledgements times the minimum
/// round-trip time.
#[derive(Clone, Debug)]
pub struct Westwood {
    reno: NewReno,
    /// The weight of the previous estimate at each sample.
    memory: f64,
    /// Segments per second.
    rate: Option<f64>,
    /// The beginning of the current round trip, and the amount delivered since.
    since: Option<Instant>,
    arrived: f64,
    rtt_min: Duration,
}

impl Westwood {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: WestwoodConfig) -> Self {
        Self {
            reno: NewReno::from(config),
            memory: settings.memory,
            rate: None,
            since: None,
            arrived: 0.0,
            rtt_min: Duration::ZERO,
        }
    }

    /// §2.1: one sample per round trip, so that aggregated acknowledgements do not make the
    /// estimate too high.
    fn estimate(&mut self, ack: &Ack) {
        self.rtt_min = ack.rtt_min;
        let Some(since) = self.since else {
            self.since = Some(ack.now);
            return;
        };
        self.arrived += ack.delivered.0;
        let elapsed = ack.now.since(since);
        if elapsed == Duration::ZERO || elapsed < ack.srtt {
            return;
        }
        let sample = self.arrived / elapsed.as_secs_f64();
        let rate =
            self.rate.map_or(sample, |rate| self.memory * rate + (1.0 - self.memory) * sample);
        self.rate = Some(rate);
        (self.since, self.arrived) = (Some(ack.now), 0.0);
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }
}

impl Control for Westwood {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.estimate(ack);
        self.reno.on_ack(ack);
    }

    /// §2.2. Before the first sample, the response to a loss is that of `NewReno`. A loss never
    /// increases the window.
    fn on_loss(&mut self, loss: &Loss) {
        let threshold = match self.rate {
            Some(rate) => (rate * self.rtt_min.as_secs_f64()).min(self.window().0),
            None => loss.in_flight.0 / 2.0,
        };
        self.reno.reduce(loss, threshold);
    }

    fn on_event(&mut self, event: Event<'_>) {
        if event == Event::Undo {
            self.on_undo();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
        visit("rate_segments_per_s", self.rate.unwrap_or(f64::NAN));
    }
}

impl Steerable for Westwood {
    fn steer(&mut self, window: Segments) {
        self.reno.steer(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::control::fixture::{ack_at, gauge, loss};

    /// Acknowledgements at this rate for this long, with a minimum round-trip time of 100 ms.
    fn run(control: &mut Westwood, from_s: f64, seconds: f64, rate: f64, rtt_ms: f64) {
        let rtt_min = Duration::from_millis(100);
        for n in 0..(rate * seconds) as u32 {
            let now_s = from_s + f64::from(n) / rate;
            control.on_ack(&Ack { rtt_min, ..ack_at(now_s, 1.0, rtt_ms) });
        }
    }

    #[test]
    fn the_window_after_a_loss_is_what_the_path_holds() {
        let mut control = Westwood::new(&Config::default(), WestwoodConfig::default());
        run(&mut control, 0.0, 10.0, 200.0, 150.0);
        assert!((gauge(&control, "rate_segments_per_s").unwrap() / 200.0 - 1.0).abs() < 0.01);
        assert!(control.window().0 > 50.0);
        control.on_loss(&loss(Cause::FastRetransmit, 60.0));
        // 200 per second times 0.1 s.
        assert!((control.window().0 - 20.0).abs() < 0.2, "{}", control.window().0);
        run(&mut control, 10.0, 0.3, 200.0, 150.0);
        control.on_loss(&loss(Cause::Timeout, 20.0));
        assert_eq!(control.window().0, 1.0);
        let threshold = gauge(&control, "ssthresh_segments").unwrap();
        assert!((threshold - 20.0).abs() < 0.2, "{threshold}");
    }

    #[test]
    fn the_estimate_forgets_a_tenth_per_round_trip() {
        let mut control = Westwood::new(&Config::default(), WestwoodConfig::default());
        run(&mut control, 0.0, 1.0, 200.0, 100.0);
        let before = gauge(&control, "rate_segments_per_s").unwrap();
        run(&mut control, 1.0, 0.205, 100.0, 100.0);
        let after = gauge(&control, "rate_segments_per_s").unwrap();
        // The first of the two samples spans the change.
        let kept = (after - 100.0) / (before - 100.0);
        assert!((0.79..0.92).contains(&kept), "{kept}");
    }

    #[test]
    fn before_the_first_sample_a_loss_is_halving_and_no_loss_is_a_gain() {
        let mut control = Westwood::new(&Config::default(), WestwoodConfig::default());
        control.on_loss(&loss(Cause::FastRetransmit, 10.0));
        assert_eq!(control.window().0, 5.0);
        run(&mut control, 0.0, 1.0, 1000.0, 100.0);
        let window = control.window().0;
        assert!(window < 100.0);
        control.on_loss(&loss(Cause::FastRetransmit, 10.0));
        assert_eq!(control.window().0, window);
    }
}
