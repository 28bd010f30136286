//! The sender's side of a block code: the blocks, and the units of them that were sent.
//!
//! Every transmission of a unit has its own number. An acknowledgement therefore identifies which
//! transmission arrived and when it left. Losses are detected as in RFC 9002.

use crate::delivery::Departure;
use crate::fec::{MOST_UNITS, Shards, reactive};
use kernel::{Duration, Instant};
use std::collections::VecDeque;
use wire::{Coded, SackBlock, SackBlocks};

/// A unit is lost if a unit that was sent this many transmissions later has arrived (RFC 9002
/// §6.1.1).
const PACKET_THRESHOLD: u64 = 3;

/// The state of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitState {
    InFlight,
    Arrived,
    Lost,
}

/// One transmission.
#[derive(Clone, Copy, Debug)]
struct SentUnit {
    block: u64,
    index: u8,
    state: UnitState,
    /// Whether it belongs to the first transmission of its block.
    first: bool,
    len: u32,
    departure: Departure,
}

/// A block: the data from `start` on, and its parity.
#[derive(Clone, Debug)]
struct Block {
    start: u64,
    /// Bytes of data, or 1 for the FIN.
    span: u64,
    data: u8,
    fin: bool,
    /// The number of units in the first transmission, and the number of units sent so far, in the
    /// order of their indices.
    first: u32,
    sent: u32,
    /// The units that have arrived, and the units that are in flight.
    arrived: Shards,
    in_flight_units: Shards,
    /// How many units of the first transmission are known to have arrived or to be lost, and how
    /// many of these were lost.
    settled: u32,
    lost: u32,
    /// Transmissions in flight. The same unit may be in flight several times.
    in_flight: u32,
    /// How many more units wait to be sent to repair losses, and when the last were requested.
    wanted: u32,
    asked: Option<Instant>,
    /// The receiver has the whole block.
    done: bool,
    /// Its losses have been counted.
    counted: bool,
}

impl Block {
    fn end(&self) -> u64 {
        self.start + self.span
    }

    fn size(&self) -> u64 {
        self.span.div_ceil(u64::from(self.data))
    }

    /// Whether units of the first transmission are still unsent.
    fn has_unsent(&self) -> bool {
        !self.done && self.sent < self.first
    }

    /// The unit to send next: first the units of the first transmission, then parity that was not
    /// sent yet, then the first missing data unit that is not in flight.
    fn next(&self, parity: bool) -> Option<u8> {
        if self.sent < self.first || parity && self.sent < MOST_UNITS {
            return Some(self.sent as u8);
        }
        (0..self.data).find(|&index| !self.arrived.has(index) && !self.in_flight_units.has(index))
    }
}

/// A unit that may be sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    block: u64,
    pub(crate) index: u8,
    /// The sequence number and the length in bytes of the segment.
    pub(crate) seq: u64,
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// Whether the unit belongs to the first transmission of its block.
    pub(crate) first: bool,
}

/// What the SACK blocks of an acknowledgement newly report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackInfo {
    /// Bytes that have newly arrived.
    pub(crate) delivered: u64,
    /// The newly arrived unit with the highest number, and the record of its departure.
    pub(crate) newest: Option<(u64, Departure)>,
}

/// Blocks, and the units of them that were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    units: VecDeque<SentUnit>,
    /// The number of the first element of `units`, and the lowest number that may be in flight.
    first_unit: u64,
    young: u64,
    table: VecDeque<Block>,
    first_block: u64,
    /// Bytes in flight.
    in_flight: u64,
    /// One past the highest unit that has arrived.
    top: u64,
    /// The SACK blocks of the previous report.
    known: SackBlocks,
}

impl Blocks {
    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The number of the next transmission.
    pub(crate) fn next_unit(&self) -> u64 {
        self.first_unit + self.units.len() as u64
    }

    /// One past the highest unit that has arrived.
    pub(crate) fn top(&self) -> u64 {
        self.top
    }

    /// Whether a unit in flight or lost belongs to a block that still needs a probe.
    pub(crate) fn is_waiting(&self) -> bool {
        self.table.iter().any(|block| !block.done)
    }

    /// Forgets everything in flight when the connection is over.
    pub(crate) fn clear(&mut self) {
        *self = Self { first_unit: self.next_unit(), top: self.top, ..Self::default() };
        self.young = self.first_unit;
    }

    /// The block of this number, if it is still in the table.
    fn block(&mut self, number: u64) -> Option<&mut Block> {
        let index = number.checked_sub(self.first_block)?;
        self.table.get_mut(index as usize)
    }

    // ---- sending ----

    /// Adds a block: `span` bytes from `start` in `data` units of data, of which `first` units
    /// (data and parity) are sent at first.
    pub(crate) fn push(&mut self, start: u64, span: u64, data: u8, first: u32, fin: bool) {
        self.table.push_back(Block {
            start,
            span,
            data,
            fin,
            first: first.max(u32::from(data)),
            sent: 0,
            arrived: Shards::default(),
            in_flight_units: Shards::default(),
            settled: 0,
            lost: 0,
            in_flight: 0,
            wanted: 0,
            asked: None,
            done: false,
            counted: false,
        });
    }

    /// The unit to send next: for the oldest loss, else of the block whose first transmission is
    /// under way. If parity is disabled or used up, the missing data is resent.
    pub(crate) fn turn(&mut self, parity: bool) -> Option<Turn> {
        for (number, block) in (self.first_block..).zip(&mut self.table) {
            if block.wanted > 0 {
                if let Some(index) = block.next(parity) {
                    return Some(turn(number, block, index));
                }
                block.wanted = 0;
            }
        }
        let last = self.table.back().filter(|block| block.has_unsent())?;
        let number = self.first_block + self.table.len() as u64 - 1;
        Some(turn(number, last, last.sent as u8))
    }

    /// Records that the unit is sent, and returns the fields of the segment that describe the code.
    pub(crate) fn send(&mut self, turn: &Turn, departure: Departure) -> Coded {
        let unit = self.next_unit();
        let first_block = self.first_block;
        let block = &mut self.table[(turn.block - first_block) as usize];
        if u32::from(turn.index) == block.sent {
            block.sent += 1;
        }
        if !turn.first {
            block.wanted = block.wanted.saturating_sub(1);
        }
        block.in_flight_units.insert(turn.index);
        block.in_flight += 1;
        let data = block.data;
        let span = block.span as u32;
        self.units.push_back(SentUnit {
            block: turn.block,
            index: turn.index,
            state: UnitState::InFlight,
            first: turn.first,
            len: turn.len,
            departure,
        });
        self.in_flight += u64::from(turn.len);
        let data = std::num::NonZeroU8::new(data).expect("a block has data");
        Coded { unit, span, data, index: turn.index }
    }

    // ---- what arrived ----

    /// Reads the SACK blocks of an acknowledgement, which report the numbers of units that have
    /// arrived.
    pub(crate) fn report(&mut self, blocks: &SackBlocks) -> SackInfo {
        let mut info = SackInfo::default();
        for &block in blocks.as_slice() {
            // The previous report had most of this run: only its ends are new.
            let mut known = self.known.as_slice().iter().copied();
            let inside = |old: &SackBlock| block.start <= old.start && old.end <= block.end;
            match known.find(inside) {
                Some(old) => {
                    self.arrive(block.start, old.start, &mut info);
                    self.arrive(old.end, block.end, &mut info);
                }
                None => self.arrive(block.start, block.end, &mut info),
            }
        }
        if !blocks.is_empty() {
            self.known = *blocks;
        }
        info
    }

    fn arrive(&mut self, from: u64, to: u64, info: &mut SackInfo) {
        let (from, to) = (from.max(self.first_unit), to.min(self.next_unit()));
        for number in from..to {
            let unit = &mut self.units[(number - self.first_unit) as usize];
            let state = std::mem::replace(&mut unit.state, UnitState::Arrived);
            if state == UnitState::Arrived {
                continue;
            }
            let unit = *unit;
            info.delivered += u64::from(unit.len);
            if info.newest.is_none_or(|(newest, _)| newest < number) {
                info.newest = Some((number, unit.departure));
            }
            self.top = self.top.max(number + 1);
            if state == UnitState::InFlight {
                self.in_flight -= u64::from(unit.len);
            }
            let Some(block) = self.block(unit.block) else { continue };
            block.arrived.insert(unit.index);
            if state == UnitState::InFlight {
                block.settle(&unit, false);
            } else {
                // The unit was late, and not lost.
                block.lost -= u32::from(unit.first && !block.counted);
            }
        }
    }

    /// Processes a cumulative acknowledgement: everything below `una` has been delivered, so that
    /// blocks are complete and their data has arrived.
    pub(crate) fn acknowledge(&mut self, una: u64) {
        for block in &mut self.table {
            if block.start >= una {
                break;
            }
            if block.end() <= una {
                block.done = true;
                block.wanted = 0;
            } else {
                let size = block.size();
                for index in 0..((una - block.start) / size).min(u64::from(block.data)) {
                    block.arrived.insert(index as u8);
                }
            }
        }
    }

    /// Detects losses by time and by packet threshold (RFC 9002 §6.1). Returns the lost bytes, the
    /// number of the last lost unit, and when the next unit would be lost.
    pub(crate) fn find_losses(&mut self, now: Instant, late: Duration) -> Losses {
        let mut losses = Losses::default();
        let mut number = self.young.max(self.first_unit);
        while number < self.top {
            let unit = self.units[(number - self.first_unit) as usize];
            if unit.state == UnitState::InFlight {
                let due = unit.departure.at + late;
                if number + PACKET_THRESHOLD >= self.top && due > now {
                    losses.next = Some(due);
                    break;
                }
                self.lose(number, &mut losses);
            }
            number += 1;
        }
        self.young = number;
        losses
    }

    /// The retransmission timer expired: everything in flight is lost.
    pub(crate) fn lose_all(&mut self) -> Losses {
        let mut losses = Losses::default();
        for number in self.young.max(self.first_unit)..self.next_unit() {
            if self.units[(number - self.first_unit) as usize].state == UnitState::InFlight {
                self.lose(number, &mut losses);
            }
        }
        self.young = self.next_unit();
        losses
    }

    fn lose(&mut self, number: u64, losses: &mut Losses) {
        let unit = &mut self.units[(number - self.first_unit) as usize];
        unit.state = UnitState::Lost;
        let unit = *unit;
        self.in_flight -= u64::from(unit.len);
        losses.bytes += u64::from(unit.len);
        losses.last = Some(number);
        if let Some(block) = self.block(unit.block) {
            block.settle(&unit, true);
        }
    }

    /// Requests more units for blocks whose losses the units in flight cannot repair. A block
    /// requests at most once per round trip, unless none of its units is in flight.
    pub(crate) fn ask(&mut self, now: Instant, round: Duration, loss_rate: f64) {
        for block in &mut self.table {
            let need = u32::from(block.data);
            let have = block.arrived.len();
            if block.done || have >= need {
                block.wanted = 0;
                continue;
            }
            let coming = block.in_flight_units.count_outside(&block.arrived);
            let unsent = block.first.saturating_sub(block.sent);
            let short = reactive(need, have, coming + unsent, loss_rate).min(block.first.max(1));
            block.wanted = block.wanted.min(short);
            let rested = block.asked.is_none_or(|asked| asked + round <= now);
            let hole = block.lost > 0 || block.sent > block.first;
            let stuck = coming + unsent == 0;
            if hole && (rested || stuck) && short > block.wanted {
                block.wanted = short;
                block.asked = Some(now);
            }
        }
    }

    /// Another unit of the last block that the receiver lacks.
    pub(crate) fn probe(&self, parity: bool) -> Option<Turn> {
        let index = self.table.iter().rposition(|block| !block.done)?;
        let block = &self.table[index];
        let unit = block.next(parity).or_else(|| {
            // All missing units are in flight: send the last of them again.
            (0..block.data).rev().find(|&index| !block.arrived.has(index))
        })?;
        Some(turn(self.first_block + index as u64, block, unit))
    }

    /// Removes completed blocks from the table. Reports the units and losses of each block whose
    /// first transmission is complete.
    pub(crate) fn settle(&mut self, mut count: impl FnMut(u32, u32)) {
        for block in &mut self.table {
            let sent = block.sent.min(block.first);
            let over = !block.has_unsent() && block.settled >= sent;
            if over && !block.counted {
                block.counted = true;
                // A block that holds only the FIN is not counted as a window.
                if sent > 0 && !block.fin {
                    count(sent, block.lost);
                }
            }
        }
        while let Some(&unit) = self.units.front() {
            let done = self.block(unit.block).is_none_or(|block| block.done);
            if unit.state == UnitState::InFlight || unit.state == UnitState::Lost && !done {
                break;
            }
            self.units.pop_front();
            self.first_unit += 1;
        }
        while let Some(block) = self.table.front()
            && block.done
            && block.in_flight == 0
            && block.counted
        {
            self.table.pop_front();
            self.first_block += 1;
        }
    }
}

impl Block {
    /// The outcome of a unit that was in flight is known.
    fn settle(&mut self, unit: &SentUnit, lost: bool) {
        self.in_flight -= 1;
        self.in_flight_units.remove(unit.index);
        if unit.first {
            self.settled += 1;
            self.lost += u32::from(lost);
        }
    }
}

/// The result of a search for lost units.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) bytes: u64,
    /// The number of the last lost unit.
    pub(crate) last: Option<u64>,
    /// When the next unit is lost, unless it arrives before.
    pub(crate) next: Option<Instant>,
}

fn turn(number: u64, block: &Block, index: u8) -> Turn {
    let (seq, len) = if block.fin {
        (block.start, 0)
    } else if index < block.data {
        let seq = block.start + u64::from(index) * block.size();
        (seq, block.size().min(block.end() - seq))
    } else {
        (block.start, block.size())
    };
    let first = u32::from(index) == block.sent && block.sent < block.first;
    Turn { block: number, index, seq, len: len as u32, fin: block.fin, first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::DeliveryMeter;
    use proptest::prelude::*;

    fn at(ns: u64) -> Departure {
        DeliveryMeter::default().on_send(Instant(ns), 0, 0)
    }

    /// Sends all that may be sent; the segments as `block start:index`.
    fn send(blocks: &mut Blocks, ns: u64) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(turn) = blocks.turn(true) {
            sent.push(format!("{}:{}", turn.seq, turn.index));
            blocks.send(&turn, at(ns));
        }
        sent
    }

    fn report(blocks: &mut Blocks, runs: &[(u64, u64)]) -> u64 {
        let mut all = SackBlocks::NONE;
        for &(start, end) in runs {
            all.push(SackBlock { start, end });
        }
        blocks.report(&all).delivered
    }

    #[test]
    fn a_block_is_sent_in_order_and_the_last_of_its_data_may_be_short() {
        let mut blocks = Blocks::default();
        blocks.push(1, 250, 3, 5, false);
        assert_eq!(send(&mut blocks, 0), ["1:0", "85:1", "169:2", "1:3", "1:4"]);
        assert_eq!(blocks.in_flight(), 84 + 84 + 82 + 84 + 84);
        assert_eq!(report(&mut blocks, &[(0, 3)]), 250);
        blocks.acknowledge(251);
        assert_eq!((blocks.in_flight(), blocks.is_waiting()), (168, false));
        assert_eq!(report(&mut blocks, &[(0, 5)]), 168);
        blocks.settle(|units, lost| assert_eq!((units, lost), (5, 0)));
        assert!(blocks.table.is_empty() && blocks.units.is_empty());
    }

    #[test]
    fn three_later_arrivals_or_time_show_a_loss() {
        let mut blocks = Blocks::default();
        blocks.push(1, 800, 8, 8, false);
        send(&mut blocks, 0);
        report(&mut blocks, &[(1, 3)]);
        let late = Duration(100);
        let losses = blocks.find_losses(Instant(50), late);
        assert_eq!((losses.bytes, losses.last, losses.next), (0, None, Some(Instant(100))));
        report(&mut blocks, &[(1, 4)]);
        assert_eq!(blocks.find_losses(Instant(50), late).last, Some(0), "three later");
        report(&mut blocks, &[(5, 6)]);
        assert_eq!(blocks.find_losses(Instant(99), late).last, None);
        assert_eq!(blocks.find_losses(Instant(100), late).last, Some(4), "by time");
        assert_eq!(blocks.in_flight(), 200, "what lies above the last arrival may be on its way");
        assert_eq!(report(&mut blocks, &[(0, 1)]), 100, "it was late, not lost");
        blocks.lose_all();
        blocks.settle(|units, lost| assert_eq!((units, lost), (8, 3)));
    }

    #[test]
    fn holes_are_filled_with_parity_for_what_is_not_on_its_way() {
        let mut blocks = Blocks::default();
        blocks.push(1, 800, 8, 10, false);
        send(&mut blocks, 0);
        let round = Duration(1000);
        // Three of ten are lost. Two parity units came with the block, so that one more is needed.
        report(&mut blocks, &[(3, 10)]);
        blocks.find_losses(Instant(50), Duration(1));
        blocks.ask(Instant(50), round, 0.0);
        assert_eq!(send(&mut blocks, 60), ["1:10"]);
        blocks.ask(Instant(70), round, 0.0);
        assert_eq!(send(&mut blocks, 70), Vec::<String>::new(), "it is on its way");
        // This one is lost, too. Nothing of the block is in flight, so that a request need not wait
        // for a round trip. At a loss rate of one half, two units are sent for one.
        blocks.lose_all();
        blocks.ask(Instant(80), round, 0.5);
        assert_eq!(send(&mut blocks, 80), ["1:11", "1:12"]);
        report(&mut blocks, &[(11, 12), (3, 10)]);
        blocks.ask(Instant(90), round, 0.5);
        assert_eq!(send(&mut blocks, 90), Vec::<String>::new(), "eight have arrived");
    }

    #[test]
    fn without_parity_the_missing_data_is_sent_again() {
        let mut blocks = Blocks::default();
        blocks.push(1, 800, 8, 8, false);
        send(&mut blocks, 0);
        report(&mut blocks, &[(0, 2), (3, 5), (6, 8)]);
        blocks.find_losses(Instant(50), Duration(1));
        blocks.ask(Instant(50), Duration(1000), 0.0);
        let mut again = Vec::new();
        while let Some(turn) = blocks.turn(false) {
            again.push((turn.seq, turn.len, turn.first));
            blocks.send(&turn, at(50));
        }
        assert_eq!(again, [(201, 100, false), (501, 100, false)]);
        let probe = blocks.probe(false).unwrap();
        assert_eq!(probe.index, 5, "all that is missing is in flight: its last again");
    }

    #[test]
    fn when_no_parity_is_left_the_missing_data_is_sent_again() {
        let mut blocks = Blocks::default();
        blocks.push(1, 200, 2, 2, false);
        let mut sent = send(&mut blocks, 0).len() as u32;
        for _ in 0..MOST_UNITS {
            blocks.lose_all();
            blocks.ask(Instant(1), Duration(0), 0.0);
            sent += send(&mut blocks, 0).len() as u32;
            if sent >= MOST_UNITS {
                break;
            }
        }
        blocks.lose_all();
        blocks.ask(Instant(1), Duration(0), 0.0);
        assert!(sent == MOST_UNITS || sent == MOST_UNITS + 1, "{sent}");
        assert_eq!(blocks.turn(true).unwrap().index % 255, blocks.turn(false).unwrap().index);
    }

    proptest! {
        /// After any sequence of sending, reports and losses, the sums equal those over the units.
        #[test]
        fn the_sums_are_right(
            operations in prop::collection::vec((0..7u8, 0..60u64, 1..12u64), 1..120),
        ) {
            let (mut blocks, mut nxt, mut una) = (Blocks::default(), 1, 1);
            for (now, (what, a, b)) in (1..).zip(operations) {
                match what {
                    0 | 1 => {
                        if blocks.turn(true).is_none() {
                            blocks.push(nxt, 100 * b, b as u8, (b + a % 5) as u32, false);
                            nxt += 100 * b;
                        }
                        for _ in 0..a % 9 {
                            let Some(turn) = blocks.turn(a % 2 == 0) else { break };
                            blocks.send(&turn, at(now));
                        }
                    }
                    2 => {
                        report(&mut blocks, &[(a, a + b), (0, a / 2)]);
                    }
                    3 => {
                        blocks.find_losses(Instant(now), Duration(a / 8));
                    }
                    4 => {
                        una = nxt.min(una + a * b);
                        blocks.acknowledge(una);
                    }
                    5 if b == 1 => {
                        blocks.lose_all();
                    }
                    5 => blocks.ask(Instant(now), Duration(b), a as f64 / 60.0),
                    _ => {
                        let mut counted = Vec::new();
                        blocks.settle(|units, lost| counted.push((units, lost)));
                        prop_assert!(counted.iter().all(|&(units, lost)| lost <= units));
                    }
                }
                let is_in_flight = |unit: &&SentUnit| unit.state == UnitState::InFlight;
                let bytes: u64 =
                    blocks.units.iter().filter(is_in_flight).map(|unit| u64::from(unit.len)).sum();
                prop_assert_eq!(bytes, blocks.in_flight());
                for (number, block) in (blocks.first_block..).zip(&blocks.table) {
                    let own = |unit: &&SentUnit| is_in_flight(unit) && unit.block == number;
                    let in_flight = blocks.units.iter().filter(own).count();
                    prop_assert_eq!(in_flight, block.in_flight as usize);
                    prop_assert!(block.sent <= MOST_UNITS && block.lost <= block.settled);
                    prop_assert!(block.in_flight_units.len() <= block.in_flight);
                    // Only a block that lacks units requests more.
                    let lacks = !block.done && block.arrived.len() < u32::from(block.data);
                    prop_assert!(block.wanted == 0 || lacks || what != 5 || b == 1);
                }
            }
        }
    }
}
