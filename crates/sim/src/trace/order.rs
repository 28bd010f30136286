//! Records in the order of time.

use ::trace::{Frame, PacketEvent, Record, RouteEvent, SegmentEvent, Wait};
use kernel::Instant;
use std::collections::VecDeque;

/// A record that waits for earlier ones.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Frame(Frame),
    Wait(Wait),
    Packet(PacketEvent),
    Segment(SegmentEvent),
    Route(RouteEvent),
}

impl Held {
    pub(super) fn record(&self) -> Record<'_> {
        match self {
            Self::Frame(frame) => Record::Frame(frame),
            Self::Wait(wait) => Record::Wait(wait),
            Self::Packet(event) => Record::Packet(event),
            Self::Segment(event) => Record::Segment(event),
            Self::Route(event) => Record::Route(event),
        }
    }

    fn at(&self) -> Instant {
        self.record().at()
    }
}

/// The records that are held back: a frame or a wait becomes known when it ends, and has its place
/// at its start. At one instant, packets and segments come first.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Packets and segments, which come in order.
    events: VecDeque<Held>,
    /// Frames and waits, sorted by their start.
    intervals: VecDeque<Held>,
}

impl Order {
    /// Adds a packet or a segment, which is not earlier than the last one.
    pub(super) fn add_event(&mut self, held: Held) {
        self.events.push_back(held);
    }

    /// Adds a frame or a wait.
    pub(super) fn add_interval(&mut self, held: Held) {
        let at = held.at();
        let later = self.intervals.iter().rev().take_while(|other| other.at() > at).count();
        self.intervals.insert(self.intervals.len() - later, held);
    }

    /// Removes and returns the first record, if it is before this instant.
    pub(super) fn take_before(&mut self, until: Instant) -> Option<Held> {
        let is_ready = |first: Option<&Held>| first.map(Held::at).filter(|&at| at < until);
        let (event, interval) = (is_ready(self.events.front()), is_ready(self.intervals.front()));
        match (event, interval) {
            (Some(event), Some(interval)) if interval < event => self.intervals.pop_front(),
            (Some(_), _) => self.events.pop_front(),
            (None, Some(_)) => self.intervals.pop_front(),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::trace::{PacketStep, Place, WaitKind};
    use kernel::Bytes;
    use wire::{Body, Datagram, FlowId, NodeId, Packet, TrafficClass};

    fn wait(start: u64) -> Held {
        let (start, end) = (Instant(start), Instant(start + 10));
        let (radio, class, kind) = (0, TrafficClass::BestEffort, WaitKind::Defer);
        Held::Wait(Wait { start, end, radio, class, kind })
    }

    fn event(at: u64) -> Held {
        let packet = Packet::new(
            NodeId(0),
            None,
            Bytes(100),
            Instant(at),
            Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 72, stream: 0 }),
        );
        let (at, place, step) = (Instant(at), Place::Radio(0), PacketStep::Sent);
        Held::Packet(PacketEvent { at, packet_id: 0, packet, place, step })
    }

    #[test]
    fn what_is_known_late_has_its_place_at_its_start() {
        let mut order = Order::default();
        for held in [event(5), event(10), event(20)] {
            order.add_event(held);
        }
        for held in [wait(10), wait(30), wait(3)] {
            order.add_interval(held);
        }
        let mut taken = Vec::new();
        while let Some(held) = order.take_before(Instant(30)) {
            taken.push((held.at().0, matches!(held, Held::Wait(_))));
        }
        assert_eq!(taken, [(3, true), (5, false), (10, false), (10, true), (20, false)]);
        assert_eq!(order.intervals.len(), 1, "others may begin at 30");
    }
}
