//! Tiles: 2^level nanoseconds of a file, as the page of `simoom serve` reads them.
//!
//! A tile has each frame, or, if these are too many, the time on the air by bin, radio and kind.
//! It is a header of eight 32-bit numbers, and columns that each begin at a multiple of eight
//! bytes: `web/src/tile.ts` reads them in the same order.

use super::file::AirFile;
use super::index::Summary;
use super::rows::{FrameRow, NONE, PointRow, RouteRow, Table, WaitRow};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Bins of a tile, as a power of two.
pub(super) const BINS: u32 = 8;
/// Frames of a tile, beyond which it has bins.
pub(super) const FRAMES: usize = 1024;
/// Waits of a tile, beyond which it has none.
pub(super) const WAITS: usize = 4096;
/// Points of a tile, beyond which it has the range of each line by bin.
pub(super) const POINTS: usize = 2048;
/// Events of routers in a tile, beyond which it has one of each bin, node and step.
pub(super) const ROUTES: usize = 1024;
/// The level beyond which there is no tile: 2^53 nanoseconds are 104 days.
const HIGHEST: u32 = 53;

/// Bits of the header.
const HAS_BINS: u32 = 1;
const LACKS_WAITS: u32 = 2;
const HAS_RANGES: u32 = 4;

/// By bin, radio or line, and kind.
type Bins = BTreeMap<(u32, u32, u8), Summary>;

/// Time, least and greatest value, and line of a point.
type Point = (f64, f32, f32, u32);

/// A stretch divided into bins.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
    /// The length of a bin is 2^`bin`.
    bin: u32,
}

impl Span {
    fn bin_of(&self, at: u64) -> u32 {
        (at.clamp(self.start, self.end - 1).saturating_sub(self.start) >> self.bin) as u32
    }
}

impl AirFile {
    /// The tile of a number at a level.
    ///
    /// # Errors
    /// The file cannot be read, or there is no such tile.
    pub fn tile(&self, level: u32, number: u64) -> io::Result<Vec<u8>> {
        let end = number.checked_add(1).and_then(|next| next.checked_mul(1 << level.min(HIGHEST)));
        let Some(end) = end.filter(|_| (BINS..=HIGHEST).contains(&level)) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such tile"));
        };
        let span = Span { start: number << level, end, bin: level - BINS };
        let mut out = Columns::default();
        let mut bits = 0;
        let (frames, bins) = self.frames_of(span)?;
        let mut waits = None;
        if let Some(bins) = &bins {
            bits |= HAS_BINS;
            out.bins(bins, span);
        } else {
            out.frames(&frames);
            waits = self.waits_of(span)?;
        }
        if waits.is_none() {
            bits |= LACKS_WAITS;
        }
        let waits = waits.unwrap_or_default();
        out.waits(&waits);
        let points = self.points_of(span)?;
        bits |= points.0;
        out.points(&points.1);
        let routes = self.routes_of(span)?;
        out.routes(&routes);
        let count = bins.map_or(frames.len(), |bins| bins.len());
        let counts = [count, waits.len(), points.1.len(), routes.len()].map(|n| n as u32);
        let [count, waits, points, routes] = counts;
        let header: [u32; 8] = [1, bits, count, waits, points, level, routes, 0];
        let mut bytes: Vec<u8> = header.iter().flat_map(|value| value.to_le_bytes()).collect();
        bytes.append(&mut out.0);
        Ok(bytes)
    }

    /// The frames of a stretch; or none and their bins, if they are too many.
    fn frames_of(&self, span: Span) -> io::Result<(Vec<FrameRow>, Option<Bins>)> {
        let within =
            |block: &super::index::Block| block.times.least >= span.start && block.end <= span.end;
        let sure = self.blocks_in(Table::Frames, span.start, span.end).filter(|b| within(b));
        let mut frames = Vec::new();
        if sure.map(|block| block.rows as usize).sum::<usize>() <= FRAMES {
            for block in self.blocks_in(Table::Frames, span.start, span.end) {
                let rows = self.rows::<FrameRow>(block)?;
                frames.extend(
                    rows.into_iter().filter(|f| f.start < span.end && f.end() > span.start),
                );
            }
            if frames.len() <= FRAMES {
                return Ok((frames, None));
            }
        }
        let mut bins = Bins::new();
        for block in self.blocks_in(Table::Frames, span.start, span.end) {
            let bin = span.bin_of(block.times.least);
            if within(block) && bin == span.bin_of(block.end.saturating_sub(1)) {
                for ((radio, kind), part) in &block.summary {
                    bins.entry((bin, *radio, *kind)).or_default().add(part);
                }
                continue;
            }
            for frame in self.rows::<FrameRow>(block)? {
                if frame.start < span.end && frame.end() > span.start {
                    divide(&frame, span, &mut bins);
                }
            }
        }
        Ok((Vec::new(), Some(bins)))
    }

    fn waits_of(&self, span: Span) -> io::Result<Option<Vec<WaitRow>>> {
        let mut waits = Vec::new();
        for block in self.blocks_in(Table::Waits, span.start, span.end) {
            let rows = self.rows::<WaitRow>(block)?;
            waits.extend(rows.into_iter().filter(|w| w.start < span.end && w.end > span.start));
            if waits.len() > WAITS {
                return Ok(None);
            }
        }
        Ok(Some(waits))
    }

    /// The events of routers in a stretch; if they are too many, one of each bin, node and step
    /// without a destination.
    fn routes_of(&self, span: Span) -> io::Result<Vec<RouteRow>> {
        let count: u32 =
            self.blocks_in(Table::Routes, span.start, span.end).map(|block| block.rows).sum();
        if count as usize <= ROUTES + 2 * super::ROWS as usize {
            let mut routes = Vec::new();
            for block in self.blocks_in(Table::Routes, span.start, span.end) {
                let rows = self.rows::<RouteRow>(block)?;
                routes.extend(rows.into_iter().filter(|r| (span.start..span.end).contains(&r.at)));
            }
            if routes.len() <= ROUTES {
                return Ok(routes);
            }
        }
        let mut bins = BTreeSet::new();
        for block in self.blocks_in(Table::Routes, span.start, span.end) {
            let (first, last) = (block.times.least, block.times.most);
            let bin = span.bin_of(first);
            if first >= span.start && last < span.end && bin == span.bin_of(last) {
                bins.extend(block.summary.iter().map(|((node, step), _)| (bin, *node, *step)));
                continue;
            }
            for row in self.rows::<RouteRow>(block)? {
                if (span.start..span.end).contains(&row.at) {
                    bins.insert((span.bin_of(row.at), row.node, row.step));
                }
            }
        }
        let at = |bin: u32| span.start + (u64::from(bin) << span.bin) + (1 << span.bin >> 1);
        let row =
            |(bin, node, step)| RouteRow { at: at(bin), node, destination: NONE, hops: NONE, step };
        Ok(bins.into_iter().map(row).collect())
    }

    /// Bits for the header, and the points of a stretch.
    fn points_of(&self, span: Span) -> io::Result<(u32, Vec<Point>)> {
        let count: u32 =
            self.blocks_in(Table::Points, span.start, span.end).map(|block| block.rows).sum();
        let mut points = Vec::new();
        if count as usize <= POINTS + 2 * super::ROWS as usize {
            for block in self.blocks_in(Table::Points, span.start, span.end) {
                let rows = self.rows::<PointRow>(block)?;
                let inside = rows.iter().filter(|p| (span.start..span.end).contains(&p.at));
                points.extend(inside.map(|p| (p.at as f64, p.value, p.value, p.series)));
            }
            if points.len() <= POINTS {
                return Ok((0, points));
            }
        }
        let mut bins = Bins::new();
        for block in self.blocks_in(Table::Points, span.start, span.end) {
            let (first, last) = (block.times.least, block.times.most);
            let bin = span.bin_of(first);
            if first >= span.start && last < span.end && bin == span.bin_of(last) {
                for ((line, _), part) in &block.summary {
                    bins.entry((bin, *line, 0)).or_default().add(part);
                }
                continue;
            }
            for p in self.rows::<PointRow>(block)? {
                if (span.start..span.end).contains(&p.at) {
                    let one = Summary { low: p.value, high: p.value, ..Summary::default() };
                    bins.entry((span.bin_of(p.at), p.series, 0)).or_default().add(&one);
                }
            }
        }
        let middle =
            |bin: u32| span.start as f64 + (f64::from(bin) + 0.5) * (1u64 << span.bin) as f64;
        let ranges = bins.iter().map(|((bin, line, _), p)| (middle(*bin), p.low, p.high, *line));
        Ok((HAS_RANGES, ranges.collect()))
    }
}

/// Adds a frame to the bins that it overlaps: its time to each, and itself to the first.
fn divide(frame: &FrameRow, span: Span, bins: &mut Bins) {
    let (start, end) = (frame.start.max(span.start), frame.end().min(span.end));
    for bin in span.bin_of(start)..=span.bin_of(end.saturating_sub(1).max(start)) {
        let from = span.start + (u64::from(bin) << span.bin);
        let overlap = end.min(from + (1 << span.bin)).saturating_sub(start.max(from));
        let is_first = u32::from(frame.start >= from);
        let part = bins.entry((bin, frame.from, frame.kind)).or_default();
        part.amount += overlap;
        part.frames += is_first;
        part.lost += is_first * u32::from(frame.is_lost());
        part.retried += is_first * u32::from(frame.retried > 0);
    }
}

/// Columns of numbers, each from a multiple of eight bytes.
#[derive(Default)]
struct Columns(Vec<u8>);

impl Columns {
    fn column<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) {
        values.for_each(|value| self.0.extend_from_slice(&value));
        self.0.resize(self.0.len().next_multiple_of(8), 0);
    }

    fn frames(&mut self, frames: &[FrameRow]) {
        self.column(frames.iter().map(|f| (f.start as f64).to_le_bytes()));
        self.column(frames.iter().map(|f| (f.end() as f64).to_le_bytes()));
        let words: [fn(&FrameRow) -> u32; 6] =
            [|f| f.preamble, |f| f.number, |f| f.exchange, |f| f.from, |f| f.to, |f| f.lost_to];
        for word in words {
            self.column(frames.iter().map(|f| word(f).to_le_bytes()));
        }
        let codes: [fn(&FrameRow) -> u8; 4] = [|f| f.kind, |f| f.outcome, |f| f.flags, |f| f.class];
        for code in codes {
            self.column(frames.iter().map(|f| code(f).to_le_bytes()));
        }
    }

    fn bins(&mut self, bins: &Bins, span: Span) {
        let whole = (1u64 << span.bin) as f32;
        self.column(bins.keys().map(|key| key.0.to_le_bytes()));
        self.column(bins.keys().map(|key| key.1.to_le_bytes()));
        self.column(bins.values().map(|part| part.frames.to_le_bytes()));
        self.column(bins.values().map(|part| part.lost.to_le_bytes()));
        self.column(bins.values().map(|part| part.retried.to_le_bytes()));
        self.column(bins.values().map(|part| (part.amount as f32 / whole).to_le_bytes()));
        self.column(bins.keys().map(|key| key.2.to_le_bytes()));
    }

    fn waits(&mut self, waits: &[WaitRow]) {
        self.column(waits.iter().map(|w| (w.start as f64).to_le_bytes()));
        self.column(waits.iter().map(|w| (w.end as f64).to_le_bytes()));
        let words: [fn(&WaitRow) -> u32; 3] = [|w| w.radio, |w| w.before, |w| w.after];
        for word in words {
            self.column(waits.iter().map(|w| word(w).to_le_bytes()));
        }
        self.column(waits.iter().map(|w| w.kind.to_le_bytes()));
        self.column(waits.iter().map(|w| w.class.to_le_bytes()));
    }

    fn routes(&mut self, routes: &[RouteRow]) {
        self.column(routes.iter().map(|r| (r.at as f64).to_le_bytes()));
        let words: [fn(&RouteRow) -> u32; 3] = [|r| r.node, |r| r.destination, |r| r.hops];
        for word in words {
            self.column(routes.iter().map(|r| word(r).to_le_bytes()));
        }
        self.column(routes.iter().map(|r| r.step.to_le_bytes()));
    }

    fn points(&mut self, points: &[Point]) {
        self.column(points.iter().map(|p| p.0.to_le_bytes()));
        self.column(points.iter().map(|p| p.1.to_le_bytes()));
        self.column(points.iter().map(|p| p.2.to_le_bytes()));
        self.column(points.iter().map(|p| p.3.to_le_bytes()));
    }
}
