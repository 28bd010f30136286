//! The keys of rate control.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a link chooses the modes of its data frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControl {
    /// One mode for ever.
    #[default]
    Fixed,
    /// By the clock.
    Schedule(Schedule),
    /// Automatic rate fallback (Kamerman and Monteban 1997).
    Arf(Arf),
    /// Adaptive automatic rate fallback (Lacage, Manshaei and Turletti 2004).
    Aarf(Aarf),
    /// The scheme of LT-TCP's study: two failures in a row go down, ten successes in a row up, and
    /// nothing else counts.
    Simple,
    /// Collision-aware rate adaptation (Kim and others 2006).
    Cara,
    /// Robust rate adaptation (Wong and others 2006).
    Rraa,
    /// Minstrel (Linux).
    Minstrel,
    /// Minstrel for modes with an MCS (Linux).
    MinstrelHt,
    /// The fastest mode that the signal allows; where there is a radio.
    Ideal,
}

/// Modes by the clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// The changes, each later than the one before; until the first, `mcs` or `rate_mbps` holds.
    pub steps: Vec<Step>,
}

/// A change of mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["at_s"]))]
pub struct Step {
    /// When, in seconds; always given.
    pub at_s: f64,
    /// The MCS from then on; in 802.11n, ac and ax.
    pub mcs: Option<u64>,
    /// The rate from then on in Mb/s; in 802.11b, a and g.
    pub rate_mbps: Option<f64>,
}

/// Automatic rate fallback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Arf {
    /// After so many attempts at a mode the next success goes up, whatever failed; 0 is never;
    /// default 15.
    pub patience_attempts: u64,
    /// After so many milliseconds instead, 60 in the original; default by attempts.
    pub patience_ms: Option<f64>,
}

impl Default for Arf {
    fn default() -> Self {
        Self { patience_attempts: 15, patience_ms: None }
    }
}

/// Adaptive automatic rate fallback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aarf {
    /// Most successes in a row that going up may need; default 60, as in ns-3; 50 in the paper.
    pub most_successes: u64,
}

impl Default for Aarf {
    fn default() -> Self {
        Self { most_successes: 60 }
    }
}
