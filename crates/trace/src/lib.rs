//! The trace of a run: records of every frame, packet and segment, and the file formats in which
//! they are written.
//!
//! A run hands its records to a [`Sink`] one at a time, in the order of [`Record::at`]. Each format
//! is a sink in a file of its own; it writes as records arrive, and keeps bounded state. Nothing
//! here knows how a run produces its records.

mod air;
pub mod columns;
#[cfg(test)]
mod examples;
pub mod format;
mod network;
mod packet;
pub mod pcapng;
mod perfetto;
mod route;
mod segment;
mod tape;
mod timeline;
mod words;

pub use air::{
    Air, AirFile, AirOptions, Counts, Found, FrameRow, Life, MpduRow, PacketRow, Query, SegmentRow,
    Series, Step,
};
pub use network::{FlowInfo, Network, NodeInfo, RadioInfo, RadioRole, Transport, WireInfo};
pub use packet::{PacketEvent, PacketStep};
pub use perfetto::{Perfetto, PerfettoOptions};
pub use route::{RouteEvent, RouteStep};
pub use segment::{SegmentEvent, SegmentRecord, SenderState};
pub use tape::{Tape, TapeFlow, TapePacket, TapeWriter};
pub use timeline::{Timeline, TimelineOptions};

pub use wire::{
    BlockAck, DropCause, Format, Frame, FrameContent, FrameKind, FrameLoss, FrameMode,
    FrameOutcome, Mpdu, Place, Wait, WaitKind,
};

use kernel::Instant;
use std::io;
use wire::{NodeId, PathId};

/// One record of a trace.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A PPDU.
    Frame(&'a Frame),
    /// An interval in which an EDCAF waits for the medium, or a node's NAV is set.
    Wait(&'a Wait),
    /// A step on the way of a packet.
    Packet(&'a PacketEvent),
    /// A segment leaves or reaches an end of its connection.
    Segment(&'a SegmentEvent),
    /// An event of a router.
    Route(&'a RouteEvent),
}

impl Record<'_> {
    /// The instant by which records are ordered: when a frame or a wait begins, when a packet or a
    /// segment does something.
    pub fn at(&self) -> Instant {
        match self {
            Self::Frame(frame) => frame.start,
            Self::Wait(wait) => wait.start,
            Self::Packet(event) => event.at,
            Self::Segment(event) => event.at,
            Self::Route(event) => event.at,
        }
    }
}

/// Receives the records of a run in the order of [`Record::at`].
pub trait Sink: Send {
    /// The next record.
    fn on(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// From now on packets may refer to this list of nodes. Lists come in the order of their ids.
    fn on_path(&mut self, _id: PathId, _nodes: &[NodeId]) {}

    /// The run has ended: writes what is still pending. Called once, unless writing has failed.
    fn finish(&mut self) -> io::Result<()>;
}
