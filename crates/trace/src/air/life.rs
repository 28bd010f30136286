//! Questions about a file: the next frame of a kind, and the life of a packet.

use super::file::AirFile;
use super::index::{Block, Summary};
use super::rows::{FrameRow, MpduRow, PacketRow, SegmentRow, Table};
use crate::columns::codes;
use std::io;

/// Blocks of segments that are searched for the acknowledgement of one.
const BLOCKS: usize = 200;

/// Which frames are looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    /// The radio that transmits.
    pub radio: Option<u32>,
    /// A kind, as in the tables for Python.
    pub kind: Option<u8>,
    /// An outcome, as in the tables for Python.
    pub outcome: Option<u8>,
    /// Only frames that the addressed node did not receive.
    pub lost: bool,
    /// Only frames with a retransmission.
    pub retried: bool,
}

impl Query {
    fn may_match(&self, radio: u32, kind: u8, part: &Summary) -> bool {
        self.radio.is_none_or(|wanted| wanted == radio)
            && self.kind.is_none_or(|wanted| wanted == kind)
            && (!self.wants_lost() || part.lost > 0)
            && (!self.retried || part.retried > 0)
    }

    fn wants_lost(&self) -> bool {
        self.lost || self.outcome.is_some_and(|outcome| codes::is_lost(u32::from(outcome)))
    }

    fn matches(&self, frame: &FrameRow) -> bool {
        self.radio.is_none_or(|wanted| wanted == frame.from)
            && self.kind.is_none_or(|wanted| wanted == frame.kind)
            && self.outcome.is_none_or(|wanted| wanted == frame.outcome)
            && (!self.lost || frame.is_lost())
            && (!self.retried || frame.retried > 0)
    }
}

/// A frame that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The frame.
    pub frame: FrameRow,
}

/// A step in the life of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// On its way.
    Packet(PacketRow),
    /// At an end of its connection.
    Segment(SegmentRow),
    /// A frame that carries it.
    Frame(FrameRow, MpduRow),
    /// The segment that acknowledges its last byte arrives.
    Acknowledged(SegmentRow),
}

impl Step {
    /// When.
    pub fn at(&self) -> u64 {
        match self {
            Self::Packet(row) => row.at,
            Self::Segment(row) | Self::Acknowledged(row) => row.at,
            Self::Frame(row, _) => row.start,
        }
    }
}

/// The life of a packet, in the order of time.
pub type Life = Vec<Step>;

impl AirFile {
    /// The next frame that matches after this number, or the last one before it.
    pub fn find(&self, query: &Query, number: i64, forward: bool) -> io::Result<Option<Found>> {
        let may = |block: &&Block| {
            let (least, most) = (block.numbers.least as i64, block.numbers.most as i64);
            (if forward { most > number } else { least < number })
                && block
                    .summary
                    .iter()
                    .any(|((radio, kind), part)| query.may_match(*radio, *kind, part))
        };
        let is_beyond = |frame: &FrameRow| {
            let own = i64::from(frame.number);
            (if forward { own > number } else { own < number }) && query.matches(frame)
        };
        let mut blocks: Vec<&Block> = self.blocks(Table::Frames).filter(may).collect();
        if !forward {
            blocks.reverse();
        }
        for block in blocks {
            let rows = self.rows::<FrameRow>(block)?;
            let mut matching = rows.into_iter().filter(|frame| is_beyond(frame));
            let found = if forward { matching.next() } else { matching.next_back() };
            if let Some(frame) = found {
                return Ok(Some(Found { frame }));
            }
        }
        Ok(None)
    }

    /// What happened to a packet, from the segment that was written to its acknowledgement.
    pub fn life(&self, packet: u32) -> io::Result<Life> {
        let mut life = Life::new();
        let own = |block: &&Block| block.numbers.has(u64::from(packet));
        for block in self.blocks(Table::Packets).filter(own) {
            let rows = self.rows::<PacketRow>(block)?;
            life.extend(rows.into_iter().filter(|row| row.packet == packet).map(Step::Packet));
        }
        for block in self.blocks(Table::Mpdus).filter(own) {
            for mpdu in self.rows::<MpduRow>(block)?.into_iter().filter(|row| row.packet == packet)
            {
                if let Some((frame, _)) = self.frame(mpdu.frame)? {
                    life.push(Step::Frame(frame, mpdu));
                }
            }
        }
        let mut last: Option<SegmentRow> = None;
        for block in self.blocks(Table::Segments).filter(own) {
            for row in self.rows::<SegmentRow>(block)?.into_iter().filter(|r| r.packet == packet) {
                life.push(Step::Segment(row));
                last = Some(row);
            }
        }
        if let Some(segment) = last.filter(|row| row.reverse == 0 && row.length > 0) {
            life.extend(self.acknowledgement(&segment)?.map(Step::Acknowledged));
        }
        life.sort_by_key(Step::at);
        Ok(life)
    }

    /// The first segment after this one that acknowledges all of it and arrives at its sender.
    fn acknowledgement(&self, segment: &SegmentRow) -> io::Result<Option<SegmentRow>> {
        let covers = |row: &SegmentRow| {
            row.at >= segment.at
                && row.flow == segment.flow
                && row.connection == segment.connection
                && row.reverse == 1
                && row.received == 1
                && row.ack >= segment.seq + u64::from(segment.length)
        };
        let later = self.blocks(Table::Segments).filter(|block| block.end >= segment.at);
        for block in later.take(BLOCKS) {
            if let Some(found) = self.rows::<SegmentRow>(block)?.into_iter().find(covers) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
