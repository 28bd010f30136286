//! Messages of AODV (RFC 3561 section 5).

use super::addresses::ipv4;
use wire::{AodvMessage, NodeId};

/// The UDP port of AODV.
pub(super) const PORT: u16 = 654;

/// Appends a message.
pub(super) fn message(message: &AodvMessage, out: &mut Vec<u8>) {
    let address = |node: NodeId| ipv4(Some(node));
    match message {
        AodvMessage::Request(request) => {
            let gratuitous = u8::from(request.gratuitous) << 5;
            let destination_only = u8::from(request.destination_only) << 4;
            let unknown = u8::from(request.destination_sequence.is_none()) << 3;
            out.extend([1, gratuitous | destination_only | unknown, 0, request.hops]);
            out.extend(request.id.to_be_bytes());
            out.extend(address(request.destination));
            out.extend(request.destination_sequence.unwrap_or(0).to_be_bytes());
            out.extend(address(request.originator));
            out.extend(request.originator_sequence.to_be_bytes());
        }
        AodvMessage::Reply(reply) => {
            out.extend([2, 0, 0, reply.hops]);
            out.extend(address(reply.destination));
            out.extend(reply.sequence.to_be_bytes());
            out.extend(address(reply.originator));
            out.extend(((reply.lifetime.0 / 1_000_000) as u32).to_be_bytes());
        }
        AodvMessage::Error(errors) => {
            out.extend([3, 0, 0, errors.as_slice().len() as u8]);
            for (node, sequence) in errors.as_slice() {
                out.extend(address(*node));
                out.extend(sequence.to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Duration;
    use wire::{AodvErrors, AodvReply, AodvRequest};

    fn bytes(of: &AodvMessage) -> Vec<u8> {
        let mut out = Vec::new();
        message(of, &mut out);
        assert_eq!(out.len() as u64, of.size());
        out
    }

    #[test]
    fn messages_have_the_layout_of_the_rfc() {
        let request = bytes(&AodvMessage::Request(AodvRequest {
            id: 7,
            originator: NodeId(2),
            originator_sequence: 0x0102_0304,
            destination: NodeId(3),
            destination_sequence: None,
            hops: 5,
            gratuitous: true,
            destination_only: false,
        }));
        // Type, J R G D U, hop count, RREQ ID.
        assert_eq!(request[..8], [1, 0b0010_1000, 0, 5, 0, 0, 0, 7]);
        assert_eq!(request[20..], [1, 2, 3, 4]);
        let lifetime = Duration::from_millis(6000);
        let (destination, originator) = (NodeId(3), NodeId(2));
        let reply = AodvReply { destination, sequence: 9, originator, hops: 1, lifetime };
        let reply = bytes(&AodvMessage::Reply(reply));
        assert_eq!(reply[..4], [2, 0, 0, 1]);
        assert_eq!(reply[16..], 6000_u32.to_be_bytes());
        let errors = AodvErrors::new(&[(NodeId(1), 4), (NodeId(2), 6)]);
        let error = bytes(&AodvMessage::Error(errors));
        assert_eq!(error[..4], [3, 0, 0, 2]);
        assert_eq!(error[16..], [0, 0, 0, 6]);
    }
}
