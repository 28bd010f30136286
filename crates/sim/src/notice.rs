//! Notices: the events of a run for its observers.
//!
//! The world publishes a [`Notice`] for each event, mostly when it executes a command of a state
//! machine. The state machines do not depend on observers, and observers do not change the run.
//!
//! The world is generic over one observer, and `observers.rs` composes meter, digest and checker: a
//! new observer is a field and a line there. Notices are inlined: one that nobody takes costs
//! nothing. A concrete observer type in the world was given up, because tests could then not record
//! notices.

use crate::flow::Side;
use crate::medium::Medium;
use crate::topology::{Interface, RadioId, WireId};
use kernel::{Bytes, Duration, Instant};
use net::route::RouteNote;
use tcp::{Sender, TimerId};
use wifi::mac::Exchange;
use wifi::phy::Mode;
use wifi::space::{AirUse, ReceivedFrame};
use wifi::watch::WatchRecord;
use wifi::{Cell, Mpdus, MsduOutcome};
use wire::{DropCause, Ecn, FlowId, Management, NodeId, Packet, PathId};

/// Receives the notices of a run.
pub(crate) trait Observer {
    /// An event occurs now. An observer ignores notices that it does not need. Implementations are
    /// inlined, so that an unread notice is never constructed.
    fn on(&mut self, now: Instant, notice: &Notice<'_>);
}

/// An event of a run.
#[derive(Clone, Copy, Debug)]
#[allow(
    dead_code,
    reason = "a notice has all fields that the world knows, even if no observer reads them"
)]
pub(crate) enum Notice<'a> {
    /// The world handles its next event. The previous event was at this instant.
    Time { before: Instant },

    /// A transport hands a packet to the network layer of its node. `sender` is the data sender of
    /// its connection.
    Sent { packet: &'a Packet, sender: Option<&'a Sender> },
    /// A packet is offered to the queue of an interface, which may drop it at once.
    Queued { at: Interface, packet: &'a Packet },
    /// A packet leaves the queue of a radio and enters service for this receiver; `None` is
    /// broadcast.
    Dequeued { by: RadioId, to: Option<RadioId>, packet: &'a Packet },
    /// What stands between queues and MACs has done this.
    Station(StationNote<'a>),
    /// The number of packets that wait in the queue of an interface, without those in service.
    Waiting { at: Interface, packets: usize },
    /// The queue of an interface marks a packet, which had this codepoint, instead of dropping it.
    Marked { at: Interface, packet: &'a Packet, before: Ecn },
    /// A packet is lost.
    Dropped { at: Interface, packet: &'a Packet, cause: DropCause },
    /// The transmission of a packet over a link direction begins; only in runs with a trace.
    Began { wire: WireId, packet: &'a Packet },
    /// A packet reaches the far end of a link direction.
    Crossed { wire: WireId, packet: &'a Packet },
    /// The MAC delivers a packet that another radio has sent, which is not a duplicate.
    Received { by: RadioId, from: RadioId, packet: &'a Packet },
    /// The service of a packet at a radio ends: the outcome at its transmitter, and whether the
    /// receiver has the packet.
    Served { by: RadioId, packet: &'a Packet, outcome: MsduOutcome, received: bool },
    /// A node that forwards for others has told this.
    Node { node: NodeId, note: NodeNote<'a> },
    /// A packet leaves the queue of a radio again without having been sent.
    Withdrawn { by: RadioId, packet: &'a Packet },
    /// A neighbour has received a packet, and the transmitter, which does not know, keeps it: there
    /// are two of it now.
    Copied { packet: &'a Packet },
    /// A packet reaches its destination. A broadcast arrives once, at the first node that receives
    /// it.
    Arrived { packet: &'a Packet },
    /// At the end of the run: a packet is at this interface, neither arrived nor lost; `None` is in
    /// service at a radio.
    Resident { at: Option<Interface>, packet: &'a Packet },
    /// At the end of the run: the service of a packet at this radio has not ended, whether the
    /// receiver has the packet or not.
    Serving { by: RadioId, packet: &'a Packet },

    /// The set of nodes with a frame to send may have changed.
    Contention { medium: &'a Medium },
    /// An exchange or a collision begins in a cell in which every node hears every other.
    ExchangeBegan { exchange: &'a Exchange, cell: &'a Cell },
    /// That medium is idle again.
    ExchangeEnded,
    /// A frame begins or has ended in a flat space, in which every node hears every other.
    AirUsed { used: &'a AirUse },
    /// An exchange or a collision uses airtime. The notice is published for each radio that begins
    /// one: in a cell at the beginning, in space at the end. `arrived` is whether the data arrived.
    AirtimeUsed { by: RadioId, with: Option<RadioId>, used: Duration, arrived: bool, mpdus: Mpdus },
    /// Frames have begun or ended on the air, and radios have received these to their ends.
    /// Receptions are reported only in space, and after a call of `World::listen`.
    Air { medium: &'a Medium, heard: &'a [ReceivedFrame] },
    /// The medium, which is watched, has recorded this.
    Watched { record: &'a WatchRecord },
    /// The medium will record nothing that begins before this instant.
    Complete { until: Instant },
    /// From now on a radio sends to another in this mode.
    Mode { by: RadioId, to: RadioId, mode: &'a Mode },

    /// A new connection replaces the flow's previous one.
    Renewed { flow: FlowId },
    /// A timer of an end of a connection expires.
    Timer { flow: FlowId, side: Side, timer: TimerId },
    /// The state of a sender may have changed: it has received a segment, or its timer has expired.
    Sender { flow: FlowId, sender: &'a Sender },
    /// A sender has measured a round-trip time.
    Rtt { flow: FlowId, sample: Duration },
    /// A receiver delivers bytes in order to its application.
    Delivered { flow: FlowId, bytes: Bytes },
    /// All data of a sender is acknowledged, and no more will be written.
    Acknowledged { flow: FlowId },
    /// One end of a connection is closed.
    Closed { flow: FlowId, side: Side },
    /// A source has received the whole file that it requested at this instant.
    Fetched { flow: FlowId, asked: Instant },

    /// The run ends.
    End,
}

/// What a node that forwards for others tells observers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeNote<'a> {
    /// It has this packet to send: its own, one that it forwards, or a message of routing or
    /// address resolution.
    Forwarded(&'a Packet),
    /// A note of its router. After a link failure, `in_range` is whether the neighbour is in range
    /// nevertheless.
    Route { note: RouteNote, in_range: bool },
    /// From now on packets may refer to this list of nodes.
    Path { id: PathId, nodes: &'a [NodeId] },
}

/// What the functions between queues and MACs tell observers.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "as of notices")]
pub(crate) enum StationNote<'a> {
    /// A radio passes a frame of the MAC without a packet to its MAC; a beacon was born at the
    /// TBTT.
    Frame { by: RadioId, packet: &'a Packet },
    /// An access point keeps a packet for a station that saves power, or a broadcast for all of
    /// them.
    Buffered { by: RadioId, to: Option<RadioId>, packet: &'a Packet },
    /// A radio has received a frame by which another one saves power, or wakes one that does.
    SavesPower { by: RadioId, from: RadioId, frame: Management },
    /// A radio receives and sends in this channel from now on.
    Tuned { radio: RadioId, channel: u16 },
    /// A station has sent a frame to this access point by which it leaves the one before.
    Left { station: RadioId, towards: RadioId },
    /// A station has received the response of this access point, which is its own from now on.
    Associated { station: RadioId, with: RadioId },
}
