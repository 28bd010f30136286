//! Roaming: a station that moves changes to the access point that it receives best (802.11-2020
//! clauses 4.5.3.4 and 11.3). [`Client`] is the machine of such a station. It does not see the
//! medium: its caller passes beacons, frames and TBTTs, and carries out its commands.

mod client;

pub use client::{Client, Command, Handover};

use kernel::{Db, Dbm, Duration};
use settings::{Choice, Settings};

/// How a station finds access points in a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Scan {
    /// It learns of all access points whose signal it detects, as if they answered Probe Requests.
    #[default]
    Active,
    /// It learns of those of which it receives a beacon.
    Passive,
}

/// When a station scans for other access points, and how it changes to one of them (802.11-2020
/// clause 4.5.3.4).
///
/// A station scans when the beacons of its access point are weaker than `threshold_dbm`, and
/// changes to the strongest access point if that is stronger by `hysteresis_db`. It then sends an
/// Authentication frame and a Reassociation Request, each of which the access point answers.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Roaming")]
pub struct Roaming {
    /// Signal of a beacon in dBm below which the station scans. The default is that of Apple's
    /// devices, and of `bgscan="simple:30:-70:86400"` in `wpa_supplicant`.
    #[setting(key = "threshold_dbm", default = -70.0, range = -120.0..=0.0)]
    pub threshold: Dbm,
    /// By how many dB another access point must be stronger. The default is that of Apple's devices
    /// that transmit.
    #[setting(key = "hysteresis_db", default = 8.0, range = 0.0..=100.0)]
    pub hysteresis: Db,
    /// Least time in s between two scans while the signal is below the threshold. The default is
    /// that of the same setting of `wpa_supplicant`.
    #[setting(key = "short_interval_s", default = 30.0, range = 0.01..=1e6)]
    pub short_interval: Duration,
    /// Time in s between two scans while it is not. The default is that of
    /// `bgscan="simple:30:-65:300"`.
    #[setting(key = "long_interval_s", default = 300.0, range = 0.01..=1e6)]
    pub long_interval: Duration,
    /// How the station finds access points in a channel.
    pub scan: Scan,
    /// Time in ms that it stays in each channel. Default: 30 if it scans actively, and 110 if
    /// passively, about as in Linux (`IEEE80211_CHANNEL_TIME`, `IEEE80211_PASSIVE_CHANNEL_TIME`).
    #[setting(key = "channel_time_ms", range = 1.0..=10_000.0)]
    pub channel_time: Option<Duration>,
    /// Number of channels that it scans: those of all cells, and others in which there is no cell.
    /// Default: those of all cells.
    #[setting(range = 1..=200)]
    pub scan_channels: Option<u32>,
    /// Whether the station tells its access point by Null frames when it scans other channels, as
    /// in Linux: the access point then buffers packets for it, as for a station that saves power.
    #[setting(default = true)]
    pub announce: bool,
    /// Beacons of its access point in sequence that the station misses before it looks for another
    /// one. The default is that of Linux.
    #[setting(default = 7, range = 1..=1000)]
    pub beacon_losses: u32,
    /// Time in ms from the Reassociation Response to the first data: 802.1X and the 4-way
    /// handshake. 0 is an open network, or a fast BSS transition (clause 13), whose keys are in
    /// these frames.
    #[setting(key = "authentication_ms", range = 0.0..=60_000.0)]
    pub authentication: Duration,
    /// Whether the access point that the station leaves passes the packets that wait for it to the
    /// new one; otherwise they are lost.
    pub forward: bool,
}

impl Roaming {
    /// The time in each channel of a scan.
    pub fn dwell(&self) -> Duration {
        self.channel_time.unwrap_or(match self.scan {
            Scan::Active => Duration::from_millis(30),
            Scan::Passive => Duration::from_millis(110),
        })
    }
}
