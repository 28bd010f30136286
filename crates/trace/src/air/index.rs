//! The index of a file: its header, and what each block has.

use super::Series;
use crate::{Network, RadioRole};
use std::io;

/// How a file begins; the last byte is the version.
pub(super) const MAGIC: &[u8; 8] = b"simair\0\x04";

/// The least and the greatest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    pub(super) fn widen(&mut self, value: u64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    pub(super) fn has(&self, value: u64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

impl Default for Range {
    fn default() -> Self {
        Self { least: u64::MAX, most: 0 }
    }
}

/// Rows of a block with the same radio and kind, or of the same line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    /// How many they are.
    pub(super) frames: u32,
    pub(super) lost: u32,
    pub(super) retried: u32,
    /// Time on the air, in nanoseconds.
    pub(super) amount: u64,
    /// The least and the greatest value of a line.
    pub(super) low: f32,
    pub(super) high: f32,
}

impl Summary {
    pub(super) fn add(&mut self, other: &Self) {
        self.frames += other.frames;
        self.lost += other.lost;
        self.retried += other.retried;
        self.amount += other.amount;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

impl Default for Summary {
    fn default() -> Self {
        let (low, high) = (f32::INFINITY, f32::NEG_INFINITY);
        Self { frames: 0, lost: 0, retried: 0, amount: 0, low, high }
    }
}

/// A block of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Block {
    pub(super) table: u8,
    pub(super) rows: u32,
    pub(super) offset: u64,
    /// Bytes of its rows, packed.
    pub(super) length: u32,
    /// When its rows begin.
    pub(super) times: Range,
    /// When the last of them ends.
    pub(super) end: u64,
    /// Numbers of packets; of frames in the table of frames.
    pub(super) numbers: Range,
    /// Numbers of frames in the table of MPDUs.
    pub(super) frames: Range,
    /// By radio and kind, or by line.
    pub(super) summary: Vec<((u32, u8), Summary)>,
}

/// What the numbers in rows refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Header {
    /// When the run ends.
    pub(super) end: u64,
    /// The first record that was left out.
    pub(super) cut: Option<u64>,
    pub(super) nodes: Vec<String>,
    pub(super) radios: Vec<String>,
    pub(super) is_access_point: Vec<bool>,
    pub(super) wires: Vec<String>,
    pub(super) flows: Vec<String>,
    pub(super) states: Vec<String>,
    pub(super) series: Vec<Series>,
}

impl Header {
    pub(super) fn of(network: &Network) -> Self {
        let node = |id: wire::NodeId| network.nodes[id].name.clone();
        let is_access_point = |role: RadioRole| matches!(role, RadioRole::AccessPoint);
        Self {
            end: network.end.0,
            nodes: network.nodes.iter().map(|node| node.name.clone()).collect(),
            radios: network.radios.iter().map(|radio| radio.name.clone()).collect(),
            is_access_point: network.radios.iter().map(|r| is_access_point(r.role)).collect(),
            wires: network
                .wires
                .iter()
                .map(|wire| format!("{} → {}", node(wire.from), node(wire.to)))
                .collect(),
            flows: network.flows.iter().map(|flow| flow.name.clone()).collect(),
            ..Self::default()
        }
    }
}

/// The index.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    pub(super) header: Header,
    pub(super) blocks: Vec<Block>,
}

impl Index {
    /// The index as it is written at an offset, with the offset at its end.
    pub(super) fn bytes(&self, offset: u64) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        let header = &self.header;
        out.u64(header.end);
        out.u64(header.cut.unwrap_or(u64::MAX));
        for names in [&header.nodes, &header.radios, &header.wires, &header.flows, &header.states] {
            out.u32(names.len() as u32);
            for name in names {
                out.text(name);
            }
        }
        for &is in &header.is_access_point {
            out.u32(u32::from(is));
        }
        out.u32(header.series.len() as u32);
        for series in &header.series {
            let (kind, of) = match *series {
                Series::Window(flow) => (0, flow),
                Series::Rtt(flow) => (1, flow),
                Series::RadioQueue(radio) => (2, radio),
                Series::WireQueue(wire) => (3, wire),
            };
            out.u32(kind);
            out.u32(of);
        }
        out.u32(self.blocks.len() as u32);
        for block in &self.blocks {
            out.block(block);
        }
        out.u64(offset);
        out.0.extend_from_slice(MAGIC);
        out.0
    }

    /// Reads what [`Index::bytes`] writes, without the offset at its end.
    pub(super) fn read(bytes: &[u8]) -> io::Result<Self> {
        let mut input = Reader(bytes);
        let (end, cut) = (input.u64()?, input.u64()?);
        let mut names: [Vec<String>; 5] = Default::default();
        for list in &mut names {
            *list = (0..input.u32()?).map(|_| input.text()).collect::<io::Result<_>>()?;
        }
        let [nodes, radios, wires, flows, states] = names;
        let is_access_point =
            radios.iter().map(|_| Ok(input.u32()? != 0)).collect::<io::Result<_>>()?;
        let series = (0..input.u32()?).map(|_| input.series()).collect::<io::Result<_>>()?;
        let blocks = (0..input.u32()?).map(|_| input.block()).collect::<io::Result<_>>()?;
        let cut = Some(cut).filter(|&at| at != u64::MAX);
        let header =
            Header { end, cut, nodes, radios, is_access_point, wires, flows, states, series };
        Ok(Self { header, blocks })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn block(&mut self, block: &Block) {
        self.u32(u32::from(block.table));
        self.u32(block.rows);
        self.u32(block.length);
        let Block { times, numbers, frames, .. } = block;
        for value in [block.offset, times.least, times.most, block.end] {
            self.u64(value);
        }
        for value in [numbers.least, numbers.most, frames.least, frames.most] {
            self.u64(value);
        }
        self.u32(block.summary.len() as u32);
        for ((of, kind), part) in &block.summary {
            for value in [*of, u32::from(*kind), part.frames, part.lost, part.retried] {
                self.u32(value);
            }
            self.u64(part.amount);
            self.u32(part.low.to_bits());
            self.u32(part.high.to_bits());
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        let (own, rest) = self.0.split_at_checked(count).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(own)
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("as long")))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("as long")))
    }

    fn text(&mut self) -> io::Result<String> {
        let length = self.u32()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| damaged())
    }

    fn series(&mut self) -> io::Result<Series> {
        let (kind, of) = (self.u32()?, self.u32()?);
        Ok(match kind {
            0 => Series::Window(of),
            1 => Series::Rtt(of),
            2 => Series::RadioQueue(of),
            3 => Series::WireQueue(of),
            _ => return Err(damaged()),
        })
    }

    fn range(&mut self) -> io::Result<Range> {
        Ok(Range { least: self.u64()?, most: self.u64()? })
    }

    fn block(&mut self) -> io::Result<Block> {
        let (table, rows, length) = (self.u32()? as u8, self.u32()?, self.u32()?);
        let offset = self.u64()?;
        let times = self.range()?;
        let end = self.u64()?;
        let (numbers, frames) = (self.range()?, self.range()?);
        let summary = (0..self.u32()?).map(|_| self.part()).collect::<io::Result<_>>()?;
        Ok(Block { table, rows, offset, length, times, end, numbers, frames, summary })
    }

    fn part(&mut self) -> io::Result<((u32, u8), Summary)> {
        let key = (self.u32()?, self.u32()? as u8);
        let (frames, lost, retried) = (self.u32()?, self.u32()?, self.u32()?);
        let amount = self.u64()?;
        let (low, high) = (f32::from_bits(self.u32()?), f32::from_bits(self.u32()?));
        Ok((key, Summary { frames, lost, retried, amount, low, high }))
    }
}

/// The error of a file that this module has not written.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "is no complete .air file")
}
