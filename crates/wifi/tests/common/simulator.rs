//! A workload through the cell.

use crate::account::{Account, ExchangeSent};
use crate::workload::{Arrival, Workload};
use kernel::{EventQueue, Instant, Ranked};
use std::collections::VecDeque;
use wifi::mac::{ExchangeOutcome, StepKind};
use wifi::{Cell, Command, NoMsduSource};
use wire::{Body, Datagram, Ecn, FlowId, NodeId, Packet, TrafficClass};

#[derive(Debug)]
enum Event {
    AirStep,
    Arrival(u64),
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

struct Driver<'a> {
    workload: &'a Workload,
    cell: Cell,
    agenda: EventQueue<Event>,
    queues: Vec<VecDeque<u64>>,
    account: Account,
    out: Vec<Command>,
}

/// Runs the workload until nothing is left to send.
pub(crate) fn run(workload: &Workload) -> Account {
    let nodes = workload.links.len() + 1;
    let mut driver = Driver {
        workload,
        cell: Cell::new(workload.config.clone(), workload.links.clone(), &workload.seed),
        agenda: EventQueue::new(),
        queues: vec![VecDeque::new(); nodes],
        account: Account { done: vec![Vec::new(); nodes], ..Account::default() },
        out: Vec::new(),
    };
    for (number, arrival) in (0..).zip(&workload.packets) {
        driver.agenda.at(arrival.at, Event::Arrival(number));
    }
    while let Some((now, event)) = driver.agenda.next() {
        driver.step(now, &event);
    }
    let cell = &driver.cell;
    driver.account.counters = (0..nodes as u32).map(|node| *cell.counters(node)).collect();
    driver.account.windows = (0..nodes as u32).map(|node| cell.window(node)).collect();
    driver.account
}

impl Driver<'_> {
    fn step(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::AirStep => self.cell.on_step(now, &mut NoMsduSource, &mut self.out),
            Event::Arrival(number) => {
                let node = self.workload.packets[number as usize].node;
                self.queues[node as usize].push_back(number);
                self.serve(now, node);
            }
            Event::Access(generation) => {
                let before = self.attempts();
                self.cell.on_access(now, generation, &mut NoMsduSource, &mut self.out);
                self.note_air(&before);
            }
        }
        let mut i = 0;
        while let Some(&command) = self.out.get(i) {
            i += 1;
            self.obey(now, command);
        }
        self.out.clear();
    }

    fn obey(&mut self, now: Instant, command: Command) {
        match command {
            Command::Access(ticket) => {
                self.agenda.at(ticket.at, Event::Access(ticket.generation));
            }
            Command::Step(at) => self.agenda.at(at, Event::AirStep),
            Command::Began
            | Command::Ended
            | Command::ExchangeSent { .. }
            | Command::Mode { .. } => {}
            Command::Deliver { node, packet } => {
                self.account.delivered.push((now, node, number_of(&packet)));
            }
            Command::Done { node, packet, outcome, received } => {
                let end = (number_of(&packet), outcome, received);
                self.account.done[node as usize].push(end);
                self.serve(now, node);
            }
        }
    }

    fn serve(&mut self, now: Instant, node: u32) {
        if !self.cell.is_free(node) {
            return;
        }
        if let Some(number) = self.queues[node as usize].pop_front() {
            let arrival = self.workload.packets[number as usize];
            let packet = packet(number, &arrival);
            self.cell.on_packet(now, node, packet, arrival.to, &mut self.out);
        }
    }

    fn attempts(&self) -> Vec<u64> {
        let nodes = 0..self.workload.links.len() as u32 + 1;
        nodes.map(|node| self.cell.counters(node).attempts).collect()
    }

    fn note_air(&mut self, before: &[u64]) {
        let after = self.attempts();
        let nodes = 0..after.len();
        let began: Vec<u32> =
            nodes.filter(|&node| after[node] > before[node]).map(|node| node as u32).collect();
        let Some(exchange) = self.cell.exchange().filter(|_| !began.is_empty()) else { return };
        if exchange.outcome == ExchangeOutcome::Collision {
            let (start, end) = (exchange.start, exchange.end);
            self.account.air.push(ExchangeSent::Clash { nodes: began, start, end });
            return;
        }
        let sender = exchange.sender;
        let frame = self.cell.frames_on_air().next().expect("an exchange has a data frame");
        let number = number_of(frame.packets().next().expect("a frame carries a packet"));
        let receiver = self.workload.packets[number as usize].to;
        for step in exchange.steps() {
            let node = match step.kind {
                StepKind::Rts | StepKind::CtsToSelf | StepKind::Data => sender,
                StepKind::Cts | StepKind::Ack => receiver.expect("nobody answers a broadcast"),
                StepKind::BlockAckRequest | StepKind::BlockAck => unreachable!("DCF has none"),
            };
            let (start, end) = (step.start, step.end());
            self.account.air.push(ExchangeSent::Frame { node, kind: step.kind, start, end });
        }
    }
}

fn packet(number: u64, arrival: &Arrival) -> Packet {
    let Arrival { at, node, to, size } = *arrival;
    Packet {
        from: NodeId(node),
        to: to.map(NodeId),
        size,
        born: at,
        ecn: Ecn::default(),
        class: TrafficClass::default(),
        body: Body::Datagram(Datagram { flow: FlowId(0), number, len: 0 }),
    }
}

fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("the workload has datagrams only") };
    datagram.number
}
