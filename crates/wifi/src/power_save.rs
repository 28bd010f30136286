//! Power save of stations (802.11-2020 clause 11.2): what a station does and what its access point
//! buffers, as two machines. Neither sees the medium: their caller passes packets, frames and TBTTs
//! and carries out their commands.

mod access_point;
mod station;

pub use access_point::{AccessPoint, Held, Request, Tim};
pub use station::{Command, Station};
pub use twt::ServicePeriods;

use kernel::Duration;
use settings::{Choice, Settings};

settings::registry! {
    /// How a station saves power.
    #[settings(name = "PowerSave")]
    pub enum PowerSaveSettings: PowerSaveMode = Legacy;
    legacy: Legacy(LegacySettings),
    u_apsd: UApsd(UApsdSettings),
    twt: Twt(TwtSettings),
}

/// The settings of a way to save power.
pub trait PowerSaveMode {
    /// The rules that a station and its access point follow.
    fn rules(&self) -> PowerSave;
}

/// For which beacons a station wakes.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Listening {
    /// The station wakes for each beacon of this number (clause 9.4.1.6). Default: the DTIM period,
    /// so that it wakes for DTIMs.
    #[setting(range = 1..=65_535)]
    pub listen_interval: Option<u32>,
    /// Whether it wakes for each DTIM too, after which access points send group addressed frames.
    #[setting(default = true)]
    pub receive_dtims: bool,
    /// How long in ms it waits for a beacon that does not come, before it sleeps again.
    #[setting(key = "beacon_timeout_ms", default = 10.0, range = 0.1..=1000.0)]
    pub beacon_timeout: Duration,
}

/// How a station gets the frames that its access point buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Retrieval {
    /// It wakes: a Null frame says that it saves no power. After a time without traffic another one
    /// says that it does.
    #[default]
    Wake,
    /// It saves power all the time, and fetches each frame by a PS-Poll.
    PsPoll,
}

/// How a station gets the frames that its access point buffers, and how long it stays awake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fetch {
    /// It wakes by a Null frame, and sleeps after this time without traffic.
    Wake(Duration),
    /// By one PS-Poll for each frame.
    PsPoll,
    /// By trigger frames, each of which begins a service period of at most so many frames.
    Trigger(u32),
    /// In service periods at agreed times.
    Scheduled(ServicePeriods),
}

impl Fetch {
    /// Whether the station sends in answer to Trigger frames only.
    pub fn is_triggered(&self) -> bool {
        matches!(self, Self::Scheduled(ServicePeriods { triggered: true, .. }))
    }
}

/// The rules of a station that saves power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerSave {
    /// How it gets the frames that its access point buffers.
    pub fetch: Fetch,
    /// For which beacons it wakes.
    pub listening: Listening,
}

/// The frames that an access point buffers for a station and access category; beyond that the
/// oldest is dropped, as in Linux.
pub const MOST_BUFFERED: usize = 64;
/// Group addressed frames that it buffers.
pub const MOST_GROUP: usize = 128;
