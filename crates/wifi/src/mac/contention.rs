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
    /// Expires when the shared clock shows this many slots.
    Shared(u64),
    /// Counts this many slots from its own start, until the medium is next busy.
    Own { start: Instant, slots: u64 },
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
    pub(crate) fn new(
        stations: usize,
        slot: Duration,
        difs: Duration,
        counts_busy: bool,
    ) -> Self {
        Self {
            slot,
            counts_busy,
            start: Instant::ZERO + difs,
            elapsed: 0,
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
        let clock = self.clock(now);
        let contender = &mut self.contenders[station as usize];
        contender.waiting = true;
        match contender.count {
            Count::Shared(expiry) if expiry > clock => {
                self.heap.push(Reverse((expiry, station)));
                false
            }
            Count::Own { start, slots } if slots > 0 && start + self.slot * slots > now => false,
            Count::Own { start, .. } => {
                contender.count = Count::Immediate(start.max(now));
                false
            }
            Count::Done | Count::Shared(_) if self.busy || now < self.reserved_until => true,
            Count::Done | Count::Shared(_) => {
                contender.count = Count::Immediate(self.start.max(now));
                self.own.push(station);
                false
            }
            Count::Immediate(_) => false,
        }
    }

    /// Starts a back-off of `slots` on the shared clock. The medium is busy, or was until now.
    pub(crate) fn back_off(&mut self, station: u32, slots: u32) {
        let contender = &mut self.contenders[station as usize];
        debug_assert!(matches!(contender.count, Count::Done | Count::Shared(_)));
        let expiry = self.elapsed + u64::from(slots);
        contender.count = Count::Shared(expiry);
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
        let shared = self.first_expiry().map(|expiry| {
            self.start + self.slot * expiry.saturating_sub(self.elapsed)
        });
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
            Count::Own { start, slots } => Some(start + self.slot * slots),
            Count::Immediate(at) => Some(at),
            Count::Done | Count::Shared(_) => None,
        }
    }

    /// The earliest expiry on the shared clock, void entries dropped.
    fn first_expiry(&mut self) -> Option<u64> {
        while let Some(&Reverse((expiry, station))) = self.heap.peek() {
            let contender = &self.contenders[station as usize];
            if contender.waiting && contender.count == Count::Shared(expiry) {
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
        self.busy = true;
        while let Some(expiry) = self.first_expiry() {
            if expiry > self.elapsed {
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
            Count::Own { start, slots } => {
                let counted = now.since(start) / self.slot;
                if contender.waiting && now >= start && counted >= slots {
                    contender.count = Count::Done;
                    winners.push(station);
                    return;
                }
                let expiry = self.elapsed + slots.saturating_sub(counted);
                contender.count = Count::Shared(expiry);
                if contender.waiting {
                    self.heap.push(Reverse((expiry, station)));
                }
            }
            Count::Done | Count::Shared(_) => {}
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
            Count::Shared(expiry) => expiry.saturating_sub(self.elapsed),
            Count::Done => 0,
            Count::Own { .. } | Count::Immediate(_) => return,
        };
        contender.count = Count::Own { start, slots };
        self.own.push(station);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(c.next_access(), Some(at(2050 + 120)), "station 2 was beaten and drew six slots");
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
}
