//! The congestion control of a script, with a bounded window.

use crate::control::Departing;
use crate::{Ack, Control, Hint, Loss};
use kernel::{BitRate, Instant, Segments};

/// The largest window in segments that a script may reach.
const MOST_WINDOW: f64 = 50_000.0;

/// A congestion control whose window no script can raise without bound.
#[derive(Debug)]
pub(super) struct Bounded(pub(super) Box<dyn Control>);

impl Control for Bounded {
    fn window(&self) -> Segments {
        Segments(self.0.window().0.min(MOST_WINDOW))
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn on_undo(&mut self) {
        self.0.on_undo();
    }

    fn owns_window(&self) -> bool {
        self.0.owns_window()
    }

    fn wants_delivery(&self) -> bool {
        self.0.wants_delivery()
    }

    fn on_send(&mut self, departing: &Departing) {
        self.0.on_send(departing);
    }

    fn timer(&self) -> Option<Instant> {
        self.0.timer()
    }

    fn on_timer(&mut self, now: Instant) {
        self.0.on_timer(now);
    }

    fn on_hint(&mut self, hint: &Hint) {
        self.0.on_hint(hint);
    }

    fn pacing(&self) -> Option<BitRate> {
        self.0.pacing()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(visit);
    }
}
