//! Adaptive video.

use super::{Command, Event, Origin, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant};
use settings::{Faults, Path, Settings};
use std::collections::VecDeque;

/// Adaptive video over one TCP connection (DASH, ISO/IEC 23009-1). The client requests one segment
/// after the other, each at the highest rate of the ladder below 0.8 times the harmonic mean of the
/// rates at which the last three arrived (J. Jiang, V. Sekar, H. Zhang, "FESTIVE", `CoNEXT` 2012),
/// the first at the lowest. It waits while its buffer is full.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = ladder_ascends)]
pub struct Video {
    /// Duration of a segment.
    #[setting(key = "segment_s", default = 4.0, range = 0.1..=60.0)]
    pub segment: Duration,
    /// The rates of the video in Mb/s, ascending.
    #[setting(default = vec![0.4, 0.8, 1.5, 3.0, 6.0, 12.0], range = 1e-3..=1e4)]
    pub ladder_mbps: Vec<f64>,
    /// The most video in the buffer.
    #[setting(key = "buffer_s", default = 20.0, range = 0.1..=3600.0)]
    pub buffer: Duration,
    /// The video in the buffer at which the picture begins or goes on.
    #[setting(key = "startup_s", default = 4.0, range = 0.0..=3600.0)]
    pub startup: Duration,
}

fn ladder_ascends(video: &Video, at: &Path, faults: &mut Faults) {
    if video.ladder_mbps.is_empty() || !video.ladder_mbps.is_sorted_by(|a, b| a < b) {
        faults.fault(at.key("ladder_mbps"), "must have at least one rate, and ascend");
    }
    if video.buffer < video.segment || video.buffer < video.startup {
        faults.fault(at.key("buffer_s"), "must hold a segment and `startup_s`");
    }
}

/// What a viewer has seen since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewed {
    /// From the first request to the picture; `None` while there is none.
    pub startup_delay: Option<Duration>,
    /// Interruptions of the picture.
    pub rebuffers: u64,
    /// Time without a picture, after the first.
    pub stalled: Duration,
    /// Time with a picture.
    pub played: Duration,
    /// Changes of the rate from one segment to the next.
    pub switches: u64,
    /// Segments received.
    pub segments: u64,
    /// The sum of their rates in Mb/s.
    pub rates_mbps: f64,
    /// Video in the buffer.
    pub buffered: Duration,
}

impl TrafficModel for Video {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Viewer {
            video: self.clone(),
            unit: flow.unit,
            rung: 0,
            asked: Instant::ZERO,
            first_asked: None,
            size: Bytes::ZERO,
            missing: Bytes::ZERO,
            arrival_rates: VecDeque::with_capacity(SEGMENTS_BEFORE),
            is_playing: false,
            since: Instant::ZERO,
            ends: Instant::NEVER,
            viewed: Viewed::default(),
        })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.segment)
    }

    fn has_sessions(&self) -> bool {
        true
    }

    fn is_video(&self) -> bool {
        true
    }
}

/// Segments whose rates determine the next one, and the part of their mean that is used.
const SEGMENTS_BEFORE: usize = 3;
const SAFE_PART: f64 = 0.8;

#[derive(Debug)]
struct Viewer {
    video: Video,
    /// Segments are rounded up to a multiple of this.
    unit: Bytes,
    /// The rung of the ladder of the segment in transfer.
    rung: usize,
    /// When the segment in transfer was requested.
    asked: Instant,
    first_asked: Option<Instant>,
    size: Bytes,
    /// The bytes of the segment that have not arrived yet.
    missing: Bytes,
    /// In Mb/s, of the last segments.
    arrival_rates: VecDeque<f64>,
    is_playing: bool,
    /// Up to when `viewed` counts.
    since: Instant,
    /// The viewer looks away.
    ends: Instant,
    viewed: Viewed,
}

impl Source for Viewer {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, stop } => {
                self.ends = stop.unwrap_or(Instant::NEVER);
                out.push(Command::Wake(start));
            }
            Event::Timer => self.request(now, out),
            Event::Delivered(bytes) if self.missing > Bytes::ZERO => {
                self.missing = Bytes(self.missing.0.saturating_sub(bytes.0));
                if self.missing == Bytes::ZERO {
                    self.on_segment(now, out);
                }
            }
            Event::Stop => out.push(Command::Abandon),
            _ => {}
        }
    }

    fn viewed(&self, now: Instant) -> Option<Viewed> {
        Some(self.until(now).1)
    }
}

impl Viewer {
    fn request(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.first_asked.is_none() {
            self.first_asked = Some(now);
            self.since = now;
            out.push(Command::Open);
        }
        let rung = self.choose();
        self.viewed.switches += u64::from(self.viewed.segments > 0 && rung != self.rung);
        self.rung = rung;
        self.asked = now;
        let bytes = self.video.ladder_mbps[rung] * self.video.segment.as_secs_f64() * 1e6 / 8.0;
        self.size = Bytes((bytes as u64).max(1));
        self.missing = Bytes(self.size.0.div_ceil(self.unit.0) * self.unit.0);
        out.push(Command::Write(self.size));
    }

    /// The rung of the next segment.
    fn choose(&self) -> usize {
        if self.arrival_rates.is_empty() {
            return 0;
        }
        let inverse: f64 = self.arrival_rates.iter().map(|rate| 1.0 / rate).sum();
        let most = SAFE_PART * self.arrival_rates.len() as f64 / inverse;
        self.video.ladder_mbps.iter().rposition(|&rate| rate <= most).unwrap_or(0)
    }

    fn on_segment(&mut self, now: Instant, out: &mut Vec<Command>) {
        (self.is_playing, self.viewed) = self.until(now);
        self.since = now;
        let took = (now - self.asked).as_secs_f64().max(1e-9);
        if self.arrival_rates.len() == SEGMENTS_BEFORE {
            self.arrival_rates.pop_front();
        }
        self.arrival_rates.push_back(self.size.bits() as f64 * 1e-6 / took);
        self.viewed.segments += 1;
        self.viewed.rates_mbps += self.video.ladder_mbps[self.rung];
        self.viewed.buffered += self.video.segment;
        if !self.is_playing && self.viewed.buffered >= self.video.startup {
            self.is_playing = true;
            let first = self.first_asked.unwrap_or(now);
            self.viewed.startup_delay.get_or_insert(now - first);
        }
        out.push(Command::Session(self.asked));
        let room = self.video.buffer.saturating_sub(self.video.segment);
        // While nothing is played the buffer never empties; there is room for `startup_s`.
        let wait = self.viewed.buffered.saturating_sub(room);
        out.push(Command::Wake(now + if self.is_playing { wait } else { Duration::ZERO }));
    }

    /// Whether the picture moves at this time, and what was seen until then.
    fn until(&self, now: Instant) -> (bool, Viewed) {
        let mut viewed = self.viewed;
        let passed = now.min(self.ends).since(self.since);
        if self.is_playing {
            let played = passed.min(viewed.buffered);
            viewed.played += played;
            viewed.buffered = viewed.buffered.saturating_sub(played);
            let stalled = passed.saturating_sub(played);
            viewed.stalled += stalled;
            viewed.rebuffers += u64::from(stalled > Duration::ZERO);
            return (stalled == Duration::ZERO, viewed);
        }
        if viewed.startup_delay.is_some() {
            viewed.stalled += passed;
        }
        (false, viewed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn video() -> Video {
        let second = Duration::from_secs(1);
        let ladder_mbps = vec![0.8, 1.6, 8.0];
        Video { segment: second, ladder_mbps, buffer: second + second, startup: second }
    }

    /// The bytes that the source writes after this event.
    fn written(source: &mut dyn Source, now: Instant, event: Event) -> Option<u64> {
        asked(source, &[(now, event)]).iter().find_map(|command| match command {
            Command::Write(bytes) => Some(bytes.0),
            _ => None,
        })
    }

    #[test]
    fn the_rate_follows_that_of_the_last_segments() {
        let mut source = source(&video());
        asked(&mut *source, &[(at(0), Event::Begin { start: at(0), stop: None })]);
        assert_eq!(written(&mut *source, at(0), Event::Timer), Some(100_000), "0.8 Mb/s");
        // 0.8 Mbit in 200 ms are 4 Mb/s, of which 0.8 allow 1.6 Mb/s.
        asked(&mut *source, &[(at(200), Event::Delivered(Bytes(100_000)))]);
        assert_eq!(written(&mut *source, at(200), Event::Timer), Some(200_000));
        assert_eq!(source.viewed(at(200)).map(|viewed| viewed.switches), Some(1));
    }

    #[test]
    fn the_picture_stops_when_the_buffer_is_empty() {
        let mut source = source(&video());
        let deliver = Event::Delivered(Bytes(100_000));
        asked(&mut *source, &[(at(0), Event::Begin { start: at(0), stop: None })]);
        asked(&mut *source, &[(at(0), Event::Timer), (at(500), deliver), (at(500), Event::Timer)]);
        // It plays from 0.5 s to 1.5 s, and waits for the second segment until 2 s.
        let viewed = source.viewed(at(1_800)).expect("a video");
        assert_eq!(viewed.startup_delay, Some(Duration::from_millis(500)));
        assert_eq!((viewed.rebuffers, viewed.stalled), (1, Duration::from_millis(300)));
        asked(&mut *source, &[(at(2_000), deliver)]);
        let viewed = source.viewed(at(2_500)).expect("a video");
        assert_eq!((viewed.rebuffers, viewed.stalled), (1, Duration::from_millis(500)));
        assert_eq!(viewed.played, Duration::from_millis(1_500));
    }

    #[test]
    fn a_full_buffer_delays_the_next_request() {
        let mut source = source(&video());
        let deliver = Event::Delivered(Bytes(100_000));
        asked(&mut *source, &[(at(0), Event::Begin { start: at(0), stop: None })]);
        let first = asked(&mut *source, &[(at(0), Event::Timer), (at(100), deliver)]);
        assert_eq!(first.last(), Some(&Command::Wake(at(100))), "there is room for one more");
        let second = Event::Delivered(Bytes(1_000_000));
        let full = asked(&mut *source, &[(at(100), Event::Timer), (at(200), second)]);
        assert_eq!(full.last(), Some(&Command::Wake(at(1_100))));
    }
}
