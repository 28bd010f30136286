//! The updates of an online game.

use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::Settings;

/// The updates of an online game over UDP. Intervals and sizes have an extreme value distribution
/// (J. Färber, "Network game traffic modelling", `NetGames` 2002). The defaults are those of a
/// client; a server has 55 ms with a spread of 6, and 120 bytes with a spread of 36.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Game {
    /// The most frequent interval between two updates.
    #[setting(key = "interval_ms", default = 40.0, range = 1.0..=1e5)]
    pub interval: Duration,
    /// The spread of intervals; 0 is a constant interval.
    #[setting(key = "interval_spread_ms", default = 0.0, range = 0.0..=1e4)]
    pub interval_spread: Duration,
    /// The most frequent size of an update.
    #[setting(key = "payload_bytes", default = 80, range = 1..=1400)]
    pub payload: Bytes,
    /// The spread of sizes; 0 is a constant size.
    #[setting(default = 5.7, range = 0.0..=200.0)]
    pub payload_spread_bytes: f64,
    /// UDP and IP headers of each update.
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
    /// An update that takes longer than this, or does not arrive, is late.
    #[setting(key = "deadline_ms", default = 50.0, range = 0.001..=1e6)]
    pub deadline: Duration,
}

/// No update is larger than this number of spreads above the most frequent size: one in 160,000
/// would be.
const MOST_SPREADS: f64 = 12.0;
/// No update follows another sooner.
const SHORTEST: Duration = Duration::from_millis(1);

impl Game {
    fn largest(&self) -> Bytes {
        Bytes(self.payload.0 + (MOST_SPREADS * self.payload_spread_bytes) as u64)
    }
}

impl TrafficModel for Game {
    fn transport(&self) -> Transport {
        let (header, deadline) = (self.header, self.deadline);
        let size = DatagramSize { payload: self.largest(), header, deadline };
        Transport::Udp(size, Pace::PerSecond(1.0 / self.interval.as_secs_f64()))
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(Player { game: self.clone(), rng: flow.stream("traffic.game") })
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }
}

#[derive(Debug)]
struct Player {
    game: Game,
    rng: Rng,
}

impl Source for Player {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => out.push(Command::Wake(start)),
            Event::Timer => {
                let Game { payload, payload_spread_bytes, interval, interval_spread, .. } =
                    self.game;
                let size = self.extreme(payload.0 as f64, payload_spread_bytes);
                let size = Bytes(size.clamp(1.0, self.game.largest().0 as f64) as u64);
                let pause = self.extreme(interval.0 as f64, interval_spread.0 as f64);
                let pause = Duration(pause.max(SHORTEST.0 as f64) as u64);
                out.extend([Command::Send(size), Command::Wake(now + pause)]);
            }
            _ => {}
        }
    }
}

impl Player {
    /// A variate of the extreme value distribution with this mode and spread.
    fn extreme(&mut self, mode: f64, spread: f64) -> f64 {
        if spread == 0.0 {
            return mode;
        }
        // The inverse of exp(-exp(-(x - mode) / spread)), of a number in (0, 1].
        let u = 1.0 - self.rng.uniform();
        mode - spread * libm::log(-libm::log(u.min(1.0 - f64::EPSILON)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    #[test]
    fn sizes_have_the_mean_of_the_extreme_value_distribution() {
        let mut source = source(&Game::default());
        let n = 20_000;
        let events = vec![(Instant(5), Event::Timer); n];
        let sizes: Vec<f64> = asked(&mut *source, &events)
            .iter()
            .filter_map(|command| match command {
                Command::Send(size) => Some(size.0 as f64),
                _ => None,
            })
            .collect();
        // Mode + Euler's constant * spread, less the half byte of rounding down.
        let mean = sizes.iter().sum::<f64>() / n as f64;
        assert!((mean - (80.0 + 0.5772 * 5.7 - 0.5)).abs() < 0.2, "{mean}");
        let waits = Command::Wake(Instant(5) + Duration::from_millis(40));
        assert_eq!(asked(&mut *source, &[(Instant(5), Event::Timer)])[1], waits);
    }
}
