//! The cycle of probing for bandwidth: down, cruise, refill, up (§5.3.3).

use super::{Bbr3, LEAST_WINDOW, State};
use crate::Ack;
use kernel::{Duration, Instant};

/// §5.3.3.8: a probe occurs after 2 to 3 s at the latest, or after as many round trips as Reno
/// would take to recover its window, at most 63.
const WAIT: Duration = Duration::from_secs(2);
const RENO_ROUNDS: f64 = 63.0;

impl Bbr3 {
    pub(super) fn go_down(&mut self, now: Instant) {
        self.model.forget_signals();
        self.acked_per_step = f64::INFINITY;
        // §5.3.3.8, `PickProbeWait`. The draft draws a random number. Here the nanoseconds of the
        // clock determine it, so that equal runs have equal results.
        let chance = scramble(now.0);
        self.rounds_since_probe = chance & 1;
        self.wait = WAIT + Duration((chance >> 1) % 1_000_000_000);
        self.cycle_began = now;
        self.stopping = true;
        self.model.rounds.begin(self.model.delivered);
        self.state = State::Down;
    }

    pub(super) fn refill(&mut self) {
        self.model.forget_short();
        (self.up_rounds, self.up_acked) = (0, 0.0);
        self.precautionary = false;
        self.stopping = false;
        self.model.rounds.begin(self.model.delivered);
        self.state = State::Refill;
    }

    fn go_up(&mut self, rate: Option<f64>) {
        self.probe_sample = true;
        self.model.rounds.begin(self.model.delivered);
        self.model.look_for_plateau(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// `RaiseInflightLongtermSlope`: the bound grows by 1, 2, 4, ... segments per round trip.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.acked_per_step = (self.window / growth).max(1.0);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn cycle(&mut self, ack: &Ack) {
        if !self.model.filled || self.adapt_long(ack) || !self.is_cycling() {
            return;
        }
        if self.state == State::Up && self.is_time_to_go_down(ack) {
            // No high loss rate yet.
            self.too_high = false;
            self.go_down(ack.now);
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.refill(),
            State::Down => {
                let rate = self.model.greatest_rate().unwrap_or(0.0);
                let rtt_s = self.model.rtt_min.map_or(0.0, |(rtt, _)| rtt.as_secs_f64());
                let product = (rate * rtt_s).max(LEAST_WINDOW);
                if ack.in_flight.0 <= self.model.with_headroom().min(product) {
                    self.state = State::Cruise;
                }
            }
            State::Refill if self.model.round_started => self.go_up(self.sample(ack)),
            _ => {}
        }
    }

    fn sample(&self, ack: &Ack) -> Option<f64> {
        ack.delivery.map(|delivery| self.model.per_second(&delivery))
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno = self.target().min(RENO_ROUNDS);
        now > self.cycle_began + self.wait || self.rounds_since_probe as f64 >= reno
    }

    /// Whether the window limits the sender, by the data in flight before this acknowledgement.
    fn is_window_limited(&self, ack: &Ack) -> bool {
        ack.in_flight.0 + ack.delivered.0 + ack.lost.0 + 1.0 > self.window
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        if self.too_high && ack.in_flight.0 + ack.delivered.0 >= self.model.long {
            self.precautionary = true;
            return true;
        }
        if self.is_window_limited(ack) && self.window >= self.model.long {
            let rate = self.sample(ack);
            self.model.look_for_plateau(rate);
            return false;
        }
        self.model.full_now
    }

    /// `AdaptLongTermModel`: returns whether it has selected the next state.
    fn adapt_long(&mut self, ack: &Ack) -> bool {
        let limited = ack
            .delivery
            .is_none_or(|delivery| self.model.is_limited(delivery.app_limited, delivery.prior));
        if self.stopping && self.model.round_started {
            (self.probe_sample, self.stopping) = (false, false);
            if self.is_cycling() && !limited {
                self.model.cycle += 1;
            }
            if self.is_cycling() && self.precautionary && !self.too_high {
                self.refill();
                return true;
            }
        }
        let Some(delivery) = ack.delivery else { return false };
        if self.model.is_too_much(delivery.lost, delivery.in_flight)
            || self.model.long.is_infinite()
        {
            return false;
        }
        self.model.long = self.model.long.max(delivery.in_flight.0);
        if self.state == State::Up {
            self.raise_long(ack);
        }
        false
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long(&mut self, ack: &Ack) {
        if !self.is_window_limited(ack) || self.window < self.model.long {
            return;
        }
        self.up_acked += ack.delivered.0;
        let steps = (self.up_acked / self.acked_per_step).floor();
        if steps >= 1.0 {
            self.up_acked -= steps * self.acked_per_step;
            self.model.long += steps;
        }
        if self.model.round_started {
            self.raise_slope();
        }
    }
}

/// A pseudorandom number derived from another number (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014: the last step of `SplitMix`).
fn scramble(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
