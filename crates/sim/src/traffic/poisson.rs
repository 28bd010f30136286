//! Datagrams at random times.

use super::cbr::{bounded_rate, per_second};
use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use settings::{Faults, Path, Settings};

/// Datagrams over UDP at random times: a Poisson process, with exponential pauses between them.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = bounded)]
pub struct Poisson {
    /// Mean rate of user data, without headers.
    #[setting(key = "rate_mbps", default = 1.0, range = 1e-6..=1e6)]
    pub rate: BitRate,
    /// Size of each datagram.
    #[setting(flatten)]
    pub size: DatagramSize,
}

fn bounded(poisson: &Poisson, at: &Path, faults: &mut Faults) {
    bounded_rate(poisson.rate, poisson.size.payload, at, faults);
}

impl TrafficModel for Poisson {
    fn transport(&self) -> Transport {
        Transport::Udp(self.size, Pace::PerSecond(per_second(self.rate, self.size.payload)))
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        let payload = self.size.payload;
        let mean = self.rate.time_for(payload);
        Box::new(Arrivals { payload, mean, pauses: flow.stream("traffic.arrivals") })
    }
}

#[derive(Debug)]
struct Arrivals {
    payload: Bytes,
    /// Of the pauses.
    mean: Duration,
    pauses: Rng,
}

impl Arrivals {
    fn pause(&mut self) -> Duration {
        Duration::from_secs_f64(self.pauses.exponential(self.mean.as_secs_f64()))
    }
}

impl Source for Arrivals {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start + self.pause())),
            Event::Timer => {
                out.extend([Command::Send(self.payload), Command::Wake(now + self.pause())]);
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
    fn pauses_have_the_mean_and_the_deviation_of_an_exponential() {
        let size = DatagramSize { payload: Bytes(125), ..Default::default() };
        let mut source = source(&Poisson { rate: BitRate(1_000_000), size });
        let mut now = Instant::ZERO;
        let begin = Event::Begin { start: now, stop: None };
        let mut out = asked(&mut *source, &[(now, begin)]);
        let mut pauses = Vec::new();
        for _ in 0..10_000 {
            let Some(Command::Wake(next)) = out.pop() else { panic!("it wakes up: {out:?}") };
            pauses.push(next.since(now).as_secs_f64());
            now = next;
            out = asked(&mut *source, &[(now, Event::Timer)]);
            assert_eq!(out[0], Command::Send(Bytes(125)));
        }
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        let square = |pause: &f64| (pause - mean).powi(2);
        let deviation = (pauses.iter().map(square).sum::<f64>() / pauses.len() as f64).sqrt();
        // Five standard errors of 10,000 pauses of 1 ms.
        assert!((mean - 1e-3).abs() < 5e-5, "{mean}");
        assert!((deviation - 1e-3).abs() < 1e-4, "{deviation}");
    }
}
