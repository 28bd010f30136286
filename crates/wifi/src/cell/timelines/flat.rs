//! A script in a flat space, in which all nodes are at one place: the frames on the air,
//! deliveries, ends of service, windows and counters must be those of the cell.

use super::record::Record;
use super::stage::{AP, Event, LAST, Script, Shelves, data_of, number_of};
use crate::mac::MuUser;
use crate::phy::propagation::Position;
use crate::space::{OngoingFrame, RadioSettings, Site, Space, SpaceConfig, Users};
use crate::{Command, Counters, FrameCounters, MsduOutcome};
use kernel::{EventQueue, Instant, Seed};
use std::collections::VecDeque;
use wire::{FrameKind, Packet, TrafficClass};

/// What happened in a space.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Happened {
    /// Start and end in nanoseconds, transmitter, type.
    frames: Vec<(u64, u64, u32, String)>,
    delivered: Vec<(u64, u32, u64)>,
    done: Vec<(u32, u64, MsduOutcome)>,
    /// Beginnings of exchanges, with the node and its contention window.
    windows: Vec<(u64, u32, u32)>,
    counters: Vec<(Counters, FrameCounters)>,
}

impl Happened {
    /// In an order that does not depend on which of the media reports what first.
    fn sorted(mut self) -> Self {
        for (.., label) in &mut self.frames {
            // A Trigger frame that collides has no type in the cell.
            if matches!(&**label, "basic" | "bsrp" | "mu-rts") {
                "trigger".clone_into(label);
            }
        }
        self.frames.sort();
        self.delivered.sort_unstable();
        self.windows.sort_unstable();
        // A space discards a packet a timeout after its last frame.
        self.done.sort_by_key(|&(node, packet, _)| (node, packet));
        // When an outcome is known is no rule of the standard.
        self.counters.iter_mut().for_each(|(counters, _)| counters.outcomes = 0);
        self
    }

    /// Holds it against what happened in the cell.
    #[track_caller]
    pub(super) fn compare(self, cell: &Record) {
        let counters = cell.counters.iter().copied().zip(cell.frame_counters.iter().copied());
        let frame = |frame: &super::record::Frame| {
            (frame.start.0, frame.end.0, frame.node, frame.label.clone())
        };
        let cell = Self {
            frames: cell.frames.iter().map(frame).collect(),
            delivered: cell.delivered.clone(),
            done: cell.done.clone(),
            windows: cell.windows.clone(),
            counters: counters.collect(),
        };
        let (space, cell) = (self.sorted(), cell.sorted());
        first_difference(&space.frames, &cell.frames);
        first_difference(&space.delivered, &cell.delivered);
        first_difference(&space.done, &cell.done);
        first_difference(&space.windows, &cell.windows);
        first_difference(&space.counters, &cell.counters);
    }
}

/// Both lists are equal.
#[track_caller]
fn first_difference<T: PartialEq + std::fmt::Debug>(space: &[T], cell: &[T]) {
    let alike = space.iter().zip(cell).take_while(|(one, other)| one == other).count();
    let rest = |all: &[T]| format!("{:?}", &all[alike..all.len().min(alike + 3)]);
    assert!(space == cell, "in a space: {}, in the cell: {}", rest(space), rest(cell));
}

struct Stage<'a> {
    script: &'a Script,
    space: Space,
    events: EventQueue<Event>,
    queues: Vec<VecDeque<Packet>>,
    out: Vec<Command>,
    happened: Happened,
}

/// Simulates the script to its end.
pub(super) fn play(script: &Script) -> Happened {
    let seed = Seed { root: 1, replication: 0 };
    let settings = RadioSettings::flat();
    let nodes = script.links.len() as u32 + 1;
    let site = |node| Site {
        trajectory: Position::default().into(),
        channel: 1,
        tx_power: settings.tx_power,
        is_access_point: node == AP,
    };
    let config = SpaceConfig {
        mac: script.config.clone(),
        radio: settings.radio(&seed),
        nav_reset: settings.nav_reset,
        sites: (0..nodes).map(site).collect(),
        links: (1..).zip(&script.links).map(|(station, link)| (AP, station, *link)).collect(),
    };
    let mut stage = Stage {
        script,
        space: Space::with_backoffs(config, &seed, |edcaf| script.backoff(edcaf)),
        events: EventQueue::new(),
        queues: vec![VecDeque::new(); nodes as usize],
        out: Vec::new(),
        happened: Happened::default(),
    };
    for (i, (at, _, _)) in script.packets.iter().enumerate() {
        stage.events.at(*at, Event::Packet(i));
    }
    while let Some((now, event)) = stage.events.next() {
        if now > LAST && stage.space.triggers() {
            break;
        }
        stage.step(now, &event);
    }
    let Stage { space, mut happened, .. } = stage;
    let counters = |node| (*space.counters(node), *space.frame_counters(node));
    happened.counters = (0..nodes).map(counters).collect();
    happened
}

impl Stage<'_> {
    fn step(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::AirStep => self.space.on_step(now, &Shelves(&mut self.queues), &mut self.out),
            Event::Packet(i) => {
                let (_, node, packet) = self.script.packets[i];
                self.queues[node as usize].push_back(packet);
                self.serve(now, node, packet.class);
            }
            Event::Access(generation) => {
                let mut source = Shelves(&mut self.queues);
                self.space.on_access(now, generation, &mut source, &mut self.out);
                self.note_frames(now);
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
            Command::Deliver { node, from, packet } => {
                // What is in an HE TB PPDU is delivered at its announced end.
                let mut frames = self.happened.frames.iter();
                let end = frames.rfind(|frame| frame.2 == from).map_or(now.0, |frame| frame.1);
                self.happened.delivered.push((now.0.min(end), node, number_of(&packet)));
            }
            Command::Done { node, packet, outcome, .. } => {
                self.happened.done.push((node, number_of(&packet), outcome));
                self.serve(now, node, packet.class);
            }
            _ => {}
        }
    }

    fn serve(&mut self, now: Instant, node: u32, class: TrafficClass) {
        let queue = &mut self.queues[node as usize];
        let first = queue.iter().position(|packet| packet.class == class);
        if self.space.is_free_for(node, class)
            && let Some(packet) = first.and_then(|first| queue.remove(first))
        {
            let to = packet.to.map(|to| to.0);
            self.space.on_packet(now, node, &packet, to, &mut self.out);
        }
    }

    /// Records the frames that begin now, and the noise in the exchanges that they begin.
    fn note_frames(&mut self, now: Instant) {
        let began: Vec<OngoingFrame> =
            self.space.on_air().filter(|frame| frame.start == now).collect();
        for frame in began {
            let OngoingFrame { from, kind, edcaf, start, users, .. } = frame;
            let end = self.space.end_of(&frame);
            let is_answer = matches!(kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck)
                || users == Users::Chained
                || frame.users.is_unit()
                || users == Users::Several
                    && kind == FrameKind::Trigger
                    && self.space.triggered_by(from).is_none();
            let label = match kind {
                FrameKind::Rts => "rts".to_owned(),
                FrameKind::Cts | FrameKind::CtsToSelf => "cts".to_owned(),
                FrameKind::Trigger if users == Users::Opening => "mu-rts".to_owned(),
                FrameKind::Ack => "ack".to_owned(),
                FrameKind::BlockAckRequest => "bar".to_owned(),
                FrameKind::BlockAck if users == Users::Several => "multi ba".to_owned(),
                FrameKind::BlockAck => "ba".to_owned(),
                FrameKind::QosNull => "null".to_owned(),
                FrameKind::Data if users == Users::Several => {
                    let group = self.space.group_of(from).expect("a PPDU to several users");
                    let of = |user: &MuUser| self.space.originator(from, edcaf, Some(user.station));
                    data_of(group.users.iter().map(of))
                }
                FrameKind::Trigger if self.space.triggered_by(from).is_some() => {
                    let triggered = self.space.triggered_by(from).expect("it triggers");
                    format!("{:?}", triggered.kind).to_lowercase()
                }
                FrameKind::Data => data_of([self.space.originator(from, edcaf, None)]),
                kind => kind.name().to_lowercase(),
            };
            let sifs = self.script.config.timing.sifs();
            let mut before = self.happened.frames.iter();
            let follows = before.any(|(_, end, _, label)| {
                label == "cts" && Instant(*end) + sifs == start && kind != FrameKind::Rts
            });
            if !is_answer && !follows {
                self.note_access(now, &frame);
            }
            self.happened.frames.push((start.0, end.0, from, label));
        }
    }

    /// A node begins an exchange: noise is as it is now until the exchange ends.
    fn note_access(&mut self, now: Instant, frame: &OngoingFrame) {
        let OngoingFrame { from, edcaf, .. } = *frame;
        let class = match self.script.config.edca {
            Some(_) => TrafficClass::ALL[usize::from(edcaf)],
            None => TrafficClass::BestEffort,
        };
        let window = self.space.window_for(from, class);
        self.happened.windows.push((now.0, from, window));
        for noise in &self.script.noise {
            let (data, ack) = noise.losses(now);
            let before = self.space.losses([AP, noise.station]);
            let (data, ack) = (data.unwrap_or(before.0), ack.unwrap_or(before.1));
            self.space.set_losses([AP, noise.station], data, ack);
        }
    }
}
