//! The hardware queue of a radio below a queue discipline: A-MPDUs that are formed before their
//! access begins.

use super::{Destination, LinkState, Queue, Room, Served, Signal, UsedAirtime, Wanted};
use kernel::{Bytes, Instant};
use std::collections::{BTreeMap, VecDeque};
use wire::{NodeId, Packet};

/// Packets of one A-MPDU, in order.
#[derive(Debug)]
struct Formed {
    to: Option<NodeId>,
    packets: VecDeque<Packet>,
}

/// A queue below which A-MPDUs are formed ahead: one is on the air and others are ready, so that
/// what arrives later waits for all of them. The discipline decides which station has the next
/// A-MPDU when there is room for it, which is when the last packet of one has left.
#[derive(Debug)]
pub struct HardwareQueue {
    above: Box<dyn Queue>,
    /// A-MPDUs that it holds, the one in service included.
    most: usize,
    ready: VecDeque<Formed>,
    /// Packets of the A-MPDU in service that have been taken and not released.
    in_service: usize,
    /// Whether the first A-MPDU is in service, so that its packets are taken together.
    begun: bool,
    /// How much an A-MPDU holds, by the node of the receiver.
    rooms: BTreeMap<NodeId, Room>,
    /// The room of the only receiver; `None` at an access point, whose receivers differ.
    only: Option<Room>,
    is_shared: bool,
}

impl HardwareQueue {
    /// A hardware queue for `most` A-MPDUs, at least one, below a queue. `is_shared`: the packets
    /// are for several receivers.
    pub fn new(above: Box<dyn Queue>, most: u32, is_shared: bool) -> Self {
        Self {
            above,
            most: most.max(1) as usize,
            ready: VecDeque::new(),
            in_service: 0,
            begun: false,
            rooms: BTreeMap::new(),
            only: None,
            is_shared,
        }
    }

    /// The number of A-MPDUs that it holds.
    fn held(&self) -> usize {
        self.ready.len() + usize::from(self.in_service > 0 && !self.begun)
    }

    /// Forms as many A-MPDUs as there is room for.
    fn form(&mut self, now: Instant, out: &mut Vec<Signal>) {
        while self.held() < self.most {
            let Some(first) = self.above.pop(now, out) else { return };
            let receiver = first.receiver();
            let (to, room) = match receiver {
                Some(node) if self.is_shared => {
                    (Destination::Only(Some(node)), self.rooms.get(&node).copied())
                }
                Some(_) => (Destination::Any, self.only),
                None => (Destination::Any, None),
            };
            let room = room.unwrap_or_default();
            let class = first.class;
            let mut bytes = room.with(Bytes::ZERO, first.size);
            let mut packets = VecDeque::from([first]);
            while packets.len() < room.frames as usize
                && let Some(most) = room.left(bytes)
                && let Some(packet) = self.above.pop_for(now, &Wanted { class, to, most }, out)
            {
                bytes = room.with(bytes, packet.size);
                packets.push_back(packet);
            }
            self.ready.push_back(Formed { to: receiver, packets });
        }
    }

    /// Takes the first packet of an A-MPDU, of which there is one at this place.
    fn take(&mut self, place: usize) -> Option<Packet> {
        let formed = self.ready.get_mut(place)?;
        let packet = formed.packets.pop_front();
        let is_empty = formed.packets.is_empty();
        if is_empty {
            self.ready.remove(place);
        }
        if place == 0 {
            self.begun = !is_empty;
        }
        self.in_service += 1;
        packet
    }
}

impl Queue for HardwareQueue {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.above.push(now, packet, out);
        self.form(now, out);
    }

    /// Begins the next A-MPDU, or goes on with one that was too large.
    fn pop(&mut self, _now: Instant, _out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(0)
    }

    /// Goes on with the A-MPDU in service; when it is used up there is nothing.
    fn pop_for(&mut self, _: Instant, wanted: &Wanted, _: &mut Vec<Signal>) -> Option<Packet> {
        let fits = |formed: &Formed| formed.packets.front().is_some_and(|first| wanted.fits(first));
        let place = match wanted.to {
            Destination::Except(node) => {
                let other = |formed: &Formed| formed.to.is_some_and(|to| to != node);
                self.ready.iter().position(|formed| other(formed) && fits(formed))?
            }
            _ if self.begun => 0,
            _ => return None,
        };
        if fits(&self.ready[place]) { self.take(place) } else { None }
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.in_service = self.in_service.saturating_sub(1);
        self.above.release(now, packet, out);
        self.form(now, out);
    }

    /// Of an A-MPDU in service, what has not been taken is withdrawn too.
    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        let is_wanted = |formed: &Formed| formed.to == Some(to);
        self.begun &= !self.ready.front().is_some_and(is_wanted);
        let first = into.len();
        let ready = std::mem::take(&mut self.ready);
        for formed in ready {
            if is_wanted(&formed) {
                into.extend(formed.packets);
            } else {
                self.ready.push_back(formed);
            }
        }
        for packet in &into[first..] {
            self.above.release(now, packet, out);
        }
        self.above.withdraw(now, to, into, out);
        self.form(now, out);
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.above.on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        self.rooms.insert(link.station, link.room);
        self.only = Some(link.room);
        self.above.on_link(link);
    }

    fn dual(&self) -> Option<[Served; 2]> {
        self.above.dual()
    }

    fn len(&self) -> usize {
        self.ready.iter().map(|formed| formed.packets.len()).sum::<usize>() + self.above.len()
    }

    fn backlog(&self) -> Bytes {
        let ready = self.ready.iter().flat_map(|formed| &formed.packets);
        ready.map(|packet| packet.size).sum::<Bytes>() + self.above.backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.ready.iter().flat_map(|formed| &formed.packets).for_each(&mut *visit);
        self.above.each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{drop_tail, number, packet};
    use super::super::{Limit, Ring};
    use super::*;
    use wire::TrafficClass;

    const NOW: Instant = Instant(0);

    /// A hardware queue of A-MPDUs of three packets of 1000 bytes.
    fn hardware(most: u32, above: Box<dyn Queue>) -> HardwareQueue {
        let mut queue = HardwareQueue::new(above, most, true);
        let overhead = Bytes(40);
        for station in 1..4 {
            let room = Room { frames: 32, bytes: Bytes(3 * 1040), overhead };
            queue.on_link(&LinkState { room, ..LinkState::of(NodeId(station)) });
        }
        queue
    }

    fn push(queue: &mut HardwareQueue, station: u32, numbers: std::ops::Range<u64>) {
        numbers.for_each(|n| queue.push(NOW, &packet(station, n, 1000), &mut Vec::new()));
    }

    /// Takes what one access sends: the first packet and all that go with it.
    fn access(queue: &mut HardwareQueue) -> Vec<Packet> {
        let Some(first) = queue.pop(NOW, &mut Vec::new()) else { return Vec::new() };
        let to = Destination::Only(first.receiver());
        let wanted = Wanted { class: TrafficClass::BestEffort, to, most: Bytes(u64::MAX) };
        let rest = std::iter::from_fn(|| queue.pop_for(NOW, &wanted, &mut Vec::new()));
        std::iter::once(first).chain(rest.collect::<Vec<_>>()).collect()
    }

    fn numbers(packets: &[Packet]) -> Vec<u64> {
        packets.iter().map(number).collect()
    }

    fn release(queue: &mut HardwareQueue, packets: &[Packet]) {
        for packet in packets {
            queue.release(NOW, packet, &mut Vec::new());
        }
    }

    #[test]
    fn what_is_formed_goes_before_what_arrives_later() {
        let mut queue = hardware(2, drop_tail(Limit::packets(100)));
        push(&mut queue, 1, 0..10);
        // The device was idle: the first two A-MPDUs have one packet each.
        let first = access(&mut queue);
        assert_eq!(numbers(&first), [0]);
        push(&mut queue, 2, 50..51);
        release(&mut queue, &first);
        let second = access(&mut queue);
        assert_eq!(numbers(&second), [1]);
        release(&mut queue, &second);
        let third = access(&mut queue);
        assert_eq!(numbers(&third), [2, 3, 4], "as many as the room holds");
        // One is in service and one ready; an A-MPDU is formed when the first has left.
        assert_eq!(queue.ready.len(), 1);
        assert_eq!(queue.len(), 6);
        release(&mut queue, &third[..2]);
        assert_eq!(queue.ready.len(), 1, "a packet of the first is still in service");
        release(&mut queue, &third[2..]);
        assert_eq!(queue.ready.len(), 2);
    }

    #[test]
    fn what_is_formed_for_a_receiver_that_has_left_is_withdrawn() {
        let mut queue = hardware(2, drop_tail(Limit::packets(100)));
        push(&mut queue, 1, 0..2);
        push(&mut queue, 2, 50..52);
        push(&mut queue, 1, 2..6);
        let mut withdrawn = Vec::new();
        queue.withdraw(NOW, NodeId(1), &mut withdrawn, &mut Vec::new());
        assert_eq!(numbers(&withdrawn), [0, 1, 2, 3, 4, 5], "those formed ahead, then the others");
        assert_eq!(numbers(&access(&mut queue)), [50, 51]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn so_is_the_rest_of_an_a_mpdu_in_service() {
        let mut queue = hardware(1, drop_tail(Limit::packets(100)));
        push(&mut queue, 1, 0..1);
        let idle = access(&mut queue);
        push(&mut queue, 1, 1..4);
        push(&mut queue, 2, 50..51);
        release(&mut queue, &idle);
        let first = queue.pop(NOW, &mut Vec::new()).unwrap();
        let mut withdrawn = Vec::new();
        queue.withdraw(NOW, NodeId(1), &mut withdrawn, &mut Vec::new());
        assert_eq!(numbers(&withdrawn), [2, 3]);
        assert_eq!(queue.pop(NOW, &mut Vec::new()), None, "one is in service");
        release(&mut queue, &[first]);
        assert_eq!(numbers(&access(&mut queue)), [50]);
    }

    #[test]
    fn an_access_does_not_go_on_with_the_next_a_mpdu() {
        let mut queue = hardware(3, drop_tail(Limit::packets(100)));
        push(&mut queue, 1, 0..9);
        let first = access(&mut queue);
        let wanted = Wanted {
            class: TrafficClass::BestEffort,
            to: Destination::Only(Some(NodeId(1))),
            most: Bytes(u64::MAX),
        };
        assert_eq!(queue.pop_for(NOW, &wanted, &mut Vec::new()), None);
        release(&mut queue, &first);
        assert_eq!(numbers(&access(&mut queue)), [1]);
    }

    #[test]
    fn what_an_access_leaves_is_sent_by_the_next() {
        let mut queue = hardware(1, drop_tail(Limit::packets(100)));
        push(&mut queue, 1, 0..1);
        let idle = access(&mut queue);
        push(&mut queue, 1, 1..4);
        release(&mut queue, &idle);
        let only = queue.pop(NOW, &mut Vec::new()).unwrap();
        queue.release(NOW, &only, &mut Vec::new());
        assert_eq!(numbers(&access(&mut queue)), [2, 3]);
    }

    #[test]
    fn a_driver_fifo_above_it_counts_what_is_formed() {
        let ring = Ring::new(drop_tail(Limit::packets(100)), 4, false);
        let mut queue = hardware(2, Box::new(ring));
        push(&mut queue, 1, 0..10);
        let first = access(&mut queue);
        release(&mut queue, &first);
        let second = access(&mut queue);
        release(&mut queue, &second);
        // Four frames are in the driver, of which three are formed.
        assert_eq!(numbers(&access(&mut queue)), [2, 3, 4]);
    }
}
