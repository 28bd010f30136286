//! The keys of `simoom airtime` for a group of users and its exchange.

use kernel::Duration;
use settings::{Choice, Settings, numbered};
use wifi::mac::MuProtection;
use wifi::phy::Coding;
use wifi::phy::he::{NominalPadding, RuSize};

/// The most users of a PPDU: 26 tones each in 160 MHz.
pub(super) const MOST_USERS: u64 = 74;

/// The direction of the data of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub(super) enum Direction {
    /// From the access point, in an HE MU PPDU.
    #[default]
    Down,
    /// From the stations, in HE TB PPDUs that a Basic Trigger frame asks for.
    Up,
}

/// How the stations acknowledge an HE MU PPDU (802.11ax-2021 clause 26.4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
#[settings(name = "AckSequence")]
pub(super) enum AckSequence {
    /// Not at all.
    None,
    /// The first station answers with a BlockAck; each other one is asked by a BlockAckReq.
    BarChain,
    /// A MU-BAR Trigger frame asks all of them, who answer in HE TB PPDUs.
    #[default]
    MuBar,
    /// The same, with a MU-BAR in the A-MPDU of each station.
    AggregatedMuBar,
}

/// MPDUs that the bitmap of a BlockAck tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bitmap {
    Of64,
    Of256,
}

numbered! { Bitmap, "integer": 64 => Self::Of64, 256 => Self::Of256 }

impl Bitmap {
    pub(super) const fn bits(self) -> u16 {
        match self {
            Self::Of64 => 64,
            Self::Of256 => 256,
        }
    }
}

/// A user of a group, or several alike.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
#[settings(name = "AirtimeUser")]
pub(super) struct User {
    /// Tones of its resource unit: 26, 52, 106, 242, 484, 996 or 1992. Default: the widest for
    /// which there is room.
    pub(super) ru: Option<RuSize>,
    /// MCS; default the highest that its resource unit allows.
    #[setting(range = 0..=11)]
    pub(super) mcs: Option<u32>,
    /// Spatial streams.
    #[setting(range = 1..=8)]
    pub(super) streams: Option<u32>,
    /// Bytes of its PSDU; of each MPDU if there are `mpdus`.
    #[setting(range = 1..)]
    pub(super) psdu_bytes: Option<u64>,
    /// Bytes of each MSDU.
    #[setting(range = 1..)]
    pub(super) msdu_bytes: Option<u64>,
    /// MPDUs in its A-MPDU.
    pub(super) mpdus: Option<u64>,
    /// Forward error correction.
    pub(super) coding: Option<Coding>,
    /// How many users are like this one.
    #[setting(default = 1, range = 1..=MOST_USERS as f64)]
    pub(super) count: u64,
}

/// The keys of a group.
#[derive(Clone, Debug, PartialEq, Settings)]
pub(super) struct GroupKeys {
    /// The users of an MU exchange of 802.11ax, each with `ru` and others; a key that a user lacks
    /// is that of all.
    pub(super) users: Vec<User>,
    /// Of users: bytes of the MSDU in each MPDU, LLC header included, instead of the length of the
    /// MPDU.
    #[setting(range = 1..)]
    pub(super) msdu_bytes: Option<u64>,
    /// Of users: direction of the data. Default "down". What comes up has a guard interval of 1600
    /// or 3200 ns, by default 1600.
    pub(super) direction: Option<Direction>,
    /// Of users: how the stations acknowledge data of the access point. Default: asked by a
    /// MU-BAR.
    pub(super) ack: Option<AckSequence>,
    /// Of users: whether a BSRP Trigger frame asks for buffer reports before uplink data.
    pub(super) bsrp: bool,
    /// Of users: what precedes the HE MU PPDU, or the Basic Trigger frame of uplink data. Default:
    /// nothing.
    pub(super) protection: Option<MuProtection>,
    /// Of users: MCS of HE-SIG-B, 0 to 5. Default: the highest up to that of the slowest user.
    #[setting(range = 0..=5)]
    pub(super) sig_b_mcs: Option<u32>,
    /// Of users: nominal packet padding of the receivers in microseconds, 0, 8 or 16, from which
    /// the packet extension follows. Default 0.
    #[setting(key = "nominal_padding_us")]
    pub(super) padding: Option<NominalPadding>,
    /// Of users: time to prepare a response that the padding of Trigger frames gives, in
    /// microseconds: 0, 8 or 16. Default 0.
    #[setting(key = "trigger_padding_us")]
    pub(super) trigger_padding: Option<NominalPadding>,
    /// Of users: MPDUs that the bitmap of a BlockAck tells, 64 or 256. Default: as few as all
    /// A-MPDUs need.
    pub(super) block_ack_window: Option<Bitmap>,
    /// Of users: highest MCS of BlockAcks in HE TB PPDUs. Default 5.
    #[setting(range = 0..=11)]
    pub(super) response_mcs: Option<u32>,
    /// Of users: whether they support 1024-QAM (MCS 10 and 11) in resource units below 242 tones.
    pub(super) small_1024_qam: bool,
    /// Of users: time before the exchange in microseconds, for AIFS and back-off. Default 0.
    #[setting(key = "access_us", range = 0..=1e6)]
    pub(super) access: Option<Duration>,
}

impl GroupKeys {
    /// The keys that are given but apply to users only.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            ("msdu_bytes", self.msdu_bytes.is_some()),
            ("direction", self.direction.is_some()),
            ("ack", self.ack.is_some()),
            ("bsrp", self.bsrp),
            ("protection", self.protection.is_some()),
            ("sig_b_mcs", self.sig_b_mcs.is_some()),
            ("nominal_padding_us", self.padding.is_some()),
            ("trigger_padding_us", self.trigger_padding.is_some()),
            ("block_ack_window", self.block_ack_window.is_some()),
            ("response_mcs", self.response_mcs.is_some()),
            ("small_1024_qam", self.small_1024_qam),
            ("access_us", self.access.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, given)| given.then_some(key))
    }
}
