//! A workload through the two media: the cell, and a space in which all hear all.

use crate::record::{CLASSES, OnAir, Record};
use crate::workload::Workload;
use kernel::{Bytes, Duration, EventQueue, Instant, Ranked};
use std::collections::VecDeque;
use wifi::mac::{DuplexCounters, ExchangeOutcome, RtsCts, SecondaryRate, Step};
use wifi::phy::error::{ErrorModel, Threshold};
use wifi::phy::propagation::Position;
use wifi::space::{OngoingFrame, RadioSettings, Site, Space, SpaceConfig};
use wifi::watch::WatchRecord;
use wifi::{Cell, Command, Counters, MsduSource};
use wire::{
    Body, Datagram, FlowId, FrameKind, FrameLoss, FrameOutcome, NodeId, Packet, TrafficClass, Wait,
    WaitKind,
};

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

/// The cell and the space behind the same calls.
enum Medium {
    Cell(Box<Cell>),
    Space(Box<Space>),
}

/// Calls a method that both have.
macro_rules! both {
    ($medium:expr, $inner:ident => $call:expr) => {
        match $medium {
            Medium::Cell($inner) => $call,
            Medium::Space($inner) => $call,
        }
    };
}

/// What waits, by node and class.
struct Queues(Vec<VecDeque<Packet>>);

impl Queues {
    fn of(&mut self, node: u32, class: TrafficClass) -> &mut VecDeque<Packet> {
        &mut self.0[node as usize * 4 + class as usize]
    }
}

impl MsduSource for Queues {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let queue = self.of(node, class);
        let first = queue.iter().position(|packet| packet.to == Some(NodeId(to)))?;
        if queue[first].size > most { None } else { queue.remove(first) }
    }

    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)> {
        let queue = self.of(node, class);
        let is_other = |packet: &Packet| packet.to.is_some_and(|to| to != NodeId(than));
        let first = queue.iter().position(is_other)?;
        let packet = queue.remove(first)?;
        packet.to.map(|to| (packet, to.0))
    }

    fn each(&self, node: u32, class: TrafficClass, visit: &mut dyn FnMut(u32, &Packet)) {
        let queue = &self.0[node as usize * 4 + class as usize];
        for packet in queue {
            if let Some(to) = packet.to {
                visit(to.0, packet);
            }
        }
    }
}

struct Driver<'a> {
    workload: &'a Workload,
    medium: Medium,
    events: EventQueue<Event>,
    queues: Queues,
    /// Per node, exchanges that it has begun.
    attempts: Vec<u64>,
    /// Who has sent a CTS to itself that collided: its data belongs to the same collision.
    protected: Vec<u32>,
    record: Record,
    out: Vec<Command>,
}

/// Runs the workload through the cell until nothing is left to send.
pub(crate) fn in_cell(workload: &Workload) -> Record {
    let Workload { config, links, seed, .. } = workload;
    run(workload, Medium::Cell(Box::new(Cell::new(config.clone(), links.clone(), seed)))).0
}

/// A busy tone: its transmitter, begin and end.
pub(crate) type Tone = (u32, Instant, Instant);

/// The same, and the frames without a collision and the busy tones that a trace has.
pub(crate) fn watched_in_cell(workload: &Workload) -> (Record, Vec<OnAir>, Vec<Tone>) {
    watched_in_cell_until(workload, Instant(u64::MAX))
}

/// The same of a cell whose access point may never cease to send, up to an instant.
pub(crate) fn watched_in_cell_until(
    workload: &Workload,
    until: Instant,
) -> (Record, Vec<OnAir>, Vec<Tone>) {
    let Workload { config, links, seed, .. } = workload;
    let mut cell = Cell::new(config.clone(), links.clone(), seed);
    cell.watch();
    let (record, medium) = run_until(workload, Medium::Cell(Box::new(cell)), until);
    let Medium::Cell(mut cell) = medium else { unreachable!("a cell ran") };
    let (records, _) = cell.watched(Instant(u64::MAX)).expect("it is watched");
    let frame = |record: &WatchRecord| match record {
        WatchRecord::Frame(frame) if frame.outcome != FrameOutcome::Lost(FrameLoss::Collision) => {
            let (node, kind, start, end) = (frame.from, frame.kind, frame.start, frame.end);
            Some(OnAir::Frame { node, kind, start, end })
        }
        _ => None,
    };
    let mut frames: Vec<OnAir> = records.iter().filter_map(frame).collect();
    frames.sort_by_key(|on_air| (on_air.start(), on_air.first_node()));
    let tone = |record: &WatchRecord| match record {
        WatchRecord::Wait(Wait { radio, start, end, kind: WaitKind::BusyTone, .. }) => {
            Some((*radio, *start, *end))
        }
        _ => None,
    };
    let tones = records.iter().filter_map(tone).collect();
    (record, frames, tones)
}

/// Runs the workload through a flat space until nothing is left to send: what overlaps is lost,
/// what does not is received.
pub(crate) fn in_space(workload: &Workload) -> Record {
    let (record, _) = run(workload, space(workload, Box::new(Threshold::default())));
    record
}

/// A full-duplex workload through the cell, and what the access point counted.
pub(crate) fn duplex_in_cell(workload: &Workload) -> (Record, DuplexCounters, Vec<SecondaryRate>) {
    let Workload { config, links, seed, .. } = workload;
    let cell = Cell::new(config.clone(), links.clone(), seed);
    let (record, medium) = run(workload, Medium::Cell(Box::new(cell)));
    let Medium::Cell(cell) = medium else { unreachable!("a cell ran") };
    let counters = *cell.duplex_counters().expect("it is full duplex");
    // A space has no slots that all nodes share.
    (record, DuplexCounters { steps: 0, ..counters }, cell.secondary_rates().to_vec())
}

/// The same through a flat space, in which the frames of one exchange bear each other.
pub(crate) fn duplex_in_space(workload: &Workload) -> (Record, DuplexCounters, Vec<SecondaryRate>) {
    let (record, medium) = run(workload, space(workload, Box::new(Threshold::default())));
    let Medium::Space(space) = medium else { unreachable!("a space ran") };
    let counters = space.duplex_counters().expect("it is full duplex");
    // A cell leaves this time to the airtime of its exchanges.
    let counters = DuplexCounters { together: Duration::ZERO, ..counters };
    (record, counters, space.secondary_rates())
}

/// The same as [`duplex_in_space`], and the frames of a trace with the numbers of their exchanges.
/// An RTS that nobody decoded is left out.
pub(crate) fn watched_in_space(workload: &Workload) -> (Record, Vec<(OnAir, u64)>) {
    let mut medium = space(workload, Box::new(Threshold::default()));
    both!(&mut medium, m => m.watch());
    let (record, mut medium) = run(workload, medium);
    let (records, _) =
        both!(&mut medium, m => m.watched(Instant(u64::MAX))).expect("it is watched");
    let frame = |record: &WatchRecord| match record {
        WatchRecord::Frame(frame)
            if frame.kind != FrameKind::Rts || frame.outcome == FrameOutcome::Received =>
        {
            let (node, kind, start, end) = (frame.from, frame.kind, frame.start, frame.end);
            Some((OnAir::Frame { node, kind, start, end }, frame.exchange))
        }
        _ => None,
    };
    let mut frames: Vec<(OnAir, u64)> = records.iter().filter_map(frame).collect();
    frames.sort_by_key(|(on_air, _)| (on_air.start(), on_air.first_node()));
    (record, frames)
}

fn space(workload: &Workload, error: Box<dyn ErrorModel>) -> Medium {
    let nodes = workload.links.len() + 1;
    let settings = RadioSettings::flat();
    let mut radio = settings.radio(&workload.seed);
    radio.error = error;
    let (position, tx_power) = (Position::default(), settings.tx_power);
    let trajectory = || position.into();
    let site = |n| Site { trajectory: trajectory(), channel: 1, tx_power, is_access_point: n == 0 };
    let sites = (0..nodes).map(site).collect();
    let links = (1..).zip(&workload.links).map(|(station, link)| (0, station, *link)).collect();
    let config = SpaceConfig { mac: workload.config.clone(), radio, nav_reset: true, sites, links };
    Medium::Space(Box::new(Space::new(config, &workload.seed)))
}

fn run(workload: &Workload, medium: Medium) -> (Record, Medium) {
    run_until(workload, medium, Instant(u64::MAX))
}

fn run_until(workload: &Workload, medium: Medium, until: Instant) -> (Record, Medium) {
    let nodes = workload.links.len() + 1;
    let mut driver = Driver {
        workload,
        medium,
        events: EventQueue::new(),
        queues: Queues(vec![VecDeque::new(); nodes * 4]),
        attempts: vec![0; nodes],
        protected: Vec::new(),
        record: Record { done: vec![Vec::new(); nodes], ..Record::default() },
        out: Vec::new(),
    };
    for (number, arrival) in (0..).zip(&workload.packets) {
        driver.events.at(arrival.at, Event::Arrival(number));
    }
    while let Some((now, event)) = driver.events.next()
        && now <= until
    {
        driver.step(now, &event);
    }
    let Driver { medium, mut record, .. } = driver;
    for node in 0..nodes as u32 {
        // When an outcome is known is no rule of the standard: the oracle does not count it.
        let known = |counters: &Counters| Counters { outcomes: 0, ..*counters };
        let counters = both!(&medium, m => (known(m.counters(node)), *m.frame_counters(node)));
        record.counters.push(counters);
        let window = |class| both!(&medium, m => m.window_for(node, class));
        record.windows.push(CLASSES.map(window));
    }
    // The cell plans an exchange when it begins; frames may begin together.
    record.air.sort_by_key(|on_air| (on_air.start(), on_air.first_node()));
    record.delivered.sort_by_key(|&(at, node, _)| (at, node));
    (record, medium)
}

impl Driver<'_> {
    fn step(&mut self, now: Instant, event: &Event) {
        let Self { medium, queues, out, .. } = self;
        match (event, medium) {
            (Event::AirStep, Medium::Cell(cell)) => cell.on_step(now, queues, out),
            (Event::AirStep, Medium::Space(space)) => space.on_step(now, queues, out),
            (&Event::Access(generation), medium) => {
                both!(medium, m => m.on_access(now, generation, queues, out));
            }
            (&Event::Arrival(number), _) => self.offer(now, number),
        }
        match &self.medium {
            Medium::Cell(_) if self.out.contains(&Command::Began) => self.note_exchange(),
            Medium::Space(_) if matches!(event, Event::Access(_)) => self.note_frames(now),
            _ => {}
        }
        let mut i = 0;
        while let Some(&command) = self.out.get(i) {
            i += 1;
            self.execute(now, command);
        }
        self.out.clear();
    }

    fn offer(&mut self, now: Instant, number: u64) {
        let arrival = &self.workload.packets[number as usize];
        self.queues.of(arrival.node, arrival.class).push_back(Packet {
            class: arrival.class,
            ..Packet::new(
                NodeId(arrival.node),
                arrival.to.map(NodeId),
                arrival.size,
                now,
                Body::Datagram(Datagram { flow: FlowId(0), number, len: 0, stream: 0 }),
            )
        });
        self.serve(now, arrival.node, arrival.class);
    }

    fn serve(&mut self, now: Instant, node: u32, class: TrafficClass) {
        if !both!(&self.medium, m => m.is_free_for(node, class)) {
            return;
        }
        let Some(packet) = self.queues.of(node, class).pop_front() else { return };
        let to = packet.to.map(|to| to.0);
        both!(&mut self.medium, m => m.on_packet(now, node, &packet, to, &mut self.out));
    }

    fn execute(&mut self, now: Instant, command: Command) {
        match command {
            Command::Access(ticket) => self.events.at(ticket.at, Event::Access(ticket.generation)),
            Command::Step(at) => self.events.at(at, Event::AirStep),
            Command::Deliver { node, packet, .. } => {
                self.record.delivered.push((now, node, number_of(&packet)));
            }
            Command::Done { node, packet, outcome, received } => {
                let end = (number_of(&packet), outcome, received);
                self.record.done[node as usize].push(end);
                self.serve(now, node, packet.class);
            }
            Command::Began
            | Command::Ended
            | Command::Overheard { .. }
            | Command::ExchangeSent { .. }
            | Command::Mode { .. } => {}
        }
    }

    /// Records the exchange or the collision that has begun in the cell.
    fn note_exchange(&mut self) {
        let Medium::Cell(cell) = &self.medium else { return };
        let exchange = cell.exchange().expect("an exchange has begun");
        let mut nodes = Vec::new();
        for (node, before) in (0..).zip(&mut self.attempts) {
            let requests = cell.frame_counters(node).block_ack_requests;
            let after = cell.counters(node).attempts + requests;
            if std::mem::replace(before, after) < after {
                nodes.push(node);
            }
        }
        if exchange.outcome == ExchangeOutcome::Collision {
            let (start, end) = (exchange.start, exchange.end);
            return self.record.air.push(OnAir::Collision { nodes, start, end });
        }
        // Of what is triggered, the frames of a trace are compared.
        if cell.triggered().is_some() {
            return;
        }
        let sender = exchange.sender;
        let receiver = || cell.receiver_of(sender).expect("nobody answers a broadcast");
        let frame = |step: &Step| {
            let (kind, start, end) = (step.kind, step.start, step.end());
            let node = if is_answer(kind) { receiver() } else { sender };
            OnAir::Frame { node, kind, start, end }
        };
        self.record.air.extend(exchange.steps().map(frame));
        let Some(secondary) = cell.secondary() else { return };
        let frame = |node, step: &Step| {
            let (kind, start, end) = (step.kind, step.start, step.end());
            OnAir::Frame { node, kind, start, end }
        };
        let answer = secondary.answer.as_ref().map(|answer| frame(secondary.receiver, answer));
        self.record.air.push(frame(secondary.sender, &secondary.data));
        self.record.air.extend(answer);
    }

    /// Records what has begun now in the space: one frame, or several that collide.
    fn note_frames(&mut self, now: Instant) {
        let Medium::Space(space) = &self.medium else { return };
        let mut frames: Vec<OngoingFrame> =
            space.on_air().filter(|frame| frame.start == now).collect();
        frames.sort_by_key(|frame| frame.from);
        let Some(end) = frames.iter().map(|frame| frame.end).max() else { return };
        if self.workload.config.full_duplex.is_some() {
            match &frames[..] {
                // The access point answers the station, whatever its own RTS was for.
                [ap, rts] if ap.from == 0 && [ap, rts].iter().all(|f| f.kind == FrameKind::Rts) => {
                    frames.remove(0);
                }
                [ap, data]
                    if ap.from == 0
                        && (ap.kind, data.kind) == (FrameKind::Rts, FrameKind::Data)
                        && ap.end <= data.end
                        && self
                            .workload
                            .config
                            .full_duplex
                            .is_some_and(|settings| settings.rts_cts == RtsCts::Optional) =>
                {
                    frames.remove(0);
                }
                both if both.iter().all(|frame| frame.beside.is_some()) => {
                    let each = both.iter().map(
                        |&OngoingFrame { from: node, kind, start, end, .. }| OnAir::Frame {
                            node,
                            kind,
                            start,
                            end,
                        },
                    );
                    return self.record.air.extend(each);
                }
                _ => {}
            }
        }
        let nodes: Vec<u32> = frames.iter().map(|frame| frame.from).collect();
        let continues =
            |f: &OngoingFrame| f.kind == FrameKind::Data && self.protected.contains(&f.from);
        if frames.iter().all(continues) {
            let Some(OnAir::Collision { end: last, .. }) = self.record.air.last_mut() else {
                panic!("{now}: no collision")
            };
            *last = end.max(*last);
            return self.protected.retain(|node| !nodes.contains(node));
        }
        assert!(self.protected.is_empty(), "{now}: data is missing after a CTS");
        self.record.air.push(
            if let [OngoingFrame { from: node, kind, start, end, .. }] = frames[..] {
                OnAir::Frame { node, kind, start, end }
            } else {
                let to_self = frames.iter().filter(|frame| frame.kind == FrameKind::CtsToSelf);
                self.protected.extend(to_self.map(|frame| frame.from));
                OnAir::Collision { nodes, start: now, end }
            },
        );
    }
}

fn is_answer(kind: FrameKind) -> bool {
    matches!(kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck)
}

fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("there are datagrams only") };
    datagram.number
}
