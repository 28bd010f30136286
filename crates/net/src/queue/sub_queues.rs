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
            Self::Flow => flow_key(packet),
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
        let flow = flow_key(packet) << 1 | u64::from(backward);
        match *self {
            Self::Exact => flow,
            Self::Hashed { buckets, perturbation } => mix(flow ^ perturbation) % u64::from(buckets),
        }
    }
}

/// The key of a packet's flow; all messages of routing protocols share one.
fn flow_key(packet: &Packet) -> u64 {
    packet.flow().map_or(u64::from(u32::MAX), |flow| u64::from(flow.0))
}

/// The finalizer of `MurmurHash3` (Appleby, 2011): a bijection that mixes all bits.
fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let z = (z ^ z >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ z >> 33
}

/// Sub-queues, numbered in the order in which their keys were first seen.
#[derive(Debug)]
pub(super) struct SubQueues<T> {
    numbers: BTreeMap<u64, usize>,
    all: Vec<T>,
}

impl<T> SubQueues<T> {
    pub(super) const fn new() -> Self {
        Self { numbers: BTreeMap::new(), all: Vec::new() }
    }

    /// The number of this key's sub-queue, created by `make` if there is none.
    pub(super) fn number_or(&mut self, key: u64, make: impl FnOnce() -> T) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.all.push(make());
            self.all.len() - 1
        })
    }

    /// The number of this key's sub-queue, if it exists.
    pub(super) fn number(&self, key: u64) -> Option<usize> {
        self.numbers.get(&key).copied()
    }

    /// This key's sub-queue, if it exists.
    pub(super) fn by_key(&mut self, key: u64) -> Option<&mut T> {
        self.numbers.get(&key).map(|&number| &mut self.all[number])
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
