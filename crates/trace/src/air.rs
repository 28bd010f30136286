//! The indexed trace (`.air`): rows in blocks with an index at the end, from which [`AirFile`]
//! makes tiles of any stretch, from the whole run to a microsecond.
//!
//! A block has up to [`ROWS`] rows of one table in the order of their times, [`packed`]. The index
//! has of each block where it stands, its stretch of time, and a summary, so that a tile of a long
//! stretch reads only the blocks that cross the bounds of its bins.
//!
//! A tile is made when it is asked for; a pyramid of levels was not built.

mod file;
mod index;
mod life;
mod packed;
mod rows;
#[cfg(test)]
mod tests;
mod tile;
mod told;

pub use file::{AirFile, Counts};
pub use life::{Found, Life, Query, Step};
pub use rows::{FrameRow, MpduRow, PacketRow, SegmentRow};

use crate::columns::codes;
use crate::{
    Frame, FrameContent, Network, PacketEvent, PacketStep, Place, Record, RouteEvent, RouteStep,
    SegmentEvent, SegmentRecord, Sink, Wait, words,
};
use index::{Block, Header, Index, Summary};
use rows::{NONE, NamedRow, PointRow, RouteRow, Row, Table, WaitRow, flag};
use settings::Settings;
use std::collections::BTreeMap;
use std::io;

/// Rows of a block.
const ROWS: u32 = 1024;

/// What a line of points shows, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Series {
    /// The congestion window of a flow in bytes.
    Window(u32),
    /// The last sample of the round-trip time of a flow in milliseconds.
    Rtt(u32),
    /// Packets that wait at a radio.
    RadioQueue(u32),
    /// Packets that wait at a link direction.
    WireQueue(u32),
}

/// Options of [`Air`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Air")]
pub struct AirOptions {
    /// Mebibytes of packed rows after which later records are left out.
    #[setting(default = 4096, range = 1..=1_000_000)]
    pub limit_mib: u32,
}

/// Writes the indexed trace.
#[derive(Debug)]
pub struct Air<W> {
    out: W,
    limit: u64,
    written: u64,
    header: Header,
    blocks: Vec<Block>,
    open: [Open; Table::ALL.len()],
    series: BTreeMap<Series, (u32, f32)>,
    states: Vec<&'static str>,
}

/// The rows of a table that do not fill a block yet.
#[derive(Debug, Default)]
struct Open {
    bytes: Vec<u8>,
    block: Block,
    summary: BTreeMap<(u32, u8), Summary>,
}

impl<W: io::Write + Send> Air<W> {
    /// Begins a file.
    pub fn new(network: &Network, mut out: W, options: AirOptions) -> io::Result<Self> {
        out.write_all(index::MAGIC)?;
        Ok(Self {
            out,
            limit: u64::from(options.limit_mib) << 20,
            written: index::MAGIC.len() as u64,
            header: Header::of(network),
            blocks: Vec::new(),
            open: Default::default(),
            series: BTreeMap::new(),
            states: Vec::new(),
        })
    }

    fn on_frame(&mut self, frame: &Frame) -> io::Result<()> {
        let firsts = || frame.mpdus.iter().filter(|mpdu| mpdu.is_first());
        let retried = firsts().filter(|mpdu| mpdu.retry).count() as u16;
        let row = FrameRow {
            start: frame.start.0,
            lasting: frame.lasting().0.try_into().unwrap_or(u32::MAX),
            preamble: (frame.payload - frame.start).0.try_into().unwrap_or(u32::MAX),
            number: frame.number as u32,
            exchange: frame.exchange as u32,
            from: frame.from,
            to: frame.to.unwrap_or(NONE),
            lost_to: frame.lost_to.unwrap_or(NONE),
            kind: codes::kind(frame.kind) as u8,
            class: frame.class as u8,
            outcome: codes::outcome(frame.outcome) as u8,
            flags: u8::from(retried > 0) * flag::RETRY
                + u8::from(frame.aggregate) * flag::AGGREGATE,
            mcs: frame.mode.mcs.unwrap_or(u8::MAX),
            streams: frame.mode.streams,
            width_mhz: frame.mode.width_mhz,
            mpdus: firsts().count() as u16,
            retried,
            received: firsts().filter(|mpdu| mpdu.received).count() as u16,
            psdu: frame.psdu.0 as u32,
            nav: frame.nav.0.try_into().unwrap_or(u32::MAX),
            rate_mbps: frame.mode.rate.as_mbps() as f32,
            signal_dbm: frame.signal_dbm.map_or(f32::NAN, |dbm| dbm as f32),
            padding: frame.padding.0 as u32,
            tones: frame.mode.tones.unwrap_or(0),
            ru_index: frame.mode.ru_index.unwrap_or(0),
            punctured: frame.mode.punctured.map_or(0, |channels| channels.subchannels),
            random_units: words::trigger(frame)
                .map_or(0, |trigger| trigger.users.iter().map(|user| user.random).sum()),
            trigger: words::trigger(frame).map_or(u8::MAX, |trigger| trigger.kind.code()),
        };
        let one = Summary {
            frames: 1,
            lost: u32::from(row.is_lost()),
            retried: u32::from(retried > 0),
            amount: u64::from(row.lasting),
            ..Summary::default()
        };
        let part = self.open[Table::Frames as usize].summary.entry((row.from, row.kind));
        part.or_default().add(&one);
        self.push(Table::Frames, &row, (row.start, row.end()), frame.number)?;
        for mpdu in &frame.mpdus {
            let row = MpduRow {
                frame: frame.number as u32,
                packet: mpdu.packet_id as u32,
                flow: mpdu.packet.flow().map_or(NONE, |flow| flow.0),
                bytes: mpdu.bytes.0 as u32,
                sequence: mpdu.sequence,
                retry: u8::from(mpdu.retry),
                received: u8::from(mpdu.received),
            };
            self.note(Table::Mpdus, frame.number);
            self.push(Table::Mpdus, &row, (frame.start.0, frame.end.0), mpdu.packet_id)?;
        }
        self.on_named(frame)
    }

    /// The stations that a frame asks or acknowledges.
    fn on_named(&mut self, frame: &Frame) -> io::Result<()> {
        let asked = words::trigger(frame).map_or(&[][..], |trigger| &trigger.users);
        let acknowledged = match &frame.content {
            FrameContent::MultiSta(acks) => &acks[..],
            _ => &[],
        };
        let aids = asked.iter().map(|user| user.aid).chain(acknowledged.iter().map(|ack| ack.aid));
        // AID 0 is of resource units for random access.
        for aid in aids.filter(|&aid| aid != 0) {
            let row = NamedRow { frame: frame.number as u32, radio: aid.into() };
            self.note(Table::Named, frame.number);
            self.push(Table::Named, &row, (frame.start.0, frame.end.0), u64::from(aid))?;
        }
        Ok(())
    }

    fn on_wait(&mut self, wait: &Wait) -> io::Result<()> {
        let (kind, slots) = codes::wait(wait.kind);
        let (before, after) = slots.unwrap_or_default();
        let row = WaitRow {
            start: wait.start.0,
            end: wait.end.0,
            radio: wait.radio,
            before,
            after,
            kind: kind as u8,
            class: wait.class as u8,
        };
        self.push(Table::Waits, &row, (row.start, row.end), 0)
    }

    fn on_packet(&mut self, event: &PacketEvent) -> io::Result<()> {
        let (step, waiting) = codes::step(event.step);
        let (place_kind, place) = match event.place {
            Place::Node(node) => (0, node.0),
            Place::Radio(radio) => (1, radio),
            Place::Wire(wire) => (2, wire),
        };
        let row = PacketRow {
            at: event.at.0,
            packet: event.packet_id as u32,
            flow: event.packet.flow().map_or(NONE, |flow| flow.0),
            place,
            waiting: waiting.unwrap_or(NONE),
            size: event.packet.size.0 as u32,
            place_kind,
            step: step as u8,
            cause: codes::drop_cause(event.step).map_or(u8::MAX, |cause| cause as u8),
        };
        self.push(Table::Packets, &row, (row.at, row.at), event.packet_id)?;
        let PacketStep::Queued { waiting } = event.step else { return Ok(()) };
        let series = match event.place {
            Place::Wire(wire) => Series::WireQueue(wire),
            Place::Radio(radio) => Series::RadioQueue(radio),
            Place::Node(_) => return Ok(()),
        };
        self.point(row.at, series, waiting as f32)
    }

    fn on_segment(&mut self, event: &SegmentEvent) -> io::Result<()> {
        let (segment, sender) = (&event.segment, event.sender.as_ref());
        let state = sender.map_or(u8::MAX, |own| self.state(own.state));
        let row = SegmentRow {
            at: event.at.0,
            seq: segment.seq,
            ack: segment.ack,
            packet: event.packet_id as u32,
            flow: segment.flow.0,
            connection: segment.connection,
            length: segment.len,
            cwnd: sender.map_or(f32::NAN, |own| own.cwnd_bytes as f32),
            in_flight: sender.map_or(f32::NAN, |own| own.in_flight_bytes as f32),
            flags: segment.flags.0,
            received: u8::from(event.event == SegmentRecord::Received),
            reverse: u8::from(!segment.forward),
            retransmission: u8::from(event.retransmission),
            state,
        };
        self.push(Table::Segments, &row, (row.at, row.at), event.packet_id)?;
        let Some(own) = sender else { return Ok(()) };
        self.point(row.at, Series::Window(segment.flow.0), own.cwnd_bytes as f32)?;
        match own.rtt {
            Some(rtt) => self.point(row.at, Series::Rtt(segment.flow.0), rtt.0 as f32 / 1e6),
            None => Ok(()),
        }
    }

    fn on_route(&mut self, event: &RouteEvent) -> io::Result<()> {
        let hops = match event.step {
            RouteStep::Changed { hops } => hops.map_or(NONE, u32::from),
            _ => NONE,
        };
        let step = event.step.code() as u8;
        let (node, destination) = (event.node.0, event.destination.0);
        let row = RouteRow { at: event.at.0, node, destination, hops, step };
        let part = self.open[Table::Routes as usize].summary.entry((node, step));
        part.or_default().add(&Summary { frames: 1, ..Summary::default() });
        self.push(Table::Routes, &row, (row.at, row.at), 0)
    }

    fn state(&mut self, name: &'static str) -> u8 {
        let known = self.states.iter().position(|&state| state == name);
        known.unwrap_or_else(|| {
            self.states.push(name);
            self.states.len() - 1
        }) as u8
    }

    /// Adds a point, unless its line has this value already.
    fn point(&mut self, at: u64, series: Series, value: f32) -> io::Result<()> {
        let next = self.series.len() as u32;
        let (number, last) = self.series.entry(series).or_insert((next, f32::NAN));
        if last.to_bits() == value.to_bits() {
            return Ok(());
        }
        *last = value;
        let row = PointRow { at, series: *number, value };
        let one = Summary { frames: 1, low: value, high: value, ..Summary::default() };
        let part = self.open[Table::Points as usize].summary.entry((row.series, 0));
        part.or_default().add(&one);
        self.push(Table::Points, &row, (at, at), 0)
    }

    /// Widens the range of second numbers of the open block, which are those of frames.
    fn note(&mut self, table: Table, number: u64) {
        self.open[table as usize].block.frames.widen(number);
    }

    fn push<R: Row>(
        &mut self,
        table: Table,
        row: &R,
        (start, end): (u64, u64),
        number: u64,
    ) -> io::Result<()> {
        let open = &mut self.open[table as usize];
        row.put(&mut open.bytes);
        open.block.times.widen(start);
        open.block.end = open.block.end.max(end);
        open.block.numbers.widen(number);
        open.block.rows += 1;
        if open.block.rows == ROWS { self.close(table) } else { Ok(()) }
    }

    /// Writes the open block of a table.
    fn close(&mut self, table: Table) -> io::Result<()> {
        let open = std::mem::take(&mut self.open[table as usize]);
        if open.block.rows == 0 {
            return Ok(());
        }
        let mut packed = Vec::new();
        packed::pack(&open.bytes, table.widths(), &mut packed);
        self.out.write_all(&packed)?;
        self.blocks.push(Block {
            table: table as u8,
            offset: self.written,
            length: packed.len() as u32,
            summary: open.summary.into_iter().collect(),
            ..open.block
        });
        self.written += packed.len() as u64;
        Ok(())
    }
}

impl<W: io::Write + Send> Sink for Air<W> {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        if self.written >= self.limit {
            self.header.cut.get_or_insert(record.at().0);
            return Ok(());
        }
        match record {
            Record::Frame(frame) => self.on_frame(frame),
            Record::Wait(wait) => self.on_wait(wait),
            Record::Packet(event) => self.on_packet(event),
            Record::Segment(event) => self.on_segment(event),
            Record::Route(event) => self.on_route(event),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        for table in Table::ALL {
            self.close(table)?;
        }
        let mut series: Vec<_> =
            self.series.iter().map(|(&of, &(number, _))| (number, of)).collect();
        series.sort_unstable();
        self.header.series = series.into_iter().map(|(_, of)| of).collect();
        self.header.states = self.states.iter().map(|&name| name.to_owned()).collect();
        let index = Index {
            header: std::mem::take(&mut self.header),
            blocks: std::mem::take(&mut self.blocks),
        };
        self.out.write_all(&index.bytes(self.written))?;
        self.out.flush()
    }
}
