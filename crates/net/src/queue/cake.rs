//! CAKE, common applications kept enhanced: a shaper, tins by traffic class, isolation of hosts and
//! flows, and COBALT for each flow (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: A
//! Comprehensive Queue Management Solution for Home Gateways", LANMAN 2018).

mod cobalt;

use super::buffer::Buffer;
use super::fifo::Fifo;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Classifier, SubQueues};
use super::{
    Destination, Discipline, Limit, OutputLink, Queue, Signal, Traits, Wanted, mark_or_drop,
};
use cobalt::{Cobalt, Verdict};
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use settings::{Choice, Said, Settings, said};
use std::collections::{BTreeMap, VecDeque};
use wire::{Body, NodeId, Packet, Segment, TrafficClass};

/// CAKE, as in Linux: a shaper, tins by traffic class, fairness between hosts and then between
/// their flows, and COBALT, which is `CoDel` with BLUE, for each flow (Høiland-Jørgensen et al.,
/// LANMAN 2018).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct CakeConfig {
    /// The rate to which the shaper limits the link, less than the rate of the link; only on a
    /// wire. Default: no shaper.
    #[setting(key = "bandwidth_mbps", range = 0.001..=1e6)]
    pub bandwidth: Option<BitRate>,
    /// The tins, queues of different priority.
    pub tins: Tins,
    /// Between whom the capacity of a tin is divided.
    pub isolation: Isolation,
    /// The usual round-trip time, the interval of COBALT; its target is a twentieth of it.
    #[setting(key = "rtt_ms", default = 100.0, range = 0.001..=60_000.0)]
    pub rtt: Duration,
    /// Whether a TCP acknowledgement removes an older one without further information from the
    /// queue, if another such one waits.
    pub ack_filter: bool,
    /// The largest packet.
    #[setting(key = "mtu_bytes", default = 1500, range = 1..=1_000_000)]
    pub mtu: Bytes,
    /// The limits of all flows together.
    #[setting(flatten, default = Limit::packets(10_240))]
    pub limit: Limit,
}

/// The tins of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Tins {
    /// Three: background traffic has at least 1/16 of the capacity, voice has priority up to 1/4 of
    /// it, and best effort and video share the third tin.
    #[default]
    Diffserv3,
    /// One.
    Besteffort,
}

/// The isolation of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Isolation {
    /// Between hosts, sources as well as destinations, and then between the flows of each host.
    #[default]
    Triple,
    /// Between flows.
    Flows,
}

impl Discipline for CakeConfig {
    fn build(&self, output_link: OutputLink, rng: Rng) -> Box<dyn Queue> {
        Box::new(Cake::queue(*self, output_link, rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn traits(&self) -> Traits<'_> {
        Traits { shaper: self.bandwidth, ..Traits::default() }
    }

    fn refusal(&self, output_link: OutputLink) -> Option<Said> {
        let is_wire = matches!(output_link, OutputLink::Wire(..));
        (!is_wire && self.bandwidth.is_some()).then(|| {
            said!(
                "bandwidth_mbps is for a wire: the rate of the air changes with each frame",
                "remove it"
            )
        })
    }
}

/// The shares of the tins: of the rate, and of the turns without a shaper. The numbers of the tins
/// are those of Linux's diffserv3; of those that are within their rates, the last goes first.
const DIFFSERV3: [u64; 3] = [1024, 1024 / 16, 1024 / 4];

impl Tins {
    fn weights(self) -> &'static [u64] {
        match self {
            Self::Diffserv3 => &DIFFSERV3,
            Self::Besteffort => &DIFFSERV3[..1],
        }
    }

    fn of(self, class: TrafficClass) -> usize {
        match (self, class) {
            (Self::Besteffort, _) | (_, TrafficClass::BestEffort | TrafficClass::Video) => 0,
            (Self::Diffserv3, TrafficClass::Background) => 1,
            (Self::Diffserv3, TrafficClass::Voice) => 2,
        }
    }
}

/// Whether a flow waits for a turn, and in which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    None,
    /// On its first turn: sparse.
    New,
    /// Bulk.
    Old,
}

#[derive(Debug)]
struct Flow {
    fifo: Fifo,
    cobalt: Cobalt,
    /// The bytes that it may send before its turn ends.
    deficit: i64,
    list: List,
    hosts: [Option<NodeId>; 2],
}

impl Flow {
    fn new(packet: &Packet) -> Self {
        let (fifo, cobalt) = (Fifo::default(), Cobalt::default());
        let hosts = [Some(packet.from), packet.to];
        Self { fifo, cobalt, deficit: 0, list: List::None, hosts }
    }
}

/// One tin.
#[derive(Debug)]
struct Tin {
    weight: u64,
    /// The rate up to which it has priority; none without a shaper.
    rate: Option<BitRate>,
    /// When it has used no more than its rate.
    next_packet: Instant,
    /// The bytes that it may send before its turn ends, without a shaper.
    deficit: i64,
    quantum: i64,
    law: cobalt::Law,
    flows: SubQueues<Flow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// The number of bulk flows of each source and of each destination.
    bulk: [BTreeMap<Option<NodeId>, i64>; 2],
}

/// The state of CAKE.
#[derive(Debug)]
struct Cake {
    config: CakeConfig,
    classifier: Classifier,
    tins: Vec<Tin>,
    /// The tin whose turn it is, without a shaper.
    turn: usize,
    rng: Rng,
}

impl Cake {
    fn queue(config: CakeConfig, output_link: OutputLink, mut rng: Rng) -> Shared<Self> {
        let rate = config.bandwidth;
        let tin = |&weight: &u64| {
            let own = rate.map(|rate| BitRate((rate.0 * weight / DIFFSERV3[0]).max(1)));
            let time = own.map_or(output_link.time_for(config.mtu), |r| r.time_for(config.mtu));
            Tin {
                weight,
                rate: own,
                next_packet: Instant::ZERO,
                deficit: 0,
                // Linux: a 4096th of the rate in bytes per second, from 300 bytes to a packet.
                quantum: own.map_or(1514, |own| (own.0 / 8 / 4096).clamp(300, 1514) as i64),
                law: cobalt::Law::new(config.rtt, time),
                flows: SubQueues::new(),
                new: VecDeque::new(),
                old: VecDeque::new(),
                bulk: [BTreeMap::new(), BTreeMap::new()],
            }
        };
        let tins = config.tins.weights().iter().map(tin).collect();
        let classifier = Classifier::new(None, &mut rng);
        let cake = Self { config, classifier, tins, turn: 0, rng };
        Shared::new(cake, Buffer::new(config.limit))
    }

    /// The tin that sends next.
    fn tin(&mut self, now: Instant) -> Option<usize> {
        if self.tins.iter().all(Tin::is_idle) {
            return None;
        }
        if self.config.bandwidth.is_some() {
            // The last of those within their rates, or else the one that is within it first.
            let busy = (0..self.tins.len()).filter(|&tin| !self.tins[tin].is_idle());
            return busy.max_by_key(|&tin| {
                let late = self.tins[tin].next_packet.since(now);
                (std::cmp::Reverse(late), tin)
            });
        }
        while self.tins[self.turn].deficit <= 0 || self.tins[self.turn].is_idle() {
            let tin = &mut self.tins[self.turn];
            if tin.deficit <= 0 {
                tin.deficit += tin.weight as i64;
            }
            self.turn = (self.turn + 1) % self.tins.len();
        }
        Some(self.turn)
    }

    /// Accounts for a packet of a tin that leaves.
    fn charge(&mut self, tin: usize, now: Instant, size: Bytes) {
        let tin = &mut self.tins[tin];
        tin.deficit -= size.0 as i64;
        if let Some(rate) = tin.rate {
            tin.next_packet = tin.next_packet.max(now) + rate.time_for(size);
        }
    }
}

impl Tin {
    fn is_idle(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Adds to the numbers of bulk flows of a flow's hosts.
    fn count_bulk(&mut self, flow: usize, change: i64) {
        for (host, bulk) in self.flows[flow].hosts.into_iter().zip(&mut self.bulk) {
            *bulk.entry(host).or_default() += change;
        }
    }

    /// The bytes that a flow may send per turn: less if its hosts have more bulk flows.
    fn quantum_of(&self, flow: usize, isolation: Isolation) -> i64 {
        if isolation == Isolation::Flows {
            return self.quantum;
        }
        let hosts = self.flows[flow].hosts.iter().zip(&self.bulk);
        let load = hosts.map(|(host, bulk)| bulk.get(host).copied().unwrap_or(0)).max();
        (self.quantum / load.unwrap_or(1).max(1)).max(1)
    }

    /// Moves the first flow of its list to the end of the bulk flows.
    fn move_to_old(&mut self, flow: usize, from: List) {
        let list = if from == List::New { &mut self.new } else { &mut self.old };
        list.pop_front();
        self.old.push_back(flow);
        if from == List::New {
            self.flows[flow].list = List::Old;
            self.count_bulk(flow, 1);
        }
    }

    /// Takes the next packet of a flow that is not dropped.
    fn take(
        &mut self,
        flow: usize,
        to: Destination,
        now: Instant,
        rng: &mut Rng,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let Flow { fifo, cobalt, deficit, .. } = &mut self.flows[flow];
        while let Some((since, packet)) = fifo.take_for(to) {
            let verdict = cobalt.decide(&self.law, now, now.since(since), &packet, rng);
            *deficit -= packet.size.0 as i64;
            match verdict {
                Verdict::Mark => return mark_or_drop(true, packet, out),
                // The last packet of a flow is not dropped.
                Verdict::Drop if !fifo.is_empty() => {
                    *deficit += packet.size.0 as i64;
                    out.push(Signal::Drop(packet));
                }
                Verdict::Pass | Verdict::Drop => return Some(packet),
            }
        }
        cobalt.on_empty(&self.law, now);
        None
    }

    /// Takes the next packet of the flow whose turn it is.
    fn dequeue(
        &mut self,
        isolation: Isolation,
        now: Instant,
        rng: &mut Rng,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        loop {
            let from = if self.new.is_empty() { List::Old } else { List::New };
            let list = if from == List::New { &self.new } else { &self.old };
            let flow = *list.front()?;
            if self.flows[flow].deficit <= 0 {
                self.move_to_old(flow, from);
                self.flows[flow].deficit += self.quantum_of(flow, isolation);
                continue;
            }
            if let Some(packet) = self.take(flow, Destination::Any, now, rng, out) {
                return Some(packet);
            }
            if from == List::New {
                self.move_to_old(flow, from);
            } else {
                self.old.pop_front();
                self.flows[flow].list = List::None;
                self.count_bulk(flow, -1);
            }
        }
    }
}

/// Whether a pure acknowledgement says all that an older one of the same connection says.
fn supersedes(newer: &Segment, older: &Packet) -> bool {
    let Body::Segment(older) = &older.body else { return false };
    older.is_pure_ack()
        && (older.connection, older.forward) == (newer.connection, newer.forward)
        && older.ack < newer.ack
        && older.flags == newer.flags
        && older.sack.as_slice().iter().all(|block| newer.sack.as_slice().contains(block))
}

impl Scheduler for Cake {
    fn enqueue(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let tin = &mut self.tins[self.config.tins.of(packet.class)];
        let number = tin.flows.number_or(self.classifier.key(packet), || Flow::new(packet));
        let quantum = tin.quantum_of(number, self.config.isolation);
        let flow = &mut tin.flows[number];
        if let Body::Segment(newer) = &packet.body
            && self.config.ack_filter
            && newer.is_pure_ack()
        {
            let removed = flow.fifo.pop_if_two(|older| supersedes(newer, older));
            out.extend(removed.map(Signal::Drop));
        }
        flow.fifo.push(now, packet);
        if flow.list == List::None {
            flow.list = List::New;
            flow.deficit = quantum;
            tin.new.push_back(number);
        }
    }

    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        loop {
            let tin = self.tin(now)?;
            let isolation = self.config.isolation;
            if let Some(packet) = self.tins[tin].dequeue(isolation, now, &mut self.rng, out) {
                self.charge(tin, now, packet.size);
                return Some(packet);
            }
        }
    }

    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        for number in (0..self.tins.len()).rev() {
            let tin = &mut self.tins[number];
            let mut listed = tin.new.iter().chain(&tin.old).copied();
            let flows = &mut tin.flows;
            let Some(flow) = listed.find(|&flow| flows[flow].fifo.has(wanted)) else { continue };
            let packet = tin.take(flow, wanted.to, now, &mut self.rng, out)?;
            self.charge(number, now, packet.size);
            return Some(packet);
        }
        None
    }

    /// Drops the first packet of the flow with the most bytes, and tells its COBALT.
    fn give_up(&mut self, now: Instant, out: &mut Vec<Signal>) {
        let flows =
            self.tins.iter_mut().flat_map(|tin| tin.flows.iter_mut().map(|flow| (&tin.law, flow)));
        let fattest = flows.max_by_key(|(_, flow)| (flow.fifo.backlog(), flow.fifo.len()));
        let Some((law, flow)) = fattest else { return };
        flow.cobalt.on_full(law, now);
        out.extend(flow.fifo.pop().map(Signal::Drop));
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        let flows = self.tins.iter().flat_map(|tin| tin.flows.iter());
        flows.for_each(|flow| flow.fifo.each(visit));
    }
}

#[cfg(test)]
mod tests;
