//! The list of all standards.

use super::generation::{
    DOT11A, DOT11AC, DOT11AX, DOT11AX_2_4, DOT11AX_6, DOT11B, DOT11BE, DOT11BE_2_4, DOT11BE_6,
    DOT11G, DOT11N, DOT11N_2_4,
};
use super::{Amendment, Band, Standard};
use settings::{Said, number};

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

impl Standard {
    /// The standard of an amendment in its usual band: 2.4 GHz for b and g, 5 GHz for all others.
    pub fn of(amendment: Amendment) -> &'static Self {
        ALL.into_iter().find(|standard| standard.amendment == amendment).expect("all are listed")
    }

    /// The standard of each amendment in its usual band.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.into_iter().filter(|standard| standard.band == Self::of(standard.amendment).band)
    }

    /// The standard of an amendment in a band, or an error message.
    pub fn in_band(amendment: Amendment, band: Band) -> Result<&'static Self, Said> {
        let is = |standard: &&Self| standard.amendment == amendment && standard.band == band;
        ALL.into_iter().find(is).ok_or_else(|| {
            let all = ALL.into_iter().filter(|standard| standard.amendment == amendment);
            let all: Vec<String> = all.map(|standard| number(standard.band.ghz())).collect();
            let (name, bands) = (amendment.name(), all.join(" and "));
            let said = format!("802.{name} is at {bands} GHz only");
            match &all[..] {
                [_] => Said::remove(said),
                _ => Said::new(said, "take one of them"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{ModeClass, Preamble, TxVector, airtime};
    use ModeClass::{ErpOfdm, HrDsss, Ofdm};
    use kernel::{BitRate, Bytes, Duration};
    use settings::Choice;

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
        let fault = Said::remove("802.11ac is at 5 GHz only");
        assert_eq!(Standard::in_band(Amendment::Ac, Band::Ghz2_4), Err(fault));
        assert_eq!(Amendment::NAMES, ["11b", "11a", "11g", "11n", "11ac", "11ax", "11be"]);
    }

    #[test]
    fn a_rate_exists_or_says_why_not() {
        assert_eq!(DOT11G.mode_at(5.5), Ok(DOT11B.modes[2]));
        let fault = Said::new("54 is not a rate of 802.11b (1, 2, 5.5, 11)", "the highest is 11");
        assert_eq!(DOT11B.mode_at(54.0), Err(fault));
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
