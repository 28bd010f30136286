//! The round-trip time estimator and the retransmission timeout (RFC 6298).

use crate::{Config, RtoRule};
use kernel::{Duration, Instant};

/// The clock granularity in nanoseconds, the least term of variation in a timeout (§2.3).
const G: u64 = 1_000_000;

/// Smoothed round-trip time, its variation, and the retransmission timeout (RFC 6298 §2).
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: u64,
    variation: u64,
    least: Option<Duration>,
    /// The timeout before back-off.
    base: Duration,
    /// How many times the timer has expired since the last sample (§5.5).
    backoff: u32,
    rule: RtoRule,
    min: Duration,
    max: Duration,
    tick: u64,
    /// SRTT and RTTVAR before the first of the timeouts since the last sample.
    before_timeout: Option<(u64, u64)>,
    /// The last timeout was spurious, as was detected at this time; the SRTT and RTTVAR of before.
    spurious: Option<(Instant, (u64, u64))>,
}

impl RttEstimator {
    /// An estimator without a sample.
    pub fn new(config: &Config) -> Self {
        Self {
            srtt: 0,
            variation: 0,
            least: None,
            base: config.rto_initial.min(config.rto_max),
            backoff: 0,
            rule: config.rto_rule(),
            min: config.rto_min(),
            max: config.rto_max,
            tick: config.rtt_tick.0,
            before_timeout: None,
            spurious: None,
        }
    }

    /// Takes a sample, at the time at which the acknowledgement arrived. `per_round` is the
    /// expected number of samples per round trip, so that many samples do not shorten the
    /// estimator's memory (RFC 7323 Appendix G). Ends the back-off.
    pub fn sample(&mut self, now: Instant, rtt: Duration, per_round: u64) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        let sample = self.rounded(rtt.0);
        if let Some((_, (srtt, variation))) =
            self.spurious.take_if(|(since, _)| now.since(*since) >= rtt)
        {
            // RFC 4015 §3.1, step (11): the first sample of data sent since the detection.
            self.srtt = srtt.max(sample);
            self.variation = variation.max(sample / 2);
        } else if self.srtt == 0 {
            // (2.2): SRTT = R, RTTVAR = R/2.
            (self.srtt, self.variation) = (sample.max(1), sample / 2);
        } else {
            // (2.3): beta = 1/4 for the variation, with the old SRTT; then alpha = 1/8.
            let deviation = self.srtt.abs_diff(sample);
            self.variation = toward(self.variation, deviation, 4 * per_round);
            self.srtt = toward(self.srtt, sample, 8 * per_round).max(1);
        }
        // (2.2) to (2.5), with K = 4.
        let spread = G.max(4 * self.variation);
        let rto = match self.rule {
            RtoRule::Rfc6298 => (self.srtt + spread).max(self.min.0),
            RtoRule::Linux => self.srtt + spread.max(self.min.0),
        };
        self.base = Duration(rto).min(self.max);
        self.backoff = 0;
    }

    /// The timer expired: doubles the timeout (5.5).
    pub fn back_off(&mut self) {
        if self.backoff == 0 {
            // RFC 4015 §3.1, step (0), with the clock granularity G.
            self.before_timeout = Some((self.srtt + 2 * G, self.variation));
        }
        self.backoff = (self.backoff + 1).min(32);
    }

    /// The last timeout was spurious, as was detected now: the next sample is to make the timeout
    /// long enough (RFC 4015 §3.1, step (11)).
    pub fn on_spurious_timeout(&mut self, now: Instant) {
        self.spurious = self.before_timeout.map(|before| (now, before));
    }

    /// Data transmission begins after the timer expired for a SYN: the timeout is at least 3 s
    /// until the first sample of data (5.7), whatever timestamps say of the SYN.
    pub fn after_lost_syn(&mut self) {
        self.base = self.base.max(Duration::from_secs(3)).min(self.max);
        self.backoff = 0;
    }

    /// The retransmission timeout, backed off.
    pub fn rto(&self) -> Duration {
        (self.base * (1 << self.backoff)).min(self.max)
    }

    /// The retransmission timeout without back-off.
    pub fn base(&self) -> Duration {
        self.base
    }

    /// Ends the back-off after a spurious timeout.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// The smoothed round-trip time, once there is a sample.
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt > 0).then_some(Duration(self.srtt))
    }

    /// The smallest sample so far.
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    /// A round-trip time that is no sample of the estimator, but may be the smallest so far.
    pub(crate) fn note_least(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    fn rounded(&self, rtt: u64) -> u64 {
        match self.tick {
            0 => rtt,
            tick => ((rtt + tick / 2) / tick).max(1) * tick,
        }
    }
}

/// Moves `from` towards `to` by the `n`-th part of their distance.
fn toward(from: u64, to: u64, n: u64) -> u64 {
    if to >= from { from + (to - from) / n } else { from - (from - to) / n }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn estimator(min_ms: u64) -> RttEstimator {
        RttEstimator::new(&Config { rto_min: Some(Duration(min_ms * MS)), ..Config::default() })
    }

    #[test]
    fn the_equations_of_rfc_6298_by_hand() {
        let mut rtt = estimator(0);
        assert_eq!(rtt.rto(), Duration::from_secs(1), "(2.1)");
        assert_eq!(rtt.srtt(), None);
        rtt.sample(Instant::ZERO, Duration(100 * MS), 1);
        // (2.2): SRTT = 100, RTTVAR = 50, RTO = 100 + 200.
        assert_eq!(rtt.srtt(), Some(Duration(100 * MS)));
        assert_eq!(rtt.rto(), Duration(300 * MS));
        rtt.sample(Instant::ZERO, Duration(180 * MS), 1);
        // (2.3): RTTVAR = 3/4·50 + 1/4·80 = 57.5, SRTT = 7/8·100 + 1/8·180 = 110.
        assert_eq!(rtt.srtt(), Some(Duration(110 * MS)));
        assert_eq!(rtt.rto(), Duration(340 * MS));
        rtt.sample(Instant::ZERO, Duration(30 * MS), 1);
        // RTTVAR = 3/4·57.5 + 1/4·80 = 63.125, SRTT = 7/8·110 + 1/8·30 = 100.
        assert_eq!(rtt.srtt(), Some(Duration(100 * MS)));
        assert_eq!(rtt.rto(), Duration(352_500_000));
        assert_eq!(rtt.least(), Some(Duration(30 * MS)));
    }

    #[test]
    fn the_timeout_keeps_its_bounds() {
        let mut rtt = estimator(1000);
        rtt.sample(Instant::ZERO, Duration(2 * MS), 1);
        assert_eq!(rtt.rto(), Duration::from_secs(1), "(2.4)");
        rtt.sample(Instant::ZERO, Duration::from_secs(500), 1);
        assert_eq!(rtt.rto(), Duration::from_secs(60), "(2.5)");
    }

    #[test]
    fn backing_off_doubles_until_the_next_sample() {
        let mut rtt = estimator(200);
        rtt.sample(Instant::ZERO, Duration(10 * MS), 1);
        let timeouts: Vec<u64> = (0..12)
            .map(|_| {
                rtt.back_off();
                rtt.rto().0 / MS
            })
            .collect();
        assert_eq!(timeouts[..9], [400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000]);
        assert_eq!(timeouts[11], 60000);
        rtt.sample(Instant::ZERO, Duration(10 * MS), 1);
        assert_eq!(rtt.rto(), Duration(200 * MS));
    }

    #[test]
    fn a_constant_round_trip_keeps_the_granularity_above_it() {
        let mut rtt = estimator(0);
        (0..200).for_each(|_| rtt.sample(Instant::ZERO, Duration(100 * MS), 1));
        assert_eq!(rtt.rto(), Duration(101 * MS), "SRTT + G");
    }

    #[test]
    fn the_rule_of_linux_bounds_the_variation_from_below() {
        let rto_min = Some(Duration::from_millis(200));
        let linux = Config { rto_min, rto_rule: Some(RtoRule::Linux), ..Config::default() };
        let mut rtt = RttEstimator::new(&linux);
        rtt.sample(Instant::ZERO, Duration(100 * MS), 1);
        assert_eq!(rtt.rto(), Duration(300 * MS), "4·50 ms is as much");
        (0..200).for_each(|_| rtt.sample(Instant::ZERO, Duration(100 * MS), 1));
        assert_eq!(rtt.rto(), Duration(300 * MS), "SRTT + 200 ms");
    }

    #[test]
    fn many_samples_per_round_keep_the_memory() {
        let (mut one, mut many) = (estimator(0), estimator(0));
        one.sample(Instant::ZERO, Duration(100 * MS), 1);
        many.sample(Instant::ZERO, Duration(100 * MS), 1);
        one.sample(Instant::ZERO, Duration(200 * MS), 1);
        (0..10).for_each(|_| many.sample(Instant::ZERO, Duration(200 * MS), 10));
        let (a, b) = (one.srtt().unwrap().0 as f64, many.srtt().unwrap().0 as f64);
        assert!((a - b).abs() < 0.01 * a, "{a} {b}");
    }

    #[test]
    fn the_tick_of_ns2_rounds_samples() {
        let mut rtt = RttEstimator::new(&Config {
            rtt_tick: Duration(10 * MS),
            rto_min: Some(Duration::ZERO),
            ..Config::default()
        });
        rtt.sample(Instant::ZERO, Duration(14 * MS), 1);
        assert_eq!(rtt.srtt(), Some(Duration(10 * MS)));
        assert_eq!(rtt.least(), Some(Duration(14 * MS)));
        rtt = RttEstimator { srtt: 0, ..rtt };
        rtt.sample(Instant::ZERO, Duration(MS), 1);
        assert_eq!(rtt.srtt(), Some(Duration(10 * MS)), "at least one tick");
    }

    #[test]
    fn a_lost_syn_makes_the_first_timeout_3_s() {
        let mut rtt = estimator(200);
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_secs(2));
        rtt.after_lost_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        rtt.sample(Instant::ZERO, Duration(10 * MS), 1);
        assert_eq!(rtt.rto(), Duration(200 * MS));
        rtt.after_lost_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(3), "a sample of the SYN does not count");
    }
}
