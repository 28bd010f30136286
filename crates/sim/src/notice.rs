//! What happens in a run, as observers are told of it.
//!
//! The world publishes a [`Notice`] for each thing that happens, mostly when it carries out a
//! command of a machine. The machines know nothing of observers, and observers change nothing.

use crate::flow::Side;
use crate::listed::listed;
use crate::medium::Medium;
use crate::topology::{Interface, RadioId, WireId};
use kernel::{Bytes, Duration, Instant};
use tcp::{Sender, TimerId};
use wifi::mac::Exchange;
use wifi::phy::Mode;
use wifi::space::Heard;
use wifi::{Cell, Outcome};
use wire::{FlowId, Packet};

/// Is told of what happens.
pub(crate) trait Observer {
    /// This happens now. An observer ignores what it does not want: implementations are inlined,
    /// so that a notice which nobody takes is never made.
    fn on(&mut self, now: Instant, notice: &Notice<'_>);
}

listed! {
    /// Why a packet was lost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum DropCause {
        /// The queue of a radio dropped it, for want of room or to signal congestion.
        Queue,
        /// The queue of a wired link did.
        WireQueue,
        /// A retry limit of the MAC.
        RetryLimit,
        /// The lifetime of a frame in the MAC.
        Lifetime,
        /// A broadcast that collided: no node sends it again.
        Broadcast,
        /// A wired link that loses packets.
        WireLoss,
    }
}

/// What happens.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "a notice tells all that the world knows, whoever reads it")]
pub(crate) enum Notice<'a> {
    /// The world takes its next event. The event before was at this instant.
    Time { before: Instant },

    /// A transport hands a packet to the network layer of its node.
    Sent { packet: &'a Packet },
    /// A packet is offered to the queue of an interface, which may drop it at once.
    Queued { at: Interface, packet: &'a Packet },
    /// The queue of a radio gives up a packet, which goes into service for this receiver; `None`
    /// is all.
    Dequeued { by: RadioId, to: Option<RadioId>, packet: &'a Packet },
    /// So many packets wait in the queue of an interface, those in service not counted.
    Waiting { at: Interface, packets: usize },
    /// The queue of an interface marks a packet instead of dropping it.
    Marked { at: Interface, packet: &'a Packet },
    /// A packet is lost.
    Dropped { at: Interface, packet: &'a Packet, cause: DropCause },
    /// A packet reaches the far end of a direction of a link.
    Crossed { wire: WireId, packet: &'a Packet },
    /// A packet comes up from the air, for the first time.
    Received { by: RadioId, packet: &'a Packet },
    /// The service of a packet at a radio ends: how its sender takes it, and whether the receiver
    /// has the packet.
    Served { by: RadioId, packet: &'a Packet, outcome: Outcome, received: bool },
    /// A packet is where it was sent to. A broadcast arrives once, at the first node that has it.
    Arrived { packet: &'a Packet },
    /// At the end of the run: a packet is at this interface, neither arrived nor lost; `None` is
    /// in service at some radio.
    Resident { at: Option<Interface>, packet: &'a Packet },

    /// The set of nodes that contend may have changed.
    Contention { medium: &'a Medium },
    /// An exchange or a collision takes the medium of a cell in which all hear all.
    ExchangeBegan { exchange: &'a Exchange, cell: &'a Cell },
    /// That medium is silent again.
    ExchangeEnded,
    /// An exchange takes airtime, or a collision: told of each radio that opens one, in a cell as
    /// it begins, in space as it ends. `arrived` is whether the data arrived.
    AirtimeUsed { by: RadioId, with: Option<RadioId>, used: Duration, arrived: bool },
    /// Frames have begun or ended on the air, and radios have followed these to their ends. What
    /// radios hear is told in space alone, once `World::listen` was called.
    Air { medium: &'a Medium, heard: &'a [Heard] },
    /// A radio sends to another in this mode from now on.
    Mode { by: RadioId, to: RadioId, mode: &'a Mode },

    /// A new connection replaces the flow's connection before.
    Renewed { flow: FlowId },
    /// A timer of a connection's end expires.
    Timer { flow: FlowId, side: Side, timer: TimerId },
    /// The state of a sender may have changed: it has taken a segment, or its timer has expired.
    Sender { flow: FlowId, sender: &'a Sender },
    /// A sender has measured a round-trip time.
    Rtt { flow: FlowId, sample: Duration },
    /// A receiver delivers bytes in order to its application.
    Delivered { flow: FlowId, bytes: Bytes },
    /// All data of a sender is acknowledged, and no more will be written.
    Acknowledged { flow: FlowId },
    /// One end of a connection is closed.
    Closed { flow: FlowId, side: Side },
    /// A source has the whole file for which it asked at this instant.
    Fetched { flow: FlowId, asked: Instant },

    /// The run ends.
    End,
}
