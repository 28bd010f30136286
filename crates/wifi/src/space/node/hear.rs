//! The actions of a node when it has received a frame.

use super::Node;
use super::own::{Awaited, Own};
use crate::Command;
use crate::mac::{ACK, Bitmap, Deferral, ElicitedResponse, block_ack};
use crate::phy::Mode;
use crate::space::frame::{OnAir, Users};
use crate::space::rules::{SpaceRules, peer_mut};
use kernel::Instant;
use wire::FrameKind;

impl Node {
    /// Whether the node receives what another node addresses to it.
    pub(in crate::space) fn accepts_from(&self, node: u32) -> bool {
        self.peer(node).is_none_or(|peer| !peer.is_closed)
    }

    /// A frame ends that the node could not decode: it defers for an EIFS (clause 10.3.2.3.7).
    pub(in crate::space) fn on_decoding_error(
        &mut self,
        now: Instant,
        deferral: Deferral,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_decoding_error(now, deferral);
        self.miss(now, rules, out);
    }

    /// The frame that ends now was not the expected response.
    pub(super) fn miss(&mut self, now: Instant, rules: &SpaceRules, out: &mut Vec<Command>) {
        if self.own.awaited().is_some_and(|awaited| awaited.receiving) {
            self.give_up_waiting(now, rules, out);
        }
    }

    /// The node decodes a frame for another node and sets its NAV (clause 10.3.2.4).
    pub(in crate::space) fn overhear(
        &mut self,
        now: Instant,
        frame: &OnAir,
        nav_reset_at: Option<Instant>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.miss(now, rules, out);
        self.carrier.on_decoded();
        self.carrier.reserve(now + frame.reserves, nav_reset_at);
    }

    /// The node decodes a frame that is addressed to it, or a broadcast. `bitmap` is that of a
    /// BlockAck.
    pub(in crate::space) fn hear(
        &mut self,
        now: Instant,
        frame: &OnAir,
        bitmap: Option<&Bitmap>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_decoded();
        if self.is_awaited(now, frame, rules) {
            self.own.stop_waiting();
            match (frame.kind, self.own.edcaf()) {
                (FrameKind::Cts, Some(index)) => {
                    self.expect_secondary(frame);
                    self.note_single(now, index, rules);
                    let body = self.body(index, rules).after_cts(rules.timing(), frame);
                    self.reply(now, body, rules);
                }
                _ => self.succeed(now, bitmap, rules, out),
            }
            return;
        }
        self.miss(now, rules, out);
        let id = self.id;
        let acked = || block_ack(rules.mac.window_between(id, frame.from));
        let answer = |kind, psdu| frame.response(rules, id, kind, psdu);
        let reply = match (frame.kind, frame.answer) {
            // A response that arrives after the timeout.
            _ if frame.is_control_response() => None,
            // No CTS while the NAV has not expired (clause 10.3.2.9).
            (FrameKind::Rts, _) if self.carrier.is_reserved(now) => None,
            (FrameKind::Rts, _) => {
                self.give_way();
                Some(answer(FrameKind::Cts, ACK))
            }
            (_, ElicitedResponse::Ack) => Some(answer(FrameKind::Ack, ACK)),
            (_, ElicitedResponse::BlockAck) => Some(answer(FrameKind::BlockAck, acked())),
            (_, ElicitedResponse::None) => None,
        };
        if let Some(reply) = reply {
            let delay = frame.beside.filter(|_| frame.kind != FrameKind::Rts);
            self.reply(now + delay.unwrap_or_default(), reply, rules);
        }
    }

    /// The node decodes a frame of an exchange with several users that is addressed to it, to which
    /// it has this answer.
    pub(in crate::space) fn hear_in_group(
        &mut self,
        now: Instant,
        frame: &OnAir,
        bitmap: Option<&Bitmap>,
        answer: Option<OnAir>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_decoded();
        if frame.is_control_response() {
            return self.hear_user(now, frame, bitmap, rules, out);
        }
        self.miss(now, rules, out);
        let is_trigger = answer.is_some_and(|answer| !answer.is_control_response());
        if (is_trigger || frame.is_mu_rts()) && !self.may_answer(now) {
            return;
        }
        let reply = match frame.users {
            Users::Chained => {
                let acked = block_ack(rules.mac.window_between(self.id, frame.from));
                Some(frame.response(rules, self.id, FrameKind::BlockAck, acked))
            }
            _ => answer,
        };
        if let Some(reply) = reply {
            self.reply(now, reply, rules);
        }
    }

    /// Whether a frame is the response that the node waits for: that of the receiver of its frame,
    /// at the time at which it is due (clauses 10.3.2.9 and 10.3.2.11). Only a response that was
    /// delayed beside a longer frame can be to an earlier frame, for which the node has ceased to
    /// wait.
    fn is_awaited(&self, now: Instant, frame: &OnAir, rules: &SpaceRules) -> bool {
        let Own::Awaiting(exchange, awaited) = &self.own else { return false };
        if awaited.kind != frame.kind {
            return false;
        }
        if frame.beside.is_none() {
            return true;
        }
        let peer = self.edcaf(exchange.edcaf).to();
        let lasting = rules.timing().airtime(&frame.mode, frame.psdu).total();
        peer == Some(frame.from) && awaited.due + lasting == now
    }

    /// The node waits for a response in its exchange.
    pub(super) fn await_response(&mut self, awaited: Awaited) {
        self.quiet = false;
        self.own.wait_for(awaited);
    }

    pub(super) fn reply(&mut self, now: Instant, frame: OnAir, rules: &SpaceRules) {
        self.quiet = false;
        self.answer = Some((now + rules.timing().sifs(), frame));
    }

    /// The exchange on the air has succeeded.
    pub(super) fn succeed(
        &mut self,
        now: Instant,
        bitmap: Option<&Bitmap>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some(&exchange) = self.own.exchange() else { return };
        self.exchanges = self.exchanges.wrapping_add(1);
        let doubles = self.finish_beside(true);
        self.report_airtime(&exchange, now, true, out);
        let sifs = rules.timing().sifs();
        let goes_on = self.own.end_exchange(exchange.txop, now, sifs);
        let contender = &mut self.contenders[exchange.edcaf];
        let edcaf = &mut contender.edcaf;
        let before = edcaf.window();
        let peer = edcaf.to().and_then(|to| peer_mut(&mut self.peers, to));
        let (rate, power) = peer.map(|peer| (&mut peer.rate, peer.power)).unzip();
        let snr = |mode: &Mode| Some(rules.levels.snr(power?, mode));
        edcaf.succeed(now, &rules.mac, bitmap, rate, snr, &mut self.settled);
        if doubles {
            edcaf.double_window(&rules.mac, before);
        }
        if !goes_on {
            contender.back_off(&rules.mac);
        }
        self.settle(out);
    }
}
