//! A buffer with a single FIFO queue.

use super::buffer::Buffer;
use super::fifo::Fifo;
use super::{Destination, Limit, Queue, Signal, Wanted, mark_or_drop};
use kernel::{Bytes, Instant};
use std::fmt::Debug;
use wire::Packet;

/// A packet that arrives at a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Instant,
    pub(super) size: Bytes,
    /// Whether it fits; if not it is dropped, whatever the policy decides.
    pub(super) fits: bool,
    /// Whether no packet waits and none is in service.
    pub(super) is_first: bool,
}

/// The decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It waits.
    Pass,
    /// It waits and is marked; if it cannot be marked, it is dropped.
    Mark,
    /// It is dropped.
    Drop,
}

/// The decisions of a discipline about the packets of one queue.
pub(super) trait Policy: Debug + Send {
    /// A packet arrives behind the waiting ones.
    fn enqueue(&mut self, _arrival: &Arrival, _waiting: &Fifo) -> Verdict {
        Verdict::Pass
    }

    /// Takes the first packet that is not dropped, of those for `to`; drops and marks
    /// are appended to `out`.
    fn dequeue(
        &mut self,
        _now: Instant,
        waiting: &mut Fifo,
        to: Destination,
        _out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        waiting.pop_for(to)
    }

    /// A packet that was in service has left.
    fn release(&mut self, _now: Instant) {}
}

/// A buffer whose packets wait in one queue under a policy; an arrival that does not fit is
/// dropped.
#[derive(Debug)]
pub(super) struct Line<P> {
    pub(super) policy: P,
    pub(super) waiting: Fifo,
    pub(super) buffer: Buffer,
}

impl<P: Policy> Line<P> {
    /// An empty buffer.
    pub(super) fn new(policy: P, limit: Limit) -> Self {
        Self { policy, waiting: Fifo::default(), buffer: Buffer::new(limit) }
    }

    /// Takes the next packet of those for `to`.
    pub(super) fn take(
        &mut self,
        now: Instant,
        to: Destination,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        let before = out.len();
        let packet = self.policy.dequeue(now, &mut self.waiting, to, out);
        self.buffer.free_dropped(&out[before..]);
        packet
    }
}

impl<P: Policy> Queue for Line<P> {
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>) {
        let (size, fits) = (packet.size, self.buffer.has(packet.size));
        let arrival = Arrival { now, size, fits, is_first: self.buffer.is_empty() };
        let verdict = self.policy.enqueue(&arrival, &self.waiting);
        if !fits {
            return out.push(Signal::Drop(*packet));
        }
        let marked;
        let packet = if verdict == Verdict::Pass {
            packet
        } else {
            marked = mark_or_drop(verdict == Verdict::Mark, *packet, out);
            let Some(marked) = &marked else { return };
            marked
        };
        self.buffer.take(size);
        self.waiting.push(now, packet);
    }

    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet> {
        self.take(now, Destination::Any, out)
    }

    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet> {
        if self.waiting.has(wanted) { self.take(now, wanted.to, out) } else { None }
    }

    fn pop_known(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        self.take(now, wanted.to, out)
    }

    fn release(&mut self, now: Instant, packet: &Packet, _out: &mut Vec<Signal>) {
        self.buffer.free(packet.size);
        self.policy.release(now);
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn backlog(&self) -> Bytes {
        self.waiting.backlog()
    }

    fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.each(visit);
    }
}
