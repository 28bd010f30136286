//! UDP (RFC 768), the ports of TCP and UDP, and protocol numbers.

use wire::{Datagram, FlowId, Media};

/// The most data of a datagram: a scenario may count no headers and have more.
pub(super) const LARGEST_DATAGRAM: u32 = 65_535 - 28;
pub(super) const ICMP: u8 = 1;
pub(super) const UDP: u8 = 17;

/// The port of a flow's receiver: in the dynamic range (RFC 6335), where no protocol is registered.
pub(super) fn receiver_port(flow: FlowId) -> u16 {
    49_152 + (flow.0 % 8192) as u16
}

/// The port of a flow's sender: another one for each of its successive connections.
pub(super) fn sender_port(connection: u32) -> u16 {
    57_344 + (connection % 8192) as u16
}

/// Appends a UDP header and the number of the datagram, as far as its data has room.
pub(super) fn udp(datagram: &Datagram, out: &mut Vec<u8>) -> usize {
    let len = datagram.len.min(LARGEST_DATAGRAM);
    out.extend(udp_header(sender_port(0), receiver_port(datagram.flow), len as u16));
    let number = datagram.number.to_be_bytes();
    let written = if len >= 8 { 8 } else { 0 };
    out.extend(&number[..written]);
    len as usize - written
}

/// Appends the UDP header and the number of a packet of a conference; feedback goes to the port
/// from which the media come. Returns how many zero bytes follow.
pub(super) fn media(media: &Media, out: &mut Vec<u8>) -> usize {
    let Media { flow, number, len, .. } = *media;
    let start = out.len();
    let zeros = udp(&Datagram { flow, number, len, stream: 0 }, out);
    if !media.is_forward() {
        let (source, destination) = out[start..start + 4].split_at_mut(2);
        source.swap_with_slice(destination);
    }
    zeros
}

/// A UDP header without its checksum.
pub(super) fn udp_header(source: u16, destination: u16, payload: u16) -> [u8; 8] {
    let mut header = [0; 8];
    for (place, word) in [source, destination, payload + 8].into_iter().enumerate() {
        header[2 * place..][..2].copy_from_slice(&word.to_be_bytes());
    }
    header
}
