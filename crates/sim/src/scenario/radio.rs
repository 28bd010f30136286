//! The keys of space: radios and further cells.

use net::QueueSettings;
use settings::Settings;
use wifi::space::RadioSettings;

/// Radios with power, noise and interference. With this table a node hears what arrives at its
/// `position_m`. Without it every node hears every other, and frames are lost only in collisions
/// and by `data_loss` and `ack_loss`.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Radio {
    /// The settings of all radios.
    #[setting(flatten)]
    pub radio: RadioSettings,
    /// Whether stations send to each other without an access point (IBSS). The access point then
    /// sends nothing.
    pub ad_hoc: bool,
}

/// A further cell: an access point that wires without delay connect to the first one.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Bss {
    /// Where its access point stands, in metres east and north.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Its channel: cells on different channels do not hear each other; default 1.
    #[setting(range = 1..=233)]
    pub channel: Option<u64>,
    /// What its access point sends from; default a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// Frames that the device takes over from that queue, as at a station; default none.
    #[setting(range = 1..=100_000)]
    pub ring_packets: Option<u32>,
}

/// Nodes further from the origin than this are a mistake, in metres.
pub(super) const FARTHEST_M: f64 = 1e6;
