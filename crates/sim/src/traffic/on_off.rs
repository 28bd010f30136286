//! Datagrams in bursts.

use super::{Command, DatagramSize, Event, Origin, Pace, Pauses, Source, TrafficModel, Transport};
use kernel::{BitRate, Bytes, Duration, Instant, Rng};
use settings::Settings;

/// Datagrams over UDP at a constant rate in random periods, and silence between them.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct OnOff {
    /// Rate of user data, without headers, in the periods in which the source sends.
    #[setting(key = "rate_mbps", default = 1.0, range = 1e-6..=1e4)]
    pub rate: BitRate,
    /// Mean duration of these periods.
    #[setting(key = "on_s", default = 1.0, range = 1e-6..=1e6)]
    pub on: Duration,
    /// Mean duration of the silence.
    #[setting(key = "off_s", default = 1.0, range = 0.0..=1e6)]
    pub off: Duration,
    /// The distribution of both.
    #[setting(default = Pauses::Exponential)]
    pub periods: Pauses,
    /// Size of each datagram.
    #[setting(flatten)]
    pub size: DatagramSize,
}

impl TrafficModel for OnOff {
    fn transport(&self) -> Transport {
        let per_second = self.rate.0 as f64 / self.size.payload.bits() as f64;
        Transport::Udp(self.size, Pace::PerSecond(per_second))
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Bursts {
            payload: self.size.payload,
            interval: self.rate.time_for(self.size.payload),
            means: [self.on, self.off],
            distribution: self.periods,
            periods: flow.stream("traffic.periods"),
            until: Instant::ZERO,
        })
    }

    fn interval(&self) -> Option<Duration> {
        Some(match self.periods {
            Pauses::Constant => self.on + self.off,
            Pauses::Exponential => self.rate.time_for(self.size.payload),
        })
    }
}

#[derive(Debug)]
struct Bursts {
    payload: Bytes,
    interval: Duration,
    /// Of sending and of silence.
    means: [Duration; 2],
    distribution: Pauses,
    periods: Rng,
    /// The end of the period in which it sends.
    until: Instant,
}

impl Source for Bursts {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => {
                self.until = start;
                out.push(Command::Wake(start));
            }
            Event::Timer => {
                if now >= self.until {
                    self.until = now + self.period(0);
                }
                let mut next = now + self.interval;
                if next >= self.until {
                    next = next.max(self.until + self.period(1));
                }
                out.extend([Command::Send(self.payload), Command::Wake(next)]);
            }
            _ => {}
        }
    }
}

impl Bursts {
    fn period(&mut self, which: usize) -> Duration {
        self.distribution.draw(self.means[which], &mut self.periods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn datagrams_come_in_bursts_with_silence_between_them() {
        let size = DatagramSize { payload: Bytes(125), ..Default::default() };
        let [on, off] = [2, 10].map(Duration::from_millis);
        let settings = OnOff { rate: BitRate(1_000_000), on, off, periods: Pauses::Constant, size };
        let mut source = source(&settings);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let begin = Event::Begin { start: at(0), stop: None };
        assert_eq!(asked(&mut *source, &[(at(0), begin)]), [Command::Wake(at(0))]);
        let send = Command::Send(Bytes(125));
        for (now, next) in [(0, 1), (1, 12), (12, 13), (13, 24)] {
            let found = asked(&mut *source, &[(at(now), Event::Timer)]);
            assert_eq!(found, [send, Command::Wake(at(next))], "at {now} ms");
        }
    }
}
