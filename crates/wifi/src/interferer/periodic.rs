//! Bursts of one length in periods of one length.

use super::bluetooth::random_phase;
use super::{Burst, Source, Spectrum, Surroundings};
use kernel::{Duration, Instant};

/// A source that is on at the beginning of each period.
#[derive(Debug)]
pub(super) struct Periodic {
    on: Duration,
    period: Duration,
    /// How long before the start of the run a period begins.
    lead: u64,
    spectrum: Spectrum,
}

impl Periodic {
    /// A source that is on for `on` in each period. A period begins at `phase`, by default at a
    /// random phase.
    pub(super) fn new(
        surroundings: &Surroundings,
        on: Duration,
        period: Duration,
        phase: Option<Duration>,
        spectrum: Spectrum,
    ) -> Self {
        let phase = phase.unwrap_or_else(|| random_phase(surroundings, period));
        let lead = (period.0 - phase.0 % period.0) % period.0;
        Self { on, period, lead, spectrum }
    }
}

impl Source for Periodic {
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let mut begin = (at.0 + self.lead) / self.period.0 * self.period.0;
        if begin + self.on.0 <= at.0 + self.lead {
            begin += self.period.0;
        }
        let end = begin.saturating_add(self.on.0);
        let [start, end] = [begin, end].map(|time| Instant(time.saturating_sub(self.lead)));
        Some(Burst { start, end, device: 0, spectrum: self.spectrum })
    }
}
