//! Rate control: which mode the next attempt is sent in.
//!
//! Each link, from one sender to one receiver, has a machine of its own. It is asked before every
//! attempt and told what became of it; beyond that it knows nothing.

mod aarf;
mod arf;
mod cara;
mod fixed;
mod ideal;
mod ladder;
mod minstrel;
mod minstrel_ht;
mod rraa;
mod sampling;
mod schedule;

pub use aarf::Aarf;
pub use arf::{Arf, Patience};
pub use cara::Cara;
pub use fixed::Fixed;
pub use ideal::Ideal;
pub use ladder::{Ladder, Rung, exchange_time};
pub use minstrel::Minstrel;
pub use minstrel_ht::MinstrelHt;
pub use rraa::Rraa;
pub use schedule::Schedule;

use crate::phy::Mode;
use kernel::{Db, Instant};
use std::fmt::Debug;

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
