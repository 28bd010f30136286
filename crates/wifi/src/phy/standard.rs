//! The constants of each standard: timing, contention windows and modes.

use super::{Airtime, Band, Mode, ModeClass, Preamble, TxVector, airtime};
use kernel::{BitRate, Bytes, Duration};
use settings::{Choice, Said, number, said};

/// The amendment of 802.11 that a network uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
#[settings(name = "Standard")]
pub enum Amendment {
    /// 802.11b: DSSS and CCK at 2.4 GHz (802.11-2020 clauses 15 and 16).
    #[setting(name = "11b")]
    B,
    /// 802.11a: OFDM at 5 GHz (clause 17).
    #[setting(name = "11a")]
    A,
    /// 802.11g: ERP, that is OFDM beside DSSS and CCK at 2.4 GHz (clause 18).
    #[setting(name = "11g")]
    G,
    /// 802.11n: HT at 5 or 2.4 GHz (clause 19).
    #[setting(name = "11n")]
    N,
    /// 802.11ac: VHT at 5 GHz (clause 21).
    #[setting(name = "11ac")]
    Ac,
    /// 802.11ax: HE at 5, 2.4 or 6 GHz (802.11ax-2021 clause 27).
    #[setting(name = "11ax")]
    Ax,
    /// 802.11be: EHT at 5, 2.4 or 6 GHz, for a single user over one link (802.11be-2024 clause 36).
    #[setting(name = "11be")]
    Be,
}

impl Amendment {
    /// Its name, as `11g`.
    pub fn name(self) -> &'static str {
        Choice::name(&self)
    }

    /// Whether its data frames have an MCS: 802.11n and later.
    pub const fn has_mcs(self) -> bool {
        !matches!(self, Self::B | Self::A | Self::G)
    }
}

/// The slot time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Slot {
    /// 9 us.
    Short,
    /// 20 us.
    Long,
}

impl Slot {
    /// The slot time.
    pub const fn lasts(self) -> Duration {
        match self {
            Self::Short => Duration::from_micros(9),
            Self::Long => Duration::from_micros(20),
        }
    }
}

/// The constants of one PHY.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// Which amendment.
    pub amendment: Amendment,
    /// Frequency band.
    pub band: Band,
    /// `aSlotTime`.
    pub slot: Duration,
    /// `aSIFSTime`.
    pub sifs: Duration,
    /// `aCWmin`.
    pub cw_min: u32,
    /// `aCWmax`.
    pub cw_max: u32,
    /// The modes of DSSS and OFDM, by class and then by rate. Up to 802.11g all frames use them, in
    /// later amendments only control frames.
    pub modes: &'static [Mode],
    /// The PHY with MCS that data frames use, from HT on.
    pub high: Option<ModeClass>,
    /// Mandatory rates, in units of 100 kb/s (clauses 16.1.1, 17.1.1, 18.1.2).
    pub(super) mandatory_100kbps: &'static [u64],
    /// Usual BSS basic rate set of an access point, in units of 100 kb/s.
    pub(super) basic_100kbps: &'static [u64],
}

/// The basic rates of OFDM, in units of 100 kb/s: the mandatory ones (clause 17.1.1).
pub(super) const OFDM_BASIC_100KBPS: &[u64] = &[60, 120, 240];

const fn rate(r_100kbps: u64) -> BitRate {
    BitRate(r_100kbps * 100_000)
}

impl Standard {
    /// The standard of an amendment with MCS, based on an earlier one. The basic rates are those of
    /// OFDM, because no 802.11b station is expected.
    pub(super) const fn with(self, amendment: Amendment, high: ModeClass) -> Self {
        Self { amendment, high: Some(high), basic_100kbps: OFDM_BASIC_100KBPS, ..self }
    }

    /// The same in the 6 GHz band.
    pub(super) const fn at_6_ghz(self) -> Self {
        Self { band: Band::Ghz6, ..self }
    }

    /// The name of the amendment.
    pub fn name(&self) -> &'static str {
        self.amendment.name()
    }

    /// The TXVECTOR of the slowest mode with an MCS of this standard, which the caller may
    /// change.
    pub fn tx_vector(&self) -> Option<TxVector> {
        self.high.map(|class| TxVector::of(class, self.band))
    }

    /// The DSSS or OFDM mode with this rate.
    pub fn mode(&self, rate: BitRate) -> Option<Mode> {
        self.modes.iter().find(|mode| mode.rate == rate).copied()
    }

    /// The DSSS or OFDM mode of a rate in Mb/s, or an error message.
    pub fn mode_at(&self, mbps: f64) -> Result<Mode, Said> {
        let mut rates: Vec<f64> = self.modes.iter().map(|mode| mode.rate.0 as f64 / 1e6).collect();
        if rates.contains(&mbps) {
            return Ok(self.mode(BitRate::from_mbps(mbps)).expect("the rate of a mode"));
        }
        rates.sort_by(f64::total_cmp);
        let listed = rates.iter().map(|rate| number(*rate)).collect::<Vec<_>>().join(", ");
        let below = rates.iter().rev().find(|rate| **rate < mbps);
        let above = rates.iter().find(|rate| **rate > mbps);
        let in_bits =
            [1e3, 1e6].into_iter().map(|unit| mbps / unit).find(|rate| rates.contains(rate));
        let nearest = match (in_bits, below, above) {
            (Some(rate), ..) => format!("the unit is Mb/s, so perhaps {}", number(rate)),
            (_, Some(below), Some(above)) => {
                format!("the nearest are {} and {}", number(*below), number(*above))
            }
            (_, Some(only), None) => format!("the highest is {}", number(*only)),
            (_, None, Some(only)) => format!("the lowest is {}", number(*only)),
            (_, None, None) => "none is near".to_owned(),
        };
        let of = if self.high.is_some() { "control frames in 802." } else { "802." };
        let (is, name) = (number(mbps), self.name());
        Err(said!("{is} is not a rate of {of}{name} ({listed})", "{nearest}"))
    }

    /// The fastest mode of DSSS or OFDM.
    pub fn fastest(&self) -> Mode {
        *self.modes.last().expect("a standard has modes")
    }

    /// The usual BSS basic rate set.
    pub fn default_basic_rates(&self) -> impl Iterator<Item = BitRate> + use<> {
        self.basic_100kbps.iter().map(|&r| rate(r))
    }

    /// The mode of the control response to a frame sent in `eliciting` (clause 10.6.6.5.2): the
    /// fastest basic rate of the same modulation class that is not above the rate of that frame, or
    /// the non-HT reference rate of its MCS; without such a basic rate, the fastest such mandatory
    /// rate.
    pub fn response_mode(&self, eliciting: &Mode, basic: &[BitRate]) -> Mode {
        let (highest, dsss) = (eliciting.reference_rate(), eliciting.class.is_dsss());
        // The rates of a modulation class ascend.
        let family = || {
            let modes = self.modes.iter().rev();
            modes.filter(|mode| mode.class.is_dsss() == dsss && mode.rate <= highest)
        };
        let mandatory = self.mandatory_100kbps;
        let is_mandatory = |mode: &&Mode| mandatory.iter().any(|&m| rate(m) == mode.rate);
        family()
            .find(|mode| basic.contains(&mode.rate))
            .or_else(|| family().find(is_mandatory))
            .copied()
            .unwrap_or(*eliciting)
    }

    /// The mode of an RTS or a broadcast, in the modulation class of `data`: clauses 10.6.6.2 and
    /// 10.6.5.2 require a basic rate.
    pub fn opening_mode(&self, data: &Mode, basic: &[BitRate]) -> Mode {
        self.response_mode(data, basic)
    }

    /// The lowest basic rate of the modulation class of `data`, for broadcasts.
    pub fn broadcast_mode(&self, data: &Mode, basic: &[BitRate]) -> Mode {
        self.modes
            .iter()
            .filter(|m| m.class.is_dsss() == data.class.is_dsss() && basic.contains(&m.rate))
            .min_by_key(|m| m.rate)
            .copied()
            .unwrap_or_else(|| self.lowest_mandatory(data.class))
    }

    /// The lowest mandatory mode of the modulation class `class`.
    ///
    /// Only the OFDM rates of an ERP network without 802.11b stations count, consistent with its
    /// short slot and short EIFS.
    pub fn lowest_mandatory(&self, class: ModeClass) -> Mode {
        *self
            .modes
            .iter()
            .filter(|m| m.class.is_dsss() == class.is_dsss())
            .filter(|m| self.mandatory_100kbps.iter().any(|&r| rate(r) == m.rate))
            .min_by_key(|m| m.rate)
            .expect("every modulation class has a mandatory rate")
    }

    /// `aRxPHYStartDelay`: the time from the start of a PPDU until the PHY indicates its reception
    /// (tables 16-4, 17-21, 18-5).
    pub fn rx_start_delay(&self, mode: &Mode, preamble: Preamble) -> Duration {
        let Airtime { preamble, header, .. } = airtime(mode, preamble, Bytes(0));
        preamble + header
    }
}
