//! The IP packet: a body with its addresses and its size on the wire.

use crate::{
    ArpMessage, Echo, Ecn, FlowId, Management, Media, Message, NodeId, PathId, PowerBits, Segment,
    TrafficClass,
};
use kernel::{Bytes, Instant};

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A UDP datagram.
    Datagram(Datagram),
    /// An echo request or reply.
    Echo(Echo),
    /// A packet of a conference.
    Media(Media),
    /// A message of a routing protocol, which belongs to no flow.
    Routing(Message),
    /// A message of ARP, which belongs to no flow.
    Arp(ArpMessage),
    /// A frame of the MAC without an IP packet, which belongs to no flow.
    Management(Management),
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
    /// Of a packet of a real program: the hash of its addresses, protocol and ports, because such a
    /// flow carries many streams. 0 for others.
    pub stream: u32,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The source.
    pub from: NodeId,
    /// The destination; `None` is the broadcast address of the cell.
    pub to: Option<NodeId>,
    /// The node to which its frame is addressed: the destination or, where nodes forward, the next
    /// hop. A broadcast has none, whatever this field holds.
    pub next: NodeId,
    /// The source route, where nodes forward by one (RFC 4728): from the node that has chosen it,
    /// which is the source unless the packet was salvaged, to the destination.
    pub source_route: Option<PathId>,
    /// How often its source route was replaced on the way (RFC 4728 section 3.4.1).
    pub salvage: u8,
    /// Over how many hops it may go.
    pub ttl: u8,
    /// Size with IP, transport and routing headers, without link headers. A frame of the MAC: the
    /// whole MPDU, header and FCS included.
    pub size: Bytes,
    /// When its transport sent it.
    pub born: Instant,
    /// ECN field.
    pub ecn: Ecn,
    /// Access category.
    pub class: TrafficClass,
    /// How the MAC header of its frame serves power saving, while a radio has it in service.
    pub power: PowerBits,
    /// The content.
    pub body: Body,
}

impl Packet {
    /// The time to live of a packet that its transport sends (RFC 1700, "IP time to live").
    pub const TTL: u8 = 64;

    /// A packet of the default class that is not ECN-capable and goes straight to its destination.
    pub fn new(from: NodeId, to: Option<NodeId>, size: Bytes, born: Instant, body: Body) -> Self {
        Self {
            from,
            to,
            next: to.unwrap_or(from),
            source_route: None,
            salvage: 0,
            ttl: Self::TTL,
            size,
            born,
            ecn: Ecn::default(),
            class: TrafficClass::default(),
            power: PowerBits::NONE,
            body,
        }
    }

    /// The flow it belongs to; messages of routing protocols have none.
    pub fn flow(&self) -> Option<FlowId> {
        match self.body {
            Body::Segment(segment) => Some(segment.flow),
            Body::Datagram(datagram) => Some(datagram.flow),
            Body::Echo(echo) => Some(echo.flow),
            Body::Media(media) => Some(media.flow),
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => None,
        }
    }

    /// The stream that a queue takes for its own: the flow, and within a flow of real packets each
    /// combination of addresses, protocol and ports. Messages of routing protocols share one.
    pub fn stream(&self) -> u64 {
        let stream = match self.body {
            Body::Datagram(datagram) => u64::from(datagram.stream),
            _ => 0,
        };
        self.flow().map_or(u64::from(u32::MAX), |flow| stream << 32 | u64::from(flow.0))
    }

    /// Bytes of an MPDU with it alone, where MAC and LLC add `overhead` to a packet.
    pub fn mpdu(&self, overhead: Bytes) -> Bytes {
        match self.body {
            Body::Management(_) => self.size,
            _ => overhead + self.size,
        }
    }

    /// The node to which its frame is addressed; `None` is the broadcast address.
    pub fn receiver(&self) -> Option<NodeId> {
        self.to.map(|_| self.next)
    }

    /// Whether it is a TCP acknowledgement without data.
    pub fn is_pure_ack(&self) -> bool {
        matches!(&self.body, Body::Segment(segment) if segment.is_pure_ack())
    }

    /// Bytes of user data it carries.
    pub fn payload(&self) -> Bytes {
        match self.body {
            Body::Segment(segment) => segment.payload(),
            Body::Datagram(datagram) => Bytes(u64::from(datagram.len)),
            Body::Echo(echo) => Bytes(u64::from(echo.len)),
            Body::Media(media) => Bytes(u64::from(media.payload())),
            Body::Routing(_) | Body::Arp(_) | Body::Management(_) => Bytes::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_routing_and_the_mac_add_to_a_packet_takes_sixteen_bytes() {
        let others = size_of::<(NodeId, Option<NodeId>, Bytes, Instant, Ecn, TrafficClass, Body)>();
        assert!(size_of::<Packet>() <= others + 16, "{} B", size_of::<Packet>());
    }
}
