//! What transmitters that follow the medium sense and win; `space/bandwidth.rs` has the rules.

use kernel::{Duration, Instant};
use std::collections::BTreeMap;
use wifi::space::OngoingFrame;

/// What was on the air, and what of its channel each transmitter had to leave out.
#[derive(Debug, Default)]
pub(super) struct Bandwidth {
    /// The frames on the air, and those that ended a short time ago.
    pub(super) recent: Vec<OngoingFrame>,
    /// By node: the centres in MHz of what of its channel was busy when it won its TXOP.
    busy: BTreeMap<u32, Vec<f64>>,
}

impl Bandwidth {
    /// A node wins a TXOP while these parts of its channel are busy.
    pub(super) fn on_win(&mut self, node: u32, busy: Vec<f64>) {
        self.busy.insert(node, busy);
    }

    /// Which of these parts was busy when the node won its TXOP, if any.
    pub(super) fn was_busy(&self, node: u32, occupied: &[f64]) -> Option<f64> {
        let busy = self.busy.get(&node).into_iter().flatten();
        busy.copied().find(|centre| occupied.contains(centre))
    }

    /// A frame begins. Frames are kept for this time after their end.
    pub(super) fn on_begin(&mut self, now: Instant, frame: &OngoingFrame, kept: Duration) {
        self.recent.retain(|other| other.end + kept > now);
        self.recent.push(*frame);
    }
}
