//! What a medium is told, and how it talks to the world around it.

use crate::mac::{MsduOutcome, Settled};
use crate::phy::Mode;
use kernel::{Bytes, Duration, Instant, Ticket};
use wire::{Packet, TrafficClass};

/// The radio link between a station and the access point.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Mode of data frames, both directions, where no rate control says otherwise.
    pub mode: Mode,
    /// Probability that noise spoils a data frame, either direction; each of an A-MPDU by itself.
    pub data_loss: f64,
    /// Probability that noise spoils an ACK, a block ack or a request for it, either direction.
    pub ack_loss: f64,
}

/// What waits outside of the medium and can join a PSDU.
pub trait MsduSource {
    /// Takes out the next packet of this class that waits at `node` for the receiver `to`, if it is
    /// no larger than `most`.
    fn next(&mut self, node: u32, class: TrafficClass, to: u32, most: Bytes) -> Option<Packet>;
}

/// Nothing waits.
#[derive(Clone, Copy, Debug)]
pub struct NoMsduSource;

impl MsduSource for NoMsduSource {
    fn next(&mut self, _: u32, _: TrafficClass, _: u32, _: Bytes) -> Option<Packet> {
        None
    }
}

/// What a medium asks of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Call [`Cell::on_access`](crate::Cell::on_access) with this ticket.
    Access(Ticket),
    /// Call [`Cell::on_step`](crate::Cell::on_step) at this moment.
    Step(Instant),
    /// An exchange or a collision has begun: [`Cell::exchange`](crate::Cell::exchange) tells its
    /// frames.
    Began,
    /// The medium is silent again.
    Ended,
    /// An exchange takes airtime: told of each party that opens one, in a cell as it begins, in
    /// space as it ends.
    ExchangeSent {
        /// Who opened it.
        node: u32,
        /// With whom; `None` is a broadcast.
        peer: Option<u32>,
        /// From the begin of its first frame to the end of its last, or of the collision.
        used: Duration,
        /// Whether its data arrived; in space, as its sender knows it.
        arrived: bool,
    },
    /// A packet arrived at this node, for the first time.
    Deliver {
        /// Node that has it now.
        node: u32,
        /// The packet.
        packet: Packet,
    },
    /// A packet's service has ended; its node may be free to take the next.
    Done {
        /// The node.
        node: u32,
        /// The packet whose service ended.
        packet: Packet,
        /// How it ended, as the sender knows it.
        outcome: MsduOutcome,
        /// Whether the receiver has the packet.
        received: bool,
    },
    /// A node sends to another in this mode from now on.
    Mode {
        /// The node.
        node: u32,
        /// The other.
        peer: u32,
        /// The mode.
        mode: Mode,
    },
}

/// What a node did, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Times it began an exchange.
    pub attempts: u64,
    /// Attempts that met another node's.
    pub collisions: u64,
    /// Attempts that failed by noise.
    pub noise_losses: u64,
    /// Packets whose exchange succeeded.
    pub sent: u64,
    /// Packets given up at a retry limit.
    pub retry_drops: u64,
    /// Frames received again and filtered out.
    pub duplicates: u64,
}

/// What the functions of a node did, as counts of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Exchanges with data frames, whatever became of them: as many PPDUs, or attempts at them
    /// where no CTS came.
    pub data_attempts: u64,
    /// The rates of their modes, summed up, in bit/s.
    pub data_rates: u64,
    /// Data frames in these exchanges, those in an A-MPDU one by one.
    pub mpdus: u64,
    /// Of these, frames that were on the air before.
    pub repeated_mpdus: u64,
    /// Exchanges that began with a block-ack request.
    pub block_ack_requests: u64,
    /// Times one of its categories had to yield to a higher one.
    pub internal_collisions: u64,
    /// Packets given up because their lifetime was over.
    pub lifetime_drops: u64,
}

/// What a node did so far.
#[derive(Debug, Default)]
pub(crate) struct NodeCounters {
    pub(crate) exchanges: Counters,
    pub(crate) frames: FrameCounters,
}

impl NodeCounters {
    /// Tells whose service at the node has ended.
    pub(crate) fn settle(&mut self, node: u32, settled: &mut Vec<Settled>, out: &mut Vec<Command>) {
        for Settled { packet, outcome, received } in settled.drain(..) {
            match outcome {
                MsduOutcome::Sent => self.exchanges.sent += 1,
                MsduOutcome::RetryLimit => self.exchanges.retry_drops += 1,
                MsduOutcome::Lifetime => self.frames.lifetime_drops += 1,
            }
            out.push(Command::Done { node, packet, outcome, received });
        }
    }
}
