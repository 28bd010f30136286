//! Contention in a carrier-sense domain in which each station receives all others.
//!
//! A back-off is an expiry on one shared clock that counts idle slots. The clock stops while the
//! medium is busy, so that freezing and resuming back-offs costs nothing. A station whose slots
//! begin at another instant than those of the others (it collided and waits for a timeout, or could
//! not decode a frame and waits for an EIFS) counts its own slots until the next busy period and
//! then returns to the shared clock. One transmission costs O(log contenders), an idle slot
//! nothing. Under EDCA each AIFSN has a clock, and all clocks share one slot grid.
//!
//! Where nodes receive different things, `Space` senses the medium for each node behind the same
//! commands. A DCF and EDCA written slot by slot from the standard's text
//! (`crates/wifi/tests/oracle`), in which the DCF is one access function with its own rule of which
//! slots count, agree with both media to the nanosecond.

mod separate;
mod suspended;

use super::counting::{BusySlot, Counting};
use super::{IdleAccess, Timing};
use kernel::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The progress of a station's back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// No back-off is pending: the station needs only an interframe space before it transmits.
    Done,
    /// The back-off expires when the shared clock has counted `expiry` slots and an interframe
    /// space has ended since the busy period `round`, in which it was drawn. A back-off of zero
    /// slots is pending until then.
    Shared { expiry: u64, round: u64 },
    /// The station counts `slots` from its own `start` until the medium is next busy. `None`: no
    /// back-off is pending.
    Own { start: Instant, slots: Option<u64> },
    /// No back-off is pending and the medium is idle: the station transmits at this instant if the
    /// medium stays idle.
    Immediate(Instant),
    /// The station does not contend. A pending back-off keeps the slots that are left. If the
    /// medium is idle, its slots begin at `start`, or with those of the others if that is zero.
    Suspended { start: Instant, slots: Option<u64> },
}

#[derive(Clone, Copy, Debug)]
struct Contender {
    count: Count,
    /// Whether a frame waits for the end of the back-off.
    waiting: bool,
    /// The index of the shared clock that the station uses.
    clock: u8,
}

/// The shared clock of all stations with the same interframe space.
#[derive(Debug)]
struct Clock {
    /// Slots of the interframe space after its SIFS: 2 in DCF, the AIFSN in EDCA.
    spacing: u32,
    /// When the next slot begins, if the medium stays idle.
    start: Instant,
    /// Slots counted up to `start`.
    elapsed: u64,
    /// The number of busy periods that began after a full interframe space.
    round: u64,
    /// Expiries of stations with a frame. An entry is void if the station's count or its clock
    /// differs.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Clock {
    fn new(spacing: u32, start: Instant, stations: usize) -> Self {
        let heap = BinaryHeap::with_capacity(stations + 8);
        Self { spacing, start, elapsed: 0, round: 0, heap }
    }

    /// Slots counted at `now`, if the medium is idle.
    fn at(&self, now: Instant, slot: Duration) -> u64 {
        self.elapsed + now.since(self.start) / slot
    }

    /// The earliest expiry of those who use this clock, the `own`-th. Removes void entries.
    fn first_expiry(&mut self, own: u8, contenders: &[Contender]) -> Option<u64> {
        while let Some(&Reverse((expiry, station))) = self.heap.peek() {
            let Contender { count, waiting, clock } = contenders[station as usize];
            let is_own = waiting && clock == own;
            if is_own && matches!(count, Count::Shared { expiry: e, .. } if e == expiry) {
                return Some(expiry);
            }
            self.heap.pop();
        }
        None
    }
}

/// Contention among stations that all receive each other. Under EDCA, each EDCAF of a node is a
/// station here. Interframe spaces differ by whole slots, so that one clock serves all stations
/// with the same interframe space, and all slots lie on one grid.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: Duration,
    /// DIFS if a frame that arrives while the medium is idle needs a back-off, whose slots begin a
    /// DIFS later.
    arrival_space: Option<Duration>,
    busy_slot: BusySlot,
    clocks: Vec<Clock>,
    /// Whether a transmission is on the air.
    busy: bool,
    /// End of the NAV: virtual carrier sense reports a busy medium until then.
    reserved_until: Instant,
    /// Stations that count their own slots and have the same NAV as all others.
    nav_bound: Range<u32>,
    contenders: Vec<Contender>,
    /// Stations whose count is `Own` or `Immediate`.
    own: Vec<u32>,
    floors: Vec<Floor>,
}

/// A station whose slots do not begin before an instant, whatever its interframe space is.
#[derive(Clone, Copy, Debug)]
struct Floor {
    station: u32,
    at: Instant,
    /// When they would begin after a DIFS.
    after_difs: Instant,
}

/// Slots of a DIFS after its SIFS (clause 10.3.7).
const DIFS_SLOTS: u32 = 2;

impl Contention {
    /// Creates the contention of stations with these interframe spaces, in slots after a SIFS. The
    /// medium becomes idle at time zero.
    pub(crate) fn new(spacings: &[u32], timing: &Timing, busy_slot: BusySlot) -> Self {
        let mut contention = Self {
            slot: timing.slot,
            arrival_space: (timing.idle_access == IdleAccess::Ns2).then(|| timing.difs()),
            busy_slot,
            clocks: Vec::new(),
            busy: false,
            reserved_until: Instant::ZERO,
            nav_bound: 0..0,
            contenders: Vec::with_capacity(spacings.len()),
            own: Vec::with_capacity(8),
            floors: Vec::new(),
        };
        for &spacing in spacings {
            let found = contention.clocks.iter().position(|clock| clock.spacing == spacing);
            let clock = found.unwrap_or_else(|| {
                let sharing = spacings.iter().filter(|&&other| other == spacing).count();
                contention.clocks.push(Clock::new(spacing, Instant::ZERO, sharing));
                contention.clocks.len() - 1
            });
            let count = Count::Done;
            contention.contenders.push(Contender { count, waiting: false, clock: clock as u8 });
        }
        contention.begin_idle(Instant::ZERO + timing.difs(), Instant::ZERO);
        contention
    }

    /// When the clock with this interframe space starts, if a clock with a DIFS starts at
    /// `difs_over`.
    fn spaced(slot: Duration, spacing: u32, difs_over: Instant) -> Instant {
        if spacing >= DIFS_SLOTS {
            difs_over + slot * u64::from(spacing - DIFS_SLOTS)
        } else {
            difs_over - slot * u64::from(DIFS_SLOTS - spacing)
        }
    }

    fn clock_of(&self, contender: &Contender) -> &Clock {
        &self.clocks[usize::from(contender.clock)]
    }

    /// Slots that the clock of a station has counted at `now`.
    fn clock(&self, now: Instant, contender: &Contender) -> u64 {
        let clock = self.clock_of(contender);
        if self.busy { clock.elapsed } else { clock.at(now, self.slot) }
    }

    /// A frame of `station` begins to wait. Returns whether the station must draw a back-off for it
    /// (clauses 10.3.4.2 and 10.23.2.2: the medium is busy and no back-off is pending, or
    /// [`IdleAccess::Ns2`]).
    #[allow(clippy::inline_always, reason = "it runs for each packet")]
    #[inline(always)]
    pub(crate) fn wait(&mut self, now: Instant, station: u32) -> bool {
        let pending = self.is_pending(now, station);
        let contender = &mut self.contenders[station as usize];
        let clock = &mut self.clocks[usize::from(contender.clock)];
        contender.waiting = true;
        match contender.count {
            Count::Shared { expiry, .. } if pending => {
                clock.heap.push(Reverse((expiry, station)));
                false
            }
            Count::Own { .. } if pending => false,
            Count::Own { start, .. }
                if self.nav_bound.contains(&station) && now < self.reserved_until =>
            {
                contender.count = Count::Own { start, slots: None };
                true
            }
            Count::Own { start, .. } => {
                if let Some(space) = self.arrival_space {
                    contender.count = Count::Own { start: start.max(now + space), slots: None };
                    true
                } else {
                    let at = Self::next_boundary(self.busy_slot, self.slot, start, now);
                    contender.count = Count::Immediate(at);
                    false
                }
            }
            Count::Done | Count::Shared { .. } if self.busy || now < self.reserved_until => true,
            Count::Done | Count::Shared { .. } => {
                self.own.push(station);
                if let Some(space) = self.arrival_space {
                    let start = clock.start.max(now + space);
                    contender.count = Count::Own { start, slots: None };
                    return true;
                }
                let at = Self::next_boundary(self.busy_slot, self.slot, clock.start, now);
                contender.count = Count::Immediate(at);
                false
            }
            Count::Immediate(_) | Count::Suspended { .. } => false,
        }
    }

    /// The earliest transmission of a frame that needs no back-off.
    fn next_boundary(rule: BusySlot, slot: Duration, start: Instant, now: Instant) -> Instant {
        match rule {
            BusySlot::Counted => start + slot * now.since(start).0.div_ceil(slot.0),
            BusySlot::Uncounted | BusySlot::Step => start.max(now),
        }
    }

    /// Whether a back-off of `station` is pending.
    fn is_pending(&self, now: Instant, station: u32) -> bool {
        let contender = &self.contenders[station as usize];
        match contender.count {
            Count::Done
            | Count::Immediate(_)
            | Count::Own { slots: None, .. }
            | Count::Suspended { slots: None, .. } => false,
            Count::Suspended { slots: Some(_), .. } => true,
            Count::Shared { expiry, round } => {
                let clock = self.clock_of(contender);
                let spaced = round != clock.round || !self.busy && now >= clock.start;
                expiry > self.clock(now, contender) || !spaced
            }
            Count::Own { start, slots: Some(slots) } => start + self.slot * slots > now,
        }
    }

    /// Starts a back-off of `slots` on the shared clock. The medium is busy, or was busy until now.
    pub(crate) fn back_off(&mut self, station: u32, slots: u32) {
        let contender = &mut self.contenders[station as usize];
        if let Count::Own { start, slots: None } = contender.count {
            contender.count = Count::Own { start, slots: Some(u64::from(slots)) };
            return;
        }
        if let Count::Suspended { slots: own, .. } = &mut contender.count {
            *own = Some(u64::from(slots));
            return;
        }
        debug_assert!(matches!(contender.count, Count::Done | Count::Shared { .. }));
        let clock = &mut self.clocks[usize::from(contender.clock)];
        let expiry = clock.elapsed + u64::from(slots);
        contender.count = Count::Shared { expiry, round: clock.round };
        if contender.waiting {
            clock.heap.push(Reverse((expiry, station)));
        }
    }

    /// A frame of `station` begins to wait, and the caller draws its back-off later.
    pub(crate) fn wait_for_draw(&mut self, station: u32) {
        self.contenders[station as usize].waiting = true;
    }

    /// The frame of `station` has left. A pending back-off continues without a frame.
    pub(crate) fn stop_waiting(&mut self, station: u32) {
        self.contenders[station as usize].waiting = false;
    }

    /// Idle slots that the first clock has counted up to the last busy period.
    pub(crate) fn idle_slots(&self) -> u64 {
        self.clocks.first().map_or(0, |clock| clock.elapsed)
    }

    /// When the next station may transmit, if the medium stays idle.
    pub(crate) fn next_access(&mut self) -> Option<Instant> {
        if self.busy {
            return None;
        }
        let mut first: Option<Instant> = None;
        for (clock, own) in self.clocks.iter_mut().zip(0..) {
            if let Some(expiry) = clock.first_expiry(own, &self.contenders) {
                let at = clock.start + self.slot * expiry.saturating_sub(clock.elapsed);
                first = Some(first.map_or(at, |first| first.min(at)));
            }
        }
        let own = self
            .own
            .iter()
            .filter(|&&s| self.contenders[s as usize].waiting)
            .filter_map(|&s| self.own_expiry(s))
            .min();
        match (first, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether a frame of `station` waits, and the slots that the station counts; `None` while the
    /// medium is busy, and if there was nothing to count when it became idle.
    pub(crate) fn counting(&self, station: u32) -> (bool, Option<Counting>) {
        let contender = &self.contenders[station as usize];
        let clock = self.clock_of(contender);
        let (start, slots) = match contender.count {
            Count::Shared { expiry, .. } => (clock.start, expiry.saturating_sub(clock.elapsed)),
            Count::Own { start, slots } => (start, slots.unwrap_or(0)),
            Count::Immediate(at) => (at, 0),
            Count::Done | Count::Suspended { .. } => return (contender.waiting, None),
        };
        let is_counting = !self.busy && (contender.waiting || slots > 0);
        (contender.waiting, is_counting.then_some(Counting { start, slots }))
    }

    fn own_expiry(&self, station: u32) -> Option<Instant> {
        match self.contenders[station as usize].count {
            Count::Own { start, slots } => Some(start + self.slot * slots?),
            Count::Immediate(at) => Some(at),
            Count::Done | Count::Shared { .. } | Count::Suspended { .. } => None,
        }
    }

    /// The medium becomes busy at `now`, and all back-offs freeze. Appends to `winners` the
    /// stations whose back-off ends at `now`: all of them transmit. Appends to `deferring` the
    /// stations that waited for the end of their interframe space without a back-off: they now must
    /// draw one.
    pub(crate) fn begin_busy(
        &mut self,
        now: Instant,
        winners: &mut Vec<u32>,
        deferring: &mut Vec<u32>,
    ) {
        self.busy = true;
        for (clock, own) in self.clocks.iter_mut().zip(0..) {
            clock.elapsed = clock.at(now, self.slot);
            // A station that counts its own slots may transmit first, while the others wait for an
            // EIFS.
            let spaced = now >= clock.start;
            clock.round += u64::from(spaced);
            while spaced && let Some(expiry) = clock.first_expiry(own, &self.contenders) {
                if expiry > clock.elapsed {
                    break;
                }
                let Some(Reverse((_, station))) = clock.heap.pop() else { break };
                self.contenders[station as usize].count = Count::Done;
                winners.push(station);
            }
            clock.elapsed += u64::from(match self.busy_slot {
                BusySlot::Uncounted => false,
                BusySlot::Counted => spaced,
                BusySlot::Step => true,
            });
        }
        for i in 0..self.own.len() {
            self.rejoin(now, self.own[i], winners, deferring);
        }
        self.own.clear();
        self.floors.clear();
        // The order of the lists must not depend on the clock that a station uses.
        winners.sort_unstable();
        deferring.sort_unstable();
    }

    /// Moves a station that counted its own slots back to the shared clock, or lets it transmit.
    fn rejoin(
        &mut self,
        now: Instant,
        station: u32,
        winners: &mut Vec<u32>,
        deferring: &mut Vec<u32>,
    ) {
        let contender = &mut self.contenders[station as usize];
        match contender.count {
            Count::Immediate(at) => {
                contender.count = Count::Done;
                if at <= now { winners.push(station) } else { deferring.push(station) }
            }
            Count::Own { start, slots: Some(slots) } => {
                let counted = now.since(start) / self.slot;
                if now >= start && counted >= slots {
                    contender.count = Count::Done;
                    if contender.waiting {
                        winners.push(station);
                    }
                    return;
                }
                let broken = match self.busy_slot {
                    BusySlot::Uncounted => false,
                    BusySlot::Counted => now >= start,
                    BusySlot::Step => true,
                };
                let left = slots.saturating_sub(counted);
                let clock = &mut self.clocks[usize::from(contender.clock)];
                let expiry = (clock.elapsed + left).saturating_sub(u64::from(broken));
                // If the interframe space of the station has ended, its back-off may be at its end.
                let round = clock.round.wrapping_sub(u64::from(now >= start));
                contender.count = Count::Shared { expiry, round };
                if contender.waiting {
                    clock.heap.push(Reverse((expiry, station)));
                }
            }
            Count::Own { slots: None, .. } => contender.count = Count::Done,
            Count::Suspended { slots, .. } => {
                contender.count = Count::Suspended { start: Instant::ZERO, slots };
            }
            Count::Done | Count::Shared { .. } => {}
        }
    }

    /// The medium becomes idle. The clock with a DIFS resumes at `start`, the other clocks at the
    /// ends of their interframe spaces. Virtual carrier sense holds until `reserved_until`.
    pub(crate) fn begin_idle(&mut self, start: Instant, reserved_until: Instant) {
        self.busy = false;
        self.reserved_until = reserved_until;
        self.nav_bound = 0..0;
        for clock in &mut self.clocks {
            clock.start = Self::spaced(self.slot, clock.spacing, start);
        }
    }
}

/// What a station with a frame or a back-off does while the medium is idle.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The NAV of the station has not expired.
    Reserved,
    /// The interframe space has not ended.
    Space,
    /// The station counts slots, of which so many are left.
    Slots(u64),
}

#[cfg(test)]
impl Contention {
    /// What `station` does at `now`; `None` if the medium is busy or nothing waits.
    pub(crate) fn watch(&self, now: Instant, station: u32) -> Option<Wait> {
        let contender = &self.contenders[station as usize];
        let (Contender { count, waiting, .. }, clock) = (*contender, self.clock_of(contender));
        if self.busy || !(waiting || self.is_pending(now, station)) {
            return None;
        }
        let (start, slots, nav_bound) = match count {
            Count::Shared { expiry, .. } => {
                (clock.start, expiry.saturating_sub(clock.elapsed), true)
            }
            Count::Own { start, slots } => (start, slots.unwrap_or(0), false),
            Count::Immediate(at) => (at, 0, at == clock.start),
            Count::Done | Count::Suspended { .. } => return None,
        };
        Some(match () {
            () if nav_bound && now < self.reserved_until => Wait::Reserved,
            () if now < start => Wait::Space,
            () => Wait::Slots(slots - now.since(start) / self.slot),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11B;
    use proptest::prelude::*;

    const SLOT: Duration = Duration::from_micros(20);
    const DIFS: Duration = Duration::from_micros(50);

    fn at(us: u64) -> Instant {
        Instant(us * 1000)
    }

    fn contention() -> Contention {
        Contention::new(&[2; 4], &Timing::of(&DOT11B), BusySlot::Uncounted)
    }

    fn busy(c: &mut Contention, us: u64) -> Vec<u32> {
        let (mut winners, mut deferring) = (vec![], vec![]);
        c.begin_busy(at(us), &mut winners, &mut deferring);
        for station in deferring {
            c.back_off(station, 6);
        }
        winners
    }

    #[test]
    fn who_withdraws_contends_anew_later() {
        let mut c = contention();
        // Without a back-off, and with one.
        c.wait(at(73), 1);
        c.back_off(2, 4);
        c.wait(at(73), 2);
        c.withdraw(1);
        c.withdraw(2);
        assert_eq!(c.next_access(), None);
        c.wait(at(95), 1);
        c.wait(at(95), 2);
        assert_eq!(c.next_access(), Some(at(95)));
        assert_eq!(busy(&mut c, 95), [1]);
        c.stop_waiting(1);
        c.begin_idle(at(2050), at(2000));
        // The slots that station 2 has counted in the meantime count.
        assert_eq!(c.next_access(), Some(at(2050) + SLOT * 2));
        assert_eq!(busy(&mut c, 2090), [2]);
    }

    #[test]
    fn a_frame_that_finds_the_medium_idle_for_difs_goes_at_once() {
        let mut c = contention();
        assert!(!c.wait(at(73), 1));
        assert_eq!(c.next_access(), Some(at(73)));
        assert_eq!(busy(&mut c, 73), [1]);
    }

    #[test]
    fn a_frame_that_finds_the_medium_idle_for_less_waits_for_difs() {
        let mut c = contention();
        assert!(!c.wait(at(10), 1));
        assert_eq!(c.next_access(), Some(at(50)));
    }

    #[test]
    fn in_ns2_a_frame_that_finds_the_medium_idle_backs_off_a_difs_after_its_arrival() {
        let timing = Timing { idle_access: IdleAccess::Ns2, ..Timing::of(&DOT11B) };
        let mut c = Contention::new(&[2; 4], &timing, BusySlot::Uncounted);
        assert!(c.wait(at(73), 1));
        c.back_off(1, 3);
        assert_eq!(c.next_access(), Some(at(73 + 50 + 60)));
        assert!(c.wait(at(100), 2));
        c.back_off(2, 0);
        assert_eq!(c.next_access(), Some(at(150)));
        assert_eq!(busy(&mut c, 150), [2]);
        c.begin_idle(at(1050), at(1000));
        // A slot of station 1 had passed at 143 us.
        assert_eq!(c.next_access(), Some(at(1050 + 40)));
        assert_eq!(busy(&mut c, 1090), [1]);
        // A back-off that runs when the frame arrives is not drawn again.
        c.stop_waiting(1);
        c.back_off(1, 8);
        c.begin_idle(at(2050), at(2000));
        assert!(!c.wait(at(2100), 1));
        assert_eq!(c.next_access(), Some(at(2050 + 160)));
    }

    #[test]
    fn a_frame_that_finds_the_medium_busy_needs_a_back_off() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        assert!(c.wait(at(200), 1));
        c.back_off(1, 3);
        c.stop_waiting(0);
        c.begin_idle(at(1050), at(1000));
        assert_eq!(c.next_access(), Some(at(1050 + 60)));
    }

    #[test]
    fn back_offs_freeze_while_the_medium_is_busy_and_the_broken_slot_does_not_count() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for (station, slots) in [(1, 5), (2, 2)] {
            c.wait(at(150), station);
            c.back_off(station, slots);
        }
        c.stop_waiting(0);
        c.begin_idle(at(1050), at(1000));
        assert_eq!(busy(&mut c, 1050 + 40), [2]);
        c.stop_waiting(2);
        c.begin_idle(at(2050), at(2000));
        assert_eq!(c.next_access(), Some(at(2050 + 60)), "three of five slots are left");
    }

    #[test]
    fn back_offs_that_end_together_send_together() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for station in [3, 1] {
            c.wait(at(150), station);
            c.back_off(station, 7);
        }
        c.begin_idle(at(1050), at(1000));
        assert_eq!(busy(&mut c, 1050 + 140), [1, 3]);
    }

    #[test]
    fn a_post_back_off_counts_without_a_frame() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.stop_waiting(0);
        c.begin_idle(at(1050), at(1000));
        c.back_off(0, 5);
        assert_eq!(c.next_access(), None);
        assert!(!c.wait(at(1050 + 45), 0), "two slots counted, the third has begun");
        assert_eq!(c.next_access(), Some(at(1050 + 100)));
    }

    #[test]
    fn a_post_back_off_that_is_over_allows_immediate_access() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.stop_waiting(0);
        c.begin_idle(at(1050), at(1000));
        c.back_off(0, 5);
        assert!(!c.wait(at(1200), 0));
        assert_eq!(c.next_access(), Some(at(1200)));
        let mut late = contention();
        late.back_off(0, 0);
        late.wait(at(60), 1);
        busy(&mut late, 60);
        assert!(late.wait(at(70), 0), "over, and the medium is busy: a new back-off");
    }

    #[test]
    fn a_station_that_counts_separately_returns_to_the_shared_clock() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for (station, slots) in [(0, 4), (1, 9)] {
            c.wait(at(150), station);
            c.back_off(station, slots);
        }
        c.begin_idle(at(1364), at(1000));
        c.count_separately(0, at(1230));
        assert_eq!(c.next_access(), Some(at(1230 + 80)), "ahead of the others' EIFS");
        c.wait(at(1300), 2);
        assert_eq!(busy(&mut c, 1310), [0]);
        c.stop_waiting(0);
        c.begin_idle(at(2050), at(2000));
        assert_eq!(c.next_access(), Some(at(2050 + 120)), "station 2 deferred and drew six slots");
    }

    #[test]
    fn virtual_carrier_sense_counts_as_busy() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.stop_waiting(0);
        c.begin_idle(at(1308), at(1258));
        assert!(c.wait(at(1100), 1));
        assert!(!c.wait(at(1260), 2));
    }

    #[test]
    fn a_station_that_defers_for_an_eifs_does_not_transmit_with_one_that_counts_separately() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for (station, slots) in [(0, 1), (1, 0)] {
            c.wait(at(150), station);
            c.back_off(station, slots);
        }
        c.begin_idle(at(1364), at(1000));
        c.count_separately(0, at(1130));
        assert_eq!(busy(&mut c, 1150), [0]);
        c.stop_waiting(0);
        c.begin_idle(at(2050), at(2000));
        assert_eq!(c.next_access(), Some(at(2050)));
        assert_eq!(busy(&mut c, 2050), [1]);
    }

    #[test]
    fn a_post_back_off_of_no_slots_is_pending_until_an_interframe_space_is_over() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.stop_waiting(0);
        c.back_off(0, 0);
        c.begin_idle(at(1050), at(1000));
        assert!(c.is_pending(at(1049), 0));
        assert!(!c.is_pending(at(1050), 0));
        c.wait(at(1060), 1);
        busy(&mut c, 1060);
        assert!(c.wait(at(1070), 0), "the interframe space has passed: a new back-off");
    }

    /// A reference station that counts its own slots: the slots left, and when the first of them
    /// begins.
    #[derive(Clone, Copy, Debug)]
    struct Counter {
        left: u64,
        start: Instant,
    }

    /// For each busy period its length; for each station a draw, and for some stations how much
    /// later than the others they count.
    type Round = (u64, [(u32, Option<u64>); 4]);

    fn round() -> impl Strategy<Value = Round> {
        let draw = (0u32..12, prop::option::weighted(0.3, 0u64..200));
        (100u64..2000, [draw.clone(), draw.clone(), draw.clone(), draw])
    }

    proptest! {
        /// Independent of interruptions, a station transmits when it has counted the slots that it
        /// drew, and all stations that end together are reported together.
        #[test]
        fn each_station_counts_its_own_slots(rounds in prop::collection::vec(round(), 1..60)) {
            let mut c = contention();
            let mut counters = [Counter { left: 0, start: at(0) }; 4];
            for station in 0..4 {
                c.wait(at(0), station);
            }
            let mut now = at(50);
            prop_assert_eq!(c.next_access(), Some(now));
            let mut winners = busy(&mut c, 50);
            for (length_us, draws) in rounds {
                let idle = now + Duration::from_micros(length_us);
                let start = idle + DIFS;
                c.begin_idle(start, idle);
                for (station, (counter, (slots, lag_us))) in
                    (0u32..).zip(counters.iter_mut().zip(draws))
                {
                    if winners.contains(&station) {
                        c.back_off(station, slots);
                        counter.left = u64::from(slots);
                    }
                    counter.start = start + Duration::from_micros(lag_us.unwrap_or(0));
                    if lag_us.is_some() {
                        c.count_separately(station, counter.start);
                    }
                }
                let end = |counter: &Counter| counter.start + SLOT * counter.left;
                now = counters.iter().map(end).min().unwrap();
                prop_assert_eq!(c.next_access(), Some(now));
                let expected: Vec<u32> =
                    (0..4).filter(|&s| end(&counters[s as usize]) == now).collect();
                let (mut deferring, mut named) = (vec![], vec![]);
                c.begin_busy(now, &mut named, &mut deferring);
                prop_assert_eq!(&named, &expected);
                prop_assert!(deferring.is_empty(), "all have drawn");
                for counter in &mut counters {
                    counter.left -= (now.since(counter.start) / SLOT).min(counter.left);
                }
                winners = named;
            }
        }
    }
}
