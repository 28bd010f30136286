//! `AFW`, adaptive fractional window increment: `FeW` with an increment S that adapts to the load.
//!
//! Ding, Zhang, Wang, Qian and Xu, "Adaptive Fractional Window Increment of TCP in multihop ad hoc
//! networks" (doi 10.1631/jzus.A0820380), named the scheme. According to "Performance Comparison of
//! TCP AFW and TCP `FeW` in IEEE 802.11 Wireless Networks", S is multiplied by α when the network
//! is idle and divided by β when it is congested, within [`S_min`, `S_max`]. The sources define
//! idle and congested only in words. This is a reconstruction: a timeout, the one event that they
//! name, indicates congestion, and a round trip without a loss indicates an idle network. Settings
//! of [`AfwConfig`] select other interpretations.

use super::rounds::Rounds;
use super::{
    Ack, Cause, Connection, Control, Controller, Counting, Event, Hint, Loss, NewReno, Steerable,
};
use crate::Config;
use kernel::Segments;
use settings::{Choice, Faults, Path, Range, Settings, number, said};

/// How often the network may be considered idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Epoch {
    /// After this many round trips without a loss.
    Rounds(CleanRounds),
    /// Once between two timeouts, after the first round trip without a loss.
    Timeouts,
}

impl Default for Epoch {
    fn default() -> Self {
        Self::Rounds(CleanRounds::default())
    }
}

/// Round trips without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Rounds")]
pub struct CleanRounds {
    /// The number of round trips.
    #[setting(default = 1, range = 1..=1_000_000)]
    pub number: u32,
}

/// Which events indicate congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Congested {
    /// Timeouts.
    #[default]
    Timeout,
    /// Timeouts, losses detected by duplicate or selective acknowledgements, and marks.
    AnyLoss,
}

/// AFW, adaptive fractional window increment (Ding and others), a reconstruction: the window grows
/// by S segments per round trip.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Afw", check = relate)]
pub struct AfwConfig {
    /// The factor by which S is multiplied when the network is idle.
    #[setting(default = 2.0, range = Range::above(1.0, 1e6))]
    pub alpha: f64,
    /// The divisor of S when the network is congested.
    #[setting(default = 2.0, range = Range::above(1.0, 1e6))]
    pub beta: f64,
    /// The minimum of S, and its initial value.
    #[setting(default = 0.01, range = Range::FRACTION)]
    pub s_min: f64,
    /// The maximum of S; the S of `NewReno` is 1.
    #[setting(default = 1.0, range = Range::FRACTION)]
    pub s_max: f64,
    /// How often the network may be considered idle.
    pub epoch: Epoch,
    /// Which events indicate congestion.
    pub congested: Congested,
    /// The number of hops of a round trip. S rises only while the window is below the
    /// bandwidth-delay product of a chain of radio hops, which is a fifth of them, and falls only
    /// while the window is above it (Chen, Xue and Nahrstedt, ICC 2003). Default: no such
    /// condition.
    #[setting(range = 1..=1_000_000)]
    pub gate_hops: Option<u32>,
    /// Whether the hops of the round trip are twice those of the route to the receiver, as the
    /// routing of the sender's node reports them, instead of `gate_hops`. It needs `[routing]`.
    pub gate_route: bool,
}

fn relate(afw: &AfwConfig, at: &Path, faults: &mut Faults) {
    if afw.s_min > afw.s_max {
        let message = format!("{} is above s_max, {}", number(afw.s_min), number(afw.s_max));
        faults.fault(at.key("s_min"), message);
    }
    if afw.gate_route && afw.gate_hops.is_some() {
        let message = said!("the route gives the number of hops, and gate_hops too", "keep one");
        faults.fault(at.key("gate_route"), message);
    }
}

impl Controller for AfwConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Afw::new(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(Afw::new(config, *self)))
    }
}

/// `NewReno` with W ← W + S/W per acknowledgement in congestion avoidance and an adaptive S.
#[derive(Clone, Debug)]
pub struct Afw {
    reno: NewReno,
    settings: AfwConfig,
    /// The hops of a round trip, if they are known and matter.
    hops: Option<u32>,
    increment: f64,
    rounds: Rounds,
    /// Whether a loss occurred in this round.
    lossy: bool,
    /// Rounds without a loss since the last loss or the last increase of S.
    clean: u32,
    /// Whether S may not rise again before a timeout.
    risen: bool,
}

impl Afw {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: AfwConfig) -> Self {
        Self {
            reno: NewReno::from(config).counting(Counting::of(config)),
            settings,
            hops: settings.gate_hops,
            increment: settings.s_min,
            rounds: Rounds::default(),
            lossy: false,
            clean: 0,
            risen: false,
        }
    }

    /// Whether the window is at least the bandwidth-delay product, if that is known.
    fn fills_path(&self) -> Option<bool> {
        let hops = f64::from(self.hops?);
        Some(self.reno.window().0 >= (hops / 5.0).max(1.0))
    }

    fn on_clean_round(&mut self) {
        self.clean += 1;
        let due = match self.settings.epoch {
            Epoch::Rounds(rounds) => self.clean >= rounds.number,
            Epoch::Timeouts => !self.risen,
        };
        if due && self.fills_path() != Some(true) {
            self.increment = (self.settings.alpha * self.increment).min(self.settings.s_max);
            (self.clean, self.risen) = (0, true);
        }
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_hint(&mut self, hint: &Hint) {
        if let (Hint::RouteHops(hops), true) = (hint, self.settings.gate_route) {
            self.hops = Some(2 * u32::from(*hops));
        }
    }
}

impl Control for Afw {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        let ended = self.rounds.on_ack(ack);
        let clean = ended && !self.lossy;
        self.lossy &= !ended;
        if let Some(count) = self.reno.slow_start_or_count(ack) {
            if clean {
                self.on_clean_round();
            }
            self.reno.grow(self.increment * count / self.reno.window().0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let timeout = loss.cause == Cause::Timeout;
        let congested = timeout || self.settings.congested == Congested::AnyLoss;
        if congested && self.fills_path() != Some(false) {
            self.increment = (self.increment / self.settings.beta).max(self.settings.s_min);
        }
        (self.clean, self.lossy) = (0, true);
        self.risen &= !timeout;
        self.reno.on_loss(loss);
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Undo => self.on_undo(),
            Event::Hint(hint) => self.on_hint(hint),
            _ => {}
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
        visit("increment_segments", self.increment);
    }
}

impl Steerable for Afw {
    fn steer(&mut self, window: Segments) {
        self.reno.steer(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack, gauge, loss};

    fn afw(settings: AfwConfig) -> Afw {
        let window = Segments(4.0);
        let config = Config {
            initial_window: Some(window),
            initial_ssthresh: Some(window),
            byte_counting: false,
            ..Config::default()
        };
        Afw::new(&config, settings)
    }

    fn increment(control: &Afw) -> f64 {
        gauge(control, "increment_segments").unwrap()
    }

    fn rounds(control: &mut Afw, number: u32) {
        for _ in 0..number {
            // One acknowledgement for the window, and one for a segment that left in the round.
            let window = control.window();
            control.on_ack(&Ack { in_flight: window, ..ack(window.0 + 1.0) });
        }
    }

    #[test]
    fn seven_clean_rounds_reach_the_greatest_increment() {
        // log2(1 / 0.01) = 6.6.
        let mut control = afw(AfwConfig::default());
        for n in 1..=6 {
            rounds(&mut control, 1);
            assert_eq!(increment(&control), 0.01 * f64::from(1 << n));
        }
        rounds(&mut control, 1);
        assert_eq!(increment(&control), 1.0);
        rounds(&mut control, 5);
        assert_eq!(increment(&control), 1.0);
        let before = control.window().0;
        control.on_ack(&Ack { in_flight: control.window(), ..ack(1.0) });
        assert_eq!(control.window().0, before + 1.0 / before, "as NewReno does");
    }

    #[test]
    fn a_timeout_divides_and_a_hole_does_not() {
        let mut control = afw(AfwConfig { beta: 4.0, ..AfwConfig::default() });
        rounds(&mut control, 7);
        control.on_loss(&loss(Cause::FastRetransmit, 4.0));
        assert_eq!((increment(&control), control.window().0), (1.0, 2.0));
        control.on_loss(&loss(Cause::Timeout, 4.0));
        assert_eq!((increment(&control), control.window().0), (0.25, 1.0));
        for _ in 0..5 {
            control.on_loss(&loss(Cause::Timeout, 4.0));
        }
        assert_eq!(increment(&control), 0.01, "never below the least");
        let settings = AfwConfig { congested: Congested::AnyLoss, ..AfwConfig::default() };
        let mut control = afw(settings);
        rounds(&mut control, 7);
        control.on_loss(&loss(Cause::FastRetransmit, 4.0));
        assert_eq!(increment(&control), 0.5);
    }

    #[test]
    fn a_round_with_a_loss_is_not_idle() {
        let mut control = afw(AfwConfig {
            epoch: Epoch::Rounds(CleanRounds { number: 3 }),
            ..AfwConfig::default()
        });
        rounds(&mut control, 2);
        control.on_loss(&loss(Cause::FastRetransmit, 4.0));
        control.reno.steer(Segments(4.0));
        rounds(&mut control, 3);
        assert_eq!(increment(&control), 0.01, "the first of these had the loss");
        rounds(&mut control, 1);
        assert_eq!(increment(&control), 0.02);
        rounds(&mut control, 3);
        assert_eq!(increment(&control), 0.04);
    }

    #[test]
    fn once_between_timeouts_means_once() {
        let mut control = afw(AfwConfig { epoch: Epoch::Timeouts, ..AfwConfig::default() });
        rounds(&mut control, 5);
        assert_eq!(increment(&control), 0.02);
        control.on_loss(&loss(Cause::FastRetransmit, 4.0));
        control.reno.steer(Segments(4.0));
        rounds(&mut control, 5);
        assert_eq!(increment(&control), 0.02, "a hole does not count as a timeout");
        control.on_loss(&loss(Cause::Timeout, 4.0));
        assert_eq!(increment(&control), 0.01);
        control.reno.steer(Segments(4.0));
        rounds(&mut control, 5);
        assert_eq!(increment(&control), 0.02);
    }

    #[test]
    fn the_gate_lets_the_increment_rise_below_the_product_and_fall_above() {
        // 30 hops in a round trip hold 6 segments.
        let mut control = afw(AfwConfig { gate_hops: Some(30), ..AfwConfig::default() });
        rounds(&mut control, 3);
        assert_eq!(increment(&control), 0.08);
        control.on_loss(&loss(Cause::Timeout, 4.0));
        assert_eq!(increment(&control), 0.08, "4 segments did not fill the path");
        control.reno.steer(Segments(6.0));
        rounds(&mut control, 3);
        assert_eq!(increment(&control), 0.08);
        control.on_loss(&loss(Cause::Timeout, 6.0));
        assert_eq!(increment(&control), 0.04);
    }

    #[test]
    fn the_route_gives_the_hops_of_the_gate() {
        let mut control = afw(AfwConfig { gate_route: true, ..AfwConfig::default() });
        rounds(&mut control, 1);
        assert_eq!(increment(&control), 0.02, "no route is known yet");
        // 10 hops there and 10 back hold 4 segments.
        control.on_hint(&Hint::RouteHops(10));
        rounds(&mut control, 1);
        assert_eq!(increment(&control), 0.02);
        control.on_hint(&Hint::RouteHops(15));
        rounds(&mut control, 1);
        assert_eq!(increment(&control), 0.04);
    }
}
