//! A rate that Linux measures over several round trips, behind a policer that drops what exceeds
//! its rate (`bbr_lt_bw_sampling` of Linux, read and described anew; Flach and others, "An
//! Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).

use kernel::{Duration, Instant};

/// The lengths of an interval, in round trips.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 16;
/// The lost part of the delivered data from which on a policer is presumed: 50/256.
const LOSSY: f64 = 50.0 / 256.0;
/// By how much the rates of two intervals may differ: by an eighth, or by 4 kb/s.
const LIKE: f64 = 0.125;
const LIKE_BITS_PER_S: f64 = 4000.0;
/// For how many round trips the measured rate holds.
const HOLDS_ROUNDS: u32 = 48;

/// The begin of an interval: when it was, and the segments delivered and lost by then.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Begin {
    at: Instant,
    delivered: f64,
    lost: f64,
}

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now: Instant,
    /// Segments newly lost.
    pub(super) losses: f64,
    /// Segments delivered by now.
    pub(super) delivered: f64,
    pub(super) app_limited: bool,
    pub(super) round_ended: bool,
    /// Whether the control probes for the rate (`ProbeBW`).
    pub(super) probes: bool,
}

/// Detects a policer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    begin: Option<Begin>,
    rounds: u32,
    /// The rate of the previous interval, in segments per second, and whether it is used.
    rate: Option<f64>,
    is_used: bool,
    lost: f64,
}

impl Policer {
    /// The rate of the policer, if one is presumed.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.is_used)
    }

    /// An acknowledgement in a connection with segments of `bits` bits. Returns whether the rate
    /// is not used any longer, so that the cycle of gains begins anew.
    pub(super) fn on_sample(&mut self, sample: &Sample, bits: f64) -> bool {
        self.lost += sample.losses;
        if self.is_used {
            self.rounds += u32::from(sample.probes && sample.round_ended);
            let ends = self.rounds >= HOLDS_ROUNDS;
            if ends {
                self.reset();
            }
            return ends;
        }
        if self.begin.is_none() {
            if sample.losses <= 0.0 {
                return false;
            }
            self.start(sample);
        }
        self.rounds += u32::from(sample.round_ended);
        if sample.app_limited || self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= LEAST_ROUNDS && sample.losses > 0.0 {
            self.end(sample, bits);
        }
        false
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self { lost: self.lost, ..Self::default() };
    }

    fn start(&mut self, sample: &Sample) {
        let Sample { now, delivered, .. } = *sample;
        self.begin = Some(Begin { at: now, delivered, lost: self.lost });
        self.rounds = 0;
    }

    /// An interval ends with a loss, if it has lost enough.
    fn end(&mut self, sample: &Sample, bits: f64) {
        let Some(begin) = self.begin else { return };
        let delivered = sample.delivered - begin.delivered;
        let elapsed = sample.now.since(begin.at);
        if delivered <= 0.0
            || self.lost - begin.lost < LOSSY * delivered
            || elapsed < Duration::from_millis(1)
        {
            return;
        }
        let rate = delivered / elapsed.as_secs_f64();
        match self.rate {
            Some(last) if (rate - last).abs() <= (LIKE * last).max(LIKE_BITS_PER_S / bits) => {
                (self.rate, self.is_used) = (Some(f64::midpoint(rate, last)), true);
                self.rounds = 0;
            }
            _ => {
                self.start(sample);
                self.rate = Some(rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ms;

    /// Rounds of 100 ms that deliver `delivered` segments each and lose `losses` of them; returns
    /// after which round the rate is used.
    fn rounds(policer: &mut Policer, count: u64, delivered: f64, losses: f64) -> Option<u64> {
        (1..=count).find(|&n| {
            policer.on_sample(
                &Sample {
                    now: ms(100 * n),
                    losses,
                    delivered: delivered * n as f64,
                    app_limited: false,
                    round_ended: true,
                    probes: true,
                },
                12_000.0,
            );
            policer.is_used
        })
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer() {
        let mut policer = Policer::default();
        // Four rounds from the first loss on, and four more.
        assert_eq!(rounds(&mut policer, 20, 10.0, 3.0), Some(8));
        assert_eq!(policer.rate(), Some(100.0));
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 40, 10.0, 1.0), None, "a tenth is lost");
    }

    #[test]
    fn the_rate_holds_for_48_round_trips() {
        let mut policer = Policer::default();
        rounds(&mut policer, 9, 10.0, 3.0);
        let sample = Sample {
            now: ms(2000),
            losses: 0.0,
            delivered: 100.0,
            app_limited: false,
            round_ended: true,
            probes: true,
        };
        let ends = (1..100).find(|_| policer.on_sample(&sample, 12_000.0));
        assert_eq!((ends, policer.rate()), (Some(48), None));
    }

    #[test]
    fn intervals_of_different_rates_are_none() {
        let mut policer = Policer::default();
        let mut delivered = 0.0;
        for n in 1..60 {
            delivered += if n % 10 < 5 { 10.0 } else { 20.0 };
            let sample = Sample {
                now: ms(100 * n),
                losses: 5.0,
                delivered,
                app_limited: false,
                round_ended: true,
                probes: true,
            };
            policer.on_sample(&sample, 12_000.0);
            assert_eq!(policer.rate(), None, "round {n}");
        }
    }
}
