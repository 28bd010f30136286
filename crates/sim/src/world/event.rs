//! The events of a run, and their order at one instant.

use crate::flow::TcpTimer;
use crate::look::Look;
use crate::topology::{RadioId, WireId};
use crate::traffic::SourceTimer;
use kernel::Ranked;
use net::LinkTimer;
use net::node;
use wifi::station::Function;
use wire::{FlowId, NodeId};

/// The events of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// The transmission of a data frame or an exchange ends.
    AirStep,
    /// A packet arrives over this link direction, or its transmitter becomes idle.
    Wire(WireId, LinkTimer),
    /// A timer of a TCP sender or receiver, and its generation.
    Tcp(TcpTimer, u32),
    /// A timer of a node that forwards.
    Node { node: NodeId, timer: node::TimerId, generation: u32 },
    /// A timer of a function of a radio.
    Radio { radio: RadioId, function: Function, generation: u32 },
    /// A timer of a traffic source, or of the other end that replies to it.
    Source(FlowId, SourceTimer),
    /// The earliest back-off of the cell ends.
    Access { generation: u32 },
    /// The caller reads the state of the world.
    Look(Look),
    /// The run ends.
    End,
}

impl Ranked for Event {
    /// The rank of events at one instant: first frames end, then packets arrive and timers expire,
    /// then back-offs end and frames begin. Measurement comes last.
    fn rank(&self) -> u8 {
        match self {
            Self::AirStep => 0,
            Self::Wire(..) => 1,
            Self::Tcp(..) | Self::Node { .. } | Self::Radio { .. } => 2,
            Self::Source(_, SourceTimer::Own | SourceTimer::Reply) => 3,
            Self::Source(_, SourceTimer::Admission) => 4,
            Self::Access { .. } => 5,
            Self::Look(Look::Probes | Look::Step) => 6,
            Self::Look(Look::Batch) => 7,
            Self::End => 8,
        }
    }
}
