//! A device below a queue: the frames that it has accepted wait in FIFO order, whatever the
//! discipline of the queue.

use super::{Destination, LinkState, Queue, Served, Signal, UsedAirtime, Wanted};
use kernel::{Bytes, Instant};
use std::collections::VecDeque;
use wire::{NodeId, Packet};

/// A queue whose packets pass through a device that holds a limited number of them, those in
/// service included: the driver ring below the queue discipline of a host. The queue measures and
/// drops only packets that the device has not taken.
#[derive(Debug)]
pub struct Ring {
    above: Box<dyn Queue>,
    most: usize,
    held: VecDeque<Packet>,
    in_service: usize,
    /// Whether the queue learns only when the device has sent a packet that the packet has left.
    follows: bool,
}

impl Ring {
    /// A device for `most` packets, at least one, below a queue. If the queue `follows` the device,
    /// packets leave it when the device has sent them, else when the device takes them.
    pub fn new(above: Box<dyn Queue>, most: u32, follows: bool) -> Self {
        let most = most.max(1) as usize;
        Self { above, most, held: VecDeque::with_capacity(most.min(1024)), in_service: 0, follows }
    }

    /// The device takes as many packets as it has room for.
    fn fill(&mut self, now: Instant, out: &mut Vec<Signal>) {
        while self.held.len() + self.in_service < self.most {
            let Some(packet) = self.above.pop(now, out) else { return };
            if !self.follows {
                self.above.release(now, &packet, out);
            }
            self.held.push_back(packet);
        }
    }
}

impl Queue for Ring {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.above.push(now, packet, out);
        self.fill(now, out);
    }

    fn pop(&mut self, _now: Instant, _out: &mut Vec<Signal>) -> Option<Packet> {
        let packet = self.held.pop_front()?;
        self.in_service += 1;
        Some(packet)
    }

    fn pop_for(&mut self, _: Instant, wanted: &Wanted, _: &mut Vec<Signal>) -> Option<Packet> {
        let first = self.held.iter().position(|packet| wanted.to.is_of(packet))?;
        if !wanted.fits(&self.held[first]) {
            return None;
        }
        self.in_service += 1;
        self.held.remove(first)
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.in_service = self.in_service.saturating_sub(1);
        if self.follows {
            self.above.release(now, packet, out);
        }
        self.fill(now, out);
    }

    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        let wanted = Destination::Only(Some(to));
        let first = into.len();
        into.extend(self.held.iter().filter(|packet| wanted.is_of(packet)));
        self.held.retain(|packet| !wanted.is_of(packet));
        for packet in into[first..].iter().filter(|_| self.follows) {
            self.above.release(now, packet, out);
        }
        self.above.withdraw(now, to, into, out);
        self.fill(now, out);
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.above.on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        self.above.on_link(link);
    }

    fn len(&self) -> usize {
        self.held.len() + self.above.len()
    }

    fn backlog(&self) -> Bytes {
        self.held.iter().map(|packet| packet.size).sum::<Bytes>() + self.above.backlog()
    }

    fn dual(&self) -> Option<[Served; 2]> {
        self.above.dual()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.held.iter().for_each(&mut *visit);
        self.above.each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, drain, drop_tail, number, packet};
    use super::super::{Destination, Limit};
    use super::*;
    use wire::{NodeId, TrafficClass};

    const NOW: Instant = Instant(0);

    fn ring(most: u32, above: u32) -> Ring {
        Ring::new(drop_tail(Limit::packets(above)), most, false)
    }

    #[test]
    fn what_the_device_holds_takes_no_room_above() {
        let mut ring = ring(2, 3);
        assert_eq!((0..6).filter(|&n| accepts(&mut ring, NOW, packet(0, n, 100))).count(), 5);
        assert_eq!((ring.len(), ring.backlog()), (5, Bytes(500)));
    }

    #[test]
    fn those_in_service_hold_their_places() {
        let mut ring = ring(2, 3);
        for n in 0..5 {
            assert!(accepts(&mut ring, NOW, packet(0, n, 100)));
        }
        assert_eq!(drain(&mut ring, NOW), [(0, 0), (0, 1)], "both places are in service");
        ring.release(NOW, &packet(0, 0, 100), &mut Vec::new());
        assert_eq!(drain(&mut ring, NOW), [(0, 2)], "one place became free");
        assert_eq!(ring.len(), 2);
    }

    #[test]
    fn a_companion_is_looked_for_in_the_device_alone() {
        let mut ring = ring(2, 3);
        for (flow, n) in [(1, 0), (2, 1), (3, 2)] {
            assert!(accepts(&mut ring, NOW, packet(flow, n, 100)));
        }
        let mut find = |station, most| {
            let (class, most) = (TrafficClass::BestEffort, Bytes(most));
            let wanted = Wanted { class, to: Destination::Only(Some(NodeId(station))), most };
            ring.pop_for(NOW, &wanted, &mut Vec::new()).map(|packet| number(&packet))
        };
        assert_eq!(find(2, 99), None, "too large");
        assert_eq!(find(2, 100), Some(1));
        assert_eq!(find(3, 100), None, "still above: two are held or in service");
    }

    #[test]
    fn what_waits_for_a_receiver_that_has_left_is_withdrawn_from_device_and_queue() {
        for follows in [false, true] {
            let mut ring = Ring::new(drop_tail(Limit::packets(9)), 2, follows);
            for (station, n) in [(1, 0), (2, 1), (1, 2), (2, 3), (1, 4)] {
                assert!(accepts(&mut ring, NOW, packet(station, n, 100)));
            }
            let mut withdrawn = Vec::new();
            ring.withdraw(NOW, NodeId(2), &mut withdrawn, &mut Vec::new());
            assert_eq!(withdrawn.iter().map(number).collect::<Vec<_>>(), [1, 3]);
            assert_eq!(ring.held.len(), 2, "the device has taken another one");
            assert_eq!(drain(&mut ring, NOW), [(1, 0), (1, 2)]);
            ring.release(NOW, &packet(1, 0, 100), &mut Vec::new());
            assert_eq!(drain(&mut ring, NOW), [(1, 4)]);
        }
    }
}
