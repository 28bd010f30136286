//! What routing protocols of networks of forwarding nodes send: lists of nodes and messages.

use crate::NodeId;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A list of nodes in [`Paths`]. Packets are copied in every queue; a path of any length therefore
/// takes four bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(NonZeroU32);

impl PathId {
    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

/// The lists of nodes that packets of a run refer to, each once.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    lists: Vec<Arc<[NodeId]>>,
    ids: BTreeMap<Arc<[NodeId]>, PathId>,
}

impl Paths {
    /// The id of this list.
    pub fn intern(&mut self, nodes: &[NodeId]) -> PathId {
        if let Some(&id) = self.ids.get(nodes) {
            return id;
        }
        let list: Arc<[NodeId]> = nodes.into();
        self.lists.push(list.clone());
        let id = u32::try_from(self.lists.len()).ok().and_then(NonZeroU32::new);
        let id = PathId(id.expect("a run has fewer than 2^32 paths"));
        self.ids.insert(list, id);
        id
    }

    /// The list with this id.
    pub fn nodes(&self, id: PathId) -> &[NodeId] {
        &self.lists[id.0.get() as usize - 1]
    }
}

/// A message of a routing protocol: the content of a packet that belongs to no flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A message of DSR (RFC 4728).
    Dsr(DsrMessage),
}

impl Message {
    /// Its name, as the RFCs write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dsr(DsrMessage::Request { .. }) => "Route Request",
            Self::Dsr(DsrMessage::Reply { .. }) => "Route Reply",
            Self::Dsr(DsrMessage::Error(_)) => "Route Error",
        }
    }
}

/// A message of DSR. All but the Route Request have a source route in their packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsrMessage {
    /// A Route Request (RFC 4728 section 6.2), which is broadcast.
    Request {
        /// The Identification that the initiator gave it.
        id: u16,
        /// The node to which a route is requested.
        target: NodeId,
        /// The initiator and the nodes that have forwarded it.
        path: PathId,
        /// A Route Error option in the same packet.
        error: Option<RouteError>,
    },
    /// A Route Reply (RFC 4728 section 6.3).
    Reply {
        /// The route, from the initiator of the Route Request to its target, both included.
        path: PathId,
    },
    /// Route Errors (RFC 4728 section 6.4), the newest first.
    Error(RouteErrors),
}

/// A Route Error option of the type `NODE_UNREACHABLE` (RFC 4728 section 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteError {
    /// The Error Source Address: the node that could not send over the link.
    pub from: NodeId,
    /// The Unreachable Node Address: the other end of the link.
    pub unreachable: NodeId,
    /// The Error Destination Address: the node that used the link in a source route.
    pub to: NodeId,
    /// How often the packet had been salvaged.
    pub salvage: u8,
}

/// Up to [`RouteErrors::MOST`] Route Error options of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteErrors {
    errors: [RouteError; Self::MOST],
    count: u8,
}

impl RouteErrors {
    /// How many options a packet holds.
    pub const MOST: usize = 3;

    /// One error.
    pub const fn new(error: RouteError) -> Self {
        Self { errors: [error; Self::MOST], count: 1 }
    }

    /// The same with these errors after it; those that have no room are omitted.
    #[must_use]
    pub fn followed_by(mut self, others: &[RouteError]) -> Self {
        for error in others.iter().take(Self::MOST - usize::from(self.count)) {
            self.errors[usize::from(self.count)] = *error;
            self.count += 1;
        }
        self
    }

    /// The errors, the newest first.
    pub fn as_slice(&self) -> &[RouteError] {
        &self.errors[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_have_one_id() {
        let nodes = |list: &[u32]| list.iter().map(|&n| NodeId(n)).collect::<Vec<_>>();
        let mut paths = Paths::default();
        let (short, long) = (paths.intern(&nodes(&[3, 1])), paths.intern(&nodes(&[3, 1, 2])));
        assert_ne!(short, long);
        assert_eq!(paths.intern(&nodes(&[3, 1])), short);
        assert_eq!(paths.nodes(long), nodes(&[3, 1, 2]));
    }

    #[test]
    fn a_fourth_route_error_is_left_out() {
        let error =
            |n| RouteError { from: NodeId(n), unreachable: NodeId(9), to: NodeId(0), salvage: 0 };
        let errors = RouteErrors::new(error(1)).followed_by(&[error(2), error(3), error(4)]);
        assert_eq!(errors.as_slice(), [error(1), error(2), error(3)]);
    }
}
