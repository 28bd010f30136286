//! The access point: which stations sleep, what it buffers for them, and when it sends that.

use super::{Fetch, MOST_BUFFERED, MOST_GROUP, PowerSave};
use kernel::{Bytes, Duration, Instant};
use std::collections::VecDeque;
use wire::{Management, Null, Packet, PowerBits, QosNull, TrafficClass};

/// A frame that an access point sends next, before the packets of its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// A buffered packet to a station, or a broadcast.
    Packet(Option<u32>, Packet),
    /// A frame without data to a station for which nothing is buffered.
    Empty(u32, Management),
}

/// The traffic indication map of a beacon (802.11-2020 clause 9.4.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tim {
    /// By AID, from the lowest bit on: the stations for which frames are buffered.
    pub stations: u64,
    /// Whether group addressed frames are buffered.
    pub has_group: bool,
}

/// What an access point has buffered for a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets.
    pub packets: u64,
    /// Those that were dropped.
    pub dropped: u64,
    /// Those that have left the buffer.
    pub left: u64,
    /// The sum of the times that these were in it.
    pub time: Duration,
}

/// A station that may save power.
#[derive(Debug)]
struct Client {
    radio: u32,
    aid: u8,
    fetch: Fetch,
    is_asleep: bool,
    /// A service period that was agreed goes on.
    in_period: bool,
    /// By access category, with the instants at which they came.
    buffers: [VecDeque<(Instant, Packet)>; 4],
    /// How many packets it may get while it sleeps, by a PS-Poll or in a service period.
    credit: u32,
    /// It has a packet of the buffer in service while it sleeps.
    is_served: bool,
    /// The answer to a request when nothing is buffered.
    empty: Option<Management>,
    /// How long a packet is kept.
    lifetime: Duration,
    held: Held,
}

/// What an access point does for stations that save power.
#[derive(Debug)]
pub struct AccessPoint {
    clients: Vec<Client>,
    group: VecDeque<(Instant, Packet)>,
    /// Group addressed packets that may be sent.
    group_ready: usize,
    group_held: u64,
    /// The client whose turn it is.
    turn: usize,
}

impl Client {
    fn len(&self) -> u32 {
        self.buffers.iter().map(|buffer| buffer.len() as u32).sum()
    }

    fn leave(&mut self, now: Instant, since: Instant) {
        self.held.left += 1;
        self.held.time += now - since;
    }

    /// Whether a buffered packet may be sent to it.
    fn is_ready(&self) -> bool {
        !self.is_asleep || self.credit > 0 && !self.is_served
    }

    /// The next packet to it among those of this class, or of any class.
    fn next(&mut self, now: Instant, class: Option<TrafficClass>) -> Option<Request> {
        if let Some(frame) = self.empty.filter(|_| class.is_none_or(|it| it == CLASS)) {
            self.empty = None;
            return Some(Request::Empty(self.radio, frame));
        }
        if !self.is_ready() {
            return None;
        }
        let mut highest = self.buffers.iter().rposition(|buffer| !buffer.is_empty())?;
        if let Some(class) = class.filter(|&class| class as usize != highest) {
            // A station that sleeps gets its packets one by one, highest category first.
            highest = (!self.is_asleep).then_some(class as usize)?;
        }
        let (since, packet) = self.buffers[highest].pop_front()?;
        self.leave(now, since);
        let mut power = PowerBits::BUFFERED;
        if self.is_asleep {
            self.credit -= 1;
            self.is_served = true;
            let more = self.len() > 0;
            self.credit = self.credit.min(self.len());
            let ends = self.credit == 0 && matches!(self.fetch, Fetch::Trigger(_));
            power = power.and_if(more, PowerBits::MORE_DATA).and_if(ends, PowerBits::EOSP);
        }
        Some(Request::Packet(Some(self.radio), Packet { power, ..packet }))
    }
}

/// The access category of frames without data, as in Linux.
const CLASS: TrafficClass = TrafficClass::Voice;

/// The shortest time for which Linux keeps a packet, and the listen intervals for which it does.
const KEPT: Duration = Duration::from_secs(10);
const KEPT_INTERVALS: u64 = 2;

impl AccessPoint {
    /// An access point with these stations: their radios, AIDs, rules and listen intervals.
    pub fn new(stations: impl Iterator<Item = (u32, u8, PowerSave, Duration)>) -> Self {
        let client = |(radio, aid, rules, interval): (u32, u8, PowerSave, Duration)| Client {
            radio,
            aid,
            fetch: rules.fetch,
            is_asleep: false,
            in_period: false,
            buffers: Default::default(),
            credit: 0,
            is_served: false,
            empty: None,
            lifetime: KEPT.max(interval * KEPT_INTERVALS),
            held: Held::default(),
        };
        Self {
            clients: stations.map(client).collect(),
            group: VecDeque::new(),
            group_ready: 0,
            group_held: 0,
            turn: 0,
        }
    }

    fn client(&mut self, radio: u32) -> Option<&mut Client> {
        self.clients.iter_mut().find(|client| client.radio == radio)
    }

    /// Whether packets to a station, or broadcasts, must be buffered. Broadcasts do not overtake
    /// those that wait for the DTIM, even if no station sleeps any more.
    pub fn buffers(&self, to: Option<u32>) -> bool {
        let is_it = |client: &Client| to.is_none_or(|radio| client.radio == radio);
        let sleeps = self.clients.iter().any(|client| client.is_asleep && is_it(client));
        sleeps || to.is_none() && !self.group.is_empty()
    }

    /// What it has buffered for a station.
    pub fn held(&self, radio: u32) -> Held {
        let client = self.clients.iter().find(|client| client.radio == radio);
        client.map_or_else(Held::default, |client| client.held)
    }

    /// Broadcasts that it has buffered.
    pub fn group_held(&self) -> u64 {
        self.group_held
    }

    /// Packets that it buffers now.
    pub fn len(&self) -> usize {
        self.group.len() + self.clients.iter().map(|client| client.len() as usize).sum::<usize>()
    }

    /// Whether it buffers no packet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packets that it buffers.
    pub fn each(&self) -> impl Iterator<Item = &Packet> {
        let buffers = self.clients.iter().flat_map(|client| &client.buffers);
        buffers.chain([&self.group]).flatten().map(|(_, packet)| packet)
    }

    /// Buffers a packet for a station, or a broadcast. Returns the packet that is dropped for it.
    pub fn hold(&mut self, now: Instant, to: Option<u32>, packet: Packet) -> Option<Packet> {
        let Some(radio) = to else {
            self.group_held += 1;
            self.group.push_back((now, packet));
            if self.group.len() <= MOST_GROUP {
                return None;
            }
            self.group_ready = self.group_ready.saturating_sub(1);
            return self.group.pop_front().map(|(_, oldest)| oldest);
        };
        let client = self.client(radio)?;
        client.held.packets += 1;
        let buffer = &mut client.buffers[packet.class as usize];
        buffer.push_back((now, packet));
        if buffer.len() <= MOST_BUFFERED {
            return None;
        }
        let (since, oldest) = buffer.pop_front()?;
        client.held.dropped += 1;
        client.leave(now, since);
        Some(oldest)
    }

    /// A station has moved to another access point: returns what was buffered for it, and forgets
    /// that it sleeps.
    pub fn forget(&mut self, now: Instant, radio: u32) -> Vec<Packet> {
        let Some(client) = self.client(radio) else { return Vec::new() };
        (client.is_asleep, client.credit, client.is_served, client.empty) = (false, 0, false, None);
        let mut packets: Vec<(Instant, Packet)> =
            client.buffers.iter_mut().flat_map(|buffer| buffer.drain(..)).collect();
        packets.sort_by_key(|(since, _)| *since);
        let leave = |(since, packet)| {
            client.leave(now, since);
            packet
        };
        packets.into_iter().map(leave).collect()
    }

    /// Drops what has been buffered for too long.
    pub fn expire(&mut self, now: Instant, dropped: &mut Vec<Packet>) {
        for client in &mut self.clients {
            let lifetime = client.lifetime;
            for class in 0..client.buffers.len() {
                let is_old = |(since, _): &mut (Instant, Packet)| now - *since > lifetime;
                while let Some((since, packet)) = client.buffers[class].pop_front_if(is_old) {
                    client.held.dropped += 1;
                    client.leave(now, since);
                    dropped.push(packet);
                }
            }
        }
    }

    /// The TIM of a beacon that is sent now.
    pub fn tim(&self) -> Tim {
        let waiting = self.clients.iter().filter(|client| client.is_asleep && client.len() > 0);
        let stations = waiting.fold(0, |stations, client| stations | 1 << (client.aid - 1));
        Tim { stations, has_group: !self.group.is_empty() }
    }

    /// The DTIM of this TBTT was sent: the group addressed packets that it announced follow.
    pub fn on_dtim(&mut self, tbtt: Instant) {
        self.group_ready = self.group.partition_point(|&(since, _)| since <= tbtt);
    }

    /// A station has sent a frame by which it saves power.
    pub fn on_frame(&mut self, radio: u32, frame: Management) {
        let Some(client) = self.client(radio) else { return };
        match frame {
            Management::Null(Null { saves_power }) => {
                client.is_asleep = saves_power;
                (client.credit, client.is_served, client.empty) = (0, false, None);
            }
            Management::PsPoll(_) if client.is_served => {}
            Management::PsPoll(_) => {
                client.credit = 1.min(client.len());
                let is_empty = client.credit == 0;
                client.empty = is_empty.then_some(Management::Null(Null { saves_power: false }));
            }
            Management::QosNull(_) => client.begin_period(),
            _ => {}
        }
    }

    /// A service period that was agreed with a station begins or ends.
    pub fn on_period(&mut self, radio: u32, begins: bool) {
        if let Some(client) = self.client(radio)
            && let Fetch::Scheduled(periods) = client.fetch
        {
            client.in_period = begins;
            client.is_asleep = !begins || periods.announced;
        }
    }

    /// A station has sent data: it is awake, or that was a trigger frame.
    pub fn on_data(&mut self, radio: u32) {
        let Some(client) = self.client(radio).filter(|client| client.is_asleep) else { return };
        match client.fetch {
            Fetch::Wake(_) => client.is_asleep = false,
            Fetch::Trigger(_) | Fetch::Scheduled(_) => client.begin_period(),
            Fetch::PsPoll => {}
        }
    }

    /// The next frame that it sends before the packets of its queue, of this class or of any.
    pub fn next(&mut self, now: Instant, class: Option<TrafficClass>) -> Option<Request> {
        self.next_group(class).or_else(|| {
            let count = self.clients.len();
            let mut order = (0..count).map(|after| (self.turn + after) % count);
            let (index, next) =
                order.find_map(|index| Some((index, self.clients[index].next(now, class)?)))?;
            // Those that sleep take turns; one that is awake gets all.
            self.turn = index + usize::from(self.clients[index].is_asleep);
            Some(next)
        })
    }

    /// The next frame that it sends to a station, or to all, before the packets of its queue.
    pub fn next_to(
        &mut self,
        now: Instant,
        to: Option<u32>,
        class: Option<TrafficClass>,
    ) -> Option<Request> {
        match to {
            None => self.next_group(class),
            Some(radio) => self.client(radio)?.next(now, class),
        }
    }

    /// Whether a station sleeps, and not only between the frames that it asks for.
    pub fn sleeps(&self, radio: u32) -> bool {
        self.clients.iter().any(|client| client.radio == radio && client.is_asleep)
    }

    fn next_group(&mut self, class: Option<TrafficClass>) -> Option<Request> {
        let (_, first) = self.group.front().filter(|_| self.group_ready > 0)?;
        if class.is_some_and(|class| class != first.class) {
            return None;
        }
        self.group_ready -= 1;
        let power = PowerBits::BUFFERED.and_if(self.group_ready > 0, PowerBits::MORE_DATA);
        let (_, packet) = self.group.pop_front()?;
        Some(Request::Packet(None, Packet { power, ..packet }))
    }

    /// Whether the packets of the queue for a station wait, because it sleeps or others are
    /// buffered for it.
    pub fn precedes(&self, radio: u32) -> bool {
        let client = self.clients.iter().find(|client| client.radio == radio);
        client.is_some_and(|client| client.is_asleep || client.len() > 0)
    }

    /// A further packet of the buffer for a station that is awake, if it is of this class and no
    /// larger than this.
    pub fn next_for(
        &mut self,
        now: Instant,
        radio: u32,
        class: Option<TrafficClass>,
        most: Bytes,
    ) -> Option<Packet> {
        let client = self.client(radio).filter(|client| !client.is_asleep)?;
        let of_class = |&index: &usize| class.is_none_or(|class| class as usize == index);
        let full =
            (0..4).rev().filter(of_class).find(|&index| !client.buffers[index].is_empty())?;
        let (since, packet) =
            client.buffers[full].pop_front_if(|(_, packet)| packet.size <= most)?;
        client.leave(now, since);
        Some(Packet { power: PowerBits::BUFFERED, ..packet })
    }

    /// The service of a packet to a station, or of a broadcast, has ended. Returns whether it came
    /// from a buffer.
    pub fn on_served(&mut self, to: Option<u32>, packet: &Packet) -> bool {
        if !packet.power.has(PowerBits::BUFFERED) {
            return false;
        }
        if let Some(client) = to.and_then(|radio| self.client(radio)) {
            client.is_served = false;
        }
        true
    }
}

impl Client {
    /// It has sent a trigger frame: a service period begins, unless one goes on.
    fn begin_period(&mut self) {
        if let Fetch::Scheduled(_) = self.fetch {
            self.is_asleep = !self.in_period;
        }
        let Fetch::Trigger(most) = self.fetch else { return };
        if !self.is_asleep || self.credit > 0 || self.is_served {
            return;
        }
        self.credit = most.min(self.len());
        let is_empty = self.credit == 0;
        self.empty = is_empty.then_some(Management::QosNull(QosNull { ends_period: true }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power_save::{LegacySettings, PowerSaveMode, Retrieval, TwtSettings, UApsdSettings};
    use wire::{Body, Datagram, FlowId, NodeId, PsPoll};

    const NOW: Instant = Instant(0);
    const ASLEEP: Management = Management::Null(Null { saves_power: true });
    const AWAKE: Management = Management::Null(Null { saves_power: false });
    const POLL: Management = Management::PsPoll(PsPoll { aid: 1 });
    const TRIGGER: Management = Management::QosNull(QosNull { ends_period: false });

    fn packet(number: u64) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number, len: 72, stream: 0 });
        Packet::new(NodeId(0), Some(NodeId(1)), Bytes(100), NOW, body)
    }

    fn number(packet: &Packet) -> u64 {
        let Body::Datagram(datagram) = packet.body else { panic!("{packet:?}") };
        datagram.number
    }

    /// Stations 1 and 2, which sleep.
    fn access_point(mode: &dyn PowerSaveMode) -> AccessPoint {
        let interval = Duration::from_micros(102_400);
        let stations = [1, 2].map(|radio| (radio, radio as u8, mode.rules(), interval));
        let mut access_point = AccessPoint::new(stations.into_iter());
        for radio in [1, 2] {
            access_point.on_frame(radio, ASLEEP);
        }
        access_point
    }

    fn polled() -> AccessPoint {
        access_point(&LegacySettings { retrieval: Retrieval::PsPoll, ..Default::default() })
    }

    /// Receiver, number and bits of what it sends next, whose service then ends.
    fn next(access_point: &mut AccessPoint) -> Option<(Option<u32>, u64, PowerBits)> {
        let Request::Packet(to, packet) = access_point.next(NOW, None)? else {
            panic!("an empty frame")
        };
        assert!(access_point.on_served(to, &packet));
        let bits = [PowerBits::MORE_DATA, PowerBits::EOSP].into_iter();
        let set = |all: PowerBits, bit| all.and_if(packet.power.has(bit), bit);
        Some((to, number(&packet), bits.fold(PowerBits::NONE, set)))
    }

    #[test]
    fn what_is_buffered_waits_and_the_tim_says_so() {
        let mut access_point = access_point(&LegacySettings::default());
        assert!(access_point.buffers(Some(2)) && access_point.buffers(None));
        for n in 0..3 {
            assert_eq!(access_point.hold(NOW, Some(2), packet(n)), None);
        }
        assert_eq!(access_point.tim(), Tim { stations: 0b10, has_group: false });
        assert_eq!(next(&mut access_point), None);
        access_point.on_frame(2, AWAKE);
        assert!(!access_point.buffers(Some(2)) && access_point.precedes(2));
        assert_eq!(access_point.tim(), Tim::default());
        assert_eq!(next(&mut access_point), Some((Some(2), 0, PowerBits::NONE)));
        let further = access_point.next_for(NOW, 2, None, Bytes(100)).unwrap();
        assert_eq!(number(&further), 1);
        assert_eq!(access_point.next_for(NOW, 2, None, Bytes(99)), None);
        assert_eq!(next(&mut access_point), Some((Some(2), 2, PowerBits::NONE)));
        assert!(!access_point.precedes(2) && access_point.is_empty());
    }

    #[test]
    fn a_poll_gets_one_packet_of_the_highest_category() {
        let mut access_point = polled();
        access_point.hold(NOW, Some(1), packet(0));
        access_point.hold(NOW, Some(1), Packet { class: TrafficClass::Voice, ..packet(1) });
        access_point.on_frame(1, POLL);
        assert_eq!(access_point.next(NOW, Some(TrafficClass::BestEffort)), None);
        assert_eq!(next(&mut access_point), Some((Some(1), 1, PowerBits::MORE_DATA)));
        assert_eq!(next(&mut access_point), None, "a poll for each");
        access_point.on_frame(1, POLL);
        assert_eq!(next(&mut access_point), Some((Some(1), 0, PowerBits::NONE)));
        access_point.on_frame(1, POLL);
        assert_eq!(access_point.next(NOW, None), Some(Request::Empty(1, AWAKE)));
    }

    #[test]
    fn a_service_period_has_a_length_and_an_end() {
        let two = UApsdSettings {
            max_sp_frames: Some(crate::power_save::MaxSpFrames::Two),
            ..Default::default()
        };
        let mut access_point = access_point(&two);
        for n in 0..3 {
            access_point.hold(NOW, Some(1), packet(n));
        }
        access_point.on_data(1);
        let ends = PowerBits::EOSP.and_if(true, PowerBits::MORE_DATA);
        assert_eq!(next(&mut access_point), Some((Some(1), 0, PowerBits::MORE_DATA)));
        access_point.on_data(1);
        assert_eq!(next(&mut access_point), Some((Some(1), 1, ends)), "no second period in one");
        assert_eq!(next(&mut access_point), None);
        access_point.on_frame(1, TRIGGER);
        assert_eq!(next(&mut access_point), Some((Some(1), 2, PowerBits::EOSP)));
        access_point.on_frame(1, TRIGGER);
        let empty = Management::QosNull(QosNull { ends_period: true });
        assert_eq!(access_point.next(NOW, None), Some(Request::Empty(1, empty)));
    }

    #[test]
    fn group_packets_follow_the_dtim() {
        let mut access_point = access_point(&LegacySettings::default());
        for n in 0..2 {
            access_point.hold(NOW, None, Packet { to: None, ..packet(n) });
        }
        assert_eq!(access_point.tim(), Tim { stations: 0, has_group: true });
        assert_eq!(next(&mut access_point), None);
        let later = NOW + Duration::from_millis(2);
        access_point.hold(later, None, Packet { to: None, ..packet(2) });
        access_point.on_dtim(NOW + Duration::from_millis(1));
        assert_eq!(next(&mut access_point), Some((None, 0, PowerBits::MORE_DATA)));
        assert_eq!(next(&mut access_point), Some((None, 1, PowerBits::NONE)));
        assert_eq!(next(&mut access_point), None, "it waits for the next DTIM");
        access_point.on_frame(1, AWAKE);
        access_point.on_data(2);
        assert!(access_point.buffers(None), "others do not overtake it");
        access_point.on_dtim(later);
        assert_eq!(next(&mut access_point), Some((None, 2, PowerBits::NONE)));
        assert!(!access_point.buffers(None), "nobody sleeps");
    }

    #[test]
    fn the_oldest_packet_gives_way_and_old_ones_are_dropped() {
        let mut access_point = polled();
        for n in 0..64 {
            assert_eq!(access_point.hold(NOW, Some(1), packet(n)), None);
        }
        let later = NOW + Duration::from_secs(1);
        assert_eq!(access_point.hold(later, Some(1), packet(64)), Some(packet(0)));
        let mut dropped = Vec::new();
        access_point.expire(NOW + Duration::from_secs(10), &mut dropped);
        assert_eq!(dropped, []);
        access_point.expire(NOW + Duration::from_millis(10_001), &mut dropped);
        assert_eq!(dropped.len(), 63, "all but the last");
        let Held { packets, dropped, left, time } = access_point.held(1);
        assert_eq!((packets, dropped, left), (65, 64, 64));
        assert_eq!(time, Duration::from_secs(1) + Duration::from_millis(10_001) * 63);
    }

    #[test]
    fn in_an_agreed_period_all_follow_and_between_them_none() {
        for announced in [false, true] {
            let twt = TwtSettings { announced, ..TwtSettings::default() };
            let mut access_point = access_point(&twt);
            access_point.on_period(1, false);
            for n in 0..2 {
                access_point.hold(NOW, Some(1), packet(n));
            }
            // A trigger frame that ends after the service period begins none.
            access_point.on_frame(1, TRIGGER);
            assert_eq!(next(&mut access_point), None);
            access_point.on_period(1, true);
            if announced {
                assert_eq!(next(&mut access_point), None, "it has said nothing");
                access_point.on_data(1);
            }
            assert_eq!(next(&mut access_point), Some((Some(1), 0, PowerBits::NONE)));
            access_point.on_period(1, false);
            assert_eq!(next(&mut access_point), None);
        }
    }
}
