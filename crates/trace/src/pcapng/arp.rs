//! ARP (RFC 826).

use super::addresses::{Addresses, ipv4};
use wire::{ArpMessage, ArpOperation};

/// Hardware type Ethernet, which 802.11 shares; protocol type IPv4; the lengths of both addresses.
const TYPES: [u8; 6] = [0, 1, 0x08, 0x00, 6, 4];

/// Appends a message.
pub(super) fn message(message: &ArpMessage, addresses: &Addresses, out: &mut Vec<u8>) {
    let ArpMessage { operation, sender, target } = *message;
    let (code, hardware) = match operation {
        ArpOperation::Request => (1, [0; 6]),
        ArpOperation::Reply => (2, addresses.of_node(Some(target))),
    };
    out.extend(TYPES);
    out.extend([0, code]);
    out.extend(addresses.of_node(Some(sender)));
    out.extend(ipv4(Some(sender)));
    out.extend(hardware);
    out.extend(ipv4(Some(target)));
}
