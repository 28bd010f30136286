//! Stations that do not contend for some time or no longer want to transmit, and those whose
//! interframe space changes.

use super::{Clock, Contention, Count, DIFS_SLOTS, Floor};
use kernel::Instant;
use std::cmp::Reverse;

impl Contention {
    /// From now on, `station` does not contend. A back-off that is pending keeps the slots that are
    /// left.
    pub(crate) fn suspend(&mut self, now: Instant, station: u32) {
        let contender = self.contenders[station as usize];
        let mut own = Instant::ZERO;
        let slots = match contender.count {
            Count::Suspended { .. } => return,
            Count::Shared { expiry, .. } => {
                let pending = contender.waiting || self.is_pending(now, station);
                let clock = self.clock_of(&contender);
                let counted = if self.busy { 0 } else { self.begun(now, clock.start) };
                pending.then(|| expiry.saturating_sub(clock.elapsed + counted))
            }
            Count::Own { start, slots } => {
                own = start;
                slots.map(|slots| slots.saturating_sub(self.begun(now, start)))
            }
            Count::Done | Count::Immediate(_) => None,
        };
        self.contenders[station as usize].count = Count::Suspended { start: own, slots };
    }

    /// Slots that have begun before `now`: that in progress counts, too, if the medium stays idle.
    fn begun(&self, now: Instant, start: Instant) -> u64 {
        now.since(start).0.div_ceil(self.slot.0)
    }

    /// `station` no longer wants to transmit what it waits to transmit. A pending back-off
    /// continues.
    pub(crate) fn withdraw(&mut self, station: u32) {
        let contender = &mut self.contenders[station as usize];
        contender.waiting = false;
        if matches!(contender.count, Count::Immediate(_)) {
            contender.count = Count::Done;
            self.own.retain(|&own| own != station);
        }
        let heap = &mut self.clocks[usize::from(contender.clock)].heap;
        heap.retain(|&Reverse((_, own))| own != station);
    }

    /// The frame of `station` has left, by no access of its own. Returns whether its back-off was
    /// at its last slot: it is over, unless another frame follows at once.
    pub(crate) fn leave(&mut self, station: u32) -> bool {
        let contender = &mut self.contenders[station as usize];
        let waiting = std::mem::replace(&mut contender.waiting, false);
        let elapsed = self.clocks[usize::from(contender.clock)].elapsed;
        waiting && matches!(contender.count, Count::Shared { expiry, .. } if expiry <= elapsed)
    }

    /// Another frame follows one that has left like that.
    pub(crate) fn follow(&mut self, station: u32) {
        let contender = &mut self.contenders[station as usize];
        contender.waiting = true;
        match contender.count {
            Count::Shared { expiry, .. } => {
                self.clocks[usize::from(contender.clock)].heap.push(Reverse((expiry, station)));
            }
            Count::Own { start, slots: None } => {
                contender.count = Count::Own { start, slots: Some(0) };
            }
            _ => {}
        }
    }

    /// A station that is suspended has another interframe space from now on, in slots after a SIFS.
    pub(crate) fn set_spacing(&mut self, station: u32, spacing: u32) {
        let found = self.clocks.iter().position(|clock| clock.spacing == spacing);
        let clock = found.unwrap_or_else(|| {
            let first = &self.clocks[0];
            let (slot, difs_over) = (self.slot, first.start);
            // Where a clock of a DIFS starts, then where this one does.
            let back = Self::spaced(slot, first.spacing, difs_over).since(difs_over);
            let difs_over = if first.spacing >= DIFS_SLOTS {
                Instant(difs_over.0 - back.0)
            } else {
                difs_over + slot * u64::from(DIFS_SLOTS - first.spacing)
            };
            let start = Self::spaced(slot, spacing, difs_over);
            self.clocks.push(Clock::new(spacing, start, 0));
            self.clocks.len() - 1
        });
        let contender = &mut self.contenders[station as usize];
        let before = self.clocks[usize::from(contender.clock)].spacing;
        contender.clock = clock as u8;
        if let Count::Suspended { start, .. } = &mut contender.count
            && *start > Instant::ZERO
        {
            let floor = self.floors.iter().find(|floor| floor.station == station).copied();
            let back = self.slot * u64::from(before.max(DIFS_SLOTS) - DIFS_SLOTS);
            let free = Floor { station, at: Instant::ZERO, after_difs: *start - back };
            let Floor { at, after_difs, .. } = floor.unwrap_or(free);
            *start = at.max(Self::spaced(self.slot, spacing, after_difs));
        }
    }

    /// A station that was suspended contends again, from the next boundary of a slot on. Returns
    /// whether its frame waits without a back-off.
    pub(crate) fn resume(&mut self, now: Instant, station: u32) -> bool {
        let contender = &mut self.contenders[station as usize];
        let Count::Suspended { start, slots } = contender.count else { return false };
        contender.count = Count::Done;
        let waiting = contender.waiting;
        let Some(slots) = slots else { return waiting };
        let clock = &mut self.clocks[usize::from(contender.clock)];
        if self.busy {
            let expiry = clock.elapsed + slots;
            contender.count = Count::Shared { expiry, round: clock.round };
            if waiting {
                clock.heap.push(Reverse((expiry, station)));
            }
        } else {
            let first = if start > Instant::ZERO { start } else { clock.start };
            let begun = now.since(first).0.div_ceil(self.slot.0);
            let start = first + self.slot * begun;
            contender.count = Count::Own { start, slots: Some(slots) };
            self.own.push(station);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{BusySlot, Timing};
    use crate::phy::DOT11AX;
    use kernel::Duration;

    const SLOT: Duration = Duration::from_micros(9);

    fn at(us: u64) -> Instant {
        Instant(us * 1000)
    }

    /// Two stations of AIFSN 3 that have backed off for these slots; the medium is idle from time
    /// 1000 µs on.
    fn idle(slots: [u32; 2]) -> Contention {
        let timing = Timing::of(&DOT11AX);
        let mut contention = Contention::new(&[3, 3], &timing, BusySlot::Counted);
        let (mut winners, mut deferring) = (Vec::new(), Vec::new());
        contention.begin_busy(at(100), &mut winners, &mut deferring);
        for (station, slots) in (0..).zip(slots) {
            assert!(contention.wait(at(200), station));
            contention.back_off(station, slots);
        }
        contention.begin_idle(at(1000) + timing.difs(), at(1000));
        contention
    }

    #[test]
    fn a_back_off_keeps_the_slots_that_are_left() {
        let mut contention = idle([10, 50]);
        let start = at(1000 + 16 + 27);
        assert_eq!(contention.next_access(), Some(start + SLOT * 10));
        contention.suspend(start + SLOT * 4, 0);
        assert_eq!(contention.next_access(), Some(start + SLOT * 50));
        // Of ten slots, six are left at the next boundary.
        let resumed = start + SLOT * 20 + Duration(1);
        assert!(!contention.resume(resumed, 0));
        assert_eq!(contention.next_access(), Some(start + SLOT * 27));
    }

    #[test]
    fn what_is_suspended_stays_so_over_busy_periods() {
        let mut contention = idle([10, 20]);
        contention.suspend(at(1000), 0);
        let start = at(1000 + 16 + 27);
        let (mut winners, mut deferring) = (Vec::new(), Vec::new());
        contention.begin_busy(start + SLOT * 20, &mut winners, &mut deferring);
        assert_eq!((winners, deferring), (vec![1], vec![]));
        assert!(!contention.resume(start + SLOT * 21, 0));
        contention.begin_idle(at(5000) + Duration::from_micros(34), at(5000));
        assert_eq!(contention.next_access(), Some(at(5000 + 16 + 27) + SLOT * 10));
    }

    #[test]
    fn a_longer_interframe_space_comes_before_the_slots_that_are_left() {
        let mut contention = idle([10, 50]);
        contention.suspend(at(1000), 0);
        contention.set_spacing(0, 8);
        contention.resume(at(1000), 0);
        assert_eq!(contention.next_access(), Some(at(1000 + 16) + SLOT * 18));
        contention.suspend(at(1000), 0);
        contention.set_spacing(0, 2);
        contention.resume(at(1000), 0);
        assert_eq!(contention.next_access(), Some(at(1000 + 16) + SLOT * 12));
    }

    #[test]
    fn a_frame_may_wait_without_a_back_off() {
        let timing = Timing::of(&DOT11AX);
        let mut contention = Contention::new(&[3], &timing, BusySlot::Counted);
        contention.suspend(at(500), 0);
        assert!(!contention.wait(at(600), 0));
        assert_eq!(contention.next_access(), None);
        assert!(contention.resume(at(700), 0));
        assert!(!contention.wait(at(700), 0), "the medium is idle");
        // 73 slots after an AIFS.
        assert_eq!(contention.next_access(), Some(at(700)));
    }
}
