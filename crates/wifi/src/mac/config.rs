//! Configuration of the MAC, the same at all nodes of a network.

use super::{
    Aggregation, BackoffDraw, BandwidthOperation, Beacons, Cipher, Collisions, Countdown, FCS,
    FullDuplex, Mu, QOS_CONTROL, SpatialReuse, Timing,
};
use crate::phy::{AccessCategory, Edca, Edition, ModeClass, Standard, TxVector};
use kernel::Bytes;
use settings::{Range, Settings};

/// Timing, limits and contention windows of all nodes. The standard and other keys determine what
/// no key here sets.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct MacConfig {
    /// Smallest contention window of DCF in slots (aCWmin).
    #[setting(skip, default = 15)]
    pub cw_min: u32,
    /// Largest contention window of DCF in slots (aCWmax).
    #[setting(default = 1023, range = Range::CONTENTION_WINDOW)]
    pub cw_max: u32,
    /// The node sends an RTS before each PSDU that is longer than this many bytes, MAC header and
    /// FCS included. 0 means always. 2347 means never, and includes longer A-MPDUs
    /// (dot11RTSThreshold).
    #[setting(key = "rts_threshold_bytes", default = 2347)]
    pub rts_threshold: Bytes,
    /// Total number of attempts of a frame without RTS, and of an RTS (dot11ShortRetryLimit).
    #[setting(
        default = 7,
        range = 1..=255,
        too_low = ["0 would never send", "it counts all attempts, so 1 is the least"]
    )]
    pub short_retry_limit: u32,
    /// Total number of attempts of a frame that follows RTS and CTS (dot11LongRetryLimit).
    #[setting(
        default = 4,
        range = 1..=255,
        too_low = ["0 would never send", "it counts all attempts, so 1 is the least"]
    )]
    pub long_retry_limit: u32,
    // The longest header has 36 bytes, with four addresses, QoS and HT control. The range is wider
    // for the headers that other simulators assume.
    /// MAC header of a data frame in bytes, without the 4 bytes of the FCS and the 2 bytes of `QoS`
    /// Control. With four addresses it has 30 (clause 9.2.3).
    #[setting(key = "mac_header_bytes", default = 24, range = 0..=100)]
    pub mac_header: Bytes,
    /// LLC and SNAP header before each IP packet in bytes.
    #[setting(key = "llc_bytes", default = 8, range = 0..=100)]
    pub llc: Bytes,
    /// The cipher suite of data frames.
    pub cipher: Cipher,
    /// Interframe spaces, rates and timeouts.
    #[setting(flatten)]
    pub timing: Timing,
    /// Whether a slot in which another station begins to transmit counts as counted down.
    pub countdown: Countdown,
    /// Range of a back-off draw.
    pub backoff_draw: BackoffDraw,
    /// What happens when the back-offs of several nodes end in the same slot; "none" only without a
    /// radio and without full duplex.
    pub collisions: Collisions,
    /// The EDCA parameters; `None` is DCF.
    #[setting(skip)]
    pub edca: Option<Categories>,
    /// Aggregation under block ack agreements, which then exist between all pairs of nodes; `None`
    /// is one MPDU per PPDU. Aggregation requires EDCA, because an agreement belongs to one access
    /// category.
    #[setting(skip)]
    pub aggregation: Option<Aggregation>,
    /// An access point that sends to one station while it receives from another. Default: no node
    /// sends and receives at once.
    pub full_duplex: Option<FullDuplex>,
    /// OFDMA of 802.11ax. Default: an access point sends to one station at a time.
    pub mu: Option<Mu>,
    /// Spatial reuse of 802.11ax and be, among radios. Default: nodes defer to all frames that they
    /// detect.
    pub spatial_reuse: Option<SpatialReuse>,
    /// What a transmitter does in 802.11ax and be, among radios, where a part of its channel was
    /// busy before its TXOP.
    pub bandwidth_operation: BandwidthOperation,
    /// The parameters that the PPDUs of all links with an MCS have in common, from which a
    /// transmitter makes the modes of parts of its channel; none with static bandwidth operation.
    #[setting(skip)]
    pub common_vector: Option<TxVector>,
    /// The beacons of access points. Default: none.
    pub beacons: Option<Beacons>,
    /// The 802.11b nodes in an 802.11g network.
    #[setting(skip)]
    pub non_erp: Option<NonErp>,
    /// The nodes of 802.11n or later in a network of a later standard, by number.
    #[setting(skip)]
    pub earlier: Vec<Earlier>,
}

impl MacConfig {
    /// The DCF parameters of a standard.
    pub fn of(standard: &'static Standard) -> Self {
        let (cw_min, cw_max) = (standard.cw_min, standard.cw_max);
        Self { timing: Timing::of(standard), cw_min, cw_max, ..Self::default() }
    }

    /// Bytes that MAC and LLC add to a packet, cipher and FCS included.
    pub fn overhead(&self) -> Bytes {
        self.data_header() + self.cipher.overhead() + FCS + self.llc
    }

    /// Bytes of the MAC header of a data frame.
    pub fn data_header(&self) -> Bytes {
        self.mac_header + if self.edca.is_some() { QOS_CONTROL } else { Bytes::ZERO }
    }

    /// The purpose of the random streams from which back-off counters are drawn.
    pub(crate) fn backoff_stream(&self) -> &'static str {
        if self.edca.is_some() { "mac.backoff.edca" } else { "mac.backoff" }
    }
}

/// 802.11b nodes in an 802.11g network. They cannot decode OFDM: an OFDM frame is energy to them,
/// after which they defer for no EIFS and set no NAV. They contend by DCF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonErp {
    /// Node numbers, ascending.
    pub nodes: Vec<u32>,
    /// Smallest contention window of these nodes. That of the other nodes is `aCWmin(1)` (table
    /// 18-5).
    pub cw_min: u32,
}

/// A node of an earlier generation than that of the network. It cannot decode PPDUs of later ones:
/// it finds their preamble, sets no NAV from them and defers for an EIFS after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The node.
    pub node: u32,
    /// The latest class of PPDUs that it knows.
    pub latest: ModeClass,
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
    /// The default parameters (table 9-155). An access point has smaller ones than its stations,
    /// except with the defaults of ns-3.
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
