//! Which nodes receive signals of which others.
//!
//! The list of a transmitter is computed when it transmits for the first time, and kept as long as
//! the cache has room. A node that never transmits costs nothing, and neither does a pair of nodes
//! out of range.

use super::radio::{Power, Radio, Separation, Site};
use crate::phy::Milliwatts;
use kernel::Instant;
use std::sync::Arc;

/// A node that hears another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hearer {
    pub(super) node: u32,
    /// One of the two moves: what arrives is another power with each frame.
    pub(super) moves: bool,
    /// What arrives on average; where one moves, the most that ever does.
    pub(super) power: Power,
}

impl Hearer {
    /// A node as one that hears another at any moment; none if it never does.
    pub(super) fn find(radio: &Radio, sites: &[Site], ends: (u32, u32)) -> Option<Self> {
        let (way, moves) = closest(radio, sites, ends)?;
        Self::over(radio, sites, ends, (way, moves))
    }

    /// The same where the shortest way between the two is known, and whether one of them moves.
    fn over(
        radio: &Radio,
        sites: &[Site],
        (from, to): (u32, u32),
        (way, moves): (Separation, bool),
    ) -> Option<Self> {
        let (low, high) = (from.min(to), from.max(to));
        let (up, down) = radio.losses.between(low, high, way);
        let level = sites[from as usize].tx_power - if from == low { up } else { down };
        let power = || Power::from(Milliwatts::from(level).0);
        (level >= radio.receiver.weakest()).then(|| Self { node: to, moves, power: power() })
    }
}

/// The shortest way between two nodes at any moment, and whether one of them moves; none if they
/// are on different channels, or the same.
#[inline]
fn closest(radio: &Radio, sites: &[Site], (a, b): (u32, u32)) -> Option<(Separation, bool)> {
    // Whoever of the two sends, the way is the same to the last bit.
    let [low, high] = [a.min(b), a.max(b)].map(|node| &sites[node as usize]);
    if a == b || low.channel != high.channel {
        return None;
    }
    let moves = radio.goes_by_place() && (low.trajectory.moves() || high.trajectory.moves());
    let way = if moves {
        Separation { distance: low.trajectory.closest(&high.trajectory), now: Instant::ZERO }
    } else {
        Separation::at(Instant::ZERO, low, high)
    };
    Some((way, moves))
}

/// All who hear a node at any moment, so that a transmission costs as much as there are nodes that
/// hear it. Nodes that move change powers and not the list, so that a frame ends at those at which
/// it began.
#[derive(Debug, Default)]
pub(super) struct Audience {
    /// By number.
    hearers: Vec<Hearer>,
    /// The same as a table of bits, from the first block that is not empty to the last.
    blocks: Vec<Block>,
    /// The number of the first of them.
    first: usize,
    /// Which blocks are not empty, as bits; from the 65th on from the first bit again.
    filled: u64,
    /// Nodes are left out to which the transmission, of which it is the audience, makes no
    /// difference.
    is_part: bool,
}

/// Which of 64 nodes hear one.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    bits: u64,
    /// The place of the first of them among all that hear it.
    first: u32,
}

impl Audience {
    fn new(hearers: &[Hearer]) -> Self {
        debug_assert!(hearers.is_sorted_by_key(|hearer| hearer.node));
        let block = |hearer: &Hearer| hearer.node as usize / 64;
        let first = hearers.first().map_or(0, block);
        let mut blocks = vec![Block::default(); hearers.last().map_or(0, block) + 1 - first];
        let mut filled = 0;
        for (hearer, place) in hearers.iter().zip(0..) {
            let at = block(hearer);
            let Block { bits, first } = &mut blocks[at - first];
            if *bits == 0 {
                *first = place;
            }
            *bits |= 1 << (hearer.node % 64);
            filled |= 1 << (at % 64);
        }
        // Only as large as it must be.
        Self { hearers: hearers.to_vec(), blocks, first, filled, is_part: false }
    }

    /// Whether it is all who may hear the sender, and not only those who listen.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_part
    }

    /// Nodes that hear the sender, by number.
    pub(super) fn hearers(&self) -> &[Hearer] {
        &self.hearers
    }

    /// The place of a node among those that hear the sender; none if it never does.
    #[inline]
    pub(super) fn place(&self, node: u32) -> Option<usize> {
        let block = self.blocks.get((node as usize / 64).wrapping_sub(self.first))?;
        let bit = 1 << (node % 64);
        let before = (block.bits & (bit - 1)).count_ones();
        (block.bits & bit != 0).then(|| (block.first + before) as usize)
    }

    /// A node as one that hears the sender; none if it never does.
    pub(super) fn find(&self, node: u32) -> Option<&Hearer> {
        self.place(node).map(|place| &self.hearers[place])
    }

    /// Whether there is a node that hears both senders, or may be left out of one of the two.
    pub(super) fn meets(&self, other: &Self) -> bool {
        if self.is_part || other.is_part {
            return true;
        }
        let mut both = self.filled & other.filled;
        let from = self.first.max(other.first);
        let end = |of: &Self| of.first + of.blocks.len();
        let end = end(self).min(end(other));
        while both != 0 {
            let first = both.trailing_zeros() as usize;
            both &= both - 1;
            let skipped = from.saturating_sub(first).div_ceil(64) * 64;
            for at in (first + skipped..end).step_by(64) {
                if self.blocks[at - self.first].bits & other.blocks[at - other.first].bits != 0 {
                    return true;
                }
            }
        }
        false
    }

    /// What it takes of memory, in bytes.
    fn size(&self) -> usize {
        size_of_val(&self.hearers[..]) + size_of_val(&self.blocks[..])
    }
}

/// The audiences of those who have sent, as far as there is room.
#[derive(Debug)]
pub(super) struct Hearing {
    /// How many bytes they may take together, the last one not counted.
    room: usize,
    /// By sender, each with the number of the question that asked for it last.
    kept: Vec<Option<(Arc<Audience>, u64)>>,
    /// Bytes that they take.
    size: usize,
    questions: u64,
    /// Who was found last; kept for its memory.
    found: Vec<Hearer>,
}

impl Hearing {
    /// Of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        let (kept, found) = (vec![None; nodes], Vec::new());
        Self { room: 64 << 20, kept, size: 0, questions: 0, found }
    }

    /// Those who hear a node. If all room is taken by others that are in use, those are left out
    /// that are `transmitting` now.
    pub(super) fn of(
        &mut self,
        from: u32,
        radio: &Radio,
        sites: &[Site],
        transmitting: impl Fn(u32) -> bool,
    ) -> Arc<Audience> {
        self.questions += 1;
        if let Some((audience, asked)) = &mut self.kept[from as usize] {
            *asked = self.questions;
            return Arc::clone(audience);
        }
        let is_part = !self.make_room();
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let nodes = (0..sites.len() as u32).filter(|&node| !(is_part && transmitting(node)));
        found.extend(self.find(from, radio, sites, nodes));
        let audience = Arc::new(Audience { is_part, ..Audience::new(&found) });
        self.found = found;
        if !is_part {
            self.size += audience.size();
            self.kept[from as usize] = Some((Arc::clone(&audience), self.questions));
        }
        audience
    }

    /// Those of some nodes who hear a node.
    pub(super) fn among(
        &self,
        from: u32,
        radio: &Radio,
        sites: &[Site],
        nodes: impl Iterator<Item = u32>,
    ) -> Arc<Audience> {
        let found: Vec<Hearer> = self.find(from, radio, sites, nodes).collect();
        Arc::new(Audience { is_part: true, ..Audience::new(&found) })
    }

    /// The same as a list.
    pub(super) fn find(
        &self,
        from: u32,
        radio: &Radio,
        sites: &[Site],
        nodes: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = Hearer> {
        let tx_power = sites[from as usize].tx_power;
        let reach = radio.reach(tx_power);
        // What was found one way holds for the other, if both send with the same power.
        let is_mutual = move |to: usize| radio.goes_by_place() && sites[to].tx_power == tx_power;
        let hearer = move |to: u32| {
            let ends = (from, to);
            let (way, moves) =
                closest(radio, sites, ends).filter(|(way, _)| way.distance <= reach)?;
            match &self.kept[to as usize] {
                Some((back, _)) if is_mutual(to as usize) => {
                    back.find(from).map(|hearer| Hearer { node: to, ..*hearer })
                }
                _ => Hearer::over(radio, sites, ends, (way, moves)),
            }
        };
        nodes.filter_map(hearer)
    }

    /// Whether there is room for the audiences of all nodes, even if all hear all.
    pub(super) fn may_keep_all(&self) -> bool {
        self.kept.len().pow(2) * size_of::<Hearer>() <= self.room
    }

    /// Forgets whom nobody has asked for the longest time, and who does not send, until there is
    /// room; whether there is.
    fn make_room(&mut self) -> bool {
        while self.size > self.room {
            let asked = |(_, asked): &(Arc<Audience>, u64)| *asked;
            let kept = self.kept.iter_mut().filter(|kept| {
                kept.as_ref().is_some_and(|(audience, _)| Arc::strong_count(audience) == 1)
            });
            let oldest = kept.min_by_key(|kept| kept.as_ref().map(asked));
            let Some((audience, _)) = oldest.and_then(Option::take) else { return false };
            self.size -= audience.size();
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
        // Many blocks, and unevenly: each hears its neighbourhood, and some nobody.
        let count = 300_u32;
        let near = |a: u32, b: u32| a.abs_diff(b) < 40 && (a * 7 + b * 13) % 5 < 2;
        let far = |a: u32, b: u32| (a, b) == (1, 299);
        let hears = |from: u32, to: u32| {
            from != to && !from.is_multiple_of(3) && (near(from, to) || far(from, to))
        };
        let audience = |from: u32| {
            let power = Power::from(f64::from(from));
            let hearer = |node| Hearer { node, moves: false, power };
            Audience::new(&(0..count).filter(|&to| hears(from, to)).map(hearer).collect::<Vec<_>>())
        };
        let audiences: Vec<Audience> = (0..count).map(audience).collect();
        for (audience, from) in audiences.iter().zip(0..) {
            for to in 0..count {
                let found = audience.find(to).map(|hearer| hearer.node);
                assert_eq!(found, hears(from, to).then_some(to));
                let both = |node| hears(from, node) && hears(to, node);
                assert_eq!(audience.meets(&audiences[to as usize]), (0..count).any(both));
            }
        }
    }

    #[test]
    fn blocks_far_behind_the_first_are_found_to_meet() {
        let audience = |nodes: &[u32]| {
            let hearer = |&node| Hearer { node, moves: false, power: Power::from(1.0) };
            Audience::new(&nodes.iter().map(hearer).collect::<Vec<_>>())
        };
        let far = 64 * 131 + 5;
        assert!(audience(&[64 * 3, far]).meets(&audience(&[64 * 67 + 1, far])));
        assert!(!audience(&[64 * 3, far]).meets(&audience(&[64 * 67 + 1, far + 1])));
        assert!(!audience(&[0, 1]).meets(&audience(&[far, far + 4096])));
    }

    /// 120 nodes on 2 km², on two channels; every tenth goes, and every seventh sends with less.
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
    fn an_audience_equals_the_nodes_that_hear_the_sender_one_by_one() {
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
            let mut hearing = Hearing::new(sites.len());
            let mut pairs = 0;
            for from in 0..120 {
                let alone = |to| Hearer::find(&radio, &sites, (from, to));
                let expected: Vec<Hearer> = (0..120).filter_map(alone).collect();
                assert_eq!(
                    hearing.of(from, &radio, &sites, |_| true).hearers(),
                    expected,
                    "{from}, {radio:?}"
                );
                pairs += expected.len();
            }
            assert!((1000..7000).contains(&pairs), "{pairs} of 7140: {radio:?}");
        }
    }

    #[test]
    fn without_room_transmitting_nodes_are_left_out() {
        let radio = Radio::new(Losses::Places(Box::new(TwoRay {})), Box::new(Nist {}));
        let sites = vec![site(Position::default().into()); 9];
        let mut hearing = Hearing::new(sites.len());
        hearing.room = 0;
        let nodes = |audience: &Audience| -> Vec<u32> {
            audience.hearers().iter().map(|hearer| hearer.node).collect()
        };
        let first = hearing.of(0, &radio, &sites, |_| true);
        assert!(first.is_whole() && nodes(&first) == [1, 2, 3, 4, 5, 6, 7, 8]);
        let second = hearing.of(1, &radio, &sites, |node| node % 2 == 0);
        assert!(!second.is_whole() && nodes(&second) == [3, 5, 7]);
        drop(first);
        assert!(hearing.of(1, &radio, &sites, |_| true).is_whole(), "there is room again");
    }

    #[test]
    fn without_room_the_same_hear_and_only_few_are_kept() {
        let sites = sites();
        let model = Box::new(LogDistance::default());
        let radio = Radio::new(Losses::Places(model), Box::new(Nist {}));
        let (mut ample, mut tight) = (Hearing::new(sites.len()), Hearing::new(sites.len()));
        tight.room = 4000;
        let kept = |hearing: &Hearing| -> Vec<u32> {
            (0..120).filter(|&node| hearing.kept[node as usize].is_some()).collect()
        };
        // Node 3 sends all the time, the others in turn.
        for from in (0..120).chain(0..120).flat_map(|node| [3, node]) {
            let expected = ample.of(from, &radio, &sites, |_| true);
            assert_eq!(tight.of(from, &radio, &sites, |_| true).hearers(), expected.hearers());
            let size: usize =
                tight.kept.iter().flatten().map(|(audience, _)| audience.size()).sum();
            assert_eq!(size, tight.size);
        }
        assert_eq!(kept(&ample).len(), 120);
        let (left, size) = (kept(&tight), tight.size);
        assert!(left.len() < 20 && left.contains(&3) && left.contains(&119), "{left:?}");
        assert!(size < 2 * 4000, "{size} bytes");
    }
}
