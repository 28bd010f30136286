//! Random workloads of four classes, through the cell and through the space.

use crate::network::{all_hear_all, mac};
use kernel::{Bytes, Duration, EventQueue, Instant, Ranked, Seed};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::fmt;
use wifi::mac::{
    Aggregation, Eifs, ExchangeOutcome, MissedBlockAck, RetryRule, SlotGrid, Step, StepKind,
};
use wifi::phy::{DOT11AC, DOT11N, Edition, Guard, Standard, TxVector};
use wifi::space::{OngoingFrame, Space, SpaceConfig};
use wifi::{
    Categories, Cell, Command, Counters, FrameCounters, Link, MacConfig, MsduOutcome, MsduSource,
};
use wire::{Body, Datagram, Ecn, FlowId, NodeId, Packet, TrafficClass};

pub(crate) const CLASSES: [TrafficClass; 4] =
    [TrafficClass::Background, TrafficClass::BestEffort, TrafficClass::Video, TrafficClass::Voice];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) node: u32,
    pub(crate) to: u32,
    pub(crate) class: usize,
    pub(crate) size: Bytes,
}

#[derive(Clone)]
pub(crate) struct Workload {
    pub(crate) config: MacConfig,
    pub(crate) links: Vec<Link>,
    pub(crate) seed: Seed,
    pub(crate) packets: Vec<Arrival>,
}

impl fmt::Debug for Workload {
    /// A failure is read by people: a line for each packet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MacConfig { timing, aggregation, edca, rts_threshold, .. } = &self.config;
        let MacConfig { short_retry_limit, long_retry_limit, .. } = self.config;
        writeln!(f, "{}, {:?} grid, {edca:?},", timing.standard.name(), timing.slot_grid)?;
        writeln!(f, "{aggregation:?}, limits {short_retry_limit} and {long_retry_limit},")?;
        writeln!(f, "RTS above {rts_threshold}, seed {}", self.seed.root)?;
        let Link { mode, data_loss, ack_loss } = self.links[0];
        let stations = self.links.len();
        writeln!(f, "{stations} stations, MCS {}, loss {data_loss} {ack_loss}", mode.mcs)?;
        for (Arrival { at, node, to, class, size }, number) in self.packets.iter().zip(0..) {
            writeln!(f, "packet {number}: {at}, {node} -> {to}, class {class}, {size}")?;
        }
        Ok(())
    }
}

/// A frame on the air, and who has opened its exchange; neither of a collision.
pub(crate) type ExchangeSent = (Instant, Instant, Option<(StepKind, u32)>);

/// What came of it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Account {
    /// When frames were on the air: of a collision, from when to when.
    pub(crate) air: Vec<ExchangeSent>,
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    pub(crate) done: Vec<Vec<(u64, MsduOutcome, bool)>>,
    pub(crate) counters: Vec<(Counters, FrameCounters)>,
    pub(crate) windows: Vec<u32>,
}

#[derive(Debug)]
enum Event {
    AirStep,
    Arrival(u64),
    Access(u32),
}

impl Ranked for Event {
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

impl Medium {
    fn of(workload: &Workload, in_space: bool) -> Self {
        let Workload { config, links, seed, .. } = workload;
        if !in_space {
            return Self::Cell(Box::new(Cell::new(config.clone(), links.clone(), seed)));
        }
        let (radio, sites) = all_hear_all(links.len() + 1);
        let links = (1..).zip(links).map(|(station, link)| (0, station, *link)).collect();
        let config = SpaceConfig { mac: config.clone(), radio, nav_reset: true, sites, links };
        Self::Space(Box::new(Space::new(config, seed)))
    }

    fn is_free_for(&self, node: u32, class: TrafficClass) -> bool {
        match self {
            Self::Cell(cell) => cell.is_free_for(node, class),
            Self::Space(space) => space.is_free_for(node, class),
        }
    }

    /// What has begun now.
    fn began(&self, now: Instant, air: &mut Vec<ExchangeSent>) {
        match self {
            Self::Cell(cell) => {
                let Some(exchange) = cell.exchange().filter(|x| x.start == now) else { return };
                if exchange.outcome == ExchangeOutcome::Collision {
                    return air.push((now, exchange.end, None));
                }
                let sender = exchange.sender;
                let frame = |step: &Step| (step.start, step.end(), Some((step.kind, sender)));
                air.extend(exchange.steps().map(frame));
            }
            Self::Space(space) => {
                let frames: Vec<_> = space.on_air().filter(|frame| frame.start == now).collect();
                let opener = |frame: &OngoingFrame| match frame.kind {
                    StepKind::Cts | StepKind::Ack | StepKind::BlockAck => frame.to,
                    _ => Some(frame.from),
                };
                let kind = match &frames[..] {
                    [only] => Some((only.kind, opener(only).expect("an exchange has two ends"))),
                    _ => None,
                };
                let end = frames.iter().map(|frame| frame.end).max();
                air.extend(end.map(|end| (now, end, kind)));
            }
        }
    }

    fn result(&self, node: u32) -> ((Counters, FrameCounters), [u32; 4]) {
        match self {
            Self::Cell(cell) => (
                (*cell.counters(node), *cell.frame_counters(node)),
                CLASSES.map(|class| cell.window_for(node, class)),
            ),
            Self::Space(space) => (
                (*space.counters(node), *space.frame_counters(node)),
                CLASSES.map(|class| space.window_for(node, class)),
            ),
        }
    }
}

/// What waits, by node and class.
struct Queues(Vec<VecDeque<Packet>>);

impl MsduSource for Queues {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let queue = &mut self.0[node as usize * 4 + class as usize];
        let first = queue.iter().position(|packet| packet.to == Some(NodeId(to)))?;
        if queue[first].size > most { None } else { queue.remove(first) }
    }
}

pub(crate) fn run(workload: &Workload, in_space: bool) -> Account {
    let nodes = workload.links.len() + 1;
    let mut medium = Medium::of(workload, in_space);
    let mut queues = Queues(vec![VecDeque::new(); nodes * 4]);
    let mut account = Account { done: vec![Vec::new(); nodes], ..Account::default() };
    let mut agenda = EventQueue::new();
    for (number, arrival) in (0..).zip(&workload.packets) {
        agenda.at(arrival.at, Event::Arrival(number));
    }
    let mut out = Vec::new();
    while let Some((now, event)) = agenda.next() {
        let is_air = matches!((&event, &medium), (Event::Access(_), Medium::Space(_)));
        match (event, &mut medium) {
            (Event::AirStep, Medium::Cell(cell)) => cell.on_step(now, &mut queues, &mut out),
            (Event::AirStep, Medium::Space(space)) => space.on_step(now, &mut out),
            (Event::Access(ticket), Medium::Cell(cell)) => {
                cell.on_access(now, ticket, &mut queues, &mut out);
            }
            (Event::Access(ticket), Medium::Space(space)) => {
                space.on_access(now, ticket, &mut queues, &mut out);
            }
            (Event::Arrival(number), medium) => {
                let arrival = &workload.packets[number as usize];
                let class = CLASSES[arrival.class];
                queues.0[arrival.node as usize * 4 + arrival.class].push_back(Packet {
                    from: NodeId(arrival.node),
                    to: Some(NodeId(arrival.to)),
                    size: arrival.size,
                    born: now,
                    ecn: Ecn::default(),
                    class,
                    body: Body::Datagram(Datagram { flow: FlowId(0), number, len: 0 }),
                });
                serve(medium, &mut queues, now, (arrival.node, class), &mut out);
            }
        }
        if is_air || out.contains(&Command::Began) {
            medium.began(now, &mut account.air);
        }
        let mut i = 0;
        while let Some(&command) = out.get(i) {
            i += 1;
            match command {
                Command::Access(ticket) => {
                    agenda.at(ticket.at, Event::Access(ticket.generation));
                }
                Command::Step(at) => agenda.at(at, Event::AirStep),
                Command::Deliver { node, packet } => {
                    account.delivered.push((now, node, number_of(&packet)));
                }
                Command::Done { node, packet, outcome, received } => {
                    account.done[node as usize].push((number_of(&packet), outcome, received));
                    serve(&mut medium, &mut queues, now, (node, packet.class), &mut out);
                }
                Command::Began
                | Command::Ended
                | Command::ExchangeSent { .. }
                | Command::Mode { .. } => {}
            }
        }
        out.clear();
    }
    for node in 0..nodes as u32 {
        let (counters, windows) = medium.result(node);
        account.counters.push(counters);
        account.windows.extend(windows);
    }
    account
}

fn serve(
    medium: &mut Medium,
    queues: &mut Queues,
    now: Instant,
    (node, class): (u32, TrafficClass),
    out: &mut Vec<Command>,
) {
    if !medium.is_free_for(node, class) {
        return;
    }
    let Some(packet) = queues.0[node as usize * 4 + class as usize].pop_front() else { return };
    let to = packet.to.map(|to| to.0);
    match medium {
        Medium::Cell(cell) => cell.on_packet(now, node, packet, to, out),
        Medium::Space(space) => space.on_packet(now, node, packet, to, out),
    }
}

fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("there are datagrams only") };
    datagram.number
}

pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    let standard = prop::sample::select(vec![&DOT11N, &DOT11AC]);
    let noise = prop_oneof![Just(0.0), 0.0..0.5];
    let links = (0u8..8, 1usize..6, noise.clone(), noise);
    let packets = (1u32..6).prop_flat_map(|stations| {
        prop::collection::vec(arrival(stations), 1..250).prop_map(in_time)
    });
    (standard, links, configs(), packets, any::<u64>()).prop_map(
        |(standard, (mcs, stations, data_loss, ack_loss), draft, mut packets, root)| {
            let vector = standard.tx_vector().expect("HT and VHT have MCS");
            let mode = TxVector { mcs, guard: Guard::Ns400, ..vector }.mode().expect("a mode");
            let link = Link { mode, data_loss, ack_loss };
            for packet in &mut packets {
                let station = (packet.node.max(packet.to) - 1) % stations as u32 + 1;
                (packet.node, packet.to) =
                    if packet.node == 0 { (0, station) } else { (station, 0) };
            }
            let config = draft.config(standard);
            // Between two exchanges of a TXOP a cell is busy, where nodes in space sense nothing.
            // Packets that come just then would find the one so and the other otherwise.
            let edca = config.edca.expect("there is EDCA");
            if edca.stations.iter().any(|category| category.txop_limit > Duration::ZERO) {
                for packet in &mut packets {
                    packet.at = Instant(1);
                }
            }
            let seed = Seed { root, replication: 0 };
            Workload { config, links: vec![link; stations], seed, packets }
        },
    )
}

#[derive(Clone, Debug)]
struct Draft {
    free: bool,
    edition: Edition,
    quick: bool,
    bursts: bool,
    limits: (u32, u32),
    threshold: u64,
    frames: Option<u16>,
    amsdu: u64,
    retry_rule: RetryRule,
    missed: MissedBlockAck,
}

impl Draft {
    fn config(&self, standard: &'static Standard) -> MacConfig {
        let mut edca = Categories::of(standard, self.edition);
        if !self.bursts {
            for edca in edca.access_point.iter_mut().chain(&mut edca.stations) {
                edca.txop_limit = Duration::ZERO;
            }
        }
        if self.quick {
            use wifi::phy::AccessCategory;
            for (edca, category) in edca.access_point.iter_mut().zip(AccessCategory::ALL) {
                *edca = edca.of_access_point(category);
            }
        } else {
            edca.access_point = edca.stations;
        }
        let base = mac(standard);
        let mut config = MacConfig { edca: Some(edca), ..base };
        config.timing.eifs = Eifs::Standard;
        config.timing.slot_grid = if self.free { SlotGrid::Free } else { SlotGrid::Standard };
        (config.short_retry_limit, config.long_retry_limit) = self.limits;
        config.rts_threshold = Bytes(self.threshold);
        config.aggregation = self.frames.and_then(|frames| {
            let class = standard.high?;
            let limits = Aggregation::of(class)?;
            let (amsdu, retry_rule, missed) = (Bytes(self.amsdu), self.retry_rule, self.missed);
            Some(Aggregation { frames, amsdu, retry_rule, missed, ..limits })
        });
        config
    }
}

fn configs() -> impl Strategy<Value = Draft> {
    let edition = vec![Edition::Ieee2012, Edition::Ieee2016, Edition::Ns3];
    let retry_rule = prop::sample::select(vec![RetryRule::Lifetime, RetryRule::Counted]);
    let missed = prop::sample::select(vec![MissedBlockAck::Request, MissedBlockAck::Retransmit]);
    let frames = prop_oneof![Just(None), (1u16..70).prop_map(Some)];
    let threshold = prop::sample::select(vec![0u64, 1000, 10_000_000]);
    let amsdu = prop::sample::select(vec![0u64, 4000]);
    let flags = any::<(bool, bool, bool)>();
    let limits = (1u32..8, 1u32..5);
    let edition = prop::sample::select(edition);
    (flags, edition, limits, threshold, frames, amsdu, retry_rule, missed).prop_map(
        |((free, quick, bursts), edition, limits, threshold, frames, amsdu, retry_rule, missed)| {
            Draft {
                free,
                edition,
                quick,
                bursts,
                limits,
                threshold,
                frames,
                amsdu,
                retry_rule,
                missed,
            }
        },
    )
}

type Raw = (Duration, u32, u32, usize, u64);

fn arrival(stations: u32) -> impl Strategy<Value = Raw> {
    // No two at an instant at which something else happens: there the two mediums may look in
    // another order.
    let pause = prop_oneof![
        4 => Just(Duration::ZERO),
        4 => (0u64..100_000).prop_map(Duration::from_nanos),
        2 => (0u64..2_000_000).prop_map(Duration::from_nanos),
    ];
    let class = prop_oneof![3 => Just(1usize), 1 => 0usize..4];
    (pause, 0..=stations, 1..=stations, class, 20u64..1500)
}

fn in_time(raw: Vec<Raw>) -> Vec<Arrival> {
    let mut at = Instant(1);
    let arrival = |(pause, node, station, class, size): Raw| {
        at += pause;
        let to = if node == 0 { station } else { 0 };
        Arrival { at, node, to, class, size: Bytes(size) }
    };
    raw.into_iter().map(arrival).collect()
}

/// Whether two accounts are the same; the first difference on the air says most.
pub(crate) fn compare(names: [&str; 2], a: &Account, b: &Account) -> Result<(), TestCaseError> {
    let pairs = a.air.iter().zip(&b.air);
    if let Some(at) = pairs.clone().position(|(a, b)| a != b) {
        let line = |aired: &ExchangeSent| format!("{aired:?}\n");
        let story: String = a.air[at.saturating_sub(8)..at].iter().map(line).collect();
        let ([x, y], a, b) = (names, line(&a.air[at]), line(&b.air[at]));
        return Err(TestCaseError::fail(format!("{story}{x}: {a}{y}: {b}")));
    }
    if let Some(at) = a.delivered.iter().zip(&b.delivered).position(|(a, b)| a != b) {
        let ([x, y], a, b) = (names, &a.delivered[at], &b.delivered[at]);
        return Err(TestCaseError::fail(format!("delivery {at}, {x}: {a:?}, {y}: {b:?}")));
    }
    prop_assert_eq!(a, b);
    Ok(())
}
