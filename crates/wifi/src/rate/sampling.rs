//! The common parts of Minstrel and Minstrel-HT: success probabilities by mode, the order in which
//! modes are sampled, and retry chains.

use kernel::{Duration, Rng};

/// Weight of the old estimate in a new one.
const KEPT: f64 = 0.75;
/// A mode below this success probability has no throughput.
pub(super) const NEGLIGIBLE: f64 = 0.1;
/// A mode above this success probability needs no sample.
pub(super) const CERTAIN: f64 = 0.95;
/// The longest duration of all attempts in one mode.
const SEGMENT: Duration = Duration::from_millis(6);
/// The most attempts in one mode.
const MOST_ATTEMPTS: u64 = 7;

/// The statistics of a mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats {
    attempts: u32,
    successes: u32,
    /// Smoothed success probability; `None` before the first attempt.
    probability: Option<f64>,
    /// Updates since the last attempt.
    pub(super) idle: u32,
}

impl Stats {
    pub(super) fn count(&mut self, sent: u32, acked: u32) {
        self.attempts += sent;
        self.successes += acked.min(sent);
    }

    /// MPDUs sent since the last update.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Share of these that were acknowledged.
    pub(super) fn recent(&self) -> f64 {
        f64::from(self.successes) / f64::from(self.attempts.max(1))
    }

    /// Success probability, 0 if unknown.
    pub(super) fn probability(&self) -> f64 {
        self.probability.unwrap_or(0.0)
    }

    pub(super) fn update(&mut self) {
        if self.attempts == 0 {
            self.idle += 1;
            return;
        }
        let now = self.recent();
        self.probability =
            Some(self.probability.map_or(now, |old| KEPT * old + (1.0 - KEPT) * now));
        (self.attempts, self.successes, self.idle) = (0, 0, 0);
    }
}

/// The order in which modes are sampled: random permutations, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    order: Vec<usize>,
    next: usize,
}

impl Columns {
    const COUNT: usize = 10;

    /// Creates permutations of so many modes.
    pub(super) fn new(modes: usize, rng: &mut Rng) -> Self {
        let mut order = Vec::with_capacity(Self::COUNT * modes);
        for _ in 0..Self::COUNT {
            let first = order.len();
            order.extend(0..modes);
            // R. A. Fisher, F. Yates, 1938.
            for i in (1..modes).rev() {
                order.swap(first + i, first + rng.up_to(i as u32) as usize);
            }
        }
        Self { order, next: 0 }
    }

    /// The number of modes.
    pub(super) fn modes(&self) -> usize {
        self.order.len() / Self::COUNT
    }

    pub(super) fn next(&mut self) -> usize {
        let mode = self.order[self.next];
        self.next = (self.next + 1) % self.order.len();
        mode
    }
}

/// A retry chain: modes for the attempts of one frame, each with a number of attempts. The last
/// mode serves all further attempts.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    links: [(usize, u32); 4],
    len: usize,
}

impl Chain {
    pub(super) fn push(&mut self, mode: usize, attempts: u32) {
        self.links[self.len] = (mode, attempts);
        self.len += 1;
    }

    /// All modes, in the order in which they are tried.
    pub(super) fn modes(&self) -> impl Iterator<Item = usize> + '_ {
        self.links[..self.len].iter().map(|&(mode, _)| mode)
    }

    /// The mode of an attempt, counted from 0.
    pub(super) fn mode(&self, attempt: u32) -> usize {
        let mut before = 0;
        for &(mode, attempts) in &self.links[..self.len] {
            before += attempts;
            if attempt < before {
                return mode;
            }
        }
        self.links[self.len.saturating_sub(1)].0
    }
}

/// The number of attempts of this duration in a mode: fewer if the result is nearly certain.
pub(super) fn attempts_for(time: Duration, stats: &Stats) -> u32 {
    let fit = (SEGMENT.0 / time.0.max(1)).clamp(1, MOST_ATTEMPTS) as u32;
    let uncertain = (NEGLIGIBLE..=CERTAIN).contains(&stats.probability());
    if uncertain { fit } else { (fit / 2).clamp(1, 2) }
}

/// The indices of the two greatest values, the first among equals first. The second is the first
/// again if there is only one value.
pub(super) fn two_best(values: impl Iterator<Item = f64>) -> (usize, usize) {
    let mut best: Option<(usize, f64)> = None;
    let mut second: Option<(usize, f64)> = None;
    for (index, value) in values.enumerate() {
        if best.is_none_or(|(_, most)| value > most) {
            second = best;
            best = Some((index, value));
        } else if second.is_none_or(|(_, most)| value > most) {
            second = Some((index, value));
        }
    }
    let best = best.map_or(0, |(index, _)| index);
    (best, second.map_or(best, |(index, _)| index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Seed;

    #[test]
    fn estimates_forget_slowly() {
        let mut stats = Stats::default();
        stats.update();
        assert_eq!((stats.probability(), stats.idle), (0.0, 1));
        stats.count(10, 5);
        stats.update();
        assert_eq!((stats.probability(), stats.idle), (0.5, 0));
        stats.count(4, 4);
        stats.update();
        assert_eq!(stats.probability(), 0.625);
    }

    #[test]
    fn every_column_holds_every_mode_once() {
        let mut rng = Seed { root: 1, replication: 0 }.stream("test", 0);
        let mut columns = Columns::new(8, &mut rng);
        let mut seen = Vec::new();
        for _ in 0..10 {
            let mut column: Vec<usize> = (0..8).map(|_| columns.next()).collect();
            seen.push(column.clone());
            column.sort_unstable();
            assert!(column.into_iter().eq(0..8));
        }
        seen.dedup();
        assert!(seen.len() > 5, "columns differ");
        assert_eq!((0..8).map(|_| columns.next()).collect::<Vec<_>>(), seen[0], "begins anew");
    }

    #[test]
    fn a_chain_hands_over() {
        let mut chain = Chain::default();
        chain.push(5, 2);
        chain.push(3, 1);
        chain.push(0, 2);
        assert_eq!((0..7).map(|n| chain.mode(n)).collect::<Vec<_>>(), [5, 5, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn slow_modes_get_fewer_attempts() {
        let mut even = Stats::default();
        even.count(2, 1);
        even.update();
        let count = |ms| attempts_for(Duration::from_millis(ms), &even);
        assert_eq!([count(1), count(2), count(5), count(9)], [6, 3, 1, 1]);
        assert_eq!(attempts_for(Duration::from_micros(100), &even), 7);
        assert_eq!(attempts_for(Duration::from_micros(100), &Stats::default()), 2);
    }

    #[test]
    fn the_best_two() {
        assert_eq!(two_best([1.0, 3.0, 2.0, 3.0].into_iter()), (1, 3));
        assert_eq!(two_best([0.0, 0.0].into_iter()), (0, 1));
        assert_eq!(two_best([4.0].into_iter()), (0, 0));
    }
}
