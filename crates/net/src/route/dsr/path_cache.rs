//! A cache of whole paths, as ns-2 has it (RFC 4728 section 4.1, "path cache").

use super::cache::RouteCache;
use kernel::{Id, Instant};
use settings::Settings;
use wire::NodeId;

/// Whole paths: those that the node has asked for, and in a second store those that it has
/// overheard. Each store replaces its oldest path.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(name = "DsrPathCache")]
pub struct PathCacheConfig {
    /// Paths that the node has asked for or uses.
    #[setting(skip, default = 30)]
    pub primary_paths: usize,
    /// Paths that it has overheard and not used.
    #[setting(skip, default = 64)]
    pub secondary_paths: usize,
}

/// The paths of a node.
#[derive(Debug)]
pub(super) struct PathCache {
    node: NodeId,
    primary: Store,
    secondary: Store,
    /// What was found last: packets that wait for a route ask for the same nodes again and again.
    found: [Option<Found>; PathCache::FOUND],
}

/// The best path to a node when the cache had changed so often.
#[derive(Clone, Copy, Debug)]
struct Found {
    to: NodeId,
    changes: u64,
    best: Option<Hit>,
}

/// The place of a node: the index of a path, and the place in the path.
#[derive(Clone, Copy, Debug)]
struct Hit {
    is_secondary: bool,
    index: usize,
    place: usize,
}

impl PathCache {
    const FOUND: usize = 8;

    pub(super) fn new(node: NodeId, config: &PathCacheConfig) -> Self {
        let store = |most| Store { most, ..Store::default() };
        Self {
            node,
            primary: store(config.primary_paths),
            secondary: store(config.secondary_paths),
            found: [None; Self::FOUND],
        }
    }

    /// The best path to a node.
    fn best(&mut self, to: NodeId) -> Option<Hit> {
        let (changes, last) = (self.changes(), &mut self.found[to.index() % Self::FOUND]);
        if let Some(found) = last.filter(|found| (found.to, found.changes) == (to, changes)) {
            return found.best;
        }
        let place = |is_secondary| move |(index, place)| Hit { is_secondary, index, place };
        let primary = self.primary.find(to).map(place(false));
        let secondary = self.secondary.find(to).map(place(true));
        let is_shorter = |second: &Hit| primary.is_none_or(|first| second.place < first.place);
        let best = secondary.filter(is_shorter).or(primary);
        *last = Some(Found { to, changes, best });
        best
    }
}

impl RouteCache for PathCache {
    fn add(&mut self, _now: Instant, path: &[NodeId]) {
        debug_assert_eq!(path.first(), Some(&self.node));
        self.primary.add(path);
    }

    fn notice(&mut self, _now: Instant, path: &[NodeId]) {
        debug_assert_eq!(path.first(), Some(&self.node));
        self.secondary.add(path);
    }

    fn remove(&mut self, _now: Instant, from: NodeId, to: NodeId) {
        self.primary.cut(from, to);
        self.secondary.cut(from, to);
    }

    fn changes(&self) -> u64 {
        self.primary.changes + self.secondary.changes
    }

    fn find(&mut self, _now: Instant, to: NodeId, for_use: bool) -> Option<&[NodeId]> {
        let Hit { is_secondary, mut index, place } = self.best(to)?;
        if is_secondary {
            if !for_use {
                return Some(&self.secondary.paths[index][..=place]);
            }
            // A path that is used moves to the first store.
            let path = self.secondary.take(index);
            index = self.primary.add(&path);
        }
        Some(&self.primary.paths[index][..=place])
    }
}

/// Paths of one kind.
#[derive(Debug, Default)]
struct Store {
    most: usize,
    /// A place may be empty.
    paths: Vec<Vec<NodeId>>,
    /// [`bits`] of the nodes of each path, in an array of their own: few paths are looked at.
    bits: Vec<u64>,
    /// The path that is replaced next.
    victim: usize,
    changes: u64,
}

/// A bit for each of these nodes. Most paths do not have the node that is looked for, which their
/// bits tell at once.
fn bits(nodes: &[NodeId]) -> u64 {
    nodes.iter().fold(0, |bits, node| bits | 1 << (node.0 % 64))
}

impl Store {
    /// Adds a path; returns its place. A path that begins with a stored one replaces it.
    fn add(&mut self, path: &[NodeId]) -> usize {
        let bits = bits(path);
        for (index, stored_bits) in self.bits.iter_mut().enumerate() {
            let both = *stored_bits & bits;
            if both != *stored_bits && both != bits {
                continue;
            }
            let stored = &mut self.paths[index];
            let common = stored.iter().zip(path).take_while(|(a, b)| a == b).count();
            if common == stored.len() || common == path.len() {
                self.changes += u64::from(common < path.len());
                stored.extend(&path[common..]);
                *stored_bits |= bits;
                return index;
            }
        }
        self.changes += 1;
        if self.paths.len() < self.most {
            self.paths.push(path.to_vec());
            self.bits.push(bits);
            return self.paths.len() - 1;
        }
        let index = self.victim;
        self.victim = (index + 1) % self.most;
        path.clone_into(&mut self.paths[index]);
        self.bits[index] = bits;
        index
    }

    /// Removes the path at a place, and leaves the place empty.
    fn take(&mut self, index: usize) -> Vec<NodeId> {
        self.changes += 1;
        self.bits[index] = 0;
        std::mem::take(&mut self.paths[index])
    }

    /// The first of the shortest paths to a node: its index, and the place of the node in it.
    fn find(&self, to: NodeId) -> Option<(usize, usize)> {
        let (mut best, bit) = (None, bits(&[to]));
        for (index, _) in self.bits.iter().enumerate().filter(|(_, bits)| **bits & bit > 0) {
            // Behind the best place so far, the node is of no use.
            let most = best.map_or(usize::MAX, |(_, place)| place);
            let nodes = &self.paths[index];
            if let Some(place) = nodes.iter().take(most).position(|&node| node == to) {
                best = Some((index, place));
            }
        }
        best
    }

    /// Removes what is behind a link.
    fn cut(&mut self, from: NodeId, to: NodeId) {
        let both = bits(&[from, to]);
        let all = self.paths.iter_mut().zip(&mut self.bits);
        for (path, path_bits) in all.filter(|(_, path_bits)| **path_bits & both == both) {
            if let Some(place) = path.windows(2).position(|pair| pair == [from, to]) {
                self.changes += 1;
                path.truncate(if place == 0 { 0 } else { place + 1 });
                *path_bits = bits(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(0);

    fn nodes(list: &[u32]) -> Vec<NodeId> {
        list.iter().copied().map(NodeId).collect()
    }

    fn cache(primary_paths: usize) -> PathCache {
        let config = PathCacheConfig { primary_paths, ..PathCacheConfig::default() };
        PathCache::new(NodeId(0), &config)
    }

    fn find(cache: &mut PathCache, to: u32) -> Vec<NodeId> {
        cache.find(NOW, NodeId(to), true).unwrap_or_default().to_vec()
    }

    #[test]
    fn the_shortest_path_is_found_and_a_node_on_the_way_too() {
        let mut cache = cache(30);
        cache.add(NOW, &nodes(&[0, 1, 2, 3]));
        cache.notice(NOW, &nodes(&[0, 4, 3]));
        assert_eq!(find(&mut cache, 3), nodes(&[0, 4, 3]));
        assert_eq!(find(&mut cache, 2), nodes(&[0, 1, 2]));
    }

    #[test]
    fn nodes_that_share_a_bit_are_told_apart() {
        let mut cache = cache(30);
        cache.add(NOW, &nodes(&[0, 1, 2]));
        assert!(find(&mut cache, 65).is_empty());
        cache.remove(NOW, NodeId(65), NodeId(2));
        assert_eq!(find(&mut cache, 2), nodes(&[0, 1, 2]));
        cache.add(NOW, &nodes(&[0, 65]));
        assert_eq!(find(&mut cache, 65), nodes(&[0, 65]));
    }

    #[test]
    fn of_equally_short_paths_the_one_that_was_asked_for_is_taken() {
        let mut cache = cache(30);
        cache.notice(NOW, &nodes(&[0, 4, 3]));
        cache.add(NOW, &nodes(&[0, 1, 3]));
        assert_eq!(find(&mut cache, 3), nodes(&[0, 1, 3]));
    }

    #[test]
    fn a_broken_link_ends_the_paths_over_it() {
        let mut cache = cache(30);
        cache.add(NOW, &nodes(&[0, 1, 2, 3]));
        cache.remove(NOW, NodeId(1), NodeId(2));
        assert!(find(&mut cache, 2).is_empty());
        assert_eq!(find(&mut cache, 1), nodes(&[0, 1]));
        cache.remove(NOW, NodeId(0), NodeId(1));
        assert!(find(&mut cache, 1).is_empty());
    }

    #[test]
    fn a_full_store_replaces_its_oldest_path() {
        let mut cache = cache(2);
        for to in 1..=3 {
            cache.add(NOW, &nodes(&[0, to]));
        }
        assert!(find(&mut cache, 1).is_empty());
        assert_eq!(find(&mut cache, 2), nodes(&[0, 2]));
    }
}
