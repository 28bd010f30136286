//! The record of a simulated cell, and its timeline as text.

use super::stage::AP;
use crate::mac::Wait;
use crate::{Counters, FrameCounters, MsduOutcome};
use kernel::{Duration, Instant};
use std::fmt::Write as _;

/// What happened in a cell.
pub(super) struct Record {
    pub(super) column: Duration,
    pub(super) frames: Vec<Frame>,
    pub(super) marks: Vec<(Instant, u32, char)>,
    /// For each column, what each node waits for at the beginning of the column.
    pub(super) waits: Vec<Vec<Option<Wait>>>,
    nodes: usize,
    /// Deliveries: instant in nanoseconds, node and packet.
    pub(super) delivered: Vec<(u64, u32, u64)>,
    /// How the service of packets ended.
    pub(super) done: Vec<(u32, u64, MsduOutcome)>,
    /// Exchanges: instant in nanoseconds, node, and its contention window at that instant.
    pub(super) windows: Vec<(u64, u32, u32)>,
    pub(super) counters: Vec<Counters>,
    pub(super) frame_counters: Vec<FrameCounters>,
}

pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) node: u32,
    pub(super) label: String,
    pub(super) start: Instant,
    pub(super) end: Instant,
    pub(super) fill: char,
}

impl Frame {
    /// The frame as a box, so many characters wide.
    fn drawn(&self, width: usize) -> String {
        let inner = width.saturating_sub(2);
        // In a narrow box, the number stands without "data", so that there is room for the marks.
        let tight = inner < self.label.len() + 2;
        let label = self.label.strip_prefix("data ").filter(|_| tight).unwrap_or(&self.label);
        let label = &label[..inner.min(label.len())];
        let fill = String::from(self.fill).repeat(inner - label.len());
        format!("[{label}{fill}]")[..width].to_owned()
    }
}

impl Record {
    pub(super) fn new(nodes: usize, column_us: u64) -> Self {
        Self {
            column: Duration::from_micros(column_us),
            nodes,
            frames: Vec::new(),
            marks: Vec::new(),
            waits: Vec::new(),
            delivered: Vec::new(),
            done: Vec::new(),
            windows: Vec::new(),
            counters: Vec::new(),
            frame_counters: Vec::new(),
        }
    }

    pub(super) fn mark(&mut self, now: Instant, node: u32, mark: char) {
        self.marks.push((now, node, mark));
    }

    /// Checks the frames (start and end in nanoseconds, transmitter, type), and compares the
    /// timeline with the one in a test's text, whatever its indentation.
    #[track_caller]
    pub(super) fn shows(&self, frames: &[(u64, u64, u32, &str)], picture: &str) {
        let seen: Vec<_> =
            self.frames.iter().map(|f| (f.start.0, f.end.0, f.node, &*f.label)).collect();
        let drawn = self.picture();
        assert!(seen == frames, "on the air were:\n{seen:?}\n{drawn}");
        let lines = picture.lines().map(str::trim_start).filter(|line| !line.is_empty());
        assert!(lines.eq(drawn.lines()), "the air was:\n{drawn}");
    }

    /// The contention windows with which a node began its exchanges.
    pub(super) fn windows(&self, node: u32) -> Vec<u32> {
        self.windows.iter().filter(|access| access.1 == node).map(|access| access.2).collect()
    }

    /// When the last exchange began.
    pub(super) fn last_access_ns(&self) -> u64 {
        self.windows.last().map_or(0, |&(at, ..)| at)
    }

    /// The timeline from the start to the end of the last frame.
    pub(super) fn picture(&self) -> String {
        let last = self.frames.iter().map(|frame| frame.end).max().unwrap_or(Instant::ZERO);
        let width = self.nearest(last) + 1;
        let mut picture = self.scale(width);
        for node in 0..self.nodes as u32 {
            let name = if node == AP { "ap".to_owned() } else { format!("sta{node}") };
            let lane: String = self.lane(node, width).into_iter().collect();
            picture += format!("{name:<5} {lane}").trim_end();
            picture.push('\n');
        }
        picture
    }

    /// The time axis in microseconds, each tenth column.
    fn scale(&self, width: usize) -> String {
        let mut scale = "µs    ".to_owned();
        for column in (0..width).step_by(10) {
            let us = self.column.0 / 1000 * column as u64;
            let _ = write!(scale, "{us:<10}");
        }
        scale.trim_end().to_owned() + "\n"
    }

    fn lane(&self, node: u32, width: usize) -> Vec<char> {
        let wait = |column: &Vec<Option<Wait>>| match column[node as usize] {
            None => ' ',
            Some(Wait::Reserved) => 'n',
            Some(Wait::Space) => '.',
            Some(Wait::Slots(slots)) => char::from_digit(slots as u32, 36).unwrap_or('#'),
        };
        let mut lane: Vec<char> = self.waits.iter().map(wait).collect();
        lane.resize(width, ' ');
        let mut free = vec![true; width];
        for frame in self.frames.iter().filter(|frame| frame.node == node) {
            let (start, end) = (self.nearest(frame.start), self.nearest(frame.end));
            free[start + 1..end].fill(false);
            lane.splice(start..end, frame.drawn(end - start).chars());
        }
        for &(at, _, mark) in self.marks.iter().filter(|mark| mark.1 == node) {
            let column = (at.0 / self.column.0) as usize;
            if free.get(column) == Some(&true) {
                lane[column] = mark;
            }
        }
        lane
    }

    fn nearest(&self, at: Instant) -> usize {
        ((at.0 + self.column.0 / 2) / self.column.0) as usize
    }
}
