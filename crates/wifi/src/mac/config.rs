//! What nodes of one network agree on.

use super::{Aggregation, BackoffDraw, Countdown, Timing};
use crate::phy::{AccessCategory, Edca, Edition, Standard};
use kernel::Bytes;

/// Timing, limits and windows of medium access, for all nodes.
#[derive(Clone, Debug)]
pub struct MacConfig {
    /// Interframe spaces, rates and timeouts.
    pub timing: Timing,
    /// Attempts in all of a frame without RTS, and of an RTS (`dot11ShortRetryLimit`).
    pub short_retry_limit: u32,
    /// Attempts in all of a data frame after a CTS (`dot11LongRetryLimit`).
    pub long_retry_limit: u32,
    /// First contention window under DCF.
    pub cw_min: u32,
    /// Largest contention window under DCF.
    pub cw_max: u32,
    /// Whether a slot in which another station begins to send counts as counted down.
    pub countdown: Countdown,
    /// What a back-off is drawn from.
    pub backoff_draw: BackoffDraw,
    /// PSDUs longer than this are preceded by RTS and CTS (`dot11RTSThreshold`).
    pub rts_threshold: Bytes,
    /// Bytes that MAC and LLC add to a packet, FCS included.
    pub overhead: Bytes,
    /// Access by EDCA; without it by DCF.
    pub edca: Option<Categories>,
    /// Aggregation under block-ack agreements, which all pairs of nodes have; without it frames go
    /// one by one. It takes EDCA, for agreements are each category's own.
    pub aggregation: Option<Aggregation>,
    /// Nodes of 802.11b among those of 802.11g.
    pub non_erp: Option<NonErp>,
}

impl MacConfig {
    /// The purpose of the random streams from which back-offs are drawn.
    pub(crate) fn backoff_stream(&self) -> &'static str {
        if self.edca.is_some() { "mac.backoff.edca" } else { "mac.backoff" }
    }
}

/// Nodes of 802.11b in a network of 802.11g. They understand no OFDM: to them such a frame is
/// energy, after which they defer for no EIFS and have no NAV. They contend by DCF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonErp {
    /// Their numbers, ascending.
    pub nodes: Vec<u32>,
    /// Their first contention window, while that of the others is `aCWmin(1)` (table 18-5).
    pub cw_min: u32,
}

/// The parameters of the access categories, lowest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categories {
    /// At stations.
    pub stations: [Edca; 4],
    /// At the access point.
    pub access_point: [Edca; 4],
}

impl Categories {
    /// The same for all nodes, by default (table 9-155).
    pub fn of(standard: &Standard, edition: Edition) -> Self {
        let all = AccessCategory::ALL.map(|category| standard.edca(category, edition));
        Self { stations: all, access_point: all }
    }
}
