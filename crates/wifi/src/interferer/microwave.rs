//! A microwave oven.

use super::periodic::Periodic;
use super::{Source, SourceKind, Spectrum, Surroundings};
use kernel::Duration;
use settings::Settings;

/// A microwave oven: its magnetron is on for one half-wave of each cycle of the mains (A. Kamerman
/// and N. Erkocevic, "Microwave oven interference on wireless LANs operating in the 2.4 GHz ISM
/// band", PIMRC 1997).
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "Microwave")]
pub struct MicrowaveSettings {
    /// Frequency of the mains.
    #[setting(default = 50.0, range = 40.0..=70.0)]
    pub mains_hz: f64,
    /// The part of a cycle in which it is on.
    #[setting(default = 0.5, range = 0.01..=0.99)]
    pub on_fraction: f64,
    /// Middle of the band that it occupies, in MHz.
    #[setting(default = 2450.0, range = 2000.0..=3000.0)]
    pub centre_mhz: f64,
    /// Width of that band in MHz. The power is uniform in it.
    #[setting(default = 80.0, range = 3.0..=500.0)]
    pub width_mhz: f64,
    /// When a half-wave begins, in milliseconds. Default: a random phase.
    #[setting(key = "phase_ms", range = 0.0..=1e6)]
    pub phase: Option<Duration>,
}

impl SourceKind for MicrowaveSettings {
    fn build(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        let period = Duration::from_secs_f64(1.0 / self.mains_hz);
        let on = Duration::from_secs_f64(self.on_fraction / self.mains_hz);
        let spectrum = Spectrum::around(self.centre_mhz, self.width_mhz);
        Box::new(Periodic::new(surroundings, on, period, self.phase, spectrum))
    }
}
