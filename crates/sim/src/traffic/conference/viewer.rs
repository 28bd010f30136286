//! What the viewer of a conference sees: frames in time, late, and freezes.

use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// What was seen since the start of the run, and the state of the congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Frames whose deadline has passed, and those of them that were not complete by then.
    pub frames: u64,
    /// Those that were not complete by their deadlines.
    pub late: u64,
    /// Bytes of the frames that were in time.
    pub in_time_bytes: u64,
    /// Bytes of all frames that were encoded.
    pub encoded_bytes: u64,
    /// Freezes of the picture.
    pub freezes: u64,
    /// Their duration.
    pub frozen: Duration,
    /// Time since the start of the flow.
    pub active: Duration,
    /// The rate of audio and video that the congestion control allows.
    pub target_mbps: f64,
    /// The estimated gradient of the delay, times the number of groups.
    pub gradient_ms: f64,
    /// The threshold for it.
    pub threshold_ms: f64,
}

/// The intervals between frames whose mean decides about freezes.
const INTERVALS: usize = 30;
const LONGER_BY: Duration = Duration::from_millis(150);

/// A frame whose deadline has not passed.
#[derive(Debug)]
struct Due {
    frame: u32,
    at: Instant,
    bytes: u32,
    in_time: bool,
}

#[derive(Debug)]
pub(super) struct Viewer {
    deadline: Duration,
    due: VecDeque<Due>,
    /// When the last frame was shown.
    last: Option<Instant>,
    /// The last intervals between frames.
    intervals: VecDeque<Duration>,
    seen: Seen,
}

impl Viewer {
    pub(super) fn new(deadline: Duration) -> Self {
        let (due, intervals) = (VecDeque::new(), VecDeque::new());
        Self { deadline, due, last: None, intervals, seen: Seen::default() }
    }

    /// A frame was captured.
    pub(super) fn on_captured(&mut self, now: Instant, frame: u32, bytes: u32) {
        while let Some(due) = self.due.pop_front_if(|due| due.at < now) {
            count(&mut self.seen, &due);
        }
        self.due.push_back(Due { frame, at: now + self.deadline, bytes, in_time: false });
    }

    /// A frame is complete, and so are those before it.
    pub(super) fn on_shown(&mut self, now: Instant, frame: u32, captured: Instant) {
        if let Some(due) = self.due.iter_mut().find(|due| due.frame == frame && now <= due.at) {
            due.in_time = true;
        }
        let at = now.max(captured + self.deadline);
        let Some(last) = self.last.replace(at) else { return };
        let interval = at.since(last);
        if self.is_freeze(interval) {
            self.seen.freezes += 1;
            self.seen.frozen += interval;
        }
        if self.intervals.len() == INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }

    /// Whether a picture that lasts for this long is frozen: longer than three times the mean of
    /// the last 30, and than this mean and 150 ms (W3C "Identifiers for WebRTC's Statistics API",
    /// `freezeCount`).
    fn is_freeze(&self, interval: Duration) -> bool {
        if self.intervals.is_empty() {
            return false;
        }
        let sum: u64 = self.intervals.iter().map(|interval| interval.0).sum();
        let mean = Duration(sum / self.intervals.len() as u64);
        interval >= Duration(3 * mean.0).max(mean + LONGER_BY)
    }

    /// What was seen until now; a picture that has lasted for too long is frozen already.
    pub(super) fn seen(&self, now: Instant) -> Seen {
        let mut seen = self.seen;
        self.due.iter().filter(|due| due.at < now).for_each(|due| count(&mut seen, due));
        let lasts = self.last.map_or(Duration::ZERO, |last| now.since(last.min(now)));
        if self.is_freeze(lasts) {
            seen.freezes += 1;
            seen.frozen += lasts;
        }
        seen
    }
}

/// Counts a frame whose deadline has passed.
fn count(seen: &mut Seen, due: &Due) {
    seen.frames += 1;
    seen.late += u64::from(!due.in_time);
    seen.in_time_bytes += if due.in_time { u64::from(due.bytes) } else { 0 };
}
