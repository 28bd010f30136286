//! Which nodes receive signals of which others.
//!
//! The list of a transmitter is computed when it transmits for the first time, and kept as long as
//! the cache has room; if nodes move, as long as the slice of time. A node that never transmits
//! costs nothing, and neither does a pair of nodes out of range.

use super::power::Power;
use super::radio::{Radio, Separation, Site};
use super::shared::Shared;
use super::slices::{Centre, Slice, Slices};
use crate::phy::Milliwatts;
use kernel::Instant;
use std::cell::OnceCell;

/// More than the rounding of a distance, in metres.
const ROUNDING_M: f64 = 1e-6;

/// A node in range of a transmitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReceiverInRange {
    pub(super) node: u32,
    /// Whether one of the two nodes moves, so that the received power differs between frames.
    pub(super) moves: bool,
    /// The mean received power; if one of the two moves, its maximum over the slice.
    pub(super) power: Power,
}

impl ReceiverInRange {
    /// The receiver at one end of a link direction; `None` if it is not in range in the slice.
    pub(super) fn find(
        radio: &Radio,
        sites: &[Site],
        from: u32,
        to: u32,
        slice: Slice,
    ) -> Option<Self> {
        let (separation, moves) = closest(radio, sites, from, to, slice)?;
        Self::over(radio, sites, from, to, separation, moves)
    }

    /// The same with the separation of the two nodes, and whether one of them moves.
    fn over(
        radio: &Radio,
        sites: &[Site],
        from: u32,
        to: u32,
        separation: Separation,
        moves: bool,
    ) -> Option<Self> {
        let (low, high) = (from.min(to), from.max(to));
        let (up, down) = radio.losses.between(low, high, separation);
        let level = sites[from as usize].tx_power - if from == low { up } else { down };
        let power = || Power::from(Milliwatts::from(level).0);
        (level >= radio.receiver.weakest()).then(|| Self { node: to, moves, power: power() })
    }
}

/// The smallest separation of two nodes in a slice of time, and whether one of them moves; `None`
/// if the channels of the nodes do not overlap, or both are the same node.
#[inline]
fn closest(
    radio: &Radio,
    sites: &[Site],
    a: u32,
    b: u32,
    slice: Slice,
) -> Option<(Separation, bool)> {
    // The order makes both link directions equal to the last bit.
    let [low, high] = [a.min(b), a.max(b)].map(|node| &sites[node as usize]);
    if a == b || !radio.reaches(low.channel, high.channel) {
        return None;
    }
    let moves = radio.goes_by_place() && (low.trajectory.moves() || high.trajectory.moves());
    let separation = if moves {
        let distance = low.trajectory.closest_during(&high.trajectory, slice.span);
        // A position within the slice differs from this by rounding.
        Separation { distance: (distance - ROUNDING_M).max(0.0), now: Instant::ZERO }
    } else {
        Separation::at(Instant::ZERO, low, high)
    };
    Some((separation, moves))
}

/// All nodes that are in range of a transmitter at some time of a slice. The cost of a transmission
/// is proportional to their number. A transmission keeps the set of the slice in which it begins,
/// so that it ends at the same nodes at which it began.
#[derive(Debug, Default)]
pub(super) struct ReceiverSet {
    /// Sorted by node number.
    receivers: Vec<ReceiverInRange>,
    /// The same nodes as bits, from the first block that is not empty to the last.
    blocks: Vec<NodeBlock>,
    /// The number of the first block.
    first: usize,
    /// Which blocks are not empty, as bits; from the 65th on from the first bit again.
    filled: u64,
    /// Nodes are omitted on which the transmission has no effect.
    is_partial: bool,
    /// Where the transmitter is, if nodes move.
    centre: Centre,
    /// The least power of a receiver in milliwatts; infinite if there is none.
    weakest: f64,
    /// The receivers by power, once they were asked for.
    by_power: OnceCell<Box<[(f64, u32)]>>,
}

/// So few blocks of two sets are compared one after the other, without a look at which are filled.
const FEW_BLOCKS: usize = 32;

/// Which of 64 nodes are in range.
#[derive(Clone, Copy, Debug, Default)]
struct NodeBlock {
    bits: u64,
    /// The index of the block's first receiver among all receivers.
    first: u32,
}

impl ReceiverSet {
    fn new(receivers: &[ReceiverInRange]) -> Self {
        debug_assert!(receivers.is_sorted_by_key(|receiver| receiver.node));
        let block = |receiver: &ReceiverInRange| receiver.node as usize / 64;
        let first = receivers.first().map_or(0, block);
        let mut blocks = vec![NodeBlock::default(); receivers.last().map_or(0, block) + 1 - first];
        let mut filled = 0;
        for (receiver, place) in receivers.iter().zip(0..) {
            let at = block(receiver);
            let NodeBlock { bits, first } = &mut blocks[at - first];
            if *bits == 0 {
                *first = place;
            }
            *bits |= 1 << (receiver.node % 64);
            filled |= 1 << (at % 64);
        }
        // Without spare capacity.
        let weakest = receivers.iter().map(|receiver| receiver.power.milliwatts);
        Self {
            weakest: weakest.fold(f64::INFINITY, f64::min),
            receivers: receivers.to_vec(),
            blocks,
            first,
            filled,
            is_partial: false,
            centre: Centre::default(),
            by_power: OnceCell::new(),
        }
    }

    /// The receivers with a power from the first value to below the second.
    pub(super) fn within(&self, from: f64, below: f64) -> impl Iterator<Item = (u32, f64)> {
        let all = if self.weakest < below { self.by_power() } else { &[] };
        let first = all.partition_point(|&(power, _)| power < from);
        let within = all[first..].iter().take_while(move |&&(power, _)| power < below);
        within.map(|&(power, node)| (node, power))
    }

    /// Whether so many nodes, and no others, receive at least this power, in milliwatts.
    pub(super) fn is_heard_by(&self, nodes: usize, power: f64) -> bool {
        self.receivers.len() == nodes && self.weakest >= power
    }

    fn by_power(&self) -> &[(f64, u32)] {
        self.by_power.get_or_init(|| {
            let receiver = |it: &ReceiverInRange| (it.power.milliwatts, it.node);
            let mut all: Box<[_]> = self.receivers.iter().map(receiver).collect();
            all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            all
        })
    }

    /// Whether the set has all nodes in range.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_partial
    }

    /// The receivers, sorted by node number.
    pub(super) fn receivers(&self) -> &[ReceiverInRange] {
        &self.receivers
    }

    /// The index of a node among the receivers; `None` if it is never in range.
    #[inline]
    pub(super) fn place(&self, node: u32) -> Option<usize> {
        // Where all hear all, the nodes have the numbers after that of the first, but for the
        // transmitter.
        let guess = node.wrapping_sub(self.receivers.first()?.node) as usize;
        for guess in [guess, guess.wrapping_sub(1)] {
            if self.receivers.get(guess).is_some_and(|receiver| receiver.node == node) {
                return Some(guess);
            }
        }
        let block = self.blocks.get((node as usize / 64).wrapping_sub(self.first))?;
        let bit = 1 << (node % 64);
        let before = (block.bits & (bit - 1)).count_ones();
        (block.bits & bit != 0).then(|| (block.first + before) as usize)
    }

    /// A node as a receiver; `None` if it is never in range.
    pub(super) fn find(&self, node: u32) -> Option<&ReceiverInRange> {
        self.place(node).map(|place| &self.receivers[place])
    }

    /// Whether a node may be in range of both transmitters. Always true for a partial set.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        if self.is_partial || other.is_partial {
            return true;
        }
        let mut both = self.filled & other.filled;
        let from = self.first.max(other.first);
        let end = |of: &Self| of.first + of.blocks.len();
        let end = end(self).min(end(other));
        if both == 0 || from >= end {
            return false;
        }
        if end - from <= FEW_BLOCKS {
            let [own, its] = [self, other].map(|of| &of.blocks[from - of.first..end - of.first]);
            return own.iter().zip(its).any(|(own, its)| own.bits & its.bits != 0);
        }
        while both != 0 {
            let first = both.trailing_zeros() as usize;
            both &= both - 1;
            let mut at = first + from.saturating_sub(first).div_ceil(64) * 64;
            while at < end {
                if self.blocks[at - self.first].bits & other.blocks[at - other.first].bits != 0 {
                    return true;
                }
                at += 64;
            }
        }
        false
    }

    /// The memory of the set in bytes.
    fn size(&self) -> usize {
        size_of_val(&self.receivers[..]) + size_of_val(&self.blocks[..])
    }
}

/// The receiver sets of nodes that have transmitted, within a limit of memory.
#[derive(Debug)]
pub(super) struct ReceiverSetCache {
    /// The limit of the sets' memory in bytes; the last set is not counted.
    room: usize,
    slices: Slices,
    /// The sets that are kept or used by transmissions.
    sets: Shared<ReceiverSet>,
    /// The set of each transmitter.
    kept: Vec<Option<Kept>>,
    /// The memory of all sets in bytes.
    size: usize,
    requests: u64,
    /// Buffers whose allocations are reused.
    found: Vec<ReceiverInRange>,
    near: Vec<u32>,
}

/// The set of a transmitter that is kept.
#[derive(Clone, Debug)]
struct Kept {
    /// Its number.
    receiver_set: u32,
    /// The number of the slice for which it holds.
    slice: u64,
    /// The number of its last request.
    last_request: u64,
}

impl ReceiverSetCache {
    /// An empty cache for these nodes.
    pub(super) fn new(radio: &Radio, sites: &[Site]) -> Self {
        let (kept, slices) = (vec![None; sites.len()], Slices::new(radio, sites));
        let (found, near) = Default::default();
        let sets = Shared::new();
        Self { room: 64 << 20, slices, sets, kept, size: 0, requests: 0, found, near }
    }

    /// The set with this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &ReceiverSet {
        self.sets.get(number)
    }

    /// Whether a node may be in range of both transmitters of these sets.
    pub(super) fn overlap(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|number| self.sets.get(number));
        !self.slices.are_apart(&a.centre, &b.centre) && a.overlaps(b)
    }

    /// A transmission no longer needs a set.
    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        self.sets.release(number);
    }

    /// The number of the receiver set of a node for a frame that begins now, which is released when
    /// nothing more is asked of the frame. If sets in use take all memory, nodes that are
    /// `transmitting` are omitted and the set is not stored.
    pub(super) fn of(
        &mut self,
        from: u32,
        now: Instant,
        radio: &Radio,
        sites: &[Site],
        transmitting: impl Fn(u32) -> bool,
    ) -> u32 {
        self.requests += 1;
        let slice = self.slices.at(now);
        if let Some(kept) = &mut self.kept[from as usize] {
            if kept.slice == slice.number {
                kept.last_request = self.requests;
                return self.sets.share(kept.receiver_set);
            }
            let outdated = kept.receiver_set;
            self.kept[from as usize] = None;
            self.remove(outdated);
        }
        let is_partial = !self.make_room();
        let (mut found, mut near) =
            (std::mem::take(&mut self.found), std::mem::take(&mut self.near));
        found.clear();
        near.clear();
        self.slices.near(from, slice, sites, &mut near);
        let nodes = near.iter().copied().filter(|&node| !(is_partial && transmitting(node)));
        found.extend(self.find(from, slice, radio, sites, nodes));
        let centre = self.slices.centre(from);
        let found_set = ReceiverSet { is_partial, centre, ..ReceiverSet::new(&found) };
        let receiver_set = self.sets.add(found_set);
        (self.found, self.near) = (found, near);
        if !is_partial {
            self.size += self.sets.get(receiver_set).size();
            self.kept[from as usize] = Some(Kept {
                receiver_set: self.sets.share(receiver_set),
                slice: slice.number,
                last_request: self.requests,
            });
        }
        receiver_set
    }

    /// The set of a node that is kept.
    #[inline]
    pub(super) fn kept(&self, from: u32) -> Option<&ReceiverSet> {
        self.kept[from as usize].as_ref().map(|kept| self.sets.get(kept.receiver_set))
    }

    /// Forgets all sets: a node has changed its channel.
    pub(super) fn forget(&mut self) {
        self.kept.fill(None);
        self.size = 0;
    }

    /// The slice of an instant.
    pub(super) fn slice(&self, now: Instant) -> Slice {
        self.slices.at(now)
    }

    /// The cache no longer keeps a set.
    fn remove(&mut self, number: u32) {
        self.size -= self.sets.get(number).size();
        self.sets.release(number);
    }

    /// The number of the partial receiver set of a node with only the given nodes.
    pub(super) fn among(
        &mut self,
        from: u32,
        now: Instant,
        radio: &Radio,
        sites: &[Site],
        nodes: impl Iterator<Item = u32>,
    ) -> u32 {
        let slice = self.slices.at(now);
        let found: Vec<ReceiverInRange> = self.find(from, slice, radio, sites, nodes).collect();
        self.sets.add(ReceiverSet { is_partial: true, ..ReceiverSet::new(&found) })
    }

    /// The same as a list.
    pub(super) fn find(
        &self,
        from: u32,
        slice: Slice,
        radio: &Radio,
        sites: &[Site],
        nodes: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = ReceiverInRange> {
        let tx_power = sites[from as usize].tx_power;
        let reach = radio.reach(tx_power);
        // If both nodes transmit with the same power, both link directions are equal.
        let is_mutual = move |to: usize| radio.goes_by_place() && sites[to].tx_power == tx_power;
        let receiver = move |to: u32| {
            let (separation, moves) = closest(radio, sites, from, to, slice)
                .filter(|(separation, _)| separation.distance <= reach)?;
            match &self.kept[to as usize] {
                Some(back) if back.slice == slice.number && is_mutual(to as usize) => {
                    let found = self.sets.get(back.receiver_set).find(from);
                    found.map(|receiver| ReceiverInRange { node: to, ..*receiver })
                }
                _ => ReceiverInRange::over(radio, sites, from, to, separation, moves),
            }
        };
        nodes.filter_map(receiver)
    }

    /// Whether the limit suffices for the sets of all nodes, even if all nodes are in range.
    pub(super) fn fits_all(&self) -> bool {
        self.kept.len().pow(2) * size_of::<ReceiverInRange>() <= self.room
    }

    /// Removes the least recently requested sets that no ongoing transmission uses, until the
    /// others are within the limit. Returns whether they are.
    fn make_room(&mut self) -> bool {
        while self.size > self.room {
            let is_unused = |kept: &Kept| !self.sets.is_shared(kept.receiver_set);
            let unused = self.kept.iter_mut().filter(|kept| kept.as_ref().is_some_and(is_unused));
            let oldest = unused.min_by_key(|kept| kept.as_ref().map(|kept| kept.last_request));
            let Some(oldest) = oldest.and_then(Option::take) else { return false };
            self.remove(oldest.receiver_set);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error::Nist;
    use crate::phy::propagation::{
        Friis, LogDistance, Position, Propagation, Shadowing, Trajectory, TwoRay,
    };
    use crate::space::Losses;
    use kernel::{Db, Dbm, Duration, Seed};

    fn site(trajectory: Trajectory) -> Site {
        Site { trajectory, channel: 1, tx_power: Dbm(20.0), is_access_point: false }
    }

    #[test]
    fn the_table_of_bits_equals_the_list() {
        // Many blocks, filled unevenly: each node is in range of its neighbours, some of none.
        let count = 300_u32;
        let near = |a: u32, b: u32| a.abs_diff(b) < 40 && (a * 7 + b * 13) % 5 < 2;
        let far = |a: u32, b: u32| (a, b) == (1, 299);
        let hears = |from: u32, to: u32| {
            from != to && !from.is_multiple_of(3) && (near(from, to) || far(from, to))
        };
        let receiver_set = |from: u32| {
            let power = Power::from(f64::from(from));
            let receiver = |node| ReceiverInRange { node, moves: false, power };
            ReceiverSet::new(
                &(0..count).filter(|&to| hears(from, to)).map(receiver).collect::<Vec<_>>(),
            )
        };
        let receiver_sets: Vec<ReceiverSet> = (0..count).map(receiver_set).collect();
        for (receiver_set, from) in receiver_sets.iter().zip(0..) {
            for to in 0..count {
                let found = receiver_set.find(to).map(|receiver| receiver.node);
                assert_eq!(found, hears(from, to).then_some(to));
                let both = |node| hears(from, node) && hears(to, node);
                assert_eq!(
                    receiver_set.overlaps(&receiver_sets[to as usize]),
                    (0..count).any(both)
                );
            }
        }
    }

    #[test]
    fn overlaps_far_behind_the_first_block_are_found() {
        let receiver_set = |nodes: &[u32]| {
            let receiver = |&node| ReceiverInRange { node, moves: false, power: Power::from(1.0) };
            ReceiverSet::new(&nodes.iter().map(receiver).collect::<Vec<_>>())
        };
        let far = 64 * 131 + 5;
        assert!(receiver_set(&[64 * 3, far]).overlaps(&receiver_set(&[64 * 67 + 1, far])));
        assert!(!receiver_set(&[64 * 3, far]).overlaps(&receiver_set(&[64 * 67 + 1, far + 1])));
        assert!(!receiver_set(&[0, 1]).overlaps(&receiver_set(&[far, far + 4096])));
    }

    /// 120 nodes on 2 km², on two channels. Every tenth moves, every seventh has less power.
    fn sites() -> Vec<Site> {
        let mut rng = Seed { root: 5, replication: 0 }.stream("test", 0);
        let mut place =
            || Position { x: 1400.0 * rng.uniform(), y: 1400.0 * rng.uniform(), z: 1.5 };
        let node = |n: u16| {
            let from = (Instant::ZERO, place());
            let to = (Instant::ZERO + Duration::from_millis(5000), place());
            let trajectory = if n.is_multiple_of(10) {
                Trajectory::through(vec![from, to])
            } else {
                from.1.into()
            };
            let tx_power = Dbm(if n.is_multiple_of(7) { 10.0 } else { 20.0 });
            Site { channel: n % 2, tx_power, ..site(trajectory) }
        };
        (0..120).map(node).collect()
    }

    #[test]
    fn a_receiver_set_equals_the_nodes_in_range_one_by_one() {
        let (inner, seed) = (LogDistance::default(), Seed { root: 3, replication: 1 });
        let models: [Box<dyn Propagation>; 4] = [
            Box::new(Friis { frequency_mhz: 60_000.0 }),
            Box::new(inner),
            Box::new(TwoRay {}),
            Box::new(Shadowing { inner, deviation: Db(8.0), seed }),
        ];
        let sites = sites();
        for model in models {
            let radio = Radio::new(Losses::Places(model), Box::new(Nist {}));
            let mut cache = ReceiverSetCache::new(&radio, &sites);
            let mut pairs = 0;
            for from in 0..120 {
                let slice = cache.slice(Instant::ZERO);
                let alone = |to| ReceiverInRange::find(&radio, &sites, from, to, slice);
                let expected: Vec<ReceiverInRange> = (0..120).filter_map(alone).collect();
                let number = cache.of(from, Instant::ZERO, &radio, &sites, |_| true);
                assert_eq!(cache.get(number).receivers(), expected, "{from}, {radio:?}");
                pairs += expected.len();
            }
            assert!((1000..7000).contains(&pairs), "{pairs} of 7140: {radio:?}");
        }
    }

    #[test]
    fn without_room_transmitting_nodes_are_left_out() {
        let radio = Radio::new(Losses::Places(Box::new(TwoRay {})), Box::new(Nist {}));
        let sites = vec![site(Position::default().into()); 9];
        let mut cache = ReceiverSetCache::new(&radio, &sites);
        cache.room = 0;
        let found = |cache: &ReceiverSetCache, number: u32| -> (bool, Vec<u32>) {
            let set = cache.get(number);
            (set.is_complete(), set.receivers().iter().map(|receiver| receiver.node).collect())
        };
        let first = cache.of(0, Instant::ZERO, &radio, &sites, |_| true);
        assert_eq!(found(&cache, first), (true, vec![1, 2, 3, 4, 5, 6, 7, 8]));
        let second = cache.of(1, Instant::ZERO, &radio, &sites, |node| node % 2 == 0);
        assert_eq!(found(&cache, second), (false, vec![3, 5, 7]));
        cache.release(first);
        let again = cache.of(1, Instant::ZERO, &radio, &sites, |_| true);
        assert!(cache.get(again).is_complete(), "there is room again");
    }

    #[test]
    fn without_room_the_same_hear_and_only_few_are_kept() {
        let sites = sites();
        let model = Box::new(LogDistance::default());
        let radio = Radio::new(Losses::Places(model), Box::new(Nist {}));
        let (mut ample, mut tight) =
            (ReceiverSetCache::new(&radio, &sites), ReceiverSetCache::new(&radio, &sites));
        tight.room = 4000;
        let kept = |cache: &ReceiverSetCache| -> Vec<u32> {
            (0..120).filter(|&node| cache.kept[node as usize].is_some()).collect()
        };
        // Node 3 sends all the time, the others in turn.
        for from in (0..120).chain(0..120).flat_map(|node| [3, node]) {
            let expected = ample.of(from, Instant::ZERO, &radio, &sites, |_| true);
            let found = tight.of(from, Instant::ZERO, &radio, &sites, |_| true);
            assert_eq!(tight.get(found).receivers(), ample.get(expected).receivers());
            ample.release(expected);
            tight.release(found);
            let sizes = tight.kept.iter().flatten().map(|kept| tight.get(kept.receiver_set).size());
            assert_eq!(sizes.sum::<usize>(), tight.size);
        }
        assert_eq!(kept(&ample).len(), 120);
        let (left, size) = (kept(&tight), tight.size);
        assert!(left.len() < 20 && left.contains(&3) && left.contains(&119), "{left:?}");
        assert!(size < 2 * 4000, "{size} bytes");
    }
}
