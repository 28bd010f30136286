//! Sub-queues by key. A sub-queue is created when its key is first seen, so that the memory of a
//! queue depends on the flows or nodes that use it and not on all of the scenario.

use kernel::Rng;
use settings::Choice;
use std::collections::BTreeMap;
use wire::{Body, NodeId, Packet};

/// What has its own sub-queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Per {
    /// Each flow.
    Flow,
    /// Each station as a destination; broadcast counts as one.
    Station,
}

impl Per {
    /// The key of a packet's sub-queue.
    pub(super) fn key(self, packet: &Packet) -> u64 {
        match self {
            Self::Flow => packet.stream(),
            Self::Station => Self::station_key(packet.receiver()),
        }
    }

    /// The key of a station's sub-queue; `None` is broadcast.
    pub(super) fn station_key(station: Option<NodeId>) -> u64 {
        station.map_or(0, |node| u64::from(node.0) + 1)
    }
}

/// The mapping of flows to sub-queues. The two directions of a connection are two flows, because
/// their addresses and ports are in different order (RFC 8290 section 3).
#[derive(Clone, Debug)]
pub(super) enum Classifier {
    /// Each flow has its own sub-queue.
    Exact,
    /// Flows share this many sub-queues by a hash with a random perturbation (RFC 8290 section
    /// 4.1.1).
    Hashed { buckets: u32, perturbation: u64 },
}

impl Classifier {
    pub(super) fn new(buckets: Option<u32>, rng: &mut Rng) -> Self {
        match buckets {
            None => Self::Exact,
            Some(buckets) => {
                let (high, low) = (rng.up_to(u32::MAX), rng.up_to(u32::MAX));
                let perturbation = u64::from(high) << 32 | u64::from(low);
                Self::Hashed { buckets: buckets.max(1), perturbation }
            }
        }
    }

    pub(super) fn key(&self, packet: &Packet) -> u64 {
        let backward = matches!(packet.body, Body::Segment(segment) if !segment.forward);
        let flow = packet.stream() << 1 | u64::from(backward);
        match *self {
            Self::Exact => flow,
            Self::Hashed { buckets, perturbation } => {
                let (hash, buckets) = (mix(flow ^ perturbation), u64::from(buckets));
                if buckets.is_power_of_two() { hash & (buckets - 1) } else { hash % buckets }
            }
        }
    }
}

/// The finalizer of `MurmurHash3` (Appleby, 2011): a bijection that mixes all bits.
fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let z = (z ^ z >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ z >> 33
}

/// The numbers of keys. Small ones, which flows, stations and hashes have, stand in pages of a
/// table, of which there are those in use.
#[derive(Debug)]
struct Numbers {
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    others: BTreeMap<u64, usize>,
}

const PAGE: usize = 64;
/// Keys from here on stand in a tree.
const SMALL: u64 = 1 << 16;
const NONE: u32 = u32::MAX;

impl Numbers {
    #[inline]
    fn get(&self, key: u64) -> Option<usize> {
        if key >= SMALL {
            return self.others.get(&key).copied();
        }
        let page = self.pages.get(key as usize / PAGE)?.as_ref()?;
        Some(page[key as usize % PAGE])
            .filter(|&number| number != NONE)
            .map(|number| number as usize)
    }

    fn insert(&mut self, key: u64, number: usize) {
        if key >= SMALL {
            self.others.insert(key, number);
            return;
        }
        let (place, offset) = (key as usize / PAGE, key as usize % PAGE);
        if self.pages.len() <= place {
            self.pages.resize_with(place + 1, || None);
        }
        self.pages[place].get_or_insert_with(|| Box::new([NONE; PAGE]))[offset] = number as u32;
    }
}

/// Sub-queues, numbered in the order in which their keys were first seen.
#[derive(Debug)]
pub(super) struct SubQueues<T> {
    numbers: Numbers,
    all: Vec<T>,
}

impl<T> SubQueues<T> {
    pub(super) const fn new() -> Self {
        Self { numbers: Numbers { pages: Vec::new(), others: BTreeMap::new() }, all: Vec::new() }
    }

    /// The number of this key's sub-queue, created by `make` if there is none.
    pub(super) fn number_or(&mut self, key: u64, make: impl FnOnce() -> T) -> usize {
        self.numbers.get(key).unwrap_or_else(|| {
            self.all.push(make());
            self.numbers.insert(key, self.all.len() - 1);
            self.all.len() - 1
        })
    }

    /// The number of this key's sub-queue, if it exists.
    pub(super) fn number(&self, key: u64) -> Option<usize> {
        self.numbers.get(key)
    }

    /// This key's sub-queue, if it exists.
    pub(super) fn by_key(&mut self, key: u64) -> Option<&mut T> {
        self.numbers.get(key).map(|number| &mut self.all[number])
    }

    /// Of the listed sub-queues the first that fulfils a condition and has none of these keys.
    pub(super) fn first_but(
        &self,
        not: [u64; 2],
        mut listed: impl Iterator<Item = usize>,
        condition: impl Fn(&T) -> bool,
    ) -> Option<usize> {
        let not = not.map(|key| self.number(key));
        listed.find(|&number| !not.contains(&Some(number)) && condition(&self.all[number]))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter()
    }
}

impl<T> std::ops::Index<usize> for SubQueues<T> {
    type Output = T;
    fn index(&self, number: usize) -> &T {
        &self.all[number]
    }
}

impl<T> std::ops::IndexMut<usize> for SubQueues<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.all[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_the_first_calls_whatever_the_keys() {
        let keys = [70, 0, SMALL - 1, SMALL, u64::MAX, 69, 1 << 40];
        let mut all = SubQueues::new();
        for (number, &key) in keys.iter().enumerate() {
            assert_eq!(all.number(key), None);
            assert_eq!(all.number_or(key, || key), number);
        }
        for (number, &key) in keys.iter().enumerate() {
            assert_eq!(all.number_or(key, || unreachable!()), number);
            assert_eq!(all.by_key(key), Some(&mut { key }));
        }
        assert!(all.iter().copied().eq(keys));
        assert_eq!(all.first_but([70, 5], 0..7, |&key| key > 0), Some(2));
    }

    #[test]
    fn a_hash_selects_one_of_the_buckets() {
        let packet = super::super::tests::packet(3, 0, 100);
        for buckets in [1, 7, 64, 1000] {
            let classifier = Classifier::Hashed { buckets, perturbation: 0 };
            let hash = mix(6);
            assert_eq!(classifier.key(&packet), hash % u64::from(buckets));
        }
    }
}
