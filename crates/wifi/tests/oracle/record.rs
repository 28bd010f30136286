//! What went over the air and what came of it.

use kernel::Instant;
use proptest::prelude::*;
use wifi::{Counters, FrameCounters, MsduOutcome};
use wire::{FrameKind, TrafficClass};

pub(crate) const CLASSES: [TrafficClass; 4] =
    [TrafficClass::Background, TrafficClass::BestEffort, TrafficClass::Video, TrafficClass::Voice];

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// In the order of their beginnings.
    pub(crate) air: Vec<OnAir>,
    /// When which node got which packet.
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    /// Per node, how the service of which packet ended, and whether its receiver has it.
    pub(crate) done: Vec<Vec<(u64, MsduOutcome, bool)>>,
    pub(crate) counters: Vec<(Counters, FrameCounters)>,
    /// Contention windows in the end, per node and class.
    pub(crate) windows: Vec<[u32; 4]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnAir {
    /// A frame that nobody disturbed.
    Frame { node: u32, kind: FrameKind, start: Instant, end: Instant },
    /// Frames that began at the same instant; `end` is the longest one's.
    Collision { nodes: Vec<u32>, start: Instant, end: Instant },
}

impl OnAir {
    pub(crate) fn start(&self) -> Instant {
        let (Self::Frame { start, .. } | Self::Collision { start, .. }) = self;
        *start
    }

    pub(crate) fn end(&self) -> Instant {
        let (Self::Frame { end, .. } | Self::Collision { end, .. }) = self;
        *end
    }

    /// The transmitter; the first one in a collision.
    pub(crate) fn first_node(&self) -> Option<u32> {
        match self {
            Self::Frame { node, .. } => Some(*node),
            Self::Collision { nodes, .. } => nodes.first().copied(),
        }
    }

    /// The kind of an undisturbed frame.
    pub(crate) fn kind(&self) -> Option<FrameKind> {
        match self {
            Self::Frame { kind, .. } => Some(*kind),
            Self::Collision { .. } => None,
        }
    }
}

/// Whether two records are the same; the first difference on the air says most.
pub(crate) fn compare(names: [&str; 2], a: &Record, b: &Record) -> Result<(), TestCaseError> {
    first_difference(names, &a.air, &b.air)?;
    first_difference(names, &a.delivered, &b.delivered)?;
    prop_assert_eq!(a, b, "{:?}", names);
    Ok(())
}

fn first_difference<T: std::fmt::Debug + PartialEq>(
    [x, y]: [&str; 2],
    a: &[T],
    b: &[T],
) -> Result<(), TestCaseError> {
    let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) else { return Ok(()) };
    let line = |item: &T| format!("{item:?}\n");
    let before: String = a[at.saturating_sub(8)..at].iter().map(line).collect();
    let (a, b) = (line(&a[at]), line(&b[at]));
    Err(TestCaseError::fail(format!("{before}{x}: {a}{y}: {b}")))
}
