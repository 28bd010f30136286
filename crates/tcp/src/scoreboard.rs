//! The SACK scoreboard: which outstanding segments have arrived, are lost or were retransmitted
//! (RFC 6675 §3 and §4).
//!
//! Segments are stored in the order of their first transmission, which is the order of their
//! sequence numbers, and are identified by a running number. Retransmissions are listed separately
//! in the order of their time. Both lists are therefore ordered by time, and an acknowledgement in
//! order only removes first elements.

use crate::delivery::Departure;
use crate::rack::Rack;
use crate::sent::{EVER, LOST, RESENT, SACKED, Sent};
use kernel::{Duration, Instant};
use std::collections::VecDeque;
use wire::{SackBlock, SackBlocks};

/// RFC 6675's `DupThresh`.
const DUP_THRESH: u64 = 3;

/// Is told of a segment and of its record, if the delivery rate is sampled.
pub(crate) trait Visit: FnMut(&Sent, Option<&Departure>) {}
impl<F: FnMut(&Sent, Option<&Departure>)> Visit for F {}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    sent: VecDeque<Sent>,
    /// Of each of them the record for delivery rate samples; empty if the rate is not sampled.
    records: VecDeque<Departure>,
    /// The number of the first element of `sent`.
    first: u64,
    /// Bytes that have arrived, bytes that are lost, retransmitted bytes in flight, and segments
    /// that have arrived.
    sacked: u64,
    lost: u64,
    resent: u64,
    sacked_segments: u64,
    /// Lost bytes that were not retransmitted.
    waiting: u64,
    /// One past the number of the highest segment that has arrived.
    top: u64,
    /// Below this number, RFC 6675's `IsLost` has been evaluated.
    edge: u64,
    /// Below this number, each segment was retransmitted or is lost.
    young: u64,
    /// Below this number, no lost segment waits for retransmission.
    hint: u64,
    /// One past the highest number retransmitted in this recovery (`HighRxt`).
    reach: u64,
    /// Retransmissions in the order of time; some entries are outdated.
    again: VecDeque<(u64, Instant)>,
    /// The SACK blocks of the previous acknowledgement.
    known: SackBlocks,
}

impl Scoreboard {
    // ---- what is known ----

    /// Bytes that have arrived above the cumulative acknowledgement.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments that have arrived above the cumulative acknowledgement.
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    /// Bytes considered lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Retransmitted bytes in flight.
    pub(crate) fn resent(&self) -> u64 {
        self.resent
    }

    /// RFC 6675's `pipe`, given the number of outstanding bytes.
    pub(crate) fn pipe(&self, outstanding: u64) -> u64 {
        let pipe = (outstanding + self.resent).checked_sub(self.sacked + self.lost);
        debug_assert!(pipe.is_some(), "pipe below zero");
        pipe.unwrap_or(0)
    }

    /// Segments outstanding.
    pub(crate) fn segments(&self) -> usize {
        self.sent.len()
    }

    /// Whether any segment is marked; if none is, everything is in order.
    pub(crate) fn is_plain(&self) -> bool {
        self.sacked | self.lost | self.resent == 0
    }

    /// The segment of this number.
    pub(crate) fn get(&self, number: u64) -> Sent {
        self.sent[(number - self.first) as usize]
    }

    fn end(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    // ---- sending ----

    /// New data left. `record` is for delivery rate samples: either all segments have one, or none.
    pub(crate) fn push(&mut self, start: u64, end: u64, at: Instant, record: Option<Departure>) {
        self.sent.push_back(Sent { start, end, at, marks: 0 });
        if let Some(record) = record {
            self.records.push_back(record);
        }
    }

    /// A segment was retransmitted. A rescue retransmission does not move `HighRxt` (RFC 6675 §4,
    /// rule (4)).
    pub(crate) fn resend(
        &mut self,
        number: u64,
        at: Instant,
        record: Option<Departure>,
        rescue: bool,
    ) {
        let index = (number - self.first) as usize;
        let sent = &mut self.sent[index];
        let len = sent.len();
        if sent.has(LOST) && !sent.has(RESENT) {
            self.waiting -= len;
        }
        if !sent.has(RESENT) {
            self.resent += len;
        }
        sent.marks |= RESENT | EVER;
        sent.at = at;
        self.again.push_back((number, at));
        if let Some(record) = record {
            self.records[index] = record;
        }
        if !rescue {
            self.reach = self.reach.max(number + 1);
        }
    }

    /// Recovery begins: nothing has been retransmitted in it.
    pub(crate) fn begin(&mut self) {
        self.reach = 0;
    }

    /// RFC 6675 `NextSeg` rule (1): the first segment that is lost and was not retransmitted.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        let from = self.hint.max(self.first);
        let found = (from..self.end()).find(|&number| {
            let sent = self.get(number);
            sent.has(LOST) && !sent.has(RESENT)
        });
        self.hint = found.unwrap_or(self.end());
        found
    }

    /// Rule (3): the first segment that has not arrived, above the retransmitted ones and below the
    /// highest that arrived.
    pub(crate) fn next_doubtful(&self) -> Option<u64> {
        let from = self.reach.max(self.edge).max(self.first);
        (from..self.top).find(|&number| !self.get(number).has(SACKED | LOST | RESENT))
    }

    /// Rule (4): the last segment that has not arrived.
    pub(crate) fn last_missing(&self) -> Option<u64> {
        (self.first..self.end()).rev().find(|&number| !self.get(number).has(SACKED))
    }

    // ---- acknowledgements ----

    /// Everything below `una` has arrived. Calls `visit` for each segment that is newly known to
    /// have arrived, and returns their bytes.
    pub(crate) fn acknowledge(&mut self, una: u64, visit: &mut impl Visit) -> u64 {
        let mut delivered = 0;
        while let Some(&sent) = self.sent.front()
            && sent.end <= una
        {
            self.sent.pop_front();
            self.first += 1;
            delivered += self.forget(&sent, sent.len());
            if !sent.has(SACKED) {
                visit(&sent, self.records.front());
            }
            self.records.pop_front();
        }
        if let Some(front) = self.sent.front_mut()
            && front.start < una
        {
            let (sent, part) = (*front, una - front.start);
            front.start = una;
            delivered += self.forget(&sent, part);
        }
        if self.sent.is_empty() {
            self.again.clear();
        }
        delivered
    }

    /// Everything below `una` has arrived, while no segment is marked, so that the sums stay zero.
    /// Calls `visit` for each segment that has arrived.
    #[inline]
    pub(crate) fn acknowledge_plain(&mut self, una: u64, mut visit: impl Visit) {
        debug_assert!(self.is_plain());
        while let Some(sent) = self.sent.front_mut() {
            if sent.end > una {
                sent.start = sent.start.max(una);
                return;
            }
            visit(sent, self.records.front());
            self.sent.pop_front();
            self.records.pop_front();
            self.first += 1;
        }
        self.again.clear();
    }

    /// Removes `len` bytes of a segment from the sums; returns how many of them were not known to
    /// have arrived.
    fn forget(&mut self, sent: &Sent, len: u64) -> u64 {
        if sent.marks & (SACKED | LOST | RESENT) == 0 {
            return len;
        }
        if sent.has(SACKED) {
            self.sacked -= len;
            self.sacked_segments -= u64::from(len == sent.len());
            return 0;
        }
        if sent.has(LOST) {
            self.lost -= len;
            self.waiting -= if sent.has(RESENT) { 0 } else { len };
        }
        if sent.has(RESENT) {
            self.resent -= len;
        }
        len
    }

    /// Processes the SACK blocks of an acknowledgement except the first `skip`. Calls `visit` for
    /// each segment that they newly report, and returns their bytes. The receiver reports the
    /// newest block first (RFC 2018 §4). Here the order is that of the sequence numbers, in which
    /// the segments were sent, so that the order of blocks is not taken for reordering.
    pub(crate) fn select(
        &mut self,
        blocks: &SackBlocks,
        skip: usize,
        visit: &mut impl Visit,
    ) -> u64 {
        let mut delivered = 0;
        for &block in blocks.ascending(skip).as_slice() {
            // The previous acknowledgement had most of this block: only its ends are new.
            let old = self.known.as_slice().iter().copied();
            let inside = |old: &SackBlock| block.start <= old.start && old.end <= block.end;
            match old.clone().find(inside) {
                Some(old) => {
                    delivered += self.mark(block, block.start, old.start, visit);
                    delivered += self.mark(block, old.end, block.end, visit);
                }
                None => delivered += self.mark(block, block.start, block.end, visit),
            }
        }
        self.known = *blocks;
        delivered
    }

    /// Marks the segments that lie entirely in `block` and touch `from..to`.
    fn mark(&mut self, block: SackBlock, from: u64, to: u64, visit: &mut impl Visit) -> u64 {
        let mut delivered = 0;
        let mut index = self.sent.partition_point(|sent| sent.end <= from);
        while let Some(&sent) = self.sent.get(index)
            && sent.start < to
            && sent.end <= block.end
        {
            if sent.start >= block.start && !sent.has(SACKED) {
                delivered += self.forget(&sent, sent.len());
                self.sacked += sent.len();
                self.sacked_segments += 1;
                self.sent[index].marks = sent.marks & !(LOST | RESENT) | SACKED;
                self.top = self.top.max(self.first + index as u64 + 1);
                visit(&sent, self.records.get(index));
            }
            index += 1;
        }
        delivered
    }

    // ---- losses ----

    /// RFC 6675's `IsLost`, for all segments: three discontiguous ranges, or more than two
    /// segments' bytes, have arrived above the segment. Calls `visit` for each segment that is
    /// newly considered lost, and returns their bytes.
    pub(crate) fn find_by_count(&mut self, mss: u64, visit: &mut impl Visit) -> u64 {
        let (mut bytes, mut runs, mut above) = (0, 0, false);
        let low = self.edge.max(self.first);
        let mut number = self.top;
        while number > low {
            number -= 1;
            let sent = self.get(number);
            let arrived = sent.has(SACKED);
            if arrived {
                bytes += sent.len();
                runs += u64::from(!above);
            }
            above = arrived;
            if runs >= DUP_THRESH || bytes > (DUP_THRESH - 1) * mss {
                self.edge = number;
                let fresh = |&lost: &u64| !self.get(lost).has(LOST);
                let lost: Vec<u64> = (low..number).filter(fresh).collect();
                return lost.into_iter().map(|lost| self.lose(lost, visit)).sum();
            }
        }
        0
    }

    /// Marks the first outstanding segment as lost after three duplicate acknowledgements.
    pub(crate) fn lose_first(&mut self, visit: &mut impl Visit) -> u64 {
        if self.sent.is_empty() { 0 } else { self.lose(self.first, visit) }
    }

    fn lose(&mut self, number: u64, visit: &mut impl Visit) -> u64 {
        let index = (number - self.first) as usize;
        let sent = &mut self.sent[index];
        let len = sent.len();
        if sent.has(SACKED) || sent.has(LOST) && !sent.has(RESENT) {
            return 0;
        }
        if sent.has(LOST) {
            // Lost again.
            sent.marks &= !RESENT;
            self.resent -= len;
            self.waiting += len;
        } else {
            sent.marks |= LOST;
            self.lost += len;
            self.waiting += if sent.has(RESENT) { 0 } else { len };
        }
        if !sent.has(RESENT) {
            self.hint = self.hint.min(number);
        }
        visit(sent, self.records.get(index));
        len
    }

    /// RFC 8985 §6.2, step 5: marks segments as lost that left long enough before the most recently
    /// sent segment that was delivered. Calls `visit` for each segment that is newly considered
    /// lost; returns their bytes, and when the next segment would be lost.
    pub(crate) fn find_by_time(
        &mut self,
        now: Instant,
        rack: &Rack,
        window: Duration,
        visit: &mut impl Visit,
    ) -> (u64, Option<Instant>) {
        let (mut lost, mut next) = (0, None);
        let mut late = |sent: &Sent| {
            if (sent.at, sent.end) > (rack.at, rack.end) {
                return false;
            }
            let due = sent.at + rack.rtt + window;
            if due > now {
                next = Some(next.map_or(due, |next: Instant| next.min(due)));
            }
            due <= now
        };
        let mut number = self.young.max(self.first);
        while number < self.end() {
            let sent = self.get(number);
            if !sent.has(SACKED | LOST | EVER) {
                if !late(&sent) {
                    break;
                }
                lost += self.lose(number, visit);
            }
            number += 1;
        }
        self.young = number;
        while let Some(&(number, at)) = self.again.front() {
            if number >= self.first {
                let sent = self.get(number);
                if sent.has(RESENT) && !sent.has(SACKED) && sent.at == at {
                    if !late(&sent) {
                        break;
                    }
                    if !sent.has(LOST) {
                        // A tail loss probe: it is lost like an original, and its retransmission
                        // with it.
                        self.lose(number, &mut |_: &Sent, _: Option<&Departure>| {});
                    }
                    lost += self.lose(number, visit);
                }
            }
            self.again.pop_front();
        }
        (lost, next)
    }

    /// The retransmission timer expired: everything that has not arrived is lost. If the first
    /// segment is marked as arrived, the receiver has reneged, and all marks are cleared (RFC 2018
    /// §8). Calls `visit` for each segment that is newly considered lost.
    pub(crate) fn lose_all(&mut self, visit: &mut impl Visit) {
        if self.sent.front().is_some_and(|sent| sent.has(SACKED)) {
            self.sent.iter_mut().for_each(|sent| sent.marks &= !SACKED);
            (self.sacked, self.sacked_segments, self.top) = (0, 0, 0);
            self.known = SackBlocks::NONE;
        }
        self.again.clear();
        (self.lost, self.resent) = (0, 0);
        for (index, sent) in self.sent.iter_mut().enumerate() {
            if !sent.has(SACKED) {
                if !sent.has(LOST) || sent.has(RESENT) {
                    visit(sent, self.records.get(index));
                }
                sent.marks = sent.marks & !RESENT | LOST;
                self.lost += sent.len();
            }
        }
        self.waiting = self.lost;
        (self.hint, self.reach) = (0, 0);
        (self.young, self.edge) = (self.end(), self.end());
    }

    /// The loss was spurious: no segment is lost.
    pub(crate) fn restore(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.marks &= !LOST);
        (self.lost, self.waiting) = (0, 0);
        (self.young, self.edge) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nobody(_: &Sent, _: Option<&Departure>) {}

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for number in 0..segments {
            board.push(number * 10, number * 10 + 10, Instant::ZERO, None);
        }
        board
    }

    fn sack(board: &mut Scoreboard, start: u64, end: u64) -> u64 {
        let mut blocks = SackBlocks::NONE;
        blocks.push(SackBlock { start, end });
        board.select(&blocks, 0, &mut |_, _| {})
    }

    #[test]
    fn what_is_resent_and_then_arrives_is_in_flight_no_more() {
        let mut board = board(10);
        assert_eq!(sack(&mut board, 10, 40), 30);
        assert_eq!(board.find_by_count(10, &mut nobody), 10);
        assert_eq!(board.pipe(100), 60);
        let lost = board.next_lost().unwrap();
        board.resend(lost, Instant::ZERO, None, false);
        assert_eq!(board.pipe(100), 70);
        assert_eq!(sack(&mut board, 0, 40), 10);
        assert_eq!((board.pipe(100), board.resent(), board.lost()), (60, 0, 0));
    }

    #[test]
    fn a_segment_that_is_covered_in_part_has_not_arrived() {
        let mut board = board(3);
        assert_eq!(sack(&mut board, 5, 25), 10);
        assert_eq!(sack(&mut board, 5, 30), 10, "the block has grown");
        assert_eq!(board.sacked_segments(), 2);
        assert_eq!(board.acknowledge(5, &mut |_, _| {}), 5);
        assert_eq!(board.pipe(25), 5);
    }

    #[test]
    fn is_lost_needs_three_runs_or_more_than_two_segments() {
        // RFC 6675 §4.
        let mut two = board(10);
        sack(&mut two, 10, 30);
        assert_eq!(two.find_by_count(10, &mut nobody), 0, "two segments are not more than two");
        sack(&mut two, 10, 40);
        assert_eq!(two.find_by_count(10, &mut nobody), 10);
        let mut runs = board(10);
        sack(&mut runs, 10, 20);
        sack(&mut runs, 30, 40);
        assert_eq!(runs.find_by_count(100, &mut nobody), 0);
        sack(&mut runs, 50, 60);
        assert_eq!(runs.find_by_count(100, &mut nobody), 10, "only what lies below all three");
    }

    proptest! {
        /// After any sequence of events, the sums equal those over the segments.
        #[test]
        fn the_sums_are_right(
            operations in prop::collection::vec((0..7u8, 0..40u64, 1..10u64), 0..80),
        ) {
            let mut board = board(40);
            let (mut una, mut at) = (0, 1);
            for (what, first, count) in operations {
                at += 1;
                match what {
                    0 => {
                        una = una.max(first * 5);
                        board.acknowledge(una, &mut |_, _| {});
                    }
                    1 | 2 => {
                        sack(&mut board, first * 10, (first + count) * 10);
                    }
                    3 => {
                        board.find_by_count(10, &mut nobody);
                    }
                    4 => {
                        if let Some(number) = board.next_lost() {
                            board.resend(number, Instant(at), None, false);
                        }
                    }
                    5 if count == 1 => board.lose_all(&mut nobody),
                    5 if count == 2 => board.restore(),
                    _ => {
                        let mut rack = Rack::default();
                        (rack.at, rack.end) = (Instant(at), first * 10);
                        let (now, window) = (Instant(at + count), Duration(first));
                        board.find_by_time(now, &rack, window, &mut nobody);
                    }
                }
                let sum = |mark: u8| {
                    let marked = board.sent.iter().filter(|sent| sent.has(mark));
                    marked.map(Sent::len).sum::<u64>()
                };
                prop_assert_eq!(sum(SACKED), board.sacked);
                prop_assert_eq!(sum(LOST), board.lost);
                prop_assert_eq!(sum(RESENT), board.resent);
                let waits = |sent: &&Sent| sent.has(LOST) && !sent.has(RESENT);
                let waiting: u64 = board.sent.iter().filter(waits).map(Sent::len).sum();
                prop_assert_eq!(waiting, board.waiting);
                let outstanding: u64 = board.sent.iter().map(Sent::len).sum();
                prop_assert!(board.pipe(outstanding) <= 2 * outstanding);
                // The search positions skip no segment.
                prop_assert_eq!(board.clone().next_lost().is_some(), waiting > 0);
                let arrived = board.sent.iter().filter(|sent| sent.has(SACKED)).count();
                prop_assert_eq!(arrived as u64, board.sacked_segments);
            }
        }
    }
}
