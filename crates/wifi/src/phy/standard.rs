//! A standard is a value: timings, contention windows and modes.

use super::edca::{AccessCategory, Edca, Edition};
use super::{Airtime, Band, Mode, ModeClass, Preamble, TxVector, airtime};
use ModeClass::{Dsss, ErpOfdm, HrDsss, Ofdm};
use kernel::{BitRate, Bytes, Duration};

/// The constants of one PHY.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// Name of the amendment.
    pub name: &'static str,
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
    /// The modes of DSSS and OFDM, by class and then by rate: those of all frames up to 802.11g,
    /// and of control frames later.
    pub modes: &'static [Mode],
    /// The PHY with MCS that data frames use: HT, VHT or HE.
    pub high: Option<ModeClass>,
    /// Rates every station must have, in Mb/s·10 (clauses 16.1.1, 17.1.1, 18.1.2).
    mandatory_100kbps: &'static [u64],
    /// Usual BSS basic rate set of an access point, likewise.
    basic_100kbps: &'static [u64],
}

/// 802.11b: HR/DSSS at 2.4 GHz (table 16-4).
pub const DOT11B: Standard = Standard {
    name: "11b",
    band: Band::Ghz2_4,
    slot: Duration::from_micros(20),
    sifs: Duration::from_micros(10),
    cw_min: 31,
    cw_max: 1023,
    modes: &[
        Mode::dsss(Dsss, 1000),
        Mode::dsss(Dsss, 2000),
        Mode::dsss(HrDsss, 5500),
        Mode::dsss(HrDsss, 11_000),
    ],
    high: None,
    mandatory_100kbps: &[10, 20, 55, 110],
    basic_100kbps: &[10, 20],
};

/// 802.11a: OFDM at 5 GHz, 20 MHz (table 17-21).
pub const DOT11A: Standard = Standard {
    name: "11a",
    band: Band::Ghz5,
    slot: Duration::from_micros(9),
    sifs: Duration::from_micros(16),
    cw_min: 15,
    cw_max: 1023,
    modes: &[
        Mode::ofdm(Ofdm, 6),
        Mode::ofdm(Ofdm, 9),
        Mode::ofdm(Ofdm, 12),
        Mode::ofdm(Ofdm, 18),
        Mode::ofdm(Ofdm, 24),
        Mode::ofdm(Ofdm, 36),
        Mode::ofdm(Ofdm, 48),
        Mode::ofdm(Ofdm, 54),
    ],
    high: None,
    mandatory_100kbps: &[60, 120, 240],
    basic_100kbps: &[60, 120, 240],
};

/// 802.11g: ERP at 2.4 GHz, short slot, no 802.11b station present (table 18-5).
pub const DOT11G: Standard = Standard {
    name: "11g",
    band: Band::Ghz2_4,
    slot: Duration::from_micros(9),
    sifs: Duration::from_micros(10),
    cw_min: 15,
    cw_max: 1023,
    modes: &[
        Mode::dsss(Dsss, 1000),
        Mode::dsss(Dsss, 2000),
        Mode::dsss(HrDsss, 5500),
        Mode::dsss(HrDsss, 11_000),
        Mode::ofdm(ErpOfdm, 6),
        Mode::ofdm(ErpOfdm, 9),
        Mode::ofdm(ErpOfdm, 12),
        Mode::ofdm(ErpOfdm, 18),
        Mode::ofdm(ErpOfdm, 24),
        Mode::ofdm(ErpOfdm, 36),
        Mode::ofdm(ErpOfdm, 48),
        Mode::ofdm(ErpOfdm, 54),
    ],
    high: None,
    mandatory_100kbps: &[10, 20, 55, 110, 60, 120, 240],
    basic_100kbps: &[10, 20, 55, 110, 60, 120, 240],
};

/// 802.11n: HT at 5 GHz (table 19-25); times and control frames are those of OFDM.
pub const DOT11N: Standard = Standard { name: "11n", high: Some(ModeClass::Ht), ..DOT11A };
/// 802.11n at 2.4 GHz, without 802.11b stations: times and control frames are those of ERP.
pub const DOT11N_2_4: Standard = Standard { name: "11n", high: Some(ModeClass::Ht), ..DOT11G };
/// 802.11ac: VHT, at 5 GHz only (table 21-28).
pub const DOT11AC: Standard = Standard { name: "11ac", high: Some(ModeClass::Vht), ..DOT11A };
/// 802.11ax: HE at 5 GHz (802.11ax-2021 clause 27.4.4).
pub const DOT11AX: Standard = Standard { name: "11ax", high: Some(ModeClass::He), ..DOT11A };
/// 802.11ax at 2.4 GHz, without 802.11b stations.
pub const DOT11AX_2_4: Standard = Standard { name: "11ax", high: Some(ModeClass::He), ..DOT11G };

/// Each in its usual band first.
const ALL: [&Standard; 8] =
    [&DOT11A, &DOT11B, &DOT11G, &DOT11N, &DOT11AC, &DOT11AX, &DOT11N_2_4, &DOT11AX_2_4];

const fn rate(r_100kbps: u64) -> BitRate {
    BitRate(r_100kbps * 100_000)
}

impl Standard {
    /// Names of all standards.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL[..6].iter().map(|standard| standard.name)
    }

    /// The standard called `name`, in the band where it is at home: 2.4 GHz for b and g, 5 GHz for
    /// all others.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|standard| standard.name == name)
    }

    /// The standard called `name` in a band.
    pub fn in_band(name: &str, band: Band) -> Option<&'static Self> {
        ALL.into_iter().find(|standard| standard.name == name && standard.band == band)
    }

    /// The slowest PPDU of this standard's HT, VHT or HE, to be changed and asked for its mode.
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

    /// The fastest mode of DSSS or OFDM.
    pub fn fastest(&self) -> Mode {
        *self.modes.last().expect("a standard has modes")
    }

    /// The usual BSS basic rate set.
    pub fn default_basic_rates(&self) -> impl Iterator<Item = BitRate> + use<> {
        self.basic_100kbps.iter().map(|&r| rate(r))
    }

    /// The mode that answers a frame sent in `eliciting` (clause 10.6.6.5.2): the fastest basic
    /// rate of the same modulation family not above it, or not above the non-HT reference rate of
    /// an MCS; else the fastest such mandatory rate.
    pub fn response_mode(&self, eliciting: &Mode, basic: &[BitRate]) -> Mode {
        let highest = eliciting.reference_rate();
        let best = |allowed: &dyn Fn(BitRate) -> bool| {
            self.modes
                .iter()
                .filter(|m| m.class.is_dsss() == eliciting.class.is_dsss())
                .filter(|m| m.rate <= highest && allowed(m.rate))
                .max_by_key(|m| m.rate)
                .copied()
        };
        best(&|r| basic.contains(&r))
            .or_else(|| best(&|r| self.mandatory_100kbps.iter().any(|&m| rate(m) == r)))
            .unwrap_or(*eliciting)
    }

    /// The mode of the family of `data` in which an RTS or a broadcast opens an exchange: clauses
    /// 10.6.6.2 and 10.6.5.2 ask for a basic rate.
    pub fn opening_mode(&self, data: &Mode, basic: &[BitRate]) -> Mode {
        self.response_mode(data, basic)
    }

    /// The lowest basic rate of the family of `data`, for broadcast frames.
    pub fn broadcast_mode(&self, data: &Mode, basic: &[BitRate]) -> Mode {
        self.modes
            .iter()
            .filter(|m| m.class.is_dsss() == data.class.is_dsss() && basic.contains(&m.rate))
            .min_by_key(|m| m.rate)
            .copied()
            .unwrap_or_else(|| self.lowest_mandatory(data.class))
    }

    /// The lowest mandatory mode of the family of `class`.
    ///
    /// An ERP cell without 802.11b stations counts its OFDM rates only: that is what makes the
    /// short slot and the short EIFS consistent.
    pub fn lowest_mandatory(&self, class: ModeClass) -> Mode {
        *self
            .modes
            .iter()
            .filter(|m| m.class.is_dsss() == class.is_dsss())
            .filter(|m| self.mandatory_100kbps.iter().any(|&r| rate(r) == m.rate))
            .min_by_key(|m| m.rate)
            .expect("every family has a mandatory rate")
    }

    /// `aRxPHYStartDelay`: how long after the start of a PPDU its reception is indicated
    /// (tables 16-4, 17-21, 18-5).
    pub fn rx_start_delay(&self, mode: &Mode, preamble: Preamble) -> Duration {
        let Airtime { preamble, header, .. } = airtime(mode, preamble, Bytes(0));
        preamble + header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(standard: &Standard, data: f64, basic: &[f64]) -> f64 {
        let basic: Vec<BitRate> = basic.iter().map(|&r| BitRate::from_mbps(r)).collect();
        let mode = standard.mode(BitRate::from_mbps(data)).unwrap();
        standard.response_mode(&mode, &basic).rate.as_mbps()
    }

    #[test]
    fn an_ack_goes_at_the_fastest_basic_rate_not_above_the_frame() {
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
    fn without_a_fitting_basic_rate_the_answer_goes_at_a_mandatory_one() {
        assert_eq!(response(&DOT11A, 9.0, &[24.0]), 6.0);
        assert_eq!(response(&DOT11B, 1.0, &[2.0]), 1.0);
    }

    #[test]
    fn an_ofdm_frame_is_answered_in_ofdm() {
        assert_eq!(response(&DOT11G, 9.0, &[1.0, 2.0, 5.5, 11.0, 6.0]), 6.0);
        assert_eq!(response(&DOT11G, 11.0, &[1.0, 2.0, 6.0]), 2.0);
        assert_eq!(DOT11G.lowest_mandatory(ErpOfdm).rate, BitRate::from_mbps(6.0));
        assert_eq!(DOT11G.lowest_mandatory(HrDsss).rate, BitRate::from_mbps(1.0));
    }

    #[test]
    fn standards_are_found_by_name() {
        assert_eq!(Standard::named("11a"), Some(&DOT11A));
        assert_eq!(Standard::named("11z"), None);
        assert_eq!(DOT11B.fastest().rate, BitRate::from_mbps(11.0));
        assert_eq!(Standard::named("11n"), Some(&DOT11N));
        assert_eq!(Standard::in_band("11ax", Band::Ghz2_4), Some(&DOT11AX_2_4));
        assert_eq!(Standard::in_band("11ac", Band::Ghz2_4), None);
        assert_eq!(
            Standard::names().collect::<Vec<_>>(),
            ["11a", "11b", "11g", "11n", "11ac", "11ax"]
        );
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
    fn an_mcs_is_answered_below_its_reference_rate() {
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
