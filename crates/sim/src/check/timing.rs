//! Times and control rates from the tables of IEEE Std 802.11-2020 and 802.11ax-2021, for checking
//! a network against the standard.
//!
//! This file takes only the amendment and the band from the network's own table, so that an error
//! in one table is found by the other. The checker uses this file, and so do the tests of `wifi`
//! that compare with the standard slot by slot. The duration of the data of HT and later PPDUs is
//! not in it; `crates/wifi/tests/airtime.rs` compares that with published figures.

use kernel::{BitRate, Bytes, Duration};
use wifi::mac::{Durations, Eifs, SlotGrid, Timing};
use wifi::phy::{Airtime, Amendment, Band, Mode, ModeClass, Preamble, Standard, airtime};

/// Bytes of an ACK or a CTS (clauses 9.3.1.3, 9.3.1.4).
const RESPONSE: Bytes = Bytes(14);

/// The characteristics of a PHY, in microseconds, and its mandatory rates in units of 100 kb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Characteristics {
    pub(crate) sifs_us: u64,
    pub(crate) slot_us: u64,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    mandatory: &'static [u64],
}

/// HR/DSSS (table 16-4; clause 16.1.1).
const HR_DSSS: Characteristics = Characteristics {
    sifs_us: 10,
    slot_us: 20,
    cw_min: 31,
    cw_max: 1023,
    mandatory: &[10, 20, 55, 110],
};
/// OFDM of 20 MHz (table 17-21; clause 17.1.1); HT and later at 5 GHz have the same (tables
/// 19-25 and 21-28, clauses 27.4.4 and 36.4.4).
const OFDM: Characteristics = Characteristics {
    sifs_us: 16,
    slot_us: 9,
    cw_min: 15,
    cw_max: 1023,
    mandatory: &[60, 120, 240],
};
/// ERP with the short slot (table 18-5; clause 18.1.2); HT, HE and EHT at 2.4 GHz have the same.
const ERP: Characteristics = Characteristics {
    sifs_us: 10,
    slot_us: 9,
    cw_min: 15,
    cw_max: 1023,
    mandatory: &[10, 20, 55, 110, 60, 120, 240],
};

impl Characteristics {
    pub(crate) fn of(standard: &Standard) -> Self {
        match (standard.amendment, standard.band) {
            (Amendment::B, _) => HR_DSSS,
            (_, Band::Ghz5 | Band::Ghz6) => OFDM,
            (_, Band::Ghz2_4) => ERP,
        }
    }
}

/// The times of a network.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    pub(crate) slot: Duration,
    #[allow(dead_code, reason = "the checker has no slots to count")]
    pub(crate) slot_grid: SlotGrid,
    #[allow(dead_code, reason = "the checker takes Duration fields as they are")]
    pub(crate) durations: Durations,
    characteristics: Characteristics,
    standard: &'static Standard,
    eifs: Eifs,
    preamble: Preamble,
    basic_rates: Vec<BitRate>,
}

impl Times {
    /// The times that follow from the settings of a scenario.
    pub(crate) fn of(timing: &Timing) -> Self {
        let characteristics = Characteristics::of(timing.standard);
        // The alternative slot time is the long one of ERP (table 18-5).
        let propagation_us = 3 * u64::from(timing.coverage_class);
        let is_long = timing.slot > Duration::from_micros(15 + propagation_us);
        let slot_us = if is_long { 20 } else { characteristics.slot_us };
        Self {
            // A coverage class adds its aAirPropagationTime (table 9-95).
            slot: Duration::from_micros(slot_us + propagation_us),
            slot_grid: timing.slot_grid,
            durations: timing.durations,
            characteristics,
            standard: timing.standard,
            eifs: timing.eifs,
            preamble: timing.preamble,
            basic_rates: timing.basic_rates.clone(),
        }
    }

    pub(crate) fn sifs(&self) -> Duration {
        Duration::from_micros(self.characteristics.sifs_us)
    }

    /// SIFS and two slots (clause 10.3.7).
    pub(crate) fn difs(&self) -> Duration {
        self.aifs(2)
    }

    /// SIFS and this many slots (clause 10.23.2.4).
    pub(crate) fn aifs(&self, slots: u32) -> Duration {
        self.sifs() + self.slot * u64::from(slots)
    }

    /// SIFS, an ACK at the lowest mandatory rate, and DIFS (clause 10.3.2.3.7); or the value in the
    /// scenario.
    pub(crate) fn eifs(&self, failed: &Mode) -> Duration {
        let ack = match self.eifs {
            Eifs::None => return self.difs(),
            Eifs::Standard | Eifs::Ns2 => self.lowest(failed, |rate| self.is_mandatory(rate)),
            Eifs::Estimated => Some(self.response_mode(failed)),
        };
        let ack = ack.expect("every family has a mandatory rate");
        self.sifs() + self.airtime(&ack, RESPONSE).total() + self.difs()
    }

    /// Whether a received frame does not end an EIFS, which a DIFS follows.
    #[allow(dead_code, reason = "only the checker of a space needs it")]
    pub(crate) fn eifs_is_nav(&self) -> bool {
        self.eifs == Eifs::Ns2
    }

    /// SIFS, a slot and `aRxPHYStartDelay` of the response (clauses 10.3.2.9, 10.3.2.11).
    #[allow(dead_code, reason = "the checker does not wait for answers")]
    pub(crate) fn response_timeout(&self, eliciting: &Mode) -> Duration {
        self.sifs() + self.slot + self.rx_start_delay(&self.response_mode(eliciting))
    }

    /// Preamble and header: 192 or 96 us of DSSS and CCK (table 16-4), 20 us of OFDM (tables 17-21,
    /// 18-5).
    pub(crate) fn rx_start_delay(&self, mode: &Mode) -> Duration {
        let Airtime { preamble, header, .. } = self.airtime(mode, Bytes(0));
        preamble + header
    }

    /// The highest basic rate of the family that does not exceed the frame's, otherwise the highest
    /// such mandatory rate (clause 10.6.6.5.2).
    pub(crate) fn response_mode(&self, eliciting: &Mode) -> Mode {
        let most = reference_100kbps(eliciting);
        let fastest = |allowed: &dyn Fn(u64) -> bool| {
            let fits = |&rate: &u64| rate <= most && allowed(rate);
            family(eliciting).filter(fits).max().map(|rate| self.mode(rate))
        };
        let basic = fastest(&|rate| self.is_basic(rate));
        basic.or_else(|| fastest(&|rate| self.is_mandatory(rate))).expect("a rate answers")
    }

    /// An RTS has a basic rate (clause 10.6.6.2), unless it is for protection.
    #[allow(dead_code, reason = "the checker does not send")]
    pub(crate) fn rts_mode(&self, data: &Mode) -> Mode {
        self.response_mode(data)
    }

    /// A broadcast has the lowest basic rate of the family (clause 10.6.5.2).
    #[allow(dead_code, reason = "the checker does not send")]
    pub(crate) fn broadcast_mode(&self, family: &Mode) -> Mode {
        let basic = self.lowest(family, |rate| self.is_basic(rate));
        let mandatory = || self.lowest(family, |rate| self.is_mandatory(rate));
        basic.or_else(mandatory).expect("every family has a mandatory rate")
    }

    /// Preamble, header and payload of a PPDU (clauses 16.2.2, 16.3.4, 17.4.3 and 18.5.3.2).
    pub(crate) fn airtime(&self, mode: &Mode, psdu: Bytes) -> Airtime {
        let us = Duration::from_micros;
        let (rate, bits) = (mode.rate.0 / 100_000, psdu.bits());
        let (preamble, header, payload, extension) = match mode.class {
            ModeClass::Dsss | ModeClass::HrDsss => {
                let short = self.preamble == Preamble::Short && rate > 10;
                let (preamble, header) = if short { (72, 24) } else { (144, 48) };
                let payload = match self.durations {
                    Durations::Standard => us((bits * 10).div_ceil(rate)),
                    Durations::Ns2 => Duration(bits * 10_000 / rate),
                };
                (preamble, header, payload, 0)
            }
            // Symbols of 4 us; 16 service and 6 tail bits.
            ModeClass::Ofdm => (16, 4, us(4 * ((22 + bits) * 10).div_ceil(4 * rate)), 0),
            ModeClass::ErpOfdm => (16, 4, us(4 * ((22 + bits) * 10).div_ceil(4 * rate)), 6),
            ModeClass::Ht | ModeClass::Vht | ModeClass::He | ModeClass::Eht => {
                return airtime(mode, self.preamble, psdu);
            }
        };
        Airtime { preamble: us(preamble), header: us(header), payload, extension: us(extension) }
    }

    fn is_basic(&self, rate: u64) -> bool {
        self.basic_rates.contains(&BitRate(rate * 100_000))
    }

    fn is_mandatory(&self, rate: u64) -> bool {
        self.characteristics.mandatory.contains(&rate)
    }

    fn lowest(&self, of: &Mode, allowed: impl Fn(u64) -> bool) -> Option<Mode> {
        family(of).find(|&rate| allowed(rate)).map(|rate| self.mode(rate))
    }

    /// The mode of a rate, if it is one of the standard.
    pub(crate) fn standard_mode(&self, rate: BitRate) -> Option<Mode> {
        self.standard.mode(rate)
    }

    fn mode(&self, rate: u64) -> Mode {
        self.standard.mode(BitRate(rate * 100_000)).expect("a rate of the standard")
    }
}

/// The rates of DSSS and CCK, or those of OFDM, in ascending order (clauses 16.1.1, 17.1.1).
fn family(of: &Mode) -> impl Iterator<Item = u64> + use<> {
    let rates: &[u64] = match of.class {
        ModeClass::Dsss | ModeClass::HrDsss => &[10, 20, 55, 110],
        _ => &[60, 90, 120, 180, 240, 360, 480, 540],
    };
    rates.iter().copied()
}

/// The rate of a frame in units of 100 kb/s. For an MCS it is that of OFDM with the same modulation
/// and code rate, or the highest (table 10-10).
fn reference_100kbps(mode: &Mode) -> u64 {
    match mode.class {
        ModeClass::Ht | ModeClass::Vht | ModeClass::He | ModeClass::Eht => match mode.mcs {
            0 => 60,
            1 => 120,
            2 => 180,
            3 => 240,
            4 => 360,
            5 => 480,
            _ => 540,
        },
        _ => mode.rate.0 / 100_000,
    }
}
