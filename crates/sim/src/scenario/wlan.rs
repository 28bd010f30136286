//! The keys of the air: modes, contention, access categories, aggregation.

use kernel::{Bytes, Duration};
use settings::{Faults, Path, Range, Said, Settings, number};
use wifi::MacConfig;
use wifi::mac::{self, Protection};
use wifi::phy::{self, Band, Coding, Edition, HeLtf, McsKeys, PpduTiming, Preamble, Slot};
use wifi::rate::RateControlSettings;

/// The settings that all stations of the cell and the access point have in common.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Wlan {
    /// Band in GHz: 2.4 for 802.11b and g, 5 for a and ac; 2.4 or 5 in n, and 6 too in ax and be.
    /// Default in 802.11n, ax and be: 5.
    #[setting(key = "band_ghz")]
    pub band: Option<Band>,
    /// Rate of data frames in Mb/s, in 802.11b, a and g. Default: the highest of the standard. With
    /// rate control, it is the highest rate used.
    pub rate_mbps: Option<f64>,
    /// Modes with an MCS.
    #[setting(flatten)]
    pub modes: McsKeys,
    /// Forward error correction. Default: "bcc" if the mode supports it.
    pub coding: Option<Coding>,
    /// Type of the HE-LTF in 802.11ax and of the EHT-LTF in be. Default: "2x", and "4x" with a
    /// guard interval of 3200 ns.
    pub he_ltf: Option<HeLtf>,
    /// Packet extension in 802.11ax and be in microseconds: 0 (default), 4, 8, 12 or 16; 20 in be.
    #[setting(range = 0..=20)]
    pub packet_extension_us: Option<u64>,
    /// Durations of PPDUs with an MCS.
    pub ppdu_timing: PpduTiming,
    /// The rate control of data frames, separately for each link.
    pub rate_control: RateControlSettings,
    /// Preamble of DSSS and CCK frames, thus only in 802.11b and g. A frame at 1 Mb/s has the long
    /// preamble in any case. Default: "long".
    pub preamble: Option<Preamble>,
    /// The basic rates in Mb/s, which control frames and broadcasts use. Default: 1, 2 in 802.11b;
    /// 1, 2, 5.5, 11, 6, 12, 24 in 802.11g, and 1, 2, 5.5, 11 if it has stations of 802.11b; 6, 12,
    /// 24 in all other standards.
    pub basic_rates_mbps: Option<Vec<f64>>,
    /// Rate of RTS frames in Mb/s. Default: the highest basic rate that does not exceed the rate of
    /// the data frame. CTS and ACK frames follow the standard in any case: they have the highest
    /// basic rate that does not exceed the rate of the frame that they answer.
    pub rts_rate_mbps: Option<f64>,
    /// Slot time of 802.11g: "short" (9 us, default) or "long" (20 us). 802.11b always has the long
    /// slot time, and so has a network of 802.11g with stations of 802.11b. All other standards
    /// have the short one.
    pub slot: Option<Slot>,
    /// The protection frames before each OFDM frame of 802.11g. They set the NAV of stations of
    /// 802.11b, which detect OFDM frames only by energy. Default: `cts_to_self` if there is such a
    /// station, else "none".
    pub protection: Option<Protection>,
    /// Smallest contention window of DCF in slots, of the form 2^k - 1; default 31 at stations of
    /// 802.11b, 15 at all others (aCWmin). With EDCA the windows are those of `wlan.edca`.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_min: Option<u32>,
    /// The settings that medium access uses as they are written.
    #[setting(flatten)]
    pub mac: MacConfig,
    /// Whether stations contend by EDCA, with four access categories; default true in 802.11n and
    /// later, false in b, a and g.
    pub qos: Option<bool>,
    /// The standard whose contention parameters apply where `wlan.edca` and `ap.edca` are silent.
    pub edca_defaults: Edition,
    /// The contention parameters of the stations' access categories.
    pub edca: Edca,
    /// Aggregation and block acknowledgement, in 802.11n and later.
    pub aggregation: Aggregation,
}

/// The contention parameters of access categories (802.11-2020 clause 10.23.2).
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

/// The contention parameters of one access category. Defaults: by `wlan.edca_defaults`.
#[derive(Debug, Clone, PartialEq, Settings)]
#[settings(check = whole_units)]
pub struct Category {
    /// Smallest contention window in slots, of the form 2^k - 1.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_min: Option<u32>,
    /// Largest contention window in slots, of the form 2^k - 1.
    #[setting(range = Range::CONTENTION_WINDOW)]
    pub cw_max: Option<u32>,
    /// AIFSN: the slots of the AIFS, which is SIFS + this many slots; at least 2 at stations.
    #[setting(range = 1..=15)]
    pub aifsn: Option<u32>,
    /// TXOP limit in microseconds, a multiple of 32; 0 allows one frame exchange.
    #[setting(key = "txop_limit_us", range = 0.0..=2_097_120.0)]
    pub txop_limit: Option<Duration>,
}

/// A parameter record counts TXOP limits in units of 32 us (clause 9.4.2.28).
fn whole_units(category: &Category, at: &Path, faults: &mut Faults) {
    const UNIT: u64 = 32_000;
    let Some(Duration(limit)) = category.txop_limit else { return };
    if !limit.is_multiple_of(UNIT) {
        let (is, below) = (number(limit as f64 * 1e-3), limit / UNIT * 32);
        let message = Said::new(
            format!("{is} is not a multiple of 32 us [802.11-2020 9.4.2.28]"),
            format!("the nearest are {below} and {}", below + 32),
        );
        faults.fault(at.key("txop_limit_us"), message);
    }
}

impl Category {
    /// These parameters, completed by others.
    pub(super) fn or(&self, usual: phy::Edca) -> phy::Edca {
        phy::Edca {
            cw_min: self.cw_min.unwrap_or(usual.cw_min),
            cw_max: self.cw_max.unwrap_or(usual.cw_max),
            aifsn: self.aifsn.unwrap_or(usual.aifsn),
            txop_limit: self.txop_limit.unwrap_or(usual.txop_limit),
        }
    }
}

/// Aggregation and block acknowledgement.
#[derive(Debug, Clone, PartialEq, Settings)]
pub struct Aggregation {
    /// Maximum number of MPDUs in an A-MPDU; with 1, frames are not aggregated. Default and
    /// maximum: `window`.
    #[setting(range = 1..=256)]
    pub frames: Option<u32>,
    /// Maximum number of outstanding MPDUs: the buffer size of a block ack agreement. Default and
    /// maximum: the size of the BlockAck bitmap, which is 64 in 802.11n and ac and 256 in ax and
    /// be, whose bitmaps of 512 and 1024 bits are not modelled. ns-3 has 64 in ax, too.
    #[setting(range = 1..=256)]
    pub window: Option<u32>,
    /// Maximum size of an A-MPDU in bytes. Default and maximum: 65535 in 802.11n, 1048575 in ac,
    /// 6500631 in ax, 15523200 in be.
    #[setting(range = 1..=15_523_200)]
    pub bytes: Option<Bytes>,
    /// The rules that hold for any PHY.
    #[setting(flatten)]
    pub rules: mac::Aggregation,
}
