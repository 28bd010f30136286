//! One node: its functions, and what it does when it has sent, when it hears, and when its time has
//! come.

use super::Airtimes;
use super::frame::OnAir;
use super::function::{Asker, Function};
use super::inbox::Inbox;
use super::reception::Receiver;
use super::rules::{Peer, Rules};
use super::sense::Carrier;
use crate::mac::{ACK, Answer, Bitmap, Outcome, Settled, StepKind, block_ack};
use crate::phy::decibels;
use crate::{Command, Counters, FrameCounters, Supply, rate};
use kernel::{Duration, Instant, Rng, Timer};
use wire::Packet;

/// An answer that shall come.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    kind: StepKind,
    /// When the node gives up, unless it is receiving a frame by then.
    until: Instant,
    /// It is receiving one whose header came in time.
    receiving: bool,
}

/// A right to the medium beyond one exchange (clause 10.23.2.8).
#[derive(Clone, Copy, Debug)]
struct Txop {
    function: usize,
    until: Instant,
    /// When its holder goes on, after an exchange that succeeded.
    next: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    pub(super) functions: Vec<Function>,
    /// Counted among those that have a frame in service.
    pub(super) contends: bool,
    pub(super) carrier: Carrier,
    pub(super) receiver: Receiver,
    /// The function whose exchange is on the air.
    exchange: Option<usize>,
    awaited: Option<Awaited>,
    /// What is sent a SIFS after the frame just received.
    answer: Option<(Instant, OnAir)>,
    txop: Option<Txop>,
    pub(super) timer: Timer,
    pub(super) noise: Rng,
    pub(super) counters: Counters,
    pub(super) frames: FrameCounters,
    pub(super) airtimes: Airtimes,
    /// By number.
    pub(super) peers: Vec<Peer>,
    /// What it has heard from whom.
    pub(super) inbox: Inbox,
    settled: Vec<Settled>,
}

impl Node {
    pub(super) fn new(id: u32, functions: Vec<Function>, noise: Rng, peers: Vec<Peer>) -> Self {
        Self {
            id,
            functions,
            contends: false,
            carrier: Carrier::new(),
            receiver: Receiver::default(),
            exchange: None,
            awaited: None,
            answer: None,
            txop: None,
            timer: Timer::default(),
            noise,
            counters: Counters::default(),
            frames: FrameCounters::default(),
            airtimes: Airtimes::default(),
            peers,
            inbox: Inbox::default(),
            settled: Vec::new(),
        }
    }

    pub(super) fn peer(&self, node: u32) -> Option<&Peer> {
        self.peers.binary_search_by_key(&node, |peer| peer.node).ok().map(|i| &self.peers[i])
    }

    pub(super) fn is_idle(&self) -> bool {
        self.functions.iter().all(|function| function.load.is_idle())
    }

    /// A packet comes into service.
    pub(super) fn load(&mut self, now: Instant, packet: Packet, to: Option<u32>, rules: &Rules) {
        let index = rules.mac.category_of(packet.class) as usize;
        let function = &mut self.functions[index];
        function.load.load(&rules.mac.framing, now, packet, to);
        // The holder of a TXOP sends a SIFS after its last exchange.
        if self.txop.is_some_and(|txop| txop.function == index && txop.next.is_some()) {
            return;
        }
        if function.slots.wants_backoff(now, &self.carrier) {
            function.back_off(rules);
        }
        self.listen(now);
    }

    // The medium.

    /// The receiver or the node itself makes the medium busy.
    pub(super) fn freeze(&mut self, now: Instant, rules: &Rules) {
        let Some(idle_since) = self.carrier.end_idle() else { return };
        for (index, function) in self.functions.iter_mut().enumerate() {
            let waits = !function.load.is_idle() && self.exchange != Some(index);
            if function.slots.freeze(now, idle_since, waits) {
                function.back_off(rules);
            }
        }
    }

    /// The medium is idle from now on.
    pub(super) fn sense_idle(&mut self, now: Instant) {
        self.carrier.begin_idle(now);
        self.listen(now);
    }

    /// Counts slots, if there is a reason to.
    fn listen(&mut self, now: Instant) {
        let goes_on = self.txop.is_some_and(|txop| txop.next.is_some());
        if self.exchange.is_some() || self.answer.is_some() || goes_on {
            return;
        }
        for function in &mut self.functions {
            if function.slots.is_pending() || !function.load.is_idle() {
                function.slots.listen(now, &self.carrier);
            }
        }
    }

    /// A frame is being received whose header ends at `detected`.
    pub(super) fn on_detected(&mut self, detected: Instant) {
        self.carrier.on_detected(detected);
        if let Some(awaited) = &mut self.awaited {
            awaited.receiving = detected <= awaited.until;
        }
    }

    /// The frame that was being received is no more.
    pub(super) fn on_lost(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) {
        let Some(awaited) = &mut self.awaited else { return };
        awaited.receiving = false;
        if awaited.until <= now {
            self.give_up_waiting(now, rules, out);
        }
    }

    // Its own doing.

    /// When it does something next, if nothing happens before.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if let Some((at, _)) = &self.answer {
            return Some(*at);
        }
        if let Some(awaited) = &self.awaited {
            return (!awaited.receiving).then_some(awaited.until);
        }
        if let Some(next) = self.txop.and_then(|txop| txop.next) {
            return Some(next);
        }
        if !self.contends {
            return None;
        }
        let waiting = self.functions.iter().filter(|function| !function.load.is_idle());
        waiting.filter_map(|function| function.slots.expiry()).min()
    }

    /// The answer has not come in time.
    pub(super) fn expire(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) {
        if self.awaited.is_some_and(|awaited| !awaited.receiving && awaited.until <= now) {
            self.give_up_waiting(now, rules, out);
            self.listen(now);
        }
    }

    fn give_up_waiting(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) {
        let (Some(awaited), Some(index)) = (self.awaited.take(), self.exchange.take()) else {
            return;
        };
        self.txop = None;
        for function in &mut self.functions {
            function.slots.wait_until(now);
        }
        let aired = awaited.kind != StepKind::Cts;
        let function = &mut self.functions[index];
        let answer = if aired { rate::Answer::None } else { rate::Answer::NoCts };
        function.report(now, &mut self.peers, answer, None);
        function.miss(now, rules, aired, &mut self.settled);
        function.back_off(rules);
        self.settle(out);
    }

    /// The frame that begins now, if one does.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        rules: &Rules,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        if let Some((_, frame)) = self.answer.take_if(|(at, _)| *at <= now) {
            return Some(frame);
        }
        if self.exchange.is_some() || self.answer.is_some() {
            return None;
        }
        if let Some(txop) = self.txop
            && let Some(next) = txop.next
        {
            if next > now {
                return None;
            }
            return self.go_on(now, txop, rules, supply, out);
        }
        let index = self.win(now, rules, out)?;
        let limit = self.functions[index].txop_limit;
        let within = if limit == Duration::ZERO { Duration(u64::MAX) } else { limit };
        self.assemble(now, index, within, rules, supply, out);
        self.functions[index].slots.clear();
        self.txop = (limit > Duration::ZERO).then_some(Txop {
            function: index,
            until: now + limit,
            next: None,
        });
        Some(self.open(index, rules))
    }

    /// The function that sends now: of several the highest.
    fn win(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) -> Option<usize> {
        let is_due = |function: &Function| {
            !function.load.is_idle() && function.slots.expiry().is_some_and(|at| at <= now)
        };
        let winner = self.functions.iter().rposition(is_due)?;
        for index in 0..winner {
            if is_due(&self.functions[index]) {
                self.frames.internal_collisions += 1;
                let function = &mut self.functions[index];
                function.yield_to_higher(now, rules, &mut self.settled);
                function.back_off(rules);
                self.settle(out);
            }
        }
        Some(winner)
    }

    fn assemble(
        &mut self,
        now: Instant,
        index: usize,
        within: Duration,
        rules: &Rules,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) {
        let (node, class) = (self.id, rules.mac.class_of(index as u32));
        let mut asker = Asker { node, class, rules, supply, out };
        self.functions[index].assemble(now, within, &mut self.peers, &mut asker);
    }

    /// The frame that opens an exchange.
    fn open(&mut self, index: usize, rules: &Rules) -> OnAir {
        self.exchange = Some(index);
        let function = &self.functions[index];
        self.counters.attempts += 1;
        self.frames.mpdus += u64::from(function.psdu.mpdus);
        let is_request = u64::from(function.psdu.mpdus == 0);
        self.frames.block_ack_requests += is_request;
        self.frames.data_attempts += 1 - is_request;
        let repeated = function.load.on_air().filter(|(_, mpdu)| mpdu.attempts > 0);
        self.frames.repeated_mpdus += repeated.count() as u64;
        let body = self.body(index, rules);
        if self.functions[index].with_rts { body.rts(rules.timing()) } else { body }
    }

    fn body(&self, index: usize, rules: &Rules) -> OnAir {
        let (timing, function) = (rules.timing(), &self.functions[index]);
        OnAir::body(timing, self.id, index as u8, function, block_ack(rules.mac.window()))
    }

    /// The holder of a TXOP goes on a SIFS after its last exchange, if the next fits in; else the
    /// medium has been idle since then.
    fn go_on(
        &mut self,
        now: Instant,
        txop: Txop,
        rules: &Rules,
        supply: &mut dyn Supply,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let Txop { function: index, until, .. } = txop;
        if !self.functions[index].load.is_idle() {
            self.assemble(now, index, until - now, rules, supply, out);
            if now + self.functions[index].planned(self.id, rules) <= until {
                self.txop = Some(Txop { next: None, ..txop });
                return Some(self.open(index, rules));
            }
        }
        self.txop = None;
        self.functions[index].back_off(rules);
        self.listen(now);
        None
    }

    /// Its PPDU begins.
    pub(super) fn send(&mut self, now: Instant, frame: &OnAir, lasting: Duration, rules: &Rules) {
        self.airtimes.add(frame.kind, lasting);
        self.receiver.begin_sending();
        self.freeze(now, rules);
    }

    /// Its PPDU has ended (clauses 10.3.2.9, 10.3.2.11).
    pub(super) fn sent(
        &mut self,
        now: Instant,
        frame: &OnAir,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        self.receiver.end_sending();
        let kind = match (frame.kind, frame.answer) {
            _ if frame.is_answer() => return,
            (StepKind::Rts, _) => StepKind::Cts,
            (_, Answer::Ack) => StepKind::Ack,
            (_, Answer::BlockAck) => StepKind::BlockAck,
            (_, Answer::None) => return self.succeed(now, None, rules, out),
        };
        let until = now + rules.timing().response_timeout(&frame.mode);
        self.awaited = Some(Awaited { kind, until, receiving: false });
    }

    // Reception.

    /// A frame ends that could not be decoded (clause 10.3.2.3.7).
    pub(super) fn garbled(
        &mut self,
        now: Instant,
        frame: &OnAir,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        let timing = rules.timing();
        self.carrier.on_garbled(timing.eifs(&frame.mode).saturating_sub(timing.difs()));
        self.miss(now, rules, out);
    }

    /// What ends now was not the answer.
    fn miss(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) {
        if self.awaited.is_some_and(|awaited| awaited.receiving) {
            self.give_up_waiting(now, rules, out);
        }
    }

    /// A frame for somebody else is decoded: it reserves the medium (clause 10.3.2.4).
    pub(super) fn overhear(
        &mut self,
        now: Instant,
        frame: &OnAir,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        self.miss(now, rules, out);
        let timing = rules.timing();
        let unless_followed = (rules.nav_reset && frame.kind == StepKind::Rts).then(|| {
            let cts = timing.response_mode(&frame.mode);
            let delay = timing.standard.rx_start_delay(&cts, timing.preamble);
            let lasting = timing.airtime(&cts, ACK).total();
            now + timing.sifs() * 2 + lasting + delay + timing.slot * 2
        });
        self.carrier.reserve(now + frame.reserves, unless_followed);
    }

    /// A frame for this node, or for all, is decoded; of a block ack the bitmap.
    pub(super) fn hear(
        &mut self,
        now: Instant,
        frame: &OnAir,
        bitmap: Option<&Bitmap>,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        if self.awaited.is_some_and(|awaited| awaited.kind == frame.kind) {
            self.awaited = None;
            match (frame.kind, self.exchange) {
                (StepKind::Cts, Some(index)) => {
                    let body = self.body(index, rules);
                    self.reply(now, body, rules);
                }
                _ => self.succeed(now, bitmap, rules, out),
            }
            return;
        }
        self.miss(now, rules, out);
        let (timing, window) = (rules.timing(), rules.mac.window());
        let answer = |kind, psdu| frame.answered(timing, self.id, kind, psdu);
        let reply = match (frame.kind, frame.answer) {
            // An answer that comes too late.
            _ if frame.is_answer() => None,
            // No CTS while the NAV stands (clause 10.3.2.9).
            (StepKind::Rts, _) if self.carrier.is_reserved(now) => None,
            (StepKind::Rts, _) => Some(answer(StepKind::Cts, ACK)),
            (_, Answer::Ack) => Some(answer(StepKind::Ack, ACK)),
            (_, Answer::BlockAck) => Some(answer(StepKind::BlockAck, block_ack(window))),
            (_, Answer::None) => None,
        };
        if let Some(reply) = reply {
            self.reply(now, reply, rules);
        }
    }

    fn reply(&mut self, now: Instant, frame: OnAir, rules: &Rules) {
        self.answer = Some((now + rules.timing().sifs(), frame));
    }

    /// The exchange on the air has succeeded.
    fn succeed(
        &mut self,
        now: Instant,
        bitmap: Option<&Bitmap>,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        let Some(index) = self.exchange.take() else { return };
        let next = now + rules.timing().sifs();
        self.txop = self.txop.filter(|txop| next < txop.until);
        let function = &mut self.functions[index];
        let snr = function.load.to().and_then(|to| {
            let at = self.peers.binary_search_by_key(&to, |peer| peer.node).ok()?;
            Some(decibels(self.peers[at].power / rules.levels.noise(function.mode.width)))
        });
        let answer = function.succeed(now, rules, bitmap, &mut self.settled);
        function.report(now, &mut self.peers, answer, snr);
        match &mut self.txop {
            Some(txop) => txop.next = Some(next),
            None => function.back_off(rules),
        }
        self.settle(out);
    }

    /// Tells whose service has ended.
    fn settle(&mut self, out: &mut Vec<Command>) {
        for Settled { packet, outcome, received } in self.settled.drain(..) {
            match outcome {
                Outcome::Sent => self.counters.sent += 1,
                Outcome::RetryLimit => self.counters.retry_drops += 1,
                Outcome::Lifetime => self.frames.lifetime_drops += 1,
            }
            out.push(Command::Done { node: self.id, packet, outcome, received });
        }
    }
}
