//! A video conference in one direction, whose rate adapts by Google Congestion Control.
//!
//! The source is both ends. What they tell each other is in packets: the table of what was sent
//! stands for the headers of the media, and the table of reports for the content of the feedback,
//! each read when its packet arrives.

mod arrival;
mod controller;
mod detector;
mod encoder;
mod estimator;
mod rate;
mod receiver;
mod sender;
mod viewer;

pub use estimator::Estimator;
pub use viewer::Seen;

use super::call::{Call, Codec};
use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{BitRate, Bytes, Duration, Instant};
use receiver::{Receiver, Report};
use sender::Sender;
use settings::{Choice, Faults, Path, Settings, number};
use std::collections::VecDeque;
use wire::MediaKind;

/// Audio and video of a conference over RTP and UDP in one direction. The rate follows Google
/// Congestion Control (draft-ietf-rmcat-gcc-02), fed by reports that travel back as packets. Of the
/// audio, Opus at 32 kb/s, the quality is that of a call.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = rates_ascend)]
pub struct Conference {
    /// The least rate of audio and video, with RTP headers.
    #[setting(key = "min_rate_mbps", default = 0.3, range = 0.06..=1000.0)]
    pub min_rate: BitRate,
    /// The rate at the start. The draft has no probing: from there it grows by 8 % a second.
    #[setting(key = "start_rate_mbps", default = 0.3, range = 0.06..=1000.0)]
    pub start_rate: BitRate,
    /// The most rate.
    #[setting(key = "max_rate_mbps", default = 3.0, range = 0.06..=1000.0)]
    pub max_rate: BitRate,
    /// Video frames per second.
    #[setting(default = 30.0, range = 1.0..=240.0)]
    pub frames_per_s: f64,
    /// The sizes of frames are uniformly distributed up to this part below and above their mean.
    #[setting(default = 0.1, range = 0.0..=1.0)]
    pub frame_spread: f64,
    /// The time between key frames. Default: none but the first, and those that the receiver
    /// requests.
    #[setting(key = "key_frame_interval_s", range = 0.1..=3600.0)]
    pub key_frame_interval: Option<Duration>,
    /// The size of a key frame in other frames. Later frames save what it takes.
    #[setting(default = 4.0, range = 1.0..=100.0)]
    pub key_frame_ratio: f64,
    /// The ratio of the pacing rate to the target rate: the draft has 1, WebRTC 2.5.
    #[setting(default = 1.0, range = 0.5..=100.0)]
    pub pacing_factor: f64,
    /// The estimator of the delay gradient.
    pub estimator: Estimator,
    /// The estimate is compared with the threshold times the number of groups so far, at most this
    /// one. The draft does not have the factor, WebRTC has 60, and so have the evaluations of both.
    #[setting(default = 60, range = 1..=1000)]
    pub gradient_groups: u64,
    /// Where the delay is evaluated, and what the reports say.
    pub feedback: Feedback,
    /// Time between two reports.
    #[setting(key = "feedback_interval_ms", default = 100.0, range = 10.0..=5000.0)]
    pub feedback_interval: Duration,
    /// Whether lost packets of the video are requested and sent again (RFC 4585 section 6.2.1).
    /// If not, the picture stops until the next key frame.
    #[setting(default = true)]
    pub retransmit: bool,
    /// From the capture of a frame, or the sending of an audio packet, to its playing. A frame that
    /// is complete later is shown then, and is late.
    #[setting(key = "deadline_ms", default = 150.0, range = 1.0..=10_000.0)]
    pub deadline: Duration,
    /// The most data in a packet, with the RTP header.
    #[setting(key = "payload_bytes", default = 1200, range = 100..=65_507)]
    pub payload: Bytes,
    /// UDP and IP headers of each packet.
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
}

/// Where the delay is evaluated (draft-ietf-rmcat-gcc-02 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Feedback {
    /// At the sender: the receiver reports when each packet arrived
    /// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    #[default]
    Transport,
    /// At the receiver, which reports its estimate of the rate (draft-alvestrand-rmcat-remb-03).
    Remb,
}

/// Time between two audio packets.
const AUDIO_INTERVAL: Duration = Duration::from_millis(20);

fn rates_ascend(conference: &Conference, at: &Path, faults: &mut Faults) {
    let Conference { min_rate, start_rate, max_rate, .. } = *conference;
    let mbps = |rate: BitRate| number(rate.as_mbps());
    if max_rate < min_rate {
        let message = format!(
            "{} is below `min_rate_mbps`, {}; the rate adapts between the two",
            mbps(max_rate),
            mbps(min_rate)
        );
        faults.fault(at.key("max_rate_mbps"), message);
    } else if start_rate < min_rate || start_rate > max_rate {
        let message = format!(
            "{} is not between `min_rate_mbps`, {}, and `max_rate_mbps`, {}",
            mbps(start_rate),
            mbps(min_rate),
            mbps(max_rate)
        );
        faults.fault(at.key("start_rate_mbps"), message);
    }
}

impl Conference {
    /// Time between two frames.
    fn frame_interval(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.frames_per_s)
    }

    /// The audio beside the video.
    fn audio(&self) -> Call {
        let (deadline, header) = (self.deadline, self.header);
        Call { codec: Codec::Opus, interval: AUDIO_INTERVAL, deadline, header }
    }
}

impl TrafficModel for Conference {
    fn transport(&self) -> Transport {
        let Self { payload, header, deadline, .. } = *self;
        // Each frame may end with a packet that is not full, and a burst may catch up.
        let full = self.max_rate.0 as f64 / payload.bits() as f64;
        let per_s = 2.0 * full + self.frames_per_s + 1.0 / AUDIO_INTERVAL.as_secs_f64();
        Transport::Udp(DatagramSize { payload, header, deadline }, Pace::PerSecond(per_s))
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Meeting {
            feedback_interval: self.feedback_interval,
            sender: Sender::new(self, flow.stream("traffic.conference")),
            receiver: Receiver::new(self),
            reports: VecDeque::new(),
            reported: 0,
            next_report: Instant::NEVER,
            stop: Instant::NEVER,
        })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.frame_interval())
    }

    fn call(&self) -> Option<Call> {
        Some(self.audio())
    }

    fn feedback(&self) -> Option<Duration> {
        Some(self.feedback_interval)
    }
}

/// Both ends of a conference.
#[derive(Debug)]
struct Meeting {
    feedback_interval: Duration,
    sender: Sender,
    receiver: Receiver,
    /// The reports on their way, with their numbers.
    reports: VecDeque<(u64, Report)>,
    reported: u64,
    next_report: Instant,
    stop: Instant,
}

impl Source for Meeting {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, stop } => {
                self.stop = stop.unwrap_or(Instant::NEVER);
                self.sender.begin(start);
                self.next_report = start + self.feedback_interval;
                out.extend([Command::Wake(start), Command::Wake(self.next_report)]);
            }
            Event::Timer => {
                self.sender.on_timer(now, self.receiver.viewer(), out);
                if now >= self.next_report {
                    self.next_report = now + self.feedback_interval;
                    out.push(Command::Wake(self.next_report));
                    self.report(now, out);
                }
            }
            Event::Arrived { kind: MediaKind::Feedback, number } => {
                while let Some((sent, report)) = self.reports.pop_front() {
                    if sent == number {
                        self.sender.on_report(now, &report, out);
                        break;
                    }
                    // Routes that change let reports overtake each other: a later one came first.
                    if sent > number {
                        self.reports.push_front((sent, report));
                        break;
                    }
                }
            }
            Event::Arrived { number, .. } => {
                let Some(sent) = self.sender.sent(number) else { return };
                let is_urgent = self.receiver.on_packet(now, number, sent, &self.sender);
                if is_urgent && now < self.stop {
                    self.report(now, out);
                }
            }
            _ => {}
        }
    }

    fn seen(&self, now: Instant) -> Option<Seen> {
        let mut seen = self.receiver.seen(now.min(self.stop));
        self.sender.tell(now.min(self.stop), &mut seen);
        if let Some(delay) = self.receiver.delay_based() {
            delay.tell(&mut seen);
        }
        Some(seen)
    }
}

impl Meeting {
    fn report(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(report) = self.receiver.report(now, self.sender.rtt()) else { return };
        let (number, len) = (self.reported, report.size());
        self.reported += 1;
        self.reports.push_back((number, report));
        out.push(Command::Media { kind: MediaKind::Feedback, len, unit: 0, number });
    }
}

#[cfg(test)]
mod tests;
