//! A full-duplex node that joins a data frame without RTS and CTS.

use super::Beside;
use crate::phy::Mode;
use crate::space::duplex::PrimaryFrame;
use crate::space::node::Node;
use crate::space::node::own::{Exchange, Own};
use crate::space::rules::SpaceRules;
use kernel::{BitRate, Duration, Instant};

/// A data frame that a full-duplex node may join.
#[derive(Clone, Copy, Debug)]
pub(in crate::space) struct Joinable {
    /// When its MAC header is decoded, and an RTS of the node has ended.
    pub(in crate::space) at: Instant,
    /// The number of its transmission.
    pub(in crate::space) id: u32,
    /// It is over by then.
    pub(in crate::space) is_late: bool,
}

impl Node {
    /// Begins the secondary frame of an EDCAF beside the frame that the node receives, and counts
    /// it. Returns how much later the response to the latter begins.
    pub(in crate::space) fn begin_beside(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        primary: &PrimaryFrame,
        index: usize,
        mode: Mode,
        to: u32,
    ) -> Duration {
        let (frame, longer, _) = self.secondary(rules, primary, index, mode, to);
        self.own = Own::Sending(Exchange { edcaf: index, opened: now, txop: None });
        self.quiet = false;
        self.answer = Some((now, frame));
        if let Some(duplex) = &mut self.duplex {
            duplex.joined = Some(now);
        }
        longer - primary.data
    }

    /// A data frame of the node that began together with one for it is the secondary frame.
    pub(in crate::space) fn send_beside(
        &mut self,
        rate: BitRate,
        data: Duration,
        primary: &PrimaryFrame,
        to: u32,
    ) {
        self.own.end_txop();
        let Some(duplex) = &mut self.duplex else { return };
        let (from, is_secondary, is_data, is_attempt) = (primary.from, true, true, true);
        duplex.mutual = Some(Beside { from, is_secondary, is_data, is_attempt });
        duplex.count_primary(true);
        duplex.count_secondary(rate, data, primary, to);
    }

    /// The node receives a data frame that it may join.
    pub(in crate::space) fn may_join(&mut self, joinable: Joinable) {
        if let Some(duplex) = &mut self.duplex {
            (duplex.joinable, self.joins) = (Some(joinable), true);
        }
    }

    /// The data frame that the node joins now.
    pub(in crate::space) fn joins_now(&mut self, now: Instant) -> Option<Joinable> {
        let duplex = self.duplex.as_mut().filter(|_| self.joins)?;
        let joinable = duplex.joinable.take_if(|joinable| joinable.at <= now);
        self.joins = duplex.joinable.is_some();
        joinable
    }

    /// The node joins no frame, and goes on waiting for a CTS if it has sent an RTS.
    pub(in crate::space) fn await_cts(&mut self, now: Instant) {
        if let Some(awaited) = self.own.awaited_mut() {
            (awaited.receiving, awaited.until) = (false, awaited.until.max(now));
        }
    }

    /// When the node looks whether it joins the frame that it receives.
    pub(in crate::space) fn joins_at(&self) -> Option<Instant> {
        Some(self.duplex()?.joinable?.at)
    }

    /// Whether the node begins to send beside the frame that it receives.
    pub(in crate::space) fn has_joined(&self, now: Instant) -> bool {
        self.duplex().is_some_and(|duplex| duplex.joined == Some(now))
    }

    /// The node could join a data frame if that were longer.
    pub(in crate::space) fn count_primary(&mut self) {
        let with_rts = self.own.exchange().is_some();
        if let Some(duplex) = &mut self.duplex {
            duplex.count_primary(with_rts);
        }
    }
}
