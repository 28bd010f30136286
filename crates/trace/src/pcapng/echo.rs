//! Echo requests and replies: ICMP (RFC 792), and the echo service over UDP (RFC 862).

use super::udp::{ICMP, LARGEST_DATAGRAM, UDP, receiver_port, udp_header};
use wire::{Echo, EchoProtocol};

/// The port of the echo service (RFC 862).
const PORT: u16 = 7;
/// Message types (RFC 792).
const REPLY: u8 = 0;
const REQUEST: u8 = 8;

/// Appends a request or reply without its checksum. Returns its protocol, and how many zero bytes
/// of data follow.
pub(super) fn message(echo: &Echo, out: &mut Vec<u8>) -> (u8, usize) {
    let len = echo.len.min(LARGEST_DATAGRAM);
    let own = receiver_port(echo.flow);
    match echo.protocol {
        EchoProtocol::Icmp => {
            out.extend([if echo.is_reply { REPLY } else { REQUEST }, 0, 0, 0]);
            out.extend(own.to_be_bytes());
            out.extend((echo.number as u16).to_be_bytes());
            (ICMP, len as usize)
        }
        EchoProtocol::Udp => {
            let (source, destination) = if echo.is_reply { (PORT, own) } else { (own, PORT) };
            out.extend(udp_header(source, destination, len as u16));
            (UDP, len as usize)
        }
    }
}
