//! A queue that knows what waits for each destination, so that whoever asks need not visit all
//! packets.

use super::{Destination, LinkState, Queue, Served, Signal, Traits, UsedAirtime, Wanted};
use kernel::{Bytes, IdVec, Instant};
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
    fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes -= size;
    }
}

/// What waits for one destination in one class.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    waits: Waits,
    /// No packet that waits is smaller.
    least: Bytes,
    /// No packet that waits is larger.
    most: Bytes,
}

impl Count {
    fn add(&mut self, size: Bytes) {
        if self.waits.packets == 0 {
            (self.least, self.most) = (size, size);
        } else {
            (self.least, self.most) = (self.least.min(size), self.most.max(size));
        }
        self.waits.add(size);
    }

    /// Whether no packet that waits is as small as this.
    fn has_none(&self, most: Bytes) -> bool {
        self.waits.packets == 0 || most < self.least
    }

    /// Whether packets wait, and none is larger than this.
    fn has_no_larger(&self, most: Bytes) -> bool {
        self.waits.packets > 0 && self.most <= most
    }
}

/// What waits in one class for each destination.
#[derive(Clone, Copy, Debug)]
pub struct WaitsByDestination<'a> {
    /// What is broadcast.
    pub to_all: Waits,
    unicast: &'a IdVec<NodeId, Count>,
}

impl WaitsByDestination<'_> {
    /// What waits for a node.
    #[inline]
    pub fn to(&self, node: NodeId) -> Waits {
        self.unicast.get(node).map_or(Waits::default(), |count| count.waits)
    }
}

/// Any queue, with counts by destination and class: it is not asked for what it does not have.
#[derive(Debug)]
pub struct Counted<Q> {
    pub(super) queue: Q,
    /// Whether classes are told apart; else all are counted as one.
    has_classes: bool,
    /// Whether a request for a packet that joins others is passed on in any case.
    asks_always: bool,
    all: u64,
    /// By class: no packet that waits is smaller.
    least: [Bytes; 4],
    broadcast: [Count; 4],
    unicast: [IdVec<NodeId, Count>; 4],
}

impl<Q: Queue> Counted<Q> {
    /// Counts what waits in an empty queue with these traits.
    pub fn new(queue: Q, has_classes: bool, traits: &Traits<'_>) -> Self {
        Self {
            queue,
            has_classes,
            asks_always: traits.is_changed_by_requests,
            all: 0,
            least: [Bytes(u64::MAX); 4],
            broadcast: [Count::default(); 4],
            unicast: Default::default(),
        }
    }

    /// Where a class is counted.
    #[inline]
    fn place(&self, class: TrafficClass) -> usize {
        if self.has_classes { class as usize } else { 0 }
    }

    #[inline]
    fn of(&mut self, class: usize, to: Option<NodeId>) -> &mut Count {
        self.count_and_queue(class, to).0
    }

    /// What waits for a destination in a class, and the queue.
    #[inline]
    fn count_and_queue(&mut self, class: usize, to: Option<NodeId>) -> (&mut Count, &mut Q) {
        let count = match to {
            Some(node) => self.unicast[class].grown(node),
            None => &mut self.broadcast[class],
        };
        (count, &mut self.queue)
    }

    #[inline]
    fn remove(&mut self, packet: &Packet) {
        self.all -= 1;
        self.of(self.place(packet.class), packet.receiver()).waits.remove(packet.size);
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
                self.remove(packet);
            }
        }
    }

    /// The same, and a packet is in service.
    #[inline]
    fn note_taken(&mut self, before: usize, out: &[Signal], packet: Option<&Packet>) {
        self.note_drops(before, out);
        if let Some(packet) = packet {
            self.remove(packet);
        }
    }
}

/// A queue whose discipline is known only when it is built.
impl Queue for Box<dyn Queue> {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        (**self).push(now, packet, out);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        (**self).pop(now, out)
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        (**self).pop_for(now, wanted, out)
    }

    fn pop_known(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        (**self).pop_known(now, wanted, out)
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        (**self).release(now, packet, out);
    }

    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        (**self).withdraw(now, to, into, out);
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        (**self).on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        (**self).on_link(link);
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn backlog(&self) -> Bytes {
        (**self).backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        (**self).each(visit);
    }

    fn waits(&self, class: TrafficClass) -> Option<WaitsByDestination<'_>> {
        (**self).waits(class)
    }

    fn outlook(&self, class: TrafficClass) -> (Bytes, bool) {
        (**self).outlook(class)
    }

    fn dual(&self) -> Option<[Served; 2]> {
        (**self).dual()
    }
}

impl<Q: Queue> Queue for Counted<Q> {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let before = out.len();
        let (class, size) = (self.place(packet.class), packet.size);
        self.all += 1;
        self.least[class] = self.least[class].min(size);
        self.of(class, packet.receiver()).add(size);
        self.queue.push(now, packet, out);
        self.note_drops(before, out);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        let before = out.len();
        let packet = self.queue.pop(now, out);
        self.note_taken(before, out, packet.as_ref());
        packet
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        let before = out.len();
        let Destination::Only(to) = wanted.to else {
            let packet = self.queue.pop_for(now, wanted, out);
            self.note_taken(before, out, packet.as_ref());
            return packet;
        };
        let asks = self.asks_always && wanted.most < Bytes(u64::MAX);
        let (count, queue) = self.count_and_queue(self.place(wanted.class), to);
        let packet = if count.has_no_larger(wanted.most) {
            queue.pop_known(now, wanted, out)
        } else if asks || !count.has_none(wanted.most) {
            queue.pop_for(now, wanted, out)
        } else {
            return None;
        };
        if let Some(packet) = &packet {
            count.waits.remove(packet.size);
            self.all -= 1;
        }
        self.note_drops(before, out);
        packet
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
        into[first..].iter().for_each(|packet| self.remove(packet));
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.queue.on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        self.queue.on_link(link);
    }

    fn len(&self) -> usize {
        self.all as usize
    }

    fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.queue.each(visit);
    }

    fn waits(&self, class: TrafficClass) -> Option<WaitsByDestination<'_>> {
        let class = self.place(class);
        let (to_all, unicast) = (self.broadcast[class].waits, &self.unicast[class]);
        Some(WaitsByDestination { to_all, unicast })
    }

    fn outlook(&self, class: TrafficClass) -> (Bytes, bool) {
        let class = self.place(class);
        let least = if self.asks_always { Bytes::ZERO } else { self.least[class] };
        (least, self.broadcast[class].waits.packets > 0)
    }

    fn dual(&self) -> Option<[Served; 2]> {
        self.queue.dual()
    }
}
