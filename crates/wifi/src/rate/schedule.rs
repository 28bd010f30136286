//! Modes by the clock.

use super::{Choice, RateControl, TxReport};
use crate::phy::Mode;
use kernel::Instant;

/// Modes by the clock: each holds from its moment until the next one's.
#[derive(Clone, Debug)]
pub struct Schedule {
    first: Mode,
    changes: Vec<(Instant, Mode)>,
}

impl Schedule {
    /// Begins with `first`; `changes` may come in any order.
    pub fn new(first: Mode, mut changes: Vec<(Instant, Mode)>) -> Self {
        changes.sort_by_key(|(at, _)| *at);
        Self { first, changes }
    }

    /// The moment of the first change after `now`.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        self.changes.iter().map(|(at, _)| *at).find(|&at| at > now)
    }
}

impl RateControl for Schedule {
    fn select(&mut self, now: Instant, _attempt: u32) -> Choice {
        let past = self.changes.partition_point(|(at, _)| *at <= now);
        let mode = past.checked_sub(1).map_or(self.first, |last| self.changes[last].1);
        Choice::plain(mode)
    }

    fn on_report(&mut self, _now: Instant, _report: &TxReport) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11A;

    #[test]
    fn each_mode_holds_until_the_next() {
        let [slow, middle, fast] = [DOT11A.modes[0], DOT11A.modes[3], DOT11A.fastest()];
        let changes = vec![(Instant(200), slow), (Instant(100), fast)];
        let mut schedule = Schedule::new(middle, changes);
        let mut rate = |at| schedule.select(Instant(at), 0).mode;
        assert_eq!([rate(0), rate(99), rate(100), rate(199)], [middle, middle, fast, fast]);
        assert_eq!([rate(200), rate(u64::MAX)], [slow, slow]);
        assert_eq!(schedule.next_change(Instant(0)), Some(Instant(100)));
        assert_eq!(schedule.next_change(Instant(100)), Some(Instant(200)));
        assert_eq!(schedule.next_change(Instant(200)), None);
    }
}
