//! A cache of links: Link-MaxLife (RFC 4728 section 4.1; Hu and Johnson, "Caching strategies in
//! on-demand routing protocols for wireless ad hoc networks", `MobiCom` 2000).

use super::cache::RouteCache;
use kernel::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use wire::NodeId;

/// The stability of a node of which nothing is known: `InitStability` (Link-MaxLife, RFC 4728
/// section 4.1, as all below).
const INIT_STABILITY: Duration = Duration::from_secs(25);
/// By how much a node's stability grows when a link to it is used: this times the time since the
/// link was used before (`StabilityIncrFactor`).
const STABILITY_INCREASE: f64 = 4.0;
/// The factor by which a node's stability changes when a link to it fails (`StabilityDecrFactor`).
const STABILITY_DECREASE: f64 = 0.5;
/// The least lifetime of a link: `MinLifetime`.
const MIN_LIFETIME: Duration = Duration::from_secs(1);
/// For how long a link stays at least after each use: `UseExtends`.
const USE_EXTENDS: Duration = Duration::from_secs(120);

/// The links that a node knows.
#[derive(Debug)]
pub(super) struct LinkCache {
    node: NodeId,
    links: BTreeMap<(NodeId, NodeId), Link>,
    /// By node; a node that is not in it has the initial stability.
    stability: BTreeMap<NodeId, Duration>,
    /// The shortest paths, as long as no link is added or removed.
    tree: Option<Tree>,
    changes: u64,
    /// The path that was found last.
    found: Vec<NodeId>,
}

/// What is known of a link.
#[derive(Clone, Copy, Debug)]
struct Link {
    expires: Instant,
    used: Instant,
}

/// The node before each node on the shortest path to it.
#[derive(Debug)]
struct Tree {
    before: BTreeMap<NodeId, NodeId>,
    /// When the first of all links expires.
    until: Instant,
}

impl LinkCache {
    pub(super) fn new(node: NodeId) -> Self {
        let (links, stability, found) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { node, links, stability, tree: None, changes: 0, found }
    }

    fn stability(&self, node: NodeId) -> Duration {
        self.stability.get(&node).copied().unwrap_or(INIT_STABILITY)
    }

    /// Removes the links whose lifetime has ended, and computes the paths anew if a link has
    /// changed.
    fn update(&mut self, now: Instant) {
        if self.tree.as_ref().is_some_and(|tree| now < tree.until) {
            return;
        }
        self.links.retain(|_, link| link.expires > now);
        self.changes += 1;
        let until = self.links.values().map(|link| link.expires).min();
        let before = self.shortest_paths();
        self.tree = Some(Tree { before, until: until.unwrap_or(Instant::NEVER) });
    }

    /// Shortest paths by hops. Of equally short paths the one whose first link to expire expires
    /// last is taken.
    fn shortest_paths(&self) -> BTreeMap<NodeId, NodeId> {
        let mut before = BTreeMap::new();
        let first = (Reverse(0_u32), Instant::NEVER, Reverse(self.node), self.node);
        let mut frontier = BinaryHeap::from([first]);
        while let Some((Reverse(hops), expires, Reverse(node), from)) = frontier.pop() {
            if before.contains_key(&node) {
                continue;
            }
            before.insert(node, from);
            for (&(_, next), link) in self.links.range((node, NodeId(0))..=(node, NodeId(u32::MAX)))
            {
                if !before.contains_key(&next) {
                    let expires = expires.min(link.expires);
                    frontier.push((Reverse(hops + 1), expires, Reverse(next), node));
                }
            }
        }
        before
    }

    /// A packet of this node uses the path that was found.
    fn use_found(&mut self, now: Instant) {
        for pair in self.found.windows(2) {
            let Some(link) = self.links.get_mut(&(pair[0], pair[1])) else { continue };
            let idle = now.since(link.used);
            link.used = now;
            link.expires = link.expires.max(now + USE_EXTENDS);
            if idle == Duration::ZERO {
                continue;
            }
            let more = idle.as_secs_f64() * STABILITY_INCREASE;
            for node in pair {
                let stability = self.stability.entry(*node).or_insert(INIT_STABILITY);
                *stability += Duration::from_secs_f64(more);
            }
        }
    }
}

impl RouteCache for LinkCache {
    fn add(&mut self, now: Instant, path: &[NodeId]) {
        for pair in path.windows(2) {
            let lifetime = self.stability(pair[0]).min(self.stability(pair[1]));
            let expires = now + lifetime.max(MIN_LIFETIME);
            let link = self.links.entry((pair[0], pair[1])).or_insert_with(|| {
                (self.tree, self.changes) = (None, self.changes + 1);
                Link { expires, used: now }
            });
            link.expires = link.expires.max(expires);
        }
    }

    fn notice(&mut self, now: Instant, path: &[NodeId]) {
        self.add(now, path);
    }

    fn remove(&mut self, _now: Instant, from: NodeId, to: NodeId) {
        // The MAC needs both directions of a link.
        let ends = [(from, to), (to, from)];
        if ends.map(|link| self.links.remove(&link).is_some()).contains(&true) {
            (self.tree, self.changes) = (None, self.changes + 1);
        }
        for node in [from, to] {
            let stability = self.stability(node).as_secs_f64() * STABILITY_DECREASE;
            self.stability.insert(node, Duration::from_secs_f64(stability));
        }
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn find(&mut self, now: Instant, to: NodeId, for_use: bool) -> Option<&[NodeId]> {
        self.update(now);
        let tree = self.tree.as_ref()?;
        self.found.clear();
        let mut node = to;
        while node != self.node {
            self.found.push(node);
            node = *tree.before.get(&node)?;
        }
        self.found.push(node);
        self.found.reverse();
        if for_use {
            self.use_found(now);
        }
        Some(&self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(list: &[u32]) -> Vec<NodeId> {
        list.iter().copied().map(NodeId).collect()
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn cache() -> LinkCache {
        LinkCache::new(NodeId(0))
    }

    fn find(cache: &mut LinkCache, seconds: u64, to: u32) -> Vec<NodeId> {
        cache.find(at(seconds), NodeId(to), false).unwrap_or_default().to_vec()
    }

    #[test]
    fn links_of_different_routes_form_a_path() {
        let mut cache = cache();
        cache.add(at(0), &nodes(&[0, 1, 2, 3]));
        cache.notice(at(0), &nodes(&[0, 4, 2]));
        cache.remove(at(0), NodeId(1), NodeId(2));
        assert_eq!(find(&mut cache, 0, 3), nodes(&[0, 4, 2, 3]));
    }

    #[test]
    fn a_link_of_unknown_nodes_stays_25_s_and_120_s_after_a_use() {
        let mut cache = cache();
        cache.add(at(0), &nodes(&[0, 1]));
        cache.add(at(0), &nodes(&[0, 2]));
        assert_eq!(find(&mut cache, 24, 2), nodes(&[0, 2]));
        assert!(cache.find(at(20), NodeId(1), true).is_some());
        assert!(find(&mut cache, 25, 2).is_empty());
        assert_eq!(find(&mut cache, 139, 1), nodes(&[0, 1]));
        assert!(find(&mut cache, 140, 1).is_empty());
    }

    #[test]
    fn a_node_whose_links_fail_has_links_of_half_the_lifetime_and_of_1_s_at_least() {
        let mut cache = cache();
        cache.remove(at(0), NodeId(1), NodeId(2));
        cache.add(at(0), &nodes(&[0, 1]));
        assert_eq!(find(&mut cache, 12, 1), nodes(&[0, 1]), "25 s / 2 = 12.5 s");
        assert!(find(&mut cache, 13, 1).is_empty());
        (0..10).for_each(|_| cache.remove(at(20), NodeId(1), NodeId(2)));
        cache.add(at(20), &nodes(&[0, 1]));
        assert!(find(&mut cache, 21, 1).is_empty());
    }

    #[test]
    fn a_use_adds_four_times_the_time_since_the_last_to_the_stability() {
        let mut cache = cache();
        cache.add(at(0), &nodes(&[0, 1]));
        assert!(cache.find(at(10), NodeId(1), true).is_some());
        assert_eq!(cache.stability(NodeId(1)), Duration::from_secs(25 + 40));
    }

    #[test]
    fn of_equally_short_paths_the_one_that_lives_longer_is_taken() {
        let mut cache = cache();
        cache.add(at(0), &nodes(&[0, 1, 3]));
        cache.add(at(5), &nodes(&[0, 2, 3]));
        assert_eq!(find(&mut cache, 6, 3), nodes(&[0, 2, 3]));
    }
}
