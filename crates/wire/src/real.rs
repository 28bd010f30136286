//! IP packets of real programs: what their headers say, and the congestion mark that they get.

use crate::ipv4::{
    CHECKSUM, DESTINATION, FRAGMENT, HEADER, LENGTH, PROTOCOL, SERVICES, SOURCE, Sum, put, word,
};
use crate::{Dscp, Ecn, TrafficClass};

/// Do Not Fragment.
const NEVER_FRAGMENTED: u16 = 0x4000;
/// More Fragments, and the offset of the fragment.
const IS_FRAGMENT: u16 = 0x3fff;
/// The protocols whose headers begin with two ports.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// What a network reads of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealPacket {
    /// Its size.
    pub len: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The access category of its DSCP.
    pub class: TrafficClass,
    /// A hash of its addresses, protocol and ports, for queues that tell streams apart; at least 1.
    pub stream: u32,
    /// Whether it is a fragment of a packet (RFC 791 section 2.3).
    pub is_fragment: bool,
    /// Its source.
    pub from: [u8; 4],
    /// Its destination.
    pub to: [u8; 4],
}

/// Why a packet is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not IPv4.
    NotIpv4,
    /// Its header is cut off, or says another length than the packet has.
    Truncated,
}

impl RealPacket {
    /// The first bytes of a packet that have all that is read: the longest header, and two ports.
    pub const READ: usize = 64;

    /// Reads the header of a packet of this length, whose first bytes these are.
    ///
    /// # Errors
    /// Why it is not an IPv4 packet (RFC 791 section 3.1).
    pub fn read(bytes: &[u8], len: usize) -> Result<Self, Unreadable> {
        match bytes.first() {
            Some(first) if first >> 4 == 4 => {}
            _ => return Err(Unreadable::NotIpv4),
        }
        let header = usize::from(bytes[0] & 15) * 4;
        if bytes.len() < header.max(HEADER) || usize::from(word(bytes, LENGTH)) != len {
            return Err(Unreadable::Truncated);
        }
        Ok(Self {
            len: len as u32,
            ecn: ecn_of(bytes[SERVICES]),
            class: Dscp::of_services(bytes[SERVICES]).class(),
            stream: stream(bytes, header),
            is_fragment: word(bytes, FRAGMENT) & IS_FRAGMENT != 0,
            from: address(bytes, SOURCE),
            to: address(bytes, DESTINATION),
        })
    }

    /// Whether it goes to a group or to all (RFC 1112 section 4, RFC 919).
    pub fn is_multicast(&self) -> bool {
        self.to[0] >= 224
    }

    /// Whether the sender wants to hear of a network that a packet is too large for, whose header
    /// these bytes begin with: Do Not Fragment (RFC 1191 section 3).
    pub fn is_never_fragmented(bytes: &[u8]) -> bool {
        bytes.len() >= HEADER && word(bytes, FRAGMENT) & NEVER_FRAGMENTED != 0
    }

    /// Writes that the packet has experienced congestion, and the checksum that its header then has
    /// (RFC 3168 section 5, RFC 1624).
    pub fn mark(bytes: &mut [u8]) {
        let old = word(bytes, 0);
        bytes[SERVICES] |= 0b11;
        // Equation 3 of RFC 1624: HC' = ~(~HC + ~m + m').
        let mut sum = Sum::default();
        for part in [!word(bytes, CHECKSUM), !old, word(bytes, 0)] {
            sum.word(part);
        }
        put(bytes, CHECKSUM, sum.value());
    }
}

fn address(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

/// The ECN field is the last two bits of the octet (RFC 3168 section 5).
fn ecn_of(services: u8) -> Ecn {
    match services & 0b11 {
        0b00 => Ecn::NotCapable,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Experienced,
    }
}

/// A hash of addresses, protocol and ports, where the protocol has any.
fn stream(bytes: &[u8], header: usize) -> u32 {
    let protocol = bytes[PROTOCOL];
    let has_ports = WITH_PORTS.contains(&protocol);
    let ports = bytes.get(header..header + 4).filter(|_| has_ports).unwrap_or_default();
    let parts = bytes[SOURCE..HEADER].iter().chain(ports).chain([&protocol]);
    // FNV-1a (draft-eastlake-fnv), 32 bits.
    let hash = parts
        .fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram of four bytes from 10.0.0.4, port 1000, to 10.0.0.1, port 53, of class EF and
    /// with ECT(0). The checksum was computed by hand (RFC 1071).
    const UDP: [u8; 32] = [
        0x45, 0xba, 0, 32, 0, 7, 0x40, 0, 64, 17, 0x26, 0x08, 10, 0, 0, 4, 10, 0, 0, 1, 0x03, 0xe8,
        0, 53, 0, 12, 0, 0, 1, 2, 3, 4,
    ];

    fn is_sound(bytes: &[u8]) -> bool {
        let sum: u32 = (0..10).map(|at| u32::from(word(bytes, 2 * at))).sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    #[test]
    fn a_header_is_read() {
        let packet = RealPacket::read(&UDP, UDP.len()).expect("the packet has no fault");
        assert!(is_sound(&UDP));
        assert_eq!((packet.len, packet.ecn), (32, Ecn::Ect0));
        assert_eq!(packet.class, TrafficClass::Voice);
        assert_eq!((packet.from, packet.to), ([10, 0, 0, 4], [10, 0, 0, 1]));
        assert!(!packet.is_multicast());
    }

    #[test]
    fn what_is_no_ipv4_packet_is_told() {
        assert_eq!(RealPacket::read(&[], 0), Err(Unreadable::NotIpv4));
        assert_eq!(RealPacket::read(&[0x60; 40], 40), Err(Unreadable::NotIpv4));
        assert_eq!(RealPacket::read(&UDP[..31], 31), Err(Unreadable::Truncated));
        assert_eq!(RealPacket::read(&UDP[..8], 32), Err(Unreadable::Truncated));
        let long = [&[0x4f_u8][..], &UDP[1..]].concat();
        assert_eq!(RealPacket::read(&long, 32), Err(Unreadable::Truncated));
    }

    #[test]
    fn headers_alone_are_enough() {
        assert_eq!(RealPacket::read(&UDP[..24], 32), RealPacket::read(&UDP, 32));
    }

    #[test]
    fn streams_differ_by_addresses_and_ports() {
        let with = |at: usize, value: u8| {
            let mut bytes = UDP;
            bytes[at] = value;
            RealPacket::read(&bytes, 32).expect("the packet has no fault")
        };
        let own = with(0, 0x45).stream;
        assert_ne!(own, with(21, 0).stream);
        assert_ne!(own, with(23, 54).stream);
        assert_ne!(own, with(15, 5).stream);
        assert_eq!(own, with(28, 99).stream, "data are not read");
        // ICMP has no ports.
        let ping = |port: u8| {
            let mut bytes = UDP;
            (bytes[9], bytes[21]) = (1, port);
            RealPacket::read(&bytes, 32).expect("the packet has no fault").stream
        };
        assert_eq!(ping(1), ping(2));
    }

    #[test]
    fn fragments_are_told() {
        let with = |flags: u8, offset: u8| {
            let mut bytes = UDP;
            (bytes[6], bytes[7]) = (flags, offset);
            RealPacket::read(&bytes, 32).expect("the packet has no fault").is_fragment
        };
        assert!(!with(0x40, 0), "Do Not Fragment");
        assert!(RealPacket::is_never_fragmented(&UDP) && !RealPacket::is_never_fragmented(&[]));
        assert!(with(0x20, 0), "the first");
        assert!(with(0, 185), "the last");
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut bytes = UDP;
        RealPacket::mark(&mut bytes);
        assert_eq!(bytes[1], 0xbb);
        assert!(is_sound(&bytes));
        let again = bytes;
        RealPacket::mark(&mut bytes);
        assert_eq!(bytes, again);
    }
}
