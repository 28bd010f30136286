//! The bytes of the DSR Options header (RFC 4728 section 6).

use kernel::Bytes;
use wire::{DsrMessage, Packet, PathId, Paths};

/// The fixed portion of the DSR Options header (section 6.1).
const FIXED: u64 = 4;
/// An IPv4 header without options (RFC 791).
pub(super) const IP: Bytes = Bytes(20);
const ADDRESS: u64 = 4;
/// Section 6.4: type, length, error type, salvage, two addresses and the unreachable node.
const ROUTE_ERROR: u64 = 16;

/// Gives a packet another source route, which is the result of salvaging it this often, or none;
/// and its size with it.
pub(super) fn set_route(packet: &mut Packet, path: Option<PathId>, salvage: u8, paths: &Paths) {
    let before = source_route(packet, paths);
    packet.source_route = path;
    packet.salvage = salvage;
    let transport = packet.size - before;
    packet.size = transport + source_route(packet, paths);
}

/// The size of a packet that carries a message, with its source route.
pub(super) fn message_size(packet: &Packet, message: &DsrMessage, paths: &Paths) -> Bytes {
    let options = match message {
        // Section 6.2: type, length, identification and target, and the nodes after the initiator.
        DsrMessage::Request { path, error, .. } => {
            let error = error.map_or(0, |_| ROUTE_ERROR);
            8 + ADDRESS * (paths.nodes(*path).len() as u64 - 1) + error
        }
        // Section 6.3: type, length and flags, and the nodes after the initiator.
        DsrMessage::Reply { path } => 3 + ADDRESS * (paths.nodes(*path).len() as u64 - 1),
        DsrMessage::Error(errors) => ROUTE_ERROR * errors.as_slice().len() as u64,
    };
    // Padding to a multiple of four bytes (sections 6.8 and 6.9). A source route brings the fixed
    // portion; only a broadcast has none.
    let fixed = if packet.to.is_some() { 0 } else { FIXED };
    IP + Bytes(fixed + options.next_multiple_of(4)) + source_route(packet, paths)
}

/// The fixed portion and the DSR Source Route option (section 6.7), without the addresses of source
/// and destination, which the IP header has. A salvaged packet, and one that passes a gateway, has
/// another source or destination than its route.
fn source_route(packet: &Packet, paths: &Paths) -> Bytes {
    let carried = packet.source_route.filter(|path| !path.is_implied());
    let Some(path) = carried else { return Bytes::ZERO };
    let nodes = paths.nodes(path);
    let is_source = nodes.first() == Some(&packet.from);
    let is_destination = nodes.last() == packet.to.as_ref();
    let addresses = nodes.len() as u64 - u64::from(is_source) - u64::from(is_destination);
    Bytes(FIXED + 4 + ADDRESS * addresses)
}
