//! The world of a run: it owns all state machines and dispatches each `Event` in one `match`.

mod adopt;
mod air;
mod network;
mod node;
mod outbox;
mod rate_hints;
mod rates;
mod sources;
mod station;
mod waiting;
mod wires;

use crate::build::{self, LinkRules};
use crate::control::External;
use crate::flow::{Flow, Side, Transport, UdpFlow};
use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::{Interface, RadioId, Routes, Topology, WireId};
use crate::traffic;
use kernel::{Bytes, EventQueue, Fired, IdVec, Instant, Ranked, Seed};
use net::{LinkTimer, Lossy, Signal};
use network::Network;
use outbox::Outbox;
use rate_hints::RateHints;
use std::collections::VecDeque;
use std::sync::Arc;
use tcp::TimerId;
use wifi::station::{Function, Stations};
use wire::{Body, FlowId, NodeId, Packet, Segment};

/// The events of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// The transmission of a data frame or an exchange ends.
    AirStep,
    /// A packet arrives over this link direction, or its transmitter becomes idle.
    Wire(WireId, LinkTimer),
    /// A timer of a TCP sender or receiver.
    Tcp { flow: FlowId, side: Side, timer: TimerId, generation: u32 },
    /// A timer of a node that forwards.
    Node { node: NodeId, timer: net::node::TimerId, generation: u32 },
    /// A timer of a function of a radio.
    Radio { radio: RadioId, function: Function, generation: u32 },
    /// A timer of a traffic source.
    Traffic(FlowId),
    /// The destination of echo requests replies.
    Reply(FlowId),
    /// The earliest back-off of the cell ends.
    Access { generation: u32 },
    /// The caller reads the state of the world.
    Look(Look),
    /// The run ends.
    End,
}

/// Why the caller reads the state of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Look {
    /// Probes are read.
    Probes,
    /// The warm-up or a batch ends.
    Batch,
    /// A step of the caller ends.
    Step,
}

/// The result of handling an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// The world has handled it.
    Event,
    /// The caller is to read the state now.
    Look(Look),
    /// The run has ended.
    End,
}

impl Ranked for Event {
    /// The rank of events at one instant: first frames end, then packets arrive and timers expire,
    /// then back-offs end and frames begin. Measurement comes last.
    fn rank(&self) -> u8 {
        match self {
            Self::AirStep => 0,
            Self::Wire(..) => 1,
            Self::Tcp { .. } | Self::Node { .. } | Self::Radio { .. } => 2,
            Self::Traffic(_) | Self::Reply(_) => 3,
            Self::Access { .. } => 4,
            Self::Look(Look::Probes | Look::Step) => 5,
            Self::Look(Look::Batch) => 6,
            Self::End => 7,
        }
    }
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct World<O> {
    pub(crate) now: Instant,
    pub(crate) end: Instant,
    event_queue: EventQueue<Event>,
    pub(crate) cell: Medium,
    pub(crate) topology: Arc<Topology>,
    /// The tables of next hops.
    routes: Routes,
    /// Whether some stations forward packets to wires.
    has_wired_stations: bool,
    /// The nodes that forward for others.
    pub(crate) network: Option<Box<Network>>,
    /// What stands between queues and MACs, if anything does.
    pub(crate) stations: Option<Box<Stations>>,
    /// One queue per radio.
    pub(crate) queues: IdVec<RadioId, Box<dyn net::Queue>>,
    /// The link directions.
    pub(crate) wires: IdVec<WireId, Lossy>,
    pub(crate) flows: IdVec<FlowId, Flow>,
    /// The flows of the saturated sources at each node.
    saturated: IdVec<NodeId, Vec<FlowId>>,
    /// Nodes whose queue has dropped a packet of a saturated source, so that a source may be short
    /// of packets.
    is_short: IdVec<NodeId, bool>,
    /// Whether senders learn when their packets have left their nodes.
    has_small_queues: bool,
    /// Which senders receive hints about the rates of which links.
    rate_hints: RateHints,
    /// How queues learn of links, if any depends on them.
    link_rules: Option<Box<LinkRules>>,
    /// The observers.
    pub(crate) observers: O,
    pub(crate) events: u64,
    cell_out: Vec<wifi::Command>,
    /// An empty buffer, which takes turns with `cell_out`.
    cell_done: Vec<wifi::Command>,
    cell_settling: bool,
    /// Whether the frames and the waits of the medium are reported to observers.
    is_watched: bool,
    /// Whether the events of the medium are, which only the checker needs.
    is_checked: bool,
    tcp_out: Outbox<(FlowId, Side), tcp::Command>,
    source_out: Outbox<FlowId, traffic::Command>,
    wire_out: Outbox<WireId, net::Command>,
    station_out: Outbox<RadioId, wifi::station::Command>,
    /// Drops and marks of the queues of radios.
    signals: Outbox<RadioId, Signal>,
    /// Signals of queues whose packets were taken into service during an event of the medium.
    refill_signals: VecDeque<(RadioId, Signal)>,
    refilling: Vec<RadioId>,
}

impl<O: Observer> World<O> {
    /// The world at the start of a run.
    pub(crate) fn new(
        plan: &Plan,
        seed: &Seed,
        external: &Arc<dyn External>,
        observers: O,
    ) -> Self {
        let topology = &plan.topology;
        let nodes = topology.nodes().len();
        let flows: IdVec<FlowId, Flow> = plan
            .flows
            .iter()
            .zip(0..)
            .map(|(flow, i)| {
                let from = topology.id(flow.from).expect("broadcast is no source");
                Flow::new(i, flow, from, topology.id(flow.to), seed, external)
            })
            .collect();
        let end = Instant::ZERO + plan.duration;
        let mut cell = build::medium(plan, seed);
        let mut world = Self {
            now: Instant::ZERO,
            end,
            event_queue: EventQueue::new(),
            network: Network::new(plan, &mut cell, seed),
            cell,
            stations: None,
            queues: build::queues(plan, seed),
            wires: build::wires(plan, seed),
            routes: topology.routes().clone(),
            has_wired_stations: topology.has_wired_stations(),
            topology: Arc::clone(topology),
            saturated: IdVec::filled(nodes, Vec::new()),
            is_short: IdVec::filled(nodes, false),
            has_small_queues: plan
                .flows
                .iter()
                .any(|flow| flow.tcp.as_ref().is_some_and(build::has_small_queue)),
            rate_hints: RateHints::default(),
            link_rules: LinkRules::of(plan).map(Box::new),
            observers,
            events: 0,
            flows,
            cell_out: Vec::with_capacity(64),
            cell_done: Vec::with_capacity(64),
            cell_settling: false,
            is_watched: false,
            is_checked: false,
            tcp_out: Outbox::new(64),
            source_out: Outbox::new(8),
            wire_out: Outbox::new(8),
            station_out: Outbox::new(0),
            signals: Outbox::new(8),
            refill_signals: VecDeque::new(),
            refilling: Vec::new(),
        };
        world.hint_rates(plan);
        world.tell_queues(plan.stations.len());
        world.hint_hops();
        world.schedule_start();
        world.stations = build::stations(plan, &mut world.cell, seed);
        world.at_stations(RadioId(0), |all, scope| all.on_start(seed, scope));
        world
    }

    fn schedule_start(&mut self) {
        for id in self.flows.ids() {
            let Flow { from, start, stop, ref transport, .. } = self.flows[id];
            if let Transport::Udp(UdpFlow { waiting: Some(_), .. }) = transport {
                let outlet = self.topology.outlet(from);
                self.saturated[outlet].push(id);
            }
            let stop = Some(stop).filter(|&stop| stop < self.end);
            self.notify_source(id, traffic::Event::Begin { start, stop });
        }
        self.event_queue.at(self.end, Event::End);
    }

    /// Stops at this instant, after all other events of the instant, so that the caller can read
    /// the state.
    pub(crate) fn look_at(&mut self, at: Instant, look: Look) {
        self.event_queue.at(at, Event::Look(look));
    }

    /// Handles the next event.
    pub(crate) fn step(&mut self) -> Step {
        let Some((now, event)) = self.event_queue.next() else { return Step::End };
        self.observers.on(now, &Notice::Time { before: self.now });
        self.now = now;
        self.events += 1;
        match event {
            Event::AirStep => self.on_air_step(),
            Event::Access { generation } => {
                self.with_frame_source(|cell, source, out| {
                    cell.on_access(now, generation, source, out);
                });
            }
            Event::Wire(wire, timer) => self.on_wire_timer(wire, timer),
            Event::Tcp { flow, side, timer, generation } => {
                self.on_tcp_timer(flow, side, timer, generation);
            }
            Event::Node { node, timer, generation } => self.on_node_timer(node, timer, generation),
            Event::Radio { radio, function, generation } => {
                self.on_radio_timer(radio, function, generation);
            }
            Event::Traffic(flow) => self.on_traffic(flow),
            Event::Reply(flow) => self.on_reply_due(flow),
            Event::Look(look) => return Step::Look(look),
            Event::End => return Step::End,
        }
        Step::Event
    }

    fn on_tcp_timer(&mut self, flow: FlowId, side: Side, timer: TimerId, generation: u32) {
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        match tcp.timer(side, timer).fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => {
                let generation = ticket.generation;
                self.event_queue.at(ticket.at, Event::Tcp { flow, side, timer, generation });
            }
            Fired::Due => {
                let out = self.tcp_out.list();
                match side {
                    Side::Sender => tcp.sender.on_timer(self.now, timer, out),
                    Side::Receiver => tcp.receiver.on_timer(self.now, timer, out),
                }
                let sender = &tcp.sender;
                self.observers.on(self.now, &Notice::Timer { flow, side, timer });
                self.observers.on(self.now, &Notice::Sender { flow, sender });
                self.settle_tcp(flow, side);
            }
        }
    }

    /// A segment reaches the end of its flow.
    fn on_segment(&mut self, segment: &Segment) {
        let flow = segment.flow;
        let Transport::Tcp(tcp) = &mut self.flows[flow].transport else { return };
        let side = if segment.forward { Side::Receiver } else { Side::Sender };
        let out = self.tcp_out.list();
        match side {
            Side::Receiver => tcp.receiver.on_segment(self.now, segment, out),
            Side::Sender => tcp.sender.on_segment(self.now, segment, out),
        }
        let sender = &tcp.sender;
        self.observers.on(self.now, &Notice::Sender { flow, sender });
        self.settle_tcp(flow, side);
    }

    /// Executes the commands of a TCP sender or receiver, which are in the outbox.
    fn settle_tcp(&mut self, flow: FlowId, side: Side) {
        let Some(mut turn) = self.tcp_out.begin((flow, side), ()) else { return };
        while let Some(((), command)) = self.tcp_out.next(&mut turn) {
            match *command {
                tcp::Command::Send(ref segment) => self.send_segment(flow, side, segment),
                tcp::Command::Set(timer, at) => {
                    let Transport::Tcp(tcp) = &mut self.flows[flow].transport else {
                        continue;
                    };
                    if let Some(ticket) = tcp.timer(side, timer).set(at) {
                        let generation = ticket.generation;
                        let event = Event::Tcp { flow, side, timer, generation };
                        self.event_queue.at(ticket.at, event);
                    }
                }
                tcp::Command::Cancel(timer) => {
                    if let Transport::Tcp(tcp) = &mut self.flows[flow].transport {
                        tcp.timer(side, timer).cancel();
                    }
                }
                tcp::Command::Rtt(sample) => {
                    self.observers.on(self.now, &Notice::Rtt { flow, sample });
                }
                tcp::Command::Deliver(bytes) => self.on_bytes(flow, bytes),
                tcp::Command::Acknowledged => {
                    self.observers.on(self.now, &Notice::Acknowledged { flow });
                    self.notify_source(flow, traffic::Event::Acknowledged);
                }
                tcp::Command::Closed => self.on_closed(flow, side),
                tcp::Command::Connected => {}
            }
        }
    }

    /// A packet has left `node`, or a queue there has dropped it. If it is the node of its sender,
    /// that learns of it.
    pub(super) fn complete(&mut self, node: NodeId, packet: &Packet) {
        if !self.has_small_queues || packet.from != node {
            return;
        }
        let Body::Segment(segment) = &packet.body else { return };
        let Transport::Tcp(tcp) = &mut self.flows[segment.flow].transport else {
            return;
        };
        if segment.forward {
            tcp.sender.on_transmitted(self.now, segment, self.tcp_out.list());
            self.settle_tcp(segment.flow, Side::Sender);
        }
    }

    fn send_segment(&mut self, flow: FlowId, side: Side, segment: &Segment) {
        let Flow { from, to, class, ref transport, .. } = self.flows[flow];
        let Transport::Tcp(tcp) = transport else { return };
        let receiver = to.expect("the plan broadcasts no TCP");
        let (from, to) = match side {
            Side::Sender => (from, receiver),
            Side::Receiver => (receiver, from),
        };
        let header = match (&segment.coded, &tcp.plan.config.fec) {
            (Some(_), Some(fec)) => tcp.header + fec.header,
            _ => tcp.header,
        };
        let mut packet = Packet {
            ecn: segment.flags.ecn(),
            class,
            ..Packet::new(
                from,
                Some(to),
                Bytes(u64::from(segment.len)) + header + segment.sack.option_size(),
                self.now,
                Body::Segment(*segment),
            )
        };
        let sender = Some(&tcp.sender);
        self.observers.on(self.now, &Notice::Sent { packet: &packet, sender });
        self.route(packet.from, &mut packet);
    }

    /// The receiver's application received in-order bytes.
    fn on_bytes(&mut self, flow: FlowId, bytes: Bytes) {
        self.observers.on(self.now, &Notice::Delivered { flow, bytes });
        self.notify_source(flow, traffic::Event::Delivered(bytes));
    }

    /// The run ends.
    pub(crate) fn close(&mut self) {
        self.now = self.end;
        self.close_watch();
        let (now, observers) = (self.end, &mut self.observers);
        for (queue, radio) in self.queues.iter().zip(0..) {
            let at = Some(Interface::Radio(RadioId(radio)));
            queue.each(&mut |packet| observers.on(now, &Notice::Resident { at, packet }));
        }
        let mut in_service =
            |packet: &Packet| observers.on(now, &Notice::Resident { at: None, packet });
        self.cell.each_in_service(&mut in_service);
        self.cell.each_serving(&mut |node, packet| {
            let by = RadioId(node);
            if !matches!(packet.body, Body::Management(_)) {
                observers.on(now, &Notice::Serving { by, packet });
            }
        });
        if let Some(network) = &self.network {
            network.each(&mut |packet| observers.on(now, &Notice::Resident { at: None, packet }));
        }
        for (radio, packet) in self.stations.iter().flat_map(|all| all.each()) {
            let at = Some(Interface::Radio(RadioId(radio)));
            observers.on(now, &Notice::Resident { at, packet });
        }
        for (wire, direction) in self.wires.iter().zip(0..) {
            let at = Some(Interface::Wire(WireId(direction)));
            wire.each(&mut |packet| observers.on(now, &Notice::Resident { at, packet }));
        }
        observers.on(now, &Notice::End);
    }
}

#[cfg(test)]
mod tests;
