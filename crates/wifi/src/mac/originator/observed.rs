//! What observers ask of an originator.

use super::Originator;
use kernel::Bytes;
use wire::{Body, FlowId, FrameKind, Management, Packet};

impl Originator {
    /// The flow of the first packet in service.
    pub(crate) fn flow(&self) -> Option<FlowId> {
        let last = || self.last.as_ref().map(|last| &last.packet);
        self.packets.front().or_else(last).and_then(Packet::flow)
    }

    /// The frame of the MAC itself that is in service, if there is one and no packet.
    pub(crate) fn management(&self) -> Option<Management> {
        match self.packets.front()?.body {
            Body::Management(frame) => Some(frame),
            _ => None,
        }
    }

    /// The kind of the frame of the MAC itself that is in service. A PS-Poll is a control frame,
    /// which has another mode than data, and so have management frames.
    pub(crate) fn kind(&self) -> Option<FrameKind> {
        match &self.packets.front()?.body {
            Body::Management(frame) => Some(frame.kind()),
            _ => None,
        }
    }

    /// Packets whose service has not ended, and whether the receiver has them.
    pub(crate) fn serving(&self) -> impl Iterator<Item = (&Packet, bool)> {
        let open = self.mpdus.iter().filter(|mpdu| !mpdu.settled);
        let packets =
            open.flat_map(|mpdu| self.packets_of(mpdu).map(|packet| (packet, mpdu.received)));
        let last = self.last.iter().map(|last| (&last.packet, last.received));
        packets.chain(last).chain(self.serving_aside())
    }

    /// Bytes of these packets; none if nothing is in service.
    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        if self.is_idle() { Bytes::ZERO } else { self.sizes() }
    }

    fn sizes(&self) -> Bytes {
        // In most cases, only the first is in service.
        if self.packets.len() == 1 && self.last.is_none() && self.aside.is_none() {
            return self.packets[0].size;
        }
        self.serving().map(|(packet, _)| packet.size).sum()
    }

    /// Those that the receiver does not have.
    pub(crate) fn unreceived(&self) -> impl Iterator<Item = &Packet> {
        self.serving().filter(|&(_, received)| !received).map(|(packet, _)| packet)
    }
}
