//! The congestion control of a script, with a bounded window.

use crate::control::{Event, Wants};
use crate::{Ack, Control, Loss};
use kernel::Segments;

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

    fn on_event(&mut self, event: Event<'_>) {
        self.0.on_event(event);
    }

    fn wants(&self) -> Wants {
        self.0.wants()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(visit);
    }
}
