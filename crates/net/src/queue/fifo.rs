//! The buffer of most disciplines: packets in the order of their arrival, each with its arrival
//! time.

use super::{Destination, Wanted};
use kernel::{Bytes, IdVec, Instant};
use std::collections::VecDeque;
use wire::{NodeId, Packet};

/// Waiting packets in FIFO order, for all destinations or for one, each with what is recorded at
/// its arrival: the time.
#[derive(Debug)]
pub(super) struct Fifo<Record = Instant> {
    /// The records of the places. A packet that left before earlier ones leaves an empty place; the
    /// first place is never empty.
    records: VecDeque<Option<Record>>,
    /// The packets of the places, in a list of their own: so each is copied in and out only once.
    packets: VecDeque<Packet>,
    /// The number of places removed from the front.
    passed: u64,
    len: usize,
    backlog: Bytes,
    /// The places of the packets for each destination, in order, since the destination was first
    /// requested. Some of these packets may have left.
    places: Option<Places>,
}

/// Places by destination.
#[derive(Debug, Default)]
struct Places {
    broadcast: VecDeque<u64>,
    unicast: IdVec<NodeId, VecDeque<u64>>,
}

impl Places {
    fn of(&mut self, to: Option<NodeId>) -> &mut VecDeque<u64> {
        match to {
            None => &mut self.broadcast,
            Some(node) => self.unicast.grown(node),
        }
    }
}

impl<Record> Default for Fifo<Record> {
    fn default() -> Self {
        let (records, packets) = (VecDeque::new(), VecDeque::new());
        Self { records, packets, passed: 0, len: 0, backlog: Bytes::ZERO, places: None }
    }
}

impl<Record: Copy> Fifo<Record> {
    pub(super) fn push(&mut self, record: Record, packet: &Packet) {
        self.backlog += packet.size;
        self.len += 1;
        if let Some(places) = &mut self.places {
            places.of(packet.receiver()).push_back(self.passed + self.records.len() as u64);
        }
        self.records.push_back(Some(record));
        self.packets.push_back(*packet);
    }

    /// The first packet.
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front();
        if let Some(packet) = &packet {
            self.records.pop_front();
            self.passed += 1;
            self.len -= 1;
            self.backlog -= packet.size;
            if self.len != self.records.len() {
                self.skip_empty();
            }
        }
        packet
    }

    /// The first place is never empty.
    fn skip_empty(&mut self) {
        while let Some(None) = self.records.front() {
            self.records.pop_front();
            self.packets.pop_front();
            self.passed += 1;
        }
    }

    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// The record of the first packet.
    pub(super) fn oldest(&self) -> Option<Record> {
        *self.records.front()?
    }

    /// The packets that wait, each with its place.
    fn each_place(&self) -> impl Iterator<Item = (usize, &Packet)> {
        let places = self.records.iter().zip(&self.packets).enumerate();
        places.filter_map(|(place, (record, packet))| record.is_some().then_some((place, packet)))
    }

    /// The first packet for a destination, and its place.
    fn first_for(&mut self, to: Option<NodeId>) -> Option<usize> {
        if self.places.is_none() {
            let mut places = Places::default();
            for (place, packet) in self.each_place() {
                places.of(packet.receiver()).push_back(self.passed + place as u64);
            }
            self.places = Some(places);
        }
        let Self { records, passed, places, .. } = self;
        let places = places.as_mut()?.of(to);
        while let Some(&place) = places.front() {
            let index = place.checked_sub(*passed).map(|index| index as usize);
            if index.is_some_and(|index| records[index].is_some()) {
                return index;
            }
            places.pop_front();
        }
        None
    }

    /// The place of the first packet for `to`.
    fn place_for(&mut self, to: Destination) -> Option<usize> {
        match to {
            Destination::Any => (!self.is_empty()).then_some(0),
            Destination::Only(to) => self.first_for(to),
            Destination::Except(_) => {
                self.each_place().find(|(_, packet)| to.is_of(packet)).map(|(place, _)| place)
            }
        }
    }

    /// Whether the first packet for the destination is small enough.
    pub(super) fn has(&mut self, wanted: &Wanted) -> bool {
        let packet = match wanted.to {
            Destination::Any => self.first(),
            to => self.place_for(to).map(|place| &self.packets[place]),
        };
        packet.is_some_and(|packet| wanted.fits(packet))
    }

    /// The first packet for `to`, whatever its size.
    pub(super) fn pop_for(&mut self, to: Destination) -> Option<Packet> {
        let place = if to == Destination::Any { 0 } else { self.place_for(to)? };
        self.pop_at(place)
    }

    /// The same with its record.
    pub(super) fn take_for(&mut self, to: Destination) -> Option<(Record, Packet)> {
        let place = self.place_for(to)?;
        let record = self.records[place]?;
        Some((record, self.pop_at(place)?))
    }

    /// The packet at a place that has one.
    fn pop_at(&mut self, place: usize) -> Option<Packet> {
        if place == 0 {
            return self.pop();
        }
        self.records[place].take()?;
        let packet = self.packets[place];
        self.len -= 1;
        self.backlog -= packet.size;
        Some(packet)
    }

    /// Removes the first of those packets that fulfil a condition, if there are at least two.
    pub(super) fn pop_if_two(&mut self, condition: impl Fn(&Packet) -> bool) -> Option<Packet> {
        let mut two = self.each_place().filter(|(_, packet)| condition(packet));
        let (first, _) = two.next()?;
        two.next()?;
        drop(two);
        self.pop_at(first)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn backlog(&self) -> Bytes {
        self.backlog
    }

    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.each_place().for_each(|(_, packet)| visit(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use proptest::prelude::*;
    use wire::TrafficClass;

    const NOW: Instant = Instant(0);

    fn wanted(station: Option<u32>, most: u64) -> Wanted {
        let class = TrafficClass::BestEffort;
        let to =
            station.map_or(Destination::Any, |station| Destination::Only(Some(NodeId(station))));
        Wanted { class, to, most: Bytes(most) }
    }

    #[test]
    fn a_large_packet_is_not_passed_by_a_small_one() {
        let mut fifo = Fifo::default();
        fifo.push(NOW, &packet(1, 0, 1500));
        fifo.push(NOW, &packet(1, 1, 100));
        assert!(!fifo.has(&wanted(Some(1), 200)));
        assert!(fifo.has(&wanted(Some(1), 1500)) && fifo.has(&wanted(None, 1500)));
        assert!(!fifo.has(&wanted(Some(2), 1500)));
    }

    proptest! {
        /// Compared with a plain list: whatever is taken from the middle, the packets of each
        /// destination leave in order, and none is lost or counted twice.
        #[test]
        fn is_a_list(ops in prop::collection::vec((0u8..4, 0u32..4), 1..400)) {
            let (mut fifo, mut list, mut number) = (Fifo::default(), Vec::new(), 0);
            for (op, station) in ops {
                let popped = match op {
                    0 => {
                        let packet = packet(station, number, 40 + u64::from(station));
                        number += 1;
                        fifo.push(NOW, &packet);
                        list.push(packet);
                        continue;
                    }
                    1 => (fifo.pop(), (!list.is_empty()).then_some(0)),
                    2 => {
                        let to = Some(NodeId(station));
                        let place = list.iter().position(|packet| packet.to == to);
                        let has = fifo.has(&wanted(Some(station), 44));
                        prop_assert_eq!(has, place.is_some());
                        (fifo.pop_for(Destination::Only(Some(NodeId(station)))), place)
                    }
                    _ => {
                        let not = Some(NodeId(station));
                        let place = list.iter().position(|packet| packet.to != not);
                        let to = Destination::Except(NodeId(station));
                        let has = fifo.has(&Wanted { to, ..wanted(None, 44) });
                        prop_assert_eq!(has, place.is_some());
                        (fifo.pop_for(to), place)
                    }
                };
                let expected = popped.1.map(|place| list.remove(place));
                prop_assert_eq!(popped.0, expected);
                prop_assert_eq!(fifo.len(), list.len());
                prop_assert_eq!(fifo.first(), list.first());
                let bytes: u64 = list.iter().map(|packet| packet.size.0).sum();
                prop_assert_eq!(fifo.backlog(), Bytes(bytes));
                let mut seen = Vec::new();
                fifo.each(&mut |packet| seen.push(*packet));
                prop_assert_eq!(&seen, &list);
            }
        }
    }
}
