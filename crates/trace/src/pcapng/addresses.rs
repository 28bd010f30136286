//! The addresses of nodes and radios, by their numbers.

use crate::{Network, RadioRole};
use kernel::IdVec;
use std::collections::VecDeque;
use wire::NodeId;

/// A MAC address.
pub(super) type Mac = [u8; 6];

/// The broadcast address.
pub(super) const BROADCAST: Mac = [0xff; 6];
/// The BSSID of stations without an access point.
const IBSS: Mac = [0x0a, 0, 0, 0, 0, 0];

/// The address of a radio: 02:00, and its number in four bytes.
pub(super) fn of_radio(radio: u32) -> Mac {
    numbered(0x02, radio)
}

/// The address of a node at its wired links: 06:00, and its number in four bytes.
pub(super) fn of_wired(node: NodeId) -> Mac {
    numbered(0x06, node.0)
}

/// The IPv4 address of a node, from 10.0.0.1 on; `None` is broadcast.
pub fn ipv4(node: Option<NodeId>) -> [u8; 4] {
    node.map_or([255; 4], |node| {
        let [_, b, c, d] = (node.0 + 1).to_be_bytes();
        [10, b, c, d]
    })
}

/// An address of each node.
type Macs = IdVec<NodeId, Mac>;

/// The addresses that need the roles of radios.
#[derive(Debug)]
pub(super) struct Addresses {
    /// The address by which stations know each node.
    nodes: Macs,
    /// The node of the access points, which is a bridge.
    bridge: Option<NodeId>,
    /// By radio: the BSSID of its cell.
    bssids: Vec<Mac>,
    /// By radio: whether it is an access point.
    access_points: Vec<bool>,
}

impl Addresses {
    /// The addresses of a run.
    pub(super) fn new(network: &Network) -> Self {
        let mut nodes: Macs = network.nodes.ids().map(of_wired).collect();
        let (mut bssids, mut access_points) = (Vec::new(), Vec::new());
        for (number, radio) in network.radios.iter().enumerate().rev() {
            nodes[radio.node] = of_radio(number as u32);
        }
        let bridge = network.radios.iter().find(|radio| radio.role == RadioRole::AccessPoint);
        let bridge = bridge.map(|radio| radio.node);
        // Behind a router that is wired to the bridge, and behind a station, are other networks.
        let near = network.wires.iter().filter(|wire| Some(wire.from) == bridge);
        let stations = network.radios.iter().filter(|radio| Some(radio.node) != bridge);
        let routers = near.map(|wire| wire.to).chain(stations.map(|radio| radio.node));
        lend(&routers.collect::<Vec<_>>(), bridge, network, &mut nodes);
        for (number, radio) in network.radios.iter().enumerate() {
            bssids.push(match radio.role {
                RadioRole::AccessPoint => of_radio(number as u32),
                RadioRole::Station { access_point } => of_radio(access_point),
                RadioRole::AdHoc => IBSS,
            });
            access_points.push(radio.role == RadioRole::AccessPoint);
        }
        Self { nodes, bridge, bssids, access_points }
    }

    /// The address of a node on the air: that of its first radio, or, where it is wired, of the
    /// router that is nearest to the access point: a station, another node or itself.
    pub(super) fn of_node(&self, node: Option<NodeId>) -> Mac {
        node.map_or(BROADCAST, |node| self.nodes[node])
    }

    /// The address in the Ethernet header for an end of a link, of a packet from or to a node. A
    /// bridge keeps the addresses of the frame.
    pub(super) fn on_link(&self, end: NodeId, of: Option<NodeId>) -> Mac {
        match of {
            Some(of) if Some(end) == self.bridge && of != end => self.nodes[of],
            _ => of_wired(end),
        }
    }

    /// The BSSID of the cell in which a radio sends to another one. A station may change its cell
    /// during a run.
    pub(super) fn bssid(&self, from: u32, to: Option<u32>) -> Mac {
        let own = self.bssids[from as usize];
        let access_point = to.filter(|&to| own != IBSS && self.is_access_point(to));
        access_point.map_or(own, of_radio)
    }

    /// Whether a radio is an access point.
    pub(super) fn is_access_point(&self, radio: u32) -> bool {
        self.access_points[radio as usize]
    }
}

/// Gives the addresses of routers to all nodes to which wires lead from them, each to those that
/// are nearest to it, and not beyond the bridge.
fn lend(routers: &[NodeId], bridge: Option<NodeId>, network: &Network, nodes: &mut Macs) {
    let mut reached = IdVec::filled(nodes.len(), false);
    let mut frontier: VecDeque<NodeId> = routers.iter().copied().collect();
    for &node in routers.iter().chain(&bridge) {
        reached[node] = true;
    }
    while let Some(node) = frontier.pop_front() {
        for wire in network.wires.iter().filter(|wire| wire.from == node) {
            if !std::mem::replace(&mut reached[wire.to], true) {
                nodes[wire.to] = nodes[node];
                frontier.push_back(wire.to);
            }
        }
    }
}

fn numbered(first: u8, number: u32) -> Mac {
    let [a, b, c, d] = number.to_be_bytes();
    [first, 0, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;

    #[test]
    fn what_is_beyond_a_router_has_its_address_on_the_air() {
        let mut network = examples::network();
        let beyond = NodeId(network.nodes.len() as u32);
        network.nodes.push(network.nodes[NodeId(3)].clone());
        for (from, to) in [(NodeId(3), beyond), (beyond, NodeId(3))] {
            let wire = network.wires[0].clone();
            network.wires.push(crate::WireInfo { from, to, ..wire });
        }
        let addresses = Addresses::new(&network);
        assert_eq!(addresses.of_node(Some(beyond)), of_wired(NodeId(3)));
    }

    #[test]
    fn what_is_wired_to_a_station_has_its_address_on_the_air() {
        let mut network = examples::network();
        let behind = NodeId(network.nodes.len() as u32);
        let mut node = network.nodes[NodeId(0)].clone();
        node.name = "lan".into();
        network.nodes.push(node);
        for (from, to) in [(NodeId(2), behind), (behind, NodeId(2))] {
            let wire = network.wires[0].clone();
            network.wires.push(crate::WireInfo { from, to, ..wire });
        }
        let addresses = Addresses::new(&network);
        assert_eq!(addresses.of_node(Some(behind)), of_radio(examples::STA2));
        assert_eq!(
            addresses.of_node(Some(NodeId(3))),
            of_wired(NodeId(3)),
            "behind the access point"
        );
        // Ethernet frames between the access point and what is beyond it keep these addresses.
        let access_point = NodeId(0);
        assert_eq!(addresses.on_link(access_point, Some(NodeId(2))), of_radio(examples::STA2));
        assert_eq!(addresses.on_link(access_point, Some(access_point)), of_wired(access_point));
        assert_eq!(addresses.on_link(NodeId(3), Some(NodeId(2))), of_wired(NodeId(3)));
    }
}
