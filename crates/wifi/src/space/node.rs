//! A node: its EDCAFs, and its actions when a transmission ends, when it receives a frame, and when
//! its timer expires.

mod deadline;
mod duplex;
mod group;
mod hear;
mod listen;
mod opening;
mod own;
mod respond;
mod service;
mod uplink;

pub(super) use duplex::{Announced, Joinable, NodeDuplex};
pub(super) use group::NodeGroups;
pub(super) use uplink::NodeTriggers;

use super::Airtimes;
use super::frame::{OnAir, Users};
use super::inbox::Inbox;
use super::rules::{Peer, SpaceRules, peer_mut, place_of};
use super::sense::{Carrier, EdcafState};
use super::subchannels::Subchannels;
use crate::mac::{Edcaf, ElicitedResponse, Opening, PeerRate, Settled, Txop};
use crate::medium::NodeCounters;
use crate::phy::Width;
use crate::{Command, MsduSource};
use kernel::{Duration, Instant, Rng};
use own::{Awaited, Exchange, Own};
use respond::Responder;
use uplink::Access;
use wire::FrameKind;

// In this order, because carrier sense of many nodes changes with each frame: the first fields are
// all that a quiet node needs then, and share a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Node {
    pub(super) id: u32,
    /// The EDCAFs that may have an MSDU in service or a back-off in progress, as bits.
    active: u8,
    /// No EDCAF is active, no exchange is in progress and no timer is set: the node acts only when
    /// a frame is addressed to it.
    quiet: bool,
    /// Carrier sense is idle, and the node has not begun to count slots, which it would not count
    /// if the next frame came a SIFS later. It does nothing before its interframe space has ended.
    dozing: bool,
    /// Whether the node counts as one with a packet in service.
    pub(super) contends: bool,
    /// The node receives a data frame that it may join.
    joins: bool,
    /// The EDCAFs that contend to trigger stations and have nothing to send, as bits.
    asks: u8,
    /// The EDCAFs that do not contend, as bits; they are not active.
    muted: u8,
    pub(super) carrier: Carrier,
    contenders: Vec<EdcafState>,
    own: Own,
    /// The response that the node sends a SIFS after the frame that it received.
    answer: Option<(Instant, OnAir)>,
    /// How many exchanges of its own have ended.
    pub(super) exchanges: u32,
    pub(super) noise: Rng,
    pub(super) counters: NodeCounters,
    pub(super) airtimes: Airtimes,
    /// By number.
    pub(super) peers: Vec<Peer>,
    /// Duplicate detection and reorder buffers.
    pub(super) inbox: Inbox,
    settled: Vec<Settled>,
    /// The state of a node that can receive while it transmits.
    duplex: Option<Box<NodeDuplex>>,
    /// Up to when frames on overlapping channels make a secondary channel of the node busy.
    pub(super) secondary_busy_until: Instant,
    /// Of an access point that sends to several stations at once.
    groups: Option<Box<NodeGroups>>,
    /// Of a station that an access point may trigger.
    responder: Option<Box<Responder>>,
    /// Of a node that may leave out a part of its channel, if channels overlap.
    pub(super) subchannels: Option<Box<Subchannels>>,
}

impl Node {
    pub(super) fn new(id: u32, contenders: Vec<EdcafState>, noise: Rng, peers: Vec<Peer>) -> Self {
        Self {
            id,
            contenders,
            active: 0,
            quiet: false,
            dozing: false,
            contends: false,
            joins: false,
            asks: 0,
            muted: 0,
            carrier: Carrier::new(),
            own: Own::Idle,
            answer: None,
            exchanges: 0,
            noise,
            counters: NodeCounters::default(),
            airtimes: Airtimes::default(),
            peers,
            inbox: Inbox::default(),
            settled: Vec::new(),
            duplex: None,
            secondary_busy_until: Instant::ZERO,
            groups: None,
            responder: None,
            subchannels: None,
        }
    }

    /// The shortest interframe space before slots of any of its EDCAFs.
    pub(super) fn shortest_space(&self) -> Option<Duration> {
        self.contenders.iter().map(|contender| contender.slots.space()).min()
    }

    pub(super) fn peer(&self, node: u32) -> Option<&Peer> {
        place_of(&self.peers, node).map(|place| &self.peers[place])
    }

    /// The peer to which the node now sends a frame, if rate control learns the power at which it
    /// receives the frame.
    pub(super) fn learns_power_at(&mut self, to: u32) -> Option<&mut Peer> {
        peer_mut(&mut self.peers, to).filter(|peer| peer.rate.control.is_some())
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

    pub(super) fn edcafs_mut(&mut self) -> impl Iterator<Item = &mut Edcaf> {
        self.contenders.iter_mut().map(|contender| &mut contender.edcaf)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.edcafs().all(Edcaf::is_idle)
    }

    /// Whether the node has nothing in service, answers no frame, and waits for no response.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.acts()
    }

    /// Whether the node acts only when a frame is addressed to it.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the node holds a TXOP, in which it goes on with another exchange.
    #[inline]
    pub(super) fn holds_txop(&self) -> bool {
        matches!(self.own, Own::Holding(_))
    }

    /// Whether the node sends a frame of its exchange and does nothing else: it acts when the frame
    /// has ended.
    #[inline]
    pub(super) fn only_sends(&self) -> bool {
        matches!(self.own, Own::Sending(_)) && self.answer.is_none() && !self.joins
    }

    /// Whether the node begins an exchange now.
    pub(super) fn opens(&self, now: Instant) -> bool {
        self.own.exchange().is_some_and(|exchange| exchange.opened == now)
    }

    /// Whether the node waits for a response.
    #[inline]
    pub(super) fn awaits(&self) -> bool {
        !self.quiet && self.own.awaited().is_some()
    }

    fn activate(&mut self, index: usize) -> &mut EdcafState {
        (self.active, self.quiet) = (self.active | (1 << index & !self.muted), false);
        &mut self.contenders[index]
    }

    /// The timeout of a missing response expires.
    pub(super) fn expire(&mut self, now: Instant, rules: &SpaceRules, out: &mut Vec<Command>) {
        if self.own.awaited().is_some_and(|it| !it.receiving && it.acts_at() <= now) {
            self.give_up_waiting(now, rules, out);
            self.listen(now);
        }
    }

    fn give_up_waiting(&mut self, now: Instant, rules: &SpaceRules, out: &mut Vec<Command>) {
        let Own::Awaiting(exchange, awaited) = self.own else { return };
        if self.is_in_group() {
            return self.miss_user(now, rules, out);
        }
        for contender in &mut self.contenders {
            contender.slots.wait_until(now);
        }
        if self.is_answering() {
            return self.end_answer(now, None, rules, out);
        }
        self.own = Own::Idle;
        self.exchanges = self.exchanges.wrapping_add(1);
        self.finish_beside(false);
        self.report_airtime(&exchange, awaited.since, false, out);
        let data_sent = awaited.kind != FrameKind::Cts;
        let contender = &mut self.contenders[exchange.edcaf];
        let rate = rate(&mut self.peers, contender.edcaf.to());
        contender.edcaf.miss(now, &rules.mac, data_sent, rate, &mut self.settled);
        contender.back_off(&rules.mac);
        self.settle(out);
    }

    /// The frame that the node begins to transmit now, if any.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        self.quiet = false;
        if let Some((_, frame)) = self.answer.take_if(|(at, _)| *at <= now) {
            if frame.users == Users::Chained && self.must_find_idle(now, rules, out) {
                return None;
            }
            let is_refused = frame.kind == FrameKind::Cts
                && frame.users == Users::One
                && !rules.levels.cts_when_busy
                && self.carrier.is_sensed();
            // Nothing is counted while the medium is busy.
            return Some(frame).filter(|_| !is_refused);
        }
        if self.answer.is_some() {
            return None;
        }
        match self.own {
            Own::Idle => {}
            Own::Holding(txop) if txop.next.is_some_and(|next| next <= now) => {
                return self.go_on(now, txop, rules, source, out);
            }
            _ => return None,
        }
        let index = self.win(now, rules, out)?;
        self.note_win(now);
        if self.restarts(now, index, rules) {
            return None;
        }
        let EdcafState { edcaf, slots } = &mut self.contenders[index];
        slots.clear();
        let txop = edcaf.txop(now, index as u32);
        let access = Access { txop, is_first: true };
        if self.groups.is_some()
            && let Some(frame) = self.begin_several(now, index, access, rules, source, out)
        {
            return Some(frame);
        }
        // If it has contended to trigger, there is nobody.
        if self.edcaf(index).is_idle() {
            self.activate(index).back_off(&rules.mac);
            self.listen(now);
            return None;
        }
        let edcaf = &mut self.contenders[index].edcaf;
        let rate = rate(&mut self.peers, edcaf.to());
        edcaf.begin(now, &rules.mac, rate, source, out);
        if self.responder.is_some() {
            self.tell_queue(index, rules, source);
        }
        Some(self.open(now, index, txop, rules))
    }

    /// The EDCAF that transmits now: the one of highest priority.
    fn win(&mut self, now: Instant, rules: &SpaceRules, out: &mut Vec<Command>) -> Option<usize> {
        let asks = self.asks;
        let is_due = |index: usize, EdcafState { edcaf, slots }: &EdcafState| {
            let contends = !edcaf.is_idle() || has(asks, index);
            contends && slots.expiry().is_some_and(|at| at <= now)
        };
        let winner =
            (0..self.contenders.len()).rfind(|&index| is_due(index, &self.contenders[index]))?;
        for index in 0..winner {
            let contender = &mut self.contenders[index];
            if is_due(index, contender) {
                let edcaf = &mut contender.edcaf;
                edcaf.yield_to_higher(now, &rules.mac, &mut self.counters, &mut self.settled);
                contender.back_off(&rules.mac);
                self.settle(out);
            }
        }
        Some(winner)
    }

    /// An EDCAF backs off anew in place of a frame that needs a secondary channel that was not idle
    /// for a PIFS (clauses 10.23.2.5, item e, and 11.15.9). Returns whether it does. One that may
    /// leave out a part of its channel sends in the rest.
    fn restarts(&mut self, now: Instant, index: usize, rules: &SpaceRules) -> bool {
        if let Some(subchannels) = &self.subchannels {
            self.edcaf_mut(index).won = subchannels.won(now, rules.timing().pifs());
            return false;
        }
        if now >= self.secondary_busy_until + rules.timing().pifs() {
            return false;
        }
        let to = self.contenders[index].edcaf.to();
        let is_wide = |peer: &Peer| peer.rate.mode.width > Width::Mhz22;
        if !to.and_then(|to| self.peer(to)).is_some_and(is_wide) {
            return false;
        }
        // One thing is done at a slot boundary (clause 10.23.2.4): without slots, the next is the
        // earliest.
        let EdcafState { edcaf, slots } = &mut self.contenders[index];
        slots.back_off(edcaf.back_off(&rules.mac).max(1));
        self.listen(now);
        true
    }

    /// Begins an exchange and returns its first frame.
    fn open(
        &mut self,
        now: Instant,
        index: usize,
        txop: Option<Txop>,
        rules: &SpaceRules,
    ) -> OnAir {
        self.own = Own::Sending(Exchange { edcaf: index, opened: now, txop });
        if self.groups.is_some() {
            self.open_alone(now, index, rules);
        }
        let before = self.counters;
        self.contenders[index].edcaf.count(&mut self.counters);
        let body = self.body(index, rules);
        match self.edcaf(index).opening {
            Opening::None => body,
            Opening::Rts => {
                self.note_rts(now, index, before);
                body.rts(rules)
            }
            Opening::CtsToSelf => body.cts_to_self(rules.timing()),
        }
    }

    fn body(&self, index: usize, rules: &SpaceRules) -> OnAir {
        let edcaf = self.edcaf(index);
        OnAir::body(rules.timing(), index as u8, edcaf, edcaf.block_ack(&rules.mac))
    }

    /// The holder of a TXOP begins its next exchange a SIFS after the last one, if it ends within
    /// the TXOP. Otherwise the medium has been idle since the last exchange.
    fn go_on(
        &mut self,
        now: Instant,
        txop: Txop,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> Option<OnAir> {
        let index = txop.holder as usize;
        let access = Access { txop: Some(txop.resumed()), is_first: false };
        if self.groups.is_some()
            && let Some(frame) = self.begin_several(now, index, access, rules, source, out)
        {
            return Some(frame);
        }
        let edcaf = &mut self.contenders[index].edcaf;
        let rate = rate(&mut self.peers, edcaf.to());
        if !txop.is_for_answers() && edcaf.go_on(now, &txop, &rules.mac, rate, source, out) {
            if self.responder.is_some() {
                self.tell_queue(index, rules, source);
            }
            return Some(self.open(now, index, Some(txop.resumed()), rules));
        }
        self.own = Own::Idle;
        self.activate(index).back_off(&rules.mac);
        self.listen(now);
        None
    }

    /// The kind of a frame that the node sends: the medium treats a beacon as data.
    pub(super) fn kind_of(&self, frame: &OnAir) -> FrameKind {
        match frame.kind {
            FrameKind::Data => {
                let frame = self.edcaf(usize::from(frame.edcaf)).originator.management();
                frame.map_or(FrameKind::Data, |frame| frame.kind())
            }
            kind => kind,
        }
    }

    /// The node begins to transmit a PPDU.
    pub(super) fn send(
        &mut self,
        now: Instant,
        frame: &OnAir,
        lasting: Duration,
        rules: &SpaceRules,
    ) {
        self.airtimes.add(self.kind_of(frame), lasting);
        self.freeze(now, rules);
        if frame.kind == FrameKind::Rts {
            self.note_end_of_rts(now + lasting);
        }
    }

    /// The node has transmitted a PPDU (clauses 10.3.2.9, 10.3.2.11).
    pub(super) fn sent(
        &mut self,
        now: Instant,
        frame: &OnAir,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let kind = match (frame.kind, frame.answer) {
            _ if frame.users != Users::One => return self.sent_to_users(now, frame, rules, out),
            (FrameKind::Cts, _) => return self.follow_cts(now, rules),
            _ if frame.is_control_response() => return,
            // An access point answers the RTS that began with its own.
            (FrameKind::Rts, _) if self.gives_way() => return,
            (FrameKind::CtsToSelf, _) => {
                let Some(index) = self.own.edcaf() else { return };
                let body = self.body(index, rules);
                return self.reply(now, body, rules);
            }
            (FrameKind::Rts, _) => FrameKind::Cts,
            (_, ElicitedResponse::Ack) => FrameKind::Ack,
            (_, ElicitedResponse::BlockAck) => FrameKind::BlockAck,
            (_, ElicitedResponse::None) => return self.succeed(now, None, rules, out),
        };
        let (sifs, timeout) = (rules.timing().sifs(), rules.responses(&frame.mode).timeout);
        let begun = now + frame.beside.unwrap_or_default();
        // A full-duplex node may be receiving a frame that began together with its RTS.
        let receiving = self.joins;
        let awaited = Awaited::after(begun, kind, sifs, timeout);
        self.await_response(Awaited { since: now, receiving, ..awaited });
    }

    /// Reports the airtime of an exchange whose last frame ended at `end`.
    fn report_airtime(
        &self,
        exchange: &Exchange,
        end: Instant,
        arrived: bool,
        out: &mut Vec<Command>,
    ) {
        let edcaf = self.edcaf(exchange.edcaf);
        let (node, peer, used) = (self.id, edcaf.to(), end - exchange.opened);
        out.push(Command::ExchangeSent { node, peer, used, arrived, mpdus: edcaf.mpdus() });
    }

    /// Reports the packets whose service has ended.
    fn settle(&mut self, out: &mut Vec<Command>) {
        self.resume_aside();
        if self.groups.is_some() {
            self.bring_forward();
        }
        self.counters.settle(self.id, &mut self.settled, out);
    }
}

/// The mode in which a node sends to a peer; `None` for a broadcast.
fn rate(peers: &mut [Peer], to: Option<u32>) -> Option<&mut PeerRate> {
    let peer = to.map(|to| peer_mut(peers, to).expect("there is a link to each receiver"))?;
    Some(&mut peer.rate)
}

/// Whether the bit of an EDCAF is set.
#[inline]
fn has(set: u8, index: usize) -> bool {
    set & 1 << index != 0
}
