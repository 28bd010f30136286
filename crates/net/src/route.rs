//! Routing protocols of networks whose nodes forward each other's packets.
//!
//! A router is the routing machine of one node. It accepts packets that the node's transports send
//! and packets that the node receives, and decides where they go next. It owns the packets that
//! wait for a route, and those whose broadcast it delays.

mod deadlines;
#[cfg(test)]
mod network;
mod send_buffer;

pub use deadlines::Deadlines;

use kernel::{Duration, IdVec, Instant, Rng};
use std::fmt::Debug;
use wire::{NodeId, Packet, Paths};

settings::registry! {
    /// The routing protocol of a network whose nodes forward packets.
    pub enum RoutingSettings: Protocol = Static;
    aodv: Aodv(AodvConfig),
    fixed: Static(StaticConfig),
    dsr: Dsr(DsrConfig),
}

/// The settings of a routing protocol.
pub trait Protocol {
    /// The router of a node, before its first packet.
    fn build(&self, site: &Site<'_>) -> Box<dyn Router>;

    /// The cost of links at the start of the run, if the protocol knows them ([`Site::links`]).
    fn metric(&self) -> Option<Metric> {
        None
    }

    /// Whether nodes receive the frames that are addressed to others
    /// ([`Router::on_overheard`]).
    fn is_promiscuous(&self) -> bool {
        false
    }
}

/// Of each node its neighbours, each with the cost of the link.
pub type Neighbours = IdVec<NodeId, Vec<(NodeId, f64)>>;

/// Where a router stands.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Its node.
    pub node: NodeId,
    /// The links at the start of the run, which only static routes know.
    pub links: &'a Neighbours,
}

/// What a router is given with each event.
#[derive(Debug)]
pub struct Context<'a> {
    /// The current time.
    pub now: Instant,
    /// The lists of nodes to which packets refer.
    pub paths: &'a mut Paths,
    /// The random stream of this node's router.
    pub rng: &'a mut Rng,
    /// The node over which packets leave the network for a destination outside: of each node, the
    /// last node of a route to it. Empty if each node is in the network.
    pub exits: &'a IdVec<NodeId, NodeId>,
    /// Where the router appends its commands.
    pub out: &'a mut Vec<Command>,
}

impl Context<'_> {
    /// The last node of a route to this destination: the destination, or the gateway to it.
    pub fn exit(&self, destination: NodeId) -> NodeId {
        self.exits.get(destination).copied().unwrap_or(destination)
    }
}

/// A command of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Queue the packet at the radio, for the neighbour [`Packet::next`] or for all neighbours.
    Send(Packet),
    /// The packet has reached this node, the end of its route: hand it to the transport, or send it
    /// on over the wire. It has no routing headers any more.
    Deliver(Packet),
    /// The packet is lost here.
    Drop(Packet, RouteDrop),
    /// Remove all packets that wait at the radio for this neighbour and give each to
    /// [`Router::on_link_failure`].
    Purge(NodeId),
    /// Call [`Router::on_timer`] at this instant, and no more at the instant that was set before.
    SetTimer(Instant),
    /// Do not call [`Router::on_timer`].
    CancelTimer,
    /// Something of interest to the transport or to observers has happened.
    Note(RouteNote),
}

/// Why a router drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteDrop {
    /// There is no route, and this node requests none.
    NoRoute,
    /// The buffer of packets that wait for a route is full.
    SendBufferFull,
    /// It has waited too long for a route.
    SendBufferTimeout,
    /// Its time to live has ended.
    TimeToLive,
    /// The link has failed, and no other route is known or allowed for it.
    SalvageFailed,
    /// The link has failed under a message of the routing protocol, or the message is of no use.
    Message,
}

/// An event of a router that is no packet's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteNote {
    /// From now on packets from this node to the destination take another route, or none.
    Changed {
        /// The destination.
        destination: NodeId,
        /// The number of hops of the new route.
        hops: Option<u8>,
    },
    /// A route discovery that began at this instant has found a route.
    Discovered {
        /// The destination.
        destination: NodeId,
        /// When the first packet waited.
        since: Instant,
    },
    /// The route from this node to the destination has failed, and no other is known: a transport
    /// that asks for it stops to send.
    Failure {
        /// The destination.
        destination: NodeId,
    },
    /// There is again a route to the destination of a `Failure`.
    Restored {
        /// The destination.
        destination: NodeId,
    },
    /// The link to a neighbour has failed.
    LinkFailure {
        /// The neighbour.
        neighbour: NodeId,
    },
}

impl RouteNote {
    /// The destination to which the packets of a transport at this node take another route now, or
    /// none.
    pub fn destination_for_transports(&self) -> Option<NodeId> {
        match *self {
            Self::Changed { destination, hops: Some(_) }
            | Self::Failure { destination }
            | Self::Restored { destination } => Some(destination),
            _ => None,
        }
    }
}

/// The routing machine of a node.
pub trait Router: Debug + Send {
    /// A transport of this node sends a packet, or a packet from outside enters the network here.
    fn on_packet(&mut self, packet: Packet, context: &mut Context<'_>);

    /// The radio has received an intact packet from a neighbour, addressed to this node or
    /// broadcast.
    fn on_received(&mut self, from: NodeId, packet: &Packet, context: &mut Context<'_>);

    /// The radio has received an intact packet that a neighbour has sent to another
    /// ([`Packet::next`]). Only called if the protocol is promiscuous.
    fn on_overheard(&mut self, _from: NodeId, _packet: &Packet, _context: &mut Context<'_>) {}

    /// The MAC has given up a packet to a neighbour, or the radio returns it after
    /// [`Command::Purge`] (`purged`). The router has the packet again.
    fn on_link_failure(
        &mut self,
        neighbour: NodeId,
        packet: Packet,
        purged: bool,
        context: &mut Context<'_>,
    );

    /// The timer has expired.
    fn on_timer(&mut self, context: &mut Context<'_>);

    /// The number of hops of the route to a destination that a packet would take now.
    fn hops(&self, destination: NodeId, paths: &Paths) -> Option<u8>;

    /// The next hop of packets to a destination now, if the router has a table of next hops.
    fn next_hop(&self, _destination: NodeId, _now: Instant) -> Option<NodeId> {
        None
    }

    /// Calls `visit` for each packet that the router holds, for checking.
    fn each(&self, visit: &mut dyn FnMut(&Packet));
}

/// A random delay, uniform up to `most`, by which nodes that broadcast for one cause avoid a
/// collision (RFC 5148).
pub(crate) fn jitter(most: Duration, rng: &mut Rng) -> Duration {
    Duration::from_secs_f64(most.as_secs_f64() * rng.uniform())
}
