//! The settings of beacons.

use kernel::{BitRate, Bytes, Duration};
use settings::Settings;

/// The beacons of each access point (802.11-2020 clause 11.1.3.2).
///
/// At each target beacon transmission time (TBTT) an access point takes a beacon into service
/// before all packets that wait, and sends it by DCF or, with access categories, as voice. It is a
/// broadcast: no ACK follows, and a beacon that collides is lost.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Beacons {
    /// Time between two TBTTs in time units of 1024 us (clause 9.4.1.3).
    #[setting(key = "interval_tu", default = 100, range = 15..=65_535)]
    pub interval: u32,
    /// Each beacon of this number is a DTIM (clause 9.4.2.5). Stations that save power
    /// wake for DTIMs, and broadcasts follow them if a station sleeps.
    #[setting(default = 1, range = 1..=255)]
    pub dtim_period: u32,
    /// Bytes of a beacon, MAC header and FCS included. Names, rates and options of a network
    /// decide on it.
    #[setting(key = "size_bytes", default = 250, range = 100..=2304)]
    pub size: Bytes,
    /// Rate in Mb/s. Default: the lowest basic rate.
    #[setting(key = "rate_mbps", range = 0.1..=1e4)]
    pub rate: Option<BitRate>,
}

impl Beacons {
    /// The time unit (clause 3.1).
    const TIME_UNIT: Duration = Duration::from_micros(1024);

    /// The time between two TBTTs.
    pub fn between(&self) -> Duration {
        Self::TIME_UNIT * u64::from(self.interval)
    }
}
