//! Echo requests and replies.
//!
//! An echo is a packet with its own memory: a request carries when it was sent and its reply
//! repeats it, so that neither end has a table of requests. The world of the far end replies; a
//! source only sends.

use crate::FlowId;
use kernel::Instant;
use settings::Choice;

/// The protocol that carries echo requests and replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum EchoProtocol {
    /// ICMP echo (RFC 792).
    #[default]
    Icmp,
    /// The echo service over UDP (RFC 862).
    Udp,
}

/// An echo request or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// The number of the request within the flow, from 0; the reply has the same.
    pub number: u64,
    /// Bytes of data.
    pub len: u32,
    /// What carries it.
    pub protocol: EchoProtocol,
    /// Whether it is a reply.
    pub is_reply: bool,
    /// When the request was sent.
    pub asked: Instant,
}

impl Echo {
    /// The reply to a request.
    #[must_use]
    pub fn reply(self) -> Self {
        Self { is_reply: true, ..self }
    }
}
