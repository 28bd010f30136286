//! The topology of a run: nodes with names and interfaces, and the table of next hops.
//!
//! A [`Topology`] is built once, when a scenario is resolved. It alone assigns the numbers of
//! nodes, radios, wires and flows, with typed ids.
//!
//! `[wire]` is the short form of one link. Routes have the fewest links, and ties go by name. Wires
//! may lead on from a station: the access point then has an entry for each node behind it, and
//! addresses the frame by `Packet::next`, as where nodes forward. What is wired reaches the air by
//! one node only, so that no routes over air and wires have to be compared. All access points are
//! one node to the network, with one radio for each cell.

mod id;
mod routes;

pub use id::{Interface, LinkId, RadioId, WireId};
pub use routes::{Hop, Routes};

use kernel::{Id, IdVec};
use std::collections::VecDeque;
use wire::NodeId;

/// An end of a flow or of a link, as a scenario names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The server, at the access point or behind wires.
    Server,
    /// The access point itself.
    AccessPoint,
    /// The n-th of `Plan::stations`.
    Station(u32),
    /// The n-th host or router, by name.
    Host(u32),
    /// All stations of the cell (broadcast); only the destination of datagram flows from server or
    /// access point.
    Broadcast,
}

/// A node of the network layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The end that it represents.
    pub end: Endpoint,
    /// `ap`, `sta0`, `server`, or its name in the links.
    pub name: String,
    /// The interfaces by which packets leave it; none for a server that is at the access point.
    pub interfaces: Vec<Interface>,
}

impl Node {
    /// Whether a link ends at this node.
    pub fn is_wired(&self) -> bool {
        self.interfaces.iter().any(|interface| matches!(interface, Interface::Wire(_)))
    }
}

/// A radio of a node. All access points are one node of the network, with a radio for each cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Radio {
    /// The node that has it.
    pub node: NodeId,
    /// The number of its cell, counted from 0.
    pub cell: u32,
    /// Whether it sends to several receivers, and not only to an access point.
    pub is_shared: bool,
}

/// A direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    /// Its number.
    pub id: WireId,
    /// The number of the link.
    pub link: LinkId,
    /// 0 from its first end to its second, 1 back.
    pub direction: usize,
    /// The node where it begins.
    pub from: NodeId,
    /// The node where it ends.
    pub to: NodeId,
}

/// The members from which a topology is built.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// Name and cell of each station.
    pub stations: Vec<(String, u32)>,
    /// Cells beyond the first, each with an access point.
    pub further_cells: u32,
    /// Stations send to each other without an access point.
    pub ad_hoc: bool,
    /// Names of hosts and routers, in order, besides server and access point.
    pub hosts: Vec<String>,
    /// The two ends of each link.
    pub links: Vec<[Endpoint; 2]>,
}

/// All nodes of a run. A path over wires has the fewest links. Of several such paths, each node
/// forwards to the neighbour whose name comes first. Wires lead on from the access point, or from a
/// station that is a router; no wires lead from the one to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    nodes: IdVec<NodeId, Node>,
    radios: IdVec<RadioId, Radio>,
    wires: IdVec<WireId, Wire>,
    /// The node of each station, of the server and of each host.
    stations: Vec<NodeId>,
    server: NodeId,
    hosts: Vec<NodeId>,
    /// The access point's radio in each cell.
    access_points: Vec<RadioId>,
    has_wired_stations: bool,
    routes: Routes,
}

/// The access point is the first node.
pub(crate) const ACCESS_POINT: NodeId = NodeId(0);

impl Topology {
    /// The topology of these members.
    pub fn new(members: &Members) -> Self {
        debug_assert!(members.hosts.is_sorted());
        let mut topology = Self {
            nodes: IdVec::new(),
            radios: IdVec::new(),
            wires: IdVec::new(),
            stations: Vec::new(),
            server: ACCESS_POINT,
            hosts: Vec::new(),
            access_points: Vec::new(),
            has_wired_stations: false,
            routes: Routes::default(),
        };
        topology.number(members);
        topology.link(&members.links);
        topology.fill(members.ad_hoc);
        let is_wired = |&station| topology.node(station).is_wired();
        topology.has_wired_stations = topology.stations.iter().any(is_wired);
        topology
    }

    /// Numbers nodes: access point, stations, server, hosts. Numbers radios as the medium does:
    /// access point, stations, further access points.
    fn number(&mut self, members: &Members) {
        self.add(Endpoint::AccessPoint, "ap".to_owned());
        self.give_radio(ACCESS_POINT, 0, true);
        for ((name, cell), number) in members.stations.iter().zip(0..) {
            let node = self.add(Endpoint::Station(number), name.clone());
            self.give_radio(node, *cell, members.ad_hoc);
            self.stations.push(node);
        }
        for cell in 0..members.further_cells {
            self.give_radio(ACCESS_POINT, cell + 1, true);
        }
        self.server = self.add(Endpoint::Server, "server".to_owned());
        for (name, number) in members.hosts.iter().zip(0..) {
            let node = self.add(Endpoint::Host(number), name.clone());
            self.hosts.push(node);
        }
    }

    fn add(&mut self, end: Endpoint, name: String) -> NodeId {
        self.nodes.push(Node { end, name, interfaces: Vec::new() })
    }

    fn give_radio(&mut self, node: NodeId, cell: u32, is_shared: bool) {
        let radio = self.radios.push(Radio { node, cell, is_shared });
        self.nodes[node].interfaces.push(Interface::Radio(radio));
        if node == ACCESS_POINT {
            self.access_points.push(radio);
        }
    }

    fn link(&mut self, links: &[[Endpoint; 2]]) {
        for (ends, link) in links.iter().zip(0..) {
            let [a, b] = ends.map(|end| self.id(end).expect("a link ends at two nodes"));
            for (direction, (from, to)) in [(a, b), (b, a)].into_iter().enumerate() {
                let id = WireId::at(self.wires.len());
                self.wires.push(Wire { id, link: LinkId(link), direction, from, to });
                self.nodes[from].interfaces.push(Interface::Wire(id));
            }
        }
    }

    /// Fills the table of next hops.
    fn fill(&mut self, ad_hoc: bool) {
        let mut routes = Routes::new(self.nodes.iter().map(|node| self.reached_by(node)).collect());
        for &station in &self.stations {
            let by = self.reached_by(self.node(station));
            let access_point = self.access_point_of(by);
            if ad_hoc {
                routes.set_neighbours(station, by);
            } else {
                routes.set_others(station, Hop::Air { by, to: Some(access_point) });
            }
            routes.set(ACCESS_POINT, station, Hop::Air { by: access_point, to: Some(by) });
        }
        routes.set_broadcast(ACCESS_POINT, self.access_points[0]);
        if !self.node(self.server).is_wired() {
            routes.set(ACCESS_POINT, self.server, Hop::Inside(self.server));
            routes.set_others(self.server, Hop::Inside(ACCESS_POINT));
        }
        self.fill_wires(&mut routes);
        self.routes = routes;
    }

    /// The radio by which a node is reached over the air: its own, or an access point's.
    fn reached_by(&self, node: &Node) -> RadioId {
        match node.interfaces.first() {
            Some(&Interface::Radio(radio)) => radio,
            _ => self.access_points[0],
        }
    }

    /// The paths over wires, to one destination node after the other, and to what is behind
    /// stations.
    fn fill_wires(&self, routes: &mut Routes) {
        let near: IdVec<NodeId, Vec<&Wire>> =
            self.nodes.iter().map(|node| self.neighbours(node)).collect();
        let wired: Vec<NodeId> = near.ids().filter(|&node| !near[node].is_empty()).collect();
        let stations: Vec<NodeId> =
            wired.iter().copied().filter(|&node| self.is_station(node)).collect();
        let mut distance = IdVec::filled(self.nodes.len(), usize::MAX);
        for &to in &wired {
            for &node in &wired {
                distance[node] = usize::MAX;
            }
            let mut frontier = VecDeque::from([to]);
            distance[to] = 0;
            while let Some(node) = frontier.pop_front() {
                for &&Wire { to: next, .. } in &near[node] {
                    if distance[next] == usize::MAX {
                        distance[next] = distance[node] + 1;
                        frontier.push_back(next);
                    }
                }
            }
            let away = |node: NodeId| distance[node];
            for &node in wired.iter().filter(|&&node| node != to && away(node) < usize::MAX) {
                let closer = |wire: &&&Wire| away(wire.to) + 1 == away(node);
                let wire = near[node].iter().find(closer);
                let hop = Hop::Wire(wire.expect("what is reached is reached by a neighbour").id);
                if to == ACCESS_POINT || self.is_station(to) {
                    // All that wires do not reach is beyond the air.
                    routes.set_others(node, hop);
                } else {
                    routes.set(node, to, hop);
                }
            }
            let is_before = |station: &&NodeId| **station != to && away(**station) < usize::MAX;
            if let Some(&station) = stations.iter().find(is_before) {
                let radio = self.reached_by(self.node(station));
                let by = self.access_point_of(radio);
                routes.set(ACCESS_POINT, to, Hop::Air { by, to: Some(radio) });
            }
        }
    }

    /// The link directions that leave a node, in the order of the names of the nodes where they
    /// end.
    fn neighbours(&self, node: &Node) -> Vec<&Wire> {
        let wire = |interface: &Interface| match interface {
            Interface::Wire(wire) => Some(self.wire(*wire)),
            Interface::Radio(_) => None,
        };
        let mut near: Vec<&Wire> = node.interfaces.iter().filter_map(wire).collect();
        near.sort_by_key(|wire| (&self.node(wire.to).name[..], wire.id));
        near
    }

    /// All nodes, in the order of their numbers.
    pub fn nodes(&self) -> &IdVec<NodeId, Node> {
        &self.nodes
    }

    /// All radios, in the order of their numbers.
    pub fn radios(&self) -> &IdVec<RadioId, Radio> {
        &self.radios
    }

    /// All directions of links, in the order of their numbers.
    pub fn wires(&self) -> &IdVec<WireId, Wire> {
        &self.wires
    }

    /// The table of next hops.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// A radio.
    pub fn radio(&self, radio: RadioId) -> &Radio {
        &self.radios[radio]
    }

    /// A direction of a link.
    pub fn wire(&self, wire: WireId) -> &Wire {
        &self.wires[wire]
    }

    /// The node that sends from an interface.
    pub fn node_at(&self, at: Interface) -> NodeId {
        match at {
            Interface::Radio(radio) => self.radio(radio).node,
            Interface::Wire(wire) => self.wire(wire).from,
        }
    }

    /// The radio of the n-th station.
    pub fn station(&self, number: usize) -> RadioId {
        self.reached_by(self.node(self.stations[number]))
    }

    /// The access point's radio in the cell of a radio.
    pub fn access_point_of(&self, radio: RadioId) -> RadioId {
        self.access_points[self.radio(radio).cell as usize]
    }

    /// The access points' radios, by cell.
    pub fn access_points(&self) -> &[RadioId] {
        &self.access_points
    }

    /// Whether a radio is an access point's.
    pub fn is_access_point(&self, radio: RadioId) -> bool {
        self.radio(radio).node == ACCESS_POINT
    }

    /// The name of a radio in reports: `ap`, `sta0`, `cells[0]`.
    pub fn radio_name(&self, radio: RadioId) -> String {
        match *self.radio(radio) {
            Radio { node: ACCESS_POINT, cell: 1.., .. } => {
                format!("cells[{}]", self.radio(radio).cell - 1)
            }
            Radio { node, .. } => self.node(node).name.clone(),
        }
    }

    /// The node of an end; `None` for broadcast.
    pub fn id(&self, end: Endpoint) -> Option<NodeId> {
        match end {
            Endpoint::AccessPoint => Some(ACCESS_POINT),
            Endpoint::Station(number) => Some(self.stations[number as usize]),
            Endpoint::Server => Some(self.server),
            Endpoint::Host(number) => Some(self.hosts[number as usize]),
            Endpoint::Broadcast => None,
        }
    }

    /// The name of an end.
    pub fn name(&self, end: Endpoint) -> &str {
        self.id(end).map_or("broadcast", |node| &self.node(node).name)
    }

    /// The end with this name, if a link ends there.
    pub fn wired(&self, name: &str) -> Option<Endpoint> {
        let fixed = [ACCESS_POINT, self.server].map(|node| self.node(node));
        let found = fixed.into_iter().find(|node| node.name == name).or_else(|| {
            let by_name = |host: &NodeId| self.node(*host).name[..].cmp(name);
            Some(self.node(self.hosts[self.hosts.binary_search_by(by_name).ok()?]))
        })?;
        found.is_wired().then_some(found.end)
    }

    /// Names of hosts and routers, in order.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|&host| &self.node(host).name[..])
    }

    /// The node whose interfaces a node uses: itself, or the access point that it is at.
    pub fn outlet(&self, node: NodeId) -> NodeId {
        if self.node(node).interfaces.is_empty() { ACCESS_POINT } else { node }
    }

    /// Whether a link ends here.
    pub fn has_wires(&self, end: Endpoint) -> bool {
        self.id(end).is_some_and(|node| self.node(node).is_wired())
    }

    /// Whether wires lead on from a station, so that frames to it may carry packets for others.
    pub fn has_wired_stations(&self) -> bool {
        self.has_wired_stations
    }

    /// Whether a node is a station.
    pub fn is_station(&self, node: NodeId) -> bool {
        matches!(self.node(node).end, Endpoint::Station(_))
    }

    /// The node of the ad-hoc network by which packets for a node leave it: the node itself, or the
    /// gateway to it.
    pub fn outlet_on_air(&self, node: NodeId) -> NodeId {
        match self.node(node).interfaces.first() {
            Some(Interface::Radio(_)) => node,
            _ => ACCESS_POINT,
        }
    }

    /// The hops from one end to another; `None` if there is no path.
    pub fn path(&self, from: Endpoint, to: Endpoint) -> Option<Vec<Hop>> {
        let (mut node, to) = (self.id(from)?, self.id(to));
        let mut path = Vec::new();
        while to != Some(node) {
            let hop = self.routes.hop(node, to)?;
            path.push(hop);
            node = match hop {
                Hop::Air { to: None, .. } => break,
                Hop::Air { to: Some(to), .. } => self.radio(to).node,
                Hop::Wire(wire) => self.wire(wire).to,
                Hop::Inside(node) => node,
            };
        }
        Some(path)
    }

    /// The link directions on the path from one end to another; `None` if there is no path.
    pub fn links_on_path(&self, from: Endpoint, to: Endpoint) -> Option<Vec<WireId>> {
        let wire = |hop| if let Hop::Wire(wire) = hop { Some(wire) } else { None };
        Some(self.path(from, to)?.into_iter().filter_map(wire).collect())
    }

    /// The names of all nodes to which wires lead from here.
    pub fn reached_from(&self, end: Endpoint) -> Vec<&str> {
        let leads =
            |node: &&Node| self.links_on_path(end, node.end).is_some_and(|links| !links.is_empty());
        let reached = self.nodes.iter().filter(|node| node.is_wired()).filter(leads);
        let mut names: Vec<_> = reached.map(|node| &node.name[..]).collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(hosts: &[&str], links: &[(&str, &str)]) -> Topology {
        let end = |name: &str| match name {
            "server" => Endpoint::Server,
            "ap" => Endpoint::AccessPoint,
            _ => Endpoint::Host(hosts.iter().position(|host| *host == name).unwrap() as u32),
        };
        Topology::new(&Members {
            stations: vec![("sta0".to_owned(), 0)],
            hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            links: links.iter().map(|&(a, b)| [end(a), end(b)]).collect(),
            ..Members::default()
        })
    }

    /// The nodes on the path between two named nodes.
    fn nodes<'a>(topology: &'a Topology, from: &str, to: &str) -> Vec<&'a str> {
        let [from, to] = [from, to].map(|name| topology.wired(name).unwrap());
        let far = |wire: WireId| &topology.node(topology.wire(wire).to).name[..];
        topology.links_on_path(from, to).unwrap().into_iter().map(far).collect()
    }

    #[test]
    fn a_path_has_the_fewest_links() {
        let ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")];
        let ring = topology(&["a", "b", "c", "d", "e"], &ring);
        assert_eq!(nodes(&ring, "a", "c"), ["b", "c"]);
        assert_eq!(nodes(&ring, "a", "d"), ["e", "d"]);
        assert_eq!(nodes(&ring, "d", "a"), ["e", "a"]);
    }

    #[test]
    fn of_equal_paths_names_decide_and_not_the_order_of_links() {
        let hosts = ["a", "m", "n", "z"];
        let one = topology(&hosts, &[("a", "n"), ("a", "m"), ("n", "z"), ("m", "z")]);
        assert_eq!(nodes(&one, "a", "z"), ["m", "z"]);
        assert_eq!(nodes(&one, "z", "a"), ["m", "a"]);
    }

    #[test]
    fn a_server_without_a_link_is_at_the_access_point() {
        let apart = topology(&["r"], &[("server", "r"), ("r", "ap")]);
        assert_eq!(nodes(&apart, "server", "ap"), ["r", "ap"]);
        let together = topology(&["r"], &[("r", "ap")]);
        let server = together.id(Endpoint::Server).unwrap();
        assert_eq!(together.outlet(server), together.id(Endpoint::AccessPoint).unwrap());
        assert_eq!(together.links_on_path(Endpoint::Server, Endpoint::Station(0)), Some(vec![]));
        assert_eq!(together.wired("server"), None);
        let [host, server] = [Endpoint::Host(0), Endpoint::Server];
        assert_eq!(together.links_on_path(host, server).map(|links| links.len()), Some(1));
    }

    #[test]
    fn apart_is_apart() {
        let two = topology(&["a", "b", "c", "d"], &[("a", "b"), ("c", "d")]);
        let [a, d] = ["a", "d"].map(|name| two.wired(name).unwrap());
        assert_eq!(two.links_on_path(a, d), None);
        assert_eq!(two.reached_from(a), ["b"]);
    }

    #[test]
    fn a_station_reaches_all_by_the_access_point_of_its_cell() {
        let topology = Topology::new(&Members {
            stations: vec![("sta0".to_owned(), 0), ("sta1".to_owned(), 1)],
            further_cells: 1,
            ..Members::default()
        });
        let path = topology.path(Endpoint::Station(0), Endpoint::Station(1)).unwrap();
        let air = |by, to| Hop::Air { by: RadioId(by), to: Some(RadioId(to)) };
        assert_eq!(path, [air(1, 0), air(3, 2)]);
        assert_eq!(topology.radio_name(RadioId(3)), "cells[0]");
        assert_eq!(topology.radio(RadioId(3)).node, topology.radio(RadioId(0)).node);
    }

    #[test]
    fn what_is_behind_a_station_is_reached_over_the_air() {
        let [server, lan, switch] = [Endpoint::Server, Endpoint::Host(0), Endpoint::Host(1)];
        let station = Endpoint::Station;
        let topology = Topology::new(&Members {
            stations: vec![("sta0".to_owned(), 0), ("sta1".to_owned(), 1)],
            further_cells: 1,
            hosts: vec!["lan".to_owned(), "switch".to_owned()],
            links: vec![[server, Endpoint::AccessPoint], [station(1), switch], [switch, lan]],
            ..Members::default()
        });
        let air = |by, to| Hop::Air { by: RadioId(by), to: Some(RadioId(to)) };
        let wire = |number| Hop::Wire(WireId(number));
        let path = |from, to| topology.path(from, to).unwrap();
        assert_eq!(path(server, lan), [wire(0), air(3, 2), wire(2), wire(4)]);
        assert_eq!(path(lan, server), [wire(5), wire(3), air(2, 3), wire(1)]);
        assert_eq!(path(station(0), switch), [air(1, 0), air(3, 2), wire(2)]);
        assert_eq!(path(switch, station(0)), [wire(3), air(2, 3), air(0, 1)]);
        assert_eq!(path(lan, station(1)), [wire(5), wire(3)]);
    }

    #[test]
    fn ad_hoc_a_station_reaches_each_other_straight() {
        let names = ["sta0", "sta1", "sta2"].map(str::to_owned);
        let stations = names.into_iter().map(|name| (name, 0)).collect();
        let topology = Topology::new(&Members { stations, ad_hoc: true, ..Members::default() });
        let path = topology.path(Endpoint::Station(2), Endpoint::Station(1)).unwrap();
        assert_eq!(path, [Hop::Air { by: RadioId(3), to: Some(RadioId(2)) }]);
    }
}
