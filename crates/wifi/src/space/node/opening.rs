//! What precedes an exchange with several stations: an MU-RTS, and the CTSs of those that it names
//! (802.11ax-2021 clause 26.2.6).
//!
//! The CTSs are equal and begin together, so that a receiver has the power of all. The access point
//! knows that somebody has answered, and not who: it then sends to all.

use super::own::Awaited;
use super::{Node, NodeGroups};
use crate::mac::{ACK, ElicitedResponse, MuRts};
use crate::phy::Width;
use crate::space::frame::{OnAir, Users};
use crate::space::rules::SpaceRules;
use kernel::{Duration, Instant};
use wire::FrameKind;

impl NodeGroups {
    /// The exchange is over: returns whether nobody has answered its MU-RTS.
    pub(super) fn end_opening(&mut self) -> bool {
        self.has_arrived &= !self.is_opening;
        std::mem::take(&mut self.is_opening)
    }
}

impl Node {
    /// The MU-RTS of the exchange on the air; `None` if it has none.
    pub(in crate::space) fn mu_rts(&self) -> Option<&MuRts> {
        let of_group = self.group().and_then(|(group, _)| group.opening.as_ref());
        of_group.or_else(|| self.triggered()?.0.opening.as_ref())
    }

    /// The width of the channel that it asks for: CTSs are in whole channels.
    pub(in crate::space) fn group_width(&self) -> Width {
        let width = self.groups.as_ref().map_or(Width::default(), |groups| groups.width);
        let won = self.own.edcaf().and_then(|index| self.edcaf(index).won);
        won.map_or(width, |won| won.idle(width))
    }

    /// Begins with an MU-RTS to stations. What it protects takes so long, with all that follows.
    pub(super) fn open_by(
        &mut self,
        index: usize,
        rts: &MuRts,
        lasts: Duration,
        rules: &SpaceRules,
    ) -> OnAir {
        if let Some(groups) = &mut self.groups {
            groups.is_opening = true;
        }
        let after = rts.lasts() - rts.request.total();
        OnAir {
            kind: FrameKind::Trigger,
            from: self.id,
            to: None,
            edcaf: index as u8,
            mode: rts.mode,
            psdu: rts.bytes,
            reserves: rules.timing().reservation(after + lasts),
            answer: ElicitedResponse::None,
            beside: None,
            users: Users::Opening,
        }
    }

    /// The node has sent an MU-RTS, and waits for CTSs.
    pub(super) fn await_ctss(&mut self, now: Instant, frame: &OnAir, rules: &SpaceRules) {
        let (sifs, timeout) = (rules.timing().sifs(), rules.responses(&frame.mode).timeout);
        self.await_response(Awaited::after(now, FrameKind::Cts, sifs, timeout));
    }

    /// The CTS with which a station answers the MU-RTS of this node.
    pub(super) fn cts_of(&self, frame: &OnAir, station: u32, rules: &SpaceRules) -> Option<OnAir> {
        let rts = self.mu_rts()?;
        let taken = rules.timing().sifs() + rts.cts.total();
        Some(OnAir {
            kind: FrameKind::Cts,
            from: station,
            to: Some(self.id),
            mode: rts.cts_mode,
            psdu: ACK,
            reserves: frame.reserves.saturating_sub(taken),
            users: Users::Together,
            ..*frame
        })
    }

    /// A CTS that answers the MU-RTS of the node has arrived: what it protects begins.
    pub(super) fn follow_mu_rts(&mut self, now: Instant, rules: &SpaceRules) {
        let Some(groups) = &mut self.groups else { return };
        (groups.is_opening, groups.has_arrived) = (false, false);
        let begins = now + rules.timing().sifs();
        let Some(index) = self.own.edcaf() else { return };
        let next = if self.triggered().is_some() {
            self.trigger(begins, index, rules)
        } else {
            self.group_data(index, rules)
        };
        if let Some(next) = next {
            self.reply(now, next, rules);
        }
    }

    /// How long after the end of its MU-RTS a frame must have begun that others find; otherwise
    /// they may reset the NAV that it has set (clause 10.3.2.4).
    pub(in crate::space) fn nav_reset(&self, rules: &SpaceRules) -> Option<Duration> {
        let (timing, rts) = (rules.timing(), self.mu_rts()?);
        let delay = timing.standard.rx_start_delay(&rts.cts_mode, timing.preamble);
        Some(timing.sifs() * 2 + rts.cts.total() + delay + timing.slot * 2)
    }
}
