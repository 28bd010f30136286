//! Requests and responses on one connection.

use super::{Command, Draw, Event, First, Origin, Pauses, Size, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::Settings;

/// Responses over one TCP connection, which stays open, with pauses between a response and the
/// next request (HTTP/1.1 persistent connections, RFC 9112 section 9.3). Requests take no time.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Requests {
    /// The distribution of the sizes of responses.
    pub size: Size,
    /// Mean of the pause between a response and the next request.
    #[setting(key = "think_s", default = 1.0, range = 0.0..=1e6)]
    pub think: Duration,
    /// The distribution of pauses.
    #[setting(default = Pauses::Exponential)]
    pub pauses: Pauses,
    /// The number of requests. Default: unlimited.
    #[setting(range = 1..)]
    pub requests: Option<u64>,
    /// What the connection begins with.
    #[setting(default = First::Think)]
    pub first: First,
}

impl TrafficModel for Requests {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Client {
            size: self.size.get().draw(),
            think: self.think,
            distribution: self.pauses,
            left: self.requests,
            begins_with_pause: self.first == First::Think,
            unit: flow.unit,
            sizes: flow.stream("traffic.size"),
            pauses: flow.stream("traffic.think"),
            is_open: false,
            asked: Instant::ZERO,
            missing: Bytes::ZERO,
        })
    }

    fn interval(&self) -> Option<Duration> {
        (self.pauses == Pauses::Constant).then_some(self.think)
    }

    fn has_sessions(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Client {
    size: Draw,
    think: Duration,
    distribution: Pauses,
    left: Option<u64>,
    begins_with_pause: bool,
    /// Responses are rounded up to a multiple of this.
    unit: Bytes,
    sizes: Rng,
    pauses: Rng,
    is_open: bool,
    /// When the response in transfer was requested.
    asked: Instant,
    /// The bytes of the response that the client has not received yet.
    missing: Bytes,
}

impl Source for Client {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => {
                let pause = if self.begins_with_pause { self.pause() } else { Duration::ZERO };
                out.push(Command::Wake(start + pause));
            }
            Event::Timer if self.left != Some(0) => {
                self.left = self.left.map(|left| left - 1);
                if !self.is_open {
                    self.is_open = true;
                    out.push(Command::Open);
                }
                let size = self.size.of(&mut self.sizes);
                self.asked = now;
                self.missing = Bytes(size.0.div_ceil(self.unit.0) * self.unit.0);
                out.push(Command::Write(size));
            }
            Event::Delivered(bytes) if self.missing > Bytes::ZERO => {
                self.missing = Bytes(self.missing.0.saturating_sub(bytes.0));
                if self.missing == Bytes::ZERO {
                    let pause = self.pause();
                    out.extend([Command::Session(self.asked), Command::Wake(now + pause)]);
                }
            }
            _ => {}
        }
    }
}

impl Client {
    fn pause(&mut self) -> Duration {
        self.distribution.draw(self.think, &mut self.pauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Constant;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn one_connection_carries_all_responses() {
        let size = Size::Constant(Constant { size: Bytes(1000) });
        let think = Duration::from_millis(20);
        let pauses = Pauses::Constant;
        let settings = Requests { size, think, pauses, first: First::File, ..Default::default() };
        let mut source = source(&settings);
        let (start, end) = (Instant(5), Instant(9));
        let begin = Event::Begin { start, stop: None };
        let write = Command::Write(Bytes(1000));
        let first = asked(&mut *source, &[(Instant(0), begin), (start, Event::Timer)]);
        assert_eq!(first, [Command::Wake(start), Command::Open, write]);
        let half = Event::Delivered(Bytes(500));
        let response = asked(&mut *source, &[(end, half), (end, half)]);
        assert_eq!(response, [Command::Session(start), Command::Wake(end + think)]);
        assert_eq!(asked(&mut *source, &[(end + think, Event::Timer)]), [write]);
    }
}
