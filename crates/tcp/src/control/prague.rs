//! `Prague`: the congestion control of L4S (RFC 9331), as in version 0.7 of `tcp_prague.c`, the
//! reference implementation for Linux.
//!
//! Windows are in segments and may be fractional; rates are in segments per second.
//!
//! It departs from the reference twice: packets are never smaller than a full segment, and half a
//! window in flight counts as used (RFC 7661), because a window that is paced is seldom full.

use super::{Ack, Cause, Connection, Control, Controller, Event, Loss, NewReno, Wants};
use crate::{Config, Feedback};
use kernel::{BitRate, Duration, Instant, Segments};
use settings::Settings;
use wire::Flags;

/// TCP Prague (version 0.7 of the implementation for Linux). It needs `ecn = "accurate"`, and sends
/// its data with ECT(1); with any other feedback it is `new_reno`. It paces its segments.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Prague")]
pub struct PragueConfig {
    /// The weight of a new share of marked packets.
    #[setting(default = 0.0625, range = 1e-6..=1.0)]
    pub gain: f64,
    /// The estimate of the share of marked packets at the start; 1 in version 0.6. The first mark
    /// halves the window in any case.
    #[setting(default = 0.0, range = 0.0..=1.0)]
    pub alpha: f64,
    /// The round-trip time that shorter ones count as, so that flows share a queue whatever their
    /// round-trip times are. With 0 each flow reacts in its own.
    #[setting(key = "rtt_target_ms", default = 25.0, range = 0.0..=1000.0)]
    pub rtt_target: Duration,
    /// How many round trips after slow start this begins; 500 in version 0.6.
    #[setting(default = 4, range = 0..=1_000_000)]
    pub rtt_transition_rounds: u32,
    /// How long a burst of paced segments lasts; Linux has 1 ms for other controls.
    #[setting(key = "burst_us", default = 244.140_625, range = 0.0..=1e6)]
    pub burst: Duration,
    /// Whether rising delay and its variation are taken for a bottleneck that marks by RFC 3168 for
    /// all flows, so that the response becomes that of `new_reno`. An option of version 0.6.
    pub classic_fallback: bool,
}

impl Controller for PragueConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Prague::new(connection.config, *self))
    }
}

/// The score of a classic bottleneck above which the response begins to change.
const CLASSIC_SCORE: f64 = 8.0;
/// The minimum window and rate: two segments, 100 kbit/s.
const LEAST_WINDOW: f64 = 2.0;
const LEAST_RATE: u64 = 100_000;
/// At a window of at most this many segments, the rate is the state.
const RATE_MODE: f64 = 4.0;
/// Where the rate is the state, it is this much above itself in the first half of a round trip and
/// below in the second.
const DITHER: f64 = 4.0 / 128.0;
/// Round-trip times above this do not change the response to shorter ones.
const LONGEST: Duration = Duration(100_000_000);

/// The phases of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the first mark or loss.
    SlowStart,
    /// The window is the state.
    Window,
    /// The rate is the state.
    Rate,
}

/// The congestion control of L4S.
#[derive(Clone, Debug)]
pub struct Prague {
    settings: PragueConfig,
    /// The response without accurate feedback.
    reno: Option<NewReno>,
    initial: NewReno,
    phase: Phase,
    /// The fractional window W, and the rate where this is the state.
    w: f64,
    rate: f64,
    /// The window in whole segments, which follows W.
    cwnd: f64,
    threshold: f64,
    alpha: f64,
    /// The window of observation: what was marked and delivered in it, what is to be delivered
    /// until its end, and when it began.
    marked: f64,
    delivered: f64,
    left: f64,
    since: Instant,
    /// Rounds since slow start.
    rounds: u32,
    /// When the window was last reduced for a mark, and how much is to be delivered until the next
    /// reduction.
    reduced: Option<Instant>,
    held: f64,
    srtt: Duration,
    /// The same in seconds.
    srtt_s: f64,
    in_flight: f64,
    now: Instant,
    /// The size of a segment in bits, and 1500 bytes over the size of a packet.
    bits: f64,
    scale: f64,
    /// Window, rate and threshold before the last loss.
    before: (f64, f64, f64),
    /// The pacing rate, which changes only with an acknowledgement, a loss or an undo.
    paced: Option<BitRate>,
    classic: Classic,
}

/// The score of `classic_fallback`: the mean deviation of the round-trip time in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Classic {
    deviation: f64,
    score: f64,
}

impl Classic {
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let off = (rtt.as_secs_f64() - ack.srtt.as_secs_f64()).abs();
            self.deviation += (off - self.deviation) / 4.0;
        }
    }

    /// A round trip is over: version 0.6 adds half of the logarithms of both ratios.
    fn on_round(&mut self, ack: &Ack) {
        let queue = ack.srtt.as_secs_f64() - ack.rtt_min.as_secs_f64();
        let variation = libm::log2((self.deviation / 750e-6).max(1e-9));
        let depth = libm::log2((queue / 2e-3).max(1.0));
        self.score = (self.score + 0.5 * variation + 0.5 * depth).clamp(0.0, 17.0);
    }
}

impl Prague {
    /// A congestion control with these settings.
    pub fn new(config: &Config, settings: PragueConfig) -> Self {
        let reno = NewReno::from(config);
        let window = reno.window().0;
        let mss = config.mss().0;
        Self {
            settings,
            reno: None,
            initial: reno,
            phase: Phase::SlowStart,
            w: window,
            rate: 0.0,
            cwnd: window,
            threshold: config.initial_ssthresh.map_or(f64::INFINITY, |ssthresh| ssthresh.0),
            alpha: settings.alpha,
            marked: 0.0,
            delivered: 0.0,
            left: 0.0,
            since: Instant::ZERO,
            rounds: 0,
            reduced: None,
            held: 0.0,
            srtt: Duration::ZERO,
            srtt_s: 0.0,
            in_flight: 0.0,
            now: Instant::ZERO,
            bits: 8.0 * mss as f64,
            scale: 1500.0 / (mss + config.header().0) as f64,
            before: (window, 0.0, f64::INFINITY),
            paced: None,
            classic: Classic::default(),
        }
    }

    /// Whether short round-trip times count as longer ones.
    fn is_independent(&self) -> bool {
        self.phase != Phase::SlowStart
            && self.rounds >= self.settings.rtt_transition_rounds
            && self.srtt <= LONGEST
            && self.srtt < self.settings.rtt_target
    }

    /// The virtual round-trip time in seconds.
    fn virtual_rtt(&self) -> f64 {
        let target = self.settings.rtt_target;
        (if self.is_independent() { target.as_secs_f64() } else { self.srtt_s }).max(1e-6)
    }

    /// Counts an acknowledgement; at the end of a round trip updates the estimate.
    fn observe(&mut self, ack: &Ack) {
        self.marked += ack.marked.0;
        self.delivered += ack.delivered.0;
        self.left -= ack.delivered.0;
        self.held -= ack.delivered.0;
        if self.left >= -1e-6 {
            return;
        }
        let elapsed = ack.now.since(self.since);
        if self.is_independent() && elapsed < self.settings.rtt_target {
            return;
        }
        if self.phase != Phase::SlowStart {
            let share = self.marked.min(self.delivered) / self.delivered;
            self.alpha += self.settings.gain * (share - self.alpha);
            self.rounds = self.rounds.saturating_add(1);
        }
        if self.settings.classic_fallback {
            self.classic.on_round(ack);
        }
        (self.marked, self.delivered) = (0.0, 0.0);
        (self.left, self.since) = (ack.in_flight.0, ack.now);
    }

    /// Unmarked data lets the window grow by one segment in a virtual round trip.
    fn grow(&mut self, unmarked: f64) {
        match self.phase {
            Phase::SlowStart => self.w += unmarked,
            Phase::Window if self.w < self.threshold => self.w += unmarked,
            Phase::Window => {
                let share = self.srtt_s / self.virtual_rtt();
                self.w += unmarked * self.scale * share * share / self.w;
            }
            Phase::Rate => {
                let rtt = self.virtual_rtt();
                self.rate += unmarked * self.scale / rtt / ceil(self.rate * rtt).max(1.0);
            }
        }
    }

    /// The first mark halves the window; later ones reduce it by half of the estimate, once in a
    /// virtual round trip.
    fn reduce(&mut self, ack: &Ack) {
        let share = if self.phase == Phase::SlowStart {
            self.phase = Phase::Window;
            (self.rounds, self.marked, self.delivered) = (0, 0.0, 0.0);
            (self.left, self.since) = (ack.in_flight.0, ack.now);
            1.0
        } else {
            let target = self.settings.rtt_target;
            let early = |at| self.is_independent() && ack.now.since(at) < target;
            if self.held >= -1e-6 || self.reduced.is_some_and(early) {
                return;
            }
            self.response()
        };
        self.w -= 0.5 * share * self.w;
        self.rate -= 0.5 * share * self.rate;
        (self.held, self.reduced) = (ack.in_flight.0, Some(ack.now));
        self.threshold = self.w.max(LEAST_WINDOW);
    }

    /// The estimate, or more behind a bottleneck that seems to mark all flows alike.
    fn response(&self) -> f64 {
        let over = self.classic.score.min(CLASSIC_SCORE + 1.0) - CLASSIC_SCORE;
        if self.settings.classic_fallback && over > 0.0 {
            self.alpha.max(0.625 * over)
        } else {
            self.alpha
        }
    }

    /// Makes window or rate the state, and lets the whole window follow.
    fn settle(&mut self) {
        let srtt = self.srtt_s;
        if self.phase == Phase::SlowStart || srtt == 0.0 {
            self.cwnd = self.w;
            return;
        }
        if self.phase == Phase::Rate {
            self.rate = self.rate.max(LEAST_RATE as f64 / self.bits);
            self.w = self.rate * srtt;
        }
        let wanted = ceil(self.w).max(LEAST_WINDOW);
        if self.w < self.threshold && wanted > self.cwnd {
            self.cwnd = wanted;
        } else {
            self.cwnd += (wanted - self.cwnd).clamp(-1.0, 1.0);
        }
        let slow = self.cwnd * self.scale.recip() <= RATE_MODE && self.reduced.is_some();
        match (self.phase, slow) {
            (Phase::Window, true) => (self.phase, self.rate) = (Phase::Rate, self.w / srtt),
            (Phase::Rate, false) => self.phase = Phase::Window,
            _ => {}
        }
    }

    /// Computes the pacing rate.
    fn pace(&mut self) {
        let srtt = self.srtt_s;
        if srtt == 0.0 {
            self.paced = None;
            return;
        }
        let rate = if self.phase == Phase::Rate {
            let half = self.now.since(self.since).as_secs_f64() < 0.5 * self.virtual_rtt();
            self.rate * if half { 1.0 + DITHER } else { 1.0 - DITHER }
        } else {
            let doubled = if self.cwnd < 0.5 * self.threshold { 2.0 } else { 1.0 };
            doubled * floor(self.w).max(self.in_flight).max(1.0) / srtt
        };
        self.paced = Some(BitRate(((rate * self.bits) as u64).max(LEAST_RATE)));
    }

    fn on_undo(&mut self) {
        if let Some(reno) = &mut self.reno {
            reno.on_undo();
            return;
        }
        let (w, rate, threshold) = self.before;
        (self.w, self.rate, self.threshold) = (self.w.max(w), self.rate.max(rate), threshold);
        self.cwnd = self.cwnd.max(ceil(self.w));
        self.pace();
    }

    fn on_connected(&mut self, feedback: Feedback) {
        if feedback != Feedback::Accurate {
            self.reno = Some(self.initial.clone());
            self.paced = None;
        }
    }
}

impl Control for Prague {
    fn window(&self) -> Segments {
        self.reno.as_ref().map_or(Segments(self.cwnd), Control::window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(reno) = &mut self.reno {
            reno.on_ack(ack);
            return;
        }
        (self.srtt, self.srtt_s) = (ack.srtt, ack.srtt.as_secs_f64());
        (self.in_flight, self.now) = (ack.in_flight.0, ack.now);
        if self.settings.classic_fallback {
            self.classic.on_sample(ack);
        }
        self.observe(ack);
        // Segments that are paced at W per round trip seldom fill the window. It is used if half of
        // it is in flight (RFC 7661 §4.3).
        let used = ack.may_grow || 2.0 * (ack.in_flight.0 + ack.delivered.0) >= self.w;
        if used && !ack.recovery {
            self.grow((ack.delivered.0 - ack.marked.0).max(0.0));
        }
        if ack.marked.0 > 0.0 && !ack.recovery && !ack.after_timeout {
            self.reduce(ack);
        }
        self.settle();
        self.pace();
    }

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(reno) = &mut self.reno {
            reno.on_loss(loss);
            return;
        }
        if loss.repeated || loss.cause == Cause::Ecn && self.phase != Phase::SlowStart {
            return;
        }
        self.before = (self.w, self.rate, self.threshold);
        if self.phase == Phase::SlowStart {
            self.phase = Phase::Window;
            self.rounds = 0;
        }
        self.w *= 0.5;
        self.rate *= 0.5;
        self.threshold = self.w.max(LEAST_WINDOW);
        self.cwnd = self.threshold;
        if loss.cause == Cause::Timeout {
            (self.w, self.cwnd, self.phase) = (1.0, 1.0, Phase::Window);
        }
        self.pace();
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Connected(feedback) => self.on_connected(feedback),
            Event::Undo => self.on_undo(),
            _ => {}
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            marks: self.reno.is_none(),
            ect: Flags::ECT.and(Flags::ECT1),
            burst: if self.reno.is_none() { self.settings.burst } else { Duration::ZERO },
            pacing: self.paced,
            ..Wants::default()
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        match &self.reno {
            Some(reno) => reno.ssthresh(),
            None => self.threshold.is_finite().then_some(self.threshold),
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(reno) = &self.reno {
            reno.gauges(visit);
            return;
        }
        visit("ssthresh_segments", self.threshold);
        visit("mark_share", self.alpha);
        visit("fractional_window_segments", self.w);
        visit("classic_score", self.classic.score);
    }
}

/// The next integer below. Windows are finite and not negative, so that a conversion does what the
/// function of libm does in many more instructions.
#[inline]
fn floor(value: f64) -> f64 {
    value as u64 as f64
}

/// The next integer above.
#[inline]
fn ceil(value: f64) -> f64 {
    let below = floor(value);
    if below < value { below + 1.0 } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack_at, config, gauge, loss};

    fn prague(settings: PragueConfig) -> Prague {
        let mut prague = Prague::new(&config(), settings);
        prague.on_connected(Feedback::Accurate);
        prague
    }

    /// Acknowledges one segment after another as they leave by window and round-trip time, for so
    /// many seconds; each is marked in this share. Returns the mean rate in Mbit/s of packets of
    /// 1500 bytes over the second half.
    fn run(prague: &mut Prague, share: f64, rtt_ms: f64, seconds: f64) -> f64 {
        let (mut now, mut sent) = (0.0, 0.0);
        while now < seconds {
            let w = gauge(prague, "fractional_window_segments").unwrap();
            now += rtt_ms * 1e-3 / w;
            let in_flight = Segments(libm::ceil(w - 1e-9).max(1.0) - 1.0);
            let marked = Segments(share);
            prague.on_ack(&Ack { in_flight, marked, ..ack_at(now, 1.0, rtt_ms) });
            sent += f64::from(u8::from(now > 0.5 * seconds));
        }
        sent * 12e-3 / (0.5 * seconds)
    }

    #[test]
    fn in_equilibrium_the_rate_is_that_of_the_reference() {
        // r = (1/p - 1)·25 ms/RTT in Mbit/s, of which the rule gives 0.96: two segments of 12,000
        // bits in 25 ms.
        for (share, rtt_ms, rate) in [
            (0.5, 25.0, 1.0),
            (0.1, 25.0, 9.0),
            (0.01, 25.0, 99.0),
            (0.1, 50.0, 4.5),
            (0.91, 25.0, 0.1),
        ] {
            let found = run(&mut prague(PragueConfig::default()), share, rtt_ms, 60.0);
            assert!((found / rate - 1.0).abs() < 0.12, "{share} {rtt_ms}: {found}, not {rate}");
        }
    }

    #[test]
    fn short_round_trips_gain_nothing() {
        let rate = |rtt_ms| run(&mut prague(PragueConfig::default()), 0.1, rtt_ms, 60.0);
        let (short, long) = (rate(5.0), rate(25.0));
        assert!((short / long - 1.0).abs() < 0.15, "{short} and {long} Mbit/s");
        let own = PragueConfig { rtt_target: Duration::ZERO, ..PragueConfig::default() };
        let alone = run(&mut prague(own), 0.1, 5.0, 60.0);
        assert!(alone > 4.0 * long, "{alone} without it");
    }

    /// In avoidance, with this window.
    fn avoiding(w: f64, settings: PragueConfig) -> Prague {
        let mut prague = prague(settings);
        (prague.phase, prague.w, prague.cwnd, prague.threshold) = (Phase::Window, w, w, w);
        (prague.srtt, prague.srtt_s) = (Duration::from_millis(5), 5e-3);
        prague.rounds = 100;
        prague
    }

    #[test]
    fn the_window_grows_by_the_square_of_the_round_trip_time() {
        let mut prague = avoiding(20.0, PragueConfig::default());
        for n in 0..20 {
            prague.on_ack(&ack_at(1.0 + 0.25e-3 * f64::from(n), 1.0, 5.0));
        }
        assert!((prague.w - 20.04).abs() < 1e-3, "{}", prague.w);
    }

    #[test]
    fn the_first_mark_halves_and_later_ones_cut_by_the_estimate() {
        let mut prague = prague(PragueConfig::default());
        for n in 0..30 {
            prague.on_ack(&ack_at(0.1 + 1e-3 * f64::from(n), 1.0, 30.0));
        }
        assert_eq!(prague.window(), Segments(40.0));
        let marked = |at| Ack { marked: Segments(1.0), ..ack_at(at, 1.0, 30.0) };
        prague.on_ack(&marked(0.2));
        assert_eq!(prague.w, 20.0);
        assert_eq!(prague.window(), Segments(39.0), "the whole window follows");
        prague.on_ack(&marked(0.201));
        assert_eq!(prague.w, 20.0, "once in a round trip");
        let mut later = avoiding(20.0, PragueConfig::default());
        later.alpha = 0.25;
        (later.left, later.held) = (1e9, 0.0);
        later.on_ack(&marked(1.0));
        assert_eq!(later.w, 17.5);
    }

    #[test]
    fn a_loss_halves_and_an_undo_restores() {
        let mut prague = avoiding(20.0, PragueConfig::default());
        prague.on_loss(&loss(Cause::FastRetransmit, 20.0));
        assert_eq!((prague.w, prague.window()), (10.0, Segments(10.0)));
        prague.on_undo();
        assert_eq!(prague.w, 20.0);
        prague.on_loss(&loss(Cause::Timeout, 20.0));
        assert_eq!((prague.window(), prague.threshold), (Segments(1.0), 10.0));
    }

    #[test]
    fn without_accurate_feedback_it_is_new_reno() {
        for feedback in [Feedback::None, Feedback::Classic] {
            let mut prague = Prague::new(&config(), PragueConfig::default());
            prague.on_connected(feedback);
            assert!(!prague.wants().marks && prague.wants().pacing.is_none());
            prague.on_loss(&loss(Cause::Ecn, 10.0));
            assert_eq!(prague.window(), Segments(5.0));
        }
    }

    #[test]
    fn segments_are_paced_by_the_window() {
        let mut prague = avoiding(20.0, PragueConfig::default());
        prague.on_ack(&ack_at(1.0, 1.0, 5.0));
        // 20 segments of 1460 bytes in 5 ms.
        assert_eq!(prague.wants().pacing, Some(BitRate(46_720_000)));
        let mut slow = avoiding(3.0, PragueConfig::default());
        slow.reduced = Some(Instant::ZERO);
        slow.on_ack(&ack_at(1.0, 1.0, 5.0));
        assert_eq!(slow.phase, Phase::Rate);
        let paced = slow.wants().pacing.unwrap().0 as f64 / (slow.rate * slow.bits);
        assert!((paced - 1.0).abs() < 0.0313, "{paced}");
    }

    #[test]
    fn a_queue_that_varies_is_taken_for_classic_if_asked() {
        let settings = PragueConfig { classic_fallback: true, ..PragueConfig::default() };
        let mut prague = avoiding(20.0, settings);
        assert_eq!(prague.response(), 0.0);
        prague.classic.score = 8.5;
        assert_eq!(prague.response(), 0.3125);
        prague.classic.score = 17.0;
        assert_eq!(prague.response(), 0.625);
        prague.settings.classic_fallback = false;
        assert_eq!(prague.response(), 0.0);
    }
}
