//! `CUBIC` (RFC 9438): the window is a cubic function of the time since the last loss.

mod linux;

use self::linux::Growth;
use super::slow_start::{HyStartRule, SlowStart};
use super::{Ack, Cause, Connection, Control, Controller, Departing, Event, Loss, Steerable};
use crate::endpoint::Kernel;
use crate::{Config, Linux};
use kernel::{Duration, Instant, Segments};
use settings::{Choice, Range, Settings};

/// CUBIC (RFC 9438).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Cubic")]
pub struct CubicConfig {
    /// The factor by which the window is multiplied after a loss (section 4.6).
    #[setting(default = 0.7, range = Range::OPEN_UNIT)]
    pub beta: f64,
    /// The factor after a mark. Default: `beta`; RFC 8511 has 0.85.
    #[setting(range = Range::OPEN_UNIT)]
    pub beta_ecn: Option<f64>,
    /// C of section 4.1, in segments per second cubed.
    #[setting(default = 0.4, range = 1e-6..=1e6)]
    pub c: f64,
    /// Whether fast convergence releases bandwidth to new flows (section 4.7).
    #[setting(default = true)]
    pub fast_convergence: bool,
    /// Whether the window is at least that of Reno (section 4.3), as in ns-3 from 3.41 on.
    #[setting(default = true)]
    pub friendly: bool,
    /// Whether `HyStart++` (RFC 9406) ends the first slow start, as section 4.10 recommends.
    #[setting(default = true)]
    pub hystart: bool,
    /// Which `HyStart` that is. Default: `plus_plus`, and `linux` or `first` with the endpoint of
    /// Linux.
    pub hystart_rule: Option<HyStartRule>,
    /// How the window grows in congestion avoidance, and falls. Default: `rfc9438`, and `linux`
    /// with the endpoint of Linux.
    pub growth: Option<CubicGrowth>,
}

/// How CUBIC's window grows in congestion avoidance, and falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum CubicGrowth {
    /// By RFC 9438.
    #[default]
    Rfc9438,
    /// As in Linux (`bictcp_update`, `cubictcp_recalc_ssthresh`): in whole segments, by a clock of
    /// jiffies, a minimum round-trip time ahead, with a Reno-friendly window that grows by 0.53
    /// segments per round trip also above the window before the loss, and with C = 410/1024. `c`
    /// has no effect.
    Linux,
}

impl CubicConfig {
    /// The settings with the rules of Linux where they have no value.
    #[must_use]
    pub(super) fn with_endpoint(self, linux: Linux) -> Self {
        let rule = match linux.version {
            Kernel::V4_9 => HyStartRule::First,
            Kernel::V6_1 | Kernel::V6_18 => HyStartRule::Linux,
        };
        Self {
            hystart_rule: self.hystart_rule.or(Some(rule)),
            growth: self.growth.or(Some(CubicGrowth::Linux)),
            ..self
        }
    }

    /// The factor by which the window is multiplied after a mark.
    pub fn beta_ecn(&self) -> f64 {
        self.beta_ecn.unwrap_or(self.beta)
    }
}

impl Controller for CubicConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Cubic::new(connection.config, *self))
    }

    fn steerable(&self, config: &Config) -> Option<Box<dyn Steerable>> {
        Some(Box::new(Cubic::new(config, *self)))
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// When it began, shifted by the time in which the window was not used (§4.2, §5.8).
    start: Instant,
    /// The window of the plateau.
    plateau: f64,
    /// How many seconds after `start` the plateau is reached.
    k: f64,
    /// Reno's window (§4.3).
    reno: f64,
}

/// The state that a loss changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Saved {
    window: f64,
    threshold: f64,
    /// The window before the last reduction (`cwnd_prior`).
    prior: f64,
    /// `W_max`, after fast convergence.
    w_max: f64,
    stage: Option<Stage>,
    linux: Option<Growth>,
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    settings: CubicConfig,
    window: f64,
    prior: f64,
    w_max: f64,
    stage: Option<Stage>,
    slow_start: SlowStart,
    before: Option<Saved>,
    /// When the last acknowledgement arrived, and whether nothing was in flight after it.
    last: (Instant, bool),
    /// The growth as in Linux, instead of `stage`.
    linux: Option<Growth>,
}

impl Cubic {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: CubicConfig) -> Self {
        let mut slow_start = SlowStart::new(config.initial_ssthresh);
        if settings.hystart {
            slow_start.watched(settings.hystart_rule.unwrap_or_default(), config.pacing);
        }
        Self {
            settings,
            window: config.initial_window().0.max(1.0),
            prior: 0.0,
            w_max: 0.0,
            stage: None,
            slow_start,
            before: None,
            last: (Instant::ZERO, false),
            linux: (settings.growth == Some(CubicGrowth::Linux))
                .then(|| Growth::new(config.linux().unwrap_or_default().hz)),
        }
    }

    /// §4.2 and §4.8: the plateau is at the window of the last loss. If that is unknown, after a
    /// timeout, or if it is lower than the window, the plateau is at the present window.
    fn begin(&self, now: Instant) -> Stage {
        let window = self.window;
        if self.slow_start.after_timeout || self.w_max <= window {
            return Stage { start: now, plateau: window, k: 0.0, reno: window };
        }
        // Figure 2.
        let k = libm::cbrt((self.w_max - window) / self.settings.c);
        Stage { start: now, plateau: self.w_max, k, reno: window }
    }

    /// Time in which the window was not used does not count.
    fn exclude_idle_time(&mut self, ack: &Ack) {
        let (last, empty) = std::mem::replace(&mut self.last, (ack.now, ack.in_flight.0 <= 0.0));
        let gap = ack.now.since(last);
        let unused = match (!ack.may_grow && !ack.recovery, empty) {
            (true, _) => gap,
            // The window is that of one round trip ahead, when the data sent now is acknowledged.
            (false, true) => gap.saturating_sub(ack.srtt),
            (false, false) => Duration::ZERO,
        };
        if let Some(stage) = &mut self.stage {
            stage.start += unused;
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack) {
        let (window, acked) = (self.window, ack.acked.0);
        let mut stage = self.stage.unwrap_or_else(|| self.begin(ack.now));
        let t = ack.now.since(stage.start).as_secs_f64();
        // Figure 1.
        let cubic = |t: f64| {
            let x = t - stage.k;
            self.settings.c * x * x * x + stage.plateau
        };
        // Figure 4; α becomes one when the previous window is reached.
        let beta = self.settings.beta;
        let gain = if stage.reno < self.prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        stage.reno += gain * acked / window;
        self.window = if self.settings.friendly && cubic(t) < stage.reno {
            window.max(stage.reno)
        } else {
            let target = cubic(t + ack.srtt.as_secs_f64()).clamp(window, 1.5 * window);
            // §4.4 and §4.5, for each segment that is acknowledged.
            window + (target - window) * (acked / window).min(1.0)
        };
        self.stage = Some(stage);
    }

    /// An acknowledgement, where the window grows as in Linux (`cubictcp_acked`,
    /// `cubictcp_cong_avoid`).
    fn on_ack_of_linux(&mut self, ack: &Ack) {
        let Some(growth) = &mut self.linux else { return };
        let least = growth.on_rtt(ack).then_some(growth.least).flatten();
        let is_slow = self.window < self.slow_start.threshold;
        let sample = Ack { rtt_min: least.unwrap_or_default(), ..*ack };
        if is_slow && self.slow_start.watch(self.window, &sample) {
            self.slow_start.threshold = self.window;
        }
        if !ack.may_grow {
            return;
        }
        let mut acked = libm::ceil(ack.delivered.0 - 1e-6);
        if self.window < self.slow_start.threshold {
            let next = (self.window + acked).min(self.slow_start.threshold);
            acked -= next - self.window;
            self.window = next;
        }
        if acked > 0.0 {
            let friendly = self.settings.friendly;
            self.window = growth.on_ack(ack.now, self.window as u64, acked as u64, friendly) as f64;
        }
    }

    /// The threshold after a loss or a mark, where the window falls as in Linux.
    fn on_loss_of_linux(&mut self, beta: f64, cause: Cause) {
        let Some(growth) = &mut self.linux else { return };
        // 717 and 870 of 1024 for 0.7 and 0.85, as the kernel has β.
        let beta = libm::ceil(beta * 1024.0) as u64;
        let window = self.window as u64;
        growth.on_loss(window, beta, self.settings.fast_convergence);
        self.slow_start.threshold = ((window * beta) >> 10).max(2) as f64;
        if cause == Cause::Timeout {
            growth.reset();
        }
    }
}

impl Cubic {
    /// §4.9.
    fn on_undo(&mut self) {
        if let Some(course) = self.before.take() {
            self.window = self.window.max(course.window);
            self.slow_start.threshold = course.threshold;
            self.slow_start.after_timeout = false;
            (self.prior, self.w_max, self.stage) = (course.prior, course.w_max, course.stage);
            self.linux = course.linux;
        }
    }

    fn on_send(&mut self, departing: &Departing) {
        if let Some(growth) = &mut self.linux {
            growth.on_send(departing);
        }
    }
}

impl Control for Cubic {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.linux.is_some() {
            return self.on_ack_of_linux(ack);
        }
        self.exclude_idle_time(ack);
        if self.window < self.slow_start.threshold {
            self.window = self.slow_start.grow(self.window, ack);
        } else if ack.may_grow {
            self.avoid_congestion(ack);
            self.slow_start.after_timeout = false;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if !loss.repeated {
            let Self { window, prior, w_max, stage, linux, .. } = *self;
            let threshold = self.slow_start.threshold;
            self.before = Some(Saved { window, threshold, prior, w_max, stage, linux });
            let beta = match loss.cause {
                Cause::Ecn => self.settings.beta_ecn(),
                Cause::FastRetransmit | Cause::Timeout => self.settings.beta,
            };
            self.slow_start.threshold = (loss.in_flight.0 * beta).max(2.0);
            // §4.7.
            let gives = self.settings.fast_convergence && window < w_max;
            self.w_max = if gives { window * (1.0 + beta) / 2.0 } else { window };
            self.prior = window;
            self.on_loss_of_linux(beta, loss.cause);
        }
        self.stage = None;
        self.slow_start.on_loss(loss.cause);
        let timeout = loss.cause == Cause::Timeout;
        self.window = if timeout { 1.0 } else { self.slow_start.threshold };
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Departing(departing) => self.on_send(departing),
            Event::Undo => self.on_undo(),
            _ => {}
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh_segments", self.slow_start.threshold);
        visit("w_max_segments", self.w_max);
        visit("k_s", self.stage.map_or(f64::NAN, |stage| stage.k));
        visit("reno_window_segments", self.stage.map_or(f64::NAN, |stage| stage.reno));
    }
}

impl Steerable for Cubic {
    fn steer(&mut self, window: Segments) {
        (self.window, self.slow_start.threshold) = (window.0, window.0);
        (self.prior, self.w_max, self.stage) = (window.0, window.0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack_at, gauge, loss};

    fn cubic(window: f64, settings: CubicConfig) -> Cubic {
        let window = Segments(window);
        let config = Config {
            initial_window: Some(window),
            initial_ssthresh: Some(window),
            ..Config::default()
        };
        Cubic::new(&config, settings)
    }

    /// A window of acknowledgements in each round trip, until `end_s`.
    fn run(control: &mut Cubic, mut now_s: f64, end_s: f64, rtt_ms: f64) -> f64 {
        while now_s < end_s {
            let window = control.window().0;
            now_s += rtt_ms * 1e-3 / window;
            control.on_ack(&ack_at(now_s, 1.0, rtt_ms));
        }
        now_s
    }

    #[test]
    fn the_window_follows_the_cubic_of_figure_1() {
        // A loss at 1000 segments: K = cbrt(1000·0.3/0.4) = 9.0856 s.
        let mut control = cubic(1000.0, CubicConfig { friendly: false, ..Default::default() });
        control.on_loss(&loss(Cause::FastRetransmit, 1000.0));
        assert_eq!(control.window().0, 700.0);
        let mut now_s = 0.0;
        let k = 9.085_602_964_160_698;
        for end_s in [1.0, 3.0, 5.0, 9.0, 12.0, 15.0] {
            now_s = run(&mut control, now_s, end_s, 50.0);
            let wanted = 0.4 * (now_s - k).powi(3) + 1000.0;
            let window = control.window().0;
            assert!((window / wanted - 1.0).abs() < 0.002, "{window} and {wanted} at {now_s} s");
        }
        assert!((gauge(&control, "k_s").unwrap() - k).abs() < 1e-9);
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_fast_convergence_gives_way() {
        let mut control = cubic(100.0, CubicConfig::default());
        control.on_loss(&loss(Cause::FastRetransmit, 100.0));
        let of = |control: &Cubic, name| gauge(control, name).unwrap();
        assert_eq!((control.window().0, of(&control, "w_max_segments")), (70.0, 100.0));
        // §4.7: 70 is below 100: 70·(1 + 0.7)/2.
        control.on_loss(&loss(Cause::FastRetransmit, 70.0));
        assert_eq!((control.window().0, of(&control, "w_max_segments")), (49.0, 59.5));
        let greedy = CubicConfig { fast_convergence: false, ..Default::default() };
        let mut control = cubic(100.0, greedy);
        control.on_loss(&loss(Cause::FastRetransmit, 100.0));
        control.on_loss(&loss(Cause::FastRetransmit, 70.0));
        assert_eq!(of(&control, "w_max_segments"), 70.0);
        control.on_loss(&loss(Cause::FastRetransmit, 1.0));
        assert_eq!(control.window().0, 2.0, "never below two segments");
    }

    #[test]
    fn a_mark_may_cost_less_than_a_loss() {
        let mut control = cubic(100.0, CubicConfig { beta_ecn: Some(0.85), ..Default::default() });
        control.on_loss(&loss(Cause::Ecn, 100.0));
        assert_eq!(control.window().0, 85.0);
    }

    #[test]
    fn small_windows_grow_as_renos_would() {
        // At 10 ms and 20 segments Reno is faster: α = 3·0.3/1.7 = 0.5294 per round trip up to
        // `cwnd_prior`, then one.
        let mut control = cubic(20.0, CubicConfig::default());
        control.on_loss(&loss(Cause::FastRetransmit, 20.0));
        assert_eq!(control.window().0, 14.0);
        let now_s = run(&mut control, 0.0, 0.05, 10.0);
        let window = control.window().0;
        assert!((window - (14.0 + 0.5294 * 5.0)).abs() < 0.1, "{window} after five round trips");
        run(&mut control, now_s, 0.2, 10.0);
        let window = control.window().0;
        // 6 segments take 11.3 round trips; 8.7 are left.
        assert!((window - 28.7).abs() < 0.5, "{window} after twenty");
        let mut old = cubic(20.0, CubicConfig { friendly: false, ..Default::default() });
        old.on_loss(&loss(Cause::FastRetransmit, 20.0));
        run(&mut old, 0.0, 0.2, 10.0);
        assert!(old.window().0 < 17.0, "{} without Reno's region", old.window().0);
    }

    #[test]
    fn the_window_grows_by_half_a_window_per_round_trip_at_most() {
        let mut control = cubic(10.0, CubicConfig { c: 4000.0, ..Default::default() });
        run(&mut control, 0.0, 0.1, 100.0);
        let window = control.window().0;
        // 1.5 limits each step: exp(0.5) per round trip.
        assert!(window > 11.0 && window < 16.6, "{window}");
    }

    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
        let mut control = cubic(1000.0, CubicConfig::default());
        control.on_loss(&loss(Cause::Timeout, 1000.0));
        assert_eq!(control.window().0, 1.0);
        control.on_loss(&Loss { repeated: true, ..loss(Cause::Timeout, 1.0) });
        for _ in 0..699 {
            control.on_ack(&ack_at(0.0, 1.0, 50.0));
        }
        assert_eq!(control.window().0, 700.0, "the threshold is that of the first timeout");
        let now_s = run(&mut control, 0.0, 4.0, 50.0);
        let wanted = 700.0 + 0.4 * now_s.powi(3);
        // Reno's window would be 700 + 0.53·80.
        let wanted = wanted.max(700.0 + 0.5294 * now_s / 0.05);
        assert!((control.window().0 / wanted - 1.0).abs() < 0.002, "{}", control.window().0);
    }

    #[test]
    fn time_in_which_the_window_is_not_used_does_not_count() {
        let settings = CubicConfig { friendly: false, ..Default::default() };
        let (mut busy, mut idle) = (cubic(1000.0, settings), cubic(1000.0, settings));
        for control in [&mut busy, &mut idle] {
            control.on_loss(&loss(Cause::FastRetransmit, 1000.0));
            run(control, 0.0, 3.0, 50.0);
        }
        let before = idle.window();
        // The application sends little for five seconds ...
        for n in 1..=50 {
            let now_s = 3.0 + 0.1 * f64::from(n);
            idle.on_ack(&Ack { may_grow: false, ..ack_at(now_s, 1.0, 50.0) });
        }
        assert_eq!(idle.window(), before);
        run(&mut busy, 3.0, 6.0, 50.0);
        run(&mut idle, 8.0, 11.0, 50.0);
        let (busy, waited) = (busy.window().0, idle.window().0);
        assert!((waited / busy - 1.0).abs() < 0.001, "{waited} and {busy}");
        // ... or nothing.
        idle.on_ack(&Ack { in_flight: Segments(0.0), ..ack_at(11.0, 1.0, 50.0) });
        let before = idle.window().0;
        idle.on_ack(&ack_at(31.05, 1.0, 50.0));
        assert!(idle.window().0 < before + 0.5);
    }

    #[test]
    fn what_was_no_loss_is_taken_back() {
        let mut control = cubic(1000.0, CubicConfig::default());
        control.on_loss(&loss(Cause::FastRetransmit, 1000.0));
        run(&mut control, 0.0, 5.0, 50.0);
        let (window, k) = (control.window(), gauge(&control, "k_s"));
        control.on_loss(&loss(Cause::Timeout, 900.0));
        control.on_undo();
        assert_eq!((control.window(), gauge(&control, "k_s")), (window, k));
        assert_eq!(gauge(&control, "w_max_segments"), Some(1000.0));
        control.on_undo();
        assert_eq!(control.window(), window, "once");
    }
}
