//! Full duplex: an access point that sends to one station while it receives from another, as in
//! V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel implications of
//! the AP's new capability".
//!
//! Station A wins the contention, alone or at the same instant as the access point. After its RTS
//! and the CTS of the access point, A sends its data frame, the primary frame. At the same instant
//! the access point sends a data frame to another station B, the secondary frame, without an RTS of
//! its own and without a CTS of B. The MAC ACKs of the access point and of B begin together, a SIFS
//! after the end of the longer frame. This file has the settings, and the secondary frame as data.

use super::exchange::{Exchange, ExchangeOutcome, OtherFrame, Step, StepKind};
use super::timing::{ACK, Timing};
use crate::phy::Mode;
use kernel::{BitRate, Bytes, Duration};
use settings::{Choice, Settings};

/// Which packet an access point sends while it receives from a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Serve {
    /// The first packet that is not for that station: of the packet in service and then of the
    /// queue, by the order of its discipline.
    #[default]
    First,
    /// The packet in service. If it is for that station, the access point sends nothing.
    HeadOfLine,
    /// The first packet for the station to which the secondary rate is highest.
    BestRate,
    /// The first packet for a station drawn at random among those with packets.
    Random,
}

/// The contention window of an access point whose own RTS went on the air together with the RTS of
/// one station, and which has then sent a secondary frame with success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum OwnRts {
    /// It returns to its minimum, as after any success.
    #[default]
    Reset,
    /// It doubles, because the RTS was not received.
    Double,
}

/// An access point that sends to one station while it receives from another.
///
/// It joins each exchange of a station that begins with RTS and CTS, if it has a packet for another
/// station. Where stations collide, where the access point wins alone, and where it has no such
/// packet, the exchange is half duplex. After a collision, stations wait as `eifs` and `slot_grid`
/// say: with "none" and "shared" they resume a DIFS after the RTS.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct FullDuplex {
    /// Rate of secondary frames in Mb/s, which the interference between the two stations limits.
    /// Default: the rate of the access point's other data frames to the station.
    #[setting(key = "secondary_rate_mbps", range = 0.1..=1e4)]
    pub secondary_rate: Option<BitRate>,
    /// Which packet the access point sends while it receives.
    pub serve: Serve,
    /// The contention window after a success in which the access point's own RTS was not received.
    pub own_rts: OwnRts,
}

impl FullDuplex {
    /// The mode of secondary frames to a station to which other frames have the mode `other`;
    /// `None` if the rate is no rate of the standard.
    pub fn mode(&self, timing: &Timing, other: &Mode) -> Option<Mode> {
        match self.secondary_rate {
            None => Some(*other),
            Some(rate) if timing.model_header.is_some() => Some(other.at_rate(rate)),
            Some(rate) => timing.standard.mode(rate),
        }
    }
}

/// The data frame that the access point sends while it receives, and the response to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secondary {
    /// The station to which it is addressed.
    pub receiver: u32,
    /// The data frame.
    pub data: Step,
    /// The response; none if noise destroys the data frame.
    pub answer: Option<Step>,
    /// The outcome.
    pub outcome: ExchangeOutcome,
    /// Bytes of the data frame, FCS included.
    pub psdu: Bytes,
    /// Rate of the data frame.
    pub rate: BitRate,
    /// The receiver has the packet already.
    pub repeated: bool,
    /// The access point sent an RTS of its own at the same instant as the station.
    pub own_rts: bool,
}

/// What an access point sends beside a station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondaryRequest {
    pub(crate) receiver: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) outcome: ExchangeOutcome,
    pub(crate) repeated: bool,
    pub(crate) own_rts: bool,
}

impl Secondary {
    /// Lays out the secondary frame beside the data frame of an exchange, and moves the responses
    /// of the exchange to the end of the longer frame.
    pub(crate) fn beside(
        exchange: &mut Exchange,
        timing: &Timing,
        request: &SecondaryRequest,
    ) -> Self {
        let SecondaryRequest { receiver, mode, psdu, outcome, repeated, own_rts } = *request;
        let start = exchange.data().expect("a primary frame").start;
        let data = Step { kind: StepKind::Data, start, airtime: timing.data_airtime(&mode, psdu) };
        let airtime = timing.airtime(&timing.response_mode(&mode), ACK);
        let is_answered = outcome != ExchangeOutcome::DataLost;
        let other = OtherFrame { end: data.end(), response: airtime.total(), is_answered };
        let start = exchange.join(&other, timing.sifs());
        let answer = is_answered.then_some(Step { kind: StepKind::Ack, start, airtime });
        Self { receiver, data, answer, outcome, psdu, rate: mode.rate, repeated, own_rts }
    }

    /// From the start of the data frame to the end of the response.
    pub fn used(&self) -> Duration {
        self.answer.map_or(self.data.end(), |answer| answer.end()) - self.data.start
    }
}

/// Counters of a full-duplex access point and of its cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplexCounters {
    /// Exchanges in which the access point received the RTS of a station.
    pub primary: u64,
    /// Those of them in which it sent a secondary frame.
    pub secondary: u64,
    /// Secondary frames that were acknowledged.
    pub secondary_sent: u64,
    /// The sum of the rates of secondary frames, in bit/s.
    pub secondary_rates: u64,
    /// Exchanges in which the access point sent an RTS of its own together with one station.
    pub joint: u64,
    /// Exchanges that the access point began alone.
    pub alone: u64,
    /// Instants at which a back-off could end: the ends of idle slots, and the beginnings of busy
    /// periods without an idle slot before them.
    pub steps: u64,
}
