//! Slices of time, and which nodes are near each other in a slice.
//!
//! If nodes move, the receiver set of a transmitter holds for a slice of time in which no node
//! moves far. The cost of a frame therefore depends on the nodes that are near, and not on all
//! nodes that come near at some time. A grid, made once in each slice, finds them.
//!
//! A position is a function of time: the received power between nodes of which one moves is
//! computed when a frame begins, and a frame ends at the nodes at which it began.

use super::radio::{Radio, Site};
use kernel::{Duration, Instant, Span};

/// A node moves at most this part of the greatest range in a slice. Receiver sets are computed the
/// more often the smaller it is, and contain the more nodes in vain the greater it is.
const PART: f64 = 1.0 / 16.0;

/// The slices of a run.
#[derive(Debug)]
pub(super) struct Slices {
    /// The duration of a slice, and the greatest distance of the middle positions of two nodes that
    /// are in range of each other in the slice; `None` if the whole run is one slice.
    moving: Option<(Duration, f64)>,
    /// The square of a distance in metres at which no node is in range of two nodes.
    apart_m2: f64,
    grid: Grid,
}

/// A slice: a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// From 0 on.
    pub(super) number: u64,
    pub(super) span: Span,
}

/// The middle position of a node in a slice. Where nothing moves it is NaN, so that no two are
/// apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    slice: u64,
    position: [f64; 2],
}

impl Default for Centre {
    fn default() -> Self {
        Self { slice: 0, position: [f64::NAN; 2] }
    }
}

impl Slice {
    /// The whole run.
    pub(super) const RUN: Self =
        Self { number: 0, span: Span { start: Instant::ZERO, end: Instant::NEVER } };
}

impl Slices {
    pub(super) fn new(radio: &Radio, sites: &[Site]) -> Self {
        let fastest = sites.iter().map(|site| site.trajectory.fastest()).fold(0.0, f64::max);
        let reach = sites.iter().map(|site| radio.reach(site.tx_power)).fold(0.0, f64::max);
        // A slice has at least a millisecond, and is shorter than any run.
        let length_s = (PART * reach / fastest).max(1e-3);
        let moving = (fastest > 0.0 && length_s < 1e9).then(|| {
            let length = Duration::from_secs_f64(length_s);
            // A metre allows for rounding.
            (length, reach + fastest * length.as_secs_f64() + 1.0)
        });
        let apart_m = moving.map_or(f64::INFINITY, |(_, side)| 2.0 * side + 1.0);
        Self { moving, apart_m2: apart_m * apart_m, grid: Grid::default() }
    }

    /// The slice of an instant.
    pub(super) fn at(&self, now: Instant) -> Slice {
        match self.moving {
            None => Slice::RUN,
            Some((length, _)) => {
                let number = now.0 / length.0;
                let begin = Instant(number * length.0);
                Slice { number, span: Span { start: begin, end: begin + length } }
            }
        }
    }

    /// Appends all nodes that may be in range of a node in a slice, in ascending order.
    pub(super) fn near(&mut self, from: u32, slice: Slice, sites: &[Site], into: &mut Vec<u32>) {
        let Some((length, side)) = self.moving else {
            return into.extend(0..sites.len() as u32);
        };
        if self.grid.slice != Some(slice.number) {
            let middle = slice.span.start + Duration(length.0 / 2);
            self.grid.fill(slice.number, side, sites, middle);
        }
        self.grid.near(from, into);
        into.sort_unstable();
    }

    /// Where a node is in the slice of which the nodes near it were found last.
    pub(super) fn centre(&self, node: u32) -> Centre {
        let position = self.grid.positions.get(node as usize).copied();
        let known = self.grid.slice.zip(position);
        known.map_or_else(Centre::default, |(slice, position)| Centre { slice, position })
    }

    /// Whether two nodes are so far apart in a slice that no node is in range of both.
    #[inline]
    pub(super) fn are_apart(&self, a: &Centre, b: &Centre) -> bool {
        let [x, y] = [0, 1].map(|axis| a.position[axis] - b.position[axis]);
        x * x + y * y > self.apart_m2 && a.slice == b.slice
    }
}

/// The nodes by the squares of a grid in which their middle positions are.
#[derive(Debug, Default)]
struct Grid {
    /// The slice for which it holds.
    slice: Option<u64>,
    /// The side of a square.
    side: f64,
    /// The south-west corner.
    corner: [f64; 2],
    /// The number of squares from west to east and from south to north.
    squares: [usize; 2],
    positions: Vec<[f64; 2]>,
    /// The nodes, square by square.
    nodes: Vec<u32>,
    /// For each square, the place of its first node; and the number of nodes.
    first: Vec<u32>,
}

impl Grid {
    fn fill(&mut self, slice: u64, side: f64, sites: &[Site], middle: Instant) {
        self.slice = Some(slice);
        self.positions.clear();
        self.positions.extend(sites.iter().map(|site| {
            let position = site.trajectory.at(middle);
            [position.x, position.y]
        }));
        let extreme = |axis: usize, pick: fn(f64, f64) -> f64| {
            self.positions.iter().map(|position| position[axis]).reduce(pick).unwrap_or(0.0)
        };
        self.corner = [0, 1].map(|axis| extreme(axis, f64::min));
        let size = [0, 1].map(|axis| extreme(axis, f64::max) - self.corner[axis]);
        // At most about as many squares as nodes, however far apart the nodes are.
        let most = libm::sqrt(sites.len() as f64).max(1.0);
        self.side = side.max(size[0].max(size[1]) / most);
        self.squares = size.map(|size| (size / self.side) as usize + 1);
        self.first.clear();
        self.first.resize(self.squares[0] * self.squares[1] + 1, 0);
        for node in 0..self.positions.len() {
            let square = self.number(self.square(node));
            self.first[square] += 1;
        }
        let mut end = 0;
        for first in &mut self.first {
            end += *first;
            *first = end;
        }
        self.nodes.clear();
        self.nodes.resize(sites.len(), 0);
        for node in 0..sites.len() {
            let square = self.number(self.square(node));
            self.first[square] -= 1;
            self.nodes[self.first[square] as usize] = node as u32;
        }
    }

    /// The square of a node, by column and row.
    fn square(&self, node: usize) -> [usize; 2] {
        let at = self.positions[node];
        [0, 1].map(|axis| ((at[axis] - self.corner[axis]) / self.side) as usize)
    }

    fn number(&self, [column, row]: [usize; 2]) -> usize {
        row * self.squares[0] + column
    }

    /// Appends the nodes whose middle positions are at most a side away from that of a node.
    fn near(&self, from: u32, into: &mut Vec<u32>) {
        let here = self.positions[from as usize];
        let [column, row] = self.square(from as usize);
        let last = self.squares.map(|squares| squares - 1);
        let is_near = |node: &&u32| {
            let there = self.positions[**node as usize];
            let [x, y] = [here[0] - there[0], here[1] - there[1]];
            x * x + y * y <= self.side * self.side
        };
        for row in row.saturating_sub(1)..=(row + 1).min(last[1]) {
            let [west, east] = [column.saturating_sub(1), (column + 1).min(last[0])];
            let begin = self.first[self.number([west, row])] as usize;
            let end = self.first[self.number([east, row]) + 1] as usize;
            into.extend(self.nodes[begin..end].iter().filter(is_near));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error::Nist;
    use crate::phy::propagation::{Friis, Position, Trajectory, TwoRay};
    use crate::space::Losses;
    use kernel::{Dbm, Seed};

    /// Nodes on 40 km² that move to another place within 1000 s.
    fn sites(count: u32) -> Vec<Site> {
        let mut rng = Seed { root: 2, replication: 0 }.stream("test", 0);
        let mut place =
            || Position { x: 8000.0 * rng.uniform(), y: 5000.0 * rng.uniform(), z: 1.5 };
        let site = |_| {
            let end = Instant::ZERO + Duration::from_secs_f64(1000.0);
            let trajectory = Trajectory::through(vec![(Instant::ZERO, place()), (end, place())]);
            Site { trajectory, channel: 1, tx_power: Dbm(0.0), is_access_point: false }
        };
        (0..count).map(site).collect()
    }

    #[test]
    fn the_nodes_near_are_those_within_the_range_in_the_slice() {
        let radio = Radio::new(Losses::Places(Box::new(TwoRay {})), Box::new(Nist {}));
        let sites = sites(200);
        let reach = radio.reach(Dbm(0.0));
        assert!((500.0..700.0).contains(&reach), "{reach}");
        let mut slices = Slices::new(&radio, &sites);
        let mut found = 0;
        for second in (0..1000).step_by(37) {
            let now = Instant::ZERO + Duration::from_secs_f64(f64::from(second));
            let slice = slices.at(now);
            assert!(slice.span.start <= now && now < slice.span.end);
            for from in 0..200 {
                let mut near = Vec::new();
                slices.near(from, slice, &sites, &mut near);
                assert!(near.is_sorted() && near.contains(&from));
                for to in 0..200 {
                    let [a, b] = [from, to].map(|node| &sites[node as usize].trajectory);
                    let is_near = near.binary_search(&to).is_ok();
                    let distance = a.closest_during(b, slice.span);
                    assert!(is_near || distance > reach, "{from} {to}: {distance}");
                    assert!(!is_near || distance < 1.2 * reach, "{from} {to}: {distance}");
                }
                found += near.len();
            }
        }
        assert!(found < 28 * 200 * 12, "{found}: about a thirtieth of all nodes are near");
    }

    #[test]
    fn nodes_that_are_apart_have_none_in_range_of_both() {
        let radio = Radio::new(Losses::Places(Box::new(TwoRay {})), Box::new(Nist {}));
        let sites = sites(120);
        let mut slices = Slices::new(&radio, &sites);
        let (first, second) = (slices.at(Instant::ZERO), slices.at(Instant(30_000_000_000)));
        assert_ne!(first, second);
        let mut apart = 0;
        let mut find = |slice: Slice, from: u32| {
            let mut near = Vec::new();
            slices.near(from, slice, &sites, &mut near);
            let (own, reach) = (&sites[from as usize].trajectory, radio.reach(Dbm(0.0)));
            let distance = |to: u32| sites[to as usize].trajectory.closest_during(own, slice.span);
            near.retain(|&to| distance(to) <= reach);
            (near, slices.centre(from))
        };
        let found: Vec<_> = (0..120).map(|from| find(first, from)).collect();
        let (_, later) = find(second, 0);
        for (a, centre) in &found {
            for (b, other) in &found {
                if slices.are_apart(centre, other) {
                    assert!(!a.iter().any(|node| b.contains(node)));
                    apart += 1;
                }
            }
            assert!(!slices.are_apart(centre, &later), "of another slice nothing is known");
        }
        assert!(apart > 120 * 120 / 2, "{apart}");
        assert!(!slices.are_apart(&Centre::default(), &found[0].1));
    }

    #[test]
    fn a_run_in_which_nothing_moves_is_one_slice() {
        let radio = Radio::new(Losses::Places(Box::new(TwoRay {})), Box::new(Nist {}));
        let mut still = sites(3);
        for site in &mut still {
            site.trajectory = site.trajectory.at(Instant::ZERO).into();
        }
        let mut slices = Slices::new(&radio, &still);
        assert_eq!(slices.at(Instant(7)), slices.at(Instant(1 << 60)));
        let mut near = Vec::new();
        slices.near(1, slices.at(Instant(7)), &still, &mut near);
        assert_eq!(near, [0, 1, 2]);
    }

    #[test]
    fn nodes_very_far_apart_need_few_squares() {
        let friis = Losses::Places(Box::new(Friis { frequency_mhz: 1e6 }));
        let radio = Radio::new(friis, Box::new(Nist {}));
        let sites = sites(50);
        let mut slices = Slices::new(&radio, &sites);
        slices.near(0, slices.at(Instant::ZERO), &sites, &mut Vec::new());
        assert!(slices.grid.first.len() < 100, "{}", slices.grid.first.len());
    }
}
