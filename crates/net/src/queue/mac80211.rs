//! The queues of Linux's Wi-Fi stack (net/mac80211): a queue for each station, within it `FQ-CoDel`
//! over flows, and turns of stations, equal in number or in airtime. The rules are those of
//! `fq_impl.h`, `codel_impl.h`, `tx.c` and `sta_info.c`; Høiland-Jørgensen et al., "Ending the
//! Anomaly: Achieving Low Latency and Airtime Fairness in `WiFi`", USENIX ATC 2017, describes them.
//!
//! A queue that cannot send does not search: while airtime queue limits block all stations, each
//! request moves the stations on by one, as the kernel's loop does; the queue counts these requests
//! and searches again when something has changed.

mod aql;
mod tin;

pub use aql::{AirtimeEstimate, Aql};

use super::buffer::Buffer;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Classifier, Per, SubQueues};
use super::{
    Codepoints, ControlLaw, Destination, Discipline, Limit, LinkState, OutputLink, Queue, Signal,
    Traits, UsedAirtime, Wanted,
};
use aql::Pending;
use kernel::{Bytes, Duration, Instant, Rng};
use settings::{Choice, Said, Settings, said};
use std::collections::VecDeque;
use tin::{Flows, Tin};
use wire::{NodeId, Packet};

/// The queues of Linux's Wi-Fi stack (mac80211): for each station `FQ-CoDel` over hashed flows, and
/// stations take turns. Each access category has queues and limits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Mac80211Config {
    /// Whether the turns of stations are equal in airtime. Otherwise each turn is one A-MPDU, as by
    /// ath9k up to Linux 4.9.
    #[setting(default = true)]
    pub airtime_fairness: bool,
    /// The rules of equal airtime.
    pub scheduler: AirtimeScheduler,
    /// Whether airtime of frames from a station counts too, while packets wait for it.
    #[setting(default = true)]
    pub count_received: bool,
    /// The control law of each flow. Linux never sets `mtu_bytes`, so that `CoDel` may drop until a
    /// flow is empty.
    #[setting(flatten, default = LAW)]
    pub law: ControlLaw,
    /// Whether flows to slow stations have a target of 50 ms, an interval of 300 ms and no ECN, as
    /// in Linux 4.12 to 6.10. Slow is an expected throughput below 6 Mb/s times the number of
    /// stations.
    pub slow_stations: bool,
    /// The bytes that a flow may send per round.
    #[setting(key = "quantum_bytes", default = 300, range = 1..=1_000_000)]
    pub quantum: Bytes,
    /// The number of queues to which the flows of all stations are hashed. A flow whose queue
    /// belongs to another station waits in one more queue of its own station.
    #[setting(default = 4096, range = 1..=1_048_576)]
    pub flows: u32,
    /// The maximum number of packets dropped at once from the queue with the most bytes when a
    /// limit is reached; never more than half of its packets, but at least one. Up to Linux 4.19:
    /// 1.
    #[setting(key = "drop_batch_packets", default = 32, range = 1..=1_000_000)]
    pub drop_batch: u32,
    /// The limits of all queues together.
    #[setting(flatten, default = Limit::packets(8192))]
    pub limit: Limit,
    /// The limit of the memory of waiting packets in bytes as Linux counts it, 2304 for a packet of
    /// 1500. Linux has 4 MiB without 802.11ac and 16 MiB with it.
    #[setting(
        key = "memory_limit_bytes",
        default = Bytes(4 << 20),
        range = 2304..=1_000_000_000_000,
        too_low = ["Linux counts 2304 bytes for a packet of 1500: fewer hold no packet", ""]
    )]
    pub memory: Bytes,
    /// Limits of the airtime that the device holds for a station. Without this table there are
    /// none.
    pub aql: Option<Aql>,
}

const LAW: ControlLaw = ControlLaw {
    target: Duration::from_millis(20),
    interval: Duration::from_millis(100),
    ecn: true,
    mtu: Bytes::ZERO,
    ce_threshold: None,
    ce_threshold_for: Codepoints::AnyEct,
};

/// How equal airtime is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AirtimeScheduler {
    /// Deficit round robin of Linux 5.0 to 5.13, and from 6.0 on: a station is passed over while
    /// its deficit is negative, and earns a microsecond per unit of its weight, 256 by default.
    #[default]
    #[setting(name = "mac80211")]
    Mac80211,
    /// Deficit round robin of ath9k in Linux 4.10 to 4.20: a quantum of 300 us at the default
    /// weight, a deficit of zero is passed over too, and stations that were idle go first.
    #[setting(name = "ath9k")]
    Ath9k,
}

impl AirtimeScheduler {
    /// The airtime in nanoseconds that a station of the default weight earns per round.
    fn quantum(self) -> i64 {
        match self {
            Self::Mac80211 => 256_000,
            Self::Ath9k => 300_000,
        }
    }
}

impl Discipline for Mac80211Config {
    fn build(&self, output_link: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        let is_station = matches!(output_link, OutputLink::Station(_));
        Box::new(Mac80211::queue(*self, is_station, &mut rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn refusal(&self, output_link: OutputLink) -> Option<Said> {
        match output_link {
            OutputLink::AccessPoint(_) | OutputLink::Station(_) => None,
            OutputLink::Wire(..) => Some(said!(
                "this is the queue of Linux's Wi-Fi stack, for ap.queue and stations.queue",
                "fq_codel is its like for a wire"
            )),
        }
    }

    fn traits(&self) -> Traits<'_> {
        Traits {
            tells_l4s_apart: self.law.ce_threshold.is_some(),
            follows_the_device: self.aql.is_some(),
            follows_links: true,
            shares_airtime: true,
            // The turns of flows go on.
            is_changed_by_requests: true,
            ..Traits::default()
        }
    }
}

/// `STA_SLOW_THRESHOLD`: the share of throughput in bit/s below which a station is slow.
const SLOW: u64 = 6_000_000;

#[derive(Debug)]
struct Station {
    tin: Tin,
    /// The airtime in nanoseconds that is left of its turn; below 0 what it has used in excess.
    deficit: i64,
    weight: u32,
    /// Whether the station is in one of the lists.
    is_listed: bool,
    /// Its expected throughput in bit/s; 0: not known.
    expected: u64,
    pending: Pending,
}

#[derive(Debug)]
struct Mac80211 {
    config: Mac80211Config,
    /// The control law of flows to slow stations.
    slow_law: ControlLaw,
    /// Whether all packets are for the access point, whatever their destination.
    is_station: bool,
    classifier: Classifier,
    flows: Flows,
    stations: SubQueues<Station>,
    /// Stations that were idle; only by the rules of ath9k. They are served before all others.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// Stations whose links are known, those that never get a packet included.
    known: u64,
    /// Estimated airtime in microseconds of all packets in the device.
    pending: u64,
    /// While the device may get no packet for any listed station: how often a turn was asked for in
    /// vain. Each time the stations move on by one.
    stuck: Option<usize>,
}

impl Mac80211 {
    fn queue(config: Mac80211Config, is_station: bool, rng: &mut Rng) -> Shared<Self> {
        let (target, interval) = (Duration::from_millis(50), Duration::from_millis(300));
        let scheduler = Self {
            config,
            slow_law: ControlLaw { target, interval, ecn: false, ..config.law },
            is_station,
            classifier: Classifier::new(Some(config.flows), rng),
            flows: Flows::new(config.quantum),
            stations: SubQueues::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            known: 0,
            pending: 0,
            stuck: None,
        };
        Shared::new(scheduler, Buffer::new(config.limit))
    }

    /// The key of the station to which a node's packets go; `None` is broadcast.
    fn key(&self, node: Option<NodeId>) -> u64 {
        Per::station_key(if self.is_station { Some(NodeId(0)) } else { node })
    }

    fn number_of(&mut self, key: u64) -> usize {
        let deficit = self.config.scheduler.quantum();
        self.stations.number_or(key, || Station {
            tin: Tin::default(),
            deficit,
            weight: LinkState::WEIGHT,
            is_listed: false,
            expected: 0,
            pending: Pending::default(),
        })
    }

    /// Whether the device may get a packet for a station.
    fn may_send(&self, number: usize) -> bool {
        let Some(aql) = &self.config.aql else { return true };
        let listed = (self.new.len() + self.old.len()) as u64;
        aql.admits(&self.stations[number].pending, self.pending, listed)
    }

    /// Some listed station may have become one for which the device may get a packet.
    fn unblock(&mut self) {
        if let Some(turns) = self.stuck.take() {
            let steps = turns % self.old.len().max(1);
            self.old.rotate_left(steps);
        }
    }

    /// The station whose turn begins.
    fn turn(&mut self) -> Option<usize> {
        if let Some(turns) = &mut self.stuck {
            *turns += 1;
            return None;
        }
        let is_fair = self.config.airtime_fairness;
        let least = i64::from(self.config.scheduler == AirtimeScheduler::Ath9k);
        let (mut in_debt, mut blocked) = (0, 0);
        let mut had_debt = false;
        loop {
            let is_new = !self.new.is_empty();
            let number = *if is_new { &self.new } else { &self.old }.front()?;
            let has_debt = is_fair && self.stations[number].deficit < least;
            if has_debt {
                had_debt = true;
                self.earn(number, 1);
                self.move_to_old(is_new);
                in_debt += 1;
                if in_debt > self.old.len() {
                    self.skip_rounds(least);
                    in_debt = 0;
                }
            } else if self.stations[number].tin.is_empty() {
                // As in FQ-CoDel, a new station that is empty has a turn among the old ones.
                if is_new && !self.old.is_empty() {
                    self.move_to_old(true);
                } else {
                    if is_new { &mut self.new } else { &mut self.old }.pop_front();
                    self.stations[number].is_listed = false;
                }
            } else if !self.may_send(number) {
                self.move_to_old(is_new);
                blocked += 1;
                if blocked > self.old.len() {
                    // Without debts another search would only pass all stations again.
                    self.stuck = (!had_debt).then_some(0);
                    return None;
                }
            } else {
                // With equal airtime it stays the first until its deficit is used up.
                if !is_fair {
                    self.move_to_old(is_new);
                }
                return Some(number);
            }
        }
    }

    /// Adds the quanta of so many rounds to the deficit of a station.
    fn earn(&mut self, number: usize, rounds: i64) {
        let quantum = self.quantum_of(number);
        self.stations[number].deficit += rounds * quantum;
    }

    fn quantum_of(&self, number: usize) -> i64 {
        let weight = i64::from(self.stations[number].weight);
        (self.config.scheduler.quantum() * weight / i64::from(LinkState::WEIGHT)).max(1)
    }

    /// Moves the first station of its list to the end of the old ones.
    fn move_to_old(&mut self, is_new: bool) {
        if let Some(number) = if is_new { &mut self.new } else { &mut self.old }.pop_front() {
            self.old.push_back(number);
        }
    }

    /// If all stations have debts, adds at once the quanta of the rounds in which none had a turn.
    fn skip_rounds(&mut self, least: i64) {
        let rounds = |&number: &usize| {
            (least - self.stations[number].deficit).max(0) / self.quantum_of(number)
        };
        let rounds = self.old.iter().map(rounds).min().unwrap_or(0);
        for index in 0..self.old.len() {
            self.earn(self.old[index], rounds);
        }
    }

    /// The next packet for a station, if it is not larger than `most` and the device may have it.
    fn take(
        &mut self,
        number: usize,
        most: Bytes,
        now: Instant,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        if !self.may_send(number) {
            return None;
        }
        let station = &mut self.stations[number];
        let is_slow = self.config.slow_stations
            && station.expected > 0
            && station.expected < SLOW * self.known;
        let law = if is_slow { &self.slow_law } else { &self.config.law };
        let packet = station.tin.pop(&mut self.flows, law, most, now, out)?;
        if self.config.aql.is_some() {
            self.pending += station.pending.add(&packet);
        }
        Some(packet)
    }
}

impl Scheduler for Mac80211 {
    fn enqueue(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let number = self.number_of(self.key(packet.receiver()));
        let place = self.classifier.key(packet);
        let station = &mut self.stations[number];
        station.tin.push(&mut self.flows, place, number, now, packet);
        if !station.is_listed {
            station.is_listed = true;
            let is_sparse = self.config.airtime_fairness
                && self.config.scheduler == AirtimeScheduler::Ath9k
                && station.deficit > 0;
            self.unblock();
            if is_sparse { &mut self.new } else { &mut self.old }.push_back(number);
        }
        while self.flows.memory() > self.config.memory {
            self.give_up(now, out);
        }
    }

    /// Begins the turn of a station, which [`Scheduler::dequeue_for`] continues.
    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        loop {
            let number = self.turn()?;
            let packet = self.take(number, Bytes(u64::MAX), now, out);
            // CoDel may drop all that waits for a station.
            if packet.is_some() {
                return packet;
            }
        }
    }

    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let number = match wanted.to {
            Destination::Any => self.turn()?,
            Destination::Only(to) => self.stations.number(self.key(to))?,
            Destination::Except(node) => {
                self.unblock();
                let not = [Some(node), None].map(|to| self.key(to));
                let listed = self.new.iter().chain(&self.old).copied();
                self.stations.first_but(not, listed, |station| !station.tin.is_empty())?
            }
        };
        self.take(number, wanted.most, now, out)
    }

    fn give_up(&mut self, _now: Instant, out: &mut Vec<Signal>) {
        let owner = self.flows.drop_from_fattest(self.config.drop_batch, out);
        if let Some((number, dropped)) = owner {
            self.stations[number].tin.forget(dropped);
            if self.stations[number].tin.is_empty() {
                self.unblock();
            }
        }
    }

    fn release(&mut self, _now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        let Some(aql) = &self.config.aql else { return };
        let Some(number) = self.stations.number(self.key(packet.receiver())) else { return };
        let was_scarce = aql.is_scarce(self.pending);
        self.pending -= self.stations[number].pending.remove_first();
        if was_scarce != aql.is_scarce(self.pending) || aql.per_category || self.may_send(number) {
            self.unblock();
        }
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        let key = self.key(airtime.station);
        let Some(station) = self.stations.by_key(key) else { return };
        if !airtime.received || (self.config.count_received && station.is_listed) {
            station.deficit -= airtime.used.0 as i64;
            if station.deficit < 1 {
                self.unblock();
            }
        }
    }

    fn on_link(&mut self, link: &LinkState) {
        self.unblock();
        let key = self.key(Some(link.station));
        let is_known =
            self.stations.number(key).is_some_and(|number| self.stations[number].expected > 0);
        self.known += u64::from(!is_known);
        let number = self.number_of(key);
        let quantum = self.config.scheduler.quantum();
        let station = &mut self.stations[number];
        if station.weight != link.weight && self.config.scheduler == AirtimeScheduler::Mac80211 {
            // A station begins with a deficit of its weight.
            station.deficit += quantum * (i64::from(link.weight) - i64::from(station.weight))
                / i64::from(LinkState::WEIGHT);
        }
        station.weight = link.weight;
        station.expected = link.expected.0.max(1);
        station.pending.estimate = Some(link.airtime);
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flows.each(visit);
    }
}

#[cfg(test)]
#[path = "mac80211/tests.rs"]
mod tests;
