//! ARP: how a node asks for the MAC address of a neighbour.

use crate::NodeId;

/// A message of ARP (RFC 826).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpMessage {
    /// The opcode.
    pub operation: ArpOperation,
    /// The node that sends it, with its address.
    pub sender: NodeId,
    /// The node whose address the sender asks for, or that has asked.
    pub target: NodeId,
}

/// What an ARP message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArpOperation {
    /// Who has this address? It is broadcast.
    Request,
    /// The answer, to the node that has asked.
    Reply,
}

impl ArpMessage {
    /// Its bytes with addresses of 6 and 4 bytes.
    pub const SIZE: u64 = 28;

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self.operation {
            ArpOperation::Request => "ARP request",
            ArpOperation::Reply => "ARP reply",
        }
    }
}
