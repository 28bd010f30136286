//! For tests: flows that share a bottleneck and respond to congestion like TCP.

use super::tests::{capable, number, packet};
use super::{Queue, Signal};
use kernel::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use wire::{Ecn, Packet};

/// The service time of a packet of 1500 bytes at the bottleneck.
pub(super) const SERVICE: Duration = Duration::from_millis(1);
/// The time from the end of a packet's service to its acknowledgement at the sender.
const RETURN: Duration = Duration::from_millis(50);

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// For each packet, when it left the queue and how long it had waited, in ms.
    pub(super) delays_ms: Vec<(Instant, f64)>,
    /// The number of packets served of each flow.
    pub(super) served: Vec<u32>,
    pub(super) drops: u32,
    pub(super) marks: u32,
}

impl Outcome {
    /// The mean delay since an instant.
    pub(super) fn mean_ms(&self, since: Instant) -> f64 {
        let late: Vec<f64> =
            self.delays_ms.iter().filter(|(at, _)| *at >= since).map(|&(_, ms)| ms).collect();
        late.iter().sum::<f64>() / late.len() as f64
    }

    /// The utilization of the bottleneck from an instant to `end`.
    pub(super) fn use_of(&self, since: Instant, end: Instant) -> f64 {
        let served = self.delays_ms.iter().filter(|(at, _)| *at >= since).count();
        served as f64 * SERVICE.as_secs_f64() / (end - since).as_secs_f64()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Served,
    Acknowledged { flow: u32, marked: bool },
    Lost { flow: u32 },
}

/// A sender that increases its window by a packet per round trip and halves it on congestion.
#[derive(Clone, Copy, Debug)]
struct Sender {
    window: f64,
    in_flight: u32,
    slow_start: bool,
    heeds_from: Instant,
}

struct Bottleneck<'a> {
    queue: &'a mut dyn Queue,
    ecn: bool,
    now: Instant,
    event_queue: BinaryHeap<Reverse<(Instant, Event)>>,
    senders: Vec<Sender>,
    sent: u64,
    since: BTreeMap<u64, Instant>,
    service: Option<Packet>,
    outcome: Outcome,
}

/// Offers this many flows to a queue at a bottleneck until `end`.
pub(super) fn responsive(queue: &mut dyn Queue, flows: usize, ecn: bool, end: Instant) -> Outcome {
    let sender = Sender { window: 2.0, in_flight: 0, slow_start: true, heeds_from: Instant::ZERO };
    let outcome = Outcome { served: vec![0; flows], ..Outcome::default() };
    let mut bottleneck = Bottleneck {
        queue,
        ecn,
        now: Instant::ZERO,
        event_queue: BinaryHeap::new(),
        senders: vec![sender; flows],
        sent: 0,
        since: BTreeMap::new(),
        service: None,
        outcome,
    };
    (0..flows).for_each(|flow| bottleneck.send(flow));
    while let Some(Reverse((now, event))) = bottleneck.event_queue.pop()
        && now < end
    {
        bottleneck.now = now;
        bottleneck.on_event(event);
    }
    bottleneck.outcome
}

impl Bottleneck<'_> {
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Served => {
                let packet = self.service.take().unwrap();
                self.queue.release(self.now, &packet, &mut Vec::new());
                let (flow, marked) = (packet.flow().unwrap().0, packet.ecn == Ecn::Experienced);
                self.outcome.served[flow as usize] += 1;
                self.at(RETURN, Event::Acknowledged { flow, marked });
                self.serve();
            }
            Event::Acknowledged { flow, marked } => {
                let sender = &mut self.senders[flow as usize];
                sender.window += if sender.slow_start { 1.0 } else { 1.0 / sender.window };
                self.settle(flow, marked);
            }
            Event::Lost { flow } => self.settle(flow, true),
        }
    }

    fn at(&mut self, after: Duration, event: Event) {
        self.event_queue.push(Reverse((self.now + after, event)));
    }

    fn settle(&mut self, flow: u32, congestion: bool) {
        let now = self.now;
        let sender = &mut self.senders[flow as usize];
        sender.in_flight -= 1;
        if congestion && now >= sender.heeds_from {
            sender.window = (sender.window / 2.0).max(1.0);
            sender.slow_start = false;
            sender.heeds_from = now + RETURN;
        }
        self.send(flow as usize);
    }

    fn send(&mut self, flow: usize) {
        while f64::from(self.senders[flow].in_flight) < self.senders[flow].window {
            self.senders[flow].in_flight += 1;
            self.sent += 1;
            self.since.insert(self.sent, self.now);
            let make = if self.ecn { capable } else { packet };
            let mut out = Vec::new();
            self.queue.push(self.now, &make(flow as u32, self.sent, 1500), &mut out);
            self.note(&out);
            self.serve();
        }
    }

    fn note(&mut self, signals: &[Signal]) {
        for signal in signals {
            match signal {
                Signal::Drop(packet) => {
                    self.outcome.drops += 1;
                    self.at(RETURN, Event::Lost { flow: packet.flow().unwrap().0 });
                }
                Signal::Mark(..) => self.outcome.marks += 1,
            }
        }
    }

    fn serve(&mut self) {
        if self.service.is_some() {
            return;
        }
        let mut out = Vec::new();
        let popped = self.queue.pop(self.now, &mut out);
        self.note(&out);
        if let Some(packet) = popped {
            let since = self.since.remove(&number(&packet)).unwrap();
            let delay_ms = (self.now - since).as_secs_f64() * 1e3;
            self.outcome.delays_ms.push((self.now, delay_ms));
            self.service = Some(packet);
            self.at(SERVICE, Event::Served);
        }
    }
}
