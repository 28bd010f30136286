//! `NewReno`: slow start and congestion avoidance of RFC 5681, with RFC 3465's byte counting.

use super::slow_start::{Counting, HyStartRule, SlowStart};
use super::{Ack, Cause, Connection, Control, Controller, Event, Loss, Steerable};
use crate::Config;
use kernel::Segments;
use settings::{Range, Settings};

/// The factor by which the window is multiplied after a loss: RFC 5681 equation (4).
const HALF: f64 = 0.5;

/// `NewReno` (RFC 5681).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "NewReno")]
pub struct NewRenoConfig {
    /// Whether `HyStart++` (RFC 9406) ends the first slow start.
    pub hystart: bool,
    /// The factor by which the window is multiplied after a mark; 0.8 in RFC 8511.
    #[setting(default = HALF, range = Range::OPEN_UNIT)]
    pub beta_ecn: f64,
}

impl Controller for NewRenoConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(NewReno::with(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(NewReno::with(config, *self)))
    }
}

/// Slow start and congestion avoidance of RFC 5681. The sender implements fast recovery (RFC 6582).
#[derive(Clone, Debug)]
pub struct NewReno {
    window: f64,
    slow_start: SlowStart,
    /// The factor by which the window is multiplied after a mark.
    beta_ecn: f64,
    /// The amount acknowledged in congestion avoidance since the window last grew (RFC 3465's
    /// `bytes_acked`).
    credit: f64,
    /// Window and threshold before the last loss, for an undo.
    before: (f64, f64),
    /// Whether thresholds are whole numbers of segments, as in Linux (`tcp_reno_ssthresh`).
    whole: bool,
}

impl NewReno {
    /// A congestion control that starts with this window; `ssthresh` of `None` is arbitrarily high.
    pub fn new(initial_window: Segments, ssthresh: Option<Segments>) -> Self {
        Self {
            window: initial_window.0.max(1.0),
            slow_start: SlowStart::new(ssthresh),
            beta_ecn: HALF,
            credit: 0.0,
            before: (1.0, f64::INFINITY),
            whole: false,
        }
    }

    /// A congestion control with these settings.
    pub fn with(config: &Config, settings: NewRenoConfig) -> Self {
        let control = Self::from(config).counting(Counting::of(config)).beta_ecn(settings.beta_ecn);
        if settings.hystart { control.hystart(config.pacing) } else { control }
    }

    /// The same control with another way of counting.
    #[must_use]
    pub fn counting(mut self, counting: Counting) -> Self {
        self.slow_start.counting = counting;
        self
    }

    /// The same control with `HyStart++` (RFC 9406) in its first slow start, on a connection that
    /// is paced or not.
    #[must_use]
    pub fn hystart(mut self, is_paced: bool) -> Self {
        self.slow_start.watched(HyStartRule::PlusPlus, is_paced);
        self
    }

    /// The same control with another response to marks; RFC 8511 has 0.8.
    #[must_use]
    pub fn beta_ecn(self, beta_ecn: f64) -> Self {
        Self { beta_ecn, ..self }
    }

    /// The slow start threshold.
    pub(super) fn threshold(&self) -> f64 {
        self.slow_start.threshold
    }

    /// Sets the slow start threshold.
    pub(super) fn set_threshold(&mut self, threshold: f64) {
        self.slow_start.threshold = threshold;
    }

    /// For controls that differ in congestion avoidance alone: in slow start the window grows as
    /// usual; otherwise returns the number of acknowledgements, or segments, by which it is to
    /// grow.
    pub(super) fn slow_start_or_count(&mut self, ack: &Ack) -> Option<f64> {
        if self.window < self.slow_start.threshold {
            self.window = self.slow_start.grow(self.window, ack);
            return None;
        }
        if !ack.may_grow {
            return None;
        }
        self.slow_start.after_timeout = false;
        Some(match self.slow_start.counting {
            Counting::Acks => 1.0,
            Counting::Bytes { .. } => ack.acked.0,
            Counting::All => ack.delivered.0,
        })
    }

    /// Increases the window by this amount.
    pub(super) fn grow(&mut self, by: f64) {
        self.window += by;
    }

    /// Congestion; the argument computes the new threshold.
    pub(super) fn reduce(&mut self, loss: &Loss, threshold: f64) {
        if !loss.repeated {
            self.before = (self.window, self.slow_start.threshold);
            let threshold = if self.whole { libm::floor(threshold) } else { threshold };
            self.slow_start.threshold = threshold.max(2.0);
        }
        self.credit = 0.0;
        self.slow_start.on_loss(loss.cause);
        let timeout = loss.cause == Cause::Timeout;
        self.window = if timeout { 1.0 } else { self.slow_start.threshold };
    }
}

impl From<&Config> for NewReno {
    fn from(config: &Config) -> Self {
        let control = Self::new(config.initial_window(), config.initial_ssthresh);
        Self { whole: config.linux().is_some(), ..control }
    }
}

impl NewReno {
    /// RFC 4015 §3.2 restores half of the window; as in Linux, the whole window is restored.
    pub(super) fn on_undo(&mut self) {
        self.window = self.window.max(self.before.0);
        self.slow_start.threshold = self.before.1;
        self.slow_start.after_timeout = false;
    }
}

impl Control for NewReno {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        let Some(count) = self.slow_start_or_count(ack) else { return };
        if self.slow_start.counting == Counting::Acks {
            self.window += 1.0 / self.window;
            return;
        }
        self.credit += count;
        // At most one segment per round trip, however much one acknowledgement covers.
        if self.credit >= self.window {
            self.credit = (self.credit - self.window).min(self.window);
            self.window += 1.0;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let left = if loss.cause == Cause::Ecn { self.beta_ecn } else { HALF };
        self.reduce(loss, left * loss.in_flight.0);
    }

    fn on_event(&mut self, event: Event<'_>) {
        if event == Event::Undo {
            self.on_undo();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh_segments", self.slow_start.threshold);
    }
}

impl Steerable for NewReno {
    fn steer(&mut self, window: Segments) {
        (self.window, self.slow_start.threshold) = (window.0, window.0);
        self.credit = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack, ack_at, loss as fresh, round};

    fn loss(cause: Cause, in_flight: f64, repeated: bool) -> Loss {
        Loss { repeated, ..fresh(cause, in_flight) }
    }

    fn after(control: &mut NewReno, acks: &[f64]) -> f64 {
        for &acked in acks {
            control.on_ack(&ack(acked));
        }
        control.window().0
    }

    #[test]
    fn slow_start_counts_bytes_up_to_l() {
        let mut control = NewReno::new(Segments(2.0), None);
        assert_eq!(after(&mut control, &[1.0]), 3.0);
        assert_eq!(after(&mut control, &[2.0]), 5.0);
        assert_eq!(after(&mut control, &[4.0]), 7.0, "a stretch ACK counts L = 2");
        assert_eq!(after(&mut control, &[0.5]), 7.5, "half a segment counts half");
    }

    #[test]
    fn slow_start_after_a_timeout_counts_one_segment() {
        let mut control = NewReno::new(Segments(20.0), None);
        control.on_loss(&loss(Cause::Timeout, 20.0, false));
        assert_eq!(control.window().0, 1.0);
        assert_eq!(after(&mut control, &[4.0, 4.0]), 3.0);
        assert_eq!(after(&mut control, &[1.0; 7]), 10.0, "slow start ends at half of the flight");
        assert_eq!(after(&mut control, &[10.0]), 11.0);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_per_window() {
        let mut control = NewReno::new(Segments(4.0), Some(Segments(4.0)));
        assert_eq!(after(&mut control, &[1.0; 3]), 4.0);
        assert_eq!(after(&mut control, &[1.0]), 5.0);
        assert_eq!(after(&mut control, &[2.0, 2.0]), 5.0);
        assert_eq!(after(&mut control, &[2.0]), 6.0, "and one byte-counted segment is left");
        assert_eq!(after(&mut control, &[5.0]), 7.0);
        assert_eq!(after(&mut control, &[100.0]), 8.0, "one segment, however much is covered");
    }

    #[test]
    fn counting_acks_is_the_rule_of_ns2() {
        let start = NewReno::new(Segments(1.0), Some(Segments(4.0)));
        let mut control = start.counting(Counting::Acks);
        assert_eq!(after(&mut control, &[4.0; 3]), 4.0);
        assert_eq!(after(&mut control, &[4.0]), 4.25);
        assert_eq!(after(&mut control, &[1.0]), 4.25 + 1.0 / 4.25);
    }

    #[test]
    fn a_hole_halves_what_is_outstanding() {
        let mut control = NewReno::new(Segments(40.0), None);
        control.on_loss(&loss(Cause::FastRetransmit, 17.0, false));
        assert_eq!(control.window().0, 8.5);
        control.on_loss(&loss(Cause::Ecn, 3.0, false));
        assert_eq!(control.window().0, 2.0, "never below two segments");
    }

    #[test]
    fn a_repeated_timeout_keeps_the_threshold() {
        let mut control = NewReno::new(Segments(40.0), None);
        control.on_loss(&loss(Cause::Timeout, 40.0, false));
        control.on_loss(&loss(Cause::Timeout, 1.0, true));
        assert_eq!(after(&mut control, &[1.0; 19]), 20.0);
        assert_eq!(after(&mut control, &[1.0; 19]), 20.0, "congestion avoidance from 20");
    }

    #[test]
    fn a_loss_that_was_none_is_taken_back() {
        let mut control = NewReno::new(Segments(40.0), Some(Segments(64.0)));
        control.on_loss(&loss(Cause::Timeout, 40.0, false));
        control.on_loss(&loss(Cause::Timeout, 1.0, true));
        control.on_undo();
        assert_eq!(after(&mut control, &[1.0; 24]), 64.0, "slow start up to the threshold of old");
        assert_eq!(after(&mut control, &[1.0; 63]), 64.0);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut control = NewReno::new(Segments(4.0), None);
        control.on_ack(&Ack { may_grow: false, ..ack(1.0) });
        assert_eq!(control.window().0, 4.0);
    }

    #[test]
    fn the_threshold_is_shown() {
        let mut seen = Vec::new();
        let control = NewReno::new(Segments(4.0), Some(Segments(64.0)));
        control.gauges(&mut |name, value| seen.push((name, value)));
        assert_eq!(seen, [("ssthresh_segments", 64.0)]);
    }

    #[test]
    fn a_mark_costs_a_fifth_where_rfc_8511_is_followed() {
        let mut control = NewReno::new(Segments(40.0), None).beta_ecn(0.8);
        control.on_loss(&loss(Cause::Ecn, 40.0, false));
        assert_eq!(control.window().0, 32.0);
        control.on_loss(&loss(Cause::FastRetransmit, 32.0, false));
        assert_eq!(control.window().0, 16.0, "a loss costs what it always did");
    }

    #[test]
    fn pacing_lifts_the_limit_of_hystart() {
        let start = NewReno::new(Segments(10.0), None);
        let (mut unpaced, mut paced) = (start.clone().hystart(false), start.hystart(true));
        for control in [&mut unpaced, &mut paced] {
            control.on_ack(&ack_at(0.0, 20.0, 50.0));
        }
        assert_eq!((unpaced.window().0, paced.window().0), (18.0, 30.0), "RFC 9406 §4.3: L = 8");
    }

    #[test]
    fn hystart_ends_the_first_slow_start_where_the_delay_rises() {
        let start = NewReno::new(Segments(10.0), None);
        let (mut plain, mut watched) = (start.clone(), start.hystart(false));
        let mut now_s = 0.0;
        for (number, rtt_ms) in [50.0, 50.0, 50.0].iter().chain(&[70.0; 8]).enumerate() {
            round(&mut plain, now_s, *rtt_ms);
            round(&mut watched, now_s, *rtt_ms);
            now_s += rtt_ms * 1e-3;
            if number == 2 {
                assert_eq!(plain.window(), watched.window(), "as long as nothing rises");
            }
        }
        assert!(plain.threshold().is_infinite() && plain.window().0 > 10_000.0);
        // The window of 80 grows by a quarter for five rounds: about 80·1.25^5, not 80·2^5.
        let end = watched.threshold();
        assert!((200.0..300.0).contains(&end), "ends at {end}");
        watched.on_loss(&loss(Cause::Timeout, 100.0, false));
        watched.on_ack(&ack_at(now_s, 1.0, 500.0));
        assert_eq!(watched.window().0, 2.0, "later slow starts are the usual ones");
    }
}
