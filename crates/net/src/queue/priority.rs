//! Strict priority by what a packet is, as ns-2's `CMUPriQueue`.

use super::drop_tail::DropTail;
use super::line::Line;
use super::{Discipline, Limit, OutputLink, Queue, Signal, Wanted};
use kernel::{Bytes, Instant, Rng};
use settings::Settings;
use wire::{Body, Packet, TrafficClass};

/// Four drop-tail queues in strict order, as ns-2's `CMUPriQueue`: routing messages, voice and
/// video, TCP acknowledgements without data, all other packets. The limits apply to each of the
/// four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct PriorityConfig {
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for PriorityConfig {
    fn build(&self, _: OutputLink, _: Rng) -> Box<dyn Queue> {
        Box::new(Bands::<4>::new(self.limit, rank))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// Queues in strict order, the one that is served first in front.
#[derive(Debug)]
pub(super) struct Bands<const N: usize> {
    lines: [Line<DropTail>; N],
    /// The number of the queue of a packet.
    rank: fn(&Packet) -> usize,
}

impl<const N: usize> Bands<N> {
    /// Empty queues, each with these limits.
    pub(super) fn new(limit: Limit, rank: fn(&Packet) -> usize) -> Self {
        Self { lines: [(); N].map(|()| Line::new(DropTail, limit)), rank }
    }

    /// The queue of a packet.
    fn of(&mut self, packet: &Packet) -> &mut Line<DropTail> {
        &mut self.lines[(self.rank)(packet)]
    }
}

/// The index of the queue of a packet.
fn rank(packet: &Packet) -> usize {
    match (&packet.body, packet.class) {
        (Body::Routing(_), _) => 0,
        (_, TrafficClass::Voice | TrafficClass::Video) => 1,
        (Body::Segment(segment), _) if segment.is_pure_ack() => 2,
        _ => 3,
    }
}

impl<const N: usize> Queue for Bands<N> {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.of(packet).push(now, packet, out);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        self.lines.iter_mut().find_map(|line| line.pop(now, out))
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        self.lines.iter_mut().find_map(|line| line.pop_for(now, wanted, out))
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.of(packet).release(now, packet, out);
    }

    fn len(&self) -> usize {
        self.lines.iter().map(Queue::len).sum()
    }

    fn backlog(&self) -> Bytes {
        self.lines.iter().map(Queue::backlog).sum()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.lines.iter().for_each(|line| line.each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, number, packet, rng};
    use super::*;
    use kernel::Duration;
    use wire::{Datagram, DsrMessage, FlowId, Message, NodeId, RouteError, RouteErrors};

    const NOW: Instant = Instant(0);

    #[test]
    fn routing_messages_leave_first_and_each_queue_has_its_own_limit() {
        let site = OutputLink::Wire(None, Duration::ZERO);
        let mut queue = PriorityConfig { limit: Limit::packets(2) }.build(site, rng());
        let voice = |n| Packet { class: TrafficClass::Voice, ..packet(1, n, 100) };
        let node = NodeId(1);
        let error = RouteError { from: node, unreachable: node, to: node, salvage: 0 };
        let message = Message::Dsr(DsrMessage::Error(RouteErrors::new(error)));
        let routing = Packet { body: Body::Routing(message), ..packet(1, 9, 40) };
        for n in 0..2 {
            assert!(accepts(&mut *queue, NOW, packet(1, n, 1000)));
        }
        assert!(!accepts(&mut *queue, NOW, packet(1, 2, 1000)));
        assert!(accepts(&mut *queue, NOW, voice(7)));
        assert!(accepts(&mut *queue, NOW, routing));
        assert_eq!((queue.len(), queue.backlog()), (4, Bytes(2140)));
        assert_eq!(queue.pop(NOW, &mut Vec::new()), Some(routing));
        let mut next = || queue.pop(NOW, &mut Vec::new()).map(|packet| number(&packet));
        assert_eq!([next(), next(), next(), next()], [Some(7), Some(0), Some(1), None]);
        queue.release(NOW, &packet(1, 0, 1000), &mut Vec::new());
        assert!(accepts(&mut *queue, NOW, packet(1, 3, 1000)));
        assert!(accepts(&mut *queue, NOW, voice(8)));
    }

    #[test]
    fn an_acknowledgement_without_data_overtakes_data() {
        let datagram = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 9, stream: 0 });
        let data = Packet::new(NodeId(0), Some(NodeId(1)), Bytes(40), NOW, datagram);
        let ack = wire::Segment {
            flow: FlowId(0),
            connection: 0,
            forward: false,
            seq: 1,
            len: 0,
            ack: 1,
            window: 0,
            flags: wire::Flags::ACK,
            timestamps: None,
            sack: wire::SackBlocks::NONE,
            coded: None,
        };
        let ack = Packet { body: Body::Segment(ack), ..data };
        assert_eq!((rank(&data), rank(&ack)), (3, 2));
    }
}
