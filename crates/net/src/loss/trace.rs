//! Losses with a probability that varies over time.

use super::{Channel, LossModel};
use kernel::{Duration, Instant, Rng};
use settings::{Faults, Path, Said, Settings, number, said};
use wire::Packet;

/// Packets are lost with a probability that changes at given times.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = steps_ascend)]
pub struct TraceConfig {
    /// The time from which each probability holds, ascending. Before the first no packet is lost.
    #[setting(key = "times_s", range = 0.0..=1e6, required)]
    pub times: Vec<Instant>,
    /// The loss probability from each of these times on.
    #[setting(range = 0.0..=1.0, required)]
    pub probabilities: Vec<f64>,
    /// The period after which the trace repeats. Default: it does not repeat.
    #[setting(key = "period_s", range = 1e-6..=1e6)]
    pub period: Option<Duration>,
}

fn steps_ascend(trace: &TraceConfig, at: &Path, faults: &mut Faults) {
    let (times, probabilities) = (&trace.times, &trace.probabilities);
    if times.is_empty() {
        faults.fault(
            at.key("times_s"),
            said!("missing", "the times of the changes, as [10.0, 12.0]"),
        );
    }
    if times.len() != probabilities.len() {
        faults.fault(
            at.key("probabilities"),
            Said::new(
                format!("{} for {} times", probabilities.len(), times.len()),
                "one for each of times_s",
            ),
        );
    }
    if !times.is_sorted_by(|a, b| a < b) {
        faults.fault(at.key("times_s"), "must ascend, each time once");
    }
    if let (Some(period), Some(&last)) = (trace.period, times.last())
        && Instant::ZERO + period <= last
    {
        let [period, last] = [period, last - Instant::ZERO].map(|t| number(t.as_secs_f64()));
        let message = format!("{period} is not after the last of times_s, {last} s");
        faults.fault(at.key("period_s"), message);
    }
}

impl LossModel for TraceConfig {
    fn build(&self, _channel: Rng, packets: Rng) -> Box<dyn Channel> {
        let steps = self.times.iter().copied().zip(self.probabilities.iter().copied());
        let mut steps: Vec<_> = steps.collect();
        steps.sort_by_key(|&(from, _)| from);
        let period = self.period.filter(|period| period.0 > 0);
        Box::new(Trace { steps, period, rng: packets })
    }
}

#[derive(Debug)]
struct Trace {
    steps: Vec<(Instant, f64)>,
    period: Option<Duration>,
    rng: Rng,
}

impl Trace {
    /// The loss probability at this instant.
    fn probability(&self, now: Instant) -> f64 {
        let now = self.period.map_or(now, |period| Instant(now.0 % period.0));
        match self.steps.partition_point(|&(from, _)| from <= now) {
            0 => 0.0,
            begun => self.steps[begun - 1].1,
        }
    }
}

impl Channel for Trace {
    fn loses(&mut self, now: Instant, _packet: &Packet) -> bool {
        self.rng.chance(self.probability(now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lost;
    use super::*;

    fn trace(steps: &[(Instant, f64)], period: Option<Duration>) -> TraceConfig {
        let (times, probabilities) = steps.iter().copied().unzip();
        TraceConfig { times, probabilities, period }
    }

    #[test]
    fn a_trace_holds_from_its_times_on_and_repeats() {
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        let steps = [(ms(20), 1.0), (ms(30), 0.0), (ms(5), 0.0)];
        let once = trace(&steps, None);
        let each_ms = |n| ms(n);
        assert_eq!(lost(&once, each_ms, 100), (20..30).collect::<Vec<_>>());
        let again = trace(&steps, Some(Duration::from_millis(50)));
        assert_eq!(lost(&again, each_ms, 100), (20..30).chain(70..80).collect::<Vec<_>>());
    }

    #[test]
    fn a_trace_loses_by_its_probability() {
        let steps = [(Instant::ZERO, 0.5), (Instant(100_000), 0.1)];
        let lost = lost(&trace(&steps, None), Instant, 200_000);
        let early = lost.iter().filter(|&&n| n < 100_000).count() as f64;
        let late = lost.len() as f64 - early;
        // Three standard deviations of the binomial distributions, of 158 and 95.
        assert!((early - 50_000.0).abs() < 474.0, "{early}");
        assert!((late - 10_000.0).abs() < 285.0, "{late}");
    }
}
