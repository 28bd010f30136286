//! The keys of interferers.

use super::limits::LONGEST_S;
use super::radio::FARTHEST_M;
use kernel::{Dbm, Instant};
use settings::Settings;
use wifi::interferer::SourceSettings;

/// A transmitter near the network that is not 802.11. Without a table `[radio]` each of its bursts
/// destroys the frames that it overlaps in the channel. With one its power adds to the
/// interference.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Interferer {
    /// Its name in reports. Default: its source.
    pub name: Option<String>,
    /// What it sends, and when; required.
    #[setting(required = "as \"sco\"")]
    pub source: SourceSettings,
    /// It sends from this time on, in seconds.
    #[setting(key = "start_s", default = 0.0, range = 0.0..=LONGEST_S)]
    pub start: Instant,
    /// It sends until this time, in seconds. Default: the end of the run.
    #[setting(key = "stop_s", range = 0.0..=LONGEST_S)]
    pub stop: Option<Instant>,
    /// Where there is no radio: that it destroys each frame that it overlaps; required.
    pub corrupts: bool,
    /// Its position in metres east and north; required with a radio.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Its transmit power, antenna gain included; required with a radio.
    #[setting(key = "tx_power_dbm", range = -50.0..=90.0)]
    pub tx_power: Option<Dbm>,
    /// The position of the second device of a Bluetooth link; required with a radio.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub peer_position_m: Option<Vec<f64>>,
    /// The transmit power of the second device. Default: `tx_power_dbm`.
    #[setting(key = "peer_tx_power_dbm", range = -50.0..=90.0)]
    pub peer_tx_power: Option<Dbm>,
    /// Whether energy detection of the radios hears it: a burst at or above `radio.energy_dbm` then
    /// makes the medium busy. Default with a radio: true.
    pub sensed: Option<bool>,
}
