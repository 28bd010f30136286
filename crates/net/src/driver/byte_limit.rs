//! Byte queue limits: how many bytes a driver needs in its ring to stay busy.

use kernel::{Bytes, Duration, Instant};
use std::ops::RangeInclusive;

/// How long bytes must not have been needed before the limit shrinks by them (`hold_time`).
const HOLD: Duration = Duration::from_millis(1000);

/// A limit of bytes in a ring, adapted at each report of completed transmissions by the rule of
/// Linux (`lib/dynamic_queue_limits.c`).
///
/// The ring accepts packets while it holds no more bytes than the limit, so that the last packet
/// may exceed it. If the ring has run dry although the queue had more, the limit was too low: it
/// grows by what would have prevented that. If bytes remained in the ring at each report for the
/// hold time, the limit was too high by the least of these remainders, the slack.
#[derive(Debug)]
pub(super) struct ByteLimit {
    bounds: RangeInclusive<Bytes>,
    limit: u64,
    /// Bytes given to the ring, and of these those known to be sent, since the start.
    queued: u64,
    completed: u64,
    /// The size of the last packet that was given to the ring.
    last: u64,
    /// The ring at the last report.
    before: Report,
    /// The least slack since this instant.
    slack: Option<u64>,
    since: Instant,
}

/// What a report leaves for the next one.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    /// Bytes given to the ring up to then.
    queued: u64,
    /// By how many bytes the ring exceeded its limit, which stopped it; 0 after a change of the
    /// limit.
    excess: u64,
    /// The size of the last packet.
    last: u64,
}

impl ByteLimit {
    /// The limit of an empty ring: the least one.
    pub(super) fn new(bounds: RangeInclusive<Bytes>) -> Self {
        let limit = bounds.start().0;
        let (queued, completed, last, before) = (0, 0, 0, Report::default());
        Self { bounds, limit, queued, completed, last, before, slack: None, since: Instant::ZERO }
    }

    /// The limit.
    pub(super) fn limit(&self) -> Bytes {
        Bytes(self.limit)
    }

    /// Whether the ring accepts a packet, of any size.
    pub(super) fn has_room(&self) -> bool {
        self.queued - self.completed <= self.limit
    }

    /// The ring accepts a packet.
    pub(super) fn on_queued(&mut self, size: Bytes) {
        self.queued += size.0;
        self.last = size.0;
    }

    /// The driver learns that this many bytes have been sent.
    pub(super) fn on_completed(&mut self, now: Instant, bytes: Bytes) {
        let held = self.queued - self.completed;
        let completed = self.completed + bytes.0;
        let excess = held.saturating_sub(self.limit);
        let remain = self.queued > completed;
        let had_some = self.before.queued > self.completed;
        // Whether all that was in the ring at the last report has been sent.
        let is_renewed = completed >= self.before.queued;
        let mut limit = self.limit;
        if (excess > 0 && !remain) || (self.before.excess > 0 && is_renewed) {
            limit += completed.saturating_sub(self.before.queued) + self.before.excess;
            (self.slack, self.since) = (None, now);
        } else if remain && had_some && !is_renewed {
            let slack = self.slack_of(bytes.0).min(self.slack.unwrap_or(u64::MAX));
            self.slack = Some(slack);
            if now > self.since + HOLD {
                limit = limit.saturating_sub(slack);
                (self.slack, self.since) = (None, now);
            }
        }
        limit = limit.clamp(self.bounds.start().0, self.bounds.end().0);
        let excess = if limit == self.limit { excess } else { 0 };
        self.limit = limit;
        self.completed = completed;
        self.before = Report { queued: self.queued, excess, last: self.last };
    }

    /// The bytes that were not needed to keep the transmitter busy between two reports: what the
    /// limit allowed beyond twice what was sent, and what of the last packet was below the limit.
    fn slack_of(&self, sent: u64) -> u64 {
        let Report { excess, last, .. } = self.before;
        let beyond = (self.limit + excess).saturating_sub(2 * sent);
        let within = if excess > 0 { last.saturating_sub(excess) } else { 0 };
        beyond.max(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FREE: RangeInclusive<Bytes> = Bytes(0)..=Bytes(u64::MAX);

    /// Gives packets of a size to the ring while it accepts them; returns how many it holds.
    fn fill(limit: &mut ByteLimit, size: u64) -> u64 {
        while limit.has_room() {
            limit.on_queued(Bytes(size));
        }
        (limit.queued - limit.completed) / size
    }

    #[test]
    fn a_queue_that_never_empties_by_hand() {
        // Reports of one packet of 1500 bytes each, with a full queue.
        let mut limit = ByteLimit::new(FREE);
        let mut held = Vec::new();
        let mut limits = Vec::new();
        for n in 0..7 {
            held.push(fill(&mut limit, 1500));
            limit.on_completed(Instant(n * 12_000), Bytes(1500));
            limits.push(limit.limit().0);
        }
        // The first packet stopped the ring, which then ran dry: 1500. Two packets: the third
        // report finds that what was there at the second has been sent: 3000. Then one packet of
        // three remains whenever a report comes.
        assert_eq!(held, [1, 2, 2, 3, 3, 3, 3]);
        assert_eq!(limits, [1500, 1500, 3000, 3000, 3000, 3000, 3000]);
    }

    #[test]
    fn what_was_not_needed_for_a_second_is_given_up() {
        let mut limit = ByteLimit::new(FREE);
        limit.limit = 60_000;
        let step = 120_000;
        let mut at = 0;
        let mut run = |limit: &mut ByteLimit, reports: u64| {
            for _ in 0..reports {
                fill(limit, 1500);
                at += step;
                limit.on_completed(Instant(at), Bytes(15_000));
            }
        };
        run(&mut limit, 1000 * 1_000_000 / step);
        assert_eq!(limit.limit(), Bytes(60_000), "not before the hold time is over");
        // 15,000 bytes go between two reports, so that 30,000 suffice: 60,000 and the excess of
        // 1500 were too many by 31,500. With 28,500 the ring is renewed between two reports, and
        // the excess of 1500 is what it lacks.
        let mut limits = Vec::new();
        for _ in 0..10 {
            run(&mut limit, 1);
            limits.push(limit.limit().0);
        }
        limits.dedup();
        assert_eq!(limits, [28_500, 30_000]);
    }

    #[test]
    fn bounds_hold() {
        let bounds = Bytes(3000)..=Bytes(4000);
        let mut limit = ByteLimit::new(bounds);
        assert_eq!((limit.limit(), fill(&mut limit, 1500)), (Bytes(3000), 3));
        limit.on_completed(Instant(0), Bytes(4500));
        assert_eq!(limit.limit(), Bytes(4000), "dry: 4500 would have been needed");
    }

    #[test]
    fn a_sparse_queue_does_not_raise_the_limit() {
        let mut limit = ByteLimit::new(FREE);
        limit.limit = 3000;
        for n in 0..100 {
            limit.on_queued(Bytes(1500));
            limit.on_completed(Instant(n), Bytes(1500));
        }
        assert_eq!(limit.limit(), Bytes(3000));
    }

    proptest! {
        /// With a queue that never empties and reports of equal work, the transmitter stays busy
        /// from the second second on, with at most three times the bytes of a report, and one
        /// packet, in the ring.
        #[test]
        fn it_settles_near_what_a_report_takes(packets in 1u64..40, size in 60u64..1600) {
            let mut limit = ByteLimit::new(FREE);
            let work = packets * size;
            let step = 1_000_000u64;
            for n in 0..5000 {
                let held = fill(&mut limit, size) * size;
                let sent = held.min(work);
                limit.on_completed(Instant(n * step), Bytes(sent));
                if n > 2000 {
                    prop_assert_eq!(sent, work, "report {}: the ring ran dry", n);
                    prop_assert!(limit.limit().0 <= 3 * work + size, "{:?}", limit);
                }
            }
        }
    }
}
