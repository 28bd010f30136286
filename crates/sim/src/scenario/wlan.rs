//! The keys of the air: modes, contention, access categories, aggregation.

use super::rate::RateControl;
use crate::plan::{
    BackoffDraw, Countdown, Delivery, Durations, Eifs, MissedBlockAck, Preamble, Protection,
    Retries, Slot, SlotGrid,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wlan {
    /// Band in GHz: 5 (default) or 2.4 in 802.11n and ax; 802.11b and g are at 2.4, a and ac at 5.
    pub band_ghz: Option<f64>,
    /// Rate of data frames in Mb/s, in 802.11b, a and g; default the highest of the standard. Where
    /// there is rate control, no higher one is used.
    pub rate_mbps: Option<f64>,
    /// MCS of data frames in 802.11n, ac and ax, counted within a stream (802.11n may also count
    /// its 32 from 0 to 31); default the highest. Where there is rate control, no higher one is
    /// used.
    pub mcs: Option<u64>,
    /// Spatial streams; default 1.
    pub streams: Option<u64>,
    /// Bandwidth in MHz: 20 (default), 40, 80 or 160.
    pub width_mhz: Option<u64>,
    /// Guard interval in nanoseconds: 400 or 800 in 802.11n and ac, 800, 1600 or 3200 in ax;
    /// default 800.
    pub guard_ns: Option<u64>,
    /// Forward error correction: "bcc" or "ldpc"; default "bcc" where the mode has it.
    pub coding: Option<Coding>,
    /// Type of the HE-LTF in 802.11ax: "1x", "2x" or "4x"; default "2x", and "4x" with 3200 ns.
    pub he_ltf: Option<HeLtf>,
    /// Packet extension in 802.11ax in microseconds: 0 (default), 4, 8, 12 or 16.
    pub packet_extension_us: Option<u64>,
    /// Durations of PPDUs with an MCS: "standard" (default), or "ns3" where that departs from it.
    pub ppdu_timing: PpduTiming,
    /// How data frames choose their modes, on each link apart; default "fixed".
    pub rate_control: RateControl,
    /// Preamble of DSSS and CCK frames, so in 802.11b and g only; a frame at 1 Mb/s has the long
    /// one in any case; default "long".
    pub preamble: Option<Preamble>,
    /// The basic rates in Mb/s, from which control frames and broadcasts take theirs; default 1, 2
    /// in 802.11b; 1, 2, 5.5, 11, 6, 12, 24 in 802.11g, with stations of 802.11b 1, 2, 5.5, 11; 6,
    /// 12, 24 in all others.
    pub basic_rates_mbps: Option<Vec<f64>>,
    /// PSDUs longer than this many bytes, with MAC header and FCS, are preceded by RTS and CTS; 0
    /// is always, the default 2347 never, longer A-MPDUs neither (dot11RTSThreshold).
    pub rts_threshold_bytes: u64,
    /// Attempts in all of a frame without RTS, and of an RTS; 1 to 255, default 7
    /// (dot11ShortRetryLimit).
    pub short_retry_limit: u64,
    /// Attempts in all of a frame that follows RTS and CTS; 1 to 255, default 4
    /// (dot11LongRetryLimit).
    pub long_retry_limit: u64,
    /// Smallest contention window of DCF in slots, of the form 2^k - 1; default 31 at stations of
    /// 802.11b, 15 at all others (aCWmin). With EDCA the windows are those of `wlan.edca`.
    pub cw_min: Option<u64>,
    /// Largest contention window of DCF in slots, of the form 2^k - 1, at most 32767; default 1023
    /// (aCWmax).
    pub cw_max: u64,
    /// Slot time of 802.11g: "short" (9 us, default) or "long" (20 us). 802.11b always has the
    /// long one, and so has a network of 802.11g with stations of 802.11b; all others the short
    /// one.
    pub slot: Option<Slot>,
    /// What goes before each OFDM frame of 802.11g, so that stations of 802.11b, which find nothing
    /// but its energy, set their NAV: `cts_to_self` (default where there is such a station; the
    /// sender's CTS to itself at a rate of 802.11b), `rts_cts` (RTS and CTS at such a rate) or
    /// "none" (default where there is none).
    pub protection: Option<Protection>,
    /// MAC header of a data frame in bytes, without the 4 of the FCS and the 2 of `QoS` control;
    /// default 24, with four addresses 30.
    pub mac_header_bytes: u64,
    /// LLC and SNAP header before each IP packet in bytes; default 8.
    pub llc_bytes: u64,
    /// How long a station defers after a frame that it could not read: "standard" (SIFS + ACK at
    /// the lowest basic rate + DIFS; default), "estimated" (with the ACK that the failed PPDU asks
    /// for, 802.11-2016) or "none" (DIFS).
    pub eifs: Eifs,
    /// How slots lie after a collision: "standard" (as timeouts and EIFS place them; default),
    /// "shared" (all stations resume together) or "free" (each where its own rule ends).
    pub slot_grid: SlotGrid,
    /// Whether a slot in which another station begins to send counts as counted down: "standard"
    /// (not with DCF, but with EDCA; default), `idle_slots` (never) or "bianchi" (always, as in
    /// Bianchi's chain).
    pub countdown: Countdown,
    /// Range of a back-off draw: "standard" (0 to CW with CW; default) or "ns2" (without CW).
    pub backoff_draw: BackoffDraw,
    /// Durations of DSSS and CCK frames: "standard" (whole microseconds; default) or "ns2" (exact
    /// on the air and rounded in Duration fields, so that bystanders may resume a little later than
    /// the two parties of an exchange and hear them within the slot).
    pub durations: Durations,
    /// Whether stations contend by EDCA, with four access categories; default true in 802.11n, ac
    /// and ax, false in b, a and g.
    pub qos: Option<bool>,
    /// Whose parameters access categories have that `wlan.edca` and `ap.edca` leave open: "2016"
    /// (802.11-2016 and later; default), "2012" (without a TXOP limit for background and best
    /// effort) or "ns3" (likewise, and the access point as its stations).
    pub edca_defaults: EdcaDefaults,
    /// What the access categories of stations contend with.
    pub edca: Edca,
    /// How frames are put together and acknowledged in blocks, in 802.11n, ac and ax.
    pub aggregation: Aggregation,
}

impl Default for Wlan {
    fn default() -> Self {
        Self {
            band_ghz: None,
            rate_mbps: None,
            mcs: None,
            streams: None,
            width_mhz: None,
            guard_ns: None,
            coding: None,
            he_ltf: None,
            packet_extension_us: None,
            ppdu_timing: PpduTiming::default(),
            rate_control: RateControl::default(),
            preamble: None,
            basic_rates_mbps: None,
            rts_threshold_bytes: 2347,
            short_retry_limit: 7,
            long_retry_limit: 4,
            cw_min: None,
            cw_max: 1023,
            slot: None,
            protection: None,
            mac_header_bytes: 24,
            llc_bytes: 8,
            eifs: Eifs::Standard,
            slot_grid: SlotGrid::Standard,
            countdown: Countdown::Standard,
            backoff_draw: BackoffDraw::Standard,
            durations: Durations::Standard,
            qos: None,
            edca_defaults: EdcaDefaults::default(),
            edca: Edca::default(),
            aggregation: Aggregation::default(),
        }
    }
}

/// What access categories contend with (802.11-2020 clause 10.23.2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Edca {
    /// `AC_BK`.
    pub background: Category,
    /// `AC_BE`.
    pub best_effort: Category,
    /// `AC_VI`.
    pub video: Category,
    /// `AC_VO`.
    pub voice: Category,
}

/// What one access category contends with; what is not given is by `wlan.edca_defaults`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Category {
    /// Smallest contention window in slots, of the form 2^k - 1.
    pub cw_min: Option<u64>,
    /// Largest contention window in slots, of the form 2^k - 1, at most 32767.
    pub cw_max: Option<u64>,
    /// Slots of the interframe space: SIFS + this many slots; from 2 to 15 at stations, from 1 at
    /// the access point.
    pub aifsn: Option<u64>,
    /// How long one access may last in microseconds, a multiple of 32, at most 2097120; 0 is one
    /// frame exchange.
    pub txop_limit_us: Option<u64>,
}

/// How frames are put together and acknowledged in blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aggregation {
    /// Most MPDUs of an A-MPDU; 1 is none. Default, and most, `window`.
    pub frames: Option<u64>,
    /// MPDUs that may be outstanding, the buffer size of a block-ack agreement. Default, and most,
    /// what a block ack can name: 64 in 802.11n and ac, 256 in ax; ns-3 has 64 in ax too.
    pub window: Option<u64>,
    /// Most bytes of an A-MPDU; default, and most, 65535 in 802.11n, 1048575 in ac, 6500631 in ax.
    pub bytes: Option<u64>,
    /// Longest PPDU in microseconds; default, and most, 5484 (aPPDUMaxTime).
    pub duration_us: Option<f64>,
    /// Most bytes of an A-MSDU, up to 7935 in 802.11n and 11398 in ac and ax; default 0, with which
    /// none is made.
    pub amsdu_bytes: u64,
    /// How long an MPDU may be repeated in milliseconds, from when it is first sent; default 500.
    pub lifetime_ms: f64,
    /// How often: "lifetime" (as long as that lasts; default) or "counted" (no more than
    /// `wlan.short_retry_limit` attempts in all, as in ns-3 before 3.44).
    pub retries: Retries,
    /// What follows a block ack that did not come: "bar" (a block-ack request; default) or
    /// "retransmit" (the MPDUs once more).
    pub missed_block_ack: MissedBlockAck,
    /// When the recipient hands up what an A-MPDU brings: "ppdu" (when all of it is over; default)
    /// or "mpdu" (each MPDU when its own bytes are over, as in ns-3; not with a radio).
    pub delivery: Delivery,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            frames: None,
            window: None,
            bytes: None,
            duration_us: None,
            amsdu_bytes: 0,
            lifetime_ms: 500.0,
            retries: Retries::default(),
            missed_block_ack: MissedBlockAck::default(),
            delivery: Delivery::default(),
        }
    }
}

/// Whose default parameters of access categories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EdcaDefaults {
    /// 802.11-2016 and later: a TXOP limit for every category (table 9-155).
    #[default]
    #[serde(rename = "2016")]
    Ieee2016,
    /// Until 802.11-2012: none for background and best effort (802.11-2012 table 8-105).
    #[serde(rename = "2012")]
    Ieee2012,
    /// ns-3: none for background and best effort, and the access point as its stations.
    #[serde(rename = "ns3")]
    Ns3,
}

/// Forward error correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity check.
    Ldpc,
}

/// Type of the HE-LTF (802.11ax-2021 clause 27.3.11.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HeLtf {
    /// 3.2 us.
    #[serde(rename = "1x")]
    X1,
    /// 6.4 us.
    #[serde(rename = "2x")]
    X2,
    /// 12.8 us.
    #[serde(rename = "4x")]
    X4,
}

/// Whose durations PPDUs with an MCS have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PpduTiming {
    /// The standard's.
    #[default]
    Standard,
    /// Those of ns-3, where they depart from it.
    Ns3,
}
