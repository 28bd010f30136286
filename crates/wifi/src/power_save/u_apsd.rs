//! Unscheduled automatic power save delivery.

use super::{Fetch, Listening, PowerSave, PowerSaveMode};
use settings::Settings;

/// U-APSD (clause 11.2.3.5): each frame that the station sends is a trigger frame, by which its
/// access point begins a service period and sends buffered frames. All access categories are
/// trigger-enabled and delivery-enabled; requires access categories (`wlan.qos`).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "UApsd")]
pub struct UApsdSettings {
    /// The most frames of a service period: 2, 4 or 6 (Max SP Length, clause 9.4.1.17). Default:
    /// all that the access point buffers.
    pub max_sp_frames: Option<MaxSpFrames>,
    /// For which beacons the station wakes.
    #[setting(flatten)]
    pub listening: Listening,
}

/// The Max SP Length of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxSpFrames {
    /// 2 frames.
    Two,
    /// 4 frames.
    Four,
    /// 6 frames.
    Six,
}

settings::numbered! { MaxSpFrames, "integer": 2 => Self::Two, 4 => Self::Four, 6 => Self::Six }

impl MaxSpFrames {
    fn frames(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Six => 6,
        }
    }
}

impl PowerSaveMode for UApsdSettings {
    fn rules(&self) -> PowerSave {
        let most = self.max_sp_frames.map_or(u32::MAX, MaxSpFrames::frames);
        PowerSave { fetch: Fetch::Trigger(most), listening: self.listening }
    }
}
