//! `DCTCP`: reduces the window in proportion to the share of marked packets (RFC 8257).

use super::{Ack, Cause, Connection, Control, Controller, Event, Loss, NewReno};
use crate::{Config, Feedback};
use kernel::Segments;
use settings::Settings;

/// Data Center TCP (RFC 8257). It needs `ecn = "each_mark"`, the feedback of RFC 8257, or
/// `"accurate"`; without ECN it is `NewReno`.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Dctcp")]
pub struct DctcpConfig {
    /// The weight g of a new share of marked packets (section 3.3).
    #[setting(default = 0.0625, range = 1e-6..=1.0)]
    pub gain: f64,
    /// The estimate alpha at the start (section 4.2).
    #[setting(default = 1.0, range = 0.0..=1.0)]
    pub alpha: f64,
    /// Whether alpha is computed in integers of 1/1024, as in Linux: a value below 16/1024 falls to
    /// 0. The weight is then a power of two, the next below `gain`.
    pub integers: bool,
}

impl Controller for DctcpConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Dctcp::new(connection.config, *self))
    }
}

/// One, in Linux's integers.
const ONE: u64 = 1024;

/// The estimate of the share of marked packets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Alpha {
    Real { value: f64, gain: f64 },
    Integer { value: u64, shift: u32 },
}

impl Alpha {
    fn new(settings: &DctcpConfig) -> Self {
        if settings.integers {
            let shift = libm::ceil(-libm::log2(settings.gain)).clamp(0.0, 10.0) as u32;
            Self::Integer { value: (settings.alpha * ONE as f64) as u64, shift }
        } else {
            Self::Real { value: settings.alpha, gain: settings.gain }
        }
    }

    /// A window of observation is over, in which `marked` of `delivered` segments were marked.
    fn update(&mut self, marked: f64, delivered: f64) {
        match self {
            Self::Real { value, gain } => *value += *gain * (marked / delivered - *value),
            Self::Integer { value, shift } => {
                // `dctcp_update_alpha`: the decay is never 0, so that a small value disappears.
                let decay = *value >> *shift;
                *value -= if decay == 0 { *value } else { decay };
                let added = marked * f64::from(1_u32 << (10 - *shift)) / delivered;
                *value = (*value + added as u64).min(ONE);
            }
        }
    }

    fn get(self) -> f64 {
        match self {
            Self::Real { value, .. } => value,
            Self::Integer { value, .. } => value as f64 / ONE as f64,
        }
    }
}

/// The response to marks of RFC 8257 over `NewReno`'s growth and response to losses.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: NewReno,
    alpha: Alpha,
    /// How much was marked and delivered in the current window of observation, and how much is to
    /// be delivered until its end.
    marked: f64,
    delivered: f64,
    left: f64,
    /// How much is to be delivered until the window may grow again after a mark.
    held: f64,
    /// Whether marks tell of each packet.
    feedback: bool,
}

impl Dctcp {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: DctcpConfig) -> Self {
        Self {
            reno: NewReno::from(config),
            alpha: Alpha::new(&settings),
            marked: 0.0,
            delivered: 0.0,
            left: 0.0,
            held: 0.0,
            feedback: true,
        }
    }

    /// Counts an acknowledgement, before it ends the window of observation (§3.3: the estimate is
    /// updated when all data that was outstanding at the beginning is acknowledged).
    fn observe(&mut self, ack: &Ack) {
        self.marked += ack.marked.0;
        self.delivered += ack.delivered.0;
        if self.delivered + 1e-6 >= self.left && self.delivered > 0.0 {
            self.alpha.update(self.marked.min(self.delivered), self.delivered);
            (self.marked, self.delivered, self.left) = (0.0, 0.0, ack.in_flight.0);
        }
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_connected(&mut self, feedback: Feedback) {
        self.feedback = feedback != Feedback::None;
    }
}

impl Control for Dctcp {
    fn window(&self) -> Segments {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.feedback {
            self.observe(ack);
        }
        self.held -= ack.delivered.0;
        if self.held < 1e-6 {
            self.reno.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Ecn && self.feedback {
            // §3.3, step 9: by the estimate of the last complete window.
            self.held = loss.in_flight.0;
            let window = self.reno.window().0;
            self.reno.reduce(loss, window * (1.0 - 0.5 * self.alpha.get()));
        } else {
            self.reno.on_loss(loss);
        }
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Connected(feedback) => self.on_connected(feedback),
            Event::Undo => self.on_undo(),
            _ => {}
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(visit);
        visit("mark_share", if self.feedback { self.alpha.get() } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack, config, gauge, loss};

    fn alpha(settings: DctcpConfig) -> impl FnMut(f64) -> f64 {
        let mut alpha = Alpha::new(&settings);
        move |share| {
            alpha.update(share * 16.0, 16.0);
            alpha.get()
        }
    }

    #[test]
    fn integers_are_those_of_linux() {
        let settings = DctcpConfig { integers: true, ..DctcpConfig::default() };
        let mut next = alpha(settings);
        let values: Vec<_> = (0..5).map(|_| next(0.0) * 1024.0).collect();
        assert_eq!(values, [960.0, 900.0, 844.0, 792.0, 743.0]);
        let values = (0..100).map(|_| next(0.0) * 1024.0);
        let last: Vec<_> = values.skip_while(|it| *it > 16.0).collect();
        assert_eq!(last[..3], [16.0, 15.0, 0.0], "it snaps to zero");
        let mut full = alpha(settings);
        assert_eq!((0..100).map(|_| full(1.0)).fold(0.0, f64::max), 1.0, "at most one");
    }

    #[test]
    fn the_estimate_follows_the_share() {
        let mut next = alpha(DctcpConfig { alpha: 0.0, ..DctcpConfig::default() });
        let values: Vec<_> = (0..4).map(|_| (next(0.25) * 1e5).round() / 1e5).collect();
        assert_eq!(values, [0.01563, 0.03027, 0.04401, 0.05688]);
    }

    #[test]
    fn a_mark_reduces_by_half_of_the_estimate_and_a_loss_by_half() {
        let settings = DctcpConfig { alpha: 0.5, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config(), settings);
        dctcp.on_connected(Feedback::Accurate);
        assert_eq!(dctcp.window(), Segments(10.0));
        dctcp.on_loss(&loss(Cause::Ecn, 10.0));
        assert_eq!(dctcp.window(), Segments(7.5));
        dctcp.on_loss(&loss(Cause::FastRetransmit, 7.5));
        assert_eq!(dctcp.window(), Segments(3.75));
        assert_eq!(gauge(&dctcp, "mark_share"), Some(0.5));
    }

    #[test]
    fn without_ecn_it_is_new_reno() {
        let mut dctcp = Dctcp::new(&config(), DctcpConfig::default());
        dctcp.on_connected(Feedback::None);
        dctcp.on_ack(&ack(2.0));
        dctcp.on_loss(&loss(Cause::FastRetransmit, 12.0));
        assert_eq!((dctcp.window(), gauge(&dctcp, "mark_share")), (Segments(6.0), Some(0.0)));
    }

    #[test]
    fn the_estimate_is_updated_once_a_window() {
        let settings = DctcpConfig { alpha: 0.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config(), settings);
        dctcp.on_connected(Feedback::Accurate);
        // The first acknowledgement begins a window of ten.
        dctcp.on_ack(&ack(1.0));
        for _ in 0..9 {
            dctcp.on_ack(&Ack { marked: Segments(1.0), ..ack(1.0) });
            assert_eq!(gauge(&dctcp, "mark_share"), Some(0.0));
        }
        dctcp.on_ack(&ack(1.0));
        assert_eq!(gauge(&dctcp, "mark_share"), Some(0.9 / 16.0));
    }
}
