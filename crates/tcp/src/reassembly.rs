//! Data that arrived out of order, as sorted ranges that neither touch nor overlap.

/// Data that arrived out of order. A connection has few holes at a time. A small sorted vector
/// therefore suffices, and it keeps its storage.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
}

impl Reassembly {
    /// Whether no data is waiting.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many bytes are waiting.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    /// The ranges, lowest first, as (first, one past the last).
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().map(|run| (run.start, run.end))
    }

    /// The range that holds this byte; empty if none does.
    pub fn run_at(&self, byte: u64) -> (u64, u64) {
        let index = self.runs.partition_point(|run| run.end <= byte);
        self.runs.get(index).filter(|run| run.start <= byte).map_or((0, 0), |r| (r.start, r.end))
    }

    /// The first part of `start..end` that is waiting already; empty if there is none.
    pub fn overlap(&self, start: u64, end: u64) -> (u64, u64) {
        let index = self.runs.partition_point(|run| run.end <= start);
        let run = self.runs.get(index).filter(|run| run.start < end);
        run.map_or((0, 0), |run| (run.start.max(start), run.end.min(end)))
    }

    /// Adds `start..end`; returns whether any of it is new.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        // The ranges first..last touch or overlap the new one.
        let first = self.runs.partition_point(|run| run.end < start);
        let last = first + self.runs[first..].partition_point(|run| run.start <= end);
        if first == last {
            self.runs.insert(first, Run { start, end });
            return true;
        }
        let old = self.runs[first];
        if old.start <= start && end <= old.end {
            return false;
        }
        let merged = Run { start: start.min(old.start), end: end.max(self.runs[last - 1].end) };
        self.runs[first] = merged;
        self.runs.drain(first + 1..last);
        true
    }

    /// Removes the data below `next` and the range that follows `next` without a gap; returns one
    /// past its end.
    pub fn take_from(&mut self, next: u64) -> u64 {
        let taken = self.runs.partition_point(|run| run.start <= next);
        let end = self.runs.drain(..taken).next_back().map_or(next, |run| run.end);
        end.max(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn store(runs: &[(u64, u64)]) -> Reassembly {
        let mut store = Reassembly::default();
        for &(start, end) in runs {
            assert!(store.insert(start, end));
        }
        store
    }

    #[test]
    fn runs_that_touch_become_one() {
        let runs = |store: &Reassembly| store.runs().collect::<Vec<_>>();
        assert_eq!(runs(&store(&[(10, 20), (30, 40)])), [(10, 20), (30, 40)]);
        assert_eq!(runs(&store(&[(10, 20), (30, 40), (20, 30)])), [(10, 40)]);
        assert_eq!(runs(&store(&[(30, 40), (10, 35)])), [(10, 40)]);
        assert_eq!(runs(&store(&[(10, 20), (30, 40), (50, 60), (15, 55)])), [(10, 60)]);
    }

    #[test]
    fn what_is_there_already_is_not_new() {
        let mut store = store(&[(10, 20)]);
        assert!(!store.insert(10, 20) && !store.insert(12, 15) && !store.insert(7, 7));
        assert!(store.insert(12, 21));
        assert_eq!(store.len(), 11);
    }

    #[test]
    fn taking_stops_at_the_next_hole() {
        let mut store = store(&[(10, 20), (30, 40)]);
        assert_eq!(store.take_from(5), 5);
        assert_eq!(store.take_from(10), 20);
        assert_eq!(store.take_from(35), 40);
        assert!(store.is_empty());
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(
            segments in prop::collection::vec((0u64..60, 1u64..12), 0..40),
            next in 0u64..70,
        ) {
            let mut store = Reassembly::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (start, len) in segments {
                let new = (start..start + len).filter(|&b| bytes.insert(b)).count();
                prop_assert_eq!(store.insert(start, start + len), new > 0);
            }
            prop_assert_eq!(store.len(), bytes.len() as u64);
            let runs: Vec<_> = store.runs().collect();
            prop_assert!(runs.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let end = (next..200).find(|b| !bytes.contains(b)).unwrap();
            prop_assert_eq!(store.take_from(next), end);
            prop_assert_eq!(store.len(), bytes.range(end..).count() as u64);
        }
    }
}
