//! A fixed congestion window, which an experiment or an agent outside of the simulator sets.

use super::{Ack, Connection, Control, Controller, Event, Hint, Loss, Wants};
use kernel::Segments;
use settings::Settings;

/// A fixed congestion window: no acknowledgement, loss or mark changes it. `simoom.gym` may set it
/// during a run.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "FixedWindow")]
pub struct FixedWindowConfig {
    /// The congestion window in segments.
    #[setting(key = "window_segments", default = 10.0, range = 1.0..=1e6)]
    pub window: f64,
}

impl Controller for FixedWindowConfig {
    fn build(&self, _: &Connection<'_>) -> Box<dyn Control> {
        Box::new(FixedWindow(Segments(self.window)))
    }

    fn set_window(&self) -> Option<Segments> {
        Some(Segments(self.window))
    }
}

/// A window that only [`Hint::Window`] changes.
#[derive(Clone, Copy, Debug)]
struct FixedWindow(Segments);

impl FixedWindow {
    fn on_hint(&mut self, hint: &Hint) {
        if let Hint::Window(window) = hint {
            self.0 = *window;
        }
    }
}

impl Control for FixedWindow {
    fn window(&self) -> Segments {
        self.0
    }

    fn on_ack(&mut self, _: &Ack) {}

    fn on_loss(&mut self, _: &Loss) {}

    fn on_event(&mut self, event: Event<'_>) {
        if let Event::Hint(hint) = event {
            self.on_hint(hint);
        }
    }

    fn wants(&self) -> Wants {
        Wants { own_window: true, ..Wants::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack, loss};
    use crate::{Cause, Config, control::NoExternal};
    use wire::FlowId;

    #[test]
    fn only_a_hint_changes_the_window() {
        let config = FixedWindowConfig { window: 7.0 };
        let connection =
            Connection { config: &Config::default(), flow: FlowId(0), external: &NoExternal };
        let mut control = config.build(&connection);
        assert_eq!(config.set_window(), Some(Segments(7.0)));
        control.on_ack(&ack(3.0));
        control.on_loss(&loss(Cause::Timeout, 7.0));
        control.on_loss(&loss(Cause::FastRetransmit, 7.0));
        assert_eq!(control.window(), Segments(7.0));
        control.on_event(Event::Hint(&Hint::RouteHops(3)));
        assert_eq!(control.window(), Segments(7.0));
        control.on_event(Event::Hint(&Hint::Window(Segments(31.0))));
        assert_eq!(control.window(), Segments(31.0));
    }
}
