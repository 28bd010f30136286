//! The table of next hops: for each node and each destination, where a packet goes next.
//!
//! The world owns its copy, so that a routing protocol can own it. A dense table of nodes by
//! destinations was given up: 10,000 stations would need 10^8 entries.

use super::id::{Interface, RadioId, WireId};
use kernel::IdVec;
use wire::{NodeId, Packet};

/// A hop of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Over the air, from this radio to that one; `None` is broadcast.
    Air {
        /// The transmitter.
        by: RadioId,
        /// The receiver.
        to: Option<RadioId>,
    },
    /// Over this link direction.
    Wire(WireId),
    /// To a node that is at this one: nothing is sent.
    Inside(NodeId),
}

impl Hop {
    /// The interface by which a packet leaves; `None` if nothing is sent.
    pub fn interface(self) -> Option<Interface> {
        match self {
            Self::Air { by, .. } => Some(Interface::Radio(by)),
            Self::Wire(wire) => Some(Interface::Wire(wire)),
            Self::Inside(_) => None,
        }
    }
}

/// The next hops of all nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routes {
    tables: IdVec<NodeId, Table>,
    /// The radio by which each node is reached over the air.
    radios: IdVec<NodeId, RadioId>,
}

/// The next hops of one node.
#[derive(Debug, Clone, PartialEq)]
struct Table {
    /// The first destination in `hops`.
    first: u32,
    hops: Vec<Option<Hop>>,
    others: Others,
    broadcast: Option<Hop>,
}

/// The next hops of destinations that are not in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Others {
    Nowhere,
    /// The same hop for all.
    Hop(Hop),
    /// Directly to each destination, by this radio.
    Neighbours(RadioId),
}

impl Routes {
    /// An empty table. The argument gives the radio by which each node is reached over the air.
    pub(super) fn new(radios: IdVec<NodeId, RadioId>) -> Self {
        let table = Table { first: 0, hops: Vec::new(), others: Others::Nowhere, broadcast: None };
        Self { tables: IdVec::filled(radios.len(), table), radios }
    }

    /// The radio by which a node is reached over the air.
    pub fn radio(&self, node: NodeId) -> RadioId {
        self.radios[node]
    }

    /// The next hop of a packet at `node` for another node, or for all nodes.
    pub fn hop(&self, node: NodeId, to: Option<NodeId>) -> Option<Hop> {
        let table = &self.tables[node];
        let Some(to) = to else { return table.broadcast };
        if let Some(&Some(hop)) = table.hops.get(to.0.wrapping_sub(table.first) as usize) {
            return Some(hop);
        }
        match table.others {
            Others::Nowhere => None,
            Others::Hop(hop) => Some(hop),
            Others::Neighbours(by) => Some(Hop::Air { by, to: Some(self.radios[to]) }),
        }
    }

    /// The receiving radio of a packet that waits at a radio of `node`; `None` is broadcast.
    #[allow(clippy::inline_always, reason = "out of line it costs 0.5 % of a run")]
    #[inline(always)]
    pub fn receiver(&self, node: NodeId, packet: &Packet) -> Option<RadioId> {
        if packet.to != Some(packet.next) && packet.to.is_some() {
            return Some(self.radio(packet.next));
        }
        match self.hop(node, packet.to) {
            Some(Hop::Air { to, .. }) => to,
            other => unreachable!("what waits at a radio leaves over the air: {other:?}"),
        }
    }

    /// Sets the next hop from `node` to `to`. The destinations of a node must be set in their
    /// order.
    pub(super) fn set(&mut self, node: NodeId, to: NodeId, hop: Hop) {
        let table = &mut self.tables[node];
        if table.hops.is_empty() {
            table.first = to.0;
        }
        table.hops.resize((to.0 - table.first) as usize, None);
        table.hops.push(Some(hop));
    }

    /// Sets the next hop from `node` to all other destinations, including broadcast.
    pub(super) fn set_others(&mut self, node: NodeId, hop: Hop) {
        let table = &mut self.tables[node];
        (table.others, table.broadcast) = (Others::Hop(hop), Some(hop));
    }

    /// From now on, the next hop of a station is its radio `by` to this access point, and it is
    /// reached from `hub`, the node of the access points, by the same link.
    pub(crate) fn move_station(
        &mut self,
        station: NodeId,
        by: RadioId,
        access_point: RadioId,
        hub: NodeId,
    ) {
        self.set_others(station, Hop::Air { by, to: Some(access_point) });
        let table = &mut self.tables[hub];
        let place = station.0.wrapping_sub(table.first) as usize;
        if let Some(hop) = table.hops.get_mut(place) {
            *hop = Some(Hop::Air { by: access_point, to: Some(by) });
        }
    }

    /// At `node`, packets for all other destinations go directly to each by a radio.
    pub(super) fn set_neighbours(&mut self, node: NodeId, by: RadioId) {
        self.tables[node].others = Others::Neighbours(by);
        self.set_broadcast(node, by);
    }

    /// At `node`, broadcasts are sent by a radio.
    pub(super) fn set_broadcast(&mut self, node: NodeId, by: RadioId) {
        self.tables[node].broadcast = Some(Hop::Air { by, to: None });
    }
}
