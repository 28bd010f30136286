//! How an EDCAF wins the contention, and the exchange or collision that begins then.

use super::several::Ended;
use super::{ACCESS_POINT, Cell, link_between};
use crate::mac::{Bitmap, Collisions, Exchange, ExchangeOutcome, Txop};
use crate::{Command, MsduSource};
use kernel::{Duration, Fired, Instant, Rng};

/// Draws which of several MPDUs noise destroys.
#[allow(clippy::inline_always, reason = "it runs for each A-MPDU")]
#[inline(always)]
pub(super) fn draw_lost(noise: &mut Rng, data_loss: f64, mpdus: u16, lost: &mut Bitmap) {
    *lost = Bitmap::default();
    (0..mpdus).filter(|_| data_loss > 0.0).for_each(|i| {
        if noise.chance(data_loss) {
            lost.set(i);
        }
    });
}

impl Cell {
    /// The earliest back-off expires.
    pub fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        match self.access.fire(generation) {
            Fired::Stale => return,
            Fired::Later(ticket) => return out.push(Command::Access(ticket)),
            Fired::Due => {}
        }
        if self.watch.is_some() {
            self.record_waits(now);
        }
        self.winners.clear();
        self.deferring.clear();
        self.contention.begin_busy(now, &mut self.winners, &mut self.deferring);
        for i in 0..self.deferring.len() {
            self.back_off(self.deferring[i]);
        }
        debug_assert!(!self.winners.is_empty(), "an access event without a station to send");
        if self.rules.per_node > 1 && self.winners.len() > 1 {
            self.yield_to_higher(now, out);
        }
        if self.winners.len() > 1 && self.rules.config.collisions == Collisions::None {
            self.choose_winner();
        }
        for i in 0..self.winners.len() {
            let f = self.winners[i];
            if self.groups.is_some() {
                self.assemble_any(now, f, source, out);
                continue;
            }
            let edcaf = &mut self.edcafs[f as usize];
            let rate = Self::rate(&mut self.rates, edcaf.node, edcaf.to());
            edcaf.begin(now, &self.rules, rate, source, out);
        }
        if self.duplex.is_some() && self.begin_duplex(now, source, out) {
            return;
        }
        if let [winner] = self.winners[..] {
            self.txop = self.edcaf(winner).txop(now, winner);
            if self.groups.is_some() && self.begin_several(now, winner, source, out) {
                return;
            }
            self.begin_exchange(now, winner, out);
        } else {
            self.begin_collision(now, out);
        }
    }

    /// Resolves internal collisions: of several EDCAFs of one node that would transmit at once, the
    /// one of highest priority does. The others behave as after a collision, but nothing was
    /// transmitted (clause 10.23.2.4).
    fn yield_to_higher(&mut self, now: Instant, out: &mut Vec<Command>) {
        let winners = std::mem::take(&mut self.winners);
        for (i, &winner) in winners.iter().enumerate() {
            let node = self.node_of(winner);
            // The EDCAFs of a node are numbered by priority.
            if winners.get(i + 1).is_none_or(|&next| self.node_of(next) != node) {
                self.winners.push(winner);
                continue;
            }
            let counters = &mut self.nodes[node as usize].counters;
            let edcaf = &mut self.edcafs[winner as usize];
            // It may be about to trigger, without a packet.
            let had_packet = !edcaf.is_idle();
            edcaf.yield_to_higher(now, &self.rules, counters, &mut self.settled);
            if had_packet {
                self.settle(winner, out);
            } else {
                self.back_off(winner);
            }
        }
    }

    /// Of several nodes that would collide, chooses the one that transmits, in turn. The others
    /// draw another back-off.
    fn choose_winner(&mut self) {
        let turn = (self.chosen as usize) % self.winners.len();
        self.chosen = self.chosen.wrapping_add(1);
        let chosen = self.winners[turn];
        let mut others = std::mem::take(&mut self.winners);
        for &other in others.iter().filter(|&&other| other != chosen) {
            self.back_off(other);
        }
        others.clear();
        others.push(chosen);
        self.winners = others;
    }

    /// Counts an attempt of `f`, whose outcome is known when it begins.
    pub(super) fn count_attempt(&mut self, f: u32) {
        let edcaf = &self.edcafs[f as usize];
        let counters = &mut self.nodes[edcaf.node as usize].counters;
        edcaf.count(counters);
        counters.exchanges.decide();
    }

    /// Draws the outcome of the exchange of `f`, and which of several MPDUs noise destroys.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    fn draw_outcome(&mut self, f: u32) -> ExchangeOutcome {
        if self.edcaf(f).to().is_none() {
            return ExchangeOutcome::Success;
        }
        let data_lost = self.draw_data_lost(f);
        self.draw_response(f, data_lost)
    }

    /// Draws whether noise destroys all that `f` sends, and which of several MPDUs.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn draw_data_lost(&mut self, f: u32) -> bool {
        let edcaf = &self.edcafs[f as usize];
        let (sender, mpdus) = (edcaf.node, edcaf.psdu.mpdus);
        let Some(receiver) = edcaf.to() else { return false };
        let link = &self.links[link_between(sender, receiver)];
        // Each node draws the losses of the frames that it receives.
        let noise = &mut self.nodes[receiver as usize].noise;
        if mpdus == 0 {
            noise.chance(link.ack_loss)
        } else if mpdus == 1 {
            noise.chance(link.data_loss)
        } else {
            draw_lost(noise, link.data_loss, mpdus, &mut self.lost);
            self.lost.count() == u32::from(mpdus)
        }
    }

    /// Draws whether noise destroys the response to `f`, and returns the outcome.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn draw_response(&mut self, f: u32, data_lost: bool) -> ExchangeOutcome {
        let edcaf = &self.edcafs[f as usize];
        let (sender, Some(receiver)) = (edcaf.node, edcaf.to()) else {
            return ExchangeOutcome::Success;
        };
        let link = &self.links[link_between(sender, receiver)];
        match () {
            () if data_lost => ExchangeOutcome::DataLost,
            () if self.nodes[sender as usize].noise.chance(link.ack_loss) => {
                ExchangeOutcome::AckLost
            }
            () => ExchangeOutcome::Success,
        }
    }

    /// Lays out the exchange of `f` with this outcome, and begins it.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn lay_out(&mut self, now: Instant, f: u32, outcome: ExchangeOutcome) -> &Exchange {
        self.count_attempt(f);
        let exchange = self.edcaf(f).exchange(&self.rules, now, outcome);
        self.occupy(exchange, f, true)
    }

    pub(super) fn begin_exchange(&mut self, now: Instant, f: u32, out: &mut Vec<Command>) {
        let outcome = self.draw_outcome(f);
        let used = self.lay_out(now, f, outcome).end - now;
        let edcaf = self.edcaf(f);
        let (node, peer, mpdus) = (edcaf.node, edcaf.to(), edcaf.mpdus());
        let arrived = outcome.data_arrives();
        out.push(Command::Began);
        out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus });
        if let Some(exchange) = &self.exchange {
            out.push(Command::Step(self.frame_end(exchange)));
        }
        if self.groups.is_some() {
            self.note_single(f);
        }
    }

    fn begin_collision(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.colliders.clear();
        let mut longest = Duration::ZERO;
        for i in 0..self.winners.len() {
            let winner = self.winners[i];
            let edcaf = self.edcaf(winner);
            let (mode, psdu) = (&edcaf.mode, edcaf.psdu.bytes);
            let alone = || Exchange::exposed(self.rules.timing(), mode, psdu, edcaf.opening);
            let exposed = self.several_lasts(winner).unwrap_or_else(alone);
            longest = longest.max(exposed);
            self.colliders.push((winner, now + exposed));
            if !self.count_collided_several(now, winner) {
                self.count_attempt(winner);
            }
            let node = self.node_of(winner);
            self.nodes[node as usize].counters.exchanges.collisions += 1;
        }
        let exchange = Exchange::collision(now, longest, self.node_of(self.winners[0]));
        self.exchange = Some(exchange);
        self.data_pending = false;
        out.push(Command::Began);
        for &(f, _) in &self.colliders {
            if self.report_collided_group(f, longest, out) {
                continue;
            }
            let (node, peer, mpdus) = (self.node_of(f), self.edcaf(f).to(), self.edcaf(f).mpdus());
            out.push(Command::ExchangeSent { node, peer, used: longest, arrived: false, mpdus });
        }
        out.push(Command::Step(exchange.end));
    }

    /// The holder of a TXOP begins its next exchange a SIFS after the last one, if it ends within
    /// the TXOP. Otherwise the medium has been idle since the last exchange.
    pub(super) fn go_on(
        &mut self,
        now: Instant,
        txop: Txop,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let ended = self.take_ended();
        if self.groups.is_some() {
            if self.continue_several(now, &txop, source, out) {
                return;
            }
            if txop.is_for_answers() {
                return self.end_txop(now, txop.holder, ended.as_ref(), out);
            }
        }
        let edcaf = &mut self.edcafs[txop.holder as usize];
        let rate = Self::rate(&mut self.rates, edcaf.node, edcaf.to());
        if edcaf.go_on(now, &txop, &self.rules, rate, source, out) {
            self.txop = Some(txop.resumed());
            if self.groups.is_some() {
                self.tell_backlog(txop.holder, source);
            }
            if self.duplex.is_some() && self.continue_duplex(now, txop.holder, source, out) {
                return;
            }
            return self.begin_exchange(now, txop.holder, out);
        }
        self.end_txop(now, txop.holder, ended.as_ref(), out);
    }

    /// The medium has been idle since the last exchange of the TXOP, and its holder backs off.
    fn end_txop(
        &mut self,
        now: Instant,
        holder: u32,
        ended: Option<&Ended>,
        out: &mut Vec<Command>,
    ) {
        self.txop = None;
        let timing = self.rules.timing();
        let since = now - timing.sifs();
        let reserved = ended.map_or(since, |last| last.exchange.reserved_until(timing));
        let reserved_until = reserved.max(self.nav_before(None));
        self.contention.begin_idle(reserved_until + timing.difs(), reserved_until);
        self.resume_earlier_after_group(holder, since);
        self.back_off(holder);
        if let Some(last) = ended {
            self.resume_after(last);
        }
        self.resume_without_nav(since, reserved_until, ACCESS_POINT);
        self.resume_before(reserved, reserved_until);
        self.schedule_access(out);
    }
}
