//! A jammer that is always on.

use super::{Burst, Source, SourceKind, Spectrum, Surroundings};
use kernel::Instant;
use settings::Settings;

/// A jammer that is always on, in every channel.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Jammer")]
pub struct JammerSettings {}

impl SourceKind for JammerSettings {
    fn build(&self, _: &Surroundings) -> Box<dyn Source> {
        Box::new(Jammer {})
    }
}

#[derive(Debug)]
struct Jammer {}

impl Source for Jammer {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let (start, end) = (Instant::ZERO, Instant::NEVER);
        (at < end).then_some(Burst { start, end, device: 0, spectrum: Spectrum::EVERYWHERE })
    }
}
