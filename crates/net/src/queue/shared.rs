//! A buffer that sub-queues share.

use super::buffer::Buffer;
use super::{LinkState, Queue, Signal, UsedAirtime, Wanted};
use kernel::{Bytes, Instant};
use std::fmt::Debug;
use wire::Packet;

/// The decisions of a discipline about sub-queues: which one a packet joins, whose turn it is, and
/// which one drops packets when the buffer is full.
pub(super) trait Scheduler: Debug + Send {
    /// Puts a packet into its sub-queue.
    fn enqueue(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>);

    /// Takes the next packet of the sub-queue whose turn it is.
    fn dequeue(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet>;

    /// Takes the next packet of the first sub-queue that has a requested one.
    fn dequeue_for(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet>;

    /// Drops one or more waiting packets to make room; never called for a discipline whose
    /// sub-queues have their own limits.
    fn give_up(&mut self, _now: Instant, _out: &mut Vec<Signal>) {}

    /// A packet that was in service has left.
    fn release(&mut self, _now: Instant, _packet: &Packet, _out: &mut Vec<Signal>) {}

    /// Airtime was used.
    fn on_airtime(&mut self, _airtime: &UsedAirtime) {}

    /// The state of a link is known or has changed.
    fn on_link(&mut self, _link: &LinkState) {}

    /// Calls `visit` for each waiting packet.
    fn each(&self, visit: &mut dyn FnMut(&Packet));
}

/// A buffer whose packets wait in sub-queues. If a new packet does not fit, others may be dropped.
#[derive(Debug)]
pub(super) struct Shared<S> {
    pub(super) scheduler: S,
    buffer: Buffer,
    len: usize,
    backlog: Bytes,
}

impl<S: Scheduler> Shared<S> {
    /// An empty buffer with these limits for all sub-queues together.
    pub(super) fn new(scheduler: S, buffer: Buffer) -> Self {
        Self { scheduler, buffer, len: 0, backlog: Bytes::ZERO }
    }

    fn leaves(&mut self, packet: &Packet) {
        self.len -= 1;
        self.backlog -= packet.size;
    }

    /// Updates the occupancy after drops of the scheduler.
    fn settle(&mut self, signals: &[Signal]) {
        for signal in signals {
            if let Signal::Drop(packet) = signal {
                self.leaves(packet);
                self.buffer.free(packet.size);
            }
        }
    }

    /// Takes a packet by the scheduler's rule.
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
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        self.len += 1;
        self.backlog += packet.size;
        self.buffer.take(packet.size);
        let mut settled = out.len();
        self.scheduler.enqueue(now, packet, out);
        self.settle(&out[settled..]);
        while self.buffer.is_exceeded() && self.len > 0 {
            settled = out.len();
            self.scheduler.give_up(now, out);
            assert!(out.len() > settled, "a full buffer with waiting packets drops one of them");
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
        self.buffer.free(packet.size);
        self.scheduler.release(now, packet, out);
    }

    fn on_airtime(&mut self, airtime: &UsedAirtime) {
        self.scheduler.on_airtime(airtime);
    }

    fn on_link(&mut self, link: &LinkState) {
        self.scheduler.on_link(link);
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
