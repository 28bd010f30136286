//! Equal airtime for each station, as in the Wi-Fi stack of Linux: Algorithm 3 of Høiland-Jørgensen
//! et al., "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in `WiFi`", USENIX ATC
//! 2017. A decorator: each station's packets wait in a queue of any other discipline.

use super::lanes::{Lanes, Per};
use super::{Airtime, Discipline, Limit, Queue, Room, Signal, Wanted};
use kernel::{Bytes, Duration, Instant, Rng, Seed};
use std::collections::VecDeque;
use wire::Packet;

/// What an [`AirtimeFair`] queue is made by.
#[derive(Clone, Debug, PartialEq)]
pub struct AirtimeFairConfig {
    /// Airtime of each station per round.
    pub quantum: Duration,
    /// Whether what a station sends counts too, as long as packets wait for it.
    pub count_received: bool,
    /// What the packets for one station wait in.
    pub station: Box<Discipline>,
    /// Of all stations together.
    pub limit: Limit,
}

#[derive(Debug)]
struct Lane {
    queue: Box<dyn Queue>,
    /// Airtime that the station has left on its turn, in nanoseconds; below 0 what it owes.
    deficit: i64,
    /// Whether it is among the new or the old ones.
    is_listed: bool,
}

/// Round robin over stations by the airtime that they use.
#[derive(Debug)]
pub struct AirtimeFair {
    config: AirtimeFairConfig,
    /// Streams of the stations' queues.
    seed: Seed,
    lanes: Lanes<Lane>,
    /// Stations on their first turn: they go before all old ones.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    len: usize,
    backlog: Bytes,
    room: Room,
}

impl AirtimeFair {
    /// An empty queue. A quantum of zero would never send: it counts as a nanosecond.
    pub fn new(mut config: AirtimeFairConfig, rng: &mut Rng) -> Self {
        config.quantum = config.quantum.max(Duration(1));
        let (high, low) = (rng.up_to(u32::MAX), rng.up_to(u32::MAX));
        Self {
            seed: Seed { root: u64::from(high) << 32 | u64::from(low), replication: 0 },
            lanes: Lanes::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            len: 0,
            backlog: Bytes::ZERO,
            room: Room::new(config.limit),
            config,
        }
    }

    fn quantum(&self) -> i64 {
        self.config.quantum.0 as i64
    }

    /// The number of a packet's station, which is made if it is not known yet.
    fn lane_for(&mut self, packet: &Packet) -> usize {
        let (key, quantum) = (Per::Station.key(packet), self.quantum());
        self.lanes.number_or(key, || Lane {
            queue: self.config.station.build(self.seed.stream("queue.station", key as u32)),
            deficit: quantum,
            is_listed: false,
        })
    }

    /// Works on a station's queue, and takes over what it drops and how much it holds.
    fn with_queue<T>(
        &mut self,
        number: usize,
        out: &mut Vec<Signal>,
        work: impl FnOnce(&mut dyn Queue, &mut Vec<Signal>) -> T,
    ) -> T {
        let queue = &mut *self.lanes[number].queue;
        let (len, backlog, before) = (queue.len(), queue.backlog(), out.len());
        let result = work(queue, out);
        self.len = self.len + queue.len() - len;
        self.backlog = self.backlog + queue.backlog() - backlog;
        self.room.free_dropped(&out[before..]);
        result
    }

    /// Drops the first packet for the station with the most bytes.
    fn drop_from_the_fattest(&mut self, now: Instant, out: &mut Vec<Signal>) {
        let backlogs = self.lanes.iter().map(|lane| lane.queue.backlog()).enumerate();
        let Some((number, _)) = backlogs.max_by_key(|&(_, backlog)| backlog) else { return };
        self.with_queue(number, out, |queue, out| {
            if let Some(packet) = queue.pop(now, out) {
                queue.release(now, &packet, out);
                out.push(Signal::Drop(packet));
            }
        });
    }

    /// The station whose turn it is; those that have nothing to send leave.
    fn turn(&mut self) -> Option<usize> {
        let mut in_debt = 0;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let lane = &mut self.lanes[number];
            if lane.deficit > 0 && !lane.queue.is_empty() {
                return Some(number);
            }
            list.pop_front();
            if lane.deficit > 0 && !is_new {
                lane.is_listed = false;
                continue;
            }
            // An empty one that is new leaves after a turn among the old, as in FQ-CoDel.
            self.old.push_back(number);
            if lane.deficit <= 0 {
                lane.deficit += self.config.quantum.0 as i64;
                in_debt += 1;
                if in_debt > self.old.len() {
                    self.skip_rounds();
                    in_debt = 0;
                }
            }
        }
    }

    /// Where all are in debt, grants at once what rounds without a packet would grant.
    fn skip_rounds(&mut self) {
        let quantum = self.quantum();
        let debts = self.old.iter().map(|&number| -self.lanes[number].deficit);
        let rounds = debts.min().unwrap_or(0) / quantum;
        for &number in self.old.iter().filter(|_| rounds > 0) {
            self.lanes[number].deficit += rounds * quantum;
        }
    }
}

impl Queue for AirtimeFair {
    fn push(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>) {
        let number = self.lane_for(&packet);
        self.room.force(packet.size);
        self.with_queue(number, out, |queue, out| queue.push(now, packet, out));
        let lane = &mut self.lanes[number];
        if !lane.is_listed && !lane.queue.is_empty() {
            lane.is_listed = true;
            self.new.push_back(number);
        }
        while self.room.is_exceeded() && self.len > 0 {
            self.drop_from_the_fattest(now, out);
        }
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        let number = self.turn()?;
        self.with_queue(number, out, |queue, out| queue.pop(now, out))
    }

    /// The wanted station's next; for any destination, that of the station whose turn it is.
    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        let number = match wanted.station {
            Some(_) => self.lanes.number(Per::station_key(wanted.station))?,
            None => self.turn()?,
        };
        let any = Wanted { station: None, ..*wanted };
        self.with_queue(number, out, |queue, out| queue.pop_for(now, &any, out))
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.room.free(packet.size);
        if let Some(lane) = self.lanes.by_key(Per::Station.key(packet)) {
            lane.queue.release(now, packet, out);
        }
    }

    fn on_airtime(&mut self, airtime: &Airtime) {
        let key = Per::station_key(airtime.station);
        let Some(lane) = self.lanes.by_key(key) else { return };
        // Who has nothing waiting is in no competition, and runs into no debt by what it sends.
        if !airtime.received || (self.config.count_received && lane.is_listed) {
            lane.deficit -= airtime.used.0 as i64;
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn backlog(&self) -> Bytes {
        self.backlog
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.lanes.iter().for_each(|lane| lane.queue.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, number, packet, rng};
    use super::*;
    use wire::NodeId;

    const NOW: Instant = Instant(0);
    const QUANTUM: Duration = Duration::from_micros(300);

    fn queue(station: Discipline, limit: Limit) -> AirtimeFair {
        let config = AirtimeFairConfig {
            quantum: QUANTUM,
            count_received: true,
            station: Box::new(station),
            limit,
        };
        AirtimeFair::new(config, &mut rng())
    }

    fn plain() -> AirtimeFair {
        queue(Discipline::DropTail { limit: Limit::NONE }, Limit::NONE)
    }

    fn used(station: u32, received: bool, used: Duration) -> Airtime {
        Airtime { station: Some(NodeId(station)), received, used }
    }

    /// Serves packets, each of which takes its station's time on the air: packets of each station.
    fn serve(queue: &mut AirtimeFair, times: &[Duration], packets: usize) -> Vec<u64> {
        let mut served = vec![0; times.len()];
        for _ in 0..packets {
            let packet = queue.pop(NOW, &mut Vec::new()).expect("packets wait");
            let station = packet.flow().0;
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
        // Its airtime is used up: with more to send it is served like the others.
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
        // Station 1 pays four ms for each of its packets, station 0 one.
        assert!(served[0].abs_diff(4 * served[1]) <= 8, "{served:?}");
        let mut ignorant = plain();
        ignorant.config.count_received = false;
        accepts(&mut ignorant, NOW, packet(0, 0, 1500));
        ignorant.on_airtime(&used(0, true, Duration::from_secs(1)));
        assert_eq!(ignorant.lanes[0].deficit, QUANTUM.0 as i64);
    }

    #[test]
    fn who_has_nothing_waiting_runs_into_no_debt_by_what_it_sends() {
        let mut queue = plain();
        accepts(&mut queue, NOW, packet(0, 0, 1500));
        assert_eq!(drain(&mut queue, NOW).len(), 1);
        queue.on_airtime(&used(0, true, Duration::from_secs(1)));
        assert_eq!(queue.lanes[0].deficit, QUANTUM.0 as i64);
        queue.on_airtime(&used(7, true, Duration::from_secs(1)));
        assert_eq!(queue.lanes.iter().count(), 1, "nothing is known of station 7");
    }

    #[test]
    fn debts_of_all_are_worked_off_in_no_time() {
        let mut queue = plain();
        for station in 0..3 {
            accepts(&mut queue, NOW, packet(station, 0, 1500));
            let debt = Duration::from_secs(3000 + u64::from(station));
            queue.on_airtime(&used(station, false, debt));
        }
        // One round at a time this would take ten million rounds.
        let first = queue.pop(NOW, &mut Vec::new());
        assert_eq!(first, Some(packet(0, 0, 1500)), "the one with the least debt");
        let apart = queue.lanes[2].deficit - queue.lanes[0].deficit;
        let expected = -2_000_000_000 - QUANTUM.0 as i64..=-2_000_000_000 + QUANTUM.0 as i64;
        assert!(expected.contains(&apart), "debts stay apart: {apart}");
    }

    #[test]
    fn without_room_the_station_with_most_bytes_loses_its_first() {
        let mut queue = queue(Discipline::DropTail { limit: Limit::NONE }, Limit::packets(4));
        for number in 0..3 {
            accepts(&mut queue, NOW, packet(0, number, 1000));
        }
        accepts(&mut queue, NOW, packet(1, 0, 1500));
        let mut out = Vec::new();
        queue.push(NOW, packet(1, 1, 100), &mut out);
        assert_eq!(out, [Signal::Drop(packet(0, 0, 1000))]);
        assert_eq!((queue.len(), queue.backlog()), (4, Bytes(3600)));
    }

    #[test]
    fn drops_of_a_stations_queue_are_reported_and_its_limit_is_its_own() {
        let mut queue = queue(Discipline::DropTail { limit: Limit::packets(1) }, Limit::NONE);
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
