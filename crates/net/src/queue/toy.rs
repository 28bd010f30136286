//! A queue discipline for the test of extensions: it drops every n-th packet.

use super::fifo::Fifo;
use super::line::{Arrival, Line, Policy, Verdict};
use super::{Discipline, Limit, OutputLink, Queue};
use kernel::Rng;
use settings::Settings;

/// A queue that drops every n-th packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct ToyQueueConfig {
    /// Each packet whose number is a multiple of this is dropped.
    #[setting(default = 2, range = 1..=1000)]
    pub every: u64,
    /// The limits.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for ToyQueueConfig {
    fn build(&self, _: OutputLink, _: Rng) -> Box<dyn Queue> {
        Box::new(Line::new(Toy { every: self.every, passed: 0 }, self.limit))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

#[derive(Debug)]
struct Toy {
    every: u64,
    passed: u64,
}

impl Policy for Toy {
    fn enqueue(&mut self, _arrival: &Arrival, _waiting: &Fifo) -> Verdict {
        self.passed += 1;
        if self.passed.is_multiple_of(self.every) { Verdict::Drop } else { Verdict::Pass }
    }
}
