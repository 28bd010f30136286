//! A discipline that is added as a file and a line: this one, and that of the tests' registry.

use super::fifo::Fifo;
use super::line::{Arrival, Line, Policy, Verdict};
use super::{Discipline, Limit, Queue, Site};
use kernel::Rng;
use settings::Settings;

/// Each n-th packet is the price of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct TollConfig {
    /// Each packet whose number is a multiple of this is dropped.
    #[setting(default = 2, range = 1..=1000)]
    pub every: u64,
    /// What it holds.
    #[setting(flatten)]
    pub limit: Limit,
}

impl Discipline for TollConfig {
    fn build(&self, _: Site, _: Rng) -> Box<dyn Queue> {
        Box::new(Line::new(Toll { every: self.every, passed: 0 }, self.limit))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

#[derive(Debug)]
struct Toll {
    every: u64,
    passed: u64,
}

impl Policy for Toll {
    fn enqueue(&mut self, _arrival: &Arrival, _waiting: &Fifo) -> Verdict {
        self.passed += 1;
        if self.passed.is_multiple_of(self.every) { Verdict::Drop } else { Verdict::Pass }
    }
}
