//! A space, its event queue and the queues of its nodes.

use kernel::{Bytes, EventQueue, Instant, Ranked, Seed};
use std::collections::VecDeque;
use wifi::space::{Space, SpaceConfig};
use wifi::{Command, MsduOutcome, NoMsduSource};
use wire::{Body, Datagram, FlowId, NodeId, Packet};

#[derive(Debug)]
pub(crate) enum Event {
    AirStep,
    /// A packet that the workload announced.
    Arrival(usize),
    Access(u32),
}

impl Ranked for Event {
    /// As in a run of the simulator: frames end, packets come, back-offs end.
    fn rank(&self) -> u8 {
        match self {
            Self::AirStep => 0,
            Self::Arrival(_) => 1,
            Self::Access(_) => 2,
        }
    }
}

/// What nodes have to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) number: u64,
    pub(crate) to: Option<u32>,
    pub(crate) size: Bytes,
}

/// The delivery of an MSDU at its receiver, its outcome at its transmitter, or its reception at
/// another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MsduReport {
    Delivered { node: u32, from: u32, number: u64, size: Bytes },
    Done { node: u32, number: u64, outcome: MsduOutcome, received: bool },
    Overheard { node: u32, from: u32, number: u64 },
}

pub(crate) struct Driver {
    pub(crate) space: Space,
    pub(crate) events: EventQueue<Event>,
    pub(crate) queues: Vec<VecDeque<Load>>,
    /// Nodes that always have another packet like this.
    pub(crate) saturated: Vec<Option<Load>>,
    pub(crate) arrivals: Vec<(u32, Load)>,
    out: Vec<Command>,
}

impl Driver {
    pub(crate) fn new(config: SpaceConfig, seed: &Seed) -> Self {
        let nodes = config.sites.len();
        Self {
            space: Space::new(config, seed),
            events: EventQueue::new(),
            queues: vec![VecDeque::new(); nodes],
            saturated: vec![None; nodes],
            arrivals: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Pairs of nodes of which one hears the other, at any moment.
    pub(crate) fn hearing_pairs(&self) -> usize {
        let nodes = 0..self.queues.len() as u32;
        let hears = |from| nodes.clone().filter(|&to| self.space.hears(from, to)).count();
        nodes.clone().map(hears).sum()
    }

    pub(crate) fn announce(&mut self, at: Instant, node: u32, load: Load) {
        self.events.at(at, Event::Arrival(self.arrivals.len()));
        self.arrivals.push((node, load));
    }

    /// From now on this node has always another packet.
    pub(crate) fn saturate(
        &mut self,
        node: u32,
        to: u32,
        size: Bytes,
        reports: &mut Vec<MsduReport>,
    ) {
        self.saturated[node as usize] = Some(Load { number: 0, to: Some(to), size });
        self.serve(self.events.now(), node);
        self.settle(self.events.now(), reports);
    }

    /// Handles the next event.
    pub(crate) fn step(&mut self, reports: &mut Vec<MsduReport>) -> Option<(Instant, Event)> {
        let (now, event) = self.events.next()?;
        match event {
            Event::AirStep => self.space.on_step(now, &NoMsduSource, &mut self.out),
            Event::Access(generation) => {
                self.space.on_access(now, generation, &mut NoMsduSource, &mut self.out);
            }
            Event::Arrival(index) => {
                let (node, load) = self.arrivals[index];
                self.queues[node as usize].push_back(load);
                self.serve(now, node);
            }
        }
        self.settle(now, reports);
        Some((now, event))
    }

    /// Runs until a moment.
    pub(crate) fn run_until(&mut self, end: Instant, visit: &mut dyn FnMut(Instant, MsduReport)) {
        let mut reports = Vec::new();
        while self.events.peek().is_some_and(|at| at < end) {
            let Some((now, _)) = self.step(&mut reports) else { break };
            reports.drain(..).for_each(|item| visit(now, item));
        }
    }

    fn settle(&mut self, now: Instant, reports: &mut Vec<MsduReport>) {
        let mut i = 0;
        while let Some(&command) = self.out.get(i) {
            i += 1;
            match command {
                Command::Access(ticket) => {
                    self.events.at(ticket.at, Event::Access(ticket.generation));
                }
                Command::Step(at) => self.events.at(at, Event::AirStep),
                Command::Deliver { node, packet, .. } => {
                    let number = number_of(&packet);
                    let (from, size) = (packet.from.0, packet.size);
                    reports.push(MsduReport::Delivered { node, from, number, size });
                }
                Command::Done { node, packet, outcome, received } => {
                    let number = number_of(&packet);
                    reports.push(MsduReport::Done { node, number, outcome, received });
                    self.serve(now, node);
                }
                Command::Overheard { node, from, packet } => {
                    let number = number_of(&packet);
                    reports.push(MsduReport::Overheard { node, from, number });
                }
                Command::ExchangeSent { .. } => {}
                _ => unreachable!("a space has no exchange of its own"),
            }
        }
        self.out.clear();
    }

    fn serve(&mut self, now: Instant, node: u32) {
        if !self.space.is_free(node) {
            return;
        }
        let index = node as usize;
        let load = self.queues[index].pop_front().or_else(|| {
            let next = self.saturated[index].as_mut()?;
            next.number += 1;
            Some(*next)
        });
        if let Some(Load { number, to, size }) = load {
            let packet = Packet::new(
                NodeId(node),
                to.map(NodeId),
                size,
                now,
                Body::Datagram(Datagram { flow: FlowId(0), number, len: 0, stream: 0 }),
            );
            self.space.on_packet(now, node, &packet, to, &mut self.out);
        }
    }
}

fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("there are datagrams only") };
    datagram.number
}
