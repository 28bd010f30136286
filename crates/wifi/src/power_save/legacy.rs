//! Legacy power save.

use super::{Fetch, Listening, PowerSave, PowerSaveMode, Retrieval};
use kernel::Duration;
use settings::{Faults, Path, Said, Settings};

/// How long a station stays awake without traffic, if nothing else is given: that of Linux.
const TIMEOUT: Duration = Duration::from_millis(100);

/// Legacy power save (clause 11.2.3): the station announces by the Power Management bit that it
/// sleeps, and learns from the TIM of beacons that its access point buffers frames.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "LegacyPowerSave", check = timeout_is_used)]
pub struct LegacySettings {
    /// How the station gets buffered frames.
    pub retrieval: Retrieval,
    /// With "wake": how long in ms the station stays awake without traffic. Default: 100, as in
    /// Linux.
    #[setting(key = "timeout_ms", range = 1.0..=100_000.0)]
    pub timeout: Option<Duration>,
    /// For which beacons the station wakes.
    #[setting(flatten)]
    pub listening: Listening,
}

fn timeout_is_used(settings: &LegacySettings, at: &Path, faults: &mut Faults) {
    if settings.timeout.is_some() && settings.retrieval == Retrieval::PsPoll {
        let message =
            Said::remove("with retrieval = \"ps_poll\" the station saves power all the time");
        faults.fault(at.key("timeout_ms"), message);
    }
}

impl PowerSaveMode for LegacySettings {
    fn rules(&self) -> PowerSave {
        let fetch = match self.retrieval {
            Retrieval::Wake => Fetch::Wake(self.timeout.unwrap_or(TIMEOUT)),
            Retrieval::PsPoll => Fetch::PsPoll,
        };
        PowerSave { fetch, listening: self.listening }
    }
}
