//! A queue for each traffic class, as in EDCA (802.11-2020 clause 10.2.3.2).

use super::{Destination, LinkState, Queue, Served, Signal, UsedAirtime, Wanted};
use kernel::{Bytes, Instant};
use wire::{NodeId, Packet, TrafficClass};

/// A queue for each traffic class: packets of one class do not wait for those of another.
#[derive(Debug)]
pub struct Classes {
    /// Lowest priority first.
    queues: [Box<dyn Queue>; 4],
}

impl Classes {
    /// Four queues, lowest priority first.
    pub fn new(queues: [Box<dyn Queue>; 4]) -> Self {
        Self { queues }
    }

    fn of(&mut self, class: TrafficClass) -> &mut dyn Queue {
        &mut *self.queues[class as usize]
    }
}

impl Queue for Classes {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.of(packet.class).push(now, packet, out);
    }

    /// The highest class that has a packet.
    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        self.queues.iter_mut().rev().find_map(|queue| queue.pop(now, out))
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        let queue = self.of(wanted.class);
        // A request for any packet of a class begins an access: the discipline then selects the
        // packet by its own order.
        if wanted.to == Destination::Any && wanted.most == Bytes(u64::MAX) {
            return queue.pop(now, out);
        }
        queue.pop_for(now, wanted, out)
    }

    fn pop_known(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        self.of(wanted.class).pop_known(now, wanted, out)
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.of(packet.class).release(now, packet, out);
    }

    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        self.queues.iter_mut().for_each(|queue| queue.withdraw(now, to, into, out));
    }

    /// Airtime counts for a station, whatever the class.
    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.queues.iter_mut().for_each(|queue| queue.on_airtime(airtime));
    }

    fn on_link(&mut self, link: &LinkState) {
        self.queues.iter_mut().for_each(|queue| queue.on_link(link));
    }

    fn len(&self) -> usize {
        self.queues.iter().map(Queue::len).sum()
    }

    fn backlog(&self) -> Bytes {
        self.queues.iter().map(Queue::backlog).sum()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queues.iter().for_each(|queue| queue.each(visit));
    }

    /// Of all classes together.
    fn dual(&self) -> Option<[Served; 2]> {
        let all = self.queues.iter().filter_map(Queue::dual);
        all.reduce(|[mut low_latency, mut classic], other| {
            low_latency += other[0];
            classic += other[1];
            [low_latency, classic]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drop_tail, number, packet, rng};
    use super::super::{Discipline, DrrConfig, Limit, OutputLink, Per};
    use super::*;
    use kernel::Duration;

    const NOW: Instant = Instant(0);

    #[test]
    fn each_class_has_its_own_room_and_its_own_turn() {
        let queue = || drop_tail(Limit::packets(2));
        let mut queue = Classes::new([queue(), queue(), queue(), queue()]);
        let voice = |n| Packet { class: TrafficClass::Voice, ..packet(1, n, 100) };
        for n in 0..2 {
            assert!(accepts(&mut queue, NOW, packet(1, n, 1500)));
            assert!(accepts(&mut queue, NOW, voice(10 + n)));
        }
        assert!(!accepts(&mut queue, NOW, packet(1, 2, 1500)));
        assert_eq!((queue.len(), queue.backlog()), (4, Bytes(3200)));
        let wanted = |class| Wanted { class, to: Destination::Any, most: Bytes(1500) };
        let mut pop = |class| {
            let popped = queue.pop_for(NOW, &wanted(class), &mut Vec::new());
            popped.map(|packet| number(&packet))
        };
        assert_eq!(pop(TrafficClass::BestEffort), Some(0));
        assert_eq!(pop(TrafficClass::Voice), Some(10));
        assert_eq!(pop(TrafficClass::Video), None);
        assert_eq!(queue.pop(NOW, &mut Vec::new()).map(|packet| number(&packet)), Some(11));
        queue.release(NOW, &voice(10), &mut Vec::new());
        assert!(!accepts(&mut queue, NOW, packet(1, 3, 1500)), "voice has its own room");
        assert!(accepts(&mut queue, NOW, voice(12)));
    }

    #[test]
    fn an_access_begins_with_whose_turn_it_is() {
        let limit = Limit::packets(100);
        let drr = || {
            let drr = DrrConfig { per: Per::Flow, quantum: Bytes(1500), limit };
            drr.build(OutputLink::Wire(None, Duration::ZERO), rng())
        };
        let mut queue = Classes::new([drr(), drr(), drr(), drr()]);
        for n in 0..6 {
            assert!(accepts(&mut queue, NOW, packet(1, n, 1500)));
            assert!(accepts(&mut queue, NOW, packet(2, 10 + n, 1500)));
        }
        let class = TrafficClass::BestEffort;
        let any = Wanted { class, to: Destination::Any, most: Bytes(u64::MAX) };
        let mut pop = || queue.pop_for(NOW, &any, &mut Vec::new()).map(|packet| number(&packet));
        assert_eq!([pop(), pop(), pop(), pop()], [0, 10, 1, 11].map(Some));
    }
}
