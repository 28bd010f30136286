//! IPv4 (RFC 791) and UDP (RFC 768).

use super::addresses::ipv4;
use super::aodv;
use super::checksum::Sum;
use super::tcp::TcpHeaders;
use wire::{Body, Datagram, Ecn, Flags, FlowId, Message, Packet, TrafficClass};

/// Bytes of an IPv4 header without options.
const HEADER: usize = 20;
const TIME_TO_LIVE: u8 = 64;
const DO_NOT_FRAGMENT: u8 = 0x40;
/// The most data of a datagram: a scenario may count no headers and have more.
const LARGEST_DATAGRAM: u32 = 65_535 - 28;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DSR: u8 = 48;

/// Appends a packet: its IP and transport headers. Returns how many zero bytes of payload follow.
pub(super) fn packet(
    packet: &Packet,
    id: u64,
    headers: &mut TcpHeaders,
    out: &mut Vec<u8>,
) -> usize {
    let start = out.len();
    let transport = start + HEADER;
    out.resize(transport, 0);
    let (protocol, zeros) = match &packet.body {
        Body::Segment(segment) => {
            headers.write(segment, out);
            (TCP, segment.len as usize)
        }
        Body::Datagram(datagram) => (UDP, udp(datagram, out)),
        Body::Routing(Message::Aodv(message)) => {
            out.extend(udp_header((aodv::PORT, aodv::PORT), message.size() as u16));
            aodv::message(message, out);
            (UDP, 0)
        }
        Body::Routing(Message::Dsr(_)) => {
            dsr(packet.size.0 as usize - HEADER, out);
            (DSR, 0)
        }
    };
    let length = (out.len() - transport + zeros) as u16;
    let (source, destination) = (ipv4(Some(packet.from)), ipv4(packet.to));
    let mut sum = Sum::default();
    sum.add(&source);
    sum.add(&destination);
    sum.word(u16::from(protocol));
    sum.word(length);
    sum.add(&out[transport..]);
    let checksum = match (protocol, sum.value()) {
        (TCP, value) => Some((16, value)),
        // RFC 768: zero means no checksum.
        (UDP, 0) => Some((6, 0xffff)),
        (UDP, value) => Some((6, value)),
        _ => None,
    };
    if let Some((place, value)) = checksum {
        out[transport + place..][..2].copy_from_slice(&value.to_be_bytes());
    }
    let header = &mut out[start..transport];
    header[0] = 0x45;
    header[1] = differentiated_services(packet.class) << 2 | ecn(packet);
    header[2..4].copy_from_slice(&(length + HEADER as u16).to_be_bytes());
    header[4..6].copy_from_slice(&(id as u16).to_be_bytes());
    header[6] = DO_NOT_FRAGMENT;
    header[8] = TIME_TO_LIVE;
    header[9] = protocol;
    header[12..16].copy_from_slice(&source);
    header[16..20].copy_from_slice(&destination);
    let mut sum = Sum::default();
    sum.add(header);
    header[10..12].copy_from_slice(&sum.value().to_be_bytes());
    zeros
}

/// Appends a DSR header of a size (RFC 4728 section 6.1) without a header after it. Its options are
/// not written: `PadN` options are in their place.
fn dsr(size: usize, out: &mut Vec<u8>) {
    const NO_NEXT_HEADER: u8 = 59;
    const FIXED: usize = 4;
    let mut left = size.saturating_sub(FIXED);
    out.extend([NO_NEXT_HEADER, 0]);
    out.extend((left as u16).to_be_bytes());
    while left > 1 {
        let padding = left.min(257);
        out.extend([0, (padding - 2) as u8]);
        out.resize(out.len() + padding - 2, 0);
        left -= padding;
    }
}

/// The port of a flow's receiver: in the dynamic range (RFC 6335), where no protocol is registered.
pub(super) fn receiver_port(flow: FlowId) -> u16 {
    49_152 + (flow.0 % 8192) as u16
}

/// The port of a flow's sender: another one for each of its successive connections.
pub(super) fn sender_port(connection: u32) -> u16 {
    57_344 + (connection % 8192) as u16
}

/// Appends a UDP header and the number of the datagram, as far as its data has room.
fn udp(datagram: &Datagram, out: &mut Vec<u8>) -> usize {
    let len = datagram.len.min(LARGEST_DATAGRAM);
    out.extend(udp_header((sender_port(0), receiver_port(datagram.flow)), len as u16));
    let number = datagram.number.to_be_bytes();
    let written = if len >= 8 { 8 } else { 0 };
    out.extend(&number[..written]);
    len as usize - written
}

/// A UDP header without its checksum.
fn udp_header((source, destination): (u16, u16), payload: u16) -> [u8; 8] {
    let mut header = [0; 8];
    for (place, word) in [source, destination, payload + 8].into_iter().enumerate() {
        header[2 * place..][..2].copy_from_slice(&word.to_be_bytes());
    }
    header
}

/// The DSCP of an access category (RFC 8325 section 4): CS1, default, AF41, EF.
fn differentiated_services(class: TrafficClass) -> u8 {
    match class {
        TrafficClass::Background => 8,
        TrafficClass::BestEffort => 0,
        TrafficClass::Video => 34,
        TrafficClass::Voice => 46,
    }
}

/// The ECN field (RFC 3168 section 5, RFC 8311).
fn ecn(packet: &Packet) -> u8 {
    let is_ect1 = matches!(&packet.body, Body::Segment(it) if it.flags.has(Flags::ECT1));
    match packet.ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Capable if is_ect1 => 0b01,
        Ecn::Capable => 0b10,
        Ecn::Experienced => 0b11,
    }
}
