//! The measurement of a run. It has no influence on the run.

mod both;
mod copies;
mod datagrams;
mod echoes;
mod flat;
mod group;
mod hops;
mod media;
mod routing;
mod service;

pub(crate) use hops::HopMeter;
pub(crate) use routing::{RoutedFlow, RoutingMeter};
pub(crate) use service::{Served, Service};

use crate::measure::{self, AirtimeKind, DelayStats, Estimate, Ledger, Level};
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::plan::{FlowPlan, Plan};
use crate::topology::{Interface, RadioId, WireId};
use crate::traffic::Transport;
use datagrams::DatagramMeter;
use echoes::EchoMeter;
use kernel::{Bytes, Duration, IdVec, Instant, Span};
use std::ops::{Index, IndexMut};
use wifi::mac::{Exchange, ExchangeOutcome, Step};
use wifi::space::FrameUse;
use wifi::{Cell, MsduOutcome, UsedBytes};
use wire::{Body, DropCause, Echo, Ecn, FlowId, FrameKind, Management, Packet};

/// Packets lost since the start, by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops([u64; DropCause::ALL.len()]);

impl Index<DropCause> for Drops {
    type Output = u64;

    fn index(&self, cause: DropCause) -> &u64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<DropCause> for Drops {
    fn index_mut(&mut self, cause: DropCause) -> &mut u64 {
        &mut self.0[cause as usize]
    }
}

/// The measurements of a flow. Counts begin at the start of the run, distributions at the start of
/// the window.
#[derive(Debug)]
pub(crate) struct FlowMeter {
    /// Bytes delivered in order.
    pub(crate) bytes: u64,
    /// `bytes` at the end of the warm-up and of each batch.
    marks: Vec<u64>,
    /// Packets handed down by the transports, both directions.
    pub(crate) sent: u64,
    /// Packets lost.
    pub(crate) drops: Drops,
    /// How their service ended, at all radios.
    pub(crate) served: Served,
    /// Packets that queues marked.
    pub(crate) ecn_marks: net::Marks,
    pub(crate) delay: DelayStats,
    pub(crate) rtt: DelayStats,
    pub(crate) session: DelayStats,
    pub(crate) datagrams: DatagramMeter,
    pub(crate) echoes: EchoMeter,
}

impl FlowMeter {
    /// Bytes delivered in order since the window opened.
    pub(crate) fn delivered_in_window(&self) -> u64 {
        self.marks.first().map_or(0, |before| self.bytes - before)
    }

    /// Packets lost by any cause.
    pub(crate) fn lost(&self) -> u64 {
        self.drops.0.iter().sum()
    }
}

/// The measurements of a node of the cell, likewise.
#[derive(Debug)]
pub(crate) struct NodeMeter {
    pub(crate) queue: Level,
    pub(crate) service: Service,
    pub(crate) served: Served,
    pub(crate) drops: Drops,
    /// Packets that its queue marked.
    pub(crate) ecn_marks: net::Marks,
}

/// All measurements of a run. The window is the time after the warm-up.
#[derive(Debug)]
pub(crate) struct Meter {
    from: Instant,
    to: Instant,
    batches: u64,
    /// Ends of the warm-up and of batches that have passed.
    ended: u64,
    open: bool,
    pub(crate) flows: IdVec<FlowId, FlowMeter>,
    pub(crate) nodes: IdVec<RadioId, NodeMeter>,
    /// Packets that wait before the link directions, two directions per link.
    pub(crate) wires: IdVec<WireId, Level>,
    pub(crate) ledger: Ledger,
    /// Number of contending stations over time.
    pub(crate) contending: Level,
    /// 1 while the access point contends.
    pub(crate) contending_ap: Level,
    /// Since when the medium has been idle, and the airtime kind of this idle time.
    silence: (Instant, AirtimeKind),
    on_air: bool,
    /// In a flat space, the frame that made the medium busy, as if it were received.
    unfinished: Option<FrameUse>,
    /// With routing.
    pub(crate) routing: Option<Box<RoutingMeter>>,
}

impl Meter {
    pub(crate) fn new(plan: &Plan) -> Self {
        let from = Instant::ZERO + plan.warmup;
        let to = Instant::ZERO + plan.duration;
        let flow = |flow: &FlowPlan| FlowMeter {
            bytes: 0,
            marks: Vec::with_capacity(plan.measure.batches as usize + 1),
            sent: 0,
            drops: Drops::default(),
            served: Served::default(),
            ecn_marks: net::Marks::default(),
            delay: DelayStats::coarse(),
            rtt: match flow.settings.traffic.get().echo() {
                Some(_) => DelayStats::fine(),
                None => DelayStats::coarse(),
            },
            session: DelayStats::fine(),
            datagrams: match flow.settings.traffic.get().transport() {
                Transport::Udp(size, _) => DatagramMeter::new(from, to, size.deadline),
                Transport::Tcp => DatagramMeter::default(),
            },
            echoes: match flow.settings.traffic.get().transport() {
                Transport::Udp(size, _) => EchoMeter::new(from, to, size.deadline),
                Transport::Tcp => EchoMeter::default(),
            },
        };
        let node = |_| NodeMeter {
            queue: Level::new(from, to),
            service: Service::default(),
            served: Served::default(),
            drops: Drops::default(),
            ecn_marks: net::Marks::default(),
        };
        Self {
            from,
            to,
            batches: u64::from(plan.measure.batches),
            ended: 0,
            open: false,
            flows: plan.flows.iter().map(flow).collect(),
            nodes: plan.topology.radios().iter().map(node).collect(),
            wires: IdVec::filled(plan.topology.wires().len(), Level::new(from, to)),
            ledger: Ledger::new(from, to),
            contending: Level::new(from, to),
            contending_ap: Level::new(from, to),
            silence: (Instant::ZERO, AirtimeKind::Idle),
            on_air: false,
            unfinished: None,
            routing: plan.routing.as_ref().map(|_| Box::new(RoutingMeter::new(plan))),
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

    /// Bytes per second of all these flows, by batch means.
    pub(crate) fn byte_rate(&self, flows: &[FlowMeter]) -> Option<Estimate> {
        let total = |k: usize| flows.iter().map(|flow| flow.marks[k]).sum::<u64>() as f64;
        let ends = (0..self.ended).map(|k| (self.batch_end(k), total(k as usize)));
        measure::batch_means(ends)
    }

    /// The goodput of all these flows in Mb/s; NaN if there are too few batches.
    pub(crate) fn goodput_mbps(&self, flows: &[FlowMeter]) -> f64 {
        self.byte_rate(flows).map_or(f64::NAN, |rate| rate.mean * 8e-6)
    }

    /// Half of the 95 % interval of that goodput in Mb/s; NaN if there are too few batches.
    pub(crate) fn goodput_half_width_mbps(&self, flows: &[FlowMeter]) -> f64 {
        self.byte_rate(flows).map_or(f64::NAN, |rate| rate.half_width() * 8e-6)
    }

    /// Whether the window has opened.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// The warm-up or a batch ends.
    pub(crate) fn end_batch(&mut self, now: Instant) {
        debug_assert!(self.open || now == self.from);
        self.open = true;
        for flow in &mut self.flows {
            flow.marks.push(flow.bytes);
        }
        self.ended += 1;
    }

    /// A packet has reached its destination.
    #[allow(clippy::inline_always, reason = "it runs for each packet")]
    #[inline(always)]
    fn on_arrived(&mut self, now: Instant, packet: &Packet) {
        if let Some(routing) = &mut self.routing
            && !routing.on_arrived(packet)
        {
            return;
        }
        match &packet.body {
            Body::Segment(segment) if segment.len == 0 => {}
            Body::Segment(segment) => self.on_delay(segment.flow, now - packet.born),
            Body::Datagram(datagram) => {
                self.on_delay(datagram.flow, now - packet.born);
                let flow = &mut self.flows[datagram.flow];
                flow.bytes += u64::from(datagram.len);
                flow.datagrams.on_arrived(now, packet.born, datagram.number);
            }
            Body::Echo(echo) if echo.is_reply => self.on_reply(now, echo),
            Body::Echo(echo) => {
                self.on_delay(echo.flow, now - packet.born);
                self.flows[echo.flow].bytes += u64::from(echo.len);
            }
            Body::Media(media) => self.on_media(now, packet.born, media),
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
        }
    }

    /// The reply to a request has arrived. A request of the warm-up is not measured.
    fn on_reply(&mut self, now: Instant, echo: &Echo) {
        let flow = &mut self.flows[echo.flow];
        flow.echoes.on_reply(now, echo.asked);
        if echo.asked >= self.from {
            flow.rtt.record(now - echo.asked);
        }
    }

    fn on_delay(&mut self, flow: FlowId, delay: Duration) {
        if self.open {
            self.flows[flow].delay.record(delay);
        }
    }

    fn on_rtt(&mut self, flow: FlowId, sample: Duration) {
        if self.open {
            self.flows[flow].rtt.record(sample);
        }
    }

    /// The file that was requested at `asked` is complete.
    fn on_fetched(&mut self, now: Instant, flow: FlowId, asked: Instant) {
        // Only files that were requested in the window count: a file requested earlier would
        // include part of the warm-up.
        if asked >= self.from {
            self.flows[flow].session.record(now - asked);
        }
    }

    fn on_dropped(&mut self, at: Interface, packet: &Packet, cause: DropCause) {
        if let Some(routing) = &mut self.routing {
            routing.on_dropped(packet);
        }
        if let Some(flow) = packet.flow() {
            self.flows[flow].drops[cause] += 1;
        }
        if let Interface::Radio(radio) = at {
            self.nodes[radio].drops[cause] += 1;
        }
    }

    fn on_served(&mut self, now: Instant, by: RadioId, packet: &Packet, outcome: MsduOutcome) {
        let node = &mut self.nodes[by];
        node.service.leave(now);
        node.served.count(outcome);
        if let Some(flow) = packet.flow() {
            self.flows[flow].served.count(outcome);
        }
    }

    fn on_marked(&mut self, at: Interface, packet: &Packet, before: Ecn) {
        if let Some(flow) = packet.flow() {
            self.flows[flow].ecn_marks.count(before);
        }
        if let Interface::Radio(radio) = at {
            self.nodes[radio].ecn_marks.count(before);
        }
    }

    /// The set of nodes with a frame to send may have changed.
    fn on_contention(&mut self, now: Instant, cell: &Medium) {
        self.contending.set(now, cell.contending_stations() as usize);
        self.contending_ap.set(now, usize::from(!cell.is_free(wifi::ACCESS_POINT)));
        let kind = if cell.is_contended() { AirtimeKind::IfsBackoff } else { AirtimeKind::Idle };
        if !self.on_air && kind != self.silence.1 {
            self.end_silence(now);
            self.silence = (now, kind);
        }
    }

    fn end_silence(&mut self, now: Instant) {
        let (since, kind) = self.silence;
        self.ledger.add(kind, since, now);
    }

    /// An exchange or a collision occupies the medium: adds all its frames to the ledger.
    fn on_exchange(&mut self, exchange: &Exchange, cell: &Cell) {
        self.end_silence(exchange.start);
        self.on_air = true;
        self.silence = (exchange.end, AirtimeKind::IfsBackoff);
        if self.has_several(exchange, cell) {
            return;
        }
        if let Some(secondary) = cell.secondary() {
            return self.on_both(exchange, secondary, cell);
        }
        let mut counted_until = exchange.start;
        if exchange.outcome == ExchangeOutcome::Collision {
            self.ledger.add(AirtimeKind::Collision, counted_until, exchange.end);
        }
        for step in exchange.steps() {
            self.ledger.add(AirtimeKind::IfsBackoff, counted_until, step.start);
            self.count_frame(exchange, step, cell);
            counted_until = step.end();
        }
    }

    fn count_frame(&mut self, exchange: &Exchange, step: &Step, cell: &Cell) {
        let (start, end) = (step.start, step.end());
        let kind = match step.kind {
            FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf => AirtimeKind::RtsCts,
            FrameKind::Ack | FrameKind::BlockAck
                if exchange.outcome == ExchangeOutcome::AckLost =>
            {
                AirtimeKind::Lost
            }
            FrameKind::BlockAckRequest if exchange.outcome == ExchangeOutcome::DataLost => {
                AirtimeKind::Lost
            }
            FrameKind::Ack | FrameKind::BlockAck | FrameKind::BlockAckRequest => {
                AirtimeKind::MacAck
            }
            _ if exchange.outcome == ExchangeOutcome::DataLost || exchange.repeated => {
                AirtimeKind::Lost
            }
            _ => match cell.management_on_air() {
                None => {
                    let used = UsedBytes::of(cell.frames_on_air());
                    let shares = shares(step.airtime.payload, exchange.psdu, &used);
                    return self.count_data(Span { start, end }, &shares);
                }
                Some(Management::Beacon(_)) => AirtimeKind::Beacon,
                Some(_) => AirtimeKind::PowerSave,
            },
        };
        self.ledger.add(kind, start, end);
    }

    /// The useful and the wasted bytes have their shares of the payload's time; the rest is
    /// headers.
    fn count_data(&mut self, span: Span, shares: &Shares) {
        let mut at = shares.iter().fold(span.end, |at, &(_, share)| at - share);
        self.ledger.add(AirtimeKind::Header, span.start, at);
        for &(kind, share) in shares {
            if share > Duration::ZERO {
                self.ledger.add(kind, at, at + share);
                at += share;
            }
        }
    }

    /// Completes the measurements at the end of the run.
    fn close(&mut self, end: Instant) {
        match self.unfinished.take() {
            Some(frame) => self.count_unfinished(end, &frame),
            None if !self.on_air => self.end_silence(end),
            None => {}
        }
        self.contending.finish(end);
        self.contending_ap.finish(end);
        for node in &mut self.nodes {
            node.queue.finish(end);
        }
        for wire in &mut self.wires {
            wire.finish(end);
        }
    }
}

impl Observer for Meter {
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        match *notice {
            Notice::Sent { packet, .. } => {
                match &packet.body {
                    Body::Segment(segment) => self.flows[segment.flow].sent += 1,
                    Body::Datagram(datagram) => {
                        let flow = &mut self.flows[datagram.flow];
                        flow.sent += 1;
                        flow.datagrams.on_sent(now);
                    }
                    Body::Echo(echo) => {
                        let flow = &mut self.flows[echo.flow];
                        flow.sent += 1;
                        if !echo.is_reply {
                            flow.echoes.on_request(now);
                        }
                    }
                    Body::Media(media) => self.on_media_sent(now, media),
                    Body::Routing(_) | Body::Arp(_) | Body::Management(_) => {}
                }
                if let Some(routing) = &mut self.routing {
                    routing.on_sent(packet, self.open);
                }
            }
            Notice::Waiting { at: Interface::Radio(radio), packets } => {
                self.nodes[radio].queue.set(now, packets);
            }
            Notice::Waiting { at: Interface::Wire(wire), packets } => {
                self.wires[wire].set(now, packets);
            }
            Notice::Dequeued { by, .. } => self.nodes[by].service.enter(now),
            Notice::Served { by, packet, outcome, .. } => {
                self.on_served(now, by, packet, outcome);
            }
            Notice::AirtimeUsed { by, used, mpdus, .. } => {
                self.nodes[by].service.send(used, mpdus);
            }
            Notice::Marked { at, packet, before } => self.on_marked(at, packet, before),
            Notice::Dropped { at, packet, cause } => self.on_dropped(at, packet, cause),
            Notice::Arrived { packet } => self.on_arrived(now, packet),
            Notice::Node { note, .. } => {
                if let Some(routing) = &mut self.routing {
                    routing.on_note(now, note, self.open);
                }
            }
            Notice::Contention { medium } => self.on_contention(now, medium),
            Notice::ExchangeBegan { exchange, cell } => self.on_exchange(exchange, cell),
            Notice::ExchangeEnded => self.on_air = false,
            Notice::AirUsed { used } => self.on_air_used(used),
            Notice::Rtt { flow, sample } => self.on_rtt(flow, sample),
            Notice::Delivered { flow, bytes } => self.flows[flow].bytes += bytes.0,
            Notice::Fetched { flow, asked } => self.on_fetched(now, flow, asked),
            Notice::End => self.close(now),
            _ => {}
        }
    }
}

/// The time of the bytes of a data frame, by kind, up to its end; the time before them is that of
/// headers.
type Shares = [(AirtimeKind, Duration); 3];

/// Divides the time of the payload of a PSDU.
#[inline]
fn shares(payload: Duration, psdu: Bytes, used: &UsedBytes) -> Shares {
    let UsedBytes { data, acks, wasted } = *used;
    [(AirtimeKind::Lost, wasted), (AirtimeKind::TcpAck, acks), (AirtimeKind::Payload, data)].map(
        // Mostly a PSDU has bytes of one kind, and a division takes long.
        |(kind, bytes)| match bytes {
            Bytes::ZERO => (kind, Duration::ZERO),
            bytes => (kind, Duration(payload.0 * bytes.0 / psdu.0)),
        },
    )
}
