//! The IP packet: a body with its addresses and its size on the wire.

use crate::Segment;
use kernel::{Bytes, Instant};
use settings::Choice;

/// A node of the scenario: server, access point or station, numbered by the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A flow, numbered by the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// The ECN field of the IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECN-capable.
    Capable,
    /// Congestion experienced.
    Experienced,
}

/// Access category, lowest first (802.11-2020 clause 10.2.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Choice)]
pub enum TrafficClass {
    /// `AC_BK`.
    Background,
    /// `AC_BE`.
    #[default]
    BestEffort,
    /// `AC_VI`.
    Video,
    /// `AC_VO`.
    Voice,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A UDP datagram.
    Datagram(Datagram),
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Its number within the flow, from 0.
    pub number: u64,
    /// Bytes of data.
    pub len: u32,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The source.
    pub from: NodeId,
    /// The destination; `None` is the broadcast address of the cell.
    pub to: Option<NodeId>,
    /// Size with IP and transport headers, without link headers.
    pub size: Bytes,
    /// When its transport sent it.
    pub born: Instant,
    /// ECN field.
    pub ecn: Ecn,
    /// Access category.
    pub class: TrafficClass,
    /// The content.
    pub body: Body,
}

impl Packet {
    /// The flow it belongs to.
    pub fn flow(&self) -> FlowId {
        match self.body {
            Body::Segment(segment) => segment.flow,
            Body::Datagram(datagram) => datagram.flow,
        }
    }

    /// Bytes of user data it carries.
    pub fn payload(&self) -> Bytes {
        match self.body {
            Body::Segment(segment) => segment.payload(),
            Body::Datagram(datagram) => Bytes(u64::from(datagram.len)),
        }
    }
}
