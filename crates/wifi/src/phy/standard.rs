//! A standard is a value: timings, contention windows and modes.

use super::{Airtime, Mode, ModeClass, Preamble, airtime};
use kernel::{BitRate, Bytes, Duration};
use ModeClass::{Dsss, ErpOfdm, HrDsss, Ofdm};

/// The constants of one PHY.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// Name of the amendment.
    pub name: &'static str,
    /// `aSlotTime`.
    pub slot: Duration,
    /// `aSIFSTime`.
    pub sifs: Duration,
    /// `aCWmin`.
    pub cw_min: u32,
    /// `aCWmax`.
    pub cw_max: u32,
    /// All modes, by class and then by rate.
    pub modes: &'static [Mode],
    /// Rates every station must have, in Mb/s·10 (clauses 16.1.1, 17.1.1, 18.1.2).
    mandatory_100kbps: &'static [u64],
    /// Usual BSS basic rate set of an access point, likewise.
    basic_100kbps: &'static [u64],
}

/// 802.11b: HR/DSSS at 2.4 GHz (table 16-4).
pub const DOT11B: Standard = Standard {
    name: "11b",
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
    mandatory_100kbps: &[10, 20, 55, 110],
    basic_100kbps: &[10, 20],
};

/// 802.11a: OFDM at 5 GHz, 20 MHz (table 17-21).
pub const DOT11A: Standard = Standard {
    name: "11a",
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
    mandatory_100kbps: &[60, 120, 240],
    basic_100kbps: &[60, 120, 240],
};

/// 802.11g: ERP at 2.4 GHz, short slot, no 802.11b station present (table 18-5).
pub const DOT11G: Standard = Standard {
    name: "11g",
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
    mandatory_100kbps: &[10, 20, 55, 110, 60, 120, 240],
    basic_100kbps: &[10, 20, 55, 110, 60, 120, 240],
};

const fn rate(r_100kbps: u64) -> BitRate {
    BitRate(r_100kbps * 100_000)
}

impl Standard {
    /// The standard called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        [&DOT11A, &DOT11B, &DOT11G].into_iter().find(|standard| standard.name == name)
    }

    /// The mode with this rate.
    pub fn mode(&self, rate: BitRate) -> Option<Mode> {
        self.modes.iter().find(|mode| mode.rate == rate).copied()
    }

    /// The fastest mode.
    pub fn fastest(&self) -> Mode {
        *self.modes.last().expect("a standard has modes")
    }

    /// The usual BSS basic rate set.
    pub fn default_basic_rates(&self) -> impl Iterator<Item = BitRate> + use<> {
        self.basic_100kbps.iter().map(|&r| rate(r))
    }

    /// The mode that answers a frame sent in `eliciting` (clause 10.6.6.5.2): the fastest basic
    /// rate of the same modulation family not above it, else the fastest such mandatory rate.
    pub fn response_mode(&self, eliciting: &Mode, basic: &[BitRate]) -> Mode {
        let best = |allowed: &dyn Fn(BitRate) -> bool| {
            self.modes
                .iter()
                .filter(|m| m.class.is_dsss() == eliciting.class.is_dsss())
                .filter(|m| m.rate <= eliciting.rate && allowed(m.rate))
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
    }
}
