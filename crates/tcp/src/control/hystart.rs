//! `HyStart++` (RFC 9406): slow start that ends before it causes a loss.

use super::{Ack, rounds::Rounds};
use kernel::Duration;

/// RFC 9406 §4.3: `MIN_RTT_THRESH`, `MAX_RTT_THRESH` and `MIN_RTT_DIVISOR`.
const LEAST_RISE: Duration = Duration::from_millis(4);
const GREATEST_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// RFC 9406 §4.3: `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// RFC 9406 §4.3: `CSS_GROWTH_DIVISOR`.
const CAREFUL_DIVISOR: f64 = 4.0;
/// RFC 9406 §4.3: `CSS_ROUNDS`.
const CAREFUL_ROUNDS: u32 = 5;
/// RFC 9406 §4.3: L without pacing, in segments per acknowledgement.
pub(super) const UNPACED_LIMIT: f64 = 8.0;

/// How slow start proceeds on an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Advice {
    /// Grow by the amount acknowledged, divided by this.
    Grow(f64),
    /// End slow start: congestion avoidance begins.
    End,
}

/// Observes the minimum round-trip time of each round. If it has risen, growth slows down; if it
/// does not fall again within some rounds, slow start ends. Applies only to the first slow start of
/// a connection (RFC 9406 §4.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    rounds: Rounds,
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
    /// Conservative slow start: the round-trip time at its beginning, and the number of completed
    /// rounds.
    careful: Option<(Duration, u32)>,
}

impl HyStart {
    pub(super) fn on_ack(&mut self, ack: &Ack) -> Advice {
        let ended = self.rounds.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        self.compare_rounds();
        if ended {
            (self.last, self.current, self.samples) = (self.current, None, 0);
            if let Some((_, rounds)) = &mut self.careful {
                *rounds += 1;
                if *rounds >= CAREFUL_ROUNDS {
                    return Advice::End;
                }
            }
        }
        Advice::Grow(if self.careful.is_some() { CAREFUL_DIVISOR } else { 1.0 })
    }

    /// RFC 9406 §4.2: compares the delay with that of the previous round, and checks whether an
    /// earlier increase was spurious.
    fn compare_rounds(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= SAMPLES) else { return };
        match (self.careful, self.last) {
            (Some((baseline, _)), _) if current < baseline => self.careful = None,
            (None, Some(last)) => {
                let rise = LEAST_RISE.max((last / RISE_DIVISOR).min(GREATEST_RISE));
                if current >= last + rise {
                    self.careful = Some((current, 0));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::ack_at;
    use kernel::Segments;

    /// A round with this many acknowledgements and this round-trip time.
    fn round(hystart: &mut HyStart, acks: u32, rtt_ms: f64) -> Vec<Advice> {
        let flight = Segments(f64::from(acks - 1));
        (0..acks)
            .map(|_| hystart.on_ack(&Ack { in_flight: flight, ..ack_at(0.0, 1.0, rtt_ms) }))
            .collect()
    }

    fn warm() -> HyStart {
        let mut hystart = HyStart::default();
        hystart.on_ack(&Ack { in_flight: Segments(9.0), ..ack_at(0.0, 1.0, 100.0) });
        assert_eq!(round(&mut hystart, 10, 100.0), [Advice::Grow(1.0); 10]);
        hystart
    }

    #[test]
    fn the_eighth_sample_of_a_risen_delay_slows_growth() {
        // max(4, min(100/8, 16)) = 12.5 ms.
        let mut hystart = warm();
        assert_eq!(round(&mut hystart, 10, 112.0), [Advice::Grow(1.0); 10], "not yet");
        let mut hystart = warm();
        let advice = round(&mut hystart, 10, 112.5);
        assert_eq!(advice[..7], [Advice::Grow(1.0); 7]);
        assert_eq!(advice[7..], [Advice::Grow(4.0); 3]);
    }

    #[test]
    fn the_threshold_is_between_4_and_16_ms() {
        for (before, after, slows) in
            [(8.0, 11.9, false), (8.0, 12.0, true), (400.0, 415.9, false), (400.0, 416.0, true)]
        {
            let mut hystart = HyStart::default();
            hystart.on_ack(&Ack { in_flight: Segments(9.0), ..ack_at(0.0, 1.0, before) });
            round(&mut hystart, 10, before);
            let last = *round(&mut hystart, 10, after).last().unwrap();
            assert_eq!(last == Advice::Grow(4.0), slows, "{before} to {after}");
        }
    }

    #[test]
    fn slow_start_ends_after_five_careful_rounds() {
        let mut hystart = warm();
        let mut careful = round(&mut hystart, 10, 130.0);
        for _ in 1..5 {
            assert!(!careful.contains(&Advice::End));
            careful = round(&mut hystart, 10, 130.0);
        }
        assert_eq!(careful.last(), Some(&Advice::End), "the part of the first round counts");
    }

    #[test]
    fn a_delay_that_falls_again_resumes_slow_start() {
        let mut hystart = warm();
        round(&mut hystart, 10, 130.0);
        let advice = round(&mut hystart, 10, 129.0);
        assert_eq!(advice[..7], [Advice::Grow(4.0); 7]);
        assert_eq!(advice[7..], [Advice::Grow(1.0); 3]);
    }

    #[test]
    fn few_samples_decide_nothing() {
        let mut hystart = HyStart::default();
        for round_trip in [10.0, 100.0, 500.0] {
            assert_eq!(round(&mut hystart, 7, round_trip), [Advice::Grow(1.0); 7]);
        }
    }
}
