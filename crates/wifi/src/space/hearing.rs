//! Who hears whom.

use super::radio::{Power, Radio, Site, Way};
use crate::phy::Milliwatts;
use kernel::Instant;

/// A node that hears another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hearer {
    pub(super) node: u32,
    /// One of the two moves: what arrives is another power with each frame.
    pub(super) moves: bool,
    /// What arrives on average; where one moves, the most that ever does.
    pub(super) power: Power,
}

/// Who hears whom at any moment, as one list cut into pieces, so that a transmission costs as much
/// as there are nodes that hear it. Nodes that move change powers and not the list, so that a frame
/// ends at those at which it began.
#[derive(Debug)]
pub(super) struct Hearing {
    /// Where each node's piece begins; and the end of the last.
    begins: Vec<u32>,
    hearers: Vec<Hearer>,
    /// The same as a table of bits: a row for each node, a bit for each that may hear it.
    blocks: Vec<Block>,
    /// Blocks of a row.
    width: usize,
    /// Of each row which blocks are not empty, as bits; from the 65th on from the first bit again.
    filled: Vec<u64>,
}

/// Which of 64 nodes hear one.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    bits: u64,
    /// The place of the first of them among all that hear it.
    first: u32,
}

impl Hearing {
    pub(super) fn new(sites: &[Site], radio: &Radio) -> Self {
        let lists = lists(sites, radio);
        let width = sites.len().div_ceil(64);
        let mut begins = Vec::with_capacity(sites.len() + 1);
        let mut hearers = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        let mut blocks = Vec::with_capacity(sites.len() * width);
        for mut list in lists {
            list.sort_unstable_by_key(|hearer| hearer.node);
            begins.push(hearers.len() as u32);
            for nodes in (0..width as u32).map(|block| 64 * block..64 * (block + 1)) {
                let first = list.partition_point(|hearer| hearer.node < nodes.start);
                let within = list.iter().filter(|hearer| nodes.contains(&hearer.node));
                let bits = within.map(|hearer| 1 << (hearer.node - nodes.start)).sum();
                blocks.push(Block { bits, first: first as u32 });
            }
            hearers.append(&mut list);
        }
        begins.push(hearers.len() as u32);
        let bit = |(at, block): (usize, &Block)| u64::from(block.bits != 0) << (at % 64);
        let filled = |row: &[Block]| row.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
        let filled = blocks.chunks(width.max(1)).map(filled).collect();
        Self { begins, hearers, blocks, width, filled }
    }

    /// Nodes that hear this one, by number.
    pub(super) fn of(&self, node: u32) -> &[Hearer] {
        let node = node as usize;
        &self.hearers[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// The place of a node among those that hear another; none if it never does.
    #[inline]
    pub(super) fn place(&self, from: u32, to: u32) -> Option<usize> {
        let block = &self.blocks[from as usize * self.width + to as usize / 64];
        let bit = 1 << (to % 64);
        let before = (block.bits & (bit - 1)).count_ones();
        (block.bits & bit != 0).then(|| (block.first + before) as usize)
    }

    /// A node as one that hears another; none if it never does.
    pub(super) fn find(&self, from: u32, to: u32) -> Option<&Hearer> {
        self.place(from, to).map(|place| &self.of(from)[place])
    }

    /// Whether there is a node that hears both.
    pub(super) fn meet(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let row = |node: usize| &self.blocks[node * self.width..(node + 1) * self.width];
        let mut both = self.filled[a] & self.filled[b];
        while both != 0 {
            let first = both.trailing_zeros() as usize;
            both &= both - 1;
            for at in (first..self.width).step_by(64) {
                if row(a)[at].bits & row(b)[at].bits != 0 {
                    return true;
                }
            }
        }
        false
    }
}

/// Those that hear each node.
fn lists(sites: &[Site], radio: &Radio) -> Vec<Vec<Hearer>> {
    let count = sites.len() as u32;
    let weakest = radio.receiver.weakest();
    let mut lists: Vec<Vec<Hearer>> = vec![Vec::new(); sites.len()];
    for high in 1..count {
        for low in 0..high {
            let (a, b) = (&sites[low as usize], &sites[high as usize]);
            if a.channel != b.channel {
                continue;
            }
            let moves = radio.goes_by_place() && (a.course.moves() || b.course.moves());
            let way = if moves {
                Way { distance: a.course.closest(&b.course), now: Instant::ZERO }
            } else {
                Way::at(Instant::ZERO, a, b)
            };
            let (up, down) = radio.losses.between(low, high, way);
            for (from, to, level) in [(low, high, a.tx_power - up), (high, low, b.tx_power - down)]
            {
                if level >= weakest {
                    let power = Power::from(Milliwatts::from(level).0);
                    lists[from as usize].push(Hearer { node: to, moves, power });
                }
            }
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error::Nist;
    use crate::phy::propagation::{Course, Position};
    use crate::space::Losses;
    use kernel::{Db, Dbm};

    #[test]
    fn the_table_of_bits_says_what_the_list_says() {
        // Many blocks, and unevenly: each hears its neighbourhood, and some nobody.
        let count = 300_u32;
        let near = |a: u32, b: u32| a.abs_diff(b) < 40 && (a * 7 + b * 13) % 5 < 2;
        let hears = |from: u32, to: u32| from != to && !from.is_multiple_of(3) && near(from, to);
        let loss = |from, to| Db(if hears(from, to) { 80.0 } else { 300.0 });
        let row = |from| (0..count).map(|to| loss(from, to)).collect();
        let radio = Radio::new(Losses::Matrix((0..count).map(row).collect()), Box::new(Nist {}));
        let course = Course::from(Position::default());
        let site = Site { course, channel: 1, tx_power: Dbm(20.0), is_access_point: false };
        let hearing = Hearing::new(&vec![site; count as usize], &radio);
        for from in 0..count {
            let list: Vec<u32> = hearing.of(from).iter().map(|hearer| hearer.node).collect();
            assert_eq!(list, (0..count).filter(|&to| hears(from, to)).collect::<Vec<_>>());
            for to in 0..count {
                let found = hearing.find(from, to).map(|hearer| hearer.node);
                assert_eq!(found, hears(from, to).then_some(to));
                let both = |node| hears(from, node) && hears(to, node);
                assert_eq!(hearing.meet(from, to), (0..count).any(both));
            }
        }
    }
}
