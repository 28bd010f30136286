//! The samples of Minstrel-HT in Linux 6 (`minstrel_ht_get_sample_rate`, since 2021): candidates of
//! three kinds, of which at most one is sampled every 20 ms.

use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// The kinds of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The next faster mode of a group than the one with the best throughput.
    Next,
    /// Any mode that is faster than all in use.
    Jump,
    /// A mode between the fastest and the slowest in use that may fail.
    Slow,
}

/// The order in which the kinds take turns.
const TURNS: [Kind; 6] = [Kind::Next, Kind::Jump, Kind::Next, Kind::Jump, Kind::Next, Kind::Slow];
/// The least time between two samples (`MINSTREL_SAMPLE_INTERVAL`).
const INTERVAL: Duration = Duration::from_millis(20);
/// The most candidates of a kind (`MINSTREL_SAMPLE_RATES`).
pub(super) const MOST: usize = 5;

/// The candidates of a link, by kind, and whose turn it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    kinds: [VecDeque<usize>; 3],
    turn: usize,
    next_at: Instant,
}

impl Candidates {
    /// Replaces the candidates of a kind by the first ones of these.
    pub(super) fn refill(&mut self, kind: Kind, modes: impl IntoIterator<Item = usize>) {
        let own = &mut self.kinds[kind as usize];
        own.clear();
        own.extend(modes.into_iter().take(MOST));
    }

    /// The mode to sample now, if one is due. Without a candidate the turn is lost.
    pub(super) fn take(&mut self, now: Instant) -> Option<usize> {
        if now < self.next_at {
            return None;
        }
        self.next_at = now + INTERVAL;
        let kind = TURNS[self.turn];
        self.turn = (self.turn + 1) % TURNS.len();
        self.kinds[kind as usize].pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_take_turns_every_20_ms() {
        let mut candidates = Candidates::default();
        candidates.refill(Kind::Next, [1, 2, 3]);
        candidates.refill(Kind::Jump, [11, 12, 13, 14, 15, 16]);
        candidates.refill(Kind::Slow, [21]);
        let mut at = |ms| candidates.take(Instant::ZERO + Duration::from_millis(ms));
        assert_eq!(
            [0, 19, 20, 40, 60, 80].map(&mut at),
            [Some(1), None, Some(11), Some(2), Some(12), Some(3)]
        );
        assert_eq!([100, 120, 140].map(&mut at), [Some(21), None, Some(13)], "no next is left");
        assert_eq!(candidates.kinds[Kind::Jump as usize].len(), 2, "at most five");
    }
}
