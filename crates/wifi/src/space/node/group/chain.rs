//! Users that acknowledge one after the other.
//!
//! A BlockAckReq follows a SIFS after a BlockAck. It follows a PIFS after the last frame if no
//! BlockAck came and the medium is idle then (clause 10.23.2.8); otherwise the chain ends.

use super::super::own::Awaited;
use super::Node;
use crate::Command;
use crate::mac::mu::rest_of_chain;
use crate::mac::{BLOCK_ACK_REQUEST, ElicitedResponse};
use crate::space::frame::{OnAir, Users};
use crate::space::rules::SpaceRules;
use kernel::{Duration, Instant};
use wire::FrameKind;

impl Node {
    /// The node waits for the BlockAck of one user.
    pub(super) fn await_user(&mut self, now: Instant, frame: &OnAir, rules: &SpaceRules) {
        let Some(groups) = &self.groups else { return };
        let users = groups.current.as_ref().map_or(0, |group| group.users.len());
        let has_next = groups.nth + 1 < users;
        let timing = rules.timing();
        let mode = match frame.users {
            Users::Several => self.group().map_or(frame.mode, |(group, _)| group.users[0].mode),
            _ => frame.mode,
        };
        let timeout = rules.responses(&mode).timeout;
        self.await_response(Awaited {
            recovers: has_next.then(|| now + timing.pifs()),
            ..Awaited::after(now, FrameKind::BlockAck, timing.sifs(), timeout)
        });
    }

    /// The BlockAck of a user has not come, or those of all.
    pub(in crate::space::node) fn miss_user(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        if self.triggered().is_some() {
            return self.end_triggered(now, false, rules, out);
        }
        let Some(awaited) = self.own.awaited_mut() else { return };
        let (receiving, asks_next) = (awaited.receiving, awaited.recovers.take().is_some());
        let is_busy = !receiving && self.carrier.is_sensed();
        if asks_next && is_busy && now < awaited.until {
            // The medium is not idle a PIFS after the frame: the response may be on its way.
            return;
        }
        if !asks_next || is_busy {
            return self.end_group(now, false, rules, out);
        }
        self.own.stop_waiting();
        let space = if receiving { rules.timing().pifs() } else { Duration::ZERO };
        if let Some(groups) = &mut self.groups {
            groups.recovers = true;
        }
        self.ask_next(now, rules, space, out);
    }

    /// Whether a BlockAckReq is to go out a PIFS after the last frame, and the medium is not idle:
    /// if so, the exchange ends.
    pub(in crate::space::node) fn must_find_idle(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(groups) = &mut self.groups else { return false };
        let is_busy = std::mem::take(&mut groups.recovers) && self.carrier.is_sensed();
        if is_busy {
            self.end_group(now, false, rules, out);
        }
        is_busy
    }

    /// The next user of a chain is asked for its BlockAck after a space, or the exchange ends.
    pub(super) fn ask_next(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        space: Duration,
        out: &mut Vec<Command>,
    ) {
        let (timing, edcaf) = (rules.timing(), self.own.edcaf());
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = &groups.current else { return };
        groups.nth += 1;
        let (nth, shape) = (groups.nth, groups.downlink.shape(group));
        let Some(user) = group.users.get(nth) else {
            return self.end_group(now, true, rules, out);
        };
        let answer = &shape.answers[nth];
        let lasts = answer.request.total() + timing.sifs() + answer.block_ack.total();
        if now + space + lasts > groups.until {
            return self.end_group(now, false, rules, out);
        }
        let request = OnAir {
            kind: FrameKind::BlockAckRequest,
            from: self.id,
            to: Some(user.station),
            edcaf: edcaf.map_or(0, |edcaf| edcaf as u8),
            mode: answer.request_mode,
            psdu: BLOCK_ACK_REQUEST,
            reserves: timing.reservation(rest_of_chain(nth, timing, shape)),
            answer: ElicitedResponse::BlockAck,
            beside: None,
            users: Users::Chained,
        };
        self.quiet = false;
        self.answer = Some((now + space, request));
    }
}
