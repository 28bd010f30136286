//! The keys of forward error correction: LT-TCP's blocks with parity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::fec;

/// Data in blocks with parity, as in LT-TCP (Tickoo and others 2005); what its sources leave open
/// is a reconstruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fec {
    /// How much parity goes out with a block, by the estimated loss rate; default "normal".
    pub parity: Parity,
    /// How much of the loss estimate a new sample is, above 0 up to 1; default 0.5.
    pub weight: f64,
    /// Segments of a window at least, for which they become smaller; default 10.
    pub units: u64,
    /// The smallest segment that a small window is cut into, in bytes; default 200.
    pub unit_min_bytes: u64,
    /// How much segments may grow with each block, in bytes; default 200.
    pub unit_step_bytes: u64,
    /// Whether holes are filled with more parity (default), or the missing data is sent again.
    pub reactive: bool,
    /// What the header of each coded segment is longer by, in bytes; default 12.
    pub header_bytes: u64,
    /// Whether blocks are decoded in earnest, by a Reed-Solomon code over made-up bytes, and
    /// compared; default false, which counts segments only.
    pub verify: bool,
}

impl Default for Fec {
    fn default() -> Self {
        let fec::Fec { weight, granularity, reactive, header, verify, .. } = fec::Fec::default();
        Self {
            parity: Parity::default(),
            weight,
            units: granularity.units,
            unit_min_bytes: granularity.smallest,
            unit_step_bytes: granularity.step,
            reactive,
            header_bytes: header.0,
            verify,
        }
    }
}

/// How much parity goes out with a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parity {
    /// None.
    None,
    /// The losses to be expected, and a margin.
    Normal(Normal),
    /// As much as covers the losses with a given probability, were they independent.
    Binomial(Binomial),
}

impl Default for Parity {
    fn default() -> Self {
        Self::Normal(Normal::default())
    }
}

/// The losses to be expected, and a margin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Normal {
    /// The margin in standard deviations, from 0 on; default 1.
    pub margin: f64,
}

impl Default for Normal {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

/// As much parity as covers the losses with a given probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Binomial {
    /// The probability, in (0, 1); default 0.9.
    pub coverage: f64,
}

impl Default for Binomial {
    fn default() -> Self {
        Self { coverage: 0.9 }
    }
}
