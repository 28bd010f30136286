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

/// A further cell: an access point that wires without delay connect to the first one.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Bss {
    /// Where its access point stands, in metres east and north.
    #[setting(range = -FARTHEST_M..=FARTHEST_M)]
    pub position_m: Option<Vec<f64>>,
    /// Number of its primary 20 MHz channel: 1 to 14 at 2.4 GHz, and 36 to 64, 100 to 144 and 149
    /// to 177 in steps of 4 at 5 GHz (802.11-2020 annex E). Default: 1 or 36.
    #[setting(range = 1..=177)]
    pub channel: Option<u64>,
    /// The 20 MHz subchannels that the cell has punctured, as `ap.punctured`. Default: none.
    #[setting(range = 1..=16)]
    pub punctured: Option<Vec<u32>>,
    /// Transmit power of its access point, antenna gains included; requires a radio. Default:
    /// `radio.tx_power_dbm`.
    #[setting(key = "tx_power_dbm", range = Range::TX_POWER)]
    pub tx_power: Option<Dbm>,
    /// BSS color of the cell, with `wlan.spatial_reuse`: 1 to 63, or 0 if it tells none. Default:
    /// 1, 2, … in the order of the access points.
    #[setting(range = 0..=63)]
    pub bss_color: Option<u64>,
    /// What its access point sends from; default a drop-tail queue without limit.
    pub queue: QueueSettings,
    /// What the device takes from that queue ahead.
    #[setting(flatten)]
    pub device: Device,
}

/// Nodes further from the origin than this are a mistake, in metres.
pub(super) const FARTHEST_M: f64 = 1e6;
