//! Datagrams at a constant rate.

use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{BitRate, Bytes, Duration, Instant};
use settings::{Faults, Path, Settings, number, said};

/// Datagrams over UDP at a constant rate.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = bounded)]
pub struct Cbr {
    /// Rate of user data, without headers.
    #[setting(key = "rate_mbps", default = 1.0, range = 1e-6..=1e6)]
    pub rate: BitRate,
    /// Size of each datagram.
    #[setting(flatten)]
    pub size: DatagramSize,
}

fn bounded(cbr: &Cbr, at: &Path, faults: &mut Faults) {
    bounded_rate(cbr.rate, cbr.size.payload, at, faults);
}

/// Datagrams in a second.
pub(super) fn per_second(rate: BitRate, payload: Bytes) -> f64 {
    rate.0 as f64 / payload.bits() as f64
}

/// A rate at which the source alone would take the whole computing time of a run is refused.
pub(super) fn bounded_rate(rate: BitRate, payload: Bytes, at: &Path, faults: &mut Faults) {
    const MOST_PER_SECOND: f64 = 1e6;
    let per_second = per_second(rate, payload);
    if per_second > MOST_PER_SECOND {
        let (is, size, n) = (number(rate.as_mbps()), payload.0, number(per_second.round()));
        faults.fault(
            at.key("rate_mbps"),
            said!("{is} Mb/s in datagrams of {size} bytes are {n} a second", "at most 1000000"),
        );
    }
}

impl TrafficModel for Cbr {
    fn transport(&self) -> Transport {
        Transport::Udp(self.size, Pace::PerSecond(per_second(self.rate, self.size.payload)))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        let payload = self.size.payload;
        Box::new(Clock { payload, interval: self.rate.time_for(payload) })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.rate.time_for(self.size.payload))
    }
}

/// A source that sends equal datagrams at a constant interval.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) payload: Bytes,
    pub(super) interval: Duration,
}

impl Source for Clock {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start)),
            Event::Timer => {
                out.extend([Command::Send(self.payload), Command::Wake(now + self.interval)]);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn a_datagram_each_interval_until_the_stop() {
        let size = DatagramSize { payload: Bytes(125), ..Default::default() };
        let mut source = source(&Cbr { rate: BitRate(1_000_000), size });
        let (start, next) = (Instant(5), Instant(5) + Duration::from_millis(1));
        let begin = Event::Begin { start, stop: Some(next) };
        let events = [(Instant(0), begin), (start, Event::Timer), (next, Event::Stop)];
        assert_eq!(
            asked(&mut *source, &events),
            [Command::Wake(start), Command::Send(Bytes(125)), Command::Wake(next)]
        );
    }
}
