//! IPv4 (RFC 791).

use super::addresses::{Addresses, ipv4};
use super::tcp::TcpHeaders;
use super::udp::{self, ICMP, UDP, udp, udp_header};
use super::{aodv, arp, dsr, echo};
use crate::{Network, TapePacket};
use kernel::IdVec;
use std::sync::Arc;
use wire::ipv4::Sum;
use wire::{
    Body, Dscp, Echo, EchoProtocol, Ecn, FlowId, Message, NodeId, Packet, PathId, Paths,
    RealPacket, TrafficClass,
};

/// Bytes of an IPv4 header without options.
const HEADER: usize = 20;
const DO_NOT_FRAGMENT: u8 = 0x40;
const TCP: u8 = 6;

/// Writes packets: their IP and transport headers.
#[derive(Debug)]
pub(super) struct Packets {
    pub(super) addresses: Addresses,
    tcp: TcpHeaders,
    /// By flow: its own DSCP.
    dscps: IdVec<FlowId, Option<Dscp>>,
    /// By flow: the packets of a real program.
    tapes: IdVec<FlowId, Option<Arc<[TapePacket]>>>,
    paths: Paths,
}

impl Packets {
    pub(super) fn new(network: &Network) -> Self {
        let (addresses, tcp) = (Addresses::new(network), TcpHeaders::new(&network.flows));
        let dscps = network.flows.iter().map(|flow| flow.dscp).collect();
        let tapes = network.flows.iter().map(|flow| flow.tape.clone()).collect();
        Self { addresses, tcp, dscps, tapes, paths: Paths::default() }
    }

    /// Packets may refer to this list of nodes from now on.
    pub(super) fn add_path(&mut self, id: PathId, nodes: &[NodeId]) {
        let own = self.paths.intern(nodes);
        debug_assert_eq!(own, id, "a sink learns of each path in their order");
    }

    /// Appends a packet. Returns how many zero bytes of payload follow.
    pub(super) fn write(&mut self, packet: &Packet, id: u64, out: &mut Vec<u8>) -> usize {
        if let Body::Arp(message) = &packet.body {
            arp::message(message, &self.addresses, out);
            return 0;
        }
        if let Some(real) = self.real(packet) {
            let start = out.len();
            out.extend(&real.bytes);
            if packet.ecn == Ecn::Experienced {
                RealPacket::mark(&mut out[start..]);
            }
            return real.len as usize - real.bytes.len();
        }
        let start = out.len();
        let after_ip = start + HEADER;
        out.resize(after_ip, 0);
        let has_dsr = packet.flow().is_some() && dsr::is_on(packet);
        if has_dsr {
            dsr::before(protocol_of(packet), packet, &self.paths, out);
        }
        let transport = out.len();
        let (protocol, zeros) = self.body(packet, out);
        checksum(packet, protocol, transport, zeros, out);
        let length = (out.len() - start + zeros) as u16;
        let protocol = if has_dsr { dsr::PROTOCOL } else { protocol };
        let services = self.differentiated_services(packet) << 2 | ecn(packet);
        header(packet, services, id, protocol, length, &mut out[start..after_ip]);
        zeros
    }

    /// The packet of a real program as it was sent.
    fn real(&self, packet: &Packet) -> Option<&TapePacket> {
        let Body::Datagram(datagram) = packet.body else { return None };
        let tape = self.tapes.get(datagram.flow)?.as_ref()?;
        tape.get(datagram.number as usize)
    }

    /// The DSCP of a packet: that of its flow, or the one that stands for its access category.
    fn differentiated_services(&self, packet: &Packet) -> u8 {
        let own = packet.flow().and_then(|flow| self.dscps.get(flow).copied().flatten());
        own.map_or_else(|| usual_dscp(packet.class), Dscp::value)
    }

    /// Appends what follows the IP header. Returns its protocol, and how many zero bytes follow.
    fn body(&mut self, packet: &Packet, out: &mut Vec<u8>) -> (u8, usize) {
        match &packet.body {
            Body::Segment(segment) => {
                self.tcp.write(segment, out);
                (TCP, segment.len as usize)
            }
            Body::Datagram(datagram) => (UDP, udp(datagram, out)),
            Body::Echo(echo) => echo::message(echo, out),
            Body::Media(media) => (UDP, udp::media(media, out)),
            Body::Routing(Message::Aodv(message)) => {
                out.extend(udp_header(aodv::PORT, aodv::PORT, message.size() as u16));
                aodv::message(message, out);
                (UDP, 0)
            }
            Body::Routing(Message::Dsr(message)) => {
                dsr::message(packet, message, &self.paths, out);
                (dsr::PROTOCOL, 0)
            }
            Body::Arp(_) | Body::Management(_) => unreachable!("it has no IP header"),
        }
    }
}

/// The protocol of a flow's packet.
fn protocol_of(packet: &Packet) -> u8 {
    match &packet.body {
        Body::Segment(_) => TCP,
        Body::Echo(Echo { protocol: EchoProtocol::Icmp, .. }) => ICMP,
        _ => UDP,
    }
}

/// Sets the checksum of TCP, UDP or ICMP, whose header begins at `transport`.
fn checksum(packet: &Packet, protocol: u8, transport: usize, zeros: usize, out: &mut [u8]) {
    let mut sum = Sum::default();
    if protocol != ICMP {
        sum.add(&ipv4(Some(packet.from)));
        sum.add(&ipv4(packet.to));
        sum.word(u16::from(protocol));
        sum.word((out.len() - transport + zeros) as u16);
    }
    sum.add(&out[transport..]);
    let checksum = match (protocol, sum.value()) {
        (TCP, value) => Some((16, value)),
        (ICMP, value) => Some((2, value)),
        // RFC 768: zero means no checksum.
        (UDP, 0) => Some((6, 0xffff)),
        (UDP, value) => Some((6, value)),
        _ => None,
    };
    if let Some((place, value)) = checksum {
        out[transport + place..][..2].copy_from_slice(&value.to_be_bytes());
    }
}

/// Fills in an IPv4 header: the DS and ECN fields, the identification, the protocol after it, and
/// the length of the packet.
fn header(packet: &Packet, services: u8, id: u64, protocol: u8, length: u16, header: &mut [u8]) {
    header[0] = 0x45;
    header[1] = services;
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[4..6].copy_from_slice(&(id as u16).to_be_bytes());
    header[6] = DO_NOT_FRAGMENT;
    header[8] = packet.ttl;
    header[9] = protocol;
    header[12..16].copy_from_slice(&ipv4(Some(packet.from)));
    header[16..20].copy_from_slice(&ipv4(packet.to));
    let mut sum = Sum::default();
    sum.add(header);
    header[10..12].copy_from_slice(&sum.value().to_be_bytes());
}

/// The DSCP of an access category (RFC 8325 section 4): CS1, default, AF41, EF.
fn usual_dscp(class: TrafficClass) -> u8 {
    match class {
        TrafficClass::Background => 8,
        TrafficClass::BestEffort => 0,
        TrafficClass::Video => 34,
        TrafficClass::Voice => 46,
    }
}

/// The ECN field (RFC 3168 section 5, RFC 8311).
fn ecn(packet: &Packet) -> u8 {
    match packet.ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Experienced => 0b11,
    }
}
