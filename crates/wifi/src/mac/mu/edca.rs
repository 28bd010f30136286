//! MU EDCA: how stations contend that the access point has triggered (802.11ax-2021 clause 26.2.7).

use crate::phy::AccessCategory;
use kernel::Duration;
use settings::{Faults, Path, Range, Settings};

/// The unit of the timer: 8 TU (clause 9.4.2.251).
const UNIT: Duration = Duration::from_micros(8 * 1024);

/// The MU EDCA parameters of the access categories of stations. A category without a timer, and one
/// without a table, contends as always.
///
/// The timer of a category starts, or starts anew, when a station receives the acknowledgement of
/// data that a Basic Trigger frame has asked for. While it runs the station contends by these
/// parameters. Its contention window changes with the next success or failure; its back-off is not
/// drawn anew.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct MuEdca {
    /// `AC_BK`.
    pub background: Option<MuEdcaCategory>,
    /// `AC_BE`.
    pub best_effort: Option<MuEdcaCategory>,
    /// `AC_VI`.
    pub video: Option<MuEdcaCategory>,
    /// `AC_VO`.
    pub voice: Option<MuEdcaCategory>,
}

/// The MU EDCA parameters of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(check = window)]
pub struct MuEdcaCategory {
    /// AIFSN: the slots of the AIFS after its SIFS. 0: the category does not contend, and its
    /// back-off stands still.
    #[setting(default = 0, range = 0..=15)]
    pub aifsn: u32,
    /// Smallest contention window in slots, of the form 2^k - 1.
    #[setting(default = 15, range = Range::CONTENTION_WINDOW)]
    pub cw_min: u32,
    /// Largest contention window in slots, of the form 2^k - 1.
    #[setting(default = 1023, range = Range::CONTENTION_WINDOW)]
    pub cw_max: u32,
    /// The timer in units of 8.192 ms (8 TU); 0 is none. hostapd's example has 255, which is 2.089
    /// s.
    #[setting(default = 0, range = 0..=255)]
    pub timer: u32,
}

fn window(category: &MuEdcaCategory, at: &Path, faults: &mut Faults) {
    let MuEdcaCategory { aifsn, cw_min, cw_max, .. } = *category;
    if cw_min > cw_max {
        let message = format!("{cw_min} is more than cw_max, {cw_max}");
        faults.fault(at.key("cw_min"), message);
    }
    if aifsn == 1 {
        let message = "of stations is 0 or at least 2 [802.11-2020 9.4.2.28], is 1";
        faults.fault(at.key("aifsn"), message);
    }
}

impl MuEdcaCategory {
    /// How long its parameters hold.
    pub fn lasts(&self) -> Duration {
        UNIT * u64::from(self.timer)
    }
}

impl MuEdca {
    /// The parameters of a category that has a timer.
    pub fn of(&self, category: AccessCategory) -> Option<&MuEdcaCategory> {
        let own = match category {
            AccessCategory::Background => &self.background,
            AccessCategory::BestEffort => &self.best_effort,
            AccessCategory::Video => &self.video,
            AccessCategory::Voice => &self.voice,
        };
        own.as_ref().filter(|own| own.timer > 0)
    }
}
