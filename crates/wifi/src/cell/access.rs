//! How the medium is won, and what then goes on the air.

use super::{Cell, Node, Txop, link_between};
use crate::mac::{Bitmap, Exchange, Failure, Fate, Opening, Request, Room, block_ack};
use crate::{Command, Supply};
use kernel::{Bytes, Duration, Fired, Instant};

impl Cell {
    /// The earliest back-off ends.
    pub fn on_access(
        &mut self,
        now: Instant,
        generation: u32,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        match self.access.fire(generation) {
            Fired::Stale => return,
            Fired::Later(ticket) => return out.push(Command::Access(ticket)),
            Fired::Due => {}
        }
        self.winners.clear();
        self.beaten.clear();
        self.contention.begin_busy(now, &mut self.winners, &mut self.beaten);
        for i in 0..self.beaten.len() {
            self.back_off(self.beaten[i]);
        }
        debug_assert!(!self.winners.is_empty(), "an access event without a station to send");
        if self.rules.per_node > 1 && self.winners.len() > 1 {
            self.yield_to_higher(now, out);
        }
        for i in 0..self.winners.len() {
            let winner = self.winners[i];
            let limit = self.function(winner).txop_limit;
            let within = if limit == Duration::ZERO { Duration(u64::MAX) } else { limit };
            self.assemble(now, winner, within, supply, out);
        }
        if let [winner] = self.winners[..] {
            let limit = self.function(winner).txop_limit;
            if limit > Duration::ZERO {
                self.txop = Some(Txop { holder: winner, until: now + limit, idle_since: None });
            }
            self.begin_exchange(now, winner, out);
        } else {
            self.begin_collision(now, out);
        }
    }

    /// Of several functions of one node that would send at once, the highest does; to the others it
    /// is as if they had collided, but that nothing was on the air (clause 10.23.2.4).
    fn yield_to_higher(&mut self, now: Instant, out: &mut Vec<Command>) {
        let winners = std::mem::take(&mut self.winners);
        for (i, &winner) in winners.iter().enumerate() {
            let node = self.node_of(winner);
            // Functions of a node stand in the order of their priority.
            if winners.get(i + 1).is_none_or(|&next| self.node_of(next) != node) {
                self.winners.push(winner);
                continue;
            }
            self.nodes[node as usize].frames.internal_collisions += 1;
            let exhausted = self.fail(winner, false) == Failure::Drop;
            let function = &mut self.functions[winner as usize];
            function.load.on_delay(&self.rules.framing, now, &mut self.settled);
            if exhausted {
                function.load.on_retry_limit(&self.rules.framing, &mut self.settled);
            }
            self.settle(winner, out);
        }
    }

    /// Puts together what a function sends; its PPDU and answer shall end `within` a time.
    pub(super) fn assemble(
        &mut self,
        now: Instant,
        f: u32,
        within: Duration,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        let is_fixed = self.rules.framing.aggregation.is_none() && !self.adapts;
        if is_fixed && self.function(f).load.is_assembled() {
            return;
        }
        let (node, class) = (self.node_of(f), self.rules.class_of(self.category(f)));
        let mut with_rts = false;
        let to = self.function(f).load.to();
        let mode = match to {
            Some(to) => {
                if self.adapts {
                    with_rts = self.select_mode(now, f, node, to, out);
                }
                self.ways[super::way(node, to)].mode
            }
            None => self.rules.broadcast_mode,
        };
        let timing = &self.rules.config.timing;
        let room = match (&self.rules.framing.aggregation, to) {
            (Some(limits), Some(_)) => {
                let within = within.saturating_sub(self.rules.around(&mode, with_rts));
                limits.room(&mode, timing.preamble, within)
            }
            _ => Room::SINGLE,
        };
        let function = &mut self.functions[f as usize];
        let psdu = function.load.assemble(&self.rules.framing, mode.class, room, now, |most| {
            to.and_then(|to| supply.next(node, class, to, most))
        });
        debug_assert!(psdu.mpdus <= 1 || psdu.mpdus <= room.frames && psdu.bytes <= room.bytes);
        let is_request = psdu.mpdus == 0;
        with_rts |= psdu.bytes > self.rules.config.rts_threshold;
        function.opening = if to.is_some() && !is_request {
            timing.opening_of(&mode, with_rts)
        } else {
            Opening::None
        };
        if is_request {
            function.set_mode(timing, &timing.rts_mode(&mode));
        } else {
            function.set_mode(timing, &mode);
        }
        function.psdu = psdu;
    }

    /// An attempt of `f` begins.
    fn count_attempt(&mut self, f: u32) {
        let node = self.node_of(f) as usize;
        let Node { counters, frames, .. } = &mut self.nodes[node];
        let function = &self.functions[f as usize];
        counters.attempts += 1;
        if function.psdu.mpdus == 0 {
            frames.block_ack_requests += 1;
        } else {
            frames.data_attempts += 1;
            frames.data_rates += function.mode.rate.0;
            frames.mpdus += u64::from(function.psdu.mpdus);
            frames.repeated_mpdus += function.load.repeated();
        }
    }

    /// Lets rate control choose the mode of the next attempt; whether it wants an RTS.
    fn select_mode(
        &mut self,
        now: Instant,
        f: u32,
        node: u32,
        peer: u32,
        out: &mut Vec<Command>,
    ) -> bool {
        let way = &mut self.ways[super::way(node, peer)];
        let Some(control) = &mut way.control else { return false };
        let choice = control.select(now, self.functions[f as usize].access.failures());
        if choice.mode != way.mode {
            way.mode = choice.mode;
            out.push(Command::Mode { node, peer, mode: choice.mode });
        }
        choice.rts
    }

    pub(super) fn request(&self, f: u32) -> Request {
        let function = self.function(f);
        Request {
            sender: self.node_of(f),
            mode: function.mode,
            psdu: function.psdu.bytes,
            opening: function.opening,
            mpdus: function.psdu.mpdus,
            answer: function.psdu.answer,
            block_ack: block_ack(self.rules.window()),
            repeated: function.load.all_received(),
        }
    }

    /// What becomes of the PSDU of `f`; notes which frames of several noise takes.
    fn draw_fate(&mut self, f: u32) -> Fate {
        let (sender, function) = (self.node_of(f), &self.functions[f as usize]);
        let Some(receiver) = function.load.to() else { return Fate::Success };
        let link = &self.links[link_between(sender, receiver)];
        // Each end draws the losses of what it receives.
        let noise = &mut self.nodes[receiver as usize].noise;
        let mpdus = function.psdu.mpdus;
        let data_lost = if mpdus == 0 {
            noise.chance(link.ack_loss)
        } else if mpdus == 1 {
            noise.chance(link.data_loss)
        } else {
            self.lost = Bitmap::default();
            (0..mpdus).filter(|_| link.data_loss > 0.0).for_each(|i| {
                if noise.chance(link.data_loss) {
                    self.lost.set(i);
                }
            });
            self.lost.count() == u32::from(mpdus)
        };
        match () {
            () if data_lost => Fate::DataLost,
            () if self.nodes[sender as usize].noise.chance(link.ack_loss) => Fate::AckLost,
            () => Fate::Success,
        }
    }

    pub(super) fn begin_exchange(&mut self, now: Instant, f: u32, out: &mut Vec<Command>) {
        self.count_attempt(f);
        let fate = self.draw_fate(f);
        let (timing, response) = (&self.rules.config.timing, &self.function(f).follows.response);
        let exchange = Exchange::answered(timing, &self.request(f), response, now, fate);
        self.exchange = Some(exchange);
        self.sender = f;
        self.data_pending = true;
        self.handed = (0, Bytes::ZERO);
        let (node, peer) = (exchange.sender, self.function(f).load.to());
        let (used, arrived) = (exchange.end - exchange.start, fate != Fate::DataLost);
        out.push(Command::Began);
        out.push(Command::Aired { node, peer, used, arrived });
        out.push(Command::Step(self.frame_end(&exchange)));
    }

    fn begin_collision(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.colliders.clear();
        let mut longest = Duration::ZERO;
        for i in 0..self.winners.len() {
            let winner = self.winners[i];
            let function = self.function(winner);
            let timing = &self.rules.config.timing;
            let (psdu, opening) = (function.psdu.bytes, function.opening);
            let exposed = Exchange::exposed(timing, &function.mode, psdu, opening);
            longest = longest.max(exposed);
            self.colliders.push((winner, now + exposed));
            self.count_attempt(winner);
            let node = self.node_of(winner);
            self.nodes[node as usize].counters.collisions += 1;
        }
        let exchange = Exchange::collision(now, longest, self.node_of(self.winners[0]));
        self.exchange = Some(exchange);
        self.data_pending = false;
        out.push(Command::Began);
        out.extend(self.colliders.iter().map(|&(f, _)| {
            let (node, peer) = (self.node_of(f), self.function(f).load.to());
            Command::Aired { node, peer, used: longest, arrived: false }
        }));
        out.push(Command::Step(exchange.end));
    }

    /// The holder of a TXOP goes on a SIFS after its last exchange, if the next fits in; else the
    /// medium has been idle since then.
    pub(super) fn go_on(
        &mut self,
        now: Instant,
        txop: Txop,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        let Txop { holder, until, .. } = txop;
        if !self.function(holder).load.is_idle() {
            self.assemble(now, holder, until - now, supply, out);
            let planned =
                Exchange::of(&self.rules.config.timing, &self.request(holder), now, Fate::Success);
            if now + planned.planned() <= until {
                self.txop = Some(Txop { idle_since: None, ..txop });
                return self.begin_exchange(now, holder, out);
            }
        }
        self.end_txop(out);
    }

    /// The medium is idle since the last exchange of the TXOP, and its holder backs off.
    fn end_txop(&mut self, out: &mut Vec<Command>) {
        let Some(Txop { holder, idle_since: Some(since), .. }) = self.txop.take() else { return };
        self.contention.begin_idle(since + self.rules.config.timing.difs(), since);
        self.back_off(holder);
        self.schedule_access(out);
    }
}
