//! What nodes of one network agree on.

use super::{Aggregation, BackoffDraw, Countdown, FCS, QOS_CONTROL, Timing};
use crate::phy::{AccessCategory, Edca, Edition, Standard};
use kernel::Bytes;
use settings::{Range, Settings};

/// Timing, limits and windows of medium access, for all nodes. What no key sets follows from the
/// standard and from other keys.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct MacConfig {
    /// First contention window under DCF.
    #[setting(skip, default = 15)]
    pub cw_min: u32,
    /// Largest contention window of DCF in slots (aCWmax).
    #[setting(default = 1023, range = Range::CONTENTION_WINDOW)]
    pub cw_max: u32,
    /// PSDUs longer than this many bytes, with MAC header and FCS, are preceded by RTS and CTS; 0
    /// is always, 2347 never, longer A-MPDUs neither (dot11RTSThreshold).
    #[setting(key = "rts_threshold_bytes", default = 2347)]
    pub rts_threshold: Bytes,
    /// Attempts in all of a frame without RTS, and of an RTS (dot11ShortRetryLimit).
    #[setting(
        default = 7,
        range = 1..=255,
        too_low = "0 would never send; it counts all attempts, so 1 is the least"
    )]
    pub short_retry_limit: u32,
    /// Attempts in all of a frame that follows RTS and CTS (dot11LongRetryLimit).
    #[setting(
        default = 4,
        range = 1..=255,
        too_low = "0 would never send; it counts all attempts, so 1 is the least"
    )]
    pub long_retry_limit: u32,
    // The longest header has 36 bytes, with four addresses, QoS and HT control; more leaves room
    // for what other simulators count.
    /// MAC header of a data frame in bytes, without the 4 of the FCS and the 2 of `QoS` control;
    /// with four addresses it has 30 (clause 9.2.3).
    #[setting(key = "mac_header_bytes", default = 24, range = 0..=100)]
    pub mac_header: Bytes,
    /// LLC and SNAP header before each IP packet in bytes.
    #[setting(key = "llc_bytes", default = 8, range = 0..=100)]
    pub llc: Bytes,
    /// Interframe spaces, rates and timeouts.
    #[setting(flatten)]
    pub timing: Timing,
    /// Whether a slot in which another station begins to send counts as counted down.
    pub countdown: Countdown,
    /// Range of a back-off draw.
    pub backoff_draw: BackoffDraw,
    /// Access by EDCA; without it by DCF.
    #[setting(skip)]
    pub edca: Option<Categories>,
    /// Aggregation under block-ack agreements, which all pairs of nodes have; without it frames go
    /// one by one. It takes EDCA, for agreements are each category's own.
    #[setting(skip)]
    pub aggregation: Option<Aggregation>,
    /// Nodes of 802.11b among those of 802.11g.
    #[setting(skip)]
    pub non_erp: Option<NonErp>,
}

impl MacConfig {
    /// DCF of a standard.
    pub fn of(standard: &'static Standard) -> Self {
        let (cw_min, cw_max) = (standard.cw_min, standard.cw_max);
        Self { timing: Timing::of(standard), cw_min, cw_max, ..Self::default() }
    }

    /// Bytes that MAC and LLC add to a packet, FCS included.
    pub fn overhead(&self) -> Bytes {
        let qos = if self.edca.is_some() { QOS_CONTROL } else { Bytes::ZERO };
        self.mac_header + qos + FCS + self.llc
    }

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
    /// By default (table 9-155); an access point is quicker than its stations, but in ns-3.
    pub fn of(standard: &Standard, edition: Edition) -> Self {
        let stations = AccessCategory::ALL.map(|category| standard.edca(category, edition));
        let access_point = match edition {
            Edition::Ns3 => stations,
            _ => AccessCategory::ALL
                .map(|category| standard.edca(category, edition).of_access_point(category)),
        };
        Self { stations, access_point }
    }
}
