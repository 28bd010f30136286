//! The sender: encoder, pacer, retransmissions, and the rate.

use super::arrival::BURST;
use super::controller::DelayBased;
use super::encoder::Encoder;
use super::keys::{AUDIO_INTERVAL, Conference, Feedback};
use super::packets::{Log, Piece, Report, Sent, Video};
use super::rate::LossBased;
use super::viewer::{Seen, Viewer};
use crate::traffic::Command;
use kernel::{Duration, Instant, Rng};
use std::collections::{BTreeMap, VecDeque};
use wire::MediaKind;

/// The RTP header (RFC 3550 section 5.1).
const RTP: u32 = 12;
/// A packet is sent again for this many frames after its own.
const RETRANSMITTED_FRAMES: u32 = 90;
/// The round-trip time before a report tells it, as in the implementation of WebRTC.
const FIRST_RTT: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Sender {
    encoder: Encoder,
    frame_interval: Duration,
    pacing_factor: f64,
    payload: u32,
    audio: (u16, f64),
    limits: (f64, f64),
    started: Instant,
    next_frame: Instant,
    next_audio: Instant,
    audio_packets: u32,
    next_burst: Instant,
    /// Bytes that may be sent; below 0 after a packet larger than a burst.
    allowance: f64,
    queue: VecDeque<(Video, u16)>,
    log: Log,
    /// Packets that may be sent again, and when they were sent last.
    kept: BTreeMap<Piece, (Video, u16, Instant)>,
    /// With transport feedback.
    delay: Option<DelayBased>,
    delay_rate: f64,
    loss: LossBased,
    rtt: Duration,
    encoded_bytes: u64,
}

impl Sender {
    pub(super) fn new(conference: &Conference, rng: Rng) -> Self {
        let call = conference.audio();
        let bytes = call.payload().0 as u16;
        let start = conference.start_rate.0 as f64;
        Self {
            encoder: Encoder::new(conference, rng),
            frame_interval: conference.frame_interval(),
            pacing_factor: conference.pacing_factor,
            payload: conference.payload.0 as u32 - RTP,
            audio: (bytes, f64::from(bytes) * 8.0 / AUDIO_INTERVAL.as_secs_f64()),
            limits: (conference.min_rate.0 as f64, conference.max_rate.0 as f64),
            started: Instant::NEVER,
            next_frame: Instant::NEVER,
            next_audio: Instant::NEVER,
            audio_packets: 0,
            next_burst: Instant::ZERO,
            allowance: 0.0,
            queue: VecDeque::new(),
            log: Log::default(),
            kept: BTreeMap::new(),
            delay: (conference.feedback == Feedback::Transport)
                .then(|| DelayBased::new(conference)),
            delay_rate: start,
            // It limits nothing before losses are reported.
            loss: LossBased::new(conference.max_rate.0 as f64),
            rtt: FIRST_RTT,
            encoded_bytes: 0,
        }
    }

    pub(super) fn begin(&mut self, start: Instant) {
        (self.started, self.next_frame, self.next_audio) = (start, start, start);
    }

    /// The rate of audio and video: the smaller one of both halves.
    pub(super) fn target(&self) -> f64 {
        self.delay_rate.min(self.loss.rate).clamp(self.limits.0, self.limits.1)
    }

    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// What was sent.
    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    pub(super) fn tell(&self, now: Instant, seen: &mut Seen) {
        seen.target_mbps = self.target() * 1e-6;
        seen.encoded_bytes = self.encoded_bytes;
        seen.active = now.since(self.started.min(now));
        if let Some(delay) = &self.delay {
            delay.tell(seen);
        }
    }

    pub(super) fn on_timer(&mut self, now: Instant, viewer: &mut Viewer, out: &mut Vec<Command>) {
        if now >= self.next_audio {
            let unit = self.audio_packets;
            self.audio_packets += 1;
            self.send(now, MediaKind::Audio, unit, self.audio.0, None, out);
            self.next_audio += AUDIO_INTERVAL;
            out.push(Command::Wake(self.next_audio));
        }
        if now >= self.next_frame {
            self.encode(now, viewer);
            self.next_frame += self.frame_interval;
            out.push(Command::Wake(self.next_frame));
        }
        self.pace(now, out);
    }

    fn encode(&mut self, now: Instant, viewer: &mut Viewer) {
        let frame = self.encoder.frame(now, self.target() - self.audio.1);
        self.encoded_bytes += u64::from(frame.bytes);
        viewer.on_captured(now, frame.number, frame.bytes);
        let pieces = frame.bytes.div_ceil(self.payload);
        let (share, rest) = (frame.bytes / pieces, frame.bytes % pieces);
        for index in 0..pieces {
            let len = (share + u32::from(index < rest) + RTP) as u16;
            let piece = (frame.number, index as u16);
            let is_key = frame.is_key;
            let video = Video { piece, pieces: pieces as u16, captured: now, is_key };
            self.queue.push_back((video, len));
        }
    }

    /// Sends a burst of packets if it is time to: those of the target rate in the time of a burst
    /// (section 3 of the draft).
    fn pace(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.queue.is_empty() || now < self.next_burst {
            return;
        }
        let burst = self.pacing_factor * self.target() * BURST.as_secs_f64() / 8.0;
        // What was not used while there was nothing to send is lost.
        let bursts = 1.0 + now.since(self.next_burst).as_secs_f64() / BURST.as_secs_f64();
        self.allowance = (self.allowance + burst * bursts).min(burst);
        while self.allowance > 0.0
            && let Some((video, len)) = self.queue.pop_front()
        {
            self.allowance -= f64::from(len);
            self.kept.insert(video.piece, (video, len, now));
            self.send(now, MediaKind::Video, video.piece.0, len, Some(video), out);
        }
        self.next_burst = now + BURST;
        if !self.queue.is_empty() {
            out.push(Command::Wake(self.next_burst));
        }
    }

    fn send(
        &mut self,
        now: Instant,
        kind: MediaKind,
        unit: u32,
        len: u16,
        video: Option<Video>,
        out: &mut Vec<Command>,
    ) {
        let number = self.log.push(Sent { at: now, len, video });
        out.push(Command::Media { kind, len, unit, number });
    }

    /// A report has arrived.
    pub(super) fn on_report(&mut self, now: Instant, report: &Report, out: &mut Vec<Command>) {
        if let Some(last) = self.log.get(report.last.0) {
            let held = report.at.since(report.last.1);
            self.rtt = now.since(last.at).saturating_sub(held);
        }
        if let Some(delay) = &mut self.delay {
            for &(number, arrived) in &report.arrivals {
                if let Some(sent) = self.log.get(number) {
                    delay.on_packet(sent.at, arrived, sent.len.into());
                }
            }
            self.delay_rate = delay.update(now, self.rtt);
        }
        self.delay_rate = report.estimate.unwrap_or(self.delay_rate);
        let used = self.target();
        self.loss.update(now, report.lost, report.expected, used);
        self.loss.rate = self.loss.rate.clamp(self.limits.0, self.limits.1);
        if report.wants_key {
            self.encoder.request_key(now);
        }
        self.repeat(now, report);
        self.pace(now, out);
    }

    /// Queues what the receiver lacks, before all others, unless it was sent within a round-trip
    /// time.
    fn repeat(&mut self, now: Instant, report: &Report) {
        for piece in report.missing.iter().rev() {
            let Some((video, len, at)) = self.kept.get_mut(piece) else { continue };
            if now.since(*at) >= self.rtt {
                *at = now;
                self.queue.push_front((*video, *len));
                self.encoder.owe(*len);
            }
        }
        if let Some((&(newest, _), _)) = self.kept.last_key_value() {
            let oldest = newest.saturating_sub(RETRANSMITTED_FRAMES);
            self.kept = self.kept.split_off(&(oldest, 0));
        }
    }
}
