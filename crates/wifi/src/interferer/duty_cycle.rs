//! A source that is on for a part of each period.

use super::periodic::Periodic;
use super::{Source, SourceKind, Spectrum, Surroundings};
use kernel::Duration;
use settings::{Faults, Path, Settings, number, said};

/// A source that is on for a part of each period, in every channel.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "DutyCycle", check = on_is_within_the_period)]
pub struct DutyCycleSettings {
    /// How long it is on in each period, in milliseconds.
    #[setting(key = "on_ms", default = 1.0, range = 0.001..=1e6)]
    pub on: Duration,
    /// The period in milliseconds.
    #[setting(key = "period_ms", default = 10.0, range = 0.002..=1e6)]
    pub period: Duration,
    /// When a period begins, in milliseconds. Default: a random phase.
    #[setting(key = "phase_ms", range = 0.0..=1e6)]
    pub phase: Option<Duration>,
}

fn on_is_within_the_period(cycle: &DutyCycleSettings, at: &Path, faults: &mut Faults) {
    if cycle.on >= cycle.period {
        let [on, period] = [cycle.on, cycle.period].map(|time| number(time.as_secs_f64() * 1e3));
        let message = said!(
            "{on} is not below period_ms, {period}",
            "a source that is always on is a \"jammer\""
        );
        faults.fault(at.key("on_ms"), message);
    }
}

impl SourceKind for DutyCycleSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let band = Spectrum::EVERYWHERE;
        Box::new(Periodic::new(surroundings, self.on, self.period, self.phase, band))
    }
}
