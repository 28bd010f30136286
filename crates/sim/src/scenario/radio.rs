//! The keys of space: radios and further cells.

use net::QueueSettings;
use settings::Settings;
use wifi::space::RadioSettings;

/// Radios with power, noise and interference. With it nodes hear what arrives at them, and stand
/// where `position_m` says; without it all hear all, and only `data_loss` and `ack_loss` spoil
/// frames.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Radio {
    /// What all radios do.
    #[setting(flatten)]
    pub radio: RadioSettings,
    /// Whether stations send to each other without the access point, which then is silent (IBSS).
    pub ad_hoc: bool,
}

/// A further cell: an access point that is joined to the first by wires of no delay.
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
