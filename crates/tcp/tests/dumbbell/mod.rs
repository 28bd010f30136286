//! Connections that share a bottleneck: one queue of finite length with a constant rate, and no
//! random losses or delays.
#![allow(dead_code, reason = "each test binary uses a part")]

use kernel::{BitRate, Bytes, Duration, EventQueue, Instant, Ranked};
use std::collections::VecDeque;
use tcp::{Command, Config, Control, Receiver, Sender, TimerId};
use wire::{Flags, FlowId, Segment};

#[derive(Clone, Copy, Debug)]
enum Event {
    Open(usize),
    /// The segment in service has left the bottleneck.
    Served,
    Arrive(Segment),
    Timer {
        flow: usize,
        at_sender: bool,
        timer: TimerId,
        generation: u32,
    },
    Sample,
}

impl Ranked for Event {
    fn rank(&self) -> u8 {
        0
    }
}

/// The bottleneck, and the rest of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bottleneck {
    pub(crate) rate: BitRate,
    /// The round-trip time without queueing.
    pub(crate) rtt: Duration,
    /// The maximum number of waiting segments.
    pub(crate) limit: usize,
    /// The queue length above which ECN-capable segments are marked.
    pub(crate) mark: usize,
}

struct Ends {
    sender: Sender,
    receiver: Receiver,
    timers: [[(u32, bool); TimerId::ALL.len()]; 2],
    delivered: u64,
}

/// The state of the bottleneck at one time.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) at_s: f64,
    pub(crate) queued: usize,
    pub(crate) windows: Vec<f64>,
    pub(crate) delivered: Vec<u64>,
    pub(crate) fast_retransmits: u64,
}

pub(crate) struct Dumbbell {
    flows: Vec<Ends>,
    path: Bottleneck,
    queue: VecDeque<Segment>,
    event_queue: EventQueue<Event>,
    out: Vec<Command>,
    header: u64,
    interval: Duration,
    pub(crate) drops: u64,
    pub(crate) samples: Vec<Sample>,
}

impl Dumbbell {
    /// Unlimited flows that open at these times.
    pub(crate) fn new(
        config: &Config,
        path: Bottleneck,
        flows: Vec<(Duration, Box<dyn Control>)>,
        interval: Duration,
    ) -> Self {
        let mut event_queue = EventQueue::new();
        let flows = flows.into_iter().enumerate().map(|(i, (at, control))| {
            event_queue.at(Instant::ZERO + at, Event::Open(i));
            Ends {
                sender: Sender::new(FlowId(i as u32), 0, config, control),
                receiver: Receiver::new(FlowId(i as u32), 0, config),
                timers: [[(0, false); TimerId::ALL.len()]; 2],
                delivered: 0,
            }
        });
        let flows = flows.collect();
        event_queue.at(Instant::ZERO + interval, Event::Sample);
        let (queue, out, samples) = (VecDeque::new(), Vec::new(), Vec::new());
        let header = config.header().0;
        Self { flows, path, queue, event_queue, out, header, interval, drops: 0, samples }
    }

    pub(crate) fn run(&mut self, end: Duration) {
        while let Some((now, event)) = self.event_queue.next() {
            if now > Instant::ZERO + end {
                break;
            }
            self.dispatch(now, event);
        }
    }

    fn dispatch(&mut self, now: Instant, event: Event) {
        let (flow, at_sender) = match event {
            Event::Open(flow) => {
                let sender = &mut self.flows[flow].sender;
                sender.on_open(now, &mut self.out);
                sender.on_data(now, Bytes(1 << 50), &mut self.out);
                (flow, true)
            }
            Event::Served => {
                let segment = self.queue.pop_front().expect("one is in service");
                self.event_queue.at(now + self.path.rtt / 2, Event::Arrive(segment));
                self.serve(now);
                return;
            }
            Event::Arrive(segment) => {
                let flow = segment.flow.0 as usize;
                let ends = &mut self.flows[flow];
                if segment.forward {
                    ends.receiver.on_segment(now, &segment, &mut self.out);
                } else {
                    ends.sender.on_segment(now, &segment, &mut self.out);
                }
                (flow, !segment.forward)
            }
            Event::Timer { flow, at_sender, timer, generation } => {
                let ends = &mut self.flows[flow];
                let slot = &mut ends.timers[usize::from(at_sender)][timer as usize];
                if *slot != (generation, true) {
                    return;
                }
                slot.1 = false;
                if at_sender {
                    ends.sender.on_timer(now, timer, &mut self.out);
                } else {
                    ends.receiver.on_timer(now, timer, &mut self.out);
                }
                (flow, at_sender)
            }
            Event::Sample => {
                self.sample(now);
                self.event_queue.at(now + self.interval, Event::Sample);
                return;
            }
        };
        self.obey(now, flow, at_sender);
    }

    fn sample(&mut self, now: Instant) {
        self.samples.push(Sample {
            at_s: now.as_secs_f64(),
            queued: self.queue.len(),
            windows: self.flows.iter().map(|f| f.sender.window_segments()).collect(),
            delivered: self.flows.iter().map(|f| f.delivered).collect(),
            fast_retransmits: self.flows.iter().map(|f| f.sender.counters().fast_retransmits).sum(),
        });
    }

    fn obey(&mut self, now: Instant, flow: usize, at_sender: bool) {
        let mut out = std::mem::take(&mut self.out);
        for command in out.drain(..) {
            match command {
                Command::Send(segment) if at_sender => self.push(now, segment),
                Command::Send(segment) => {
                    self.event_queue.at(now + self.path.rtt / 2, Event::Arrive(segment));
                }
                Command::Deliver(amount) => self.flows[flow].delivered += amount.0,
                Command::Set(timer, at) => {
                    let slot = &mut self.flows[flow].timers[usize::from(at_sender)][timer as usize];
                    *slot = (slot.0 + 1, true);
                    let generation = slot.0;
                    self.event_queue.at(at, Event::Timer { flow, at_sender, timer, generation });
                }
                Command::Cancel(timer) => {
                    self.flows[flow].timers[usize::from(at_sender)][timer as usize].1 = false;
                }
                _ => {}
            }
        }
        self.out = out;
    }

    fn push(&mut self, now: Instant, mut segment: Segment) {
        if self.queue.len() > self.path.limit {
            self.drops += 1;
            return;
        }
        if self.queue.len() > self.path.mark && segment.flags.has(Flags::ECT) {
            segment.flags = segment.flags.and(Flags::CE);
        }
        self.queue.push_back(segment);
        if self.queue.len() == 1 {
            self.serve(now);
        }
    }

    fn serve(&mut self, now: Instant) {
        if let Some(segment) = self.queue.front() {
            let bytes = Bytes(u64::from(segment.len) + self.header);
            self.event_queue.at(now + self.path.rate.time_for(bytes), Event::Served);
        }
    }

    /// Delivered bytes of each flow between two times.
    pub(crate) fn shares(&self, from_s: f64, to_s: f64) -> Vec<f64> {
        let at = |time: f64| {
            let sample = self.samples.iter().rev().find(|sample| sample.at_s <= time + 1e-9);
            &sample.expect("a sample by then").delivered
        };
        at(to_s).iter().zip(at(from_s)).map(|(to, from)| (to - from) as f64).collect()
    }
}

/// Jain's index of fairness.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}
