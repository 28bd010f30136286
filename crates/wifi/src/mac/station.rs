//! A station's DCF state: its frame in service, retry counts, window and duplicate filter.

use super::timing::BackoffDraw;
use crate::phy::Mode;
use kernel::{Bytes, Rng};
use wire::Packet;

/// The frame in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) packet: Packet,
    /// Node it goes to over the air; `None` is broadcast.
    pub(crate) to: Option<u32>,
    pub(crate) mode: Mode,
    /// Bytes of the PSDU, FCS included.
    pub(crate) psdu: Bytes,
    pub(crate) with_rts: bool,
    pub(crate) sequence: u16,
    /// Attempts that failed before the data frame got an answer (SRC; clause 10.3.4.4).
    short_retries: u32,
    /// Attempts in which the data frame after a CTS got no ACK (LRC).
    long_retries: u32,
    /// Times the exchange was begun.
    pub(crate) attempts: u32,
    /// The receiver has the frame.
    pub(crate) received: bool,
}

/// What a failed attempt leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Retry,
    Drop,
}

/// Retry limits and contention windows of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistence {
    pub(crate) short_limit: u32,
    pub(crate) long_limit: u32,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    pub(crate) draw: BackoffDraw,
}

/// One node's DCF.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) frame: Option<Frame>,
    cw: u32,
    next_sequence: u16,
    backoff: Backoff,
}

/// Where back-offs come from: the node's random stream, or a test's list.
#[derive(Debug)]
pub(crate) enum Backoff {
    Random(Rng),
    #[cfg(test)]
    Listed(std::collections::VecDeque<u32>),
}

impl Station {
    pub(crate) fn new(persistence: &Persistence, backoff: Backoff) -> Self {
        Self { frame: None, cw: persistence.cw_min, next_sequence: 0, backoff }
    }

    /// Takes a packet into service.
    pub(crate) fn load(
        &mut self,
        packet: Packet,
        to: Option<u32>,
        mode: Mode,
        psdu: Bytes,
        with_rts: bool,
    ) {
        debug_assert!(self.frame.is_none(), "one frame in service at a time");
        let sequence = self.next_sequence;
        // Twelve bits (clause 9.2.4.4.2).
        self.next_sequence = (sequence + 1) & 0xfff;
        self.frame = Some(Frame {
            packet,
            to,
            mode,
            psdu,
            with_rts,
            sequence,
            short_retries: 0,
            long_retries: 0,
            attempts: 0,
            received: false,
        });
    }

    /// Draws a back-off from the current window.
    pub(crate) fn draw(&mut self, persistence: &Persistence) -> u32 {
        let highest = match persistence.draw {
            BackoffDraw::Standard => self.cw,
            BackoffDraw::Ns2 => self.cw.saturating_sub(1),
        };
        match &mut self.backoff {
            Backoff::Random(rng) => rng.up_to(highest),
            #[cfg(test)]
            Backoff::Listed(list) => list.pop_front().unwrap_or(highest),
        }
    }

    /// The frame got its answer, or needed none.
    pub(crate) fn succeed(&mut self, persistence: &Persistence) -> Option<Frame> {
        self.cw = persistence.cw_min;
        self.frame.take()
    }

    /// The frame got no answer; `after_cts` says that its CTS had come.
    ///
    /// Limits count attempts in all: a frame is given up when its count reaches the limit, and the
    /// window then starts anew (clauses 10.3.3, 10.3.4.4).
    pub(crate) fn fail(&mut self, persistence: &Persistence, after_cts: bool) -> Failure {
        let Some(frame) = &mut self.frame else { return Failure::Retry };
        let exhausted = if after_cts {
            frame.short_retries = 0;
            frame.long_retries += 1;
            frame.long_retries >= persistence.long_limit
        } else {
            frame.short_retries += 1;
            frame.short_retries >= persistence.short_limit
        };
        if exhausted {
            self.cw = persistence.cw_min;
            Failure::Drop
        } else {
            self.cw = (2 * self.cw + 1).min(persistence.cw_max);
            Failure::Retry
        }
    }

    /// The contention window.
    pub(crate) fn window(&self) -> u32 {
        self.cw
    }
}
