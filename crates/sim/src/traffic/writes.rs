//! Writes at a limited rate.

use super::{Command, Event, Origin, Source, TrafficModel, Transport};
use kernel::{BitRate, Bytes, Duration, Instant};
use settings::{Faults, Path, Settings, number, said};
use std::collections::VecDeque;

/// Data over one TCP connection, which the application writes at a constant rate: a backup with a
/// limit, or a live stream.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = bounded)]
pub struct Writes {
    /// Rate of user data.
    #[setting(key = "rate_mbps", default = 1.0, range = 1e-6..=1e6)]
    pub rate: BitRate,
    /// Size of each write.
    #[setting(key = "write_bytes", default = 8192, range = 1..=1_000_000_000)]
    pub size: Bytes,
}

/// A rate at which the source alone would take the whole computing time of a run.
fn bounded(writes: &Writes, at: &Path, faults: &mut Faults) {
    const MOST_PER_SECOND: f64 = 1e6;
    let per_second = writes.rate.0 as f64 / writes.size.bits() as f64;
    if per_second > MOST_PER_SECOND {
        let n = number(per_second.round());
        let message = said!("{n} writes a second", "at most 1000000: take larger writes");
        faults.fault(at.key("write_bytes"), message);
    }
}

impl TrafficModel for Writes {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Writer {
            size: self.size,
            whole: Bytes(self.size.0.div_ceil(flow.unit.0) * flow.unit.0),
            interval: self.rate.time_for(self.size),
            is_open: false,
            pending: VecDeque::new(),
            received: Bytes::ZERO,
        })
    }

    fn has_sessions(&self) -> bool {
        true
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.rate.time_for(self.size))
    }
}

#[derive(Debug)]
struct Writer {
    size: Bytes,
    /// What the receiver gets of each write: the sender may round it up.
    whole: Bytes,
    interval: Duration,
    is_open: bool,
    /// When the writes were made that have not arrived yet.
    pending: VecDeque<Instant>,
    /// What has arrived of the first of them.
    received: Bytes,
}

impl Source for Writer {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start)),
            Event::Timer => {
                if !self.is_open {
                    self.is_open = true;
                    out.push(Command::Open);
                }
                self.pending.push_back(now);
                out.extend([Command::Write(self.size), Command::Wake(now + self.interval)]);
            }
            Event::Delivered(bytes) => {
                self.received += bytes;
                while self.received >= self.whole
                    && let Some(written) = self.pending.pop_front()
                {
                    self.received = Bytes(self.received.0 - self.whole.0);
                    out.push(Command::Session(written));
                }
            }
            Event::Stop => out.push(Command::Abandon),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn a_write_each_interval_on_one_connection() {
        let mut source = source(&Writes { rate: BitRate(8_000_000), size: Bytes(1000) });
        let (start, next) = (Instant(5), Instant(5) + Duration::from_millis(1));
        let begin = Event::Begin { start, stop: None };
        let write = Command::Write(Bytes(1000));
        assert_eq!(
            asked(&mut *source, &[(Instant(0), begin), (start, Event::Timer)]),
            [Command::Wake(start), Command::Open, write, Command::Wake(next)]
        );
        let later = Command::Wake(next + Duration::from_millis(1));
        assert_eq!(asked(&mut *source, &[(next, Event::Timer)]), [write, later]);
    }

    #[test]
    fn a_write_has_arrived_when_all_of_it_has() {
        let mut source = source(&Writes { rate: BitRate(8_000_000), size: Bytes(1000) });
        let at = [5, 6, 7].map(|ms| Instant::ZERO + Duration::from_millis(ms));
        asked(&mut *source, &at.map(|at| (at, Event::Timer)));
        let mut arrive = |bytes| asked(&mut *source, &[(at[2], Event::Delivered(Bytes(bytes)))]);
        assert_eq!(arrive(999), []);
        assert_eq!(arrive(1), [Command::Session(at[0])]);
        assert_eq!(arrive(1999), [Command::Session(at[1])]);
        assert_eq!(arrive(1), [Command::Session(at[2])]);
    }
}
