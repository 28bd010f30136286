//! The trace of a run: an observer that turns notices into records and hands them to sinks in the
//! order of time.
//!
//! The media make records (`wire::Frame`) of frames and waits only when they are watched. Packets
//! get numbers here by their unchanging fields, so that packets carry none.

mod filter;
mod frames;
mod network;
mod order;
mod packets;
mod routing;

pub use filter::Filter;

use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::scenario::Issue;
use crate::topology::{Interface, RadioId, WireId};
use ::trace::{
    Network, PacketEvent, PacketStep, Place, SegmentEvent, SegmentRecord, SenderState, Sink,
};
use filter::Chosen;
use kernel::{Bytes, Duration, IdVec, Instant};
use order::{Held, Order};
use packets::{Known, Packets};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tcp::Sender;
use wifi::watch::WatchRecord;
use wire::{Body, FlowId, Packet};

/// The names and properties of what takes part in runs of a plan.
pub fn network(plan: &Plan) -> Network {
    network::network(plan)
}

/// Why a trace could not be written: the number of the sink, and its error. The run goes on without
/// a trace.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<Mutex<Option<(usize, io::Error)>>>);

impl Failure {
    /// Removes and returns the failure, if there is one.
    pub fn take(&self) -> Option<(usize, io::Error)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, sink: usize, error: io::Error) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((sink, error));
    }
}

/// The observer that traces a run.
pub(crate) struct Tracer {
    network: Network,
    chosen: Chosen,
    /// None after the stretch has ended, or a sink has failed.
    sinks: Vec<Box<dyn Sink>>,
    failure: Failure,
    packets: Packets,
    order: Order,
    frames: u64,
    flows: IdVec<FlowId, FlowState>,
    /// Packets that wait at each radio and at each link direction.
    at_radios: IdVec<RadioId, u32>,
    at_wires: IdVec<WireId, u32>,
    /// A segment has reached its end, whose sender has not published its new state yet.
    arrived: Option<SegmentEvent>,
}

/// What the records of a flow's segments need.
#[derive(Clone, Copy, Debug, Default)]
struct FlowState {
    mss: u64,
    rtt: Option<Duration>,
    /// The next new sequence number of both directions, by [`wire::Segment::forward`].
    next: [u64; 2],
    sender: Option<SenderState>,
}

impl Tracer {
    /// The tracer of a run of this plan, or the faults of the filter.
    pub(crate) fn new(
        plan: &Plan,
        filter: &Filter,
        sinks: Vec<Box<dyn Sink>>,
    ) -> Result<Self, Vec<Issue>> {
        let network = network::network(plan);
        let flow = |mss: Option<Bytes>| FlowState {
            mss: mss.map_or(0, |mss| mss.0),
            ..FlowState::default()
        };
        let sizes = plan.flows.iter().map(|flow| flow.tcp.as_ref().map(|tcp| tcp.config.mss()));
        Ok(Self {
            chosen: filter.choose(plan, &network)?,
            sinks,
            failure: Failure::default(),
            packets: Packets::default(),
            order: Order::default(),
            frames: 0,
            flows: sizes.map(flow).collect(),
            at_radios: IdVec::filled(network.radios.len(), 0),
            at_wires: IdVec::filled(network.wires.len(), 0),
            arrived: None,
            network,
        })
    }

    /// Where a failure of a sink will be.
    pub(crate) fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Hands out the records before this instant.
    fn complete(&mut self, until: Instant) {
        self.settle_arrived();
        while let Some(mut held) = self.order.take_before(until) {
            if let Held::Frame(frame) = &mut held {
                frame.number = self.frames;
                self.frames += 1;
            }
            self.hand_out(&held);
        }
        if until > self.chosen.to {
            self.finish();
        }
    }

    fn hand_out(&mut self, held: &Held) {
        let is_chosen = match held {
            Held::Frame(frame) => self.chosen.has_frame(frame),
            Held::Wait(wait) => self.chosen.has_wait(wait),
            Held::Packet(event) => self.chosen.has_packet(event),
            Held::Segment(event) => self.chosen.has_segment(event, &self.network),
            Held::Route(event) => self.chosen.has_route(event),
        };
        if is_chosen {
            self.each_sink(|sink| sink.on(&held.record()));
        }
    }

    fn each_sink(&mut self, mut call: impl FnMut(&mut dyn Sink) -> io::Result<()>) {
        for (number, sink) in self.sinks.iter_mut().enumerate() {
            if let Err(error) = call(&mut **sink) {
                self.failure.set(number, error);
                self.sinks.clear();
                return;
            }
        }
    }

    fn finish(&mut self) {
        self.each_sink(|sink| sink.finish());
        self.sinks.clear();
    }

    #[cold]
    #[inline(never)]
    fn on_step(&mut self, at: Instant, packet: Packet, place: Place, step: PacketStep) {
        if self.is_over() {
            return;
        }
        self.settle_arrived();
        let Some(known) = self.packets.step(&packet, step, place) else { return };
        self.add_step(at, &packet, known, place, step);
    }

    /// After the stretch, or after a sink has failed, nothing is recorded any more.
    fn is_over(&self) -> bool {
        self.sinks.is_empty()
    }

    fn add_step(
        &mut self,
        at: Instant,
        packet: &Packet,
        known: Known,
        place: Place,
        step: PacketStep,
    ) {
        let (packet_id, packet) = (known.number, *packet);
        self.order.add_event(Held::Packet(PacketEvent { at, packet_id, packet, place, step }));
    }

    #[cold]
    #[inline(never)]
    fn on_sent(&mut self, at: Instant, packet: Packet, sender: Option<&Sender>) {
        if self.is_over() {
            return;
        }
        self.settle_arrived();
        let packet = &packet;
        let is_repeated = match &packet.body {
            Body::Segment(segment) => {
                let next = &mut self.flows[segment.flow].next;
                let next = &mut next[usize::from(segment.forward)];
                let is_parity = segment.coded.is_some_and(|coded| coded.is_parity());
                let is_repeated = segment.seq_len() > 0 && segment.seq < *next && !is_parity;
                *next = (*next).max(if is_parity { 0 } else { segment.seq_end() });
                is_repeated
            }
            Body::Datagram(_)
            | Body::Echo(_)
            | Body::Media(_)
            | Body::Routing(_)
            | Body::Arp(_)
            | Body::Management(_) => false,
        };
        let known = self.packets.send(packet, is_repeated);
        self.add_step(at, packet, known, Place::Node(packet.from), PacketStep::Sent);
        if let Body::Segment(segment) = packet.body {
            self.note_sender(at, segment.flow, sender);
            let event = self.segment_event(at, packet, known, SegmentRecord::Sent);
            self.order.add_event(Held::Segment(event));
        }
    }

    #[cold]
    #[inline(never)]
    fn on_arrived(&mut self, at: Instant, packet: Packet) {
        if self.is_over() {
            return;
        }
        self.settle_arrived();
        let packet = &packet;
        let place = Place::Node(packet.to.unwrap_or(packet.from));
        let Some(known) = self.packets.step(packet, PacketStep::Arrived, place) else { return };
        self.add_step(at, packet, known, place, PacketStep::Arrived);
        if let Body::Segment(_) = packet.body {
            self.arrived = Some(self.segment_event(at, packet, known, SegmentRecord::Received));
        }
    }

    fn segment_event(
        &self,
        at: Instant,
        packet: &Packet,
        known: Known,
        event: SegmentRecord,
    ) -> SegmentEvent {
        let Body::Segment(segment) = packet.body else { unreachable!("it is called for segments") };
        SegmentEvent {
            at,
            packet_id: known.number,
            event,
            segment,
            ecn: packet.ecn,
            retransmission: known.retransmission,
            sender: self.flows[segment.flow].sender,
        }
    }

    /// A sender has measured a round-trip time.
    #[cold]
    #[inline(never)]
    fn note_rtt(&mut self, flow: FlowId, sample: Duration) {
        let flow = &mut self.flows[flow];
        flow.rtt = Some(sample);
        if let Some(sender) = &mut flow.sender {
            sender.rtt = Some(sample);
        }
    }

    /// A new connection of a flow begins.
    #[cold]
    #[inline(never)]
    fn renew(&mut self, flow: FlowId) {
        self.settle_arrived();
        self.flows[flow].next = [0; 2];
    }

    /// The run ends.
    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        self.complete(Instant::NEVER);
        self.finish();
    }

    /// The sender of a flow publishes its state.
    #[cold]
    #[inline(never)]
    fn note_sender(&mut self, now: Instant, flow: FlowId, sender: Option<&Sender>) {
        let (Some(sender), flow) = (sender, &mut self.flows[flow]) else { return };
        let (mss, rtt) = (flow.mss as f64, flow.rtt);
        let connection = sender.state_name(now);
        flow.sender = Some(SenderState {
            cwnd_bytes: sender.window_segments() * mss,
            ssthresh_bytes: sender.ssthresh_segments().map_or(f64::INFINITY, |all| all * mss),
            in_flight_bytes: sender.in_flight_bytes(),
            srtt: sender.srtt(),
            rtt,
            rto: sender.rto(),
            state: match connection {
                "closed" | "listen" | "syn_sent" | "syn_received" | "time_wait" => connection,
                _ => sender.ca_state(),
            },
        });
    }

    /// Adds the segment that has arrived, with the state of its flow's sender after it.
    #[cold]
    #[inline(never)]
    fn settle_arrived(&mut self) {
        if let Some(mut event) = self.arrived.take() {
            event.sender = self.flows[event.segment.flow].sender;
            self.order.add_event(Held::Segment(event));
        }
    }

    fn on_watched(&mut self, record: &WatchRecord) {
        if self.is_over() {
            return;
        }
        self.settle_arrived();
        match record {
            WatchRecord::Frame(record) if record.start <= self.network.end => {
                let frame = frames::frame(record, &self.packets, self.network.end);
                self.order.add_interval(Held::Frame(frame));
            }
            WatchRecord::Frame(_) => {}
            WatchRecord::Wait(record) => {
                if let Some(wait) = frames::wait(record, self.network.end) {
                    self.order.add_interval(Held::Wait(wait));
                }
            }
        }
    }

    fn level(&mut self, at: Interface) -> &mut u32 {
        match at {
            Interface::Radio(radio) => &mut self.at_radios[radio],
            Interface::Wire(wire) => &mut self.at_wires[wire],
        }
    }
}

impl Observer for Tracer {
    /// Packets are copied where a tracer records them: a reference that leaves the caller would
    /// make each move of its packet a copy, also in runs without a trace.
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        let radio = |radio: RadioId| Place::Radio(radio.0);
        match *notice {
            Notice::Time { .. } => self.settle_arrived(),
            Notice::Rtt { flow, sample } => self.note_rtt(flow, sample),
            Notice::Sender { flow, sender } => self.note_sender(now, flow, Some(sender)),
            Notice::Sent { packet, sender } => self.on_sent(now, *packet, sender),
            Notice::Node { node, note } => self.on_node(now, node, note),
            Notice::Arrived { packet } => self.on_arrived(now, *packet),
            Notice::Renewed { flow } => self.renew(flow),
            Notice::Waiting { at, packets } => *self.level(at) = packets as u32,
            Notice::Watched { record } => self.on_watched(record),
            Notice::Complete { until } => self.complete(until),
            Notice::End => self.end(),
            Notice::Queued { at, packet } => {
                let waiting = *self.level(at);
                self.on_step(now, *packet, place(at), PacketStep::Queued { waiting });
            }
            Notice::Dequeued { by, packet, .. } => {
                self.on_step(now, *packet, radio(by), PacketStep::Dequeued);
            }
            Notice::Marked { at, packet, .. } => {
                self.on_step(now, *packet, place(at), PacketStep::Marked);
            }
            Notice::Dropped { at, packet, cause } => {
                self.on_step(now, *packet, place(at), PacketStep::Dropped(cause));
            }
            Notice::Began { wire, packet } => {
                self.on_step(now, *packet, Place::Wire(wire.0), PacketStep::Began);
            }
            Notice::Crossed { wire, packet } => {
                self.on_step(now, *packet, Place::Wire(wire.0), PacketStep::Crossed);
            }
            Notice::Received { by, packet, .. } => {
                self.on_step(now, *packet, radio(by), PacketStep::Received);
            }
            Notice::Served { by, packet, .. } => {
                self.on_step(now, *packet, radio(by), PacketStep::Served);
            }
            Notice::Resident { at, packet } => {
                let at = at.map_or(Place::Node(packet.from), place);
                self.on_step(now, *packet, at, PacketStep::Resident);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracer").field("frames", &self.frames).finish_non_exhaustive()
    }
}

fn place(at: Interface) -> Place {
    match at {
        Interface::Radio(radio) => Place::Radio(radio.0),
        Interface::Wire(wire) => Place::Wire(wire.0),
    }
}

#[cfg(test)]
mod tests;
