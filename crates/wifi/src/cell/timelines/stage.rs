//! A cell on a stage: a script goes in, a record comes out, and the record draws itself.

use crate::cell::{ACCESS_POINT, Cell, CellConfig, Command, Counters, Link, Outcome};
use crate::mac::{
    Backoff, BackoffDraw, Countdown, Durations, Eifs, Exchange, Fate, SlotGrid, StepKind, Timing,
    Wait,
};
use crate::phy::{Preamble, Standard};
use kernel::{Agenda, BitRate, Bytes, Duration, Instant, Ranked, Seed};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::Range;
use wire::{Body, Datagram, Ecn, FlowId, NodeId, Packet, TrafficClass};

/// The nodes by their usual names.
pub(super) const AP: u32 = ACCESS_POINT;
pub(super) const STA1: u32 = 1;
pub(super) const STA2: u32 = 2;
pub(super) const STA3: u32 = 3;

/// Bytes that MAC and LLC add to each packet here.
const OVERHEAD: u64 = 36;

/// What a cell has to go through.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) config: CellConfig,
    links: Vec<Link>,
    draws: Vec<VecDeque<u32>>,
    packets: Vec<(Instant, u32, Packet)>,
    noise: Vec<Noise>,
}

/// In exchanges that begin within the span, noise takes the data frame or the ACK.
#[derive(Clone)]
struct Noise {
    station: u32,
    during: Range<Instant>,
    takes: StepKind,
}

/// A moment given in microseconds.
fn at(us: impl Into<f64>) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(us.into() * 1e-6)
}

impl Script {
    /// A cell of `stations` at the standard's fastest mode. DSSS preambles are short and all rates
    /// are basic, so that much fits into a picture.
    pub(super) fn new(standard: &'static Standard, stations: usize) -> Self {
        let rates: Vec<BitRate> = match standard.name {
            "11b" => standard.modes.iter().map(|mode| mode.rate).collect(),
            _ => standard.default_basic_rates().collect(),
        };
        let timing = Timing {
            standard,
            preamble: Preamble::Short,
            basic_rates: rates,
            slot: standard.slot,
            eifs: Eifs::Standard,
            slot_grid: SlotGrid::Standard,
            durations: Durations::Standard,
        };
        let config = CellConfig {
            timing,
            short_retry_limit: 7,
            long_retry_limit: 4,
            cw_min: standard.cw_min,
            cw_max: standard.cw_max,
            countdown: Countdown::Standard,
            backoff_draw: BackoffDraw::Standard,
            rts_threshold: Bytes(2347),
            overhead: Bytes(OVERHEAD),
        };
        let link = Link { mode: standard.fastest(), data_loss: 0.0, ack_loss: 0.0 };
        Self {
            config,
            links: vec![link; stations],
            draws: vec![VecDeque::new(); stations + 1],
            packets: Vec::new(),
            noise: Vec::new(),
        }
    }

    /// The back-offs that a node draws, in slots; all that follow are 0.
    pub(super) fn draws(mut self, node: u32, slots: impl IntoIterator<Item = u32>) -> Self {
        self.draws[node as usize].extend(slots);
        self
    }

    /// A packet comes to a station, for the access point. Packets are numbered from 1 in the order
    /// of these calls; their data frames have 92 bytes, at 11 Mb/s 163 µs.
    pub(super) fn up(self, us: impl Into<f64>, station: u32) -> Self {
        self.packet(at(us), station, Some(AP))
    }

    /// A packet comes to the access point, for a station.
    pub(super) fn down(self, us: impl Into<f64>, station: u32) -> Self {
        self.packet(at(us), AP, Some(station))
    }

    /// A packet comes to the access point, for all.
    pub(super) fn broadcast(self, us: impl Into<f64>) -> Self {
        self.packet(at(us), AP, None)
    }

    fn packet(mut self, at: Instant, from: u32, to: Option<u32>) -> Self {
        let number = self.packets.len() as u64 + 1;
        let packet = Packet {
            from: NodeId(from),
            to: to.map(NodeId),
            size: Bytes(92 - OVERHEAD),
            born: at,
            ecn: Ecn::default(),
            class: TrafficClass::default(),
            body: Body::Datagram(Datagram { flow: FlowId(0), number, len: 0 }),
        };
        self.packets.push((at, from, packet));
        self
    }

    /// The data frame of the last packet has so many bytes.
    pub(super) fn of(mut self, psdu: u64) -> Self {
        if let Some((_, _, packet)) = self.packets.last_mut() {
            packet.size = Bytes(psdu - OVERHEAD);
        }
        self
    }

    /// Noise takes the data frame of each exchange with `station` that begins in this span of µs.
    pub(super) fn data_noise(mut self, station: u32, during_us: Range<u64>) -> Self {
        self.noise.push(Noise::new(station, &during_us, StepKind::Data));
        self
    }

    /// Likewise the ACK.
    pub(super) fn ack_noise(mut self, station: u32, during_us: Range<u64>) -> Self {
        self.noise.push(Noise::new(station, &during_us, StepKind::Ack));
        self
    }

    /// A station and the access point send to each other at this rate.
    pub(super) fn rate(mut self, station: u32, mbps: f64) -> Self {
        let mode = self.config.timing.standard.mode(BitRate::from_mbps(mbps));
        self.links[station as usize - 1].mode = mode.expect("a rate of the standard");
        self
    }

    /// Changes the cell before the play.
    pub(super) fn with(mut self, change: impl FnOnce(&mut CellConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Plays the script to its end, for a picture with a column for so many microseconds.
    pub(super) fn play(self, column_us: u64) -> Record {
        let draws = self.draws.clone();
        let backoffs = |node: u32| {
            let zeros = std::iter::repeat_n(0, 10_000);
            Backoff::Listed(draws[node as usize].iter().copied().chain(zeros).collect())
        };
        let seed = Seed { root: 1, replication: 0 };
        let cell = Cell::with_backoffs(self.config.clone(), self.links.clone(), &seed, backoffs);
        let nodes = self.links.len() + 1;
        let mut stage = Stage {
            cell,
            agenda: Agenda::new(),
            queues: vec![VecDeque::new(); nodes],
            record: Record::new(nodes, column_us),
            out: Vec::new(),
            noise: self.noise,
        };
        for (i, (at, _, _)) in self.packets.iter().enumerate() {
            stage.agenda.at(*at, Event::Packet(i));
        }
        while let Some((now, event)) = stage.agenda.next() {
            stage.watch_until(now);
            stage.step(now, &event, &self.packets);
        }
        let all = 0..nodes as u32;
        stage.record.counters = all.map(|node| *stage.cell.counters(node)).collect();
        stage.record
    }
}

impl Noise {
    fn new(station: u32, during_us: &Range<u64>, takes: StepKind) -> Self {
        let moment = |us: u64| Instant(us * 1000);
        Self { station, during: moment(during_us.start)..moment(during_us.end), takes }
    }
}

enum Event {
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

/// Runs the cell as the world does.
struct Stage {
    cell: Cell,
    agenda: Agenda<Event>,
    queues: Vec<VecDeque<Packet>>,
    noise: Vec<Noise>,
    record: Record,
    out: Vec<Command>,
}

impl Stage {
    fn step(&mut self, now: Instant, event: &Event, packets: &[(Instant, u32, Packet)]) {
        match *event {
            Event::AirStep => self.cell.on_step(now, &mut self.out),
            Event::Packet(i) => {
                let (_, node, packet) = packets[i];
                self.record.mark(now, node, '+');
                self.queues[node as usize].push_back(packet);
                self.serve(now, node);
            }
            Event::Access(generation) => {
                for noise in &self.noise {
                    let loss = if noise.during.contains(&now) { 1.0 } else { 0.0 };
                    let link = &mut self.cell.links[noise.station as usize - 1];
                    match noise.takes {
                        StepKind::Ack => link.ack_loss = loss,
                        _ => link.data_loss = loss,
                    }
                }
                self.cell.on_access(now, generation, &mut self.out);
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
            Command::Began => self.note_frames(),
            Command::Ended => {}
            Command::Deliver { node, packet } => {
                self.record.mark(now, node, '*');
                self.record.delivered.push((now.0, node, number_of(&packet)));
            }
            Command::Done { node, packet, outcome, .. } => {
                self.record.done.push((node, number_of(&packet), outcome));
                self.serve(now, node);
            }
        }
    }

    fn serve(&mut self, now: Instant, node: u32) {
        if self.cell.is_free(node)
            && let Some(packet) = self.queues[node as usize].pop_front()
        {
            let to = packet.to.map(|to| to.0);
            self.cell.on_packet(now, node, packet, to, &mut self.out);
        }
    }

    fn note_frames(&mut self) {
        let Some(exchange) = self.cell.exchange() else { return };
        let number = |node| number_of(&self.cell.frame(node).packet);
        let mut frames = Vec::new();
        let mut add = |node, kind, (start, end), fill| {
            let label = match kind {
                StepKind::Rts => "rts".to_owned(),
                StepKind::Cts => "cts".to_owned(),
                StepKind::Ack => "ack".to_owned(),
                StepKind::Data => format!("data {}", number(node)),
            };
            frames.push(Frame { node, label, start, end, fill });
        };
        for &(node, end) in self.cell.colliders.iter().filter(|_| exchange.fate == Fate::Collision)
        {
            let rts = self.cell.frame(node).with_rts;
            let kind = if rts { StepKind::Rts } else { StepKind::Data };
            add(node, kind, (exchange.start, end), 'x');
        }
        for step in exchange.steps() {
            let answers = matches!(step.kind, StepKind::Cts | StepKind::Ack);
            let receiver = self.cell.frame(exchange.sender).to;
            let node = receiver.filter(|_| answers).unwrap_or(exchange.sender);
            let fill = if is_spoiled(exchange, step.kind) { '~' } else { '=' };
            add(node, step.kind, (step.start, step.end()), fill);
        }
        for frame in &frames {
            if frame.label != "cts" && frame.label != "ack" && frame.start == exchange.start {
                let window = self.cell.window(frame.node);
                self.record.windows.push((frame.start.0, frame.node, window));
            }
        }
        self.record.frames.append(&mut frames);
    }

    /// Notes what the nodes wait for in the columns that begin before `until`.
    fn watch_until(&mut self, until: Instant) {
        loop {
            let column = self.record.waits.len() as u64;
            let begins = Instant::ZERO + self.record.column * column;
            if begins >= until {
                break;
            }
            let nodes = 0..self.queues.len() as u32;
            let waits = nodes.map(|node| self.cell.contention.watch(begins, node)).collect();
            self.record.waits.push(waits);
        }
    }
}

fn is_spoiled(exchange: &Exchange, kind: StepKind) -> bool {
    matches!(
        (exchange.fate, kind),
        (Fate::DataLost, StepKind::Data) | (Fate::AckLost, StepKind::Ack)
    )
}

fn number_of(packet: &Packet) -> u64 {
    let Body::Datagram(datagram) = packet.body else { panic!("scripts send datagrams only") };
    datagram.number
}

/// What happened on the stage.
pub(super) struct Record {
    column: Duration,
    frames: Vec<Frame>,
    marks: Vec<(Instant, u32, char)>,
    /// Per column what each node waits for at its beginning.
    waits: Vec<Vec<Option<Wait>>>,
    nodes: usize,
    /// When, in nanoseconds, which node got which packet.
    pub(super) delivered: Vec<(u64, u32, u64)>,
    /// How the service of packets ended.
    pub(super) done: Vec<(u32, u64, Outcome)>,
    /// When, in nanoseconds, who began an exchange, and the contention window at that moment.
    windows: Vec<(u64, u32, u32)>,
    pub(super) counters: Vec<Counters>,
}

struct Frame {
    node: u32,
    label: String,
    start: Instant,
    end: Instant,
    fill: char,
}

impl Frame {
    /// Its box, so many characters wide.
    fn drawn(&self, width: usize) -> String {
        let inner = width.saturating_sub(2);
        // Where it is tight, the number alone leaves room to tell what happens to the frame.
        let tight = inner < self.label.len() + 2;
        let label = self.label.strip_prefix("data ").filter(|_| tight).unwrap_or(&self.label);
        let label = &label[..inner.min(label.len())];
        let fill = String::from(self.fill).repeat(inner - label.len());
        format!("[{label}{fill}]")[..width].to_owned()
    }
}

impl Record {
    fn new(nodes: usize, column_us: u64) -> Self {
        Self {
            column: Duration::from_micros(column_us),
            nodes,
            frames: Vec::new(),
            marks: Vec::new(),
            waits: Vec::new(),
            delivered: Vec::new(),
            done: Vec::new(),
            windows: Vec::new(),
            counters: Vec::new(),
        }
    }

    fn mark(&mut self, now: Instant, node: u32, mark: char) {
        self.marks.push((now, node, mark));
    }

    /// Checks the frames (begin and end in nanoseconds, sender, kind), and the picture as a test
    /// shows it in its text, whatever its indentation there.
    #[track_caller]
    pub(super) fn shows(&self, frames: &[(u64, u64, u32, &str)], picture: &str) {
        let seen: Vec<_> =
            self.frames.iter().map(|f| (f.start.0, f.end.0, f.node, &*f.label)).collect();
        let drawn = self.picture();
        assert!(seen == frames, "on the air were:\n{seen:?}\n{drawn}");
        let lines = picture.lines().map(str::trim_start).filter(|line| !line.is_empty());
        assert!(lines.eq(drawn.lines()), "the air was:\n{drawn}");
    }

    /// The contention windows out of which a node came to send.
    pub(super) fn windows(&self, node: u32) -> Vec<u32> {
        self.windows.iter().filter(|access| access.1 == node).map(|access| access.2).collect()
    }

    /// When the last exchange began.
    pub(super) fn last_access_ns(&self) -> u64 {
        self.windows.last().map_or(0, |&(at, ..)| at)
    }

    /// The picture from the start to the end of the last frame.
    pub(super) fn picture(&self) -> String {
        let last = self.frames.iter().map(|frame| frame.end).max().unwrap_or(Instant::ZERO);
        let width = self.nearest(last) + 1;
        let mut picture = self.scale(width);
        for node in 0..self.nodes as u32 {
            let name = if node == AP { "ap".to_owned() } else { format!("sta{node}") };
            let lane: String = self.lane(node, width).into_iter().collect();
            picture += format!("{name:<5} {lane}").trim_end();
            picture.push('\n');
        }
        picture
    }

    /// Microseconds, each tenth column.
    fn scale(&self, width: usize) -> String {
        let mut scale = "µs    ".to_owned();
        for column in (0..width).step_by(10) {
            let us = self.column.0 / 1000 * column as u64;
            let _ = write!(scale, "{us:<10}");
        }
        scale.trim_end().to_owned() + "\n"
    }

    fn lane(&self, node: u32, width: usize) -> Vec<char> {
        let wait = |column: &Vec<Option<Wait>>| match column[node as usize] {
            None => ' ',
            Some(Wait::Reserved) => 'n',
            Some(Wait::Space) => '.',
            Some(Wait::Slots(slots)) => char::from_digit(slots as u32, 36).unwrap_or('#'),
        };
        let mut lane: Vec<char> = self.waits.iter().map(wait).collect();
        lane.resize(width, ' ');
        let mut free = vec![true; width];
        for frame in self.frames.iter().filter(|frame| frame.node == node) {
            let (start, end) = (self.nearest(frame.start), self.nearest(frame.end));
            free[start + 1..end].fill(false);
            lane.splice(start..end, frame.drawn(end - start).chars());
        }
        for &(at, _, mark) in self.marks.iter().filter(|mark| mark.1 == node) {
            let column = (at.0 / self.column.0) as usize;
            if free.get(column) == Some(&true) {
                lane[column] = mark;
            }
        }
        lane
    }

    fn nearest(&self, at: Instant) -> usize {
        ((at.0 + self.column.0 / 2) / self.column.0) as usize
    }
}
