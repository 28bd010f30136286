//! What is measured while the world runs: pure bookkeeping, no influence on the run.

use crate::flow::{Flow, TcpFlow};
use crate::measure::{self, Air, DelayStats, Estimate, Ledger, Level};
use crate::plan::Plan;
use kernel::{Bytes, Duration, Instant};
use tcp::SenderCounters;
use wifi::mac::{Exchange, Fate, Step, StepKind};
use wifi::{Cell, Counters};
use wire::{Body, NodeId, Packet};

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropCause {
    /// No room in the queue of a node of the cell.
    Queue,
    /// No room in the queue of a wired link.
    WireQueue,
    /// A retry limit of the MAC.
    RetryLimit,
    /// A broadcast that collided: nobody asks for it again.
    Broadcast,
    /// A wired link that loses packets.
    WireLoss,
}

impl DropCause {
    const COUNT: usize = 5;
}

/// What is known of a flow.
#[derive(Debug)]
pub(crate) struct FlowMeter {
    /// Bytes delivered in order, since the start.
    pub(crate) bytes: u64,
    /// `bytes` at the end of the warm-up and of each batch.
    marks: Vec<u64>,
    /// Packets handed down by the transports, both directions, in the window.
    pub(crate) sent: u64,
    /// Packets lost in the window, by cause.
    pub(crate) drops: [u64; DropCause::COUNT],
    /// Packets that queues marked in the window.
    pub(crate) ecn_marks: u64,
    pub(crate) delay: DelayStats,
    pub(crate) rtt: DelayStats,
    pub(crate) session: DelayStats,
    /// Sender's counters when the window opened.
    pub(crate) before: SenderCounters,
}

/// What is known of a node of the cell.
#[derive(Debug)]
pub(crate) struct NodeMeter {
    pub(crate) queue: Level,
    /// Packets lost in the window, by cause.
    pub(crate) drops: [u64; DropCause::COUNT],
    /// Packets that its queue marked in the window.
    pub(crate) ecn_marks: u64,
    /// MAC counters when the window opened.
    pub(crate) before: Counters,
}

/// All measurement of a run. The window is what follows the warm-up.
#[derive(Debug)]
pub(crate) struct Meter {
    from: Instant,
    to: Instant,
    batches: u64,
    /// Ends of the warm-up and of batches that have passed.
    ended: u64,
    open: bool,
    pub(crate) flows: Vec<FlowMeter>,
    pub(crate) nodes: Vec<NodeMeter>,
    pub(crate) ledger: Ledger,
    /// Number of contending stations over time.
    pub(crate) contending: Level,
    /// 1 while the access point contends.
    pub(crate) contending_ap: Level,
    /// Since when the medium has been silent, and what that silence is.
    silence: (Instant, Air),
    on_air: bool,
}

impl Meter {
    pub(crate) fn new(plan: &Plan) -> Self {
        let from = Instant::ZERO + plan.warmup;
        let to = Instant::ZERO + plan.duration;
        let stations = plan.stations.len();
        let flow = |_| FlowMeter {
            bytes: 0,
            marks: Vec::with_capacity(plan.measure.batches as usize + 1),
            sent: 0,
            drops: [0; DropCause::COUNT],
            ecn_marks: 0,
            delay: DelayStats::coarse(),
            rtt: DelayStats::coarse(),
            session: DelayStats::fine(),
            before: SenderCounters::default(),
        };
        let node = |_| NodeMeter {
            queue: Level::new(from, to),
            drops: [0; DropCause::COUNT],
            ecn_marks: 0,
            before: Counters::default(),
        };
        Self {
            from,
            to,
            batches: u64::from(plan.measure.batches),
            ended: 0,
            open: false,
            flows: (0..plan.flows.len()).map(flow).collect(),
            nodes: (0..=stations).map(node).collect(),
            ledger: Ledger::new(from, to),
            contending: Level::new(from, to),
            contending_ap: Level::new(from, to),
            silence: (Instant::ZERO, Air::Idle),
            on_air: false,
        }
    }

    /// The measured window.
    pub(crate) fn window(&self) -> Duration {
        self.to - self.from
    }

    /// When the warm-up or the next batch ends.
    pub(crate) fn next_batch(&self) -> Option<Instant> {
        (self.ended <= self.batches).then(|| self.batch_end(self.ended))
    }

    fn batch_end(&self, k: u64) -> Instant {
        let part = u128::from(self.window().0) * u128::from(k) / u128::from(self.batches);
        self.from + Duration(part as u64)
    }

    /// Bytes per second of these flows together, from the batches.
    pub(crate) fn byte_rate(&self, flows: &[FlowMeter]) -> Option<Estimate> {
        let total = |k: usize| flows.iter().map(|flow| flow.marks[k]).sum::<u64>() as f64;
        let ends = (0..self.ended).map(|k| (self.batch_end(k), total(k as usize)));
        measure::batch_means(ends)
    }

    /// The warm-up or a batch ends.
    pub(crate) fn end_batch(&mut self, now: Instant, cell: &Cell, flows: &[Flow]) {
        if !self.open {
            self.open = true;
            debug_assert_eq!(now, self.from);
            for (node, n) in self.nodes.iter_mut().zip(0..) {
                node.before = *cell.counters(n);
            }
            for (meter, flow) in self.flows.iter_mut().zip(flows) {
                meter.before = flow.tcp().map(TcpFlow::counters).unwrap_or_default();
            }
        }
        for flow in &mut self.flows {
            flow.marks.push(flow.bytes);
        }
        self.ended += 1;
    }

    pub(crate) fn on_sent(&mut self, flow: u32) {
        self.flows[flow as usize].sent += u64::from(self.open);
    }

    /// In-order bytes reached their user.
    pub(crate) fn on_bytes(&mut self, flow: u32, bytes: Bytes) {
        self.flows[flow as usize].bytes += bytes.0;
    }

    /// A data packet born at `born` reached its destination.
    pub(crate) fn on_delay(&mut self, now: Instant, flow: u32, born: Instant) {
        if self.open {
            self.flows[flow as usize].delay.record(now - born);
        }
    }

    pub(crate) fn on_rtt(&mut self, flow: u32, sample: Duration) {
        if self.open {
            self.flows[flow as usize].rtt.record(sample);
        }
    }

    /// A file that was asked for at `asked` is complete.
    pub(crate) fn on_session(&mut self, now: Instant, flow: u32, asked: Instant) {
        // A file asked for in the warm-up would count its own warm-up in.
        if asked >= self.from {
            self.flows[flow as usize].session.record(now - asked);
        }
    }

    pub(crate) fn on_drop(&mut self, node: Option<NodeId>, flow: u32, cause: DropCause) {
        if !self.open {
            return;
        }
        self.flows[flow as usize].drops[cause as usize] += 1;
        if let Some(node) = node {
            self.nodes[node.0 as usize].drops[cause as usize] += 1;
        }
    }

    /// A queue marked a packet: that of a node of the cell, or a wired link's.
    pub(crate) fn on_mark(&mut self, node: Option<NodeId>, flow: u32) {
        if !self.open {
            return;
        }
        self.flows[flow as usize].ecn_marks += 1;
        if let Some(node) = node {
            self.nodes[node.0 as usize].ecn_marks += 1;
        }
    }

    /// So many packets wait at a node, the one in service not counted.
    pub(crate) fn on_queue(&mut self, now: Instant, node: NodeId, waiting: usize) {
        self.nodes[node.0 as usize].queue.set(now, waiting);
    }

    /// The set of contending nodes may have changed.
    pub(crate) fn on_contention(&mut self, now: Instant, cell: &Cell) {
        self.contending.set(now, cell.contending_stations() as usize);
        self.contending_ap.set(now, usize::from(!cell.is_free(wifi::ACCESS_POINT)));
        let kind = if cell.is_contended() { Air::IfsBackoff } else { Air::Idle };
        if !self.on_air && kind != self.silence.1 {
            self.end_silence(now);
            self.silence = (now, kind);
        }
    }

    fn end_silence(&mut self, now: Instant) {
        let (since, kind) = self.silence;
        self.ledger.add(kind, since, now);
    }

    /// An exchange or a collision takes the medium: books all its frames.
    pub(crate) fn on_air_began(&mut self, exchange: &Exchange, packet: Option<&Packet>) {
        self.end_silence(exchange.start);
        self.on_air = true;
        let mut booked = exchange.start;
        if exchange.fate == Fate::Collision {
            self.ledger.add(Air::Collision, booked, exchange.end);
        }
        for step in exchange.steps() {
            self.ledger.add(Air::IfsBackoff, booked, step.start);
            self.book_frame(exchange, step, packet);
            booked = step.end();
        }
        self.silence = (exchange.end, Air::IfsBackoff);
    }

    fn book_frame(&mut self, exchange: &Exchange, step: &Step, packet: Option<&Packet>) {
        let (start, end) = (step.start, step.end());
        match step.kind {
            StepKind::Rts | StepKind::Cts => self.ledger.add(Air::RtsCts, start, end),
            StepKind::Ack if exchange.fate == Fate::AckLost => {
                self.ledger.add(Air::Lost, start, end);
            }
            StepKind::Ack => self.ledger.add(Air::MacAck, start, end),
            StepKind::Data if exchange.fate == Fate::DataLost || exchange.repeated => {
                self.ledger.add(Air::Lost, start, end);
            }
            StepKind::Data => {
                let (kind, useful) = packet.map_or((Air::Header, Bytes::ZERO), useful_part);
                // Of the payload's time, the useful bytes have their share; the rest is headers.
                let share = step.airtime.payload.0 * useful.0 / exchange.psdu.0;
                let split = end - Duration(share);
                self.ledger.add(Air::Header, start, split);
                self.ledger.add(kind, split, end);
            }
        }
    }

    /// The medium is silent again.
    pub(crate) fn on_air_ended(&mut self) {
        self.on_air = false;
    }

    /// Settles accounts at the end of the run.
    pub(crate) fn close(&mut self, end: Instant) {
        if !self.on_air {
            self.end_silence(end);
        }
        self.contending.finish(end);
        self.contending_ap.finish(end);
        for node in &mut self.nodes {
            node.queue.finish(end);
        }
    }
}

/// What of a packet is useful to the user, and as what: data bytes, or a whole pure TCP ACK.
fn useful_part(packet: &Packet) -> (Air, Bytes) {
    match &packet.body {
        Body::Segment(segment) if segment.is_pure_ack() => (Air::TcpAck, packet.size),
        _ => (Air::Payload, packet.payload()),
    }
}
