//! Coded data at the receiver: blocks that wait for enough units, and the reports of the
//! transmissions that have arrived.
//!
//! The code is systematic. Data that arrives in order is delivered at once. A block of K data units
//! is decoded when any K of its units, data or parity, have arrived.

use super::Receiver;
use crate::Command;
use crate::fec::{Fec, MOST_UNITS, Shards, recovers};
use kernel::Instant;
use std::collections::VecDeque;
use std::ops::Range;
use wire::{Coded, Flags, SackBlock, SackBlocks, Segment};

/// A block of which at least one unit has arrived.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    span: u64,
    data: u8,
    arrived: Shards,
    /// How many of the arrived units are data.
    of_data: u32,
}

impl Block {
    fn end(&self) -> u64 {
        self.start + self.span
    }
}

/// The blocks that wait for more units, and the transmissions that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    verify: bool,
    /// The blocks by their first byte.
    blocks: VecDeque<Block>,
    /// Ranges of transmission numbers, the one that changed last first; empty ranges at the end.
    recent: [SackBlock; 4],
    /// One past the highest transmission that has arrived.
    top: u64,
}

impl Decoder {
    pub(super) fn new(settings: &Fec) -> Self {
        let recent = [SackBlock::default(); 4];
        Self { verify: settings.verify, blocks: VecDeque::new(), recent, top: 0 }
    }

    /// Records a transmission; returns whether it is the next in order.
    fn note(&mut self, unit: u64) -> bool {
        let next = unit == self.top;
        self.top = self.top.max(unit.saturating_add(1));
        let near = |run: &SackBlock| {
            run.start < run.end && run.start <= unit.saturating_add(1) && unit <= run.end
        };
        let (place, run) = match self.recent.iter().position(near) {
            Some(place) => {
                let SackBlock { start, end } = self.recent[place];
                let end = end.max(unit.saturating_add(1));
                (place, SackBlock { start: start.min(unit), end })
            }
            None => (3, SackBlock { start: unit, end: unit.saturating_add(1) }),
        };
        self.recent.copy_within(0..place, 1);
        self.recent[0] = run;
        next
    }

    /// The ranges that an acknowledgement reports: the one that changed last first, and at most
    /// this many.
    pub(super) fn report(&self, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        for &run in self.recent.iter().take(most).filter(|run| run.start < run.end) {
            blocks.push(run);
        }
        blocks
    }

    /// Adds a unit to the block that begins at `start`; returns the block if it can be decoded now.
    fn take(&mut self, start: u64, coded: &Coded) -> Option<Block> {
        let place = self.blocks.partition_point(|block| block.start < start);
        if self.blocks.get(place).is_none_or(|block| block.start != start) {
            let (span, data) = (u64::from(coded.span), coded.data.get());
            let arrived = Shards::default();
            self.blocks.insert(place, Block { start, span, data, arrived, of_data: 0 });
        }
        let block = &mut self.blocks[place];
        let new = block.arrived.insert(coded.index);
        block.of_data += u32::from(new && coded.index < block.data);
        if block.arrived.len() < u32::from(block.data) {
            return None;
        }
        self.blocks.remove(place)
    }

    /// Removes the blocks below `next`, which have been delivered.
    fn forget(&mut self, next: u64) {
        while self.blocks.front().is_some_and(|block| block.end() <= next) {
            self.blocks.pop_front();
        }
    }
}

/// The largest unit: a unit travels in one IP packet (RFC 791 §3.1, Total Length).
const MOST_UNIT: u64 = 65_535;

/// Whether such a unit is possible: no data unit is empty, one packet carries the unit, and the
/// code has this index.
fn is_sound(coded: &Coded) -> bool {
    let size = coded.unit_size();
    let before = size * u64::from(coded.data.get() - 1);
    before < u64::from(coded.span) && size <= MOST_UNIT && u32::from(coded.index) < MOST_UNITS
}

impl Receiver {
    /// A unit of coded data arrived.
    pub(super) fn on_unit(
        &mut self,
        now: Instant,
        segment: &Segment,
        coded: &Coded,
        out: &mut Vec<Command>,
    ) {
        let Some(mut decoder) = self.decoder.take() else { return };
        let acks = self.counters.acks_sent;
        self.counters.segments += u64::from(segment.len > 0);
        let next = decoder.note(coded.unit);
        let start = coded.block_start(segment.seq).filter(|&start| start > 0 && is_sound(coded));
        let end = start.and_then(|start| start.checked_add(u64::from(coded.span)));
        let limit = self.limit();
        let fin = segment.flags.has(Flags::FIN);
        // Data beyond the window is not accepted (RFC 9293 §3.10.7.4). The FIN occupies no window.
        let block = start.zip(end).filter(|&(_, end)| end <= limit || fin);
        match block {
            Some((start, end)) if fin && start >= self.next => {
                debug_assert!(end > start);
                self.fin = self.fin.or(Some(start));
            }
            Some((start, end)) if end > self.next && !self.finished() => {
                self.store_unit(segment, coded, start..end, &mut decoder);
            }
            _ => self.counters.duplicates += u64::from(segment.len > 0),
        }
        self.decoder = Some(decoder);
        self.deliver(now, segment.len, next, acks, out);
        if let Some(decoder) = &mut self.decoder {
            decoder.forget(self.next);
        }
    }

    /// Stores the content of a unit of the block with this range: its data, or the block that it
    /// completes.
    fn store_unit(
        &mut self,
        segment: &Segment,
        coded: &Coded,
        range: Range<u64>,
        decoder: &mut Decoder,
    ) {
        let Range { start, end } = range;
        let last = segment.seq.saturating_add(u64::from(segment.len)).min(end);
        let data = !coded.is_parity();
        let below = segment.seq <= self.next;
        self.counters.out_of_order += u64::from(data && !below);
        if data && last > self.next {
            self.store.insert(segment.seq.max(self.next), last);
        }
        let Some(block) = decoder.take(start, coded) else { return };
        let recovered = u32::from(block.data).saturating_sub(block.of_data);
        if recovered > 0 {
            self.counters.recovered += u64::from(recovered);
            self.counters.decoded += 1;
            if decoder.verify {
                let same = recovers(block.start, block.span, block.data, &block.arrived);
                assert!(same, "the bytes of the block from {start} are not those that were sent");
                self.counters.verified += 1;
            }
        }
        self.store.insert(start.max(self.next), end);
    }

    /// Delivers data in order, and acknowledges: at once if a hole appeared, was filled or remains,
    /// else like data in order, parity included.
    fn deliver(&mut self, now: Instant, len: u32, next: bool, acks: u64, out: &mut Vec<Command>) {
        let filled = self.store.runs().next().is_some_and(|(start, _)| start <= self.next);
        let before = self.next;
        if filled || self.fin == Some(self.next) {
            // Only a unit that arrived in order and on its own may have its acknowledgement
            // delayed.
            let single = self.store.runs().nth(1).is_none();
            let end = self.store.take_from(self.next);
            let plain = next && single && end <= before + u64::from(len);
            self.on_in_order(now, end, out);
            if !plain && self.counters.acks_sent == acks {
                self.acknowledge(now, out);
            }
            return;
        }
        self.pending += u64::from(len);
        if !next || !self.store.is_empty() || self.pending >= self.enough() {
            self.acknowledge(now, out);
        } else {
            self.delay(now, out);
        }
    }
}
