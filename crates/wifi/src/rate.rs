//! Rate control: which mode the next attempt is sent in.
//!
//! Each link, from one sender to one receiver, has a machine of its own. It is asked before every
//! attempt and told what became of it; beyond that it knows nothing.

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
    /// How a link chooses the modes of its data frames.
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

/// A rule by which links choose their modes, as its settings say it.
pub trait Rule: Debug {
    /// Finds what does not fit a link, in a run until `end`; the rule is set at `at`.
    fn check(&self, _link: &LinkModes, _end: Instant, _at: &Path, _faults: &mut Faults) {}

    /// The modes among which it chooses for a link by what becomes of frames.
    fn modes(&self, link: &LinkModes) -> Vec<Mode> {
        link.modes()
    }

    /// The machine of a link; none where the mode never changes. The error model is that of the
    /// receivers.
    fn build(
        &self,
        link: &LinkModes,
        model: &dyn ErrorModel,
        rng: Rng,
    ) -> Option<Box<dyn RateControl>>;
}

/// How to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Mode of the data.
    pub mode: Mode,
    /// Whether RTS and CTS shall go before it, whatever its size.
    pub rts: bool,
}

impl Choice {
    fn plain(mode: Mode) -> Self {
        Self { mode, rts: false }
    }
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No CTS: the data was not sent. An RTS goes at a robust rate, so this tells of a collision.
    NoCts,
    /// No acknowledgement.
    None,
    /// An acknowledgement of so many MPDUs.
    Acked(u32),
}

/// What became of one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TxReport {
    /// Mode of the data.
    pub mode: Mode,
    /// Whether RTS and CTS went before it.
    pub rts: bool,
    /// MPDUs in the PPDU.
    pub sent: u32,
    /// What came back.
    pub answer: Answer,
    /// Signal to noise ratio at the receiver, in the bandwidth of `mode`, if an answer tells it.
    pub snr: Option<Db>,
}

impl TxReport {
    /// MPDUs that arrived.
    pub fn acked(&self) -> u32 {
        match self.answer {
            Answer::Acked(count) => count,
            Answer::NoCts | Answer::None => 0,
        }
    }

    /// For machines that know success and failure only: an A-MPDU succeeds if at least half of it
    /// arrives. `None` if the data was not sent.
    pub fn success(&self) -> Option<bool> {
        match self.answer {
            Answer::NoCts => None,
            Answer::None => Some(false),
            Answer::Acked(count) => Some(count > 0 && 2 * count >= self.sent),
        }
    }
}

/// A rate controller of one link.
pub trait RateControl: Debug + Send {
    /// How to send the next attempt of a frame; its first is number 0. Who asks need not send: the
    /// answer then holds until an attempt is reported.
    fn select(&mut self, now: Instant, attempt: u32) -> Choice;
    /// An attempt has ended.
    fn on_report(&mut self, now: Instant, report: &TxReport);
}

#[cfg(test)]
mod tests;
