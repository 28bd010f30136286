//! A source for the test of extensions: one burst.

use super::{Burst, Source, SourceKind, Spectrum, Surroundings};
use kernel::{Duration, Instant};
use settings::Settings;

/// Sends one burst of a millisecond.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "ToyInterference")]
pub struct ToySourceConfig {
    /// When it begins, in seconds.
    #[setting(key = "at_s", default = 1.0, range = 0.0..=10.0)]
    pub at: Instant,
}

impl SourceKind for ToySourceConfig {
    fn build(&self, _: &Surroundings) -> Box<dyn Source> {
        Box::new(Toy { at: self.at })
    }
}

#[derive(Debug)]
struct Toy {
    at: Instant,
}

impl Source for Toy {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let (start, end) = (self.at, self.at + Duration::from_millis(1));
        (end > at).then_some(Burst { start, end, device: 0, spectrum: Spectrum::EVERYWHERE })
    }
}
