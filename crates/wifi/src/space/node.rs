//! One node: its functions, and what it does when it has sent, when it hears, and when its time has
//! come.

mod hear;

use super::Airtimes;
use super::frame::OnAir;
use super::function::{Asker, Function};
use super::inbox::Inbox;
use super::rules::{Peer, Rules};
use super::sense::Carrier;
use crate::mac::{Answer, Opening, Outcome, Settled, StepKind, block_ack};
use crate::{Command, Counters, FrameCounters, Supply, rate};
use kernel::{Duration, Instant, Rng, Timer};
use wire::Packet;

/// An answer that shall come.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    kind: StepKind,
    /// Since when, the end of the frame that asks for it.
    since: Instant,
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
    /// Which of them may have something to send or a back-off in progress, as bits.
    active: u8,
    /// None has, no exchange goes on, and no timer is set: whatever the node hears it will not act.
    quiet: bool,
    /// Counted among those that have a frame in service.
    pub(super) contends: bool,
    pub(super) carrier: Carrier,
    /// The function whose exchange is on the air.
    exchange: Option<usize>,
    /// When it began.
    opened: Instant,
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
            active: 0,
            quiet: false,
            contends: false,
            carrier: Carrier::new(),
            exchange: None,
            opened: Instant::ZERO,
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

    /// What a frame to another node has of its power there, on average.
    pub(super) fn on_power(&mut self, to: u32, power: f64) {
        if let Ok(at) = self.peers.binary_search_by_key(&to, |peer| peer.node) {
            self.peers[at].power = power;
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.functions.iter().all(|function| function.load.is_idle())
    }

    /// Whether it will do nothing whatever it hears, unless it is spoken to.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// It has done what was to be done.
    pub(super) fn note_quiet(&mut self) {
        let acts = self.exchange.is_some() || self.awaited.is_some() || self.answer.is_some();
        self.quiet = self.active == 0 && !self.contends && !acts && self.txop.is_none();
    }

    fn activate(&mut self, index: usize) -> &mut Function {
        (self.active, self.quiet) = (self.active | 1 << index, false);
        &mut self.functions[index]
    }

    /// A packet comes into service.
    pub(super) fn load(&mut self, now: Instant, packet: Packet, to: Option<u32>, rules: &Rules) {
        let index = rules.mac.category_of(packet.class) as usize;
        self.activate(index).load.load(&rules.mac.framing, now, packet, to);
        // The holder of a TXOP sends a SIFS after its last exchange.
        if self.txop.is_some_and(|txop| txop.function == index && txop.next.is_some()) {
            return;
        }
        let function = &mut self.functions[index];
        if function.slots.wants_backoff(now, &self.carrier) {
            function.back_off(rules);
        }
        self.listen(now);
    }

    // The medium.

    /// The receiver or the node itself makes the medium busy.
    pub(super) fn freeze(&mut self, now: Instant, rules: &Rules) {
        let Some(idle_since) = self.carrier.end_idle() else { return };
        for index in bits(self.active) {
            let function = &mut self.functions[index];
            let is_loaded = !function.load.is_idle();
            let waits = is_loaded && self.exchange != Some(index);
            if function.slots.freeze(now, idle_since, waits) {
                function.back_off(rules);
            } else if !is_loaded && !function.slots.is_pending() {
                self.active &= !(1 << index);
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
        let goes_on = || self.txop.is_some_and(|txop| txop.next.is_some());
        if self.active == 0 || self.exchange.is_some() || self.answer.is_some() || goes_on() {
            return;
        }
        for index in bits(self.active) {
            let function = &mut self.functions[index];
            if function.slots.is_pending() || !function.load.is_idle() {
                function.slots.listen(now, &self.carrier);
            }
        }
    }

    /// A frame is being received whose header ends at `detected`; it may have taken the place of
    /// the answer.
    pub(super) fn on_detected(
        &mut self,
        now: Instant,
        detected: Instant,
        rules: &Rules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_detected(detected);
        let Some(awaited) = &mut self.awaited else { return };
        awaited.receiving = detected <= awaited.until;
        if awaited.until < now {
            self.give_up_waiting(now, rules, out);
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
        let active = bits(self.active).map(|index| &self.functions[index]);
        let waiting = active.filter(|function| !function.load.is_idle());
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
        self.tell_airtime(index, awaited.since, false, out);
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
        self.quiet = false;
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
        Some(self.open(now, index, rules))
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
    fn open(&mut self, now: Instant, index: usize, rules: &Rules) -> OnAir {
        (self.exchange, self.opened) = (Some(index), now);
        let function = &self.functions[index];
        self.counters.attempts += 1;
        self.frames.mpdus += u64::from(function.psdu.mpdus);
        let is_request = u64::from(function.psdu.mpdus == 0);
        self.frames.block_ack_requests += is_request;
        self.frames.data_attempts += 1 - is_request;
        self.frames.data_rates += (1 - is_request) * function.mode.rate.0;
        let repeated = function.load.on_air().filter(|(_, mpdu)| mpdu.attempts > 0);
        self.frames.repeated_mpdus += repeated.count() as u64;
        let body = self.body(index, rules);
        match self.functions[index].opening {
            Opening::None => body,
            Opening::Rts => body.rts(rules.timing()),
            Opening::CtsToSelf => body.cts_to_self(rules.timing()),
        }
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
                return Some(self.open(now, index, rules));
            }
        }
        self.txop = None;
        self.activate(index).back_off(rules);
        self.listen(now);
        None
    }

    /// Its PPDU begins.
    pub(super) fn send(&mut self, now: Instant, frame: &OnAir, lasting: Duration, rules: &Rules) {
        self.airtimes.add(frame.kind, lasting);
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
        let kind = match (frame.kind, frame.answer) {
            _ if frame.is_answer() => return,
            (StepKind::CtsToSelf, _) => {
                let Some(index) = self.exchange else { return };
                let body = self.body(index, rules);
                return self.reply(now, body, rules);
            }
            (StepKind::Rts, _) => StepKind::Cts,
            (_, Answer::Ack) => StepKind::Ack,
            (_, Answer::BlockAck) => StepKind::BlockAck,
            (_, Answer::None) => return self.succeed(now, None, rules, out),
        };
        let until = now + rules.timing().response_timeout(&frame.mode);
        self.quiet = false;
        self.awaited = Some(Awaited { kind, since: now, until, receiving: false });
    }

    /// Tells how much airtime an exchange took whose last frame ended at `end`.
    fn tell_airtime(&self, index: usize, end: Instant, arrived: bool, out: &mut Vec<Command>) {
        let (node, peer) = (self.id, self.functions[index].load.to());
        out.push(Command::Aired { node, peer, used: end - self.opened, arrived });
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

/// Which bits are set, from the lowest on.
fn bits(mut set: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 8).then_some(lowest)
    })
}
