//! A buffer that sub-queues share.

use super::room::Room;
use super::{Airtime, Queue, Signal, Wanted};
use kernel::{Bytes, Instant};
use std::fmt::Debug;
use wire::Packet;

/// What a discipline decides about sub-queues: which one a packet joins, whose turn it is, and
/// which one gives up its packets where there is no room for all.
pub(super) trait Scheduler: Debug + Send {
    /// Puts a packet into its sub-queue.
    fn enqueue(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>);

    /// Takes out the next packet of the sub-queue whose turn it is.
    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet>;

    /// Takes out the next packet of the first sub-queue that has a wanted one.
    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet>;

    /// Drops one packet or more of those that wait, to make room; never asked of a discipline whose
    /// sub-queues have room of their own.
    fn give_up(&mut self, _now: Instant, _out: &mut Vec<Signal>) {}

    /// A packet that was in service has left.
    fn release(&mut self, _now: Instant, _packet: &Packet, _out: &mut Vec<Signal>) {}

    /// Airtime was used.
    fn on_airtime(&mut self, _airtime: &Airtime) {}

    /// Shows each packet that waits.
    fn each(&self, visit: &mut dyn FnMut(&Packet));
}

/// A buffer whose packets wait in sub-queues. Where there is no room for a new packet, others may
/// have to go.
#[derive(Debug)]
pub(super) struct Shared<S> {
    pub(super) scheduler: S,
    room: Room,
    len: usize,
    backlog: Bytes,
}

impl<S: Scheduler> Shared<S> {
    /// An empty buffer with this room for all sub-queues together.
    pub(super) fn new(scheduler: S, room: Room) -> Self {
        Self { scheduler, room, len: 0, backlog: Bytes::ZERO }
    }

    fn leaves(&mut self, packet: &Packet) {
        self.len -= 1;
        self.backlog -= packet.size;
    }

    /// Takes account of what the scheduler has dropped.
    fn settle(&mut self, signals: &[Signal]) {
        for signal in signals {
            if let Signal::Drop(packet) = signal {
                self.leaves(packet);
                self.room.free(packet.size);
            }
        }
    }

    /// Takes a packet out by the scheduler's rule.
    fn take(
        &mut self,
        out: &mut Vec<Signal>,
        dequeue: impl FnOnce(&mut S, &mut Vec<Signal>) -> Option<Packet>,
    ) -> Option<Packet> {
        let before = out.len();
        let packet = dequeue(&mut self.scheduler, out);
        self.settle(&out[before..]);
        if let Some(packet) = &packet {
            self.leaves(packet);
        }
        packet
    }
}

impl<S: Scheduler> Queue for Shared<S> {
    fn push(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>) {
        self.len += 1;
        self.backlog += packet.size;
        self.room.take(packet.size);
        let mut settled = out.len();
        self.scheduler.enqueue(now, packet, out);
        self.settle(&out[settled..]);
        while self.room.is_exceeded() && self.len > 0 {
            settled = out.len();
            self.scheduler.give_up(now, out);
            self.settle(&out[settled..]);
        }
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(out, |scheduler, out| scheduler.dequeue(now, out))
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(out, |scheduler, out| scheduler.dequeue_for(now, wanted, out))
    }

    fn release(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.room.free(packet.size);
        self.scheduler.release(now, packet, out);
    }

    fn on_airtime(&mut self, airtime: &Airtime) {
        self.scheduler.on_airtime(airtime);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn backlog(&self) -> Bytes {
        self.backlog
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.scheduler.each(visit);
    }
}
