//! The interface of a medium: its links, the source of its MSDUs, its commands and its counters.
//!
//! The mode of a link and the slowest of its retry chain travel together ([`Command::Mode`]), so
//! that A-MPDUs that a device forms ahead fit all modes in which they may be sent.

use crate::mac::{MsduOutcome, Settled};
use crate::phy::Mode;
use kernel::{BitRate, Bytes, Duration, Instant, Ticket};
use wire::{Packet, TrafficClass};

/// The radio link between a station and the access point.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Mode of data frames in both directions, where no rate control chooses it.
    pub mode: Mode,
    /// Probability that noise destroys a data frame, in either direction. The MPDUs of an A-MPDU
    /// are independent.
    pub data_loss: f64,
    /// Probability that noise destroys an Ack, a BlockAck or a BlockAckReq, in either direction.
    pub ack_loss: f64,
}

/// The queues outside of the medium, whose packets can join a PSDU.
pub trait MsduSource {
    /// Removes and returns the frame of this class that `node` sends next to a receiver for which
    /// it has none in service; `None` is a frame to all.
    fn first(&mut self, node: u32, class: TrafficClass, to: Option<u32>) -> Option<Packet> {
        self.next(node, class, to?, Bytes(u64::MAX))
    }

    /// Removes and returns the next packet of this class that waits at `node` for the receiver
    /// `to`, if it is no larger than `most`.
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet>;

    /// Removes and returns the next packet of this class that waits at `node` for a receiver other
    /// than `than`, and its receiver.
    fn next_other(&mut self, node: u32, class: TrafficClass, than: u32) -> Option<(Packet, u32)>;

    /// Shows the packets of this class that wait at `node`, each with its receiver, without
    /// broadcasts.
    fn each(&self, node: u32, class: TrafficClass, visit: &mut dyn FnMut(u32, &Packet));

    /// Bytes of the packets of this class that wait at `node` for a receiver.
    fn bytes_for(&self, node: u32, class: TrafficClass, to: u32) -> Bytes {
        let mut all = Bytes::ZERO;
        self.each(node, class, &mut |other, packet| {
            if other == to {
                all += packet.size;
            }
        });
        all
    }

    /// The same of each of these receivers.
    fn bytes_for_each(
        &self,
        node: u32,
        class: TrafficClass,
        to: &[u32],
        visit: &mut dyn FnMut(Bytes),
    ) {
        for &to in to {
            visit(self.bytes_for(node, class, to));
        }
    }

    /// What is known of the packets of this class that wait at `node`.
    fn outlook(&self, _node: u32, _class: TrafficClass) -> Outlook {
        Outlook::default()
    }

    /// Whether a station is awake, as far as its access point `node` knows.
    fn is_awake(&self, _node: u32, _station: u32) -> bool {
        true
    }

    /// How many packets wait at `node`, of all classes and receivers, and their bytes; `None` if
    /// that is known only by a visit of each.
    fn waiting(&self, _node: u32) -> Option<(u64, Bytes)> {
        None
    }
}

/// What is known of packets that wait. A request for what is known not to be there does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// None is smaller.
    pub least: Bytes,
    /// One may be for all.
    pub to_all: bool,
}

impl Default for Outlook {
    /// Nothing is known.
    fn default() -> Self {
        Self { least: Bytes::ZERO, to_all: true }
    }
}

/// A source without packets.
#[derive(Clone, Copy, Debug)]
pub struct NoMsduSource;

impl MsduSource for NoMsduSource {
    fn next(&mut self, _: u32, _: TrafficClass, _: u32, _: Bytes) -> Option<Packet> {
        None
    }

    fn next_other(&mut self, _: u32, _: TrafficClass, _: u32) -> Option<(Packet, u32)> {
        None
    }

    fn each(&self, _: u32, _: TrafficClass, _: &mut dyn FnMut(u32, &Packet)) {}
}

/// The number of MPDUs in a PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mpdus {
    /// Those that are transmitted for the first time.
    pub first: u16,
    /// Those that are transmitted again.
    pub repeated: u16,
}

impl Mpdus {
    /// So many, of which some are transmitted again.
    pub(crate) fn of(all: u16, repeated: u64) -> Self {
        let repeated = all.min(repeated as u16);
        Self { first: all - repeated, repeated }
    }
}

/// The bytes of the MPDUs of a frame, by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedBytes {
    /// User data.
    pub data: Bytes,
    /// Packets that are pure TCP ACKs.
    pub acks: Bytes,
    /// MPDUs that are lost, or that their receiver has already.
    pub wasted: Bytes,
}

impl UsedBytes {
    /// Adds the useful part of a packet that is not wasted: data bytes, or a whole pure TCP ACK.
    #[inline]
    pub(crate) fn add(&mut self, packet: &Packet) {
        if packet.is_pure_ack() {
            self.acks += packet.size;
        } else {
            self.data += packet.payload();
        }
    }
}

/// A command of a medium to its caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Call [`Cell::on_access`](crate::Cell::on_access) with this ticket.
    Access(Ticket),
    /// Call [`Cell::on_step`](crate::Cell::on_step) at this instant.
    Step(Instant),
    /// An exchange or a collision has begun: [`Cell::exchange`](crate::Cell::exchange) returns its
    /// frames.
    Began,
    /// The medium becomes idle.
    Ended,
    /// The airtime of an exchange, once for each node that begins one: in a cell when it begins, in
    /// space when it ends.
    ExchangeSent {
        /// The node that began the exchange.
        node: u32,
        /// Its receiver; `None` is broadcast.
        peer: Option<u32>,
        /// From the start of its first frame to the end of its last frame, or of the collision.
        used: Duration,
        /// Whether its data was received; in space, as far as the transmitter knows.
        arrived: bool,
        /// The MPDUs in its data frame.
        mpdus: Mpdus,
    },
    /// A packet was received at this node for the first time.
    Deliver {
        /// The receiver.
        node: u32,
        /// The transmitter.
        from: u32,
        /// The packet.
        packet: Packet,
    },
    /// A node received a packet in a frame that was addressed to another, after a call of
    /// [`Space::overhear`](crate::space::Space::overhear). A frame that is transmitted again is
    /// reported again.
    Overheard {
        /// The node.
        node: u32,
        /// The transmitter.
        from: u32,
        /// The packet.
        packet: Packet,
    },
    /// The service of a packet has ended. Its node may take the next packet into service.
    Done {
        /// The node.
        node: u32,
        /// The packet whose service ended.
        packet: Packet,
        /// How it ended, as far as the transmitter knows.
        outcome: MsduOutcome,
        /// Whether the receiver has the packet.
        received: bool,
    },
    /// A node changes the mode in which it sends to a peer.
    Mode {
        /// The node.
        node: u32,
        /// The peer.
        peer: u32,
        /// The mode.
        mode: Mode,
        /// The slowest mode in which the frame may have to be sent.
        slowest: Mode,
    },
}

impl Command {
    /// Whether it asks for a call at a later event, and for nothing else.
    #[inline]
    pub fn is_event(&self) -> bool {
        matches!(self, Self::Access(_) | Self::Step(_))
    }
}

/// Counters of the exchanges of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Exchanges that it began.
    pub attempts: u64,
    /// Attempts whose outcome is known: where distance decides who receives whom, a collision is
    /// known when the frame ends.
    pub outcomes: u64,
    /// Attempts that collided with another node's.
    pub collisions: u64,
    /// Attempts that noise destroyed.
    pub noise_losses: u64,
    /// Attempts that interferers destroyed.
    pub interference_losses: u64,
    /// Packets that were sent successfully.
    pub sent: u64,
    /// Packets that were discarded at a retry limit.
    pub retry_drops: u64,
    /// MPDUs that duplicate detection discarded.
    pub duplicates: u64,
}

/// Counters of the frames of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Exchanges with data frames, whatever their outcome: the number of data PPDUs, and of
    /// attempts that received no CTS.
    pub data_attempts: u64,
    /// The sum of the rates of their modes, in bit/s; without those of PPDUs to several users.
    pub data_rates: u64,
    /// MPDUs in these exchanges.
    pub mpdus: u64,
    /// The retransmissions among these MPDUs.
    pub repeated_mpdus: u64,
    /// Those of the attempts in a narrower channel than that of their mode, because a part of it
    /// was busy.
    pub narrower: u64,
    /// Those that left out a part of it.
    pub punctured: u64,
    /// Exchanges that began with a BlockAckReq.
    pub block_ack_requests: u64,
    /// Internal collisions that its EDCAFs lost.
    pub internal_collisions: u64,
    /// Packets that were discarded at the end of their lifetime.
    pub lifetime_drops: u64,
}

impl FrameCounters {
    /// Counts a data PSDU.
    #[inline]
    pub(crate) fn count_data(&mut self, rate: BitRate, mpdus: u16, repeated: u64) {
        self.data_attempts += 1;
        self.data_rates += rate.0;
        self.count_mpdus(mpdus, repeated);
    }

    /// Counts the MPDUs of a data PSDU.
    #[inline]
    pub(crate) fn count_mpdus(&mut self, mpdus: u16, repeated: u64) {
        self.mpdus += u64::from(mpdus);
        self.repeated_mpdus += repeated;
    }
}

/// Counters of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeCounters {
    pub(crate) exchanges: Counters,
    pub(crate) frames: FrameCounters,
}

impl Counters {
    /// An attempt begins; the outcome of the one before is known.
    pub(crate) fn begin(&mut self) {
        self.outcomes = self.attempts;
        self.attempts += 1;
    }

    /// Whether the outcome of the latest attempt is not known.
    pub(crate) fn is_open(&self) -> bool {
        self.outcomes < self.attempts
    }

    /// The outcome of the latest attempt is known.
    pub(crate) fn decide(&mut self) {
        self.outcomes = self.attempts;
    }
}

impl NodeCounters {
    /// Counts the packets whose service has ended, and reports them.
    pub(crate) fn settle(&mut self, node: u32, settled: &mut Vec<Settled>, out: &mut Vec<Command>) {
        if !settled.is_empty() {
            self.exchanges.decide();
        }
        for &Settled { ref packet, outcome, received } in &*settled {
            match outcome {
                MsduOutcome::Sent => self.exchanges.sent += 1,
                MsduOutcome::RetryLimit => self.exchanges.retry_drops += 1,
                MsduOutcome::Lifetime => self.frames.lifetime_drops += 1,
                MsduOutcome::Flushed => {}
            }
            out.push(Command::Done { node, packet: *packet, outcome, received });
        }
        settled.clear();
    }
}
