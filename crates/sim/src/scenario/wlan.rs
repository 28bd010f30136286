//! The keys of the air: modes, contention, access categories, aggregation.

use kernel::{Bytes, Duration};
use settings::{Faults, Path, Range, Settings, number};
use wifi::MacConfig;
use wifi::mac::{self, Protection};
use wifi::phy::{self, Band, Coding, Edition, HeLtf, McsKeys, PpduTiming, Preamble, Slot};
use wifi::rate::RateControlSettings;

/// What all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Wlan {
    /// Band in GHz: 802.11b and g are at 2.4, a and ac at 5; default 5 in 802.11n and ax.
    #[setting(key = "band_ghz")]
    pub band: Option<Band>,
    /// Rate of data frames in Mb/s, in 802.11b, a and g; default the highest of the standard. Where
    /// there is rate control, no higher one is used.
    pub rate_mbps: Option<f64>,
    /// Modes with an MCS.
    #[setting(flatten)]
    pub modes: McsKeys,
    /// Forward error correction; default "bcc" where the mode has it.
    pub coding: Option<Coding>,
    /// Type of the HE-LTF in 802.11ax; default "2x", and "4x" with 3200 ns.
    pub he_ltf: Option<HeLtf>,
    /// Packet extension in 802.11ax in microseconds: 0 (default), 4, 8, 12 or 16.
    #[setting(range = 0..=16)]
    pub packet_extension_us: Option<u64>,
    /// Durations of PPDUs with an MCS.
    pub ppdu_timing: PpduTiming,
    /// How data frames choose their modes, on each link apart.
    pub rate_control: RateControlSettings,
    /// Preamble of DSSS and CCK frames, so in 802.11b and g only; a frame at 1 Mb/s has the long
    /// one in any case; default "long".
    pub preamble: Option<Preamble>,
    /// The basic rates in Mb/s, from which control frames and broadcasts take theirs; default 1, 2
    /// in 802.11b; 1, 2, 5.5, 11, 6, 12, 24 in 802.11g, with stations of 802.11b 1, 2, 5.5, 11; 6,
    /// 12, 24 in all others.
    pub basic_rates_mbps: Option<Vec<f64>>,
    /// Slot time of 802.11g: "short" (9 us, default) or "long" (20 us). 802.11b always has the
    /// long one, and so has a network of 802.11g with stations of 802.11b; all others the short
    /// one.
    pub slot: Option<Slot>,
    /// What goes before each OFDM frame of 802.11g, so that stations of 802.11b, which find nothing
    /// but its energy, set their NAV; default `cts_to_self` where there is such a station, else
    /// "none".
    pub protection: Option<Protection>,
    /// Smallest contention window of DCF in slots, of the form 2^k - 1; default 31 at stations of
    /// 802.11b, 15 at all others (aCWmin). With EDCA the windows are those of `wlan.edca`.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_min: Option<u32>,
    /// What medium access runs by as it is written.
    #[setting(flatten)]
    pub mac: MacConfig,
    /// Whether stations contend by EDCA, with four access categories; default true in 802.11n, ac
    /// and ax, false in b, a and g.
    pub qos: Option<bool>,
    /// Whose parameters access categories have that `wlan.edca` and `ap.edca` leave open.
    pub edca_defaults: Edition,
    /// What the access categories of stations contend with.
    pub edca: Edca,
    /// How frames are put together and acknowledged in blocks, in 802.11n, ac and ax.
    pub aggregation: Aggregation,
}

/// What access categories contend with (802.11-2020 clause 10.23.2).
#[derive(Debug, Clone, PartialEq, Settings)]
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
#[derive(Debug, Clone, PartialEq, Settings)]
#[settings(check = whole_units)]
pub struct Category {
    /// Smallest contention window in slots, of the form 2^k - 1.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_min: Option<u32>,
    /// Largest contention window in slots, of the form 2^k - 1.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_max: Option<u32>,
    /// Slots of the interframe space: SIFS + this many slots; at stations from 2.
    #[setting(range = 1..=15)]
    pub aifsn: Option<u32>,
    /// How long one access may last in microseconds, a multiple of 32; 0 is one frame exchange.
    #[setting(key = "txop_limit_us", range = 0.0..=2_097_120.0)]
    pub txop_limit: Option<Duration>,
}

/// A parameter record counts TXOP limits in units of 32 us (clause 9.4.2.28).
fn whole_units(category: &Category, at: &Path, faults: &mut Faults) {
    const UNIT: u64 = 32_000;
    let Some(Duration(limit)) = category.txop_limit else { return };
    if !limit.is_multiple_of(UNIT) {
        let (is, below) = (number(limit as f64 * 1e-3), limit / UNIT * 32);
        let message = format!(
            "{is} is not a multiple of 32 us [802.11-2020 9.4.2.28]; the nearest are {below} and \
             {}",
            below + 32
        );
        faults.fault(at.key("txop_limit_us"), message);
    }
}

impl Category {
    /// These parameters, and others where they are left open.
    pub(super) fn or(&self, usual: phy::Edca) -> phy::Edca {
        phy::Edca {
            cw_min: self.cw_min.unwrap_or(usual.cw_min),
            cw_max: self.cw_max.unwrap_or(usual.cw_max),
            aifsn: self.aifsn.unwrap_or(usual.aifsn),
            txop_limit: self.txop_limit.unwrap_or(usual.txop_limit),
        }
    }
}

/// How frames are put together and acknowledged in blocks.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Aggregation {
    /// Most MPDUs of an A-MPDU; 1 is none. Default, and most, `window`.
    #[setting(range = 1..=256)]
    pub frames: Option<u32>,
    /// MPDUs that may be outstanding, the buffer size of a block-ack agreement. Default, and most,
    /// what a block ack can name: 64 in 802.11n and ac, 256 in ax; ns-3 has 64 in ax too.
    #[setting(range = 1..=256)]
    pub window: Option<u32>,
    /// Most bytes of an A-MPDU; default, and most, 65535 in 802.11n, 1048575 in ac, 6500631 in ax.
    #[setting(range = 1..=6_500_631)]
    pub bytes: Option<Bytes>,
    /// What holds whatever the PHY.
    #[setting(flatten)]
    pub rules: mac::Aggregation,
}
