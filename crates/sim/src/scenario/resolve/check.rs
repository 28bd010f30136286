//! The collector of faults, and the rules that many keys share.

use crate::plan::Plan;
use crate::scenario::Issue;
use kernel::Bytes;
use settings::Faults;
pub(super) use settings::number;
use std::fmt::Display;

/// Faults found so far.
#[derive(Debug, Default)]
pub(super) struct Check {
    faults: Faults,
    /// How many of them are numbers out of range; no other fault is reported at their paths.
    of_range: usize,
}

impl Check {
    /// Continues after numbers were found out of range.
    pub(super) fn after(faults: Faults) -> Self {
        Self { of_range: faults.0.len(), faults }
    }

    pub(super) fn fault(&mut self, path: impl Display, message: impl Into<String>) {
        let path = path.to_string();
        if !self.is_out_of_range(&path) {
            self.faults.fault(path, message);
        }
    }

    /// Whether the number at this path was found out of range.
    pub(super) fn is_out_of_range(&self, path: &str) -> bool {
        self.faults.0[..self.of_range].iter().any(|known| known.path == path)
    }

    /// The plan, if there are no faults.
    pub(super) fn finish(self, plan: Plan) -> Result<Plan, Vec<Issue>> {
        if self.found_nothing() { Ok(plan) } else { Err(self.faults.0) }
    }

    pub(super) fn found_nothing(&self) -> bool {
        self.faults.0.is_empty()
    }

    /// A whole number from `low` to `high`.
    pub(super) fn whole(&mut self, path: impl Display, value: u64, low: u64, high: u64) -> u64 {
        if !(low..=high).contains(&value) {
            self.fault(path, format!("must be from {low} to {high}, is {value}"));
        }
        value.clamp(low, high)
    }

    /// An amount of data from `low` to `high` bytes.
    pub(super) fn bytes(&mut self, path: impl Display, value: u64, low: u64, high: u64) -> Bytes {
        if !(low..=high).contains(&value) {
            self.fault(path, format!("must be from {low} to {high} bytes, is {value}"));
        }
        Bytes(value.clamp(low, high))
    }
}
