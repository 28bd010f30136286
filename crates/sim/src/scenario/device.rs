//! The device between the queue of a radio and the medium.

use settings::Settings;

/// What the device of a radio takes from a queue before its access to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Device {
    /// Frames that the device takes from that queue, those in service included, like the ring of a
    /// driver; ath9k up to Linux 4.9: 123. Default: none, so that the queue holds frames until
    /// their exchange has ended.
    #[setting(range = 1..=100_000)]
    pub ring_packets: Option<u32>,
    /// A-MPDUs that the device forms ahead for each access category, the one on the air included;
    /// ath9k: 2. Default: none, so that an A-MPDU is formed when its access begins.
    #[setting(range = 1..=64)]
    pub hardware_aggregates: Option<u32>,
}
