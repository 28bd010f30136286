//! Files of movement.

use super::super::{FASTEST_MPS, TimedPosition};
use kernel::{Duration, Instant};
use settings::{Said, number, said};
use std::fmt::Display;

/// Nodes further from the origin than this are a mistake, in metres.
const FARTHEST_M: f64 = 1e6;
/// Times later than this are a mistake, in seconds.
const LATEST_S: f64 = 1e9;

/// The waypoints of each node, by its number.
pub type Tracks = Vec<Vec<TimedPosition>>;

/// A movement whose waypoints are in a file.
pub trait MovementFile {
    /// The file.
    fn file(&self) -> &str;

    /// Reads the waypoints of this number of nodes.
    ///
    /// # Errors
    /// The first fault of the text.
    fn read(&self, text: &str, nodes: usize) -> Result<Tracks, FileFault>;
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The number of the line, from 1 on; `None` if the fault is in no line.
    pub line: Option<usize>,
    /// What is wrong, and the remedy.
    pub said: Said,
}

impl FileFault {
    /// A fault in a line.
    pub(super) fn at(line: usize, said: impl Into<Said>) -> Self {
        Self { line: Some(line), said: said.into() }
    }

    /// A fault of the whole file.
    pub(crate) fn whole(said: impl Into<Said>) -> Self {
        Self { line: None, said: said.into() }
    }
}

impl Display for FileFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.said),
            None => self.said.fmt(f),
        }
    }
}

/// The rules that the waypoints of all files keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The number of nodes.
    pub(super) nodes: usize,
    /// East and north of the origin; `None` if the area is not known.
    pub(super) area_m: Option<[f64; 2]>,
}

impl Rules {
    /// The number of a node.
    pub(super) fn node(&self, line: usize, written: &str) -> Result<usize, FileFault> {
        let nodes = self.nodes;
        match written.parse() {
            Ok(node) if node < nodes => Ok(node),
            _ => {
                let last = nodes.saturating_sub(1);
                let message = said!(
                    "there is no node {written}: the group has {nodes} stations, 0 to {last}",
                    "change `count`"
                );
                Err(FileFault::at(line, message))
            }
        }
    }

    /// A position is in the area.
    pub(super) fn check_position(
        &self,
        line: usize,
        node: usize,
        [x, y]: [f64; 2],
    ) -> Result<(), FileFault> {
        let written = || format!("node {node}: [{}, {}]", number(x), number(y));
        if let Some([width, height]) = self.area_m
            && !((0.0..=width).contains(&x) && (0.0..=height).contains(&y))
        {
            let (width, height) = (number(width), number(height));
            let message = format!("{} is outside the area of {width} x {height} m", written());
            return Err(FileFault::at(line, message));
        }
        if x.abs().max(y.abs()) <= FARTHEST_M {
            return Ok(());
        }
        let message = format!("{} is more than 1000 km from the origin", written());
        Err(FileFault::at(line, message))
    }

    /// A speed is possible.
    pub(super) fn check_speed(line: usize, node: usize, mps: f64) -> Result<(), FileFault> {
        // Times are written with some digits: a nanometre per second is rounding.
        if (0.0..=FASTEST_MPS + 1e-9).contains(&mps) {
            return Ok(());
        }
        let (mps, fastest) = (number(mps), number(FASTEST_MPS));
        let message = said!("node {node}: a speed of {mps} m/s", "speeds are 0 to {fastest} m/s");
        Err(FileFault::at(line, message))
    }

    /// Appends a waypoint to those of a node.
    pub(super) fn append(
        &self,
        line: usize,
        node: usize,
        track: &mut Vec<TimedPosition>,
        at_s: f64,
        position_m: [f64; 2],
    ) -> Result<(), FileFault> {
        self.check_position(line, node, position_m)?;
        let at = instant(line, at_s)?;
        if let Some(last) = track.last() {
            if at <= last.at {
                let (is, before) = (number(at_s), number(last.at.as_secs_f64()));
                let message =
                    format!("node {node}: {is} s is not after its waypoint at {before} s");
                return Err(FileFault::at(line, message));
            }
            let [x, y] = [0, 1].map(|axis| position_m[axis] - last.position_m[axis]);
            let speed = libm::hypot(x, y) / (at - last.at).as_secs_f64();
            Self::check_speed(line, node, speed)?;
        }
        track.push(TimedPosition { at, position_m });
        Ok(())
    }

    /// Every node has a position, and no two have the same at the start.
    pub(super) fn check_starts(&self, tracks: &Tracks) -> Result<(), FileFault> {
        let nodes = self.nodes;
        if let Some(missing) = tracks.iter().position(Vec::is_empty) {
            let message = format!("node {missing} is missing: the group has {nodes} stations");
            return Err(FileFault::whole(message));
        }
        let start = |node: usize| tracks[node][0].position_m;
        let mut order: Vec<usize> = (0..tracks.len()).collect();
        let key = |node: &usize| start(*node);
        order.sort_by(|a, b| key(a).partial_cmp(&key(b)).expect("positions are finite"));
        match order.windows(2).find(|pair| start(pair[0]) == start(pair[1])) {
            None => Ok(()),
            Some(pair) => {
                let [x, y] = start(pair[0]).map(number);
                let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                let message = format!("the nodes {a} and {b} are at one place, [{x}, {y}]");
                Err(FileFault::whole(message))
            }
        }
    }
}

/// A number in a line.
pub(super) fn parse_number(line: usize, written: &str) -> Result<f64, FileFault> {
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(FileFault::at(line, format!("{} is not a number", settings::shown(written)))),
    }
}

/// A time in a line.
pub(super) fn instant(line: usize, at_s: f64) -> Result<Instant, FileFault> {
    if (0.0..=LATEST_S).contains(&at_s) {
        return Ok(Instant::ZERO + Duration::from_secs_f64(at_s));
    }
    Err(FileFault::at(line, format!("{} s is no time of a run", number(at_s))))
}

/// The lines of a text that are not empty and no comments, with their numbers from 1 on.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
