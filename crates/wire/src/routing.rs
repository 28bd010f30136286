//! What routing protocols of networks of forwarding nodes send: lists of nodes and messages.

use crate::NodeId;
use kernel::Duration;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A list of nodes in [`Paths`]. Packets are copied in every queue; a path of any length therefore
/// takes four bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(NonZeroU32);

impl PathId {
    /// Marks a path that its packet does not carry.
    const IMPLIED: u32 = 1 << 31;

    /// The same path for a packet that does not carry it, because the nodes on it know the flow
    /// (RFC 4728 section 3.5).
    #[must_use]
    pub fn implied(self) -> Self {
        Self(self.0 | Self::IMPLIED)
    }

    /// Whether the packet does not carry the path.
    pub fn is_implied(self) -> bool {
        self.0.get() & Self::IMPLIED != 0
    }

    /// The number of the path, from 1.
    pub fn number(self) -> u32 {
        self.0.get() & !Self::IMPLIED
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
        let id = u32::try_from(self.lists.len()).ok().filter(|id| id & PathId::IMPLIED == 0);
        let id = id.and_then(NonZeroU32::new).map(PathId);
        let id = id.expect("a run has fewer than 2^31 paths");
        self.ids.insert(list, id);
        id
    }

    /// The lists from the `first`-th on, with their ids. The earlier ones cost nothing.
    pub fn since(&self, first: usize) -> impl Iterator<Item = (PathId, &[NodeId])> {
        let id = |number: usize| u32::try_from(number + 1).ok().and_then(NonZeroU32::new);
        let new = self.lists.get(first..).unwrap_or_default();
        let ids = (first..).map(move |number| id(number).map(PathId));
        ids.zip(new).filter_map(|(id, list)| Some((id?, &**list)))
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The list with this id.
    pub fn nodes(&self, id: PathId) -> &[NodeId] {
        &self.lists[id.number() as usize - 1]
    }
}

/// A message of a routing protocol: the content of a packet that belongs to no flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A message of AODV (RFC 3561).
    Aodv(AodvMessage),
    /// A message of DSR (RFC 4728).
    Dsr(DsrMessage),
}

impl Message {
    /// Its name, as the RFCs write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Aodv(AodvMessage::Reply(reply)) if reply.is_hello() => "Hello",
            Self::Aodv(AodvMessage::Request(_)) | Self::Dsr(DsrMessage::Request { .. }) => {
                "Route Request"
            }
            Self::Aodv(AodvMessage::Reply(_)) | Self::Dsr(DsrMessage::Reply { .. }) => {
                "Route Reply"
            }
            Self::Aodv(AodvMessage::Error(_)) | Self::Dsr(DsrMessage::Error(_)) => "Route Error",
        }
    }
}

/// A message of AODV. Its packet goes to neighbours only, which send a message of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AodvMessage {
    /// A Route Request (RFC 3561 section 5.1), which is broadcast.
    Request(AodvRequest),
    /// A Route Reply (section 5.2), or a Hello message (section 6.9).
    Reply(AodvReply),
    /// A Route Error (section 5.3).
    Error(AodvErrors),
}

impl AodvMessage {
    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Request(_) => 24,
            Self::Reply(_) => 20,
            Self::Error(errors) => 4 + 8 * errors.as_slice().len() as u64,
        }
    }
}

/// A Route Request of AODV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AodvRequest {
    /// The RREQ ID that the originator gave it.
    pub id: u32,
    /// The node that requests a route.
    pub originator: NodeId,
    /// Its sequence number.
    pub originator_sequence: u32,
    /// The node to which a route is requested.
    pub destination: NodeId,
    /// Its last known sequence number; `None` if none is known (the U flag).
    pub destination_sequence: Option<u32>,
    /// The hops from the originator to the node that has sent this.
    pub hops: u8,
    /// Whether a node that answers tells the destination too (the G flag).
    pub gratuitous: bool,
    /// Whether only the destination may answer (the D flag).
    pub destination_only: bool,
}

/// A Route Reply of AODV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AodvReply {
    /// The node to which there is a route.
    pub destination: NodeId,
    /// Its sequence number.
    pub sequence: u32,
    /// The node that has requested the route.
    pub originator: NodeId,
    /// The hops from the node that has sent this to the destination.
    pub hops: u8,
    /// How long the route is valid.
    pub lifetime: Duration,
}

impl AodvReply {
    /// Whether it is a Hello message: a node tells its neighbours of itself.
    pub fn is_hello(&self) -> bool {
        self.originator == self.destination
    }
}

/// The destinations of a Route Error of AODV, each with its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AodvErrors {
    pairs: [(NodeId, u32); Self::MOST],
    count: u8,
}

impl AodvErrors {
    /// How many destinations a message has; a node sends several messages if there are more.
    pub const MOST: usize = 6;

    /// These destinations, at most [`Self::MOST`].
    pub fn new(list: &[(NodeId, u32)]) -> Self {
        let count = list.len().min(Self::MOST);
        let mut pairs = [(NodeId(0), 0); Self::MOST];
        pairs[..count].copy_from_slice(&list[..count]);
        Self { pairs, count: count as u8 }
    }

    /// The destinations that cannot be reached.
    pub fn as_slice(&self) -> &[(NodeId, u32)] {
        &self.pairs[..usize::from(self.count)]
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
        assert_eq!(paths.nodes(long.implied()), nodes(&[3, 1, 2]));
    }

    #[test]
    fn a_fourth_route_error_is_left_out() {
        let error =
            |n| RouteError { from: NodeId(n), unreachable: NodeId(9), to: NodeId(0), salvage: 0 };
        let errors = RouteErrors::new(error(1)).followed_by(&[error(2), error(3), error(4)]);
        assert_eq!(errors.as_slice(), [error(1), error(2), error(3)]);
    }
}
