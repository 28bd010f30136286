//! The air of the cell: standard, contention, aggregation, and how each link chooses its modes.

use kernel::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use wifi::phy::{Band, Edca, Mode};
pub use wifi::rate::Patience;

/// The standard of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// 802.11b: DSSS and CCK at 2.4 GHz (802.11-2020 clauses 15 and 16).
    #[serde(rename = "11b")]
    B,
    /// 802.11a: OFDM at 5 GHz (clause 17).
    #[serde(rename = "11a")]
    A,
    /// 802.11g: ERP, that is OFDM beside DSSS and CCK at 2.4 GHz (clause 18).
    #[serde(rename = "11g")]
    G,
    /// 802.11n: HT at 5 or 2.4 GHz (clause 19).
    #[serde(rename = "11n")]
    N,
    /// 802.11ac: VHT at 5 GHz (clause 21).
    #[serde(rename = "11ac")]
    Ac,
    /// 802.11ax: HE at 5 or 2.4 GHz (802.11ax-2021 clause 27).
    #[serde(rename = "11ax")]
    Ax,
}

impl Standard {
    /// All of them, oldest first.
    pub const ALL: [Self; 6] = [Self::B, Self::A, Self::G, Self::N, Self::Ac, Self::Ax];

    /// The name of the amendment, as a scenario has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::B => "11b",
            Self::A => "11a",
            Self::G => "11g",
            Self::N => "11n",
            Self::Ac => "11ac",
            Self::Ax => "11ax",
        }
    }

    /// Whether its data frames have an MCS: 802.11n and later.
    pub const fn has_mcs(self) -> bool {
        matches!(self, Self::N | Self::Ac | Self::Ax)
    }
}

/// The DSSS/CCK preamble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preamble {
    /// 144 us, and a header of 48 us.
    Long,
    /// 72 us, and a header of 24 us; a frame at 1 Mb/s has the long one nevertheless.
    Short,
}

/// The slot time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// 9 us.
    Short,
    /// 20 us.
    Long,
}

/// How long a station defers after a frame that it could not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eifs {
    /// SIFS + an ACK at the lowest basic rate + DIFS (802.11-2007 clause 9.2.3.5).
    Standard,
    /// With the ACK that the failed PPDU would have been answered with (802.11-2016 and later).
    Estimated,
    /// DIFS, as after a frame that was read.
    None,
}

/// How the slots of stations lie to each other after a collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotGrid {
    /// As the standard's timeouts and EIFS place them.
    Standard,
    /// All stations resume together.
    Shared,
    /// Each station resumes where its own rule ends, without a common grid.
    Free,
}

/// Whether a slot in which another station begins to send counts as counted down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Countdown {
    /// As the function in use prescribes: not with DCF, for the slot is not idle (802.11-2020
    /// clause 10.3.4.3), but with EDCA, whose counter falls at the start of a slot (10.23.2.4).
    Standard,
    /// Never, with EDCA neither.
    IdleSlots,
    /// Always: one step of the chain per busy period, as in Bianchi's model (JSAC 18:3, 2000).
    Bianchi,
}

/// The range of a back-off draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackoffDraw {
    /// Uniform in 0..=CW (802.11-2020 clause 10.3.3).
    Standard,
    /// Uniform in 0..CW, without CW itself, as ns-2 does.
    Ns2,
}

/// How exact the durations of DSSS and CCK frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durations {
    /// Whole microseconds (802.11-2020 clause 16.3.4).
    Standard,
    /// Exact on the air, and rounded to the nearest microsecond in Duration fields.
    Ns2,
}

/// What goes before OFDM frames where stations may not understand them (802.11-2020 clause 10.27).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Nothing.
    None,
    /// A CTS that the sender addresses to itself, at a rate of 802.11b.
    CtsToSelf,
    /// RTS and CTS at a rate of 802.11b.
    RtsCts,
}

/// What all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct WlanPlan {
    /// Which amendment.
    pub standard: Standard,
    /// Frequency band; one that the standard is used in.
    pub band: Band,
    /// DSSS/CCK preamble; without meaning where there is OFDM only.
    pub preamble: Preamble,
    /// The basic rates, ascending, at least one; the first can answer every station's mode.
    pub basic_rates: Vec<BitRate>,
    /// PSDUs longer than this are preceded by RTS and CTS; 0: always.
    pub rts_threshold: Bytes,
    /// Attempts in all of a frame without RTS, and of an RTS; at least 1.
    pub short_retry_limit: u8,
    /// Attempts in all of a frame after RTS and CTS; at least 1.
    pub long_retry_limit: u8,
    /// Smallest contention window, 2^k - 1.
    pub cw_min: u32,
    /// Largest contention window, 2^k - 1, at least `cw_min`.
    pub cw_max: u32,
    /// Smallest contention window of the stations of 802.11b in a network of 802.11g, likewise.
    pub cw_min_non_erp: u32,
    /// What goes before OFDM frames; in 802.11g only.
    pub protection: Protection,
    /// Slot time: long in 802.11b, short in a, either in g.
    pub slot: Slot,
    /// MAC header of a data frame, without FCS.
    pub mac_header: Bytes,
    /// LLC and SNAP header before each IP packet.
    pub llc: Bytes,
    /// Deferral after a frame that could not be read.
    pub eifs: Eifs,
    /// Slots after a collision.
    pub slot_grid: SlotGrid,
    /// Slots in which another station begins to send.
    pub countdown: Countdown,
    /// Range of a back-off draw.
    pub backoff_draw: BackoffDraw,
    /// Durations of DSSS and CCK frames.
    pub durations: Durations,
    /// EDCA and what comes with it; `None` where all contend by DCF.
    pub qos: Option<QosPlan>,
}

/// Quality of service: four access categories, and aggregation where the standard has it.
#[derive(Debug, Clone, PartialEq)]
pub struct QosPlan {
    /// What a station's access categories contend with, lowest priority first.
    pub station: [Edca; 4],
    /// The same of the access point.
    pub ap: [Edca; 4],
    /// A-MPDUs under block acknowledgement; `None` in 802.11b, a and g.
    pub aggregation: Option<AggregationPlan>,
}

/// How frames are put together and acknowledged in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AggregationPlan {
    /// MPDUs that may be outstanding, from 1 to what one block ack can name.
    pub window: u16,
    /// Most MPDUs of an A-MPDU, from 1 to `window`.
    pub frames: u16,
    /// Most bytes of an A-MPDU.
    pub bytes: Bytes,
    /// Longest PPDU.
    pub duration: Duration,
    /// Most bytes of an A-MSDU; zero: none is made.
    pub amsdu: Bytes,
    /// How long an MPDU may be repeated.
    pub lifetime: Duration,
    /// Whether repetitions are also counted.
    pub retries: Retries,
    /// What follows a block ack that did not come.
    pub missed_block_ack: MissedBlockAck,
    /// When the recipient hands frames up.
    pub delivery: Delivery,
}

/// When the recipient of an A-MPDU hands up what it brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// When the PPDU ends.
    #[default]
    Ppdu,
    /// Each MPDU when its own bytes are over, as in ns-3.
    Mpdu,
}

/// How long MPDUs under a block-ack agreement are repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retries {
    /// Until their lifetime ends (802.11-2020 clause 10.23.2.12).
    #[default]
    Lifetime,
    /// Until their lifetime ends or they reach the retry limit, as in ns-3 before 3.44.
    Counted,
}

/// What follows a block ack that did not come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissedBlockAck {
    /// A block-ack request.
    #[default]
    Bar,
    /// The MPDUs once more.
    Retransmit,
}

/// How one node sends to another.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePlan {
    /// The mode it begins with.
    pub mode: Mode,
    /// How it goes on.
    pub control: RateControlPlan,
}

/// How a link chooses its modes.
#[derive(Debug, Clone, PartialEq)]
pub enum RateControlPlan {
    /// One for ever.
    Fixed,
    /// By the clock, in order of time.
    Schedule(Vec<(Instant, Mode)>),
    /// By what becomes of its frames.
    Adaptive {
        /// By which rule.
        rule: AdaptiveRule,
        /// Among which modes.
        modes: Vec<Mode>,
    },
}

/// A rule by which the fate of frames chooses modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AdaptiveRule {
    /// Automatic rate fallback.
    Arf {
        /// When a higher rate is tried in spite of failures.
        patience: Patience,
    },
    /// Adaptive automatic rate fallback.
    Aarf {
        /// Most successes that it may ask for.
        most_successes: u32,
    },
    /// Runs of failures and successes alone.
    Simple,
    /// Collision-aware rate adaptation.
    Cara,
    /// Robust rate adaptation.
    Rraa,
    /// Minstrel.
    Minstrel,
    /// Minstrel for modes with an MCS.
    MinstrelHt,
    /// By the strength of the signal.
    Ideal,
}
