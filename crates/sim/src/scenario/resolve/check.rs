//! The collector of faults, and the rules that many keys share.

use crate::plan::Plan;
use crate::scenario::Issue;
use kernel::Bytes;
pub(super) use settings::number;
use settings::{Faults, Said};
use std::fmt::Display;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A run.
    Run,
    /// To show the network: flows may lack a path.
    Show,
    /// Its faults alone. The files that the scenario names are not opened: it may be known only
    /// later where they are, and whether they may be read.
    Faults,
}

/// A fault, if it is one. Of several rules of a key each is told, and not the first alone.
pub(super) fn when(is: bool, what: impl Into<String>, remedy: impl Into<String>) -> Option<Said> {
    is.then(|| Said::new(what, remedy))
}

/// A fault, if both are given: this key or table, and another with which it is not supported.
pub(super) fn beside(is: bool, other: &str) -> Option<Said> {
    when(is, format!("is not supported together with {other}"), "remove either")
}

/// Faults found so far.
#[derive(Debug)]
pub(super) struct Check {
    faults: Faults,
    /// Whether the files that a scenario names are opened.
    pub(super) opens_files: bool,
    /// Whether the scenario must send something.
    pub(super) needs_flows: bool,
}

impl Check {
    pub(super) fn new(aim: Aim) -> Self {
        Self {
            faults: Faults::default(),
            opens_files: aim != Aim::Faults,
            needs_flows: aim != Aim::Show,
        }
    }

    pub(super) fn fault(&mut self, path: impl Display, said: impl Into<Said>) {
        self.faults.fault(path, said);
    }

    /// Tells each of these faults at a path; returns whether there is one.
    pub(super) fn refuse(
        &mut self,
        path: impl Display,
        faults: impl IntoIterator<Item = Option<Said>>,
    ) -> bool {
        let before = self.faults.0.len();
        faults.into_iter().flatten().for_each(|said| self.fault(&path, said));
        self.faults.0.len() > before
    }

    pub(super) fn add(&mut self, issue: Issue) {
        self.faults.0.push(issue);
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
