//! Downlink OFDMA: one HE MU PPDU of the access point with data for several stations (802.11ax-2021
//! clause 26.5.1), and how they acknowledge it (clause 26.4.4). Uplink OFDMA is in `uplink`.
//!
//! An MU exchange is data beside the exchange, as a second frame of full duplex is: a data frame of
//! several users, and a list of frames that answer it.

mod acknowledgement;
mod counters;
mod deferral;
mod downlink;
mod edca;
mod exchange;
mod members;
mod protection;
mod random_access;
mod reports;
pub mod scheduler;
mod shapes;
mod timers;
mod uplink;

pub use acknowledgement::Acknowledgement;
pub use counters::{MuCounters, RandomAccessCounters, TriggerCounters, UserCounters};
pub(crate) use deferral::{GroupDeferral, LastAnswer, rest_of_chain};
pub(crate) use downlink::{Downlink, Ending, Occasion, Stations};
pub use edca::{MuEdca, MuEdcaCategory};
pub(crate) use exchange::shares;
pub use exchange::{MuExchange, MuStep, MuUser};
pub use protection::{MuProtection, MuRts};
pub(crate) use random_access::OfdmaBackoff;
pub use random_access::{Contender, RandomAccess, RandomAccessTriggers};
pub use reports::{QueueSizes, ReportSettings, ToldIn};
pub use scheduler::MuSchedulerSettings;
pub(crate) use shapes::{Member, Shape, Shapes, Triggered};
pub(crate) use timers::MuTimers;
pub use uplink::{AfterBsrp, Response, TriggeredExchange, TriggeredUser, Uplink};
pub(crate) use uplink::{Responders, Triggering, Turn, UplinkShape};

use super::aggregation::{DELIMITER, padded};
use super::{Bitmap, TriggerKind};
use crate::phy::he::{GroupFormat, GroupVector, NominalPadding, RuSize, SigBMode};
use crate::phy::{Band, Coding, HeLtf, Mode, PpduTiming, Puncturing};
use kernel::Bytes;
use settings::Settings;

/// What the A-MPDU of a user has more with a MU-BAR in it.
const MU_BAR: Bytes = Bytes(DELIMITER.0 + TriggerKind::MuBar.bytes(1).0);

/// An access point that sends to several stations at once by OFDMA, in 802.11ax.
///
/// An HE MU PPDU goes without RTS and CTS, whatever `wlan.rts_threshold_bytes` says, but for an
/// MU-RTS. A station to which a BlockAckReq is due gets it in an exchange of its own.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Mu {
    /// Which stations a PPDU serves, and how wide their resource units are.
    pub scheduler: MuSchedulerSettings,
    /// How the stations acknowledge.
    pub acknowledgement: Acknowledgement,
    /// What precedes a PPDU to several stations, and a Basic Trigger frame.
    pub protection: MuProtection,
    /// The most stations in a PPDU. Default: as many as the channel has resource units of 26 tones.
    #[setting(range = 1..=74)]
    pub max_users: Option<u32>,
    /// The fewest stations in an HE MU PPDU; fewer get PPDUs of a single user. With 1, a station
    /// alone gets an HE MU PPDU over the whole channel, as in ns-3.
    #[setting(default = 2, range = 1..=74)]
    pub min_users: u32,
    /// Highest MCS of BlockAcks in HE TB PPDUs.
    #[setting(default = 5, range = 0..=11)]
    pub response_mcs: u32,
    /// Nominal packet padding of the receivers in microseconds, 0, 8 or 16, from which the packet
    /// extension follows.
    #[setting(key = "nominal_padding_us")]
    pub padding: NominalPadding,
    /// Whether stations support 1024-QAM (MCS 10 and 11) in resource units below 242 tones; else
    /// they get MCS 9 there.
    pub small_1024_qam: bool,
    /// Uplink OFDMA, by Trigger frames. Default: stations send alone.
    pub uplink: Option<Uplink>,
    /// MU EDCA parameters of the stations; with uplink OFDMA only. Default: stations contend as
    /// always.
    pub edca: Option<MuEdca>,
    /// Type of HE-LTF of the data.
    #[setting(skip)]
    pub ltf: Option<HeLtf>,
    /// Forward error correction of the data.
    #[setting(skip)]
    pub coding: Option<Coding>,
    /// The source of the durations.
    #[setting(skip)]
    pub timing: PpduTiming,
}

/// Where the MU-BAR is in an A-MPDU of a user that takes so much on the air, if it has one.
pub(crate) fn mu_bar_in(how: Acknowledgement, on_air: Bytes) -> Option<(Bytes, Bytes)> {
    (how == Acknowledgement::AggregatedMuBar).then(|| (on_air - MU_BAR, on_air))
}

impl Mu {
    /// An HE MU PPDU over the channel of users with this mode, of whom the slowest has this MCS.
    pub fn vector(&self, band: Band, mode: &Mode, slowest_mcs: u8) -> GroupVector {
        GroupVector {
            format: GroupFormat::Mu(SigBMode::for_slowest(slowest_mcs)),
            band,
            width: mode.width,
            punctured: mode.punctured,
            guard: mode.guard,
            ltf: self.ltf,
            padding: self.padding,
            small_1024_qam: self.small_1024_qam,
            timing: self.timing,
        }
    }

    /// The most users of a PPDU, or stations that a Trigger frame asks, in a channel.
    pub fn most_users(&self, channel: impl Into<Puncturing>) -> u32 {
        self.max_users.unwrap_or(u32::MAX).min(RuSize::Tones26.number_in(channel))
    }

    /// The A-MPDU of a user on the air: with a MU-BAR in it, if that is how it is acknowledged.
    pub(crate) fn on_air(&self, psdu: Bytes) -> Bytes {
        match self.acknowledgement {
            Acknowledgement::AggregatedMuBar => padded(psdu) + MU_BAR,
            _ => psdu,
        }
    }

    /// How many MPDUs with data an A-MPDU of a user may have, if one to a single user may have so
    /// many: a MU-BAR is one of the 256 MPDUs of an A-MPDU.
    pub(crate) fn most_mpdus(&self, of_single: u16) -> u16 {
        match self.acknowledgement {
            Acknowledgement::AggregatedMuBar => of_single.min(Bitmap::LEN - 1),
            _ => of_single,
        }
    }

    /// The longest A-MPDU of a user that takes no more than this on the air.
    pub(crate) fn within(&self, room: Bytes) -> Bytes {
        match self.acknowledgement {
            Acknowledgement::AggregatedMuBar => Bytes(room.0.saturating_sub(MU_BAR.0) / 4 * 4),
            _ => room,
        }
    }
}
