//! What a buffer does with the packets that wait in it.
//!
//! A queue is a buffer and a policy. Buffers, limits and accounts stand once: a [`line::Line`] of
//! packets, or one that sub-queues share ([`shared::Shared`]). A discipline is a file with its
//! settings and what it decides when a packet comes and when one is to go, and a line below.

mod classes;
mod fifo;
mod lanes;
mod line;
mod ring;
mod room;
mod shared;

pub use classes::Classes;
pub use lanes::Per;
pub use ring::Ring;
pub use room::Limit;

use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use std::fmt::Debug;
use wire::{Ecn, NodeId, Packet, TrafficClass};

settings::registry! {
    /// How a buffer is served. Limits count the packet in service too; where two are given both
    /// hold; without any the buffer is unlimited. What else a queue measures are the packets that
    /// wait.
    pub enum QueueSettings: Discipline = DropTail;
    drop_tail: DropTail(DropTailConfig),
    drr: Drr(DrrConfig),
    sfq: Sfq(SfqConfig),
    red: Red(RedConfig),
    codel: Codel(CoDelConfig),
    fq_codel: FqCodel(FqCoDelConfig),
    pie: Pie(PieConfig),
    airtime_fair: AirtimeFair(AirtimeFairConfig),
    #[cfg(feature = "toy")]
    toy: Toy(ToyQueueConfig),
}

/// The settings of a queueing discipline.
pub trait Discipline {
    /// An empty queue at this site, which draws from a stream of its own.
    fn build(&self, site: Site, rng: Rng) -> Box<dyn Queue>;

    /// What it holds, or each of its sub-queues.
    fn limit(&self) -> Limit;

    /// The discipline of its sub-queues, if it has a choice of them, and the path of its settings.
    fn inner(&self) -> Option<(String, &dyn Discipline)> {
        None
    }

    /// Why it cannot stand at this site, if it cannot.
    fn refusal(&self, _site: Site) -> Option<&'static str> {
        None
    }
}

/// What a queue stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// A wire of this rate and delay; without a rate it is infinitely fast.
    Wire(Option<BitRate>, Duration),
    /// The cell, at an access point, which sends at this rate at most.
    AccessPoint(BitRate),
    /// The cell, at a station, which sends at this rate.
    Station(BitRate),
}

impl Site {
    /// What a packet takes to send, without anybody else.
    pub fn time_for(self, packet: Bytes) -> Duration {
        match self {
            Self::Wire(Some(rate), _) | Self::AccessPoint(rate) | Self::Station(rate)
                if rate.0 > 0 =>
            {
                rate.time_for(packet)
            }
            _ => Duration::ZERO,
        }
    }
}

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

#[cfg(test)]
mod load;
#[cfg(test)]
pub(crate) mod tests;
