//! Rate control: the mode of the next attempt.
//!
//! Each link direction has its own controller, which knows only the attempts: it chooses the mode
//! before each attempt and learns the result after it.

mod candidates;
mod ladder;
mod link;
mod sampling;

pub use ladder::{Ladder, Rung, exchange_time};
pub use link::LinkModes;

use crate::phy::Mode;
use crate::phy::error::ErrorModel;
use kernel::{Db, Instant, Rng};
use settings::{Faults, Path};
use std::fmt::Debug;

settings::registry! {
    /// Rate control of data frames.
    #[settings(name = "RateControl")]
    pub enum RateControlSettings: Rule = Fixed;
    fixed: Fixed(Fixed),
    schedule: Schedule(ScheduleSettings),
    arf: Arf(ArfSettings),
    aarf: Aarf(AarfSettings),
    simple: Simple(Simple),
    cara: Cara(CaraSettings),
    rraa: Rraa(RraaSettings),
    minstrel: Minstrel(MinstrelSettings),
    minstrel_ht: MinstrelHt(MinstrelHtSettings),
    ideal: Ideal(IdealSettings),
    #[cfg(feature = "toy")]
    toy: Toy(ToyRateConfig),
}

/// A rate control algorithm with its settings.
pub trait Rule: Debug {
    /// Reports settings that do not fit a link, in a run until `end`. `at` is the path of the
    /// settings.
    fn check(&self, _link: &LinkModes, _end: Instant, _at: &Path, _faults: &mut Faults) {}

    /// The modes from which the algorithm chooses by the results of attempts.
    fn modes(&self, link: &LinkModes) -> Vec<Mode> {
        link.modes()
    }

    /// The controller of a link direction; `None` if the mode never changes. `model` is the error
    /// model of the receivers.
    fn build(
        &self,
        link: &LinkModes,
        model: &dyn ErrorModel,
        rng: Rng,
    ) -> Option<Box<dyn RateControl>>;
}

/// The parameters of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttemptParameters {
    /// Mode of the data.
    pub mode: Mode,
    /// Whether RTS and CTS precede it at any size.
    pub rts: bool,
    /// Whether the PPDU carries one MPDU only, because it samples a mode that may fail.
    pub alone: bool,
    /// The slowest mode in which the frame may be sent, if all further attempts fail.
    pub slowest: Mode,
}

impl AttemptParameters {
    fn plain(mode: Mode) -> Self {
        Self { mode, rts: false, alone: false, slowest: mode }
    }
}

/// The response to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No CTS: the data was not sent. An RTS has a robust rate, so a missing CTS indicates a
    /// collision.
    NoCts,
    /// No acknowledgement.
    None,
    /// An acknowledgement of this number of MPDUs.
    Acked(u32),
}

/// The result of one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TxReport {
    /// Mode of the data.
    pub mode: Mode,
    /// Whether RTS and CTS preceded it.
    pub rts: bool,
    /// MPDUs in the PPDU.
    pub sent: u32,
    /// The response.
    pub answer: Answer,
    /// Signal to noise ratio at the receiver, in the bandwidth of `mode`, if it is known from a
    /// response.
    pub snr: Option<Db>,
}

impl TxReport {
    /// MPDUs that were acknowledged.
    pub fn acked(&self) -> u32 {
        match self.answer {
            Answer::Acked(count) => count,
            Answer::NoCts | Answer::None => 0,
        }
    }

    /// Success or failure, for algorithms that distinguish nothing else: an A-MPDU succeeds if at
    /// least half of it arrives. `None` if the data was not sent.
    pub fn success(&self) -> Option<bool> {
        match self.answer {
            Answer::NoCts => None,
            Answer::None => Some(false),
            Answer::Acked(count) => Some(count > 0 && 2 * count >= self.sent),
        }
    }
}

/// The rate controller of one link direction.
pub trait RateControl: Debug + Send {
    /// The parameters of an attempt of a frame, counted from 0. The caller need not transmit: the
    /// result then holds until an attempt is reported.
    fn select(&mut self, now: Instant, attempt: u32) -> AttemptParameters;
    /// An attempt has ended.
    fn on_report(&mut self, now: Instant, report: &TxReport);
}

#[cfg(test)]
mod tests;
