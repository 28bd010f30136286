//! The packets that flows send.

use super::{Flow, Side, TcpFlow, Transport, UdpFlow};
use crate::traffic::Replies;
use kernel::{Bytes, Duration, Instant};
use wire::{Body, Datagram, Echo, Media, Packet, RealPacket, Segment};

impl Flow {
    /// The packet of a segment that an end of this flow's connection sends.
    #[allow(clippy::inline_always, reason = "it runs for each segment, and a packet is large")]
    #[inline(always)]
    pub(crate) fn segment(
        &self,
        tcp: &TcpFlow,
        side: Side,
        segment: &Segment,
        now: Instant,
    ) -> Packet {
        let (from, class) = (self.from, self.class);
        let receiver = self.to.expect("the plan broadcasts no TCP");
        let (from, to) = match side {
            Side::Sender => (from, receiver),
            Side::Receiver => (receiver, from),
        };
        let header = match (&segment.coded, &tcp.plan.config.fec) {
            (Some(_), Some(fec)) => tcp.header + fec.header,
            _ => tcp.header,
        };
        let size = Bytes(u64::from(segment.len)) + header + segment.sack.option_size();
        let body = Body::Segment(*segment);
        let ecn = segment.flags.ecn();
        Packet { ecn, class, ..Packet::new(from, Some(to), size, now, body) }
    }

    /// The packet of the next datagram, or the next echo request, of the source.
    #[inline]
    pub(crate) fn datagram(&mut self, payload: Bytes, now: Instant) -> Option<Packet> {
        let Self { id: flow, from, to, class, ref mut transport, .. } = *self;
        let Transport::Udp(udp) = transport else { return None };
        let (number, len) = (udp.number(), payload.0 as u32);
        let body = match udp.echo {
            None => Body::Datagram(Datagram { flow, number, len, stream: 0 }),
            Some(Replies { protocol, .. }) => {
                Body::Echo(Echo { flow, number, len, protocol, is_reply: false, asked: now })
            }
        };
        Some(Packet { class, ..Packet::new(from, to, payload + udp.header, now, body) })
    }

    /// The packet of a real program, in the access category of its DSCP.
    #[inline(never)]
    pub(crate) fn real(&mut self, real: RealPacket, now: Instant) -> Option<Packet> {
        let Self { id: flow, from, to, ref mut transport, .. } = *self;
        let Transport::Udp(udp) = transport else { return None };
        let RealPacket { len, ecn, class, stream, .. } = real;
        let body = Body::Datagram(Datagram { flow, number: udp.number(), len, stream });
        Some(Packet { ecn, class, ..Packet::new(from, to, Bytes(len.into()), now, body) })
    }

    /// The packet of a conference, in its access category in both directions.
    #[inline(never)]
    pub(crate) fn media(&self, media: Media, now: Instant) -> Option<Packet> {
        let Self { from, to, class, ref transport, .. } = *self;
        let (Transport::Udp(udp), Some(to)) = (transport, to) else { return None };
        let (from, to) = if media.is_forward() { (from, to) } else { (to, from) };
        let size = Bytes(u64::from(media.len)) + udp.header;
        Some(Packet { class, ..Packet::new(from, Some(to), size, now, Body::Media(media)) })
    }
}

impl UdpFlow {
    fn number(&mut self) -> u64 {
        let next = self.next_number + 1;
        std::mem::replace(&mut self.next_number, next)
    }

    /// Whether no node has received this broadcast before. All nodes receive one before the next
    /// is sent.
    pub(crate) fn is_first(&mut self, broadcast: &Datagram) -> bool {
        self.last_broadcast.replace(broadcast.number) != Some(broadcast.number)
    }

    /// An echo request has reached its destination. Returns the time after which that replies.
    pub(crate) fn on_request(&mut self, packet: &Packet) -> Option<Duration> {
        let Replies { after, .. } = self.echo?;
        self.unanswered.push_back(*packet);
        Some(after)
    }

    /// The reply to the oldest echo request, in its access category (RFC 1122 section 3.2.2.6).
    pub(crate) fn reply(&mut self, now: Instant) -> Option<Packet> {
        let packet = self.unanswered.pop_front()?;
        let Body::Echo(request) = packet.body else { return None };
        let node = packet.to.expect("the plan broadcasts no echo requests");
        let body = Body::Echo(request.reply());
        let reply = Packet::new(node, Some(packet.from), packet.size, now, body);
        Some(Packet { class: packet.class, ..reply })
    }
}
