//! A jammer that reacts to frames.

use super::{Burst, HISTORY, Source, SourceKind, Spectrum, Surroundings};
use kernel::{Duration, Instant, Rng};
use settings::{Range, Settings};
use std::collections::VecDeque;

/// A jammer that sends a burst in every channel when it has heard the beginning of a frame (W. Xu,
/// W. Trappe, Y. Zhang, T. Wood, "The feasibility of launching and detecting jamming attacks in
/// wireless networks", `MobiHoc` 2005). It misses frames that begin during a burst.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Reactive")]
pub struct ReactiveSettings {
    /// Time from the start of a frame to the start of the burst, in microseconds. A jammer cannot
    /// react at once.
    #[setting(key = "delay_us", default = 20.0, range = 0.1..=10_000.0)]
    pub delay: Duration,
    /// Length of a burst in microseconds.
    #[setting(key = "burst_us", default = 50.0, range = 0.1..=10_000.0)]
    pub burst: Duration,
    /// Probability that it reacts to a frame.
    #[setting(default = 1.0, range = Range::FRACTION)]
    pub probability: f64,
}

impl SourceKind for ReactiveSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        Box::new(Reactive {
            settings: self.clone(),
            rng: surroundings.seed.stream("interferer.reaction", surroundings.index),
            bursts: VecDeque::new(),
        })
    }
}

#[derive(Debug)]
struct Reactive {
    settings: ReactiveSettings,
    rng: Rng,
    /// The latest bursts, in the order of time.
    bursts: VecDeque<Burst>,
}

impl Source for Reactive {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        self.bursts.iter().find(|burst| burst.end > at).copied()
    }

    fn reacts(&self) -> bool {
        true
    }

    fn on_frame(&mut self, start: Instant, end: Instant) {
        self.bursts.retain(|burst| burst.end + HISTORY > start);
        let begins = start + self.settings.delay;
        // The frame must last until then, and the jammer does not hear it during its own burst.
        let is_heard = end > begins && self.bursts.back().is_none_or(|last| last.end <= start);
        if is_heard && self.rng.chance(self.settings.probability) {
            let (start, end) = (begins, begins + self.settings.burst);
            self.bursts.push_back(Burst { start, end, device: 0, spectrum: Spectrum::EVERYWHERE });
        }
    }
}
