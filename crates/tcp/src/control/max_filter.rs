//! A windowed maximum filter over rounds.

use std::collections::VecDeque;

/// The maximum of the values of the last `rounds` rounds.
#[derive(Clone, Debug)]
pub(super) struct MaxFilter {
    pub(super) rounds: u64,
    /// Round and value: rounds ascend and values descend, so that the first is the maximum.
    seen: VecDeque<(u64, f64)>,
}

impl MaxFilter {
    pub(super) fn new(rounds: u64) -> Self {
        Self { rounds, seen: VecDeque::new() }
    }

    /// Adds a value of this round; rounds do not descend.
    pub(super) fn push(&mut self, round: u64, value: f64) {
        while self.seen.back().is_some_and(|&(_, last)| last <= value) {
            self.seen.pop_back();
        }
        if self.seen.back().is_none_or(|&(last, _)| last < round) {
            self.seen.push_back((round, value));
        }
        while self.seen.front().is_some_and(|&(first, _)| first + self.rounds <= round) {
            self.seen.pop_front();
        }
    }

    pub(super) fn greatest(&self) -> Option<f64> {
        self.seen.front().map(|&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_the_last_rounds_is_known() {
        let mut filter = MaxFilter::new(3);
        assert_eq!(filter.greatest(), None);
        let pushed = [(1, 5.0), (1, 9.0), (1, 2.0), (2, 7.0), (3, 4.0), (4, 3.0), (5, 1.0)];
        let greatest = pushed.map(|(round, value)| {
            filter.push(round, value);
            filter.greatest().unwrap()
        });
        assert_eq!(greatest, [5.0, 9.0, 9.0, 9.0, 9.0, 7.0, 4.0]);
    }

    #[test]
    fn it_keeps_a_value_a_round_at_most() {
        let mut filter = MaxFilter::new(10);
        for n in 0..10_000_u64 {
            filter.push(n / 100, (n * 7919 % 1000) as f64);
        }
        assert!(filter.seen.len() <= 10);
    }
}
