//! A congestion control for the test of extensions: the window never changes.

use super::{Ack, Connection, Control, Controller, Loss};
use kernel::Segments;
use settings::Settings;

/// A constant window.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ToyControlConfig {
    /// The window in segments.
    #[setting(default = 4, range = 1..=100)]
    pub window_segments: u32,
}

impl Controller for ToyControlConfig {
    fn build(&self, _: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Toy { window: Segments(f64::from(self.window_segments)) })
    }
}

#[derive(Debug)]
struct Toy {
    window: Segments,
}

impl Control for Toy {
    fn on_ack(&mut self, _: &Ack) {}

    fn on_loss(&mut self, _: &Loss) {}

    fn window(&self) -> Segments {
        self.window
    }
}
