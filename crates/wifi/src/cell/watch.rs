//! For observers: the frames of exchanges and collisions, and what the EDCAFs wait for.

use super::{ACCESS_POINT, Cell};
use crate::mac::{
    ACK, Bitmap, BusyTone, Counting, Exchange, ExchangeOutcome, Opening, RTS, Response, Step,
    block_ack,
};
use crate::watch::{self, OpenWait, Waiting, WatchRecord};
use kernel::{Bytes, Duration, Instant};
use wire::{Frame, FrameContent, FrameKind, FrameLoss, FrameOutcome, TrafficClass, Wait, WaitKind};

/// The records of a cell.
#[derive(Debug)]
pub(super) struct CellWatch {
    records: Vec<WatchRecord>,
    /// Exchanges that were recorded.
    exchanges: u64,
    /// By EDCAF.
    waits: Vec<OpenWait>,
    /// No wait without a record began before.
    open_since: Instant,
    /// When the NAV of each node expires.
    navs: Vec<Instant>,
}

impl CellWatch {
    /// The number of an exchange that has ended.
    pub(super) fn begin_exchange(&mut self) -> u64 {
        let number = self.exchanges;
        self.exchanges += 1;
        number
    }

    /// An EDCAF begins to wait.
    pub(super) fn begin_wait(&mut self, f: u32, at: Instant) {
        self.waits[f as usize].begin(at);
    }

    pub(super) fn push(&mut self, record: WatchRecord) {
        self.records.push(record);
    }

    /// The NAV of a node is set.
    pub(super) fn set_nav(&mut self, node: u32, from: Instant, until: Instant) {
        let nav = &mut self.navs[node as usize];
        let (start, end) = (from.max(*nav), until);
        if start < end {
            *nav = end;
            let (class, kind) = (TrafficClass::BestEffort, WaitKind::Nav);
            let wait = Wait { radio: node, class, start, end, kind };
            self.records.push(WatchRecord::Wait(wait));
        }
    }
}

impl Cell {
    /// Starts to record frames and waits.
    pub fn watch(&mut self) {
        self.watch = Some(Box::new(CellWatch {
            records: Vec::new(),
            exchanges: 0,
            waits: vec![OpenWait::default(); self.edcafs.len()],
            open_since: Instant::ZERO,
            navs: vec![Instant::ZERO; self.nodes.len()],
        }));
    }

    /// The records that were made, if the cell is watched, and an instant before which nothing
    /// begins that is still to be recorded.
    pub fn watched(&mut self, now: Instant) -> Option<(&mut Vec<WatchRecord>, Instant)> {
        let begun = self.exchange.as_ref().map_or(now, |exchange| exchange.start);
        let CellWatch { records, open_since, .. } = self.watch.as_deref_mut()?;
        Some((records, begun.min(*open_since)))
    }

    /// Records the waits up to now, although they go on.
    pub fn cut_waits(&mut self, now: Instant) {
        let Some(mut watch) = self.watch.take() else { return };
        watch.open_since = now;
        for f in (0..self.edcafs.len() as u32).filter(|&f| !self.is_sending(f)) {
            let (wait, waiting) = (&mut watch.waits[f as usize], self.waiting(f));
            wait.cut(now, &waiting, &mut watch.records);
            let open = wait.record(now, &waiting, None, &mut watch.records);
            watch.open_since = watch.open_since.min(open);
        }
        self.watch = Some(watch);
    }

    /// The run ends: records the exchange on the air as if it ended.
    pub fn close_watch(&mut self, now: Instant) {
        if self.watch.is_none() {
            return;
        }
        self.cut_waits(now);
        match self.exchange {
            Some(exchange) if exchange.outcome == ExchangeOutcome::Collision => {
                self.record_collision();
            }
            Some(exchange) if self.several().is_some() => self.record_several(&exchange),
            Some(_) => self.record_exchange(),
            None => {}
        }
    }

    /// Whether the exchange or collision on the air is that of an EDCAF.
    fn is_sending(&self, f: u32) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| match exchange.outcome {
            ExchangeOutcome::Collision => self.colliders.iter().any(|&(other, _)| other == f),
            _ => self.sender == f || self.secondary().is_some_and(|s| self.edcaf_of(s) == f),
        })
    }

    fn waiting(&self, f: u32) -> Waiting {
        let (has_frame, counting) = self.contention.counting(f);
        let (node, class) = (self.node_of(f), self.class_of(f));
        Waiting { node, class, has_frame, counting, slot: self.rules.timing().slot }
    }

    pub(super) fn class_of(&self, f: u32) -> TrafficClass {
        self.rules.class_of(f % self.rules.per_node)
    }

    /// A frame arrives at an EDCAF: a back-off that has ended before has a record of its own.
    pub(super) fn record_arrival(&mut self, now: Instant, f: u32) {
        let waiting = self.waiting(f);
        let Some(watch) = &mut self.watch else { return };
        let wait = &mut watch.waits[f as usize];
        let ended = |counting: &Counting| counting.start + waiting.slot * counting.slots <= now;
        if waiting.counting.as_ref().is_some_and(ended) {
            wait.record(now, &waiting, None, &mut watch.records);
        }
        wait.begin(now);
    }

    /// The medium becomes busy.
    pub(super) fn record_waits(&mut self, now: Instant) {
        let Some(mut watch) = self.watch.take() else { return };
        let busy_slot = Some(self.rules.busy_slot());
        watch.open_since = now;
        for f in 0..self.edcafs.len() as u32 {
            let wait = &mut watch.waits[f as usize];
            let records = &mut watch.records;
            let open = wait.record(now, &self.waiting(f), busy_slot, records);
            watch.open_since = watch.open_since.min(open);
        }
        self.watch = Some(watch);
    }

    /// An exchange ends.
    pub(super) fn record_exchange(&mut self) {
        let Some(exchange) = self.exchange else { return };
        let exchange = &exchange;
        let Some(mut watch) = self.watch.take() else { return };
        let f = self.sender;
        let is_missing = exchange.outcome == ExchangeOutcome::DataLost;
        let timeout = if is_missing { self.edcaf(f).response.timeout } else { Duration::ZERO };
        watch.waits[f as usize].begin(exchange.end + timeout);
        let number = watch.begin_exchange();
        for step in exchange.steps() {
            let mut frame = self.frame(f, exchange, step, number);
            frame.outcome = self.outcome(exchange, step.kind);
            self.fill_mpdus(&mut frame, f, |index| !self.is_lost(index));
            watch.records.push(WatchRecord::Frame(frame));
        }
        self.record_duplex(&mut watch, exchange, number);
        self.record_navs(&mut watch, exchange);
        self.watch = Some(watch);
    }

    /// What the receiver of the primary frame sent of its own in an exchange: a full-duplex access
    /// point an RTS together with the first frame of the primary transmitter, and the secondary
    /// frame, with the response to it and the busy tone.
    fn record_duplex(&self, watch: &mut CellWatch, exchange: &Exchange, number: u64) {
        let Some(duplex) = &self.duplex else { return };
        let add = |f, (from, to), mode, psdu, step: &Step| {
            let frame = self.frame(f, exchange, step, number);
            let mode = watch::mode(&mode, &step.airtime);
            Frame { from, to: Some(to), mode, psdu, ..frame }
        };
        let timing = self.rules.timing();
        let secondary = duplex.secondary.as_ref();
        if let Some((to, mode)) = duplex.own_rts {
            let f = secondary.map_or(ACCESS_POINT, |secondary| self.edcaf_of(secondary));
            let airtime = timing.airtime(&mode, RTS);
            let rts = Step { kind: FrameKind::Rts, start: exchange.start, airtime };
            let mut frame = add(f, (ACCESS_POINT, to), mode, RTS, &rts);
            frame.outcome = FrameOutcome::Lost(FrameLoss::Collision);
            frame.lost_to = Some(exchange.sender);
            watch.records.push(WatchRecord::Frame(frame));
        }
        let Some(secondary) = secondary else { return };
        let f = self.edcaf_of(secondary);
        let is_lost = !secondary.outcome.data_arrives();
        let (sender, receiver, mode) = (secondary.sender, secondary.receiver, secondary.mode);
        let timeout = if is_lost { Response::to(timing, &mode).timeout } else { Duration::ZERO };
        watch.waits[f as usize].begin(exchange.end + timeout);
        let planned = exchange.start + exchange.planned();
        let mut data = add(f, (sender, receiver), mode, secondary.psdu, &secondary.data);
        data.nav = timing.reservation(planned - secondary.data.end());
        data.outcome = match secondary.outcome {
            // Its receiver sends, or cannot decode it beside the primary frame.
            ExchangeOutcome::Collision => {
                let is_sending = receiver == exchange.sender;
                data.lost_to = Some(exchange.sender).filter(|_| !is_sending);
                let loss =
                    if is_sending { FrameLoss::ReceiverTransmits } else { FrameLoss::Interference };
                FrameOutcome::Lost(loss)
            }
            ExchangeOutcome::DataLost => FrameOutcome::Lost(FrameLoss::Noise),
            _ => FrameOutcome::Received,
        };
        self.fill_mpdus(&mut data, f, |index| !self.is_secondary_lost(index));
        watch.records.push(WatchRecord::Frame(data));
        if let Some(answer) = &secondary.answer {
            let mode = timing.response_mode(&mode);
            let (is_missed, bytes) = (
                secondary.outcome == ExchangeOutcome::AckLost,
                match answer.kind {
                    FrameKind::BlockAck => block_ack(self.rules.window()),
                    _ => ACK,
                },
            );
            let mut ack = add(f, (receiver, sender), mode, bytes, answer);
            let lost = FrameOutcome::Lost(FrameLoss::Noise);
            ack.outcome = if is_missed { lost } else { FrameOutcome::Received };
            watch.records.push(WatchRecord::Frame(ack));
        }
        if let Some(BusyTone { sender, start, end }) = secondary.tone {
            let own = if sender == secondary.sender { f } else { self.sender };
            let (class, kind) = (self.class_of(own), WaitKind::BusyTone);
            let wait = Wait { radio: sender, class, start, end, kind };
            watch.records.push(WatchRecord::Wait(wait));
        }
    }

    fn outcome(&self, exchange: &Exchange, kind: FrameKind) -> FrameOutcome {
        let is_lost = match kind {
            FrameKind::CtsToSelf => return FrameOutcome::NotAddressed,
            FrameKind::Rts | FrameKind::Cts => false,
            FrameKind::Ack | FrameKind::BlockAck => exchange.outcome == ExchangeOutcome::AckLost,
            _ => {
                let all_missed = self.missed.len() + 1 == self.nodes.len();
                let is_broadcast = self.edcaf(self.sender).to().is_none();
                exchange.outcome == ExchangeOutcome::DataLost || is_broadcast && all_missed
            }
        };
        if is_lost { FrameOutcome::Lost(FrameLoss::Noise) } else { FrameOutcome::Received }
    }

    /// A collision ends: the frames that each collider sent before it could notice it.
    pub(super) fn record_collision(&mut self) {
        let Some(collision) = self.exchange else { return };
        let Some(mut watch) = self.watch.take() else { return };
        for (place, &(f, sent)) in self.colliders.iter().enumerate() {
            let timeout = self.edcaf(f).to().map_or(Duration::ZERO, |_| self.exposed_timeout(f));
            watch.waits[f as usize].begin(sent + timeout);
            let number = watch.begin_exchange();
            let other = self.colliders.get(usize::from(place == 0));
            let lost_to = other.map(|&(other, _)| self.node_of(other));
            if self.record_collided_several(&mut watch, f, collision.start, lost_to, number) {
                continue;
            }
            let planned =
                self.edcaf(f).exchange(&self.rules, collision.start, ExchangeOutcome::Success);
            for step in planned.steps().take_while(|step| step.end() <= sent) {
                let mut frame = self.frame(f, &planned, step, number);
                if step.kind != FrameKind::CtsToSelf {
                    frame.outcome = FrameOutcome::Lost(FrameLoss::Collision);
                    frame.lost_to = lost_to;
                }
                self.fill_mpdus(&mut frame, f, |_| false);
                watch.records.push(WatchRecord::Frame(frame));
            }
        }
        self.watch = Some(watch);
    }

    /// A frame of the exchange of an EDCAF, without its MPDUs and its outcome.
    fn frame(&self, f: u32, exchange: &Exchange, step: &Step, number: u64) -> Frame {
        let edcaf = self.edcaf(f);
        let (timing, own, peer) = (self.rules.timing(), Some(edcaf.node), edcaf.to());
        let rts = || timing.rts_mode(&edcaf.mode);
        let acked = || edcaf.block_ack(&self.rules);
        let receiver = peer.unwrap_or(ACCESS_POINT);
        let (from, to, mode, psdu) = match step.kind {
            FrameKind::Rts => (edcaf.node, peer, rts(), RTS),
            FrameKind::Cts => (receiver, own, timing.response_mode(&rts()), ACK),
            FrameKind::CtsToSelf => (edcaf.node, own, rts(), ACK),
            FrameKind::Ack => (receiver, own, edcaf.response.mode, ACK),
            FrameKind::BlockAck => (receiver, own, edcaf.response.mode, acked()),
            _ => (edcaf.node, peer, edcaf.mode, edcaf.psdu.bytes),
        };
        let until = match step.kind {
            FrameKind::Ack | FrameKind::BlockAck => exchange.start + exchange.planned(),
            _ => exchange.announced(),
        };
        let start = edcaf.originator.start();
        Frame {
            from,
            to,
            mode: watch::mode(&mode, &step.airtime),
            psdu,
            nav: timing.reservation(until.since(step.end())),
            flow: edcaf.originator.flow(),
            content: match (step.kind, peer) {
                (FrameKind::BlockAckRequest, _) => {
                    FrameContent::BlockAck(Bitmap::default().record(start, psdu))
                }
                (FrameKind::BlockAck, Some(to)) => {
                    let recipient = &self.nodes[to as usize].recipients[self.inbox(f, to)];
                    FrameContent::BlockAck(recipient.block_ack(start).record(start, psdu))
                }
                (FrameKind::Data, _) => self.queue_report(f),
                _ => FrameContent::None,
            },
            ..self.bare(f, step, number)
        }
    }

    /// A broadcast of an EDCAF, of which nothing else is known.
    pub(super) fn bare(&self, f: u32, step: &Step, number: u64) -> Frame {
        let edcaf = self.edcaf(f);
        Frame {
            number: 0,
            start: step.start,
            payload: step.start + step.airtime.preamble + step.airtime.header,
            end: step.end(),
            from: edcaf.node,
            to: None,
            kind: step.kind,
            class: self.class_of(f),
            mode: watch::mode(&edcaf.mode, &step.airtime),
            psdu: Bytes::ZERO,
            aggregate: false,
            nav: Duration::ZERO,
            exchange: number,
            flow: None,
            outcome: FrameOutcome::NotAddressed,
            lost_to: None,
            signal_dbm: None,
            sig_b: None,
            padding: Bytes::ZERO,
            mpdus: Vec::new(),
            content: FrameContent::None,
        }
    }

    fn fill_mpdus(&self, frame: &mut Frame, f: u32, is_received: impl Fn(u16) -> bool) {
        if frame.kind == FrameKind::Data {
            let is_lost = frame.outcome != FrameOutcome::Received;
            watch::fill(frame, self.edcaf(f), |index| !is_lost && is_received(index));
        }
    }

    /// The first frame of an exchange sets the NAV of the nodes that are no party of it.
    fn record_navs(&self, watch: &mut CellWatch, exchange: &Exchange) {
        let Some(first) = exchange.steps().next() else { return };
        let timing = self.rules.timing();
        let until = exchange.reserved_until(timing);
        let edcaf = self.edcaf(self.sender);
        let is_heard_by_all = edcaf.first_mode(timing).class.is_dsss();
        let receiver = edcaf.to().filter(|_| edcaf.opening != Opening::CtsToSelf);
        for node in 0..self.nodes.len() as u32 {
            let is_party = node == exchange.sender || Some(node) == receiver;
            if is_party || !is_heard_by_all && !self.rules.knows_ofdm(node) {
                continue;
            }
            watch.set_nav(node, first.end(), until);
        }
    }
}
