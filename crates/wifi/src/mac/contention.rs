//! The idle-slot clock of a carrier-sense domain in which all stations hear all others.
//!
//! A back-off is an expiry on one shared clock that counts idle slots. Freezing and resuming then
//! cost nothing: the clock stands while the medium is busy. Stations whose slots begin at another
//! moment than everybody's (they collided, or missed a frame) count on their own until the next
//! busy period and rejoin the shared clock there. One transmission costs O(log contenders).

use kernel::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How far a station's back-off has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// No back-off is pending: medium access needs an interframe space only.
    Done,
    /// Expires when the shared clock shows `expiry` slots and an interframe space has passed since
    /// the round in which it was drawn: a back-off of no slots is pending until then.
    Shared { expiry: u64, round: u64 },
    /// Counts this many slots from its own start, until the medium is next busy; none are pending
    /// if no back-off was.
    Own { start: Instant, slots: Option<u64> },
    /// No back-off is pending and the medium is idle: sends at this moment if it stays idle.
    Immediate(Instant),
}

#[derive(Clone, Copy, Debug)]
struct Contender {
    count: Count,
    /// Whether a frame waits for the end of the back-off.
    waiting: bool,
}

/// Who may send when, among stations that all hear each other.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: Duration,
    /// A busy period counts as a slot for those who wait.
    counts_busy: bool,
    /// When the shared clock's next slot begins, if the medium stays idle.
    start: Instant,
    /// Slots counted up to `start`.
    elapsed: u64,
    /// Busy periods that came after a full interframe space.
    round: u64,
    /// Whether a transmission is on the air.
    busy: bool,
    /// End of the network allocation vector: the medium counts as busy until then.
    reserved_until: Instant,
    contenders: Vec<Contender>,
    /// Shared expiries of waiting stations; an entry is void if the station's count differs.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Stations whose count is `Own` or `Immediate`.
    own: Vec<u32>,
}

impl Contention {
    pub(crate) fn new(stations: usize, slot: Duration, difs: Duration, counts_busy: bool) -> Self {
        Self {
            slot,
            counts_busy,
            start: Instant::ZERO + difs,
            elapsed: 0,
            round: 0,
            busy: false,
            reserved_until: Instant::ZERO,
            contenders: vec![Contender { count: Count::Done, waiting: false }; stations],
            heap: BinaryHeap::with_capacity(stations + 8),
            own: Vec::with_capacity(8),
        }
    }

    /// Slots the shared clock has counted at `now`.
    fn clock(&self, now: Instant) -> u64 {
        if self.busy { self.elapsed } else { self.elapsed + now.since(self.start) / self.slot }
    }

    /// A frame of `station` begins to wait. Returns whether a back-off must be drawn for it
    /// (clause 10.3.4.2: the medium is busy and no back-off is pending).
    pub(crate) fn wait(&mut self, now: Instant, station: u32) -> bool {
        let pending = self.is_pending(now, station);
        let contender = &mut self.contenders[station as usize];
        contender.waiting = true;
        match contender.count {
            Count::Shared { expiry, .. } if pending => {
                self.heap.push(Reverse((expiry, station)));
                false
            }
            Count::Own { .. } if pending => false,
            Count::Own { start, .. } => {
                contender.count = Count::Immediate(start.max(now));
                false
            }
            Count::Done | Count::Shared { .. } if self.busy || now < self.reserved_until => true,
            Count::Done | Count::Shared { .. } => {
                contender.count = Count::Immediate(self.start.max(now));
                self.own.push(station);
                false
            }
            Count::Immediate(_) => false,
        }
    }

    /// Whether a back-off of `station` is not over yet.
    fn is_pending(&self, now: Instant, station: u32) -> bool {
        match self.contenders[station as usize].count {
            Count::Done | Count::Immediate(_) | Count::Own { slots: None, .. } => false,
            Count::Shared { expiry, round } => {
                let spaced = round != self.round || !self.busy && now >= self.start;
                expiry > self.clock(now) || !spaced
            }
            Count::Own { start, slots: Some(slots) } => start + self.slot * slots > now,
        }
    }

    /// Starts a back-off of `slots` on the shared clock. The medium is busy, or was until now.
    pub(crate) fn back_off(&mut self, station: u32, slots: u32) {
        let contender = &mut self.contenders[station as usize];
        debug_assert!(matches!(contender.count, Count::Done | Count::Shared { .. }));
        let expiry = self.elapsed + u64::from(slots);
        contender.count = Count::Shared { expiry, round: self.round };
        if contender.waiting {
            self.heap.push(Reverse((expiry, station)));
        }
    }

    /// The frame of `station` is gone; a back-off goes on without one.
    pub(crate) fn rest(&mut self, station: u32) {
        self.contenders[station as usize].waiting = false;
    }

    /// When the next station may send, if the medium stays idle.
    pub(crate) fn next_access(&mut self) -> Option<Instant> {
        if self.busy {
            return None;
        }
        let shared = self
            .first_expiry()
            .map(|expiry| self.start + self.slot * expiry.saturating_sub(self.elapsed));
        let own = self
            .own
            .iter()
            .filter(|&&s| self.contenders[s as usize].waiting)
            .filter_map(|&s| self.own_expiry(s))
            .min();
        match (shared, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn own_expiry(&self, station: u32) -> Option<Instant> {
        match self.contenders[station as usize].count {
            Count::Own { start, slots } => Some(start + self.slot * slots?),
            Count::Immediate(at) => Some(at),
            Count::Done | Count::Shared { .. } => None,
        }
    }

    /// The earliest expiry on the shared clock, void entries dropped.
    fn first_expiry(&mut self) -> Option<u64> {
        while let Some(&Reverse((expiry, station))) = self.heap.peek() {
            let Contender { count, waiting } = self.contenders[station as usize];
            if waiting && matches!(count, Count::Shared { expiry: e, .. } if e == expiry) {
                return Some(expiry);
            }
            self.heap.pop();
        }
        None
    }

    /// The medium becomes busy at `now`: freezes all back-offs, and appends to `winners` the
    /// stations whose back-off ends at `now` and that therefore all send, and to `beaten` those
    /// that waited without a back-off for the end of their interframe space and now must draw one.
    pub(crate) fn begin_busy(
        &mut self,
        now: Instant,
        winners: &mut Vec<u32>,
        beaten: &mut Vec<u32>,
    ) {
        self.elapsed = self.clock(now);
        // A station on the clock of its own may be first, while the others wait for an EIFS.
        let spaced = now >= self.start;
        self.round += u64::from(spaced);
        self.busy = true;
        while let Some(expiry) = self.first_expiry() {
            if expiry > self.elapsed || !spaced {
                break;
            }
            let Some(Reverse((_, station))) = self.heap.pop() else { break };
            self.contenders[station as usize].count = Count::Done;
            winners.push(station);
        }
        for i in 0..self.own.len() {
            self.rejoin(now, self.own[i], winners, beaten);
        }
        self.own.clear();
        self.elapsed += u64::from(self.counts_busy);
        // The order of the lists must not depend on who counted how.
        winners.sort_unstable();
        beaten.sort_unstable();
    }

    /// Brings a station that counted on its own back to the shared clock, or lets it send.
    fn rejoin(
        &mut self,
        now: Instant,
        station: u32,
        winners: &mut Vec<u32>,
        beaten: &mut Vec<u32>,
    ) {
        let contender = &mut self.contenders[station as usize];
        match contender.count {
            Count::Immediate(at) => {
                contender.count = Count::Done;
                if at <= now { winners.push(station) } else { beaten.push(station) }
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
                let expiry = self.elapsed + slots.saturating_sub(counted);
                contender.count = Count::Shared { expiry, round: self.round };
                if contender.waiting {
                    self.heap.push(Reverse((expiry, station)));
                }
            }
            Count::Own { slots: None, .. } => contender.count = Count::Done,
            Count::Done | Count::Shared { .. } => {}
        }
    }

    /// The medium falls idle: the shared clock goes on at `start`, and virtual carrier sense
    /// holds until `reserved_until`.
    pub(crate) fn begin_idle(&mut self, start: Instant, reserved_until: Instant) {
        self.busy = false;
        self.start = start;
        self.reserved_until = reserved_until;
    }

    /// In the idle period that begins, `station` counts its slots from its own `start`.
    pub(crate) fn lag(&mut self, station: u32, start: Instant) {
        let contender = &mut self.contenders[station as usize];
        let slots = match contender.count {
            Count::Shared { expiry, round } => {
                let pending = expiry > self.elapsed || round == self.round;
                pending.then(|| expiry.saturating_sub(self.elapsed))
            }
            Count::Done => None,
            Count::Own { .. } | Count::Immediate(_) => return,
        };
        contender.count = Count::Own { start, slots };
        self.own.push(station);
    }
}

/// What a station that has something to wait for does on an idle medium.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Its NAV stands.
    Reserved,
    /// Its interframe space is not over.
    Space,
    /// It counts slots, of which so many are left.
    Slots(u64),
}

#[cfg(test)]
impl Contention {
    /// What `station` does at `now`; `None` if the medium is busy or nothing is to wait for.
    pub(crate) fn watch(&self, now: Instant, station: u32) -> Option<Wait> {
        let Contender { count, waiting } = self.contenders[station as usize];
        if self.busy || !(waiting || self.is_pending(now, station)) {
            return None;
        }
        let (start, slots, bound) = match count {
            Count::Shared { expiry, .. } => (self.start, expiry.saturating_sub(self.elapsed), true),
            Count::Own { start, slots } => (start, slots.unwrap_or(0), false),
            Count::Immediate(at) => (at, 0, at == self.start),
            Count::Done => return None,
        };
        Some(match () {
            () if bound && now < self.reserved_until => Wait::Reserved,
            () if now < start => Wait::Space,
            () => Wait::Slots(slots - now.since(start) / self.slot),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SLOT: Duration = Duration::from_micros(20);
    const DIFS: Duration = Duration::from_micros(50);

    fn at(us: u64) -> Instant {
        Instant(us * 1000)
    }

    fn contention() -> Contention {
        Contention::new(4, SLOT, DIFS, false)
    }

    fn busy(c: &mut Contention, us: u64) -> Vec<u32> {
        let (mut winners, mut beaten) = (vec![], vec![]);
        c.begin_busy(at(us), &mut winners, &mut beaten);
        for station in beaten {
            c.back_off(station, 6);
        }
        winners
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
    fn a_frame_that_finds_the_medium_busy_needs_a_back_off() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        assert!(c.wait(at(200), 1));
        c.back_off(1, 3);
        c.rest(0);
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
        c.rest(0);
        c.begin_idle(at(1050), at(1000));
        assert_eq!(busy(&mut c, 1050 + 40), [2]);
        c.rest(2);
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
        c.rest(0);
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
        c.rest(0);
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
    fn a_laggard_counts_on_its_own_and_rejoins() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for (station, slots) in [(0, 4), (1, 9)] {
            c.wait(at(150), station);
            c.back_off(station, slots);
        }
        c.begin_idle(at(1364), at(1000));
        c.lag(0, at(1230));
        assert_eq!(c.next_access(), Some(at(1230 + 80)), "ahead of the others' EIFS");
        c.wait(at(1300), 2);
        assert_eq!(busy(&mut c, 1310), [0]);
        c.rest(0);
        c.begin_idle(at(2050), at(2000));
        assert_eq!(
            c.next_access(),
            Some(at(2050 + 120)),
            "station 2 was beaten and drew six slots"
        );
    }

    #[test]
    fn virtual_carrier_sense_counts_as_busy() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.rest(0);
        c.begin_idle(at(1308), at(1258));
        assert!(c.wait(at(1100), 1));
        assert!(!c.wait(at(1260), 2));
    }

    #[test]
    fn who_waits_for_an_eifs_is_not_dragged_along_by_a_laggard() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        for (station, slots) in [(0, 1), (1, 0)] {
            c.wait(at(150), station);
            c.back_off(station, slots);
        }
        c.begin_idle(at(1364), at(1000));
        c.lag(0, at(1130));
        assert_eq!(busy(&mut c, 1150), [0]);
        c.rest(0);
        c.begin_idle(at(2050), at(2000));
        assert_eq!(c.next_access(), Some(at(2050)));
        assert_eq!(busy(&mut c, 2050), [1]);
    }

    #[test]
    fn a_post_back_off_of_no_slots_is_pending_until_an_interframe_space_is_over() {
        let mut c = contention();
        c.wait(at(100), 0);
        busy(&mut c, 100);
        c.rest(0);
        c.back_off(0, 0);
        c.begin_idle(at(1050), at(1000));
        assert!(c.is_pending(at(1049), 0));
        assert!(!c.is_pending(at(1050), 0));
        c.wait(at(1060), 1);
        busy(&mut c, 1060);
        assert!(c.wait(at(1070), 0), "the interframe space has passed: a new back-off");
    }

    /// A station that counts for itself: slots left, and from when it counts them.
    #[derive(Clone, Copy, Debug)]
    struct Counter {
        left: u64,
        start: Instant,
    }

    /// Per busy period its length, and per station a draw and perhaps how much later than the
    /// others it counts.
    type Round = (u64, [(u32, Option<u64>); 4]);

    fn round() -> impl Strategy<Value = Round> {
        let draw = (0u32..12, prop::option::weighted(0.3, 0u64..200));
        (100u64..2000, [draw.clone(), draw.clone(), draw.clone(), draw])
    }

    proptest! {
        /// Whoever interrupts it and however often, a station sends when it has counted the slots
        /// it has drawn, and all that end together are named together.
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
                        c.lag(station, counter.start);
                    }
                }
                let end = |counter: &Counter| counter.start + SLOT * counter.left;
                now = counters.iter().map(end).min().unwrap();
                prop_assert_eq!(c.next_access(), Some(now));
                let expected: Vec<u32> =
                    (0..4).filter(|&s| end(&counters[s as usize]) == now).collect();
                let (mut beaten, mut named) = (vec![], vec![]);
                c.begin_busy(now, &mut named, &mut beaten);
                prop_assert_eq!(&named, &expected);
                prop_assert!(beaten.is_empty(), "all have drawn");
                for counter in &mut counters {
                    counter.left -= (now.since(counter.start) / SLOT).min(counter.left);
                }
                winners = named;
            }
        }
    }
}
