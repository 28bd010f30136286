//! The event queue: pending events in the order in which they happen.

use crate::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Ranks the kinds of events that happen at the same instant.
///
/// The order is physical: all packets of an instant reach their queues before the back-offs of that
/// instant expire, and all back-offs that expire together are dispatched before carrier sense
/// reports any transmission that they start.
pub trait Ranked {
    /// Lower ranks go first.
    fn rank(&self) -> u8;
}

/// Pending events, taken out by (instant, rank, order of scheduling).
#[derive(Debug)]
pub struct EventQueue<E> {
    /// The next events, the first of them last; none only if no event is pending. Most events
    /// happen soon after they are scheduled, and never pass through the heap.
    soon: Vec<Entry<E>>,
    /// All events after these.
    heap: BinaryHeap<Entry<E>>,
    scheduled: u64,
    taken: u64,
    now: Instant,
}

#[derive(Debug)]
struct Entry<E> {
    when: Instant,
    /// The rank is in the top byte, the order of scheduling below it.
    order: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> u128 {
        u128::from(self.when.0) << 64 | u128::from(self.order)
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed, because [`BinaryHeap`] returns the greatest entry first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E: Ranked> EventQueue<E> {
    /// The most events outside of the heap.
    const SOON: usize = 16;
    /// How many events leave the heap at once: so many that the timers which are set to a later
    /// time, and not the next events, decide what goes into the heap.
    const REFILL: usize = Self::SOON / 2;

    /// Creates an empty event queue at time zero.
    pub fn new() -> Self {
        let (soon, heap) = (Vec::with_capacity(Self::SOON), BinaryHeap::with_capacity(256));
        Self { soon, heap, scheduled: 0, taken: 0, now: Instant::ZERO }
    }

    /// Schedules `event` at `when`.
    ///
    /// # Panics
    ///
    /// If `when` lies in the past.
    #[allow(clippy::inline_always, reason = "the rank of a known event is a constant")]
    #[inline(always)]
    pub fn at(&mut self, when: Instant, event: E) {
        assert!(when >= self.now, "an event scheduled in the past: {when} < {}", self.now);
        let order = u64::from(event.rank()) << 56 | self.scheduled;
        self.scheduled += 1;
        let entry = Entry { when, order, event };
        // Mostly it is the next event.
        match self.soon.last() {
            Some(next) if entry.key() < next.key() && self.soon.len() < Self::SOON - 1 => {
                self.soon.push(entry);
            }
            _ => self.insert(entry),
        }
    }

    fn insert(&mut self, entry: Entry<E>) {
        let key = entry.key();
        let is_last = self.soon.first().is_none_or(|last| last.key() < key);
        if is_last && self.heap.peek().is_some_and(|first| first.key() < key) {
            return self.heap.push(entry);
        }
        let mut place = self.soon.len();
        self.soon.push(entry);
        // Few events are before it, so that moving them one by one costs less than a call.
        while place > 0 && self.soon[place - 1].key() < key {
            self.soon.swap(place - 1, place);
            place -= 1;
        }
        if self.soon.len() == Self::SOON {
            self.heap.push(self.soon.remove(0));
        }
    }

    /// Removes the next event and advances the time to it.
    #[expect(clippy::should_implement_trait, reason = "events are scheduled between the calls")]
    pub fn next(&mut self) -> Option<(Instant, E)> {
        let entry = self.soon.pop()?;
        if self.soon.is_empty() {
            self.refill();
        }
        self.now = entry.when;
        self.taken += 1;
        Some((entry.when, entry.event))
    }

    /// Moves the first events of the heap to the next events, of which there are none.
    #[inline(never)]
    fn refill(&mut self) {
        let first = std::iter::from_fn(|| self.heap.pop());
        self.soon.extend(first.take(Self::REFILL));
        self.soon.reverse();
    }

    /// How many events have happened.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The instant of the next event.
    pub fn peek(&self) -> Option<Instant> {
        self.soon.last().map(|entry| entry.when)
    }

    /// The instant of the event that was removed last.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The number of pending events, stale ones included.
    pub fn len(&self) -> usize {
        self.soon.len() + self.heap.len()
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of events that were scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

impl<E: Ranked> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Ping(u8, u32);

    impl Ranked for Ping {
        fn rank(&self) -> u8 {
            self.0
        }
    }

    #[test]
    fn simultaneous_events_go_by_rank_then_by_order_of_scheduling() {
        let mut event_queue = EventQueue::new();
        event_queue.at(Instant(5), Ping(2, 0));
        event_queue.at(Instant(5), Ping(1, 1));
        event_queue.at(Instant(5), Ping(1, 2));
        event_queue.at(Instant(4), Ping(9, 3));
        let order: Vec<u32> = std::iter::from_fn(|| event_queue.next()).map(|(_, p)| p.1).collect();
        assert_eq!(order, [3, 1, 2, 0]);
        assert_eq!(event_queue.now(), Instant(5));
    }

    #[test]
    #[should_panic(expected = "an event scheduled in the past")]
    fn the_past_is_refused_in_every_build() {
        let mut event_queue = EventQueue::new();
        event_queue.at(Instant(5), Ping(0, 0));
        event_queue.next();
        event_queue.at(Instant(4), Ping(0, 1));
    }

    proptest! {
        #[test]
        fn comes_out_sorted(events in prop::collection::vec((0u64..50, 0u8..4), 0..200)) {
            let mut event_queue = EventQueue::new();
            for (i, &(when, rank)) in events.iter().enumerate() {
                event_queue.at(Instant(when), Ping(rank, i as u32));
            }
            let out: Vec<_> =
                std::iter::from_fn(|| event_queue.next()).map(|(t, p)| (t, p.0, p.1)).collect();
            prop_assert_eq!(out.len(), events.len());
            prop_assert!(out.windows(2).all(|w| w[0] < w[1]));
        }

        #[test]
        fn each_event_is_the_first_of_those_pending(
            steps in prop::collection::vec(prop::option::of((0u64..90, 0u8..4)), 0..600),
        ) {
            let mut event_queue = EventQueue::new();
            let mut pending = Vec::new();
            for (step, number) in steps.into_iter().zip(0..) {
                if let Some((ahead, rank)) = step {
                    let when = event_queue.now() + crate::Duration(ahead);
                    event_queue.at(when, Ping(rank, number));
                    pending.push((when, rank, number));
                    continue;
                }
                let first = pending.iter().copied().min();
                pending.retain(|&event| Some(event) != first);
                prop_assert_eq!(event_queue.next().map(|(at, ping)| (at, ping.0, ping.1)), first);
                prop_assert_eq!(event_queue.peek(), pending.iter().min().map(|event| event.0));
                prop_assert_eq!(event_queue.len(), pending.len());
            }
        }
    }
}
