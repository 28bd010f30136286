//! The values of counters at the start of the window.

use super::catalogue::of;
use super::observable::{Counter, Observable};
use super::place::subjects;
use crate::observers::World;
use crate::plan::Plan;

/// The counters whose results are their increase in the window, in the order of the summary.
#[derive(Debug)]
pub(crate) struct Counters {
    all: Vec<(Counter, usize)>,
    /// Their values when the window opened.
    opened: Vec<u64>,
}

impl Counters {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut all = Vec::new();
        for subject in subjects(plan) {
            let counts = of(plan, subject).flat_map(Observable::counts);
            all.extend(counts.map(|count| (count, subject.index)));
        }
        Self { all, opened: Vec::new() }
    }

    /// The window opens.
    pub(crate) fn open(&mut self, world: &World) {
        self.opened = self.read(world);
    }

    /// Their current values.
    fn read(&self, world: &World) -> Vec<u64> {
        self.all.iter().map(|(counter, index)| counter.read(world, *index)).collect()
    }

    /// The increase of each in the window.
    pub(crate) fn added(&self, world: &World) -> impl Iterator<Item = u64> {
        self.read(world)
            .into_iter()
            .zip(&self.opened)
            .map(|(now, before)| now.saturating_sub(*before))
    }
}
