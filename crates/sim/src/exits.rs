//! What becomes of the packets of real programs.

use crate::notice::{Notice, Observer};
use kernel::Instant;
use wire::{Body, DropCause, Ecn, FlowId, Packet};

/// A packet of a real program is no longer in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// When it left.
    pub at: Instant,
    /// Its flow.
    pub flow: FlowId,
    /// Its number among those of its flow, from 0.
    pub number: u64,
    /// How it left.
    pub fate: Fate,
}

/// How a packet has left the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived with this ECN field.
    Arrived(Ecn),
    /// It was dropped.
    Dropped(DropCause),
}

/// Collects what becomes of packets of real programs.
#[derive(Debug, Default)]
pub(crate) struct Exits(pub(crate) Vec<Left>);

impl Exits {
    fn note(&mut self, at: Instant, packet: &Packet, fate: Fate) {
        if let Body::Datagram(datagram) = packet.body
            && datagram.stream != 0
        {
            self.0.push(Left { at, flow: datagram.flow, number: datagram.number, fate });
        }
    }
}

impl Observer for Exits {
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        match *notice {
            Notice::Arrived { packet } => self.note(now, packet, Fate::Arrived(packet.ecn)),
            Notice::Dropped { packet, cause, .. } => self.note(now, packet, Fate::Dropped(cause)),
            _ => {}
        }
    }
}
