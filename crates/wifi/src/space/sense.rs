//! The carrier sense of one node, and the idle slots that it counts (clauses 10.3.4.3 and
//! 10.23.2.4).

use crate::mac::{self, BusySlot, Counting, Deferral, Edcaf, IdleAccess, SlotGrid, Timing};
use kernel::{Duration, Instant};

/// Carrier sense, physical and virtual.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    /// When the receiver last became idle; `None` while it is busy.
    idle_since: Option<Instant>,
    /// The difference of EIFS and DIFS, after a frame that could not be decoded.
    extra: Duration,
    nav: Instant,
    /// An RTS has set the NAV, which ends at this instant if no frame has begun by then (clause
    /// 10.3.2.4).
    nav_reset_at: Option<Instant>,
}

impl Carrier {
    pub(super) fn new() -> Self {
        let nav = Instant::ZERO;
        Self { idle_since: Some(Instant::ZERO), extra: Duration::ZERO, nav, nav_reset_at: None }
    }

    /// Whether the receiver reports the medium busy.
    pub(super) fn is_sensed(&self) -> bool {
        self.idle_since.is_none()
    }

    /// When the receiver began to report the medium idle; `None` while it reports it busy.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.idle_since
    }

    /// Whether the receiver reports the medium idle, and no frame has to follow an RTS.
    #[inline]
    pub(super) fn is_plainly_idle(&self) -> bool {
        self.idle_since.is_some() && self.nav_reset_at.is_none()
    }

    /// Whether physical or virtual carrier sense is busy.
    pub(super) fn is_busy(&self, now: Instant) -> bool {
        self.is_sensed() || self.is_reserved(now)
    }

    /// Whether virtual carrier sense is busy.
    pub(super) fn is_reserved(&self, now: Instant) -> bool {
        now < self.reserved_until()
    }

    /// When virtual carrier sense becomes idle.
    pub(super) fn reserved_until(&self) -> Instant {
        self.nav_reset_at.map_or(self.nav, |at| at.min(self.nav))
    }

    /// When the first slot may begin, if the medium stays idle.
    pub(super) fn first_slot(&self, space: Duration) -> Option<Instant> {
        // The later of EIFS and NAV (clause 10.3.2.3.7).
        Some((self.idle_since? + self.extra).max(self.reserved_until()) + space)
    }

    /// The medium becomes busy. Returns when it had become idle, if it was idle.
    pub(super) fn end_idle(&mut self) -> Option<Instant> {
        let idle_since = self.idle_since.take()?;
        self.extra = Duration::ZERO;
        Some(idle_since)
    }

    /// The receiver reports the medium idle.
    pub(super) fn begin_idle(&mut self, now: Instant) {
        if self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }

    /// The node is receiving a frame whose PHY header ends at `detected`.
    pub(super) fn on_detected(&mut self, detected: Instant) {
        if let Some(at) = self.nav_reset_at.take()
            && detected > at
        {
            self.nav = self.nav.min(at);
        }
    }

    /// A frame for another node sets the NAV.
    pub(super) fn reserve(&mut self, until: Instant, nav_reset_at: Option<Instant>) {
        if until > self.nav {
            self.nav = until;
            self.nav_reset_at = nav_reset_at;
        }
    }

    /// A frame could not be decoded: the node defers for an EIFS.
    pub(super) fn on_decoding_error(&mut self, now: Instant, deferral: Deferral) {
        match deferral {
            Deferral::Extra(extra) => self.extra = extra,
            Deferral::Nav(eifs) => self.reserve(now + eifs, None),
        }
    }

    /// A frame is decoded: an EIFS from an earlier frame of the same busy time is cancelled (clause
    /// 10.3.2.3.7).
    pub(super) fn on_decoded(&mut self) {
        self.extra = Duration::ZERO;
    }
}

/// An EDCAF of a node, and the slots that it counts.
#[derive(Debug)]
pub(super) struct EdcafState {
    pub(super) edcaf: Edcaf,
    pub(super) slots: Slots,
}

impl EdcafState {
    pub(super) fn back_off(&mut self, rules: &mac::Rules) {
        self.slots.back_off(self.edcaf.back_off(rules));
    }
}

/// A back-off that counts the idle slots of one node. A slot causes no event: the number of slots
/// that have passed is computed when the medium becomes busy.
#[derive(Debug)]
pub(super) struct Slots {
    /// Interframe space before the first slot: DIFS or AIFS.
    space: Duration,
    slot: Duration,
    grid: SlotGrid,
    idle_access: IdleAccess,
    busy_slot: BusySlot,
    /// Slots left of a back-off in progress, as of `counting`.
    left: Option<u32>,
    /// When the first counted slot begins; `None` if no slots are counted.
    counting: Option<Instant>,
    /// No slot is counted before this instant, the end of a timeout.
    not_before: Instant,
    /// When the slots of a back-off begin that an arrival on an idle medium has started.
    arrival_start: Option<Instant>,
}

impl Slots {
    /// Creates a counter with an interframe space of so many slots after a SIFS.
    pub(super) fn new(timing: &Timing, spacing: u32, busy_slot: BusySlot) -> Self {
        Self {
            space: timing.sifs() + timing.slot * u64::from(spacing),
            slot: timing.slot,
            grid: timing.slot_grid,
            idle_access: timing.idle_access,
            busy_slot,
            left: None,
            counting: None,
            not_before: Instant::ZERO,
            arrival_start: None,
        }
    }

    /// The interframe space before the first slot.
    pub(super) fn space(&self) -> Duration {
        self.space
    }

    /// From now on, the interframe space has so many slots after a SIFS.
    pub(super) fn space_by(&mut self, timing: &Timing, spacing: u32) {
        self.space = timing.sifs() + timing.slot * u64::from(spacing);
    }

    /// No slot is counted any more. A back-off keeps the slots that are left, unless it is over and
    /// nothing `waits`.
    pub(super) fn suspend(&mut self, now: Instant, waits: bool) {
        self.arrival_start = None;
        if let (Some(left), Some(since)) = (self.left, self.counting.take()) {
            let left = u64::from(left).saturating_sub(now.since(since) / self.slot) as u32;
            self.left = (left > 0 || waits).then_some(left);
        }
    }

    /// Begins a back-off.
    pub(super) fn back_off(&mut self, slots: u32) {
        self.left = Some(slots);
        self.counting = None;
    }

    /// Slots are not counted before `now`.
    pub(super) fn wait_until(&mut self, now: Instant) {
        self.not_before = now;
    }

    /// A frame begins to wait. Returns whether the node must draw a back-off for it (clauses
    /// 10.3.4.2 and 10.23.2.2, or [`IdleAccess::Ns2`]).
    pub(super) fn wants_backoff(&mut self, now: Instant, carrier: &Carrier) -> bool {
        // A back-off is over, or what waited for its interframe space has been withdrawn.
        if self.expiry().is_some_and(|end| end < now) {
            self.left = None;
            self.counting = None;
        }
        if self.idle_access == IdleAccess::Ns2 && self.left.is_none() && !carrier.is_busy(now) {
            let first = carrier.first_slot(self.space).unwrap_or(now);
            self.arrival_start = Some(first.max(self.not_before).max(now + self.space));
            return true;
        }
        self.left.is_none() && carrier.is_busy(now)
    }

    /// Starts to count at the end of the interframe space, if the medium is idle.
    #[inline]
    pub(super) fn listen(&mut self, now: Instant, carrier: &Carrier) {
        if self.counting.is_some() {
            return;
        }
        if let Some(first) = self.arrival_start.take() {
            self.counting = Some(first);
            return;
        }
        let Some(first) = carrier.first_slot(self.space) else { return };
        let late = self.not_before.since(first);
        let first = match self.grid {
            SlotGrid::Free => first + late,
            SlotGrid::Standard | SlotGrid::Shared | SlotGrid::Difs => {
                first + self.whole_slots(late)
            }
        };
        self.counting = Some(match self.busy_slot {
            // Stations transmit only at slot boundaries.
            BusySlot::Counted => first + self.whole_slots(now.since(first)),
            BusySlot::Uncounted | BusySlot::Step => first.max(now),
        });
    }

    fn whole_slots(&self, time: Duration) -> Duration {
        if time == Duration::ZERO {
            return Duration::ZERO;
        }
        self.slot * time.0.div_ceil(self.slot.0)
    }

    /// When the back-off ends, or the interframe space without a back-off.
    pub(super) fn expiry(&self) -> Option<Instant> {
        Some(self.counting? + self.slot * u64::from(self.left.unwrap_or(0)))
    }

    /// The slots that are counted, if the medium is idle.
    pub(super) fn counting(&self) -> Option<Counting> {
        Some(Counting { start: self.counting?, slots: u64::from(self.left.unwrap_or(0)) })
    }

    /// Whether a back-off is in progress.
    pub(super) fn is_pending(&self) -> bool {
        self.left.is_some()
    }

    /// The back-off has ended, and the node transmits.
    pub(super) fn clear(&mut self) {
        self.left = None;
        self.counting = None;
    }

    /// The medium, which was idle since `idle_since`, becomes busy. Returns whether the EDCAF must
    /// draw a back-off: a frame `waits`, and its interframe space without a back-off has not ended.
    pub(super) fn freeze(&mut self, now: Instant, idle_since: Instant, waits: bool) -> bool {
        let counting = self.counting.take();
        // The slots of a frame that has arrived while the node waited to send a response begin
        // after the response.
        self.arrival_start = None;
        if let (Some(left), Some(since)) = (self.left, counting)
            && (now >= since || self.busy_slot == BusySlot::Step)
        {
            let spaced = now >= since;
            let counted = now.since(since) / self.slot;
            let broken = match self.busy_slot {
                BusySlot::Uncounted => false,
                BusySlot::Counted => spaced,
                // The frames of one exchange are a SIFS apart and together are one step of
                // Bianchi's Markov chain.
                BusySlot::Step => now.since(idle_since) >= self.space,
            };
            let left = u64::from(left).saturating_sub(counted + u64::from(broken)) as u32;
            self.left = if left == 0 && spaced && !waits { None } else { Some(left) };
        }
        waits && self.left.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11B;

    fn us(n: u64) -> Instant {
        Instant(n * 1000)
    }

    fn slots(grid: SlotGrid) -> Slots {
        let timing = Timing { slot_grid: grid, ..Timing::of(&DOT11B) };
        Slots::new(&timing, 2, BusySlot::Uncounted)
    }

    fn freeze(slots: &mut Slots, carrier: &mut Carrier, us_at: u64, waits: bool) -> bool {
        carrier.end_idle().is_some_and(|since| slots.freeze(us(us_at), since, waits))
    }

    fn busy_from_to(slots: &mut Slots, carrier: &mut Carrier, from: u64, to: u64) {
        assert!(!freeze(slots, carrier, from, true));
        carrier.begin_idle(us(to));
        slots.listen(us(to), carrier);
    }

    #[test]
    fn whole_idle_slots_count_and_no_others() {
        let (mut slots, mut carrier) = (slots(SlotGrid::Standard), Carrier::new());
        slots.back_off(5);
        slots.listen(us(0), &carrier);
        assert_eq!(slots.expiry(), Some(us(150)));
        busy_from_to(&mut slots, &mut carrier, 109, 1000);
        assert_eq!(slots.expiry(), Some(us(1000 + 50 + 3 * 20)), "two slots had passed");
        busy_from_to(&mut slots, &mut carrier, 1049, 2000);
        assert_eq!(slots.expiry(), Some(us(2000 + 50 + 3 * 20)), "no slot had begun");
        busy_from_to(&mut slots, &mut carrier, 2110, 3000);
        assert_eq!(slots.expiry(), Some(us(3050)), "a back-off of no slots is left");
    }

    #[test]
    fn in_ns2_a_frame_that_finds_the_medium_idle_backs_off_a_difs_after_its_arrival() {
        let timing = Timing { idle_access: IdleAccess::Ns2, ..Timing::of(&DOT11B) };
        let mut slots = Slots::new(&timing, 2, BusySlot::Uncounted);
        let mut carrier = Carrier::new();
        assert!(slots.wants_backoff(us(73), &carrier));
        slots.back_off(3);
        slots.listen(us(73), &carrier);
        assert_eq!(slots.expiry(), Some(us(73 + 50 + 60)));
        busy_from_to(&mut slots, &mut carrier, 150, 1000);
        assert_eq!(slots.expiry(), Some(us(1000 + 50 + 40)), "a slot had passed");
        assert!(!slots.wants_backoff(us(1010), &carrier), "the back-off runs already");
    }

    #[test]
    fn in_ns2_a_frame_that_arrives_before_a_response_backs_off_after_the_response() {
        let timing = Timing { idle_access: IdleAccess::Ns2, ..Timing::of(&DOT11B) };
        let mut slots = Slots::new(&timing, 2, BusySlot::Uncounted);
        let mut carrier = Carrier::new();
        // The node counts no slots, because it sends an Ack from 10 to 314 us.
        assert!(slots.wants_backoff(us(0), &carrier));
        slots.back_off(3);
        busy_from_to(&mut slots, &mut carrier, 10, 314);
        assert_eq!(slots.expiry(), Some(us(314 + 50 + 60)));
    }

    #[test]
    fn without_a_frame_a_back_off_runs_out() {
        let (mut slots, mut carrier) = (slots(SlotGrid::Standard), Carrier::new());
        slots.back_off(2);
        slots.listen(us(0), &carrier);
        assert!(!slots.wants_backoff(us(80), &carrier));
        assert_eq!(slots.expiry(), Some(us(90)), "it is not over");
        assert!(!slots.wants_backoff(us(91), &carrier));
        slots.listen(us(91), &carrier);
        assert_eq!(slots.expiry(), Some(us(91)), "immediate access");
        freeze(&mut slots, &mut carrier, 91, false);
        assert!(slots.wants_backoff(us(95), &carrier), "the medium is busy");
    }

    #[test]
    fn a_frame_backs_off_if_the_medium_becomes_busy_within_its_interframe_space() {
        let (mut slots, mut carrier) = (slots(SlotGrid::Standard), Carrier::new());
        slots.listen(us(0), &carrier);
        assert_eq!(slots.expiry(), Some(us(50)));
        assert!(freeze(&mut slots, &mut carrier, 30, true));
    }

    #[test]
    fn virtual_carrier_sense_and_eifs_delay_the_first_slot() {
        let expiry = |extra: u64, nav: u64, unless: Option<u64>| {
            let (mut slots, mut carrier) = (slots(SlotGrid::Standard), Carrier::new());
            freeze(&mut slots, &mut carrier, 0, false);
            carrier.on_decoding_error(us(80), Deferral::Extra(Duration::from_micros(extra)));
            carrier.reserve(us(nav), unless.map(us));
            carrier.begin_idle(us(100));
            slots.back_off(1);
            slots.listen(us(100), &carrier);
            slots.expiry().unwrap().0 / 1000
        };
        assert_eq!(expiry(0, 0, None), 170);
        assert_eq!(expiry(314, 0, None), 484);
        assert_eq!(expiry(314, 1000, None), 1070);
        assert_eq!(expiry(0, 1000, Some(600)), 670, "nobody follows the RTS");
    }

    #[test]
    fn in_ns2_a_received_frame_does_not_end_an_eifs() {
        let expiry = |deferral| {
            let (mut slots, mut carrier) = (slots(SlotGrid::Standard), Carrier::new());
            freeze(&mut slots, &mut carrier, 0, false);
            carrier.on_decoding_error(us(80), deferral);
            carrier.on_decoded();
            carrier.begin_idle(us(100));
            slots.back_off(1);
            slots.listen(us(100), &carrier);
            slots.expiry().unwrap().0 / 1000
        };
        assert_eq!(expiry(Deferral::Extra(Duration::from_micros(314))), 100 + 50 + 20);
        assert_eq!(expiry(Deferral::Nav(Duration::from_micros(364))), 80 + 364 + 50 + 20);
    }

    #[test]
    fn an_rts_with_a_frame_after_it_keeps_its_reservation() {
        let mut carrier = Carrier::new();
        carrier.reserve(us(1000), Some(us(600)));
        carrier.on_detected(us(600));
        assert!(carrier.is_reserved(us(999)));
        carrier.reserve(us(3000), Some(us(1600)));
        carrier.on_detected(us(1601));
        assert!(!carrier.is_reserved(us(1601)));
    }

    #[test]
    fn after_a_timeout_slots_begin_on_the_grid_or_at_once() {
        let expiry = |grid| {
            let (mut slots, mut carrier) = (slots(grid), Carrier::new());
            freeze(&mut slots, &mut carrier, 0, true);
            slots.back_off(0);
            carrier.begin_idle(us(100));
            slots.wait_until(us(322));
            slots.listen(us(322), &carrier);
            slots.expiry().unwrap().0 / 1000
        };
        assert_eq!(expiry(SlotGrid::Standard), 100 + 50 + 9 * 20);
        assert_eq!(expiry(SlotGrid::Free), 322);
    }
}
