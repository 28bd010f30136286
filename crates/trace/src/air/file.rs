//! A complete file, and reading its rows.

use super::index::{Block, Index, MAGIC, damaged};
use super::packed::unpack;
use super::rows::{FrameRow, MpduRow, NamedRow, Row, Table};
use super::{ROWS, Series};
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

/// The length of the end of a file: the offset of the index and the magic.
const TAIL: u64 = 16;

/// How many rows a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// PPDUs.
    pub frames: u64,
    /// Waits.
    pub waits: u64,
    /// Lost PPDUs.
    pub lost: u64,
    /// PPDUs with a retransmission.
    pub retried: u64,
    /// Events of routers.
    pub routes: u64,
}

/// A file on disk or in memory.
trait Source: Read + Seek + Send + fmt::Debug {}

impl<T: Read + Seek + Send + fmt::Debug> Source for T {}

/// A complete file.
#[derive(Debug)]
pub struct AirFile {
    file: Mutex<Box<dyn Source>>,
    pub(super) index: Index,
}

impl AirFile {
    /// Opens a file and reads its index.
    ///
    /// # Errors
    /// The file cannot be read, or is no complete indexed trace.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(Box::new(File::open(path)?))
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// It is no complete indexed trace.
    pub fn in_memory(bytes: Vec<u8>) -> io::Result<Self> {
        Self::of(Box::new(Cursor::new(bytes)))
    }

    fn of(mut file: Box<dyn Source>) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let tail_at = length.checked_sub(TAIL).ok_or_else(damaged)?;
        let tail = read(&mut *file, tail_at, TAIL as usize)?;
        let at = u64::from_le_bytes(tail[..8].try_into().expect("as long"));
        if &tail[8..] != MAGIC || at > tail_at {
            return Err(damaged());
        }
        let index = Index::read(&read(&mut *file, at, (tail_at - at) as usize)?)?;
        let fits = |block: &Block| {
            Table::ALL.get(usize::from(block.table))?;
            let end = u64::from(block.length).checked_add(block.offset)?;
            Some(end <= at && block.rows <= ROWS)
        };
        if !index.blocks.iter().all(|block| fits(block).unwrap_or(false)) {
            return Err(damaged());
        }
        Ok(Self { file: Mutex::new(file), index })
    }

    /// When the run ends, in nanoseconds.
    pub fn end(&self) -> u64 {
        self.index.header.end
    }

    /// The instant of the first record that was left out, if the file reached its limit.
    pub fn cut(&self) -> Option<u64> {
        self.index.header.cut
    }

    /// The names of nodes, radios, link directions, flows, and states of senders.
    pub fn names(&self) -> [(&'static str, &[String]); 5] {
        let header = &self.index.header;
        [
            ("nodes", &header.nodes),
            ("radios", &header.radios),
            ("wires", &header.wires),
            ("flows", &header.flows),
            ("states", &header.states),
        ]
    }

    /// By radio, whether it is that of an access point.
    pub fn is_access_point(&self) -> &[bool] {
        &self.index.header.is_access_point
    }

    /// The lines of points, by number.
    pub fn series(&self) -> &[Series] {
        &self.index.header.series
    }

    /// How many rows the file has.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for block in self.blocks(Table::Frames) {
            counts.frames += u64::from(block.rows);
            for (_, part) in &block.summary {
                counts.lost += u64::from(part.lost);
                counts.retried += u64::from(part.retried);
            }
        }
        let rows = |table| self.blocks(table).map(|block| u64::from(block.rows)).sum();
        counts.waits = rows(Table::Waits);
        counts.routes = rows(Table::Routes);
        counts
    }

    /// By radio, nanoseconds on the air, frames, lost frames and frames with a retransmission.
    pub fn by_radio(&self) -> Vec<[u64; 4]> {
        let mut sums = vec![[0; 4]; self.index.header.radios.len()];
        for block in self.blocks(Table::Frames) {
            for ((radio, _), part) in &block.summary {
                let Some(sum) = sums.get_mut(*radio as usize) else { continue };
                sum[0] += part.amount;
                sum[1] += u64::from(part.frames);
                sum[2] += u64::from(part.lost);
                sum[3] += u64::from(part.retried);
            }
        }
        sums
    }

    /// The frame of a number, with its MPDUs.
    pub fn frame(&self, number: u32) -> io::Result<Option<(FrameRow, Vec<MpduRow>)>> {
        let mut found = None;
        for block in self.blocks(Table::Frames).filter(|b| b.numbers.has(u64::from(number))) {
            found = self.rows::<FrameRow>(block)?.into_iter().find(|row| row.number == number);
            if found.is_some() {
                break;
            }
        }
        let Some(frame) = found else { return Ok(None) };
        let mut mpdus = Vec::new();
        for block in self.blocks(Table::Mpdus).filter(|b| b.frames.has(u64::from(number))) {
            let rows = self.rows::<MpduRow>(block)?;
            mpdus.extend(rows.into_iter().filter(|row| row.frame == number));
        }
        Ok(Some((frame, mpdus)))
    }

    /// The radios of the stations that a frame asks or acknowledges, in its order.
    pub fn named(&self, number: u32) -> io::Result<Vec<u32>> {
        let mut radios = Vec::new();
        for block in self.blocks(Table::Named).filter(|b| b.frames.has(u64::from(number))) {
            let rows = self.rows::<NamedRow>(block)?;
            radios.extend(rows.iter().filter(|row| row.frame == number).map(|row| row.radio));
        }
        Ok(radios)
    }

    /// The blocks of a table, in the order of time.
    pub(super) fn blocks(&self, table: Table) -> impl DoubleEndedIterator<Item = &Block> {
        self.index.blocks.iter().filter(move |block| block.table == table as u8)
    }

    /// The blocks of a table with rows in a stretch.
    pub(super) fn blocks_in(
        &self,
        table: Table,
        start: u64,
        end: u64,
    ) -> impl DoubleEndedIterator<Item = &Block> {
        self.blocks(table).filter(move |block| block.times.least < end && block.end >= start)
    }

    /// The rows of a block.
    pub(super) fn rows<R: Row>(&self, block: &Block) -> io::Result<Vec<R>> {
        debug_assert_eq!(block.table, R::TABLE as u8);
        let packed = {
            let mut file = self.file.lock().expect("no reader panics");
            read(&mut **file, block.offset, block.length as usize)?
        };
        let bytes = unpack(&packed, block.rows as usize, R::WIDTHS)?;
        Ok(bytes.chunks_exact(R::SIZE).map(R::get).collect())
    }
}

fn read(file: &mut dyn Source, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
