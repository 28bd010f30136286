//! The general medium: where all hear all it is the cell, to the nanosecond; where they do not,
//! it shows what hidden nodes, exposed nodes, capture and distance do.

mod drive;
mod identity;
mod modern;
mod physics;
#[path = "../dcf/simulator.rs"]
mod simulator;
#[path = "../dcf/workload.rs"]
mod workload;

use kernel::Instant;
use wifi::mac::StepKind;
use wifi::{Counters, Outcome};

/// What went over the air and what came of it.
#[derive(Debug, Default, PartialEq)]
struct Account {
    air: Vec<Aired>,
    /// When which node got which packet.
    delivered: Vec<(Instant, u32, u64)>,
    /// Per node, how the service of which packet ended, and whether its receiver has it.
    done: Vec<Vec<(u64, Outcome, bool)>>,
    counters: Vec<Counters>,
    windows: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Aired {
    /// A frame that nobody disturbed.
    Frame { node: u32, kind: StepKind, start: Instant, end: Instant },
    /// Frames that began at the same instant; `end` is the longest one's.
    Clash { nodes: Vec<u32>, start: Instant, end: Instant },
}
