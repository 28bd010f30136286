//! A sender and a receiver connected by a pipe that loses, delays, duplicates and reorders
//! segments. An observer knows which data must be delivered.
#![allow(dead_code, reason = "each test binary uses a part")]

use kernel::{Bytes, Duration, EventQueue, Instant, Ranked, Rng, Seed};
use std::collections::{BTreeMap, BTreeSet};
use tcp::{Command, Config, Control, Receiver, Sender, TimerId};
use wire::{Flags, FlowId, Segment};

pub(crate) const FLOW: FlowId = FlowId(7);

/// One direction of the pipe.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) delay: Duration,
    /// Time between departures; segments that wait for it wait in a queue without limit.
    pub(crate) spacing: Duration,
    /// The maximum of a random additional delay: beyond `spacing`, a segment may be overtaken.
    pub(crate) jitter: Duration,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// Segments to drop by their number in this direction, counted from 0.
    pub(crate) drops: Vec<u64>,
}

impl Path {
    pub(crate) fn clean(delay: Duration) -> Self {
        let none = Duration::ZERO;
        Self { delay, spacing: none, jitter: none, loss: 0.0, duplication: 0.0, drops: vec![] }
    }
}

/// The actions of the application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Open,
    Write(u64),
    Cork(bool),
    Close,
    Abort,
    /// The same at the receiver.
    CloseReceiver,
    AbortReceiver,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Act(Act),
    Arrive(Segment),
    Read(Bytes),
    Timer { at_sender: bool, timer: TimerId, generation: u32 },
}

impl Ranked for Event {
    fn rank(&self) -> u8 {
        0
    }
}

struct Lane {
    path: Path,
    free: Instant,
    sent: u64,
    rng: Rng,
}

/// The observations of a run.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) connected: Option<Instant>,
    pub(crate) acknowledged: Option<Instant>,
    pub(crate) sender_closed: Option<Instant>,
    pub(crate) receiver_closed: Option<Instant>,
    pub(crate) delivered: u64,
    pub(crate) events: u64,
    pub(crate) timer_events: u64,
    /// Every segment passed to the pipe, with its time.
    pub(crate) trace: Vec<(Instant, Segment)>,
    /// Samples of the round-trip time.
    pub(crate) rtts: Vec<Duration>,
}

pub(crate) struct Pipe {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    lanes: [Lane; 2],
    event_queue: EventQueue<Event>,
    timers: [[(u32, bool); TimerId::ALL.len()]; 2],
    out: Vec<Command>,
    /// The bytes that have arrived at the receiver, by their number from 0.
    arrived: Vec<bool>,
    /// The units of coded blocks that have arrived, by the block's first byte.
    blocks: BTreeMap<u64, BTreeSet<u8>>,
    /// The number of bytes that have arrived without a gap.
    prefix: usize,
    pub(crate) outcome: Outcome,
    mss: u64,
    longest: Duration,
    reads: bool,
    /// The maximum time for which the application waits before it reads.
    pub(crate) laziness: Duration,
}

impl Pipe {
    pub(crate) fn new(
        config: &Config,
        control: Box<dyn Control>,
        forward: Path,
        back: Path,
    ) -> Self {
        Self::seeded(config, control, forward, back, 1)
    }

    pub(crate) fn seeded(
        config: &Config,
        control: Box<dyn Control>,
        forward: Path,
        back: Path,
        root: u64,
    ) -> Self {
        let seed = Seed { root, replication: 0 };
        let lane = |path, index| Lane {
            path,
            free: Instant::ZERO,
            sent: 0,
            rng: seed.stream("pipe", index),
        };
        Self {
            sender: Sender::new(FLOW, 3, config, control),
            receiver: Receiver::new(FLOW, 3, config),
            lanes: [lane(forward, 0), lane(back, 1)],
            event_queue: EventQueue::new(),
            timers: [[(0, false); TimerId::ALL.len()]; 2],
            out: Vec::new(),
            arrived: Vec::new(),
            blocks: BTreeMap::new(),
            prefix: 0,
            outcome: Outcome::default(),
            mss: config.mss().0,
            longest: config.rto_max,
            reads: config.reads,
            laziness: Duration::from_millis(500),
        }
    }

    pub(crate) fn act(&mut self, at: Duration, act: Act) {
        self.event_queue.at(Instant::ZERO + at, Event::Act(act));
    }

    /// Runs until no event is left, or until `end`.
    pub(crate) fn run(&mut self, end: Duration) -> &Outcome {
        while let Some((now, event)) = self.event_queue.next() {
            if now > Instant::ZERO + end {
                break;
            }
            self.outcome.events += 1;
            let at_sender = self.dispatch(now, event);
            self.obey(now, at_sender);
            self.check();
        }
        &self.outcome
    }

    /// Passes the event to its end of the connection; returns whether that is the sender.
    fn dispatch(&mut self, now: Instant, event: Event) -> bool {
        let out = &mut self.out;
        match event {
            Event::Act(Act::Open) => self.sender.on_open(now, out),
            Event::Act(Act::Write(amount)) => self.sender.on_data(now, Bytes(amount), out),
            Event::Act(Act::Cork(corked)) => self.sender.on_cork(now, corked, out),
            Event::Act(Act::Close) => self.sender.on_close(now, out),
            Event::Act(Act::Abort) => self.sender.on_abort(now, out),
            Event::Act(Act::CloseReceiver) => {
                self.receiver.on_close(now, out);
                return false;
            }
            Event::Act(Act::AbortReceiver) => {
                self.receiver.on_abort(out);
                return false;
            }
            Event::Read(amount) => {
                self.receiver.on_read(now, amount, out);
                return false;
            }
            Event::Arrive(segment) if segment.forward => {
                // A segment that reaches the receiver before the SYN, or after the connection, is
                // not accepted.
                let state = self.receiver.state_name(now);
                if self.receiver.counters().acks_sent > 0 && state != "closed" {
                    self.note(&segment);
                }
                self.receiver.on_segment(now, &segment, &mut self.out);
                return false;
            }
            Event::Arrive(segment) => self.sender.on_segment(now, &segment, out),
            Event::Timer { at_sender, timer, generation } => {
                let slot = &mut self.timers[usize::from(at_sender)][timer as usize];
                if *slot == (generation, true) {
                    slot.1 = false;
                    self.outcome.timer_events += 1;
                    if at_sender {
                        self.sender.on_timer(now, timer, out);
                    } else {
                        self.receiver.on_timer(now, timer, out);
                    }
                }
                return at_sender;
            }
        }
        true
    }

    /// The bytes that the receiver has by this segment, or by the block that it completes.
    fn note(&mut self, segment: &Segment) {
        let mut fill = |seq: u64, len: u64| {
            let first = seq.saturating_sub(1) as usize;
            let last = first + len as usize;
            self.arrived.resize(self.arrived.len().max(last), false);
            self.arrived[first..last].fill(true);
        };
        let parity = segment.coded.is_some_and(|coded| coded.index >= coded.data.get());
        if !parity {
            fill(segment.seq, u64::from(segment.len));
        }
        if let Some(coded) = segment.coded.filter(|_| segment.len > 0) {
            let size = u64::from(coded.span).div_ceil(u64::from(coded.data.get()));
            let before = if parity { 0 } else { u64::from(coded.index) * size };
            let units = self.blocks.entry(segment.seq - before).or_default();
            units.insert(coded.index);
            if units.len() >= usize::from(coded.data.get()) {
                fill(segment.seq - before, u64::from(coded.span));
            }
        }
    }

    fn obey(&mut self, now: Instant, at_sender: bool) {
        for command in std::mem::take(&mut self.out) {
            match command {
                Command::Send(segment) => self.send(now, segment, at_sender),
                Command::Deliver(amount) => {
                    assert!(!at_sender && amount.0 > 0);
                    self.outcome.delivered += amount.0;
                    if self.reads {
                        let wait = self.laziness.0 as f64 * self.lanes[0].rng.uniform();
                        self.event_queue.at(now + Duration(wait as u64), Event::Read(amount));
                    }
                }
                Command::Set(timer, at) => {
                    assert!(at > now, "a timer for now or the past is a storm");
                    assert!(at <= now + self.longest, "a stall longer than the greatest timeout");
                    let slot = &mut self.timers[usize::from(at_sender)][timer as usize];
                    *slot = (slot.0 + 1, true);
                    let generation = slot.0;
                    self.event_queue.at(at, Event::Timer { at_sender, timer, generation });
                }
                Command::Cancel(timer) => {
                    self.timers[usize::from(at_sender)][timer as usize].1 = false;
                }
                Command::Rtt(rtt) => self.outcome.rtts.push(rtt),
                Command::Connected => once(&mut self.outcome.connected, now),
                Command::Acknowledged => once(&mut self.outcome.acknowledged, now),
                Command::Closed if at_sender => once(&mut self.outcome.sender_closed, now),
                Command::Closed => once(&mut self.outcome.receiver_closed, now),
            }
        }
    }

    fn send(&mut self, now: Instant, segment: Segment, at_sender: bool) {
        assert_eq!(segment.forward, at_sender);
        assert!(u64::from(segment.len) <= self.mss);
        self.outcome.trace.push((now, segment));
        let lane = &mut self.lanes[usize::from(!at_sender)];
        let number = lane.sent;
        lane.sent += 1;
        lane.free = lane.free.max(now) + lane.path.spacing;
        if lane.path.drops.contains(&number) || lane.rng.chance(lane.path.loss) {
            return;
        }
        let copies = 1 + u32::from(lane.rng.chance(lane.path.duplication));
        for _ in 0..copies {
            let jitter = Duration((lane.path.jitter.0 as f64 * lane.rng.uniform()) as u64);
            self.event_queue.at(lane.free + lane.path.delay + jitter, Event::Arrive(segment));
        }
    }

    /// The invariants after every event.
    fn check(&mut self) {
        while self.arrived.get(self.prefix) == Some(&true) {
            self.prefix += 1;
        }
        let prefix = self.prefix as u64;
        assert_eq!(self.outcome.delivered, prefix, "every byte once and in order");
        assert_eq!(self.receiver.delivered_bytes(), prefix);
        let window = self.sender.window_segments();
        assert!(window >= 1.0, "a window of {window}");
        assert!(self.sender.acknowledged_bytes() <= prefix);
        let waits = self.sender.in_flight_bytes() > 0;
        assert!(!waits || self.timers[1][TimerId::Retransmit as usize].1, "nothing will happen");
    }
}

fn once(slot: &mut Option<Instant>, now: Instant) {
    assert_eq!(slot.replace(now), None, "told twice");
}

/// The trace of one direction as text: `time_ms flags seq:end ack`.
pub(crate) fn show(trace: &[(Instant, Segment)], forward: bool) -> Vec<String> {
    let line = |(at, s): &(Instant, Segment)| {
        let mut flags = String::new();
        for (flag, letter) in [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::ACK, '.')] {
            if s.flags.has(flag) {
                flags.push(letter);
            }
        }
        format!("{} {flags} {}:{} {}", at.0 / 1_000_000, s.seq, s.seq_end(), s.ack)
    };
    trace.iter().filter(|(_, s)| s.forward == forward).map(line).collect()
}
