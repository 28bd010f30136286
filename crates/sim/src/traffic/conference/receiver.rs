//! The receiver: which packets are missing, which frames are complete, and its reports.

use super::controller::DelayBased;
use super::keys::{Conference, Feedback};
use super::packets::{Log, Piece, Report, Sent, Video};
use super::viewer::{Seen, Viewer};
use kernel::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// A packet that is missing for this long is given up: a key frame is requested.
const PATIENCE: Duration = Duration::from_secs(1);

/// A frame of which packets have arrived.
#[derive(Debug)]
struct Partial {
    captured: Instant,
    is_key: bool,
    arrived: BTreeSet<u16>,
    pieces: u16,
}

impl Partial {
    fn is_complete(&self) -> bool {
        self.arrived.len() == usize::from(self.pieces)
    }
}

#[derive(Debug)]
pub(super) struct Receiver {
    retransmit: bool,
    /// The number after the highest that has arrived.
    next: u64,
    /// Lower numbers that have not arrived.
    gaps: BTreeSet<u64>,
    missing: BTreeMap<Piece, Instant>,
    frames: BTreeMap<u32, Partial>,
    /// The frame to be shown next.
    next_frame: u32,
    wants_key: bool,
    arrivals: Vec<(u64, Instant)>,
    received: u64,
    last: Option<(u64, Instant)>,
    /// `next` at the last report.
    reported: u64,
    /// With REMB.
    delay: Option<DelayBased>,
    viewer: Viewer,
}

impl Receiver {
    pub(super) fn new(conference: &Conference) -> Self {
        Self {
            retransmit: conference.retransmit,
            next: 0,
            gaps: BTreeSet::new(),
            missing: BTreeMap::new(),
            frames: BTreeMap::new(),
            next_frame: 0,
            wants_key: false,
            arrivals: Vec::new(),
            received: 0,
            last: None,
            reported: 0,
            delay: (conference.feedback == Feedback::Remb).then(|| DelayBased::new(conference)),
            viewer: Viewer::new(conference.deadline),
        }
    }

    pub(super) fn viewer(&mut self) -> &mut Viewer {
        &mut self.viewer
    }

    pub(super) fn seen(&self, now: Instant) -> Seen {
        self.viewer.seen(now)
    }

    pub(super) fn delay_based(&self) -> Option<&DelayBased> {
        self.delay.as_ref()
    }

    /// A packet has arrived. Returns whether a report is urgent: a packet is missing, or with REMB
    /// over-use begins, whose estimate is reported at once (draft-alvestrand-rmcat-remb-03).
    pub(super) fn on_packet(&mut self, now: Instant, number: u64, log: &Log) -> bool {
        let Some(sent) = log.get(number) else { return false };
        if number < self.next && !self.gaps.remove(&number) {
            return false;
        }
        let mut is_urgent = number > self.next && self.on_gap(now, self.next..number, log);
        self.next = self.next.max(number + 1);
        self.received += 1;
        if self.last.is_none_or(|(last, _)| last < number) {
            self.last = Some((number, now));
        }
        if let Some(delay) = &mut self.delay {
            is_urgent |= delay.on_packet(sent.at, now, sent.len.into());
        } else {
            self.arrivals.push((number, now));
        }
        if let Some(video) = sent.video {
            self.on_video(now, video);
        }
        is_urgent
    }

    /// These packets are missing. Returns whether there are some of the video.
    fn on_gap(&mut self, now: Instant, numbers: std::ops::Range<u64>, log: &Log) -> bool {
        let mut any = false;
        for number in numbers {
            self.gaps.insert(number);
            let Some(Sent { video: Some(video), .. }) = log.get(number) else { continue };
            if video.piece.0 < self.next_frame {
                continue;
            }
            any = true;
            if self.retransmit {
                self.missing.insert(video.piece, now);
            } else {
                self.wants_key = true;
            }
        }
        while self.gaps.first().is_some_and(|&first| first + MOST_GAPS < self.next) {
            self.gaps.pop_first();
        }
        any
    }

    fn on_video(&mut self, now: Instant, video: Video) {
        let Video { piece: (frame, index), pieces, captured, is_key } = video;
        self.missing.remove(&video.piece);
        if frame < self.next_frame {
            return;
        }
        let arrived = BTreeSet::new();
        let partial = self.frames.entry(frame);
        let partial = partial.or_insert(Partial { captured, is_key, arrived, pieces });
        partial.arrived.insert(index);
        if partial.is_complete() {
            self.show(now);
        }
    }

    /// Shows the frames whose turn it is. A complete key frame ends the wait for older ones.
    fn show(&mut self, now: Instant) {
        loop {
            let is_next = self.frames.get(&self.next_frame).is_some_and(Partial::is_complete);
            let key = || {
                let mut keys = self.frames.iter().filter(|(_, it)| it.is_key && it.is_complete());
                keys.next().map(|(&number, _)| number)
            };
            let frame = if is_next { Some(self.next_frame) } else { key() };
            let Some(frame) = frame else { return };
            let shown = self.frames.remove(&frame).expect("it is there");
            self.viewer.on_shown(now, frame, shown.captured);
            self.next_frame = frame + 1;
            self.frames = self.frames.split_off(&self.next_frame);
            self.missing = self.missing.split_off(&(self.next_frame, 0));
            self.wants_key &= !shown.is_key;
        }
    }

    /// A report of what has happened since the last one; none before the first packet.
    pub(super) fn report(&mut self, now: Instant, rtt: Duration) -> Option<Report> {
        let last = self.last?;
        if self.missing.values().any(|&since| now.since(since) >= PATIENCE) {
            self.wants_key = true;
        }
        let estimate = self.delay.as_mut().map(|delay| delay.update(now, rtt));
        let expected = self.next - self.reported;
        let report = Report {
            at: now,
            arrivals: std::mem::take(&mut self.arrivals),
            last,
            lost: expected.saturating_sub(self.received),
            expected,
            estimate,
            missing: self.missing.keys().copied().collect(),
            wants_key: self.wants_key,
        };
        (self.reported, self.received) = (self.next, 0);
        Some(report)
    }
}

/// Packets that overtake more others than this are not known.
const MOST_GAPS: u64 = 10_000;
