//! The constants of each standard: timing, contention windows and modes.

use super::edca::{AccessCategory, Edca, Edition};
use super::generation::{
    DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11AX_6, DOT11B, DOT11BE, DOT11BE_2_4, DOT11BE_6,
    DOT11G, DOT11N, DOT11N_2_4,
};
use super::{Airtime, Band, Mode, ModeClass, Preamble, TxVector, airtime};
use kernel::{BitRate, Bytes, Duration};
use settings::{Choice, number};

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

/// All standards; of an amendment with two bands, the usual band is first.
const ALL: [&Standard; 12] = [
    &DOT11A,
    &DOT11B,
    &DOT11G,
    &DOT11N,
    &DOT11AC,
    &DOT11AX,
    &DOT11BE,
    &DOT11N_2_4,
    &DOT11AX_2_4,
    &DOT11BE_2_4,
    &DOT11AX_6,
    &DOT11BE_6,
];

const fn rate(r_100kbps: u64) -> BitRate {
    BitRate(r_100kbps * 100_000)
}

impl Standard {
    /// The standard of an amendment with MCS, based on an earlier one. The basic rates are those of
    /// OFDM, because no 802.11b station is expected.
    pub(super) const fn with(self, amendment: Amendment, high: ModeClass) -> Self {
        Self { amendment, high: Some(high), basic_100kbps: DOT11A.basic_100kbps, ..self }
    }

    /// The same in the 6 GHz band.
    pub(super) const fn at_6_ghz(self) -> Self {
        Self { band: Band::Ghz6, ..self }
    }

    /// The standard of an amendment in its usual band: 2.4 GHz for b and g, 5 GHz for all others.
    pub fn of(amendment: Amendment) -> &'static Self {
        ALL.into_iter().find(|standard| standard.amendment == amendment).expect("all are listed")
    }

    /// The standard of each amendment in its usual band.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.into_iter().filter(|standard| standard.band == Self::of(standard.amendment).band)
    }

    /// The standard of an amendment in a band, or an error message.
    pub fn in_band(amendment: Amendment, band: Band) -> Result<&'static Self, String> {
        let is = |standard: &&Self| standard.amendment == amendment && standard.band == band;
        ALL.into_iter().find(is).ok_or_else(|| {
            let all = ALL.into_iter().filter(|standard| standard.amendment == amendment);
            let all: Vec<String> = all.map(|standard| number(standard.band.ghz())).collect();
            let (name, bands) = (amendment.name(), all.join(" and "));
            let remedy = if all.len() == 1 { "remove the key" } else { "take one of them" };
            format!("802.{name} is at {bands} GHz only; {remedy}")
        })
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

    /// Contention parameters of a station's access category (table 9-155).
    pub fn edca(&self, category: AccessCategory, edition: Edition) -> Edca {
        Edca::of(self, category, edition)
    }

    /// The DSSS or OFDM mode with this rate.
    pub fn mode(&self, rate: BitRate) -> Option<Mode> {
        self.modes.iter().find(|mode| mode.rate == rate).copied()
    }

    /// The DSSS or OFDM mode of a rate in Mb/s, or an error message.
    pub fn mode_at(&self, mbps: f64) -> Result<Mode, String> {
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
        Err(format!("{is} is not a rate of {of}{name} ({listed}); {nearest}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use ModeClass::{ErpOfdm, HrDsss, Ofdm};

    fn response(standard: &Standard, data: f64, basic: &[f64]) -> f64 {
        let basic: Vec<BitRate> = basic.iter().map(|&r| BitRate::from_mbps(r)).collect();
        let mode = standard.mode(BitRate::from_mbps(data)).unwrap();
        standard.response_mode(&mode, &basic).rate.as_mbps()
    }

    #[test]
    fn an_ack_has_the_fastest_basic_rate_not_above_the_frame() {
        let a = [6.0, 12.0, 24.0];
        let expected =
            [(54., 24.), (48., 24.), (36., 24.), (24., 24.), (18., 12.), (12., 12.), (9., 6.)];
        for (data, ack) in expected {
            assert_eq!(response(&DOT11A, data, &a), ack, "11a {data}");
        }
        assert_eq!(response(&DOT11B, 11.0, &[1.0, 2.0]), 2.0);
        assert_eq!(response(&DOT11B, 1.0, &[1.0, 2.0]), 1.0);
        assert_eq!(response(&DOT11B, 11.0, &[1.0, 2.0, 5.5, 11.0]), 11.0);
    }

    #[test]
    fn without_a_suitable_basic_rate_the_response_has_a_mandatory_rate() {
        assert_eq!(response(&DOT11A, 9.0, &[24.0]), 6.0);
        assert_eq!(response(&DOT11B, 1.0, &[2.0]), 1.0);
    }

    #[test]
    fn the_response_to_an_ofdm_frame_is_in_ofdm() {
        assert_eq!(response(&DOT11G, 9.0, &[1.0, 2.0, 5.5, 11.0, 6.0]), 6.0);
        assert_eq!(response(&DOT11G, 11.0, &[1.0, 2.0, 6.0]), 2.0);
        assert_eq!(DOT11G.lowest_mandatory(ErpOfdm).rate, BitRate::from_mbps(6.0));
        assert_eq!(DOT11G.lowest_mandatory(HrDsss).rate, BitRate::from_mbps(1.0));
    }

    #[test]
    fn the_modes_of_a_family_ascend() {
        for standard in ALL {
            for dsss in [true, false] {
                let family = standard.modes.iter().filter(|mode| mode.class.is_dsss() == dsss);
                assert!(family.is_sorted_by(|a, b| a.rate < b.rate), "{}", standard.name());
            }
        }
    }

    #[test]
    fn standards_are_found_by_name() {
        assert_eq!(Standard::of(Amendment::A), &DOT11A);
        assert_eq!(DOT11B.fastest().rate, BitRate::from_mbps(11.0));
        assert_eq!(Standard::of(Amendment::N), &DOT11N);
        assert_eq!(Standard::in_band(Amendment::Ax, Band::Ghz2_4), Ok(&DOT11AX_2_4));
        let fault = "802.11ac is at 5 GHz only; remove the key";
        assert_eq!(Standard::in_band(Amendment::Ac, Band::Ghz2_4), Err(fault.to_owned()));
        assert_eq!(Amendment::NAMES, ["11b", "11a", "11g", "11n", "11ac", "11ax", "11be"]);
    }

    #[test]
    fn a_rate_exists_or_says_why_not() {
        assert_eq!(DOT11G.mode_at(5.5), Ok(DOT11B.modes[2]));
        let fault = "54 is not a rate of 802.11b (1, 2, 5.5, 11); the highest is 11";
        assert_eq!(DOT11B.mode_at(54.0), Err(fault.to_owned()));
        for standard in ALL {
            let rates = standard.default_basic_rates();
            let modes: Vec<_> = rates.filter_map(|rate| standard.mode(rate)).collect();
            assert_eq!(modes.len(), standard.basic_100kbps.len(), "{}", standard.name());
        }
    }

    #[test]
    fn bands_bring_their_times() {
        let us = |d: Duration| d.0 / 1000;
        for high in [DOT11N, DOT11AC, DOT11AX] {
            assert_eq!([us(high.slot), us(high.sifs)], [9, 16]);
            assert_eq!([high.cw_min, high.cw_max], [15, 1023]);
        }
        for high in [DOT11N_2_4, DOT11AX_2_4] {
            assert_eq!([us(high.slot), us(high.sifs)], [9, 10]);
            let ack = high.response_mode(&high.tx_vector().unwrap().mode().unwrap(), &[]);
            assert_eq!(us(airtime(&ack, Preamble::Long, Bytes(14)).total()), 44 + 6);
        }
    }

    #[test]
    fn the_response_to_an_mcs_is_not_above_its_reference_rate() {
        let basic = [6.0, 12.0, 24.0].map(BitRate::from_mbps);
        let expected = [6, 12, 12, 24, 24, 24, 24, 24, 24, 24, 24, 24];
        for standard in [DOT11N, DOT11AC, DOT11AX] {
            for (mcs, mbps) in (0..).zip(expected) {
                for streams in [1, 3] {
                    let vector = TxVector { mcs, streams, ..standard.tx_vector().unwrap() };
                    let Ok(mode) = vector.mode() else { continue };
                    let answer = standard.response_mode(&mode, &basic);
                    assert_eq!(answer.rate, BitRate(mbps * 1_000_000), "{vector:?}");
                    assert_eq!(answer.class, Ofdm);
                }
            }
        }
        let mcs2 = TxVector { mcs: 2, ..DOT11N.tx_vector().unwrap() }.mode().unwrap();
        let all: Vec<BitRate> = DOT11A.modes.iter().map(|mode| mode.rate).collect();
        assert_eq!(DOT11N.response_mode(&mcs2, &all).rate, BitRate(18_000_000));
    }
}
