//! Equal airtime for each station, as in the Wi-Fi stack of Linux: Algorithm 3 of Høiland-Jørgensen
//! et al., "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in `WiFi`", USENIX ATC
//! 2017. A decorator: each station's packets wait in a queue of another discipline.

use super::buffer::Buffer;
use super::shared::{Scheduler, Shared};
use super::sub_queues::{Per, SubQueues};
use super::{
    CoDelConfig, Destination, Discipline, DropTailConfig, FqCoDelConfig, Limit, OutputLink, Queue,
    Signal, Traits, UsedAirtime, Wanted,
};
use kernel::{Duration, Instant, Rng, Seed};
use settings::{Choice, Said, Settings, said};
use std::collections::VecDeque;
use wire::Packet;

/// Equal airtime for each station, which has its own sub-queue, as in the Wi-Fi stack of Linux
/// (Høiland-Jørgensen et al., USENIX ATC 2017); only for the access point.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct AirtimeFairConfig {
    /// The airtime of each station per round.
    #[setting(key = "quantum_us", default = 300.0, range = 1.0..=1e6)]
    pub quantum: Duration,
    /// Whether airtime of frames from a station counts too, while packets wait for it.
    #[setting(default = true)]
    pub count_received: bool,
    /// The discipline of the sub-queue of each station. Linux uses `fq_codel` with a target of 20
    /// ms.
    pub station: StationQueue,
    /// The limits of all sub-queues together.
    #[setting(flatten, default = Limit::packets(8192))]
    pub limit: Limit,
}

/// The discipline of the sub-queue of each station.
#[derive(Clone, Copy, Debug, PartialEq, Choice)]
#[allow(missing_docs)]
pub enum StationQueue {
    DropTail(DropTailConfig),
    Codel(CoDelConfig),
    FqCodel(FqCoDelConfig),
}

impl Default for StationQueue {
    fn default() -> Self {
        Self::FqCodel(FqCoDelConfig::default())
    }
}

impl StationQueue {
    fn get(&self) -> &dyn Discipline {
        match self {
            Self::DropTail(config) => config,
            Self::Codel(config) => config,
            Self::FqCodel(config) => config,
        }
    }
}

impl Discipline for AirtimeFairConfig {
    fn build(&self, output_link: OutputLink, mut rng: Rng) -> Box<dyn Queue> {
        Box::new(AirtimeFair::queue(*self, output_link, &mut rng))
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn refusal(&self, output_link: OutputLink) -> Option<Said> {
        let said = match output_link {
            OutputLink::AccessPoint(_) => return None,
            OutputLink::Station(_) => said!(
                "a station sends to the access point only, which needs no share",
                "this is a queue for ap.queue"
            ),
            OutputLink::Wire(..) => said!(
                "no airtime is used on a wire",
                "this is a queue for ap.queue, and fq_codel or drr share a wire"
            ),
        };
        Some(said)
    }

    fn traits(&self) -> Traits<'_> {
        let station = self.station.get();
        Traits {
            inner: Some((format!("station.{}", self.station.name()), station)),
            tells_l4s_apart: station.traits().tells_l4s_apart,
            shares_airtime: true,
            is_changed_by_requests: station.traits().is_changed_by_requests,
            ..Traits::default()
        }
    }
}

#[derive(Debug)]
struct ScheduledStation {
    queue: Box<dyn Queue>,
    /// The airtime deficit of the station in nanoseconds: what is left of its turn; below 0 what it
    /// has used in excess.
    deficit: i64,
    /// Whether the station is in the list of new stations or in that of old ones.
    is_listed: bool,
}

/// Round robin over stations by the airtime that they use.
#[derive(Debug)]
struct AirtimeFair {
    config: AirtimeFairConfig,
    output_link: OutputLink,
    /// The random streams of the stations' sub-queues.
    seed: Seed,
    sub_queues: SubQueues<ScheduledStation>,
    /// Stations on their first turn, which are served before all old ones.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl AirtimeFair {
    /// An empty queue. With a quantum of zero it would never send, so that zero counts as a
    /// nanosecond.
    fn queue(
        mut config: AirtimeFairConfig,
        output_link: OutputLink,
        rng: &mut Rng,
    ) -> Shared<Self> {
        config.quantum = config.quantum.max(Duration(1));
        let (high, low) = (rng.up_to(u32::MAX), rng.up_to(u32::MAX));
        let fair = Self {
            config,
            output_link,
            seed: Seed { root: u64::from(high) << 32 | u64::from(low), replication: 0 },
            sub_queues: SubQueues::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        };
        Shared::new(fair, Buffer::new(config.limit))
    }

    fn quantum(&self) -> i64 {
        self.config.quantum.0 as i64
    }

    /// The number of a packet's station, which is added if it is new.
    fn lane_for(&mut self, packet: &Packet) -> usize {
        let (key, deficit) = (Per::Station.key(packet), self.quantum());
        self.sub_queues.number_or(key, || {
            let rng = self.seed.stream("queue.station", key as u32);
            let queue = self.config.station.get().build(self.output_link, rng);
            ScheduledStation { queue, deficit, is_listed: false }
        })
    }

    /// The station whose turn it is; stations without packets are removed from the lists.
    fn turn(&mut self) -> Option<usize> {
        let mut in_debt = 0;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let sub_queue = &mut self.sub_queues[number];
            if sub_queue.deficit > 0 && !sub_queue.queue.is_empty() {
                return Some(number);
            }
            list.pop_front();
            if sub_queue.deficit > 0 && !is_new {
                sub_queue.is_listed = false;
                continue;
            }
            // An empty new station is removed only after a turn in the list of old ones, as in
            // FQ-CoDel.
            self.old.push_back(number);
            if sub_queue.deficit <= 0 {
                sub_queue.deficit += self.config.quantum.0 as i64;
                in_debt += 1;
                if in_debt > self.old.len() {
                    self.skip_rounds();
                    in_debt = 0;
                }
            }
        }
    }

    /// If all deficits are negative, adds at once the quanta of the rounds in which no packet could
    /// be sent.
    fn skip_rounds(&mut self) {
        let quantum = self.quantum();
        let debts = self.old.iter().map(|&number| -self.sub_queues[number].deficit);
        let rounds = debts.min().unwrap_or(0) / quantum;
        for &number in self.old.iter().filter(|_| rounds > 0) {
            self.sub_queues[number].deficit += rounds * quantum;
        }
    }
}

impl Scheduler for AirtimeFair {
    fn enqueue(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let number = self.lane_for(packet);
        let sub_queue = &mut self.sub_queues[number];
        sub_queue.queue.push(now, packet, out);
        if !sub_queue.is_listed && !sub_queue.queue.is_empty() {
            sub_queue.is_listed = true;
            self.new.push_back(number);
        }
    }

    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        let number = self.turn()?;
        self.sub_queues[number].queue.pop(now, out)
    }

    /// The next packet for the requested station; without one, for the station whose turn it is. Of
    /// all stations but one, the first in the lists.
    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let number = match wanted.to {
            Destination::Any => self.turn()?,
            Destination::Only(to) => self.sub_queues.number(Per::station_key(to))?,
            Destination::Except(node) => {
                let not = [Some(node), None].map(Per::station_key);
                let listed = self.new.iter().chain(&self.old).copied();
                self.sub_queues.first_but(not, listed, |station| !station.queue.is_empty())?
            }
        };
        let any = Wanted { to: Destination::Any, ..*wanted };
        self.sub_queues[number].queue.pop_for(now, &any, out)
    }

    /// The first packet for the station with the most bytes.
    fn give_up(&mut self, now: Instant, out: &mut Vec<Signal>) {
        // Of sub-queues with equally many bytes, the one with the most packets: packets may have no
        // bytes.
        let occupancy =
            |sub_queue: &&mut ScheduledStation| (sub_queue.queue.backlog(), sub_queue.queue.len());
        let Some(fattest) = self.sub_queues.iter_mut().max_by_key(occupancy) else { return };
        if let Some(packet) = fattest.queue.pop(now, out) {
            fattest.queue.release(now, &packet, out);
            out.push(Signal::Drop(packet));
        }
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        if let Some(sub_queue) = self.sub_queues.by_key(Per::Station.key(packet)) {
            sub_queue.queue.release(now, packet, out);
        }
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        let key = Per::station_key(airtime.station);
        let Some(sub_queue) = self.sub_queues.by_key(key) else { return };
        // A station without waiting packets does not compete, and the frames that it sends do not
        // count.
        if !airtime.received || (self.config.count_received && sub_queue.is_listed) {
            sub_queue.deficit -= airtime.used.0 as i64;
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.sub_queues.iter().for_each(|sub_queue| sub_queue.queue.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, number, packet, rng};
    use super::*;
    use kernel::{BitRate, Bytes};
    use wire::NodeId;

    const NOW: Instant = Instant(0);
    const QUANTUM: Duration = Duration::from_micros(300);

    /// The packets for each station wait in a drop-tail queue.
    fn queue(station: Limit, limit: Limit) -> Shared<AirtimeFair> {
        let station = StationQueue::DropTail(DropTailConfig { limit: station });
        let config = AirtimeFairConfig { quantum: QUANTUM, count_received: true, station, limit };
        AirtimeFair::queue(config, OutputLink::AccessPoint(BitRate::default()), &mut rng())
    }

    fn plain() -> Shared<AirtimeFair> {
        queue(Limit::NONE, Limit::NONE)
    }

    fn used(station: u32, received: bool, used: Duration) -> UsedAirtime {
        UsedAirtime { station: Some(NodeId(station)), received, used }
    }

    /// Serves packets, each of which uses the airtime of its station; returns the packets per
    /// station.
    fn serve(queue: &mut Shared<AirtimeFair>, times: &[Duration], packets: usize) -> Vec<u64> {
        let mut served = vec![0; times.len()];
        for _ in 0..packets {
            let packet = queue.pop(NOW, &mut Vec::new()).expect("packets wait");
            let station = packet.flow().unwrap().0;
            queue.on_airtime(&used(station, false, times[station as usize]));
            queue.release(NOW, &packet, &mut Vec::new());
            served[station as usize] += 1;
        }
        served
    }

    #[test]
    fn stations_of_different_rates_get_equal_airtime() {
        let mut queue = plain();
        let times = [12_000, 1000, 250].map(Duration::from_micros);
        for number in 0..20_000 {
            for station in 0..3 {
                assert!(accepts(&mut queue, NOW, packet(station, number, 1500)));
            }
        }
        let served = serve(&mut queue, &times, 12_000);
        let airtime: Vec<u64> = served.iter().zip(times).map(|(n, time)| n * time.0).collect();
        let (most, least) = (airtime.iter().max().unwrap(), airtime.iter().min().unwrap());
        assert!(most - least <= 12_000_000 + 2 * QUANTUM.0, "{airtime:?}");
        assert!(*least > 2_000_000_000, "{airtime:?}");
    }

    #[test]
    fn a_station_with_little_to_send_goes_first() {
        let mut queue = plain();
        let times = [Duration::from_millis(3); 3];
        for number in 0..100 {
            accepts(&mut queue, NOW, packet(0, number, 1500));
            accepts(&mut queue, NOW, packet(1, number, 1500));
        }
        serve(&mut queue, &times, 20);
        accepts(&mut queue, NOW, packet(2, 0, 100));
        assert_eq!(serve(&mut queue, &times, 1), [0, 0, 1]);
        // Its quantum is used up: with further packets it is served like the others.
        for number in 1..50 {
            accepts(&mut queue, NOW, packet(2, number, 100));
        }
        let served = serve(&mut queue, &times, 60);
        assert!(served.iter().all(|n| n.abs_diff(20) <= 1), "{served:?}");
    }

    #[test]
    fn what_a_station_sends_counts_while_packets_wait_for_it() {
        let mut queue = plain();
        let times = [Duration::from_millis(1); 2];
        for number in 0..10_000 {
            accepts(&mut queue, NOW, packet(0, number, 1500));
            accepts(&mut queue, NOW, packet(1, number, 1500));
        }
        let mut served = [0, 0];
        for _ in 0..1000 {
            let now = serve(&mut queue, &times, 1);
            (served[0], served[1]) = (served[0] + now[0], served[1] + now[1]);
            if now[1] == 1 {
                queue.on_airtime(&used(1, true, Duration::from_millis(3)));
            }
        }
        // Each packet of station 1 uses four ms, and each of station 0 one.
        assert!(served[0].abs_diff(4 * served[1]) <= 8, "{served:?}");
        let mut ignorant = plain();
        ignorant.scheduler.config.count_received = false;
        accepts(&mut ignorant, NOW, packet(0, 0, 1500));
        ignorant.on_airtime(&used(0, true, Duration::from_secs(1)));
        assert_eq!(ignorant.scheduler.sub_queues[0].deficit, QUANTUM.0 as i64);
    }

    #[test]
    fn who_has_nothing_waiting_runs_into_no_debt_by_what_it_sends() {
        let mut queue = plain();
        accepts(&mut queue, NOW, packet(0, 0, 1500));
        assert_eq!(drain(&mut queue, NOW).len(), 1);
        queue.on_airtime(&used(0, true, Duration::from_secs(1)));
        assert_eq!(queue.scheduler.sub_queues[0].deficit, QUANTUM.0 as i64);
        queue.on_airtime(&used(7, true, Duration::from_secs(1)));
        assert_eq!(queue.scheduler.sub_queues.iter().count(), 1, "nothing is known of station 7");
    }

    #[test]
    fn debts_of_all_are_worked_off_in_no_time() {
        let mut queue = plain();
        for station in 0..3 {
            accepts(&mut queue, NOW, packet(station, 0, 1500));
            let debt = Duration::from_secs(3000 + u64::from(station));
            queue.on_airtime(&used(station, false, debt));
        }
        // One round at a time, this would take ten million rounds.
        let first = queue.pop(NOW, &mut Vec::new());
        assert_eq!(first, Some(packet(0, 0, 1500)), "the one with the least debt");
        let apart = queue.scheduler.sub_queues[2].deficit - queue.scheduler.sub_queues[0].deficit;
        let expected = -2_000_000_000 - QUANTUM.0 as i64..=-2_000_000_000 + QUANTUM.0 as i64;
        assert!(expected.contains(&apart), "debts stay apart: {apart}");
    }

    #[test]
    fn without_room_the_station_with_most_bytes_loses_its_first() {
        let mut queue = queue(Limit::NONE, Limit::packets(4));
        for number in 0..3 {
            accepts(&mut queue, NOW, packet(0, number, 1000));
        }
        accepts(&mut queue, NOW, packet(1, 0, 1500));
        let mut out = Vec::new();
        queue.push(NOW, &packet(1, 1, 100), &mut out);
        assert_eq!(out, [Signal::Drop(packet(0, 0, 1000))]);
        assert_eq!((queue.len(), queue.backlog()), (4, Bytes(3600)));
    }

    #[test]
    fn drops_of_a_stations_queue_are_reported_and_its_limit_is_its_own() {
        let mut queue = queue(Limit::packets(1), Limit::NONE);
        assert!(accepts(&mut queue, NOW, packet(0, 0, 1500)));
        assert!(accepts(&mut queue, NOW, packet(1, 0, 1500)));
        assert!(!accepts(&mut queue, NOW, packet(0, 1, 1500)));
        let popped = queue.pop(NOW, &mut Vec::new()).unwrap();
        assert!(!accepts(&mut queue, NOW, packet(0, 2, 1500)), "it is in service");
        queue.release(NOW, &popped, &mut Vec::new());
        assert!(accepts(&mut queue, NOW, packet(0, 3, 1500)));
        assert_eq!(number(&popped), 0);
        assert_eq!(queue.len(), 2);
    }
}
