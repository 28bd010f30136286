//! The keys of congestion control.

use crate::plan::{Average, Congested};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::control::{AfwConfig, Bbr3Config, BbrConfig, CubicConfig, LtConfig, VegasConfig};

/// Congestion control.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// `NewReno` (RFC 5681).
    NewReno(NewReno),
    /// CUBIC (RFC 9438).
    Cubic(Cubic),
    /// Westwood+ (Grieco and Mascolo 2004).
    Westwood(Westwood),
    /// Vegas (Brakmo and Peterson 1995).
    Vegas(Vegas),
    /// `FeW`, fractional window increment (Nahm, Helmy and Kuo 2005).
    Few(Few),
    /// AFW, adaptive fractional window increment (Ding and others), a reconstruction.
    Afw(Afw),
    /// The window of LT-TCP (Tickoo and others 2005): marks are congestion, losses are not.
    Lt(Lt),
    /// BBR, version 1 (Cardwell and others 2016).
    Bbr(Bbr),
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    Bbr3(Bbr3),
    /// A controller that is told of the rate of the link (Okada, Nobayashi and Ikenaga).
    CrossLayer(CrossLayer),
    /// One's own, written in Python: a subclass of `simoom.Control`.
    Python(Python),
}

/// One's own controller.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Python {
    /// Where the class is found: "module:Class", as "mylab.aimd:Aimd".
    pub path: String,
}

impl Default for Control {
    fn default() -> Self {
        Self::NewReno(NewReno::default())
    }
}

/// `NewReno`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewReno {
    /// Whether `HyStart++` (RFC 9406) ends the first slow start; default false.
    pub hystart: bool,
    /// What of the flight is left after a mark, in (0, 1); default 0.5; 0.8 in RFC 8511.
    pub beta_ecn: Option<f64>,
}

/// CUBIC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cubic {
    /// What of the flight is left after a loss, in (0, 1); default 0.7.
    pub beta: f64,
    /// What is left after a mark, in (0, 1); default `beta`; 0.85 in RFC 8511.
    pub beta_ecn: Option<f64>,
    /// C, in segments per second cubed; default 0.4.
    pub c: f64,
    /// Whether to give way to new flows; default true.
    pub fast_convergence: bool,
    /// Whether to be no slower than Reno, which ns-3 before 3.41 is; default true.
    pub friendly: bool,
    /// Whether `HyStart++` (RFC 9406) ends the first slow start; default true.
    pub hystart: bool,
}

impl Default for Cubic {
    fn default() -> Self {
        let CubicConfig { beta, c, fast_convergence, friendly, hystart, .. } =
            CubicConfig::default();
        Self { beta, beta_ecn: None, c, fast_convergence, friendly, hystart }
    }
}

/// Westwood+.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Westwood {
    /// How much of the rate's estimate is kept at each sample, from 0 to below 1; default 0.9.
    pub memory: f64,
}

impl Default for Westwood {
    fn default() -> Self {
        Self { memory: tcp::control::Westwood::MEMORY }
    }
}

/// Vegas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Vegas {
    /// The window grows while fewer segments than these are queued; default 2.
    pub alpha: f64,
    /// It shrinks while more than these are; default 4.
    pub beta: f64,
    /// Slow start ends where more than these are; default 1.
    pub gamma: f64,
}

impl Default for Vegas {
    fn default() -> Self {
        let VegasConfig { alpha, beta, gamma } = VegasConfig::default();
        Self { alpha, beta, gamma }
    }
}

/// `FeW`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Few {
    /// Segments by which the window grows per round trip, above 0 up to 1; default 0.01.
    pub alpha: f64,
}

impl Default for Few {
    fn default() -> Self {
        Self { alpha: tcp::control::Few::ALPHA }
    }
}

/// AFW: the window grows by S segments per round trip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Afw {
    /// What S is multiplied by where the network is idle, above 1; default 2.
    pub alpha: f64,
    /// What S is divided by where it is congested, above 1; default 2.
    pub beta: f64,
    /// The least S, with which a connection begins; default 0.01.
    pub s_min: f64,
    /// The greatest S, at most 1; default 1.
    pub s_max: f64,
    /// How often the network may be found idle; default after each round trip without a loss.
    pub epoch: Epoch,
    /// What is congestion: "timeout" (default) or `any_loss`.
    pub congested: Congested,
    /// Hops of a round trip, at least 1: S rises only while the window is below a fifth of them,
    /// and falls only above; default no such gate.
    pub gate_hops: Option<u64>,
}

impl Default for Afw {
    fn default() -> Self {
        let AfwConfig { alpha, beta, s_min, s_max, .. } = AfwConfig::default();
        let (epoch, congested) = (Epoch::default(), Congested::Timeout);
        Self { alpha, beta, s_min, s_max, epoch, congested, gate_hops: None }
    }
}

/// How often the network may be found idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Epoch {
    /// After so many round trips without a loss.
    Rounds(Rounds),
    /// Once between two timeouts.
    Timeouts,
}

impl Default for Epoch {
    fn default() -> Self {
        Self::Rounds(Rounds::default())
    }
}

/// Round trips without a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rounds {
    /// How many, at least 1; default 1.
    pub number: u64,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { number: 1 }
    }
}

/// The window of LT-TCP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lt {
    /// How much of the loss estimate a new sample is, above 0 up to 1; default 0.5.
    pub weight: f64,
    /// What of the flight is left after a mark, in (0, 1); default 0.5.
    pub beta_ecn: f64,
    /// Whether a timeout leaves the slow-start threshold as it is; default false.
    pub timeout_keeps_ssthresh: bool,
}

impl Default for Lt {
    fn default() -> Self {
        let LtConfig { weight, beta_ecn, timeout_keeps_ssthresh } = LtConfig::default();
        Self { weight, beta_ecn, timeout_keeps_ssthresh }
    }
}

/// BBR, version 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bbr {
    /// Whether the window makes room for acknowledgements that arrive in bunches; default true.
    pub extra_acked: bool,
}

impl Default for Bbr {
    fn default() -> Self {
        let BbrConfig { extra_acked } = BbrConfig::default();
        Self { extra_acked }
    }
}

/// BBR, version 3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bbr3 {
    /// The share of losses in a round trip beyond which a probe for bandwidth has gone too far, in
    /// (0, 1); default 0.02.
    pub loss_threshold: f64,
    /// What of its bounds is left, at least, after a round trip with losses, in (0, 1); default
    /// 0.7.
    pub beta: f64,
    /// The share of what is bearable in flight that is left to others, in (0, 1); default 0.15.
    pub headroom: f64,
    /// Whether the window makes room for acknowledgements that arrive in bunches; default true.
    pub extra_acked: bool,
}

impl Default for Bbr3 {
    fn default() -> Self {
        let Bbr3Config { loss_threshold, beta, headroom, extra_acked } = Bbr3Config::default();
        Self { loss_threshold, beta, headroom, extra_acked }
    }
}

/// A controller that is told of the rate of the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CrossLayer {
    /// The controller in between; default `cubic`.
    pub inner: Inner,
    /// The round-trip time of the window: "samples" (default), the mean of the last, or "smoothed".
    pub average: Average,
    /// How many samples that mean has, at least 1; default 10.
    pub samples: u64,
    /// Rates of the link in Mb/s, ascending; default those of 802.11ac at 20 MHz with one stream
    /// and a guard interval of 400 ns.
    pub rates_mbps: Option<Vec<f64>>,
    /// What the application gets at each of them, in Mb/s; default with A-MPDUs of 32 frames of
    /// 1498 bytes.
    pub throughputs_mbps: Option<Vec<f64>>,
}

impl Default for CrossLayer {
    fn default() -> Self {
        Self {
            inner: Inner::default(),
            average: Average::Samples,
            samples: 10,
            rates_mbps: None,
            throughputs_mbps: None,
        }
    }
}

/// A controller that another one may steer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inner {
    /// `NewReno` (RFC 5681).
    NewReno(NewReno),
    /// CUBIC (RFC 9438).
    Cubic(Cubic),
    /// Westwood+ (Grieco and Mascolo 2004).
    Westwood(Westwood),
    /// Vegas (Brakmo and Peterson 1995).
    Vegas(Vegas),
    /// `FeW` (Nahm, Helmy and Kuo 2005).
    Few(Few),
    /// AFW (Ding and others).
    Afw(Afw),
}

impl Default for Inner {
    fn default() -> Self {
        Self::Cubic(Cubic::default())
    }
}
