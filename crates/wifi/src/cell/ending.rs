//! The end of frames: which node has received what, whether an attempt succeeded, and when each
//! node may count slots again.

use super::{ACCESS_POINT, Cell, link_between};
use crate::mac::{
    Bitmap, Delivery, Edcaf, ElicitedResponse, Exchange, ExchangeOutcome, Opening, Response,
    SlotGrid, ampdu, padded,
};
use crate::{Command, MsduSource};
use kernel::{Bytes, Duration, Instant};
use wire::Packet;

impl Cell {
    /// The data frame or the exchange on the air ends, or the SIFS after an exchange in a TXOP.
    pub fn on_step(&mut self, now: Instant, source: &mut dyn MsduSource, out: &mut Vec<Command>) {
        if self.triggers.is_some() && self.is_step_to_ask(now, source, out) {
            return;
        }
        self.take_step(now, source, out);
        if self.triggers.is_some() {
            self.ask(now, source, out);
        }
    }

    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    fn take_step(&mut self, now: Instant, source: &mut dyn MsduSource, out: &mut Vec<Command>) {
        // The exchange is large, and copied only where several frames are on the air at a time.
        let Some(&Exchange { outcome, .. }) = self.exchange.as_ref() else {
            if let Some(txop) = self.txop {
                self.go_on(now, txop, source, out);
            }
            return;
        };
        if outcome == ExchangeOutcome::Collision {
            return self.end_collision(now, out);
        }
        if self.groups.is_some() {
            if self.several().is_some() {
                return self.on_several_step(now, out);
            }
            self.hear_backlog_of(now, outcome);
        }
        if self.secondary().is_some() {
            return self.on_duplex_step(now, out);
        }
        if self.data_pending && self.ends_data(now, out) {
            return;
        }
        self.end_exchange(now, out);
    }

    /// The data frame on the air ends, or one of its MPDUs. Returns whether the exchange goes on.
    fn ends_data(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        let Some(Exchange { outcome, end, .. }) = self.exchange else { return false };
        if outcome != ExchangeOutcome::DataLost {
            if let Some(next) = self.hand_up(out) {
                out.push(Command::Step(next));
                return true;
            }
            let frames = self.handed.0..self.edcaf(self.sender).psdu.mpdus;
            self.receive(self.sender, frames, out);
        }
        self.data_pending = false;
        let goes_on = end > now;
        if goes_on {
            out.push(Command::Step(end));
        }
        goes_on
    }

    /// The index of the receiver's duplicate detection or reorder buffer for frames of an EDCAF.
    pub(super) fn inbox(&self, f: u32, receiver: u32) -> usize {
        let first =
            if receiver == ACCESS_POINT { 0 } else { self.edcafs_of(self.node_of(f)).start };
        (f - first) as usize
    }

    /// If the recipient delivers each MPDU separately: delivers the MPDU that ends now, unless it
    /// is the last, and returns when the next one ends.
    fn hand_up(&mut self, out: &mut Vec<Command>) -> Option<Instant> {
        let after = self.after_next(self.exchange.as_ref()?)?;
        let next = self.handed.0;
        self.receive(self.sender, next..next + 1, out);
        self.handed = (next + 1, after);
        Some(self.frame_end(self.exchange.as_ref()?))
    }

    /// When the next MPDU of the PSDU on the air ends.
    pub(super) fn frame_end(&self, exchange: &Exchange) -> Instant {
        match (exchange.data(), self.after_next(exchange)) {
            (Some(data), Some(after)) => data.start + data.airtime.until(after, exchange.psdu),
            (Some(data), None) => data.end(),
            (None, _) => exchange.end,
        }
    }

    /// Bytes of the PSDU up to the end of its next MPDU, padding included; `None` if the recipient
    /// delivers that MPDU at the end of the PPDU.
    fn after_next(&self, exchange: &Exchange) -> Option<Bytes> {
        let each = self.rules.framing.aggregation?.delivery == Delivery::Mpdu;
        let (next, before) = self.handed;
        let sender = self.edcaf(self.sender);
        let is_last = next + 1 >= sender.psdu.mpdus;
        (each && !is_last && exchange.outcome != ExchangeOutcome::DataLost).then(|| {
            let (_, mpdu) = sender.originator.frame_on_air(usize::from(next));
            padded(ampdu(before, mpdu.bytes))
        })
    }

    /// Passes these MPDUs of the PSDU of `f` to the recipient, which discards duplicates.
    pub(super) fn receive(&mut self, f: u32, frames: std::ops::Range<u16>, out: &mut Vec<Command>) {
        let Some(receiver) = self.edcaf(f).to() else { return self.receive_broadcast(out) };
        let from = self.node_of(f);
        let inbox = self.inbox(f, receiver);
        let Edcaf { originator, psdu, .. } = &mut self.edcafs[f as usize];
        let mut deliver =
            |packet: &Packet| out.push(Command::Deliver { node: receiver, from, packet: *packet });
        let node = &mut self.nodes[receiver as usize];
        let agreement = node.recipients.get_mut(inbox);
        let Some(recipient) = agreement else {
            let (sequence, mpdu) = originator.frame_on_air(0);
            originator.note_received(0);
            if node.caches[inbox].accept(sequence, mpdu.attempts > 0) {
                originator.packets_of(&mpdu).for_each(deliver);
            } else {
                node.counters.exchanges.duplicates += 1;
            }
            return;
        };
        if psdu.mpdus == 0 {
            recipient.on_request(originator.start(), &mut deliver);
        }
        for i in frames.filter(|&i| psdu.mpdus == 1 || !self.lost.has(i)) {
            let (sequence, mpdu) = originator.frame_on_air(usize::from(i));
            debug_assert!(
                self.rules.framing.aggregation.is_none()
                    || originator.keeps_window(sequence, self.rules.window_between(receiver, from)),
                "number {sequence} is beyond the block-ack window"
            );
            originator.note_received(usize::from(i));
            if !recipient.on_mpdu(sequence, originator.packets_of(&mpdu), &mut deliver) {
                node.counters.exchanges.duplicates += 1;
            }
        }
    }

    /// Each receiver draws independently whether noise destroys the broadcast.
    fn receive_broadcast(&mut self, out: &mut Vec<Command>) {
        self.missed.clear();
        let sender = self.node_of(self.sender);
        let originator = &mut self.edcafs[self.sender as usize].originator;
        let (_, mpdu) = originator.frame_on_air(0);
        let Some(packet) = originator.packets_of(&mpdu).next().copied() else { return };
        for node in (0..self.nodes.len() as u32).filter(|&node| node != sender) {
            let loss = self.links[link_between(sender, node)].data_loss;
            if self.nodes[node as usize].noise.chance(loss) {
                self.missed.push(node);
            } else {
                originator.note_received(0);
                out.push(Command::Deliver { node, from: sender, packet });
            }
        }
    }

    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    fn end_exchange(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(exchange) = &self.exchange else { return };
        let &Exchange { end, outcome, sender, .. } = exchange;
        let nav = exchange.reserved_until(self.rules.timing());
        let f = self.sender;
        let receiver = self.edcaf(f).to();
        if self.watch.is_some() {
            self.record_exchange();
        }
        self.exchange = None;
        if outcome == ExchangeOutcome::Success && self.may_go_on(end, out) {
            out.push(Command::Ended);
            return self.succeed(now, f, out);
        }
        self.txop = None;
        let timing = &self.rules.config.timing;
        let Response { mode: response, timeout, eifs, .. } = self.edcaf(f).response;
        let reserved_until = self.reserved_before(nav);
        // A CTS-to-self sets the NAV of the receiver too.
        let bound = self.edcaf(f).opening == Opening::CtsToSelf;
        let difs = timing.difs();
        self.contention.begin_idle(reserved_until + difs, reserved_until);
        let is_heard = self.edcaf(f).first_mode(timing).class.is_dsss();
        if !self.non_erp_timeouts.is_empty() {
            self.resume_non_erp_timeouts(end, is_heard);
        }
        out.push(Command::Ended);
        match outcome {
            ExchangeOutcome::Success | ExchangeOutcome::Collision => {
                self.succeed(now, f, out);
                self.resume_without_nav(end, reserved_until, sender);
                if let Some(receiver) = receiver {
                    if !bound {
                        self.resume_without_nav(end, reserved_until, receiver);
                    }
                } else {
                    self.defer_missed(end + eifs);
                }
            }
            ExchangeOutcome::DataLost => {
                let resume = self.resume_after_timeout(end, end, timeout);
                if let Some(receiver) = receiver {
                    let eifs_over = end + eifs;
                    if bound {
                        let all = self.edcafs_of(receiver);
                        self.contention.count_separately_after_nav(all, eifs_over, difs);
                    } else {
                        let nav = self.nav_before(Some(receiver));
                        self.count_separately(receiver, eifs_over.max(nav + difs));
                    }
                }
                self.lose(now, f, resume, out);
                self.note_non_erp_timeout(f, end + timeout);
                self.resume_non_erp_without_nav(end, reserved_until, is_heard);
                self.resume_earlier_after_loss(f, end);
            }
            ExchangeOutcome::AckLost => {
                // The response began in time, so the transmitter waits for its end and then for an
                // EIFS.
                let resume = end + self.rules.config.timing.eifs(&response);
                self.lose(now, f, resume, out);
                if let Some(receiver) = receiver.filter(|_| !bound) {
                    self.resume_without_nav(end, reserved_until, receiver);
                }
            }
        }
        self.resume_after_single(nav, reserved_until);
        self.schedule_access(out);
    }

    /// The nodes that could not decode a broadcast count slots from this instant.
    fn defer_missed(&mut self, start: Instant) {
        let missed = std::mem::take(&mut self.missed);
        for &node in &missed {
            self.count_separately(node, start);
        }
        self.missed = missed;
    }

    /// 802.11b nodes have no NAV if no frame of the exchange was in DSSS.
    fn resume_non_erp_without_nav(
        &mut self,
        end: Instant,
        reserved_until: Instant,
        is_heard: bool,
    ) {
        for i in 0..if is_heard { 0 } else { self.rules.non_erp().len() } {
            self.resume_without_nav(end, reserved_until, self.rules.non_erp()[i]);
        }
    }

    /// An 802.11b node may wait for its response while OFDM frames begin and end.
    fn note_non_erp_timeout(&mut self, f: u32, until: Instant) {
        let node = self.node_of(f);
        if !self.rules.knows_ofdm(node) {
            self.non_erp_timeouts.push((node, until));
        }
    }

    /// The medium is idle since `end`. If the 802.11b nodes could decode the frames before it,
    /// those that wait for a response know that it is missing.
    fn resume_non_erp_timeouts(&mut self, end: Instant, is_heard: bool) {
        self.non_erp_timeouts.retain(|&(_, until)| !is_heard && until > end);
        for i in 0..self.non_erp_timeouts.len() {
            let (node, until) = self.non_erp_timeouts[i];
            self.resume(node, self.resume_at(until, end));
        }
    }

    /// Whether the TXOP lasts long enough for another exchange after a SIFS.
    #[inline]
    pub(super) fn may_go_on(&mut self, end: Instant, out: &mut Vec<Command>) -> bool {
        if self.txop.is_none() {
            return false;
        }
        let sifs = self.rules.timing().sifs();
        self.txop = self.txop.and_then(|txop| txop.after_success(end, sifs));
        let next = self.txop.and_then(|txop| txop.next);
        out.extend(next.map(Command::Step));
        next.is_some()
    }

    /// All EDCAFs of a node count their own slots: from `start` if their interframe space is a
    /// DIFS.
    pub(super) fn count_separately(&mut self, node: u32, start: Instant) {
        for f in self.edcafs_of(node) {
            self.contention.count_separately(f, start);
        }
    }

    /// A party of an exchange has no NAV. If the NAV of the others lasts longer than the exchange,
    /// the interframe space of the party begins before theirs.
    pub(super) fn resume_without_nav(&mut self, end: Instant, reserved_until: Instant, party: u32) {
        if reserved_until > end {
            let end = end.max(self.nav_before(Some(party)));
            self.count_separately(party, end + self.rules.config.timing.difs());
        }
    }

    /// When a transmitter whose frame ended at `sent` without a response may count slots again, if
    /// the medium is idle since `idle`.
    pub(super) fn resume_after_timeout(
        &self,
        sent: Instant,
        idle: Instant,
        timeout: Duration,
    ) -> Resume {
        self.resume_at(sent + timeout, idle)
    }

    fn resume_at(&self, expiry: Instant, idle: Instant) -> Resume {
        let timing = &self.rules.config.timing;
        let at = match timing.slot_grid {
            SlotGrid::Free => expiry,
            SlotGrid::Standard | SlotGrid::Shared | SlotGrid::Difs => {
                // The slot grid continues from the SIFS, because an AIFS may be shorter than a
                // DIFS.
                let wait = expiry.since(idle).saturating_sub(timing.sifs());
                idle + timing.sifs() + timing.slot * wait.0.div_ceil(timing.slot.0)
            }
        };
        Resume { at, space: idle + timing.difs() }
    }

    /// An attempt of `f` received its response, or needed none.
    pub(super) fn succeed(&mut self, now: Instant, f: u32, out: &mut Vec<Command>) {
        let arrived = self.block_acked(f);
        let (node, to) = (self.node_of(f), self.edcaf(f).to());
        let rate = Self::rate(&mut self.rates, node, to);
        let (edcaf, settled) = (&mut self.edcafs[f as usize], &mut self.settled);
        edcaf.succeed(now, &self.rules, arrived.as_ref(), rate, |_| None, settled);
        self.settle(f, out);
    }

    /// The bitmap of the BlockAck that answers the PSDU of `f`; `None` if an ACK does, or nothing.
    #[inline]
    pub(super) fn block_acked(&self, f: u32) -> Option<Bitmap> {
        let edcaf = self.edcaf(f);
        let to = edcaf.to().filter(|_| edcaf.psdu.answer == ElicitedResponse::BlockAck)?;
        let recipient = &self.nodes[to as usize].recipients[self.inbox(f, to)];
        Some(recipient.block_ack(edcaf.originator.start()))
    }

    /// Noise destroyed a frame of the attempt.
    pub(super) fn lose(
        &mut self,
        now: Instant,
        f: u32,
        resume: impl Into<Resume>,
        out: &mut Vec<Command>,
    ) {
        let node = self.node_of(f);
        self.nodes[node as usize].counters.exchanges.noise_losses += 1;
        self.miss(now, f, true, out);
        self.resume(node, resume.into());
    }

    /// An attempt received no response. `data_sent` says whether its data frames were transmitted.
    pub(super) fn miss(&mut self, now: Instant, f: u32, data_sent: bool, out: &mut Vec<Command>) {
        let edcaf = &mut self.edcafs[f as usize];
        let rate = Self::rate(&mut self.rates, edcaf.node, edcaf.to());
        edcaf.miss(now, &self.rules, data_sent, rate, &mut self.settled);
        self.settle(f, out);
    }

    /// Starts the back-off of `f` before the next attempt, or the post-back-off (clause 10.3.4.3),
    /// and reports the packets whose service has ended.
    pub(super) fn settle(&mut self, f: u32, out: &mut Vec<Command>) {
        let node = self.node_of(f);
        if self.edcafs[f as usize].originator.has_aside() {
            self.resume_aside(f);
        }
        if self.groups.is_some() {
            self.bring_forward(f);
        }
        let member = &mut self.nodes[node as usize];
        if self.edcafs[f as usize].is_idle() {
            member.contending -= 1;
            self.contending_stations -= u32::from(member.contending == 0 && node != ACCESS_POINT);
            self.contention.stop_waiting(f);
        }
        if !self.goes_on(f) {
            self.back_off(f);
        }
        self.nodes[node as usize].counters.settle(node, &mut self.settled, out);
    }

    fn end_collision(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.watch.is_some() {
            self.record_collision();
        }
        let Some(&Exchange { end, .. }) = self.exchange.as_ref() else { return };
        let colliders = std::mem::take(&mut self.colliders);
        let timing = &self.rules.config.timing;
        let shared_grid = timing.slot_grid.is_shared();
        // Third parties could decode none of the frames. Their EIFS is taken from the frame with
        // the shortest response.
        let eifs = |&(f, _): &(u32, Instant)| self.edcaf(f).exposed_response(timing).eifs;
        let space = match timing.slot_grid {
            SlotGrid::Difs => None,
            _ => colliders.iter().map(eifs).min(),
        };
        let start = end + space.unwrap_or(timing.difs());
        let non_erp_start = (!self.rules.non_erp().is_empty()).then(|| {
            // 802.11b nodes detect an error only in DSSS frames.
            let is_dsss = |f| self.edcaf(f).exposed_mode(timing).class.is_dsss();
            let noticed = colliders.iter().filter(|&&(f, _)| is_dsss(f));
            end + noticed.map(eifs).min().unwrap_or(timing.difs())
        });
        let starts_in_dsss =
            |&(f, _): &(u32, Instant)| self.edcaf(f).first_mode(timing).class.is_dsss();
        let is_heard = non_erp_start.is_none() || colliders.iter().any(starts_in_dsss);
        self.exchange = None;
        self.contention.begin_idle(start, end);
        if !shared_grid {
            self.resume_non_erp_timeouts(end, is_heard);
        }
        out.push(Command::Ended);
        for &(f, sent) in &colliders {
            let timeout = self.exposed_timeout(f);
            let several = self.several_of(f).is_some();
            let resume = if self.edcaf(f).to().is_none() && !several {
                // A broadcast elicits no response: its transmitter does not notice the collision.
                self.succeed(now, f, out);
                Resume::from(end + self.rules.config.timing.difs())
            } else {
                if several {
                    self.miss_several(now, f, out);
                } else {
                    let data_sent = !self.edcaf(f).with_rts();
                    self.miss(now, f, data_sent, out);
                }
                self.note_non_erp_timeout(f, sent + timeout);
                self.resume_after_timeout(sent, end, timeout)
            };
            if !shared_grid {
                self.resume(self.node_of(f), resume);
            }
        }
        self.colliders = colliders;
        if let Some(non_erp_start) = non_erp_start.filter(|&own| !shared_grid && own != start) {
            // The colliding 802.11b nodes count their own slots already.
            for i in 0..self.rules.non_erp().len() {
                self.count_separately(self.rules.non_erp()[i], non_erp_start);
            }
        }
        self.schedule_access(out);
    }

    /// A node that has transmitted counts its own slots.
    pub(super) fn resume(&mut self, node: u32, resume: Resume) {
        for f in self.edcafs_of(node) {
            self.contention.count_separately_after(f, resume.at, resume.space);
        }
    }
}

/// When a node that has transmitted may count slots again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resume {
    /// The slots do not begin before this instant.
    pub(super) at: Instant,
    /// The slots do not begin before the end of the interframe space: this instant if that is a
    /// DIFS.
    pub(super) space: Instant,
}

impl From<Instant> for Resume {
    /// The slots begin after an interframe space.
    fn from(space: Instant) -> Self {
        Self { at: Instant::ZERO, space }
    }
}
