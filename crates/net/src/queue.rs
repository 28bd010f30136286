//! Queue disciplines: how a buffer treats the packets that wait in it.
//!
//! A queue is a buffer and a policy. Buffers, limits and counts are implemented once: a
//! [`line::Line`] of packets, or one that sub-queues share ([`shared::Shared`]). A discipline is a
//! file with its settings and its decisions on arrivals and departures, and a line below.
//!
//! Timers of queues are lazy: PIE and `DualPI2` perform the updates that are due when a packet
//! arrives or leaves, at their own instants, as the heads of the queues change at no other time. A
//! queue therefore needs no event. A shaper (CAKE) is part of the link: `Traits::shaper` tells its
//! rate, and the link holds back the next transmission, so that a queue with packets always has one
//! to send.

mod buffer;
mod classes;
mod counted;
mod fifo;
mod hardware;
mod line;
mod link_state;
mod ring;
mod shared;
mod sub_queues;

pub(crate) use buffer::Buffer;
pub use buffer::Limit;
pub use classes::Classes;
pub use counted::{Counted, Waits, WaitsByDestination};
pub use hardware::HardwareQueue;
pub use link_state::{LinkState, Room};
pub use ring::Ring;
pub use sub_queues::Per;

use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use settings::{Choice, Said};
use std::fmt::Debug;
use std::ops::AddAssign;
use wire::{Ecn, NodeId, Packet, TrafficClass};

settings::registry! {
    /// The queue discipline. Limits include packets in service. If two limits are given both apply;
    /// without any the buffer is unlimited. All other quantities that a queue measures refer to
    /// waiting packets.
    pub enum QueueSettings: Discipline = DropTail;
    drop_tail: DropTail(DropTailConfig),
    priority: Priority(PriorityConfig),
    drr: Drr(DrrConfig),
    sfq: Sfq(SfqConfig),
    red: Red(RedConfig),
    codel: Codel(CoDelConfig),
    fq_codel: FqCodel(FqCoDelConfig),
    fq: Fq(FqConfig),
    pfifo_fast: PfifoFast(PfifoFastConfig),
    pie: Pie(PieConfig),
    dualpi2: Dualpi2(DualPi2Config),
    cake: Cake(CakeConfig),
    airtime_fair: AirtimeFair(AirtimeFairConfig),
    mac80211: Mac80211(Mac80211Config),
    #[cfg(feature = "toy")]
    toy: Toy(ToyQueueConfig),
}

/// The settings of a queue discipline.
pub trait Discipline {
    /// An empty queue at this link, with a random stream of its own.
    fn build(&self, output_link: OutputLink, rng: Rng) -> Box<dyn Queue>;

    /// The limits of the queue, or of each of its sub-queues.
    fn limit(&self) -> Limit;

    /// Why the discipline is not allowed at this link, if it is not.
    fn refusal(&self, _site: OutputLink) -> Option<Said> {
        None
    }

    /// What others must know of the queue.
    fn traits(&self) -> Traits<'_> {
        Traits::default()
    }
}

/// What a queue discipline has or needs beyond a buffer; the default is nothing.
#[derive(Default)]
pub struct Traits<'a> {
    /// The discipline of its sub-queues, if it can be chosen, and the path of its settings.
    pub inner: Option<(String, &'a dyn Discipline)>,
    /// The limits of a queue that drops arrivals which do not fit and nothing else, and from which
    /// packets leave in the order of their arrival.
    pub drop_tail: Option<Limit>,
    /// The rate to which it limits the link, if it has a shaper: the link begins no packet before
    /// the one before it would have ended at this rate.
    pub shaper: Option<BitRate>,
    /// Whether it has an L queue and a C queue (RFC 9332), so that [`Queue::dual`] has counters.
    pub has_two_queues: bool,
    /// Whether it treats ECT(1) and ECT(0) differently, or can be set to.
    pub tells_l4s_apart: bool,
    /// Whether the queue paces the flows that begin at its node.
    pub paces: bool,
    /// Whether the queue must know when a device below it has sent a packet, and not only when the
    /// device has taken it.
    pub follows_the_device: bool,
    /// Whether the queue must know the state of the links over which the radio sends
    /// ([`Queue::on_link`]).
    pub follows_links: bool,
    /// Whether it shares airtime, so that it must know what was used ([`Queue::on_airtime`]).
    pub shares_airtime: bool,
    /// Whether a request changes the queue even if it finds no packet ([`Queue::pop_for`]).
    pub is_changed_by_requests: bool,
}

/// The link over which a queue sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputLink {
    /// A wire of this rate and delay; without a rate it is infinitely fast.
    Wire(Option<BitRate>, Duration),
    /// The cell, at an access point, which sends at this rate at most.
    AccessPoint(BitRate),
    /// The cell, at a station, which sends at this rate.
    Station(BitRate),
}

impl OutputLink {
    /// How long the transmission of a packet takes without contention.
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

/// An action of a queue on a packet, by which it signals congestion (RFC 7567).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The queue drops this packet: the one that was offered, or one that waited.
    Drop(Packet),
    /// From now on this packet has the ECN codepoint "congestion experienced" (RFC 3168), instead
    /// of this one.
    Mark(Packet, Ecn),
}

/// Marks by the codepoint that they replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// All marks; those of packets that another queue had marked before included.
    pub all: u64,
    /// Marks of packets with ECT(0).
    pub ect0: u64,
    /// Marks of packets with ECT(1).
    pub ect1: u64,
}

impl Marks {
    /// Counts a mark that replaces this codepoint.
    pub fn count(&mut self, before: Ecn) {
        self.all += 1;
        self.ect0 += u64::from(before == Ecn::Ect0);
        self.ect1 += u64::from(before == Ecn::Ect1);
    }
}

/// Which ECN-capable packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Codepoints {
    /// Those with ECT(1), of L4S flows (RFC 9331).
    #[default]
    Ect1,
    /// Those with ECT(0) or ECT(1).
    AnyEct,
}

impl Codepoints {
    /// Whether a packet with this codepoint is one of them; CE is none.
    fn has(self, ecn: Ecn) -> bool {
        ecn == Ecn::Ect1 || (self == Self::AnyEct && ecn == Ecn::Ect0)
    }
}

/// Airtime that a station's traffic has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedAirtime {
    /// The station at the other end; `None` for broadcast.
    pub station: Option<NodeId>,
    /// Whether the station was the transmitter.
    pub received: bool,
    /// The duration.
    pub used: Duration,
}

/// The packet that is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of this class, if classes have separate queues.
    pub class: TrafficClass,
    /// For these destinations.
    pub to: Destination,
    /// Not larger than this.
    pub most: Bytes,
}

impl Wanted {
    /// Any packet.
    const ANY: Self = Self::of(TrafficClass::BestEffort);

    /// Any packet of a class.
    #[must_use]
    pub const fn of(class: TrafficClass) -> Self {
        Self { class, to: Destination::Any, most: Bytes(u64::MAX) }
    }

    /// Whether a packet is for the destination and not too large.
    fn fits(&self, packet: &Packet) -> bool {
        self.to.is_of(packet) && packet.size <= self.most
    }
}

/// The destinations of which a packet is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Any destination, and broadcast.
    Any,
    /// This one; `None` is broadcast.
    Only(Option<NodeId>),
    /// Any but this one, without broadcast.
    Except(NodeId),
}

impl Destination {
    /// Whether a packet has such a destination.
    fn is_of(self, packet: &Packet) -> bool {
        match self {
            Self::Any => true,
            Self::Only(to) => packet.receiver() == to,
            Self::Except(node) => packet.receiver().is_some_and(|to| to != node),
        }
    }
}

/// What one of the two queues of a dual queue has done since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Packets that it sent.
    pub packets: u64,
    /// Of these, those that it marked.
    pub marked: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// The sum of the times for which the packets that it sent had waited.
    pub waited: Duration,
}

impl AddAssign for Served {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.marked += other.marked;
        self.dropped += other.dropped;
        self.waited += other.waited;
    }
}

/// A buffer of packets and the order in which they leave it.
///
/// A packet is in one of three states: waiting, in service (popped and not yet released), gone. It
/// occupies the buffer until it is gone, because a frame remains in the buffer until it is
/// acknowledged. The averages and delays that a discipline measures refer to waiting packets.
pub trait Queue: Debug + Send {
    /// Offers a packet. The queue may drop this one or others, which it reports in `out`.
    fn push(&mut self, now: Instant, packet: &Packet, out: &mut Vec<Signal>);

    /// Takes the next packet into service; there is one if any waits. The queue may drop packets
    /// before it, which it reports in `out`.
    fn pop(&mut self, now: Instant, out: &mut Vec<Signal>) -> Option<Packet>;

    /// Takes the next packet into service that is to be sent together with others, by the same
    /// rules. There is none if the next such packet is too large, even if a smaller one waits
    /// behind it. After a drop the next packet may be larger than requested.
    fn pop_for(&mut self, now: Instant, wanted: &Wanted, out: &mut Vec<Signal>) -> Option<Packet>;

    /// The same for one destination, if it is known that a packet for it waits and that none is too
    /// large: the queue need not look at the packet before it takes it.
    fn pop_known(
        &mut self,
        now: Instant,
        wanted: &Wanted,
        out: &mut Vec<Signal>,
    ) -> Option<Packet> {
        self.pop_for(now, wanted, out)
    }

    /// This packet, popped earlier, has left the node, and its place in the buffer is free. Other
    /// packets may advance, and the queue may drop some of them.
    fn release(&mut self, _now: Instant, _packet: &Packet, _out: &mut Vec<Signal>) {}

    /// Removes all packets that wait for a receiver, wherever they are below this interface, and
    /// appends them to a list. They have left the node as after [`Queue::release`].
    fn withdraw(
        &mut self,
        now: Instant,
        to: NodeId,
        into: &mut Vec<Packet>,
        out: &mut Vec<Signal>,
    ) {
        let wanted = Wanted { to: Destination::Only(Some(to)), ..Wanted::ANY };
        while let Some(packet) = self.pop_for(now, &wanted, out) {
            self.release(now, &packet, out);
            into.push(packet);
        }
    }

    /// Airtime was used; disciplines that share airtime record it.
    fn on_airtime(&mut self, _airtime: &UsedAirtime) {}

    /// The state of a link is known or has changed; disciplines that depend on rates record it.
    fn on_link(&mut self, _link: &LinkState) {}

    /// Packets waiting, without those in service.
    fn len(&self) -> usize;

    /// Bytes waiting, without those in service.
    fn backlog(&self) -> Bytes;

    /// Calls `visit` for each waiting packet, for checking.
    fn each(&self, visit: &mut dyn FnMut(&Packet));

    /// What waits of a class, if classes are told apart, for each destination. Only a [`Counted`]
    /// queue knows it.
    fn waits(&self, _class: TrafficClass) -> Option<WaitsByDestination<'_>> {
        None
    }

    /// No packet of a class that waits, if classes are told apart, is smaller than this, and a
    /// request for a smaller one does nothing; whether one may be a broadcast. Only a [`Counted`]
    /// queue knows it.
    fn outlook(&self, _class: TrafficClass) -> (Bytes, bool) {
        (Bytes::ZERO, true)
    }

    /// The counters of a dual queue, first those of its low-latency queue, then those of the
    /// classic one; none of other disciplines.
    fn dual(&self) -> Option<[Served; 2]> {
        None
    }

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Signals congestion by a packet. Marks the packet if the queue may and the flow is ECN-capable;
/// otherwise drops it and returns `None`.
fn mark_or_drop(ecn: bool, mut packet: Packet, out: &mut Vec<Signal>) -> Option<Packet> {
    if !ecn || packet.ecn == Ecn::NotCapable {
        out.push(Signal::Drop(packet));
        return None;
    }
    // A packet that another queue has marked already carries the signal, which counts nevertheless.
    let before = std::mem::replace(&mut packet.ecn, Ecn::Experienced);
    out.push(Signal::Mark(packet, before));
    Some(packet)
}

#[cfg(test)]
mod load;
#[cfg(test)]
pub(crate) mod tests;
