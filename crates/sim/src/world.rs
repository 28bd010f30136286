//! The one room where things meet: owns every machine, and has one `match` on one `Event`.

mod air;
mod rates;
mod routing;
mod sources;

use crate::build;
use crate::check::Checker;
use crate::control::External;
use crate::flow::{Flow, Side, Transport, UdpFlow};
use crate::medium::{Bss, Medium};
use crate::meter::Meter;
use crate::observe::Counters;
use crate::plan::{Endpoint, Network, Plan};
use crate::probe::Probes;
use crate::traffic;
use kernel::{Agenda, Bytes, Fired, Instant, Ranked, Seed};
use net::{LinkTimer, Lossy, Signal};
use rates::Told;
use std::sync::Arc;
use tcp::TimerId;
use wire::{Body, Ecn, Flags, NodeId, Packet, Segment};

/// The access point's node; station *i* is node *i* + 1, then come the server and the hosts.
pub(crate) const ACCESS_POINT: NodeId = NodeId(wifi::ACCESS_POINT);

/// Everything that can happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// A data frame or an exchange ends on the air.
    AirStep,
    /// A packet of this direction of a link arrives, or its transmitter is free.
    Wire(u32, LinkTimer),
    /// A timer of a TCP machine.
    Tcp { flow: u32, side: Side, timer: TimerId, generation: u32 },
    /// A timer of a source.
    Traffic(u32),
    /// The earliest back-off of the cell ends.
    Access { generation: u32 },
    /// The warm-up or a batch ends.
    Batch,
    /// Probes are read.
    Sample,
    /// The run ends.
    End,
}

impl Ranked for Event {
    /// Of one instant: frames end first, then packets arrive and timers run out, then back-offs
    /// end and frames begin, and measurement looks at what has become of it all.
    fn rank(&self) -> u8 {
        match self {
            Self::AirStep => 0,
            Self::Wire(..) => 1,
            Self::Tcp { .. } => 2,
            Self::Traffic(_) => 3,
            Self::Access { .. } => 4,
            Self::Sample => 5,
            Self::Batch => 6,
            Self::End => 7,
        }
    }
}

/// All that a run consists of.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) end: Instant,
    agenda: Agenda<Event>,
    pub(crate) cell: Medium,
    bss: Bss,
    /// One queue per node of the cell.
    pub(crate) queues: Vec<Box<dyn net::Queue>>,
    /// The wired network, and the directions of its links: two a link.
    network: Network,
    pub(crate) wires: Vec<Lossy>,
    /// Where each direction begins.
    near_ends: Vec<NodeId>,
    pub(crate) flows: Vec<Flow>,
    /// Flows at each node of whose datagrams one always waits there.
    saturated: Vec<Vec<u32>>,
    /// Nodes whose queue has dropped a packet of such a flow since their last frame.
    starved: Vec<bool>,
    /// Which senders are told of the rates of which links.
    told: Told,
    pub(crate) meter: Meter,
    pub(crate) counters: Counters,
    pub(crate) probes: Probes,
    pub(crate) checker: Option<Box<Checker>>,
    pub(crate) digest: Digest,
    pub(crate) events: u64,
    cell_out: Vec<wifi::Command>,
    cell_settling: bool,
    tcp_out: Vec<tcp::Command>,
    source_out: Vec<traffic::Command>,
    wire_out: Vec<net::Command>,
    signals: Vec<Signal>,
    /// Of queues that have supplied the cell.
    supply_signals: Vec<(NodeId, Signal)>,
    suppliers: Vec<NodeId>,
    /// Packets that have joined others in service, from whom and for whom; for the checker alone.
    taken: Vec<(u32, u32, Packet)>,
}

/// A fingerprint of everything that was sent and delivered, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    /// Mixes in a value by the FNV-1a step, a word at a time.
    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl World {
    /// The world at the start of the run.
    pub(crate) fn new(
        plan: &Plan,
        seed: &Seed,
        probes: Probes,
        check: bool,
        external: &Arc<dyn External>,
    ) -> Self {
        let bss = Bss::new(plan);
        let members = bss.members();
        let nodes = members + 2 + plan.network.hosts.len();
        let node = |endpoint| node_of(endpoint, members);
        let flows: Vec<Flow> = plan
            .flows
            .iter()
            .zip(0..)
            .map(|(flow, i)| {
                let from = node(flow.from).expect("broadcast is no source");
                Flow::new(i, flow, from, node(flow.to), seed, external)
            })
            .collect();
        let end = Instant::ZERO + plan.duration;
        let mut world = Self {
            now: Instant::ZERO,
            end,
            agenda: Agenda::new(),
            cell: build::medium(plan, seed),
            queues: build::queues(plan, seed),
            wires: build::wires(&plan.network, |wire| begins_saturated(plan, wire), seed),
            near_ends: near_ends(plan),
            network: plan.network.clone(),
            saturated: vec![Vec::new(); nodes],
            starved: vec![false; nodes],
            told: Told::default(),
            meter: Meter::new(plan),
            counters: Counters::new(plan),
            probes,
            checker: check.then(|| Box::new(Checker::new(plan, members + 1, seed))),
            digest: Digest(0xcbf2_9ce4_8422_2325),
            events: 0,
            flows,
            bss,
            cell_out: Vec::with_capacity(64),
            cell_settling: false,
            tcp_out: Vec::with_capacity(64),
            source_out: Vec::with_capacity(8),
            wire_out: Vec::with_capacity(8),
            signals: Vec::with_capacity(8),
            supply_signals: Vec::new(),
            suppliers: Vec::new(),
            taken: Vec::new(),
        };
        world.watch_air();
        world.tell_rates(plan);
        world.schedule_start();
        world
    }

    fn schedule_start(&mut self) {
        for i in 0..self.flows.len() {
            let Flow { from, start, stop, ref transport, .. } = self.flows[i];
            if let Transport::Udp(UdpFlow { waiting: Some(_), .. }) = transport {
                let home = self.home(from);
                self.saturated[home.0 as usize].push(i as u32);
            }
            let stop = Some(stop).filter(|&stop| stop < self.end);
            self.tell_source(i as u32, traffic::Event::Begin { start, stop });
        }
        self.schedule_batch();
        if let Some(first) = self.probes.next_sample() {
            self.agenda.at(first, Event::Sample);
        }
        self.agenda.at(self.end, Event::End);
    }

    /// Handles the next event; `false` when the run has ended.
    pub(crate) fn step(&mut self) -> bool {
        let Some((now, event)) = self.agenda.next() else { return false };
        if let Some(checker) = &mut self.checker {
            checker.on_time(self.now, now);
        }
        self.now = now;
        self.events += 1;
        match event {
            Event::AirStep => {
                self.with_supply(|cell, supply, out| cell.on_step(now, supply, out));
            }
            Event::Access { generation } => {
                self.with_supply(|cell, supply, out| cell.on_access(now, generation, supply, out));
            }
            Event::Wire(wire, timer) => self.on_wire_timer(wire as usize, timer),
            Event::Tcp { flow, side, timer, generation } => {
                self.on_tcp_timer(flow, side, timer, generation);
            }
            Event::Traffic(flow) => self.on_traffic(flow),
            Event::Batch => self.end_batch(),
            Event::Sample => self.sample(),
            Event::End => return false,
        }
        true
    }

    fn end_batch(&mut self) {
        if !self.meter.is_open() {
            self.counters.opened = self.counters.read(self);
        }
        self.meter.end_batch(self.now);
        self.schedule_batch();
    }

    fn schedule_batch(&mut self) {
        if let Some(at) = self.meter.next_batch() {
            self.agenda.at(at, Event::Batch);
        }
    }

    fn sample(&mut self) {
        let mut probes = std::mem::take(&mut self.probes);
        probes.sample(self);
        if let Some(next) = probes.next_sample().filter(|&next| next <= self.end) {
            self.agenda.at(next, Event::Sample);
        }
        self.probes = probes;
    }

    fn on_tcp_timer(&mut self, flow: u32, side: Side, timer: TimerId, generation: u32) {
        let Transport::Tcp(tcp) = &mut self.flows[flow as usize].transport else { return };
        match tcp.timer(side, timer).fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => {
                let generation = ticket.generation;
                self.agenda.at(ticket.at, Event::Tcp { flow, side, timer, generation });
            }
            Fired::Due => {
                match side {
                    Side::Sender => tcp.sender.on_timer(self.now, timer, &mut self.tcp_out),
                    Side::Receiver => tcp.receiver.on_timer(self.now, timer, &mut self.tcp_out),
                }
                self.settle_tcp(flow, side);
            }
        }
    }

    /// A segment reaches the end of its flow.
    fn on_segment(&mut self, segment: &Segment) {
        let flow = segment.flow.0;
        let Transport::Tcp(tcp) = &mut self.flows[flow as usize].transport else { return };
        let side = if segment.forward { Side::Receiver } else { Side::Sender };
        match side {
            Side::Receiver => tcp.receiver.on_segment(self.now, segment, &mut self.tcp_out),
            Side::Sender => tcp.sender.on_segment(self.now, segment, &mut self.tcp_out),
        }
        if let Some(checker) = &mut self.checker {
            checker.on_window(flow, &tcp.sender);
        }
        self.settle_tcp(flow, side);
    }

    /// Carries out what a TCP machine asks for.
    fn settle_tcp(&mut self, flow: u32, side: Side) {
        // Sending may deliver at once where both ends share a node: the buffer is taken out.
        let mut out = std::mem::take(&mut self.tcp_out);
        for command in &out {
            match *command {
                tcp::Command::Send(segment) => self.send_segment(flow, side, segment),
                tcp::Command::Set(timer, at) => {
                    let Transport::Tcp(tcp) = &mut self.flows[flow as usize].transport else {
                        continue;
                    };
                    if let Some(ticket) = tcp.timer(side, timer).set(at) {
                        let generation = ticket.generation;
                        let event = Event::Tcp { flow, side, timer, generation };
                        self.agenda.at(ticket.at, event);
                    }
                }
                tcp::Command::Cancel(timer) => {
                    if let Transport::Tcp(tcp) = &mut self.flows[flow as usize].transport {
                        tcp.timer(side, timer).cancel();
                    }
                }
                tcp::Command::Rtt(sample) => self.meter.on_rtt(flow, sample),
                tcp::Command::Deliver(bytes) => self.on_bytes(flow, bytes),
                tcp::Command::Acknowledged => {
                    self.tell_source(flow, traffic::Event::Acknowledged);
                }
                tcp::Command::Closed => self.on_closed(flow, side),
                tcp::Command::Connected => {}
            }
        }
        out.clear();
        self.tcp_out = out;
    }

    fn send_segment(&mut self, flow: u32, side: Side, segment: Segment) {
        let Flow { from, to, class, ref transport, .. } = self.flows[flow as usize];
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
        let packet = Packet {
            from,
            to: Some(to),
            size: Bytes(u64::from(segment.len)) + header + segment.sack.option_size(),
            born: self.now,
            ecn: if segment.flags.has(Flags::ECT) { Ecn::Capable } else { Ecn::NotCapable },
            class,
            body: Body::Segment(segment),
        };
        self.inject(packet);
    }

    /// A transport hands a packet to the network layer of its node.
    fn inject(&mut self, packet: Packet) {
        self.meter.on_sent(packet.flow().0);
        if let Some(checker) = &mut self.checker {
            checker.on_sent(&packet);
        }
        self.route(packet.from, packet);
    }

    /// In-order bytes reached the receiver's application.
    fn on_bytes(&mut self, flow: u32, bytes: Bytes) {
        self.meter.on_bytes(flow, bytes);
        if let Some(checker) = &mut self.checker {
            checker.on_bytes(flow, bytes);
        }
        self.tell_source(flow, traffic::Event::Delivered(bytes));
    }

    /// Shows each packet that is neither at its destination nor lost.
    pub(crate) fn each_resident(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queues.iter().for_each(|queue| queue.each(visit));
        self.cell.each_in_service(visit);
        self.wires.iter().for_each(|wire| wire.link().each(visit));
    }

    /// Settles accounts at the end of the run.
    pub(crate) fn close(&mut self) {
        self.now = self.end;
        self.meter.close(self.end);
        if let Some(checker) = &self.checker {
            checker.close(self);
        }
    }
}

/// Where each direction of each link begins.
fn near_ends(plan: &Plan) -> Vec<NodeId> {
    let ends = plan.network.links.iter().flat_map(|link| link.ends);
    let members = Bss::new(plan).members();
    let node = |end| node_of(end, members).expect("no link ends at all stations");
    ends.map(node).collect()
}

/// Whether a saturated source sends by this direction of a link.
fn begins_saturated(plan: &Plan, wire: usize) -> bool {
    plan.flows.iter().any(|flow| {
        let network = &plan.network;
        let saturated = flow.settings.traffic.is_saturated();
        let in_cell = matches!(flow.from, Endpoint::Station(_));
        let first = || network.hop(network.site(flow.from), network.site(flow.to));
        saturated && !in_cell && first() == Some(wire)
    })
}

/// The node of an endpoint; `None` for broadcast. All `members` of cells but the first access point
/// come before the server.
fn node_of(endpoint: Endpoint, members: usize) -> Option<NodeId> {
    match endpoint {
        Endpoint::AccessPoint => Some(ACCESS_POINT),
        Endpoint::Station(i) => Some(NodeId(i + 1)),
        Endpoint::Server => Some(NodeId(members as u32 + 1)),
        Endpoint::Host(i) => Some(NodeId(members as u32 + 2 + i)),
        Endpoint::Broadcast => None,
    }
}
