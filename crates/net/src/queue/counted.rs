//! A queue that knows what waits for each destination, so that whoever asks need not visit all
//! packets.

use super::{LinkState, Queue, Served, Signal, UsedAirtime, Wanted};
use kernel::{Bytes, IdVec, Instant};
use std::ops::AddAssign;
use wire::{NodeId, Packet, TrafficClass};

/// Packets that wait, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Their number.
    pub packets: u64,
    /// Their sizes together.
    pub bytes: Bytes,
}

impl Waits {
    fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= packet.size;
    }
}

impl AddAssign<&Packet> for Waits {
    fn add_assign(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.size;
    }
}

/// Any queue, with counts by destination and class.
#[derive(Debug)]
pub struct Counted {
    queue: Box<dyn Queue>,
    /// Whether classes are told apart; else all are counted as one.
    has_classes: bool,
    broadcast: [Waits; 4],
    unicast: IdVec<NodeId, [Waits; 4]>,
}

impl Counted {
    /// Counts what waits in an empty queue.
    pub fn new(queue: Box<dyn Queue>, has_classes: bool) -> Self {
        let (broadcast, unicast) = ([Waits::default(); 4], IdVec::new());
        Self { queue, has_classes, broadcast, unicast }
    }

    #[inline]
    fn of(&mut self, packet: &Packet) -> &mut Waits {
        let class = if self.has_classes { packet.class as usize } else { 0 };
        match packet.receiver() {
            Some(node) => &mut self.unicast.grown(node)[class],
            None => &mut self.broadcast[class],
        }
    }

    /// Packets that the queue has dropped since `out` had `before` signals wait no longer.
    #[inline]
    fn note_drops(&mut self, before: usize, out: &[Signal]) {
        if out.len() > before {
            self.remove_dropped(before, out);
        }
    }

    #[cold]
    fn remove_dropped(&mut self, before: usize, out: &[Signal]) {
        for signal in &out[before..] {
            if let Signal::Drop(packet) = signal {
                self.of(packet).remove(packet);
            }
        }
    }

    /// The same, and a packet is in service.
    #[inline]
    fn taken(&mut self, before: usize, out: &[Signal], packet: Option<Packet>) -> Option<Packet> {
        self.note_drops(before, out);
        packet.inspect(|packet| self.of(packet).remove(packet))
    }
}

impl Queue for Counted {
    fn push(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>) {
        let before = out.len();
        *self.of(&packet) += &packet;
        self.queue.push(now, packet, out);
        self.note_drops(before, out);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        let before = out.len();
        let packet = self.queue.pop(now, out);
        self.taken(before, out, packet)
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        let before = out.len();
        let packet = self.queue.pop_for(now, wanted, out);
        self.taken(before, out, packet)
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let before = out.len();
        self.queue.release(now, packet, out);
        self.note_drops(before, out);
    }

    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        let (before, first) = (out.len(), into.len());
        self.queue.withdraw(now, to, into, out);
        self.note_drops(before, out);
        into[first..].iter().for_each(|packet| self.of(packet).remove(packet));
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.queue.on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        self.queue.on_link(link);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queue.each(visit);
    }

    fn waits(&self, class: TrafficClass, to: Option<NodeId>) -> Option<Waits> {
        let class = if self.has_classes { class as usize } else { 0 };
        Some(match to {
            Some(node) => self.unicast.get(node).map_or(Waits::default(), |own| own[class]),
            None => self.broadcast[class],
        })
    }

    fn dual(&self) -> Option<[Served; 2]> {
        self.queue.dual()
    }
}
