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
mod keys;
mod packets;
mod rate;
mod receiver;
mod sender;
mod viewer;

pub use estimator::Estimator;
pub use keys::{Conference, Feedback};
pub use viewer::Seen;

use super::call::Call;
use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Duration, Instant};
use keys::AUDIO_INTERVAL;
use packets::Report;
use receiver::Receiver;
use sender::Sender;
use std::collections::VecDeque;
use wire::MediaKind;

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
                // The first one has nothing to say, and is not sent.
                self.next_report = start;
                out.push(Command::Wake(start));
            }
            Event::Timer => {
                self.sender.on_timer(now, self.receiver.viewer(), out);
                if now >= self.next_report {
                    self.report(now, out);
                    self.next_report = now + self.feedback_interval;
                    out.push(Command::Wake(self.next_report));
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
                let is_urgent = self.receiver.on_packet(now, number, self.sender.log());
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
