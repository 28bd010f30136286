//! The keys of space: radios and further cells.

use super::device::Device;
use kernel::Dbm;
use net::QueueSettings;
use settings::{Choice, Node, Range, Settings};
use wifi::space::RadioSettings;

/// Radios with power, noise and interference. With this table a node hears what arrives at its
/// `position_m`. Without it every node hears every other, and frames are lost only in collisions
/// and by `data_loss` and `ack_loss`.
#[derive(Debug, Clone, PartialEq, Settings)]
#[settings(preset = preset)]
pub struct Radio {
    /// The values of the keys of this table that are not given.
    pub preset: Preset,
    /// The settings of all radios.
    #[setting(flatten)]
    pub radio: RadioSettings,
    /// Whether stations send to each other without an access point (IBSS). The access point then
    /// sends nothing.
    pub ad_hoc: bool,
}

/// The values of keys that are not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Choice)]
pub enum Preset {
    /// Those of this page.
    #[default]
    Simoom,
    /// Those of ns-2: two-ray ground propagation, frames received up to 250 m and sensed up to
    /// 550 m, and lost unless they are 10 dB stronger than all others together.
    Ns2,
}

/// The table with the values of its preset.
fn preset(written: &Node) -> Radio {
    let named = |preset: Preset| written.text_at("preset") == Some(preset.name());
    let usual = Radio { preset: Preset::Simoom, radio: RadioSettings::default(), ad_hoc: false };
    if named(Preset::Ns2) { Radio { radio: RadioSettings::ns2(), ..usual } } else { usual }
}

/// Where an access point is, and what its cell has of the air.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct AccessPoint {
    /// Position of the access point in metres east and north. With a radio, the default is [0, 0].
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Number of the primary 20 MHz channel of the cell, with a radio: 1 to 14 at 2.4 GHz; 36 to
    /// 64, 100 to 144 and 149 to 177 in steps of 4 at 5 GHz; 1 to 233 in steps of 4 at 6 GHz
    /// (802.11-2020 annex E). Default: 1, 36 or 5.
    #[setting(range = 1..=233)]
    pub channel: Option<u64>,
    /// The 20 MHz subchannels that the cell has punctured, by their numbers in the channel of its
    /// widest stations, of which 1 is the lowest: frames of 802.11be leave them out, others are in
    /// the widest channel that has none of them. Only in 802.11be with 80 MHz or more: one of them
    /// in 80 MHz; one, or a channel of 40 MHz, in 160; a channel of 40 or of 80 MHz, or the lowest
    /// or highest 80 MHz and one channel of 40, in 320 (802.11be-2024 table 36-30). Default: none.
    #[setting(range = 1..=16)]
    pub punctured: Option<Vec<u32>>,
    /// Transmit power of the access point, antenna gains included; requires a radio. Default:
    /// `radio.tx_power_dbm`.
    #[setting(key = "tx_power_dbm", range = Range::TX_POWER)]
    pub tx_power: Option<Dbm>,
    /// BSS color of the cell, with `wlan.spatial_reuse`: 1 to 63, or 0 if it tells none. Default:
    /// 1, 2, … in the order of the access points.
    #[setting(range = 0..=63)]
    pub bss_color: Option<u64>,
}

/// A further cell: an access point that wires without delay connect to the first one.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Bss {
    /// Its access point.
    #[setting(flatten)]
    pub access_point: AccessPoint,
    /// What its access point sends from; default a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// What the device takes from that queue ahead.
    #[setting(flatten)]
    pub device: Device,
}

/// Nodes further from the origin than this are a mistake, in metres.
pub(super) const FARTHEST_M: f64 = 1e6;
