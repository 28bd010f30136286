//! Stations whose slots begin at another instant than those of the others.

use super::{Contention, Count, Floor};
use kernel::{Duration, Instant};
use std::ops::Range;

impl Contention {
    /// In the idle period that begins, `station` counts its own slots: from `start` if its
    /// interframe space is a DIFS, else from the end of its interframe space.
    pub(crate) fn count_separately(&mut self, station: u32, start: Instant) {
        let spacing = self.clock_of(&self.contenders[station as usize]).spacing;
        self.start_own_count(station, Self::spaced(self.slot, spacing, start));
    }

    /// In the idle period that begins, `stations` count their own slots and have the NAV of all
    /// others. They do not start before the end of an interframe space after the NAV, and a frame
    /// that arrives before the NAV ends backs off.
    pub(crate) fn count_separately_after_nav(
        &mut self,
        stations: Range<u32>,
        start: Instant,
        difs: Duration,
    ) {
        for station in stations.clone() {
            self.count_separately(station, start.max(self.reserved_until + difs));
        }
        self.nav_bound = stations;
    }

    /// As [`Self::count_separately`], but the slots do not begin before `at`.
    pub(crate) fn count_separately_after(&mut self, station: u32, at: Instant, start: Instant) {
        let spacing = self.clock_of(&self.contenders[station as usize]).spacing;
        let spaced = Self::spaced(self.slot, spacing, start);
        if at > Instant::ZERO {
            self.floors.push(Floor { station, at, after_difs: start });
        }
        self.start_own_count(station, at.max(spaced));
    }

    fn start_own_count(&mut self, station: u32, start: Instant) {
        let contender = &mut self.contenders[station as usize];
        let clock = &self.clocks[usize::from(contender.clock)];
        let slots = match contender.count {
            Count::Shared { expiry, round } => {
                // Under EDCA, the slot in which the busy period began may have been the last one of
                // the back-off.
                let pending = contender.waiting || expiry > clock.elapsed || round == clock.round;
                pending.then(|| expiry.saturating_sub(clock.elapsed))
            }
            Count::Done => None,
            Count::Suspended { start: Instant::ZERO, slots } => {
                contender.count = Count::Suspended { start, slots };
                return self.own.push(station);
            }
            Count::Own { .. } | Count::Immediate(_) | Count::Suspended { .. } => return,
        };
        contender.count = Count::Own { start, slots };
        self.own.push(station);
    }
}
