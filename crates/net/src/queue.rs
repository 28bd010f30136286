//! What a buffer does with the packets that wait in it.

mod airtime_fair;
mod classes;
mod codel;
mod drop_tail;
mod drr;
mod fifo;
mod fq_codel;
mod lanes;
mod pie;
mod red;
mod ring;
mod sfq;

pub use airtime_fair::{AirtimeFair, AirtimeFairConfig};
pub use classes::Classes;
pub use codel::{CoDel, CoDelConfig, ControlLaw};
pub use drop_tail::DropTail;
pub use drr::Drr;
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use lanes::Per;
pub use pie::{Pie, PieConfig};
pub use red::{QueueUnit, Red, RedConfig, red_weight};
pub use ring::Ring;
pub use sfq::{Sfq, SfqConfig};

use kernel::{Bytes, Duration, Instant, Rng};
use std::fmt::Debug;
use wire::{Ecn, NodeId, Packet, TrafficClass};

/// What a queue does to a packet beside letting it wait; congestion is signalled so (RFC 7567).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// This packet is gone: the one that was offered, or one that waited.
    Drop(Packet),
    /// This packet bears ECN "congestion experienced" (RFC 3168) from here on.
    Mark(Packet),
}

/// Time on the air that a station's traffic has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// The station at the other end; `None` for broadcast.
    pub station: Option<NodeId>,
    /// Whether it came from the station and did not go there.
    pub received: bool,
    /// How long it took.
    pub used: Duration,
}

/// Which packet is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of this class, where classes wait apart.
    pub class: TrafficClass,
    /// For this destination; `None`: for any.
    pub station: Option<NodeId>,
    /// No larger than this.
    pub most: Bytes,
}

impl Wanted {
    /// Whether a packet is for the destination and small enough.
    fn fits(&self, packet: &Packet) -> bool {
        self.is_for(packet) && packet.size <= self.most
    }

    fn is_for(&self, packet: &Packet) -> bool {
        self.station.is_none() || packet.to == self.station
    }
}

/// A buffer of packets and the order in which they leave it.
///
/// A packet is in one of three states: waiting, in service (popped, not yet released), gone. It
/// holds its room until it is gone, for a frame occupies its buffer until it is acknowledged. What
/// a discipline measures (averages, delays) are the packets that wait.
pub trait Queue: Debug + Send {
    /// Offers a packet. The queue may drop this one or others, and says so in `out`.
    fn push(&mut self, now: Instant, packet: Packet, out: &mut Vec<Signal>);

    /// Takes out the next packet into service; there is one if any waits. The queue may drop those
    /// before it, and says so in `out`.
    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet>;

    /// Takes out into service the next packet that joins others on their way, by the same rules;
    /// none if the next that could is too large, even if a smaller one waits behind it. Dropping
    /// may bring up one that is larger than wanted.
    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet>;

    /// This packet, popped earlier, has left the node: its room is free. Others may move up, and
    /// the queue may drop some of them.
    fn release(&mut self, _now: Instant, _packet: &Packet, _out: &mut Vec<Signal>) {}

    /// Airtime was used; who shares airtime keeps account of it.
    fn on_airtime(&mut self, _airtime: &Airtime) {}

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
#[derive(Clone, Debug, PartialEq)]
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
    /// Stochastic fairness queueing.
    Sfq(SfqConfig),
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Controlled delay of each flow, with fair turns.
    FqCoDel(FqCoDelConfig),
    /// Proportional integral controller, enhanced.
    Pie(PieConfig),
    /// Equal airtime for each station.
    AirtimeFair(AirtimeFairConfig),
}

impl Discipline {
    /// An empty queue of this kind, which draws from a stream of its own.
    pub fn build(&self, mut rng: Rng) -> Box<dyn Queue> {
        match self {
            Self::DropTail { limit } => Box::new(DropTail::new(*limit)),
            Self::Drr { per, quantum, limit } => Box::new(Drr::new(*per, *quantum, *limit)),
            Self::Sfq(config) => Box::new(Sfq::new(*config, &mut rng)),
            Self::Red(config) => Box::new(Red::new(*config, rng)),
            Self::CoDel(config) => Box::new(CoDel::new(*config)),
            Self::FqCoDel(config) => Box::new(FqCoDel::new(*config, &mut rng)),
            Self::Pie(config) => Box::new(Pie::new(*config, rng)),
            Self::AirtimeFair(config) => Box::new(AirtimeFair::new(config.clone(), &mut rng)),
        }
    }
}

/// Signals congestion by a packet: marks it, if the queue may and its ends can tell a mark; drops
/// it otherwise, and then returns nothing.
fn mark_or_drop(ecn: bool, mut packet: Packet, out: &mut Vec<Signal>) -> Option<Packet> {
    if !ecn || packet.ecn == Ecn::NotCapable {
        out.push(Signal::Drop(packet));
        return None;
    }
    // One that another queue has marked before says it already; the signal counts nevertheless.
    packet.ecn = Ecn::Experienced;
    out.push(Signal::Mark(packet));
    Some(packet)
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

    /// Whether there is room for a packet of this size.
    fn has(&self, size: Bytes) -> bool {
        self.limit.packets.is_none_or(|most| self.packets < most)
            && self.limit.bytes.is_none_or(|most| self.bytes + size <= most)
    }

    /// Takes room for a packet of this size, if there is enough.
    fn take(&mut self, size: Bytes) -> bool {
        let has = self.has(size);
        if has {
            self.force(size);
        }
        has
    }

    /// Takes room for a packet of this size, whether or not there is any.
    fn force(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    /// Whether more is held than the limit allows.
    fn is_exceeded(&self) -> bool {
        self.limit.packets.is_some_and(|most| self.packets > most)
            || self.limit.bytes.is_some_and(|most| self.bytes > most)
    }

    /// Gives back the room of a packet of this size.
    fn free(&mut self, size: Bytes) {
        debug_assert!(self.packets > 0 && self.bytes >= size, "released more than was taken");
        self.packets = self.packets.saturating_sub(1);
        self.bytes = Bytes(self.bytes.0.saturating_sub(size.0));
    }

    /// Gives back the room of what was dropped.
    fn free_dropped(&mut self, signals: &[Signal]) {
        for signal in signals {
            if let Signal::Drop(packet) = signal {
                self.free(packet.size);
            }
        }
    }
}

#[cfg(test)]
mod load;
#[cfg(test)]
pub(crate) mod tests;
