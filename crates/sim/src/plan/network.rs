//! The wired network: nodes, the links between them, and which link leads where.

use super::Endpoint;
use net::LinkSettings;
use std::collections::VecDeque;

/// A full-duplex link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkPlan {
    /// What a report calls it, as `r1-r2`.
    pub name: String,
    /// Which `[[links]]` table of the scenario it is, counted from 0; `None` is `[wire]`.
    pub number: Option<usize>,
    /// Its two ends: server, access point or host, and not the same twice.
    pub ends: [Endpoint; 2],
    /// From the first end to the second, and back.
    pub directions: [LinkSettings; 2],
}

impl LinkPlan {
    /// Where its first direction stands in a scenario, and its results.
    pub fn path(&self, direction: usize) -> String {
        match (self.number, direction) {
            (None, 0) => "wire.down".to_owned(),
            (None, _) => "wire.up".to_owned(),
            (Some(number), 0) => format!("links[{number}]"),
            (Some(number), _) => format!("links[{number}].reverse"),
        }
    }
}

/// The wired part of a scenario. A path over it has the fewest links; of several such, each node
/// forwards to the neighbour whose name comes first.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Hosts and routers beside server and access point, in the order of their names;
    /// `Endpoint::Host(n)` is the n-th.
    pub hosts: Vec<String>,
    /// The links, that of `[wire]` first.
    pub links: Vec<LinkPlan>,
    /// Whether the server stands apart from the access point: if a link ends there.
    has_server: bool,
    /// For each site and each that it may send to, the number of the direction that leads there.
    hops: Vec<u16>,
}

/// No way leads there, or one is there already.
const NOWHERE: u16 = u16::MAX;
/// Places beside hosts: access point with its cell, and server.
const FIXED: usize = 2;

impl Network {
    /// More links than this are refused; each has two directions.
    pub const MOST_LINKS: usize = 1000;

    /// The network of these hosts and links.
    pub fn new(hosts: Vec<String>, links: Vec<LinkPlan>) -> Self {
        debug_assert!(hosts.is_sorted() && links.len() <= Self::MOST_LINKS);
        let sites = hosts.len() + FIXED;
        let has_server = links.iter().any(|link| link.ends.contains(&Endpoint::Server));
        let mut network = Self { hosts, links, has_server, hops: vec![NOWHERE; sites * sites] };
        let neighbours = network.neighbours();
        for to in 0..sites {
            network.fill(to, &neighbours);
        }
        network
    }

    /// Of each site the directions that leave it with the sites they lead to, in the order of the
    /// latter's names.
    fn neighbours(&self) -> Vec<Vec<(usize, u16)>> {
        let mut all = vec![Vec::new(); self.sites()];
        for (link, number) in self.links.iter().zip(0u16..) {
            let [a, b] = link.ends.map(Self::place);
            all[a].push((b, 2 * number));
            all[b].push((a, 2 * number + 1));
        }
        for near in &mut all {
            near.sort_by_key(|&(site, direction)| (self.site_name(site), direction));
        }
        all
    }

    /// Finds the next hop of each site towards `to`, by breadth first from there.
    fn fill(&mut self, to: usize, neighbours: &[Vec<(usize, u16)>]) {
        let sites = self.sites();
        let mut distance = vec![usize::MAX; sites];
        let mut frontier = VecDeque::from([to]);
        distance[to] = 0;
        while let Some(site) = frontier.pop_front() {
            for &(near, _) in &neighbours[site] {
                if distance[near] == usize::MAX {
                    distance[near] = distance[site] + 1;
                    frontier.push_back(near);
                }
            }
        }
        for site in (0..sites).filter(|&site| site != to && distance[site] != usize::MAX) {
            let closer = |&&(near, _): &&(usize, u16)| distance[near] + 1 == distance[site];
            if let Some(&(_, direction)) = neighbours[site].iter().find(closer) {
                self.hops[site * sites + to] = direction;
            }
        }
    }

    fn sites(&self) -> usize {
        self.hosts.len() + FIXED
    }

    fn site_name(&self, site: usize) -> &str {
        match site {
            0 => "ap",
            1 => "server",
            host => &self.hosts[host - FIXED],
        }
    }

    /// The place of an end, were the server always one of its own.
    fn place(end: Endpoint) -> usize {
        match end {
            Endpoint::AccessPoint | Endpoint::Station(_) | Endpoint::Broadcast => 0,
            Endpoint::Server => 1,
            Endpoint::Host(number) => number as usize + FIXED,
        }
    }

    /// Whether the server stands apart from the access point: if a link ends there.
    pub fn has_server(&self) -> bool {
        self.has_server
    }

    /// The site of an end: packets between ends of one site take no link. Stations are at the
    /// access point's, and so is a server without a link.
    pub fn site(&self, end: Endpoint) -> usize {
        if end == Endpoint::Server && !self.has_server() { 0 } else { Self::place(end) }
    }

    /// The direction, twice the link's number and 1 for its way back, that leads from one site
    /// towards another; `None` where they are the same, or no way leads there.
    pub fn hop(&self, from: usize, to: usize) -> Option<usize> {
        let direction = self.hops[from * self.sites() + to];
        (direction != NOWHERE).then_some(direction as usize)
    }

    /// Link and direction by number.
    pub fn direction(&self, number: usize) -> (&LinkPlan, usize) {
        (&self.links[number / 2], number % 2)
    }

    /// The directions on the way from one end to another; `None` if there is no way.
    pub fn way(&self, from: Endpoint, to: Endpoint) -> Option<Vec<usize>> {
        let (mut site, to) = (self.site(from), self.site(to));
        let mut way = Vec::new();
        while site != to {
            let hop = self.hop(site, to)?;
            let (link, direction) = self.direction(hop);
            site = Self::place(link.ends[1 - direction]);
            way.push(hop);
        }
        Some(way)
    }

    /// The name of an end.
    pub fn name(&self, end: Endpoint) -> String {
        match end {
            Endpoint::Server => "server".to_owned(),
            Endpoint::AccessPoint => "ap".to_owned(),
            Endpoint::Station(number) => format!("sta{number}"),
            Endpoint::Host(number) => self.hosts[number as usize].clone(),
            Endpoint::Broadcast => "broadcast".to_owned(),
        }
    }

    /// The node of this name, if a link ends there.
    pub fn node(&self, name: &str) -> Option<Endpoint> {
        let end = match name {
            "server" => Endpoint::Server,
            "ap" => Endpoint::AccessPoint,
            _ => {
                Endpoint::Host(self.hosts.binary_search_by(|host| (**host).cmp(name)).ok()? as u32)
            }
        };
        self.links.iter().any(|link| link.ends.contains(&end)).then_some(end)
    }

    /// The names of all nodes to which a way leads from here.
    pub fn reached_from(&self, end: Endpoint) -> Vec<&str> {
        let from = self.site(end);
        let reached = (0..self.sites()).filter(|&to| self.hop(from, to).is_some());
        let mut names: Vec<_> = reached.map(|site| self.site_name(site)).collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(hosts: &[&str], links: &[(&str, &str)]) -> Network {
        let end = |name: &str| match name {
            "server" => Endpoint::Server,
            "ap" => Endpoint::AccessPoint,
            _ => Endpoint::Host(hosts.iter().position(|host| *host == name).unwrap() as u32),
        };
        let link = |(number, (a, b)): (usize, &(&str, &str))| LinkPlan {
            name: format!("{a}-{b}"),
            number: Some(number),
            ends: [end(a), end(b)],
            directions: <[LinkSettings; 2]>::default(),
        };
        let links = links.iter().enumerate().map(link).collect();
        Network::new(hosts.iter().map(|&host| host.to_owned()).collect(), links)
    }

    /// The nodes on the way between two named nodes.
    fn nodes(network: &Network, from: &str, to: &str) -> Vec<String> {
        let [from, to] = [from, to].map(|name| network.node(name).unwrap());
        let far = |hop: usize| {
            let (link, direction) = network.direction(hop);
            network.name(link.ends[1 - direction])
        };
        network.way(from, to).unwrap().into_iter().map(far).collect()
    }

    #[test]
    fn a_way_has_the_fewest_links() {
        let ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")];
        let ring = network(&["a", "b", "c", "d", "e"], &ring);
        assert_eq!(nodes(&ring, "a", "c"), ["b", "c"]);
        assert_eq!(nodes(&ring, "a", "d"), ["e", "d"]);
        assert_eq!(nodes(&ring, "d", "a"), ["e", "a"]);
    }

    #[test]
    fn of_equal_ways_names_decide_and_not_the_order_of_links() {
        let hosts = ["a", "m", "n", "z"];
        let one = network(&hosts, &[("a", "n"), ("a", "m"), ("n", "z"), ("m", "z")]);
        assert_eq!(nodes(&one, "a", "z"), ["m", "z"]);
        assert_eq!(nodes(&one, "z", "a"), ["m", "a"]);
    }

    #[test]
    fn a_server_without_a_link_is_at_the_access_point() {
        let apart = network(&["r"], &[("server", "r"), ("r", "ap")]);
        assert_eq!(nodes(&apart, "server", "ap"), ["r", "ap"]);
        let together = network(&["r"], &[("r", "ap")]);
        assert_eq!(together.site(Endpoint::Server), together.site(Endpoint::Station(3)));
        assert_eq!(together.way(Endpoint::Server, Endpoint::Station(0)), Some(vec![]));
        assert_eq!(together.node("server"), None);
    }

    #[test]
    fn apart_is_apart() {
        let two = network(&["a", "b", "c", "d"], &[("a", "b"), ("c", "d")]);
        let [a, d] = ["a", "d"].map(|name| two.node(name).unwrap());
        assert_eq!(two.way(a, d), None);
        assert_eq!(two.reached_from(a), ["b"]);
    }
}
