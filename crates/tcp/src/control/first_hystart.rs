//! The first `HyStart` (Ha and Rhee, "Taming the elephants: new TCP slow start", Computer Networks
//! 55:9, 2011), with the constants of Linux, whose CUBIC has it.

use super::{Ack, rounds::Rounds};
use kernel::{Duration, Instant};

/// The least window at which slow start may end, in segments.
const LEAST_WINDOW: f64 = 16.0;
/// Acknowledgements that arrive within this time of each other belong to one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// The number of RTT samples of a round that are compared with the minimum.
const SAMPLES: u32 = 8;
/// The rise of the delay that ends slow start: this part of the minimum, within these bounds.
const RISE_DIVISOR: u64 = 8;
const LEAST_RISE: Duration = Duration::from_millis(4);
const GREATEST_RISE: Duration = Duration::from_millis(16);
/// How much longer a train may last than half of the minimum, in Linux from 5.6 on: half of the
/// time in which four packets before segmentation leave, which is at most this
/// (`hystart_ack_delay`; less only above 2 Gb/s).
const CUSHION: Duration = Duration::from_micros(500);

/// Ends slow start when the train of acknowledgements of a round lasts half of the minimum
/// round-trip time, so that the data of the round fills the forward path, or when the delay rises.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstHyStart {
    rounds: Rounds,
    round_began: Instant,
    last_ack: Instant,
    current: Option<Duration>,
    samples: u32,
    /// The rules of Linux from 5.6 on.
    is_linux: bool,
}

impl FirstHyStart {
    /// With the rules of Linux from 5.6 on.
    pub(super) fn of_linux() -> Self {
        Self { is_linux: true, ..Self::default() }
    }

    /// An acknowledgement arrived while the window was `window` segments; returns whether slow
    /// start ends.
    pub(super) fn on_ack(&mut self, ack: &Ack, window: f64) -> bool {
        if self.rounds.on_ack(ack) {
            (self.round_began, self.last_ack) = (ack.now, ack.now);
            (self.current, self.samples) = (None, 0);
        }
        let is_sampled = self.samples >= SAMPLES;
        if let Some(rtt) = ack.rtt.filter(|_| self.is_linux || !is_sampled) {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        let least = ack.rtt_min;
        let in_train = ack.now.since(self.last_ack) <= TRAIN_GAP;
        if in_train {
            self.last_ack = ack.now;
        }
        let cushion = if self.is_linux { CUSHION } else { Duration::ZERO };
        let is_long = in_train && ack.now.since(self.round_began) > least / 2 + cushion;
        let rise = LEAST_RISE.max((least / RISE_DIVISOR).min(GREATEST_RISE));
        let compares = if self.is_linux { is_sampled } else { self.samples >= SAMPLES };
        let has_risen = compares && self.current.is_some_and(|rtt| rtt > least + rise);
        window >= LEAST_WINDOW && least > Duration::ZERO && (is_long || has_risen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::ack_at;
    use kernel::Segments;

    /// A round of twenty acknowledgements, this far apart; returns after which one slow start ends.
    fn round(first: &mut FirstHyStart, gap_ms: f64, rtt_ms: f64) -> Option<usize> {
        let minimum = Duration::from_millis(100);
        (0..20).position(|n| {
            let ack = ack_at(1.0 + f64::from(n) * gap_ms * 1e-3, 1.0, rtt_ms);
            let flight = Segments(f64::from(19 - n));
            first.on_ack(&Ack { in_flight: flight, rtt_min: minimum, ..ack }, 20.0)
        })
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        assert_eq!(round(&mut FirstHyStart::default(), 1.0, 100.0), None, "19 ms of 50 ms");
        let mut first = FirstHyStart::default();
        let mut now_s = 1.0;
        let ends = (0..100).position(|_| {
            now_s += 0.001;
            let ack = ack_at(now_s, 1.0, 100.0);
            first.on_ack(&Ack { in_flight: Segments(90.0), ..ack }, 20.0)
        });
        assert_eq!(ends, Some(51), "50 ms have passed");
        assert_eq!(round(&mut FirstHyStart::default(), 3.0, 100.0), None, "no train");
    }

    #[test]
    fn a_delay_that_has_risen_by_an_eighth_ends_slow_start() {
        assert_eq!(round(&mut FirstHyStart::default(), 1.0, 112.0), None, "max(4, min(100/8, 16))");
        assert_eq!(
            round(&mut FirstHyStart::default(), 1.0, 113.0),
            Some(7),
            "at the eighth sample"
        );
    }

    #[test]
    fn a_small_window_stays_in_slow_start() {
        let mut first = FirstHyStart::default();
        let ack = Ack { rtt_min: Duration::from_millis(100), ..ack_at(1.0, 1.0, 200.0) };
        assert!((0..20).all(|_| !first.on_ack(&ack, 15.0)));
        assert!(first.on_ack(&ack, 16.0));
    }
}
