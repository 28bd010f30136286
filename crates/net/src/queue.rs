//! What a buffer does with the packets that wait in it.

mod drop_tail;
mod drr;

pub use drop_tail::DropTail;
pub use drr::{Drr, Per};

use kernel::{Bytes, Instant};
use std::fmt::Debug;
use wire::Packet;

/// What became of a packet offered to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits.
    Queued,
    /// It waits, with ECN "congestion experienced" (RFC 3168) set.
    Marked,
    /// It is gone.
    Dropped,
}

/// A buffer of packets and the order in which they leave it.
///
/// A packet is in one of three states: waiting, in service (popped, not yet released), gone. It
/// holds its room until it is gone, for a frame occupies its buffer until it is acknowledged.
pub trait Queue: Debug + Send {
    /// Offers a packet.
    fn push(&mut self, now: Instant, packet: Packet) -> Verdict;

    /// Takes out the next packet into service.
    fn pop(&mut self, now: Instant) -> Option<Packet>;

    /// A packet of this size, popped earlier, has left the node: its room is free.
    fn release(&mut self, _size: Bytes) {}

    /// Packets waiting, without those in service.
    fn len(&self) -> usize;

    /// Bytes waiting, without those in service.
    fn backlog(&self) -> Bytes;

    /// Shows each packet that waits, for accounts.
    fn each(&self, visit: &mut dyn FnMut(&Packet));

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much a buffer holds, packets in service included. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Packets.
    pub packets: Option<u32>,
    /// Bytes, as IP counts them.
    pub bytes: Option<Bytes>,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { packets: None, bytes: None };

    /// So many packets of any size.
    pub const fn packets(count: u32) -> Self {
        Self { packets: Some(count), bytes: None }
    }

    /// So many bytes in any number of packets.
    pub const fn bytes(amount: Bytes) -> Self {
        Self { packets: None, bytes: Some(amount) }
    }
}

/// A queue as the plan describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out; what finds no room is dropped.
    DropTail {
        /// Of the whole queue.
        limit: Limit,
    },
    /// Deficit round robin over sub-queues.
    Drr {
        /// What has a sub-queue of its own.
        per: Per,
        /// Bytes that each sub-queue may send per round.
        quantum: Bytes,
        /// Of each sub-queue.
        limit: Limit,
    },
}

impl Discipline {
    /// An empty queue of this kind.
    pub fn build(&self) -> Box<dyn Queue> {
        match *self {
            Self::DropTail { limit } => Box::new(DropTail::new(limit)),
            Self::Drr { per, quantum, limit } => Box::new(Drr::new(per, quantum, limit)),
        }
    }
}

/// The room of one buffer and who holds how much of it.
#[derive(Clone, Copy, Debug)]
struct Room {
    limit: Limit,
    packets: u32,
    bytes: Bytes,
}

impl Room {
    fn new(limit: Limit) -> Self {
        Self { limit, packets: 0, bytes: Bytes::ZERO }
    }

    /// Takes room for a packet of this size, if there is enough.
    fn take(&mut self, size: Bytes) -> bool {
        let full = self.limit.packets.is_some_and(|most| self.packets >= most)
            || self.limit.bytes.is_some_and(|most| self.bytes + size > most);
        if !full {
            self.packets += 1;
            self.bytes += size;
        }
        !full
    }

    /// Gives back the room of a packet of this size.
    fn free(&mut self, size: Bytes) {
        debug_assert!(self.packets > 0 && self.bytes >= size, "released more than was taken");
        self.packets = self.packets.saturating_sub(1);
        self.bytes = Bytes(self.bytes.0.saturating_sub(size.0));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use wire::{Body, Datagram, Ecn, FlowId, NodeId, TrafficClass};

    /// A datagram of `size` bytes, with 28 bytes of headers, to the node of its flow's number.
    pub(crate) fn packet(flow: u32, number: u64, size: u64) -> Packet {
        Packet {
            from: NodeId(0),
            to: Some(NodeId(flow)),
            size: Bytes(size),
            born: Instant::ZERO,
            ecn: Ecn::NotCapable,
            class: TrafficClass::BestEffort,
            body: Body::Datagram(Datagram {
                flow: FlowId(flow),
                number,
                len: size.saturating_sub(28) as u32,
            }),
        }
    }

    pub(crate) fn number(packet: &Packet) -> u64 {
        let Body::Datagram(datagram) = packet.body else { panic!("not a datagram") };
        datagram.number
    }

    fn discipline() -> impl Strategy<Value = Discipline> {
        let limit = (prop::option::of(0u32..20), prop::option::of(0u64..20_000))
            .prop_map(|(packets, bytes)| Limit { packets, bytes: bytes.map(Bytes) });
        let per = prop_oneof![Just(Per::Flow), Just(Per::Station)];
        prop_oneof![
            limit.clone().prop_map(|limit| Discipline::DropTail { limit }),
            (per, 0u64..3000, limit).prop_map(|(per, quantum, limit)| Discipline::Drr {
                per,
                quantum: Bytes(quantum),
                limit
            }),
        ]
    }

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        Push { flow: u32, size: u64 },
        Pop,
        Release,
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            5 => (0u32..5, 28u64..1600).prop_map(|(flow, size)| Operation::Push { flow, size }),
            3 => Just(Operation::Pop),
            2 => Just(Operation::Release),
        ]
    }

    /// What a queue has to agree with, whatever its discipline.
    #[derive(Default)]
    struct Book {
        waiting: [VecDeque<Packet>; 5],
        in_service: VecDeque<Packet>,
    }

    impl Book {
        fn held(&self, flow: Option<u32>) -> (usize, u64) {
            let held = self.waiting.iter().flatten().chain(&self.in_service);
            held.filter(|p| flow.is_none_or(|f| p.flow() == FlowId(f)))
                .fold((0, 0), |(count, bytes), p| (count + 1, bytes + p.size.0))
        }

        fn fits(&self, discipline: Discipline, packet: &Packet) -> bool {
            let (flow, limit) = match discipline {
                Discipline::DropTail { limit } => (None, limit),
                Discipline::Drr { limit, .. } => (Some(packet.flow().0), limit),
            };
            let (count, bytes) = self.held(flow);
            limit.packets.is_none_or(|most| count < most as usize)
                && limit.bytes.is_none_or(|most| bytes + packet.size.0 <= most.0)
        }
    }

    proptest! {
        /// Pushed = popped + dropped + waiting, in order per flow; dropped only for want of room.
        #[test]
        fn conserves_packets(
            kind in discipline(),
            work in prop::collection::vec(operation(), 0..300),
        ) {
            let mut queue = kind.build();
            let mut book = Book::default();
            for (i, &operation) in work.iter().enumerate() {
                let now = Instant(i as u64);
                match operation {
                    Operation::Push { flow, size } => {
                        let offered = packet(flow, i as u64, size);
                        let fits = book.fits(kind, &offered);
                        let verdict = queue.push(now, offered);
                        prop_assert_eq!(verdict == Verdict::Queued, fits);
                        prop_assert_eq!(verdict == Verdict::Dropped, !fits);
                        if fits {
                            book.waiting[flow as usize].push_back(offered);
                        }
                    }
                    Operation::Pop => match queue.pop(now) {
                        Some(packet) => {
                            let first = book.waiting[packet.flow().0 as usize].pop_front();
                            prop_assert_eq!(first, Some(packet), "out of order");
                            book.in_service.push_back(packet);
                        }
                        None => prop_assert!(book.waiting.iter().all(VecDeque::is_empty)),
                    },
                    Operation::Release => if let Some(packet) = book.in_service.pop_front() {
                        queue.release(packet.size);
                    },
                }
                prop_assert_eq!(queue.len(), book.waiting.iter().flatten().count());
                let bytes: Bytes = book.waiting.iter().flatten().map(|p| p.size).sum();
                prop_assert_eq!(queue.backlog(), bytes);
                prop_assert_eq!(queue.is_empty(), book.waiting.iter().all(VecDeque::is_empty));
            }
        }
    }
}
