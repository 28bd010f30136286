//! What went over the air of a cell by DCF.

use kernel::Instant;
use proptest::prelude::*;
use wifi::mac::StepKind;
use wifi::{Counters, MsduOutcome};

/// What went over the air and what came of it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Account {
    pub(crate) air: Vec<ExchangeSent>,
    /// When which node got which packet.
    pub(crate) delivered: Vec<(Instant, u32, u64)>,
    /// Per node, how the service of which packet ended, and whether its receiver has it.
    pub(crate) done: Vec<Vec<(u64, MsduOutcome, bool)>>,
    pub(crate) counters: Vec<Counters>,
    pub(crate) windows: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeSent {
    /// A frame that nobody disturbed.
    Frame { node: u32, kind: StepKind, start: Instant, end: Instant },
    /// Frames that began at the same instant; `end` is the longest one's.
    Clash { nodes: Vec<u32>, start: Instant, end: Instant },
}

/// Whether two accounts are the same; the first difference on the air says most.
pub(crate) fn compare(names: [&str; 2], a: &Account, b: &Account) -> Result<(), TestCaseError> {
    if let Some(at) = a.air.iter().zip(&b.air).position(|(a, b)| a != b) {
        let line = |aired: &ExchangeSent| format!("{aired:?}\n");
        let story: String = a.air[at.saturating_sub(6)..at].iter().map(line).collect();
        let ([x, y], a, b) = (names, line(&a.air[at]), line(&b.air[at]));
        return Err(TestCaseError::fail(format!("{story}{x}: {a}{y}: {b}")));
    }
    prop_assert_eq!(a, b);
    Ok(())
}
