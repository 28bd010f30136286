//! One node: its EDCAFs, and what it does when it has sent, when it hears, and when its time has
//! come.

mod hear;

use super::Airtimes;
use super::frame::OnAir;
use super::inbox::Inbox;
use super::rules::{Peer, Rules, peer_mut};
use super::sense::{Carrier, EdcafState};
use crate::mac::{Edcaf, ElicitedResponse, Opening, PeerRate, Settled, StepKind, Txop, block_ack};
use crate::medium::NodeCounters;
use crate::{Command, MsduSource};
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

#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    contenders: Vec<EdcafState>,
    /// Which of them may have something to send or a back-off in progress, as bits.
    active: u8,
    /// None has, no exchange goes on, and no timer is set: whatever the node hears it will not act.
    quiet: bool,
    /// Counted among those that have a frame in service.
    pub(super) contends: bool,
    pub(super) carrier: Carrier,
    /// The EDCAF whose exchange is on the air.
    exchange: Option<usize>,
    /// When it began.
    opened: Instant,
    awaited: Option<Awaited>,
    /// What is sent a SIFS after the frame just received.
    answer: Option<(Instant, OnAir)>,
    txop: Option<Txop>,
    pub(super) timer: Timer,
    pub(super) noise: Rng,
    pub(super) counters: NodeCounters,
    pub(super) airtimes: Airtimes,
    /// By number.
    pub(super) peers: Vec<Peer>,
    /// What it has heard from whom.
    pub(super) inbox: Inbox,
    settled: Vec<Settled>,
}

impl Node {
    pub(super) fn new(id: u32, contenders: Vec<EdcafState>, noise: Rng, peers: Vec<Peer>) -> Self {
        Self {
            id,
            contenders,
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
            counters: NodeCounters::default(),
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
        if let Some(peer) = peer_mut(&mut self.peers, to) {
            peer.power = power;
        }
    }

    pub(super) fn edcaf(&self, index: usize) -> &Edcaf {
        &self.contenders[index].edcaf
    }

    pub(super) fn edcaf_mut(&mut self, index: usize) -> &mut Edcaf {
        &mut self.contenders[index].edcaf
    }

    pub(super) fn edcafs(&self) -> impl Iterator<Item = &Edcaf> {
        self.contenders.iter().map(|contender| &contender.edcaf)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.edcafs().all(Edcaf::is_idle)
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

    fn activate(&mut self, index: usize) -> &mut EdcafState {
        (self.active, self.quiet) = (self.active | 1 << index, false);
        &mut self.contenders[index]
    }

    /// A packet comes into service.
    pub(super) fn begin_service(
        &mut self,
        now: Instant,
        packet: Packet,
        to: Option<u32>,
        rules: &Rules,
    ) {
        let index = rules.mac.category_of(packet.class) as usize;
        self.activate(index).edcaf.begin_service(now, packet, to, &rules.mac);
        // The holder of a TXOP sends a SIFS after its last exchange.
        if self.txop.is_some_and(|txop| txop.goes_on(index as u32)) {
            return;
        }
        let contender = &mut self.contenders[index];
        if contender.slots.wants_backoff(now, &self.carrier) {
            contender.back_off(&rules.mac);
        }
        self.listen(now);
    }

    // The medium.

    /// The receiver or the node itself makes the medium busy.
    pub(super) fn freeze(&mut self, now: Instant, rules: &Rules) {
        let Some(idle_since) = self.carrier.end_idle() else { return };
        for index in bits(self.active) {
            let contender = &mut self.contenders[index];
            let has_msdus = !contender.edcaf.is_idle();
            let waits = has_msdus && self.exchange != Some(index);
            if contender.slots.freeze(now, idle_since, waits) {
                contender.back_off(&rules.mac);
            } else if !has_msdus && !contender.slots.is_pending() {
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
            let EdcafState { edcaf, slots } = &mut self.contenders[index];
            if slots.is_pending() || !edcaf.is_idle() {
                slots.listen(now, &self.carrier);
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
        let active = bits(self.active).map(|index| &self.contenders[index]);
        let waiting = active.filter(|contender| !contender.edcaf.is_idle());
        waiting.filter_map(|contender| contender.slots.expiry()).min()
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
        for contender in &mut self.contenders {
            contender.slots.wait_until(now);
        }
        self.report_airtime(index, awaited.since, false, out);
        let data_sent = awaited.kind != StepKind::Cts;
        let contender = &mut self.contenders[index];
        let rate = rate(&mut self.peers, contender.edcaf.to());
        contender.edcaf.miss(now, &rules.mac, data_sent, rate, &mut self.settled);
        contender.back_off(&rules.mac);
        self.settle(out);
    }

    /// The frame that begins now, if one does.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        rules: &Rules,
        source: &mut dyn MsduSource,
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
            return self.go_on(now, txop, rules, source, out);
        }
        let index = self.win(now, rules, out)?;
        let EdcafState { edcaf, slots } = &mut self.contenders[index];
        let rate = rate(&mut self.peers, edcaf.to());
        edcaf.begin(now, &rules.mac, rate, source, out);
        slots.clear();
        self.txop = edcaf.txop(now, index as u32);
        Some(self.open(now, index, rules))
    }

    /// The EDCAF that sends now: of several the highest.
    fn win(&mut self, now: Instant, rules: &Rules, out: &mut Vec<Command>) -> Option<usize> {
        let is_due = |EdcafState { edcaf, slots }: &EdcafState| {
            !edcaf.is_idle() && slots.expiry().is_some_and(|at| at <= now)
        };
        let winner = self.contenders.iter().rposition(is_due)?;
        for index in 0..winner {
            let contender = &mut self.contenders[index];
            if is_due(contender) {
                let edcaf = &mut contender.edcaf;
                edcaf.yield_to_higher(now, &rules.mac, &mut self.counters, &mut self.settled);
                contender.back_off(&rules.mac);
                self.settle(out);
            }
        }
        Some(winner)
    }

    /// The frame that opens an exchange.
    fn open(&mut self, now: Instant, index: usize, rules: &Rules) -> OnAir {
        (self.exchange, self.opened) = (Some(index), now);
        let edcaf = &self.contenders[index].edcaf;
        edcaf.count(&mut self.counters);
        let body = self.body(index, rules);
        match self.edcaf(index).opening {
            Opening::None => body,
            Opening::Rts => body.rts(rules.timing()),
            Opening::CtsToSelf => body.cts_to_self(rules.timing()),
        }
    }

    fn body(&self, index: usize, rules: &Rules) -> OnAir {
        let block_ack = block_ack(rules.mac.window());
        OnAir::body(rules.timing(), index as u8, self.edcaf(index), block_ack)
    }

    /// The holder of a TXOP goes on a SIFS after its last exchange, if the next fits in; else the
    /// medium has been idle since then.
    fn go_on(
        &mut self,
        now: Instant,
        txop: Txop,
        rules: &Rules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let index = txop.holder as usize;
        let edcaf = &mut self.contenders[index].edcaf;
        let rate = rate(&mut self.peers, edcaf.to());
        if edcaf.go_on(now, &txop, &rules.mac, rate, source, out) {
            self.txop = Some(txop.resumed());
            return Some(self.open(now, index, rules));
        }
        self.txop = None;
        self.activate(index).back_off(&rules.mac);
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
            (_, ElicitedResponse::Ack) => StepKind::Ack,
            (_, ElicitedResponse::BlockAck) => StepKind::BlockAck,
            (_, ElicitedResponse::None) => return self.succeed(now, None, rules, out),
        };
        let until = now + rules.timing().response_timeout(&frame.mode);
        self.quiet = false;
        self.awaited = Some(Awaited { kind, since: now, until, receiving: false });
    }

    /// Tells how much airtime an exchange took whose last frame ended at `end`.
    fn report_airtime(&self, index: usize, end: Instant, arrived: bool, out: &mut Vec<Command>) {
        let (node, peer) = (self.id, self.edcaf(index).to());
        out.push(Command::ExchangeSent { node, peer, used: end - self.opened, arrived });
    }

    /// Tells whose service has ended.
    fn settle(&mut self, out: &mut Vec<Command>) {
        self.counters.settle(self.id, &mut self.settled, out);
    }
}

/// In which mode a node sends to one of its peers, unless it sends to all.
fn rate(peers: &mut [Peer], to: Option<u32>) -> Option<&mut PeerRate> {
    let peer = to.map(|to| peer_mut(peers, to).expect("packets go along links"))?;
    Some(&mut peer.rate)
}

/// Which bits are set, from the lowest on.
fn bits(mut set: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 8).then_some(lowest)
    })
}
