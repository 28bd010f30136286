//! A simulated cell for timelines: its input is a script, its output a record. The script is played
//! in a flat space, too ([`flat`](super::flat)), where the same must happen.

mod several;

use super::flat;
use super::record::{Frame, Record};
use crate::mac::{
    ACK, Aggregation, Backoff, Exchange, ExchangeOutcome, Opening, Originator, Timing,
};
use crate::phy::{Amendment, Edition, Preamble, Standard, TxVector};
use crate::{ACCESS_POINT, Categories, Cell, Command, Link, MacConfig, MsduSource};
use kernel::{BitRate, Bytes, Duration, EventQueue, Instant, Ranked, Seed};
use std::collections::VecDeque;
use std::ops::Range;
use wire::{Body, Datagram, FlowId, FrameKind, NodeId, Packet, TrafficClass};

/// The nodes by their usual names.
pub(super) const AP: u32 = ACCESS_POINT;
pub(super) const STA1: u32 = 1;
pub(super) const STA2: u32 = 2;
pub(super) const STA3: u32 = 3;

/// When a script with triggers ends at the latest.
pub(super) const LAST: Instant = Instant(500_200_000);
/// Bytes that MAC and LLC add to each packet in these tests.
const OVERHEAD: u64 = 36;

/// Configuration, packets and losses of a simulated cell.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) config: MacConfig,
    pub(super) links: Vec<Link>,
    draws: Vec<VecDeque<u32>>,
    pub(super) packets: Vec<(Instant, u32, Packet)>,
    pub(super) noise: Vec<Noise>,
    /// Why a space does not do the same.
    in_cell_only: Option<&'static str>,
}

/// Noise destroys the data frame or the Ack of exchanges that begin within this time.
#[derive(Clone)]
pub(super) struct Noise {
    pub(super) station: u32,
    during: Range<Instant>,
    takes: FrameKind,
    chance: f64,
}

/// An instant in microseconds.
fn at(us: impl Into<f64>) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(us.into() * 1e-6)
}

impl Script {
    /// A cell of `stations` at the standard's fastest mode. DSSS preambles are short and all rates
    /// are basic, so that a timeline is short.
    pub(super) fn new(standard: &'static Standard, stations: usize) -> Self {
        let basic_rates: Vec<BitRate> = match standard.amendment {
            Amendment::B => standard.modes.iter().map(|mode| mode.rate).collect(),
            _ => standard.default_basic_rates().collect(),
        };
        let preamble = Preamble::Short;
        let timing = Timing { preamble, basic_rates, ..Timing::of(standard) };
        let config = MacConfig { timing, ..MacConfig::of(standard) };
        let link = Link { mode: standard.fastest(), data_loss: 0.0, ack_loss: 0.0 };
        Self {
            config,
            links: vec![link; stations],
            draws: vec![VecDeque::new(); stations + 1],
            packets: Vec::new(),
            noise: Vec::new(),
            in_cell_only: None,
        }
    }

    /// A space does something else, for this reason.
    pub(super) fn in_cell_only(self, why: &'static str) -> Self {
        Self { in_cell_only: Some(why), ..self }
    }

    /// A cell under EDCA, without TXOP limits, whose nodes send A-MPDUs in the fastest mode of the
    /// standard's HT, VHT or HE at 20 MHz with one stream.
    pub(super) fn high(standard: &'static Standard, stations: usize) -> Self {
        let mut script = Self::new(standard, stations);
        let vector: TxVector = standard.tx_vector().expect("a standard with MCS");
        let mode = vector.fastest().expect("MCS 0 exists");
        script.links.iter_mut().for_each(|link| link.mode = mode);
        script.config.edca = Some(Categories::of(standard, Edition::Ns3));
        script.config.aggregation = Aggregation::of(mode.class);
        // With QoS Control this is the overhead of all timelines.
        script.config.mac_header = Bytes(22);
        script.draws = vec![VecDeque::new(); 4 * (stations + 1)];
        script
    }

    /// The back-off draws of a node in slots, under EDCA those for best effort. All further draws
    /// are 0.
    pub(super) fn draws(self, node: u32, slots: impl IntoIterator<Item = u32>) -> Self {
        self.draws_for(node, TrafficClass::BestEffort, slots)
    }

    /// The back-off draws of a node for a class.
    pub(super) fn draws_for(
        mut self,
        node: u32,
        class: TrafficClass,
        slots: impl IntoIterator<Item = u32>,
    ) -> Self {
        let edcaf = if self.config.edca.is_some() { 4 * node + class as u32 } else { node };
        self.draws[edcaf as usize].extend(slots);
        self
    }

    /// Sets the class of the last packet.
    pub(super) fn class(mut self, class: TrafficClass) -> Self {
        if let Some((_, _, packet)) = self.packets.last_mut() {
            packet.class = class;
        }
        self
    }

    /// A packet arrives at a station, for the access point. Packets are numbered from 1 in the
    /// order of these calls. Their data frames have 92 bytes and last 163 µs at 11 Mb/s.
    pub(super) fn up(self, us: impl Into<f64>, station: u32) -> Self {
        self.packet(at(us), station, Some(AP))
    }

    /// A packet arrives at the access point, for a station.
    pub(super) fn down(self, us: impl Into<f64>, station: u32) -> Self {
        self.packet(at(us), AP, Some(station))
    }

    /// A packet arrives at the access point, as a broadcast.
    pub(super) fn broadcast(self, us: impl Into<f64>) -> Self {
        self.packet(at(us), AP, None)
    }

    fn packet(mut self, at: Instant, from: u32, to: Option<u32>) -> Self {
        let number = self.packets.len() as u64 + 1;
        let packet = Packet::new(
            NodeId(from),
            to.map(NodeId),
            Bytes(92 - OVERHEAD),
            at,
            Body::Datagram(Datagram { flow: FlowId(0), number, len: 0, stream: 0 }),
        );
        self.packets.push((at, from, packet));
        self
    }

    /// Sets the bytes of the last packet's data frame.
    pub(super) fn of(mut self, psdu: u64) -> Self {
        if let Some((_, _, packet)) = self.packets.last_mut() {
            packet.size = Bytes(psdu - OVERHEAD);
        }
        self
    }

    /// Noise destroys the data frame of each exchange with `station` that begins in this time in
    /// µs.
    pub(super) fn data_noise(mut self, station: u32, during_us: Range<u64>) -> Self {
        self.noise.push(Noise::new(station, &during_us, FrameKind::Data));
        self
    }

    /// Noise destroys each MPDU of an A-MPDU with this probability.
    pub(super) fn some_noise(mut self, station: u32, during_us: Range<u64>, chance: f64) -> Self {
        self.noise.push(Noise { chance, ..Noise::new(station, &during_us, FrameKind::Data) });
        self
    }

    /// Noise destroys the Ack of each exchange with `station` that begins in this time in µs.
    pub(super) fn ack_noise(mut self, station: u32, during_us: Range<u64>) -> Self {
        self.noise.push(Noise::new(station, &during_us, FrameKind::Ack));
        self
    }

    /// Sets the rate in both directions between a station and the access point.
    pub(super) fn rate(mut self, station: u32, mbps: f64) -> Self {
        let mode = self.config.timing.standard.mode(BitRate::from_mbps(mbps));
        self.links[station as usize - 1].mode = mode.expect("a rate of the standard");
        self
    }

    /// Changes the configuration.
    pub(super) fn with(mut self, change: impl FnOnce(&mut MacConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// The back-offs of an EDCAF.
    pub(super) fn backoff(&self, edcaf: u32) -> Backoff {
        let draws = self.draws[edcaf as usize].iter().copied();
        Backoff::Listed(draws.chain(std::iter::repeat_n(0, 10_000)).collect())
    }

    /// Simulates the script to its end, for a timeline with this number of microseconds in a
    /// column.
    #[track_caller]
    pub(super) fn play(self, column_us: u64) -> Record {
        let in_space = self.in_cell_only.is_none().then(|| flat::play(&self));
        let record = self.play_in_cell(column_us);
        if let Some(in_space) = in_space {
            in_space.compare(&record);
        }
        record
    }

    fn play_in_cell(self, column_us: u64) -> Record {
        let seed = Seed { root: 1, replication: 0 };
        let cell = Cell::with_backoffs(self.config.clone(), self.links.clone(), &seed, |f| {
            self.backoff(f)
        });
        let nodes = self.links.len() + 1;
        let mut stage = Stage {
            cell,
            events: EventQueue::new(),
            queues: vec![VecDeque::new(); nodes],
            record: Record::new(nodes, column_us),
            out: Vec::new(),
            noise: self.noise,
        };
        for (i, (at, _, _)) in self.packets.iter().enumerate() {
            stage.events.at(*at, Event::Packet(i));
        }
        while let Some((now, event)) = stage.events.next() {
            // An access point that polls goes on for ever.
            if now > LAST && stage.cell.triggers.is_some() {
                break;
            }
            stage.watch_until(now);
            stage.step(now, &event, &self.packets);
        }
        let all = 0..nodes as u32;
        stage.record.counters = all.map(|node| *stage.cell.counters(node)).collect();
        let all = 0..nodes as u32;
        stage.record.frame_counters = all.map(|node| *stage.cell.frame_counters(node)).collect();
        stage.record
    }
}

impl Noise {
    /// The losses of data and of responses that it causes at an instant.
    pub(super) fn losses(&self, now: Instant) -> (Option<f64>, Option<f64>) {
        let loss = if self.during.contains(&now) { self.chance } else { 0.0 };
        match self.takes {
            FrameKind::Ack => (None, Some(loss)),
            _ => (Some(loss), None),
        }
    }

    fn new(station: u32, during_us: &Range<u64>, takes: FrameKind) -> Self {
        let moment = |us: u64| Instant(us * 1000);
        Self { station, during: moment(during_us.start)..moment(during_us.end), takes, chance: 1.0 }
    }
}

pub(super) enum Event {
    AirStep,
    Packet(usize),
    Access(u32),
}

impl Ranked for Event {
    fn rank(&self) -> u8 {
        match self {
            Self::AirStep => 0,
            Self::Packet(_) => 1,
            Self::Access(_) => 2,
        }
    }
}

/// The packets that wait at the nodes.
pub(super) struct Shelves<'a>(pub(super) &'a mut [VecDeque<Packet>]);

impl MsduSource for Shelves<'_> {
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet> {
        let queue = &mut self.0[node as usize];
        let is_wanted = |packet: &Packet| packet.class == class && packet.to == Some(NodeId(to));
        let first = queue.iter().position(is_wanted)?;
        if queue[first].size <= most { queue.remove(first) } else { None }
    }

    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)> {
        let queue = &mut self.0[node as usize];
        let is_other = |packet: &Packet| packet.to.is_some_and(|to| to != NodeId(than));
        let first = queue.iter().position(|packet| packet.class == class && is_other(packet))?;
        let packet = queue.remove(first)?;
        packet.to.map(|to| (packet, to.0))
    }

    fn each(&self, node: u32, class: TrafficClass, visit: &mut dyn FnMut(u32, &Packet)) {
        for packet in self.0[node as usize].iter().filter(|packet| packet.class == class) {
            if let Some(to) = packet.to {
                visit(to.0, packet);
            }
        }
    }
}

/// The loop of events around a cell.
struct Stage {
    cell: Cell,
    events: EventQueue<Event>,
    queues: Vec<VecDeque<Packet>>,
    noise: Vec<Noise>,
    record: Record,
    out: Vec<Command>,
}

impl Stage {
    fn step(&mut self, now: Instant, event: &Event, packets: &[(Instant, u32, Packet)]) {
        match *event {
            Event::AirStep => {
                self.cell.on_step(now, &mut Shelves(&mut self.queues), &mut self.out);
            }
            Event::Packet(i) => {
                let (_, node, packet) = packets[i];
                self.record.mark(now, node, '+');
                self.queues[node as usize].push_back(packet);
                self.serve(now, node, packet.class);
            }
            Event::Access(generation) => {
                for noise in &self.noise {
                    let link = &mut self.cell.links[noise.station as usize - 1];
                    let (data, ack) = noise.losses(now);
                    link.data_loss = data.unwrap_or(link.data_loss);
                    link.ack_loss = ack.unwrap_or(link.ack_loss);
                }
                let mut source = Shelves(&mut self.queues);
                self.cell.on_access(now, generation, &mut source, &mut self.out);
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
                self.events.at(ticket.at, Event::Access(ticket.generation));
            }
            Command::Step(at) => self.events.at(at, Event::AirStep),
            Command::Began => self.note_frames(),
            Command::Ended
            | Command::ExchangeSent { .. }
            | Command::Overheard { .. }
            | Command::Mode { .. } => {}
            Command::Deliver { node, packet, .. } => {
                self.record.mark(now, node, '*');
                self.record.delivered.push((now.0, node, number_of(&packet)));
            }
            Command::Done { node, packet, outcome, .. } => {
                self.record.done.push((node, number_of(&packet), outcome));
                self.serve(now, node, packet.class);
            }
        }
    }

    fn serve(&mut self, now: Instant, node: u32, class: TrafficClass) {
        let queue = &mut self.queues[node as usize];
        let first = queue.iter().position(|packet| packet.class == class);
        if self.cell.is_free_for(node, class)
            && let Some(packet) = first.and_then(|first| queue.remove(first))
        {
            let to = packet.to.map(|to| to.0);
            self.cell.on_packet(now, node, &packet, to, &mut self.out);
        }
    }

    fn note_frames(&mut self) {
        let Some(exchange) = self.cell.exchange() else { return };
        if let Some(group) = self.cell.group().cloned() {
            let exchange = *exchange;
            return self.note_group(&exchange, &group);
        }
        if let Some(triggered) = self.cell.triggered().cloned() {
            let exchange = *exchange;
            return self.note_triggered(&exchange, &triggered);
        }
        let numbers = |f: u32| {
            let several = several::collided_data(&self.cell, f);
            several.unwrap_or_else(|| data_of([&self.cell.edcaf(f).originator]))
        };
        let mut frames = Vec::new();
        let mut add = |function, node, kind, (start, end), fill| {
            let label = match kind {
                FrameKind::Rts => "rts".to_owned(),
                FrameKind::Cts | FrameKind::CtsToSelf => "cts".to_owned(),
                FrameKind::Ack => "ack".to_owned(),
                FrameKind::BlockAckRequest => "bar".to_owned(),
                FrameKind::BlockAck => "ba".to_owned(),
                FrameKind::Data => numbers(function),
                kind => kind.name().to_lowercase(),
            };
            frames.push(Frame { function, node, label, start, end, fill });
        };
        for &(f, end) in
            self.cell.colliders.iter().filter(|_| exchange.outcome == ExchangeOutcome::Collision)
        {
            let edcaf = self.cell.edcaf(f);
            let (timing, node) = (self.cell.rules.timing(), self.cell.node_of(f));
            let mut start = exchange.start;
            if edcaf.opening == Opening::CtsToSelf {
                let over = start + timing.airtime(&edcaf.first_mode(timing), ACK).total();
                add(f, node, FrameKind::CtsToSelf, (start, over), 'x');
                start = over + timing.sifs();
            }
            let kind = match () {
                () if edcaf.with_rts() => FrameKind::Rts,
                () if several::triggers(&self.cell, f) => FrameKind::Trigger,
                () if several::collided_data(&self.cell, f).is_some() => FrameKind::Data,
                () if edcaf.psdu.mpdus == 0 => FrameKind::BlockAckRequest,
                () => FrameKind::Data,
            };
            add(f, node, kind, (start, end), 'x');
        }
        for step in exchange.steps() {
            let sender = self.cell.sender;
            let answers =
                matches!(step.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck);
            let receiver = self.cell.edcaf(sender).to();
            let node = receiver.filter(|_| answers).unwrap_or(exchange.sender);
            let fill = match step.kind {
                _ if is_spoiled(exchange, step.kind) => '~',
                FrameKind::Data if (0..exchange.mpdus).any(|i| self.cell.is_lost(i)) => '-',
                _ => '=',
            };
            add(sender, node, step.kind, (step.start, step.end()), fill);
        }
        for frame in &frames {
            if frame.start == exchange.start {
                let window = self.cell.edcaf(frame.function).window();
                self.record.windows.push((frame.start.0, frame.node, window));
            }
        }
        self.record.frames.append(&mut frames);
    }

    /// Records what the nodes wait for in the columns that begin before `until`.
    fn watch_until(&mut self, until: Instant) {
        loop {
            let column = self.record.waits.len() as u64;
            let begins = Instant::ZERO + self.record.column * column;
            if begins >= until {
                break;
            }
            let nodes = 0..self.queues.len() as u32;
            let watch = |f| self.cell.contention.watch(begins, f);
            // The EDCAF of highest priority that waits.
            let waits = |node| self.cell.edcafs_of(node).rev().find_map(watch);
            let waits = nodes.map(waits).collect();
            self.record.waits.push(waits);
        }
    }
}

/// The packets of the PSDUs on the air. What is for each user of several is told apart by a bar.
pub(super) fn data_of<'a>(users: impl IntoIterator<Item = &'a Originator>) -> String {
    let numbers = |user: &Originator| {
        let packets = user.on_air().flat_map(|(_, mpdu)| user.packets_of(mpdu));
        packets.map(|packet| number_of(packet).to_string()).collect::<Vec<_>>().join(" ")
    };
    format!("data {}", users.into_iter().map(numbers).collect::<Vec<_>>().join(" | "))
}

fn is_spoiled(exchange: &Exchange, kind: FrameKind) -> bool {
    matches!(
        (exchange.outcome, kind),
        (ExchangeOutcome::DataLost, FrameKind::Data | FrameKind::BlockAckRequest)
            | (ExchangeOutcome::AckLost, FrameKind::Ack | FrameKind::BlockAck)
    )
}

pub(super) fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("scripts send datagrams only") };
    datagram.number
}
