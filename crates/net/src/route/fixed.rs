//! Static routes: shortest paths over the links at the start of the run.

use super::{Command, Context, Neighbours, Protocol, RouteDrop, RouteNote, Router, Site};
use kernel::{IdVec, Instant};
use settings::{Choice, Settings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::{NodeId, Packet, Paths};

/// Shortest paths over the links at the start of the run, which never change.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct StaticConfig {
    /// What a path is the shortest of.
    pub metric: Metric,
    /// Routes that replace the shortest paths.
    pub routes: Vec<ListedRoute>,
    /// The same by the numbers of nodes: at this node, to that one, by this neighbour.
    #[setting(skip)]
    pub listed: Vec<[NodeId; 3]>,
}

impl StaticConfig {
    /// The next hops of a node.
    pub fn next_hops(&self, site: &Site<'_>) -> NextHops {
        let here = self.listed.iter().filter(|[at, ..]| *at == site.node);
        let listed = here.map(|&[_, to, next]| (to, next)).collect();
        NextHops { tree: Tree::shortest(site.node, site.links), listed }
    }
}

/// A route of one node.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ListedRoute {
    /// The node, or several: "sta0", "sta*", "sta0-4"; required.
    #[setting(required = "as \"sta0\"")]
    pub at: String,
    /// The destination, or several; required.
    #[setting(required = "as \"sta4\"")]
    pub to: String,
    /// The neighbour to which packets for it go; required.
    #[setting(required = "as \"sta1\"")]
    pub next: String,
}

/// The length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Metric {
    /// The number of its hops. Links are those over which 90 % of the frames of 1536 bytes arrive
    /// in each direction without interference.
    #[default]
    Hops,
    /// The expected number of transmissions over its hops, each the inverse of the product of the
    /// fractions of frames that arrive in both directions (De Couto et al., `MobiCom` 2003).
    Etx,
}

impl Protocol for StaticConfig {
    fn metric(&self) -> Option<Metric> {
        Some(self.metric)
    }

    fn build(&self, site: &Site<'_>) -> Box<dyn Router> {
        Box::new(StaticRouter { node: site.node, next_hops: self.next_hops(site) })
    }
}

/// The router of a node with static routes. A link that fails stays in use.
#[derive(Debug)]
struct StaticRouter {
    node: NodeId,
    next_hops: NextHops,
}

impl StaticRouter {
    fn forward(&self, mut packet: Packet, context: &mut Context<'_>) {
        let Some(to) = packet.to else { return context.out.push(Command::Send(packet)) };
        let exit = context.exit(to);
        if exit == self.node {
            return context.out.push(Command::Deliver(packet));
        }
        match self.next_hops.to(exit) {
            Some(next) => {
                packet.next = next;
                context.out.push(Command::Send(packet));
            }
            None => context.out.push(Command::Drop(packet, RouteDrop::NoRoute)),
        }
    }
}

impl Router for StaticRouter {
    fn on_packet(&mut self, packet: Packet, context: &mut Context<'_>) {
        self.forward(packet, context);
    }

    fn on_received(&mut self, _from: NodeId, packet: &Packet, context: &mut Context<'_>) {
        if packet.to.is_none_or(|to| context.exit(to) == self.node) {
            return context.out.push(Command::Deliver(*packet));
        }
        // RFC 1812 section 5.3.1: a router discards a packet whose time to live it would set to 0.
        let packet = Packet { ttl: packet.ttl.saturating_sub(1), ..*packet };
        if packet.ttl == 0 {
            return context.out.push(Command::Drop(packet, RouteDrop::TimeToLive));
        }
        self.forward(packet, context);
    }

    fn on_link_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        _purged: bool,
        context: &mut Context<'_>,
    ) {
        context.out.push(Command::Note(RouteNote::LinkFailure { neighbour }));
        context.out.push(Command::Drop(packet, RouteDrop::SalvageFailed));
    }

    fn on_timer(&mut self, _context: &mut Context<'_>) {}

    fn hops(&self, destination: NodeId, _paths: &Paths) -> Option<u8> {
        self.next_hops.hops(destination)
    }

    fn next_hop(&self, destination: NodeId, _now: Instant) -> Option<NodeId> {
        self.next_hops.to(destination)
    }

    fn each(&self, _visit: &mut dyn FnMut(&Packet)) {}
}

/// The next hops of a node to all others.
#[derive(Clone, Debug)]
pub struct NextHops {
    tree: Tree,
    /// Destination and next hop of the routes that are listed.
    listed: Vec<(NodeId, NodeId)>,
}

impl NextHops {
    /// The next hop to a destination.
    pub fn to(&self, destination: NodeId) -> Option<NodeId> {
        self.listed(destination).or_else(|| self.tree.next(destination))
    }

    /// The next hop that is listed for a destination.
    pub fn listed(&self, destination: NodeId) -> Option<NodeId> {
        self.listed.iter().find(|(to, _)| *to == destination).map(|&(_, next)| next)
    }

    /// The number of hops; not known where the next hop is listed.
    fn hops(&self, destination: NodeId) -> Option<u8> {
        if self.listed(destination).is_some() { None } else { self.tree.hops(destination) }
    }
}

/// The first hop and the number of hops of the shortest path from one node to each other.
#[derive(Clone, Debug)]
struct Tree(IdVec<NodeId, Option<(NodeId, u8)>>);

impl Tree {
    /// Shortest paths by Dijkstra's algorithm (Numerische Mathematik 1, 1959). Of equally short
    /// paths the one with the fewest hops is taken, and then the one whose nodes have the lowest
    /// numbers.
    fn shortest(from: NodeId, links: &Neighbours) -> Self {
        let mut first: IdVec<NodeId, Option<(NodeId, u8)>> = IdVec::filled(links.len(), None);
        let mut frontier = BinaryHeap::from([Reverse((Cost(0.0), 0, from, from))]);
        while let Some(Reverse((cost, hops, node, first_hop))) = frontier.pop() {
            let Some(place) = first.get_mut(node) else { continue };
            if place.is_some() {
                continue;
            }
            *place = Some((first_hop, hops));
            for &(next, length) in &links[node] {
                let first_hop = if hops == 0 { next } else { first_hop };
                let hops = hops.saturating_add(1);
                frontier.push(Reverse((Cost(cost.0 + length), hops, next, first_hop)));
            }
        }
        Self(first)
    }

    fn next(&self, to: NodeId) -> Option<NodeId> {
        self.0.get(to)?.map(|(next, _)| next)
    }

    fn hops(&self, to: NodeId) -> Option<u8> {
        self.0.get(to)?.map(|(_, hops)| hops)
    }
}

/// The length of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Bytes, Instant, Seed};
    use wire::{Body, Datagram, FlowId};

    /// A ring of six nodes.
    fn ring() -> Neighbours {
        let link = |from: u32, by: u32| (NodeId((from + by) % 6), 1.0);
        (0..6).map(|from| vec![link(from, 1), link(from, 5)]).collect()
    }

    fn commands(
        node: u32,
        packet: Packet,
        event: fn(&mut dyn Router, Packet, &mut Context<'_>),
    ) -> Vec<Command> {
        let site = Site { node: NodeId(node), links: &ring() };
        let mut router = StaticConfig::default().build(&site);
        let (mut out, mut rng) = (Vec::new(), Seed { root: 1, replication: 0 }.stream("test", 0));
        let paths = &mut Paths::default();
        let (now, exits) = (Instant::ZERO, &IdVec::new());
        event(
            &mut *router,
            packet,
            &mut Context { now, paths, rng: &mut rng, exits, out: &mut out },
        );
        out
    }

    fn packet(from: u32, to: u32) -> Packet {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 100, stream: 0 });
        Packet::new(NodeId(from), Some(NodeId(to)), Bytes(128), Instant::ZERO, body)
    }

    #[test]
    fn a_packet_takes_the_shorter_way_round_a_ring() {
        let sent = |next| [Command::Send(Packet { next: NodeId(next), ..packet(0, 4) })];
        assert_eq!(commands(0, packet(0, 4), |r, p, c| r.on_packet(p, c)), sent(5));
    }

    #[test]
    fn a_listed_route_replaces_the_shortest_path() {
        let listed = vec![[NodeId(0), NodeId(4), NodeId(1)], [NodeId(5), NodeId(3), NodeId(0)]];
        let settings = StaticConfig { listed, ..StaticConfig::default() };
        let next_hops = settings.next_hops(&Site { node: NodeId(0), links: &ring() });
        let to = |node| next_hops.to(NodeId(node)).unwrap();
        assert_eq!((to(4), to(5), to(3)), (NodeId(1), NodeId(5), NodeId(1)));
    }

    #[test]
    fn the_time_to_live_ends_at_the_node_that_would_forward() {
        let old = Packet { ttl: 1, ..packet(0, 2) };
        let received = |node| commands(node, old, |r, p, c| r.on_received(NodeId(0), &p, c));
        assert_eq!(received(2), [Command::Deliver(old)], "the destination accepts it");
        let dropped = Packet { ttl: 0, ..old };
        assert_eq!(received(1), [Command::Drop(dropped, RouteDrop::TimeToLive)]);
    }

    #[test]
    fn without_a_link_there_is_no_route() {
        let links = [vec![(NodeId(1), 1.0)], vec![], vec![]].into();
        let tree = Tree::shortest(NodeId(0), &links);
        assert_eq!((tree.next(NodeId(1)), tree.hops(NodeId(1))), (Some(NodeId(1)), Some(1)));
        assert_eq!(tree.next(NodeId(2)), None);
    }

    #[test]
    fn a_path_of_good_links_is_shorter_than_one_bad_link() {
        let link = |to, cost| (NodeId(to), cost);
        let links = [vec![link(2, 5.0), link(1, 2.0)], vec![link(2, 2.0)], vec![]].into();
        let tree = Tree::shortest(NodeId(0), &links);
        assert_eq!((tree.next(NodeId(2)), tree.hops(NodeId(2))), (Some(NodeId(1)), Some(2)));
    }
}
