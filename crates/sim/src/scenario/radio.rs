//! The keys of space: radios, propagation, further cells.

use super::queue::Queue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Radios with power, noise and interference. With it nodes hear what arrives at them, and stand
/// where `position_m` says; without it all hear all, and only `data_loss` and `ack_loss` spoil
/// frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Radio {
    /// What signals lose on their way; default by the third power of the distance.
    pub propagation: Propagation,
    /// What signals lose from each node to each other in decibels, instead of `propagation` and
    /// positions: a row for each sender, in the order ap, sta0, sta1, …, further access points;
    /// more than 200 is out of hearing.
    pub losses_db: Option<Vec<Vec<f64>>>,
    /// Standard deviation of log-normal shadowing in decibels, drawn once for each pair of nodes;
    /// default 0.
    pub shadowing_db: f64,
    /// Block fading; default none.
    pub fading: Option<Fading>,
    /// Power with which all nodes send, antenna gains included; default 16.0206 (40 mW).
    pub tx_power_dbm: f64,
    /// What the electronics of a receiver add to thermal noise; default 7.
    pub noise_figure_db: f64,
    /// Power from which on a preamble makes the medium busy until its frame ends; default -82
    /// (802.11-2020 clause 17.3.10.6).
    pub detect_dbm: f64,
    /// How far a preamble must stand above noise and interference to be found; default 4, as in
    /// ns-3.
    pub detect_snr_db: f64,
    /// Frames of less power than this are never understood; default no such limit.
    pub sensitivity_dbm: Option<f64>,
    /// Power from which on signals of any kind make the medium busy; default -62 (802.11-2020
    /// clause 17.3.10.6).
    pub energy_dbm: f64,
    /// Lets a receiver turn to a later, stronger frame; default it does not.
    pub capture: Option<Capture>,
    /// Which bits are understood; default "table".
    pub error_model: ErrorModel,
    /// Whether a station that follows an RTS with its NAV forgets it if no frame comes after it
    /// (802.11-2020 clause 10.3.2.4 permits it); default true.
    pub nav_reset: bool,
    /// Whether stations send to each other without the access point, which then is silent (IBSS);
    /// default false.
    pub ad_hoc: bool,
}

impl Default for Radio {
    fn default() -> Self {
        Self {
            propagation: Propagation::default(),
            losses_db: None,
            shadowing_db: 0.0,
            fading: None,
            tx_power_dbm: 16.0206,
            noise_figure_db: 7.0,
            detect_dbm: -82.0,
            detect_snr_db: 4.0,
            sensitivity_dbm: None,
            energy_dbm: -62.0,
            capture: None,
            error_model: ErrorModel::Table,
            nav_reset: true,
            ad_hoc: false,
        }
    }
}

/// Loss by distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Propagation {
    /// Free space.
    Friis(Friis),
    /// A power of the distance.
    LogDistance(LogDistance),
    /// Free space, and from 86 m on two rays, with the constants of ns-2 (914 MHz, antennas at
    /// 1.5 m).
    TwoRay,
}

impl Default for Propagation {
    fn default() -> Self {
        Self::LogDistance(LogDistance::default())
    }
}

/// Free space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Friis {
    /// Carrier frequency in MHz; default 5150.
    pub frequency_mhz: f64,
}

impl Default for Friis {
    fn default() -> Self {
        Self { frequency_mhz: 5150.0 }
    }
}

/// Loss by a power of the distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogDistance {
    /// The power: 2 in free space, 4 behind walls; default 3.
    pub exponent: f64,
    /// Reference distance in metres; default 1.
    pub reference_m: f64,
    /// Loss there, and nearer, in decibels; default 46.6777, free space at 5.15 GHz.
    pub reference_loss_db: f64,
}

impl Default for LogDistance {
    fn default() -> Self {
        Self { exponent: 3.0, reference_m: 1.0, reference_loss_db: 46.6777 }
    }
}

/// Nakagami block fading: the gain of a pair of nodes is drawn anew in each block of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fading {
    /// Shape, at least 0.5: 1 (default) is Rayleigh fading, more is less of it.
    pub m: f64,
    /// Length of a block in milliseconds; default 10.
    pub coherence_ms: f64,
}

impl Default for Fading {
    fn default() -> Self {
        Self { m: 1.0, coherence_ms: 10.0 }
    }
}

/// Capture of a receiver by a later frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Capture {
    /// How much stronger it must be, in decibels; default 5.
    pub margin_db: f64,
    /// How long after the first frame's begin, in microseconds; default 16, the OFDM preamble.
    pub window_us: f64,
}

impl Default for Capture {
    fn default() -> Self {
        Self { margin_db: 5.0, window_us: 16.0 }
    }
}

/// Which bits are understood at a ratio of signal to interference and noise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorModel {
    /// Tables of link simulations (Patidar and others 2017), as in ns-3; DSSS and CCK by formulas.
    #[default]
    Table,
    /// The union bound of NIST (Pei and Henderson 2010).
    Nist,
    /// The bound of YANS (Lacage and Henderson 2006).
    Yans,
    /// All from a ratio on, nothing below, as in ns-2.
    Threshold(Threshold),
}

/// A hard limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Threshold {
    /// The ratio in decibels; default 10.
    pub sinr_db: f64,
}

impl Default for Threshold {
    fn default() -> Self {
        Self { sinr_db: 10.0 }
    }
}

/// A further cell: an access point that is joined to the first by wires of no delay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bss {
    /// Where its access point stands, in metres east and north.
    pub position_m: Option<Vec<f64>>,
    /// Its channel: cells on different channels do not hear each other; default 1.
    pub channel: Option<u64>,
    /// What its access point sends from; default a drop-tail queue without limit.
    pub queue: Queue,
    /// Frames that the device takes over from that queue, as at a station; default none.
    pub ring_packets: Option<u64>,
}
