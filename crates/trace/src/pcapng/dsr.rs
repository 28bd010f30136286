//! The DSR Options header (RFC 4728 section 6): the options of a message, and the source route.

use super::addresses::ipv4;
use wire::{DsrMessage, Packet, Paths, RouteError};

/// The protocol number of IP (RFC 4728 section 12).
pub(super) const PROTOCOL: u8 = 48;
/// The Next Header field of a header with nothing after it (section 6.1).
const NO_NEXT_HEADER: u8 = 59;
const FIXED: usize = 4;
/// Option types (sections 6.2 to 6.9).
const PAD_N: u8 = 0;
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const SOURCE_ROUTE: u8 = 96;
const PAD_1: u8 = 224;
/// The error type `NODE_UNREACHABLE` (section 6.4).
const NODE_UNREACHABLE: u8 = 1;

/// Whether a packet of a flow has a DSR header: it carries its source route.
pub(super) fn is_on(packet: &Packet) -> bool {
    packet.source_route.is_some_and(|path| !path.is_implied())
}

/// Appends the header of a packet of a flow; the header of this protocol follows it.
pub(super) fn before(protocol: u8, packet: &Packet, paths: &Paths, out: &mut Vec<u8>) {
    write(protocol, out, |out| source_route(packet, paths, out));
}

/// Appends the header of a message.
pub(super) fn message(packet: &Packet, message: &DsrMessage, paths: &Paths, out: &mut Vec<u8>) {
    write(NO_NEXT_HEADER, out, |out| {
        let start = out.len();
        match message {
            DsrMessage::Request { id, target, path, error } => {
                let nodes = &paths.nodes(*path)[1..];
                option(REQUEST, 6 + 4 * nodes.len(), out);
                out.extend(id.to_be_bytes());
                out.extend(ipv4(Some(*target)));
                out.extend(nodes.iter().flat_map(|node| ipv4(Some(*node))));
                if let Some(error) = error {
                    route_error(error, out);
                }
            }
            DsrMessage::Reply { path } => {
                let nodes = &paths.nodes(*path)[1..];
                option(REPLY, 1 + 4 * nodes.len(), out);
                out.push(0);
                out.extend(nodes.iter().flat_map(|node| ipv4(Some(*node))));
            }
            DsrMessage::Error(errors) => {
                for error in errors.as_slice() {
                    route_error(error, out);
                }
            }
        }
        match (out.len() - start).next_multiple_of(4) - (out.len() - start) {
            0 => {}
            1 => out.push(PAD_1),
            some => {
                option(PAD_N, some - 2, out);
                out.resize(out.len() + some - 2, 0);
            }
        }
        if is_on(packet) {
            source_route(packet, paths, out);
        }
    });
}

/// Appends the fixed portion of the header (section 6.1) and its options.
fn write(next_header: u8, out: &mut Vec<u8>, options: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([next_header, 0, 0, 0]);
    options(out);
    let length = (out.len() - start - FIXED) as u16;
    out[start + 2..start + FIXED].copy_from_slice(&length.to_be_bytes());
}

/// Appends type and length of an option.
fn option(kind: u8, length: usize, out: &mut Vec<u8>) {
    out.extend([kind, length as u8]);
}

/// Section 6.4.
fn route_error(error: &RouteError, out: &mut Vec<u8>) {
    option(ERROR, 14, out);
    out.extend([NODE_UNREACHABLE, error.salvage & 0x0f]);
    for node in [error.from, error.to, error.unreachable] {
        out.extend(ipv4(Some(node)));
    }
}

/// Section 6.7: all nodes of the route but those that the IP header has. `Segments Left` counts the
/// addresses that the packet has yet to visit, with the one to which it is sent now.
fn source_route(packet: &Packet, paths: &Paths, out: &mut Vec<u8>) {
    let Some(path) = packet.source_route else { return };
    let mut nodes = paths.nodes(path);
    nodes = nodes.strip_prefix(&[packet.from]).unwrap_or(nodes);
    nodes = packet.to.and_then(|to| nodes.strip_suffix(&[to])).unwrap_or(nodes);
    let visited = nodes.iter().position(|node| *node == packet.next).unwrap_or(nodes.len());
    let left = (nodes.len() - visited) as u16;
    option(SOURCE_ROUTE, 2 + 4 * nodes.len(), out);
    out.extend((u16::from(packet.salvage & 0x0f) << 6 | left & 0x3f).to_be_bytes());
    out.extend(nodes.iter().flat_map(|node| ipv4(Some(*node))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Bytes, Instant};
    use wire::{Body, Datagram, FlowId, Message, NodeId, RouteErrors};

    const NODES: [NodeId; 4] = [NodeId(1), NodeId(2), NodeId(3), NodeId(4)];

    fn packet(body: Body, to: Option<u32>, next: u32) -> Packet {
        let packet = Packet::new(NodeId(1), to.map(NodeId), Bytes(0), Instant::ZERO, body);
        Packet { next: NodeId(next), ..packet }
    }

    fn words(bytes: &[u8]) -> Vec<[u8; 4]> {
        assert_eq!(bytes.len() % 4, 0, "the header is padded to a multiple of four bytes");
        bytes.chunks(4).map(|word| word.try_into().unwrap()).collect()
    }

    fn of_data(next: u32, from: &[NodeId], salvage: u8) -> Vec<[u8; 4]> {
        let mut paths = Paths::default();
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 0, stream: 0 });
        let source_route = Some(paths.intern(from));
        let packet = Packet { source_route, salvage, ..packet(body, Some(4), next) };
        let mut out = Vec::new();
        before(17, &packet, &paths, &mut out);
        words(&out)
    }

    #[test]
    fn data_carry_the_nodes_between_source_and_destination() {
        // Section 8.1.3: the source sets Segments Left to the number of addresses.
        let route = [[17, 0, 0, 12], [96, 10, 0, 2], [10, 0, 0, 3], [10, 0, 0, 4]];
        assert_eq!(of_data(2, &NODES, 0), route);
        // Section 8.1.5: each node on the way takes one off.
        let last = of_data(4, &NODES, 0);
        assert_eq!((last[0], last[1]), (route[0], [96, 10, 0, 0]));
    }

    #[test]
    fn a_salvaged_packet_names_the_node_that_has_salvaged_it() {
        let [.., a, b] = NODES;
        // Salvage is in the four bits before Segments Left.
        let salvaged = [[17, 0, 0, 8], [96, 6, 2, 0], [10, 0, 0, 4]];
        assert_eq!(of_data(4, &[a, b], 8), salvaged);
    }

    fn of_message(message: DsrMessage, paths: &Paths) -> Vec<[u8; 4]> {
        let to = if matches!(message, DsrMessage::Request { .. }) { None } else { Some(4) };
        let mut out = Vec::new();
        let packet = packet(Body::Routing(Message::Dsr(message)), to, 4);
        super::message(&packet, &message, paths, &mut out);
        words(&out)
    }

    #[test]
    fn messages_have_the_layout_of_the_rfc() {
        let mut paths = Paths::default();
        let (path, target) = (paths.intern(&NODES[..2]), NodeId(4));
        let request = DsrMessage::Request { id: 0x0102, target, path, error: None };
        let [head, ids, ..] = of_message(request, &paths)[..] else { panic!() };
        assert_eq!((head, ids), ([59, 0, 0, 12], [1, 10, 1, 2]));
        let reply = of_message(DsrMessage::Reply { path: paths.intern(&NODES) }, &paths);
        // Three bytes, three addresses and one byte of padding.
        assert_eq!(
            reply,
            [[59, 0, 0, 16], [2, 13, 0, 10], [0, 0, 3, 10], [0, 0, 4, 10], [0, 0, 5, 224]]
        );
        let [from, unreachable, to, _] = NODES;
        let error = RouteErrors::new(RouteError { from, unreachable, to, salvage: 3 });
        assert_eq!(
            of_message(DsrMessage::Error(error), &paths),
            [[59, 0, 0, 16], [3, 14, 1, 3], [10, 0, 0, 2], [10, 0, 0, 4], [10, 0, 0, 3]]
        );
    }
}
