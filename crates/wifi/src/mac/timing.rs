//! Interframe spaces, timeouts, and rules with named alternatives.
//!
//! The standard is the default, and a departure is a named option. `wlan.eifs`, `wlan.slot_grid`,
//! `wlan.countdown`, `wlan.idle_access`, `wlan.backoff_draw`, `wlan.ppdu_timing`,
//! `wlan.aggregation.delivery` and others hold what Bianchi's chain, ns-2 and ns-3 do differently;
//! `docs/validation.md` says which option explains which difference. The defaults are those of
//! 802.11-2020: bystanders of a collision wait an EIFS, the senders that collided wait their ACK or
//! CTS timeout and the next slot boundary, and a slot in which another station begins to transmit
//! is not counted down.

use crate::phy::he::GroupLayout;
use crate::phy::{
    DOT11G, LONGEST_PPDU, Mode, Preamble, Standard, airtime, longest_psdu, psdu_within,
};
use kernel::{BitRate, Bytes, Duration};
use settings::{Choice, Settings};
use wire::FrameKind;

/// What precedes the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Nothing.
    #[default]
    None,
    /// RTS and CTS.
    Rts,
    /// A CTS-to-self. Its transmitter does not notice when it is lost.
    CtsToSelf,
}

/// Bytes of an ACK or a CTS, FCS included (clauses 9.3.1.3, 9.3.1.4).
pub(crate) const ACK: Bytes = Bytes(14);
/// Bytes of an RTS, FCS included (clause 9.3.1.2).
pub(crate) const RTS: Bytes = Bytes(20);
/// Bytes of the frame check sequence.
pub use wire::FCS;

/// How long a station defers after a frame that it could not decode (clause 10.3.2.3.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Eifs {
    /// SIFS + the time of an ACK at the lowest mandatory rate + DIFS. The rate is that of the
    /// modulation class of the frame, whatever the basic rates are: 1 Mb/s after DSSS and CCK, 6
    /// Mb/s after OFDM.
    #[default]
    Standard,
    /// Dynamic EIFS: SIFS + the time of the ACK that the failed frame would have elicited + DIFS.
    Estimated,
    /// The same time as a NAV, which no received frame ends and which a DIFS follows. A signal that
    /// begins while the station receives another frame, or transmits, causes it too. ns-2 does
    /// this. With `[radio]` only.
    Ns2,
    /// DIFS, as if the frame had been decoded.
    None,
}

/// What a frame that could not be decoded does to a node's virtual carrier sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferral {
    /// The next idle time begins with an EIFS, which is so much longer than a DIFS, unless the node
    /// decodes a frame before.
    Extra(Duration),
    /// A NAV of this duration.
    Nav(Duration),
}

/// Where a station's back-off slots begin after a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SlotGrid {
    /// Third parties count slots from the end of the EIFS. The colliding stations count on the grid
    /// of DIFS and slots after the medium became idle, from the first boundary after their timeout
    /// (clauses 10.3.4.3 and 10.3.7).
    #[default]
    Standard,
    /// All stations resume together when the EIFS ends, on one grid, as Bianchi's Markov chain
    /// assumes.
    Shared,
    /// All stations resume together when the medium has been idle for a DIFS, without a timeout and
    /// without an EIFS, as in the paper on full duplex by Pai, Mehta and Singh.
    Difs,
    /// Third parties as in `Standard`. The colliding stations count from the end of their timeout,
    /// off the grid of the others. ns-3 does this.
    Free,
}

/// Whether a slot in which another station begins to transmit counts as counted down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Countdown {
    /// As DCF or EDCA says. Under DCF only idle slots count (clause 10.3.4.3); in the first slot
    /// after a busy period only stations with a new back-off can transmit. Under EDCA the slot
    /// counts: a station that does not transmit at a slot boundary counts down there (clause
    /// 10.23.2.4).
    #[default]
    Standard,
    /// Only idle slots count, under EDCA too.
    IdleSlots,
    /// The slot counts: each busy period is a step of the Markov chain, as in Bianchi's model (JSAC
    /// 18:3, 2000).
    Bianchi,
}

/// What happens when the back-offs of several nodes end in the same slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Collisions {
    /// All of them transmit, and their frames collide.
    #[default]
    Standard,
    /// One of them transmits, in turn, and the others draw another back-off from the same window.
    /// No network can do this; it shows what collisions cost.
    None,
}

/// The range of a back-off draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum BackoffDraw {
    /// Uniform in 0..=CW (clause 10.3.3).
    #[default]
    Standard,
    /// Uniform in 0..CW, CW itself excluded. ns-2 does this.
    Ns2,
}

/// When a station transmits a frame that arrives while the medium is idle and no back-off is
/// pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum IdleAccess {
    /// Once the medium has been idle for a DIFS or AIFS, without a back-off (clause 10.3.4.2).
    #[default]
    Standard,
    /// After a back-off, whose slots begin a DIFS after the arrival. ns-2 does this. DCF only.
    Ns2,
}

/// How exact the durations of DSSS and CCK frames are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Durations {
    /// Whole microseconds (clause 16.3.4). Duration fields are exact, and all stations agree on the
    /// end of an exchange.
    #[default]
    Standard,
    /// Nanoseconds, while Duration fields are rounded to the nearest microsecond. Where the NAV is
    /// longer than the exchange, the slots of third parties begin later than those of the two
    /// parties: a third party then detects the transmission of a party within a slot in which both
    /// should have collided. ns-2 does this.
    Ns2,
}

/// What protects OFDM frames where some stations cannot decode them (clauses 10.27 and 18.4.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Protection {
    /// Nothing.
    #[default]
    None,
    /// A CTS-to-self in DSSS or CCK.
    CtsToSelf,
    /// RTS and CTS in DSSS or CCK.
    RtsCts,
}

/// Durations of a network.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Timing {
    /// The standard.
    #[setting(skip, default = &DOT11G)]
    pub standard: &'static Standard,
    /// Form of the DSSS preamble.
    #[setting(skip)]
    pub preamble: Preamble,
    /// BSS basic rate set.
    #[setting(skip, default = DOT11G.default_basic_rates().collect())]
    pub basic_rates: Vec<BitRate>,
    /// Slot time, with the propagation time of the coverage class.
    #[setting(skip, default = DOT11G.slot)]
    pub slot: Duration,
    /// Coverage class: the slot time is longer by 3 us for each, and with it DIFS, AIFS and the
    /// time that a station waits for a response, which is room for another 450 m (802.11-2020 table
    /// 9-95 and clause 10.21.5). The standard has the classes 0 to 31, for 14 km; Linux takes up to
    /// 255.
    #[setting(default = 0, range = 0..=255)]
    pub coverage_class: u32,
    /// What protects OFDM frames; in 802.11g only.
    #[setting(skip)]
    pub protection: Protection,
    /// How long a station defers after a frame that it could not decode.
    pub eifs: Eifs,
    /// Where slots begin after a collision.
    pub slot_grid: SlotGrid,
    /// When a frame is transmitted that arrives while the medium is idle.
    pub idle_access: IdleAccess,
    /// Durations of DSSS and CCK frames.
    pub durations: Durations,
    /// The duration of preamble and header of each data frame in microseconds, after which its
    /// bytes last as long as they take at its rate, without SERVICE, tail and padding bits. Most
    /// analytic models compute so. Any rate is then allowed where `secondary_rate_mbps` is set.
    /// Default: data frames last as long as the PHY of the standard says.
    #[setting(key = "model_header_us", range = 0.0..=1000.0)]
    pub model_header: Option<Duration>,
    /// Mode of RTS frames; `None` is by the standard.
    #[setting(skip)]
    pub rts: Option<Mode>,
}

impl SlotGrid {
    /// Whether all stations count from the same instant after a collision. This needs a cell in
    /// which all receive all.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::Difs)
    }
}

impl Timing {
    /// The timing of a standard with its usual basic rates.
    pub fn of(standard: &'static Standard) -> Self {
        let basic_rates = standard.default_basic_rates().collect();
        Self { standard, basic_rates, slot: standard.slot, ..Self::default() }
    }

    /// SIFS.
    pub fn sifs(&self) -> Duration {
        self.standard.sifs
    }

    /// PIFS = SIFS + slot (clause 10.3.7).
    pub fn pifs(&self) -> Duration {
        self.sifs() + self.slot
    }

    /// What a coverage class adds to the slot time: `aAirPropagationTime`, the time of a signal to
    /// the most distant station and back (table 9-95).
    pub fn air_propagation(&self) -> Duration {
        Duration::from_micros(3) * u64::from(self.coverage_class)
    }

    /// DIFS = SIFS + 2 slots (clause 10.3.7).
    pub fn difs(&self) -> Duration {
        self.standard.sifs + self.slot * 2
    }

    /// EIFS after a frame sent in `failed` that could not be decoded.
    pub fn eifs(&self, failed: &Mode) -> Duration {
        let ack = match self.eifs {
            Eifs::None => return self.difs(),
            Eifs::Standard | Eifs::Ns2 => self.standard.lowest_mandatory(failed.class),
            Eifs::Estimated => self.response_mode(failed),
        };
        // The Ack at the lowest DSSS rate always has the long preamble, and so has the EIFS.
        self.sifs() + airtime(&ack, self.preamble, ACK).total() + self.difs()
    }

    /// What a frame in `failed` that could not be decoded does.
    pub(crate) fn deferral(&self, failed: &Mode) -> Deferral {
        match self.eifs {
            Eifs::Ns2 => Deferral::Nav(self.eifs(failed)),
            _ => Deferral::Extra(self.eifs_beyond_difs(failed)),
        }
    }

    /// By how much the EIFS after a frame in `failed` is longer than a DIFS.
    pub(crate) fn eifs_beyond_difs(&self, failed: &Mode) -> Duration {
        self.eifs(failed).saturating_sub(self.difs())
    }

    /// Ack or CTS timeout after the end of a frame sent in `eliciting`: SIFS + slot +
    /// `aRxPHYStartDelay` of the response (clauses 10.3.2.9, 10.3.2.11).
    pub fn response_timeout(&self, eliciting: &Mode) -> Duration {
        let answer = self.response_mode(eliciting);
        self.sifs() + self.slot + self.standard.rx_start_delay(&answer, self.preamble)
    }

    /// How long an access point waits for HE TB PPDUs after the frame that asks for them: SIFS +
    /// slot + their `aRxPHYStartDelay` (clause 10.23.2.2, of whatever requires an immediate
    /// response).
    pub(crate) fn units_timeout(&self, answers: &GroupLayout) -> Duration {
        self.sifs() + self.slot + answers.rx_start_delay()
    }

    /// Duration of a PPDU in `mode` with `psdu` bytes.
    pub fn airtime(&self, mode: &Mode, psdu: Bytes) -> crate::phy::Airtime {
        let mut parts = airtime(mode, self.preamble, psdu);
        if self.durations == Durations::Ns2 && mode.class.is_dsss() {
            parts.payload = Duration(psdu.bits() * 1_000_000_000 / mode.rate.0);
        }
        parts
    }

    /// Duration of a data frame in `mode` with `psdu` bytes.
    pub fn data_airtime(&self, mode: &Mode, psdu: Bytes) -> crate::phy::Airtime {
        match self.model_header {
            None => self.airtime(mode, psdu),
            Some(preamble) => {
                let payload = Duration(psdu.bits() * 1_000_000_000 / mode.rate.0);
                crate::phy::Airtime { preamble, payload, ..Default::default() }
            }
        }
    }

    /// Duration of a frame of this type.
    pub(crate) fn frame_airtime(
        &self,
        kind: FrameKind,
        mode: &Mode,
        psdu: Bytes,
    ) -> crate::phy::Airtime {
        match kind {
            FrameKind::Data => self.data_airtime(mode, psdu),
            _ => self.airtime(mode, psdu),
        }
    }

    /// The longest PSDU of a data frame that lasts no longer than `within`; `None` if its preamble
    /// and headers alone last longer.
    pub fn psdu_within(&self, mode: &Mode, within: Duration) -> Option<Bytes> {
        let Some(preamble) = self.model_header else {
            return psdu_within(mode, self.preamble, within);
        };
        let within = if mode.class.is_high() { within.min(LONGEST_PPDU) } else { within };
        let payload = u128::from(within.0.checked_sub(preamble.0)?);
        let most = payload * u128::from(mode.rate.0) / 8_000_000_000;
        Some(longest_psdu(mode.class).min(Bytes(most as u64)))
    }

    /// How long a Duration field reserves the medium for a rest of an exchange that lasts so long.
    pub(crate) fn reservation(&self, lasting: Duration) -> Duration {
        match self.durations {
            Durations::Standard => lasting,
            Durations::Ns2 => Duration::from_micros((lasting.0 + 500) / 1000),
        }
    }

    /// Mode of the Ack or CTS that responds to a frame sent in `eliciting`.
    pub fn response_mode(&self, eliciting: &Mode) -> Mode {
        self.standard.response_mode(eliciting, &self.basic_rates)
    }

    /// What precedes data sent in `data`. `with_rts` says that the node sends an RTS in any case,
    /// which is also protection.
    pub(crate) fn opening_of(&self, data: &Mode, with_rts: bool) -> Opening {
        match self.protection_of(data) {
            _ if with_rts => Opening::Rts,
            Protection::RtsCts => Opening::Rts,
            Protection::CtsToSelf => Opening::CtsToSelf,
            Protection::None => Opening::None,
        }
    }

    fn protection_of(&self, data: &Mode) -> Protection {
        if data.class.is_dsss() { Protection::None } else { self.protection }
    }

    /// Mode of the RTS or CTS before data sent in `data`. With protection, it is the fastest basic
    /// rate of DSSS and CCK. Else it is a basic rate of the modulation class of `data`, or its
    /// fastest mandatory rate (clause 10.6.6.2). `rts` overrides both.
    pub fn rts_mode(&self, data: &Mode) -> Mode {
        let dsss = self.standard.modes.iter().rfind(|mode| mode.class.is_dsss());
        if let Some(rts) = &self.rts
            && rts.class.is_dsss() == data.class.is_dsss()
        {
            return *rts;
        }
        match dsss.filter(|_| self.protection_of(data) != Protection::None) {
            Some(fastest) => self.response_mode(fastest),
            None => self.standard.opening_mode(data, &self.basic_rates),
        }
    }

    /// Duration of RTS and CTS before data sent in `data`, with their SIFS.
    pub(crate) fn opening(&self, data: &Mode) -> Duration {
        let rts = self.rts_mode(data);
        let cts = self.airtime(&self.response_mode(&rts), ACK).total();
        self.airtime(&rts, RTS).total() + cts + self.sifs() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DOT11A, DOT11B};

    fn us(d: Duration) -> u64 {
        assert_eq!(d.0 % 1000, 0);
        d.0 / 1000
    }

    #[test]
    fn interframe_spaces() {
        let (b, a, g) = (Timing::of(&DOT11B), Timing::of(&DOT11A), Timing::of(&DOT11G));
        assert_eq!([us(b.difs()), us(a.difs()), us(g.difs())], [50, 34, 28]);
        assert_eq!(us(b.eifs(&DOT11B.fastest())), 10 + 304 + 50);
        assert_eq!(us(a.eifs(&DOT11A.fastest())), 16 + 44 + 34);
        assert_eq!(us(g.eifs(&DOT11G.fastest())), 10 + 50 + 28);
    }

    #[test]
    fn an_eifs_does_not_depend_on_the_basic_rates() {
        for (standard, basic, eifs) in [(&DOT11B, 11.0, 364), (&DOT11A, 24.0, 94)] {
            let mut timing = Timing::of(standard);
            timing.basic_rates = vec![BitRate::from_mbps(basic)];
            assert_eq!(us(timing.eifs(&standard.fastest())), eifs);
        }
    }

    #[test]
    fn eifs_options() {
        let mut b = Timing::of(&DOT11B);
        b.eifs = Eifs::None;
        assert_eq!(us(b.eifs(&DOT11B.fastest())), 50);
        b.eifs = Eifs::Estimated;
        assert_eq!(us(b.eifs(&DOT11B.fastest())), 10 + 248 + 50, "an ACK at 2 Mb/s");
    }

    #[test]
    fn timeouts_wait_for_the_start_of_the_response() {
        assert_eq!(us(Timing::of(&DOT11B).response_timeout(&DOT11B.fastest())), 10 + 20 + 192);
        assert_eq!(us(Timing::of(&DOT11A).response_timeout(&DOT11A.fastest())), 16 + 9 + 20);
        assert_eq!(us(Timing::of(&DOT11G).response_timeout(&DOT11G.fastest())), 10 + 9 + 20);
    }

    #[test]
    fn ns2_keeps_fractions_of_a_microsecond_and_rounds_reservations() {
        let ns2 = Timing { durations: Durations::Ns2, ..Timing::of(&DOT11B) };
        let mode = DOT11B.fastest();
        assert_eq!(ns2.airtime(&mode, Bytes(74)).total(), Duration(192_000 + 53_818));
        assert_eq!(us(Timing::of(&DOT11B).airtime(&mode, Bytes(74)).total()), 192 + 54);
        assert_eq!(us(ns2.reservation(Duration(771_818))), 772);
        assert_eq!(us(ns2.reservation(Duration(1_499_091))), 1499);
        assert_eq!(Timing::of(&DOT11B).reservation(Duration(771_818)), Duration(771_818));
    }
}
