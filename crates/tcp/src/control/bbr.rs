//! BBR, version 1: a congestion control by a model of the path's rate and minimum delay, which does
//! not respond to losses.
//!
//! Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM
//! Queue 14:5, 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, whose sections are cited.
//! The allowance for aggregated acknowledgements is from the authors' talk at IETF 101
//! (`extra_acked`).

mod policer;
mod rules;

pub use self::rules::{BbrConfig, SendQuantum};

use self::policer::{Policer, Sample};
use self::rules::{Rules, send_quantum};
use super::max_filter::MaxFilter;
use super::path_model::{Bunches, Plateau, RoundTrips};
use super::{Ack, Cause, Connection, Control, Controller, Departing, Event, Loss, Wants};
use crate::Config;
use kernel::{BitRate, Bytes, Duration, Instant, Segments};

/// §4.1.1: 2/ln 2, the smallest gain that doubles the rate each round trip.
const HIGH_GAIN: f64 = 2.885;
/// §4.2.3: allowance for delayed acknowledgements.
const WINDOW_GAIN: f64 = 2.0;
/// §4.3.4: gains of the phases; each lasts about one minimum round-trip time.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// §4.1.1.3: the length of the maximum-rate filter in round trips.
const RATE_ROUNDS: u64 = 10;
/// §4.1.2: the length of the minimum-RTT filter.
const RTT_MEMORY: Duration = Duration::from_secs(10);
/// §4.3.5: how long, and with which window, the minimum round-trip time is measured.
const PROBE_RTT: Duration = Duration::from_millis(200);
const LEAST_WINDOW: f64 = 4.0;
/// §4.2.1: segments are paced one percent below the estimated rate, so that no queue builds up.
const MARGIN: f64 = 0.99;
/// §4.2.3.2: an allowance of three send quanta for the hosts at both ends.
const QUANTA: f64 = 3.0;
/// Rates of Linux are whole multiples of 2^-24 segments per microsecond. Rounded down, they keep a
/// product that is a whole number of segments from becoming the next one.
const RATE_UNIT: f64 = 16_777_216.0 * 1e-6;
/// The maximum excess of acknowledgements, as a time.
const EXTRA_MOST_S: f64 = 0.1;

impl Controller for BbrConfig {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Bbr::new(connection.config, *self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    /// The phase of the cycle, and when it began.
    ProbeRate(usize, Instant),
    /// When the measurement began, once the data in flight is small enough, and whether a round
    /// trip has ended since.
    ProbeRtt(Option<Instant>, bool),
}

/// How a loss is repaired (§4.2.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// No loss is known.
    None,
    /// The first round trip of fast recovery: as much is sent as is delivered.
    Conservation,
    /// The further round trips of fast recovery, or those after a timeout.
    Growth,
}

/// BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    rules: Rules,
    mss: Bytes,
    window: f64,
    initial_window: f64,
    mode: Mode,
    /// Maximum delivery rate, in segments per second.
    rate: MaxFilter,
    rtt_min: Option<(Duration, Instant)>,
    rounds: RoundTrips,
    plateau: Plateau,
    filled: bool,
    /// The window before it was reduced for a measurement or a loss.
    saved: f64,
    repair: Repair,
    /// Nothing was in flight when the last data left, and none of it is acknowledged.
    restarts: bool,
    srtt: Duration,
    extra: Bunches,
    policer: Policer,
    /// The pacing rate in segments per second, which does not fall before the pipe is full.
    pace: Option<f64>,
    /// Samples of data that left when these amounts were delivered are application-limited.
    limited: Option<(f64, f64)>,
    /// Segments delivered so far.
    delivered: f64,
}

impl Bbr {
    /// A congestion control for a connection with this configuration.
    pub fn new(config: &Config, settings: BbrConfig) -> Self {
        Self {
            rules: Rules::new(&settings, config.linux()),
            mss: config.mss(),
            window: config.initial_window().0.max(1.0),
            initial_window: config.initial_window().0.max(1.0),
            mode: Mode::Startup,
            rate: MaxFilter::new(RATE_ROUNDS),
            rtt_min: None,
            rounds: RoundTrips::default(),
            plateau: Plateau::default(),
            filled: false,
            saved: 0.0,
            repair: Repair::None,
            restarts: false,
            srtt: Duration::ZERO,
            extra: Bunches::new(),
            policer: Policer::default(),
            pace: None,
            limited: None,
            delivered: 0.0,
        }
    }

    /// The estimated rate in segments per second: that of a policer if one is presumed.
    fn bandwidth(&self) -> Option<f64> {
        self.policer.rate().or_else(|| self.rate.greatest())
    }

    /// The product of a rate, a gain and the minimum round-trip time; the initial window while the
    /// product is unknown.
    fn product(&self, rate: Option<f64>, gain: f64) -> f64 {
        match (rate, self.rtt_min) {
            (Some(rate), Some((rtt, _))) => {
                let product = gain * rate * rtt.as_secs_f64();
                if self.rules.even_windows { libm::ceil(product) } else { product }
            }
            _ => self.initial_window,
        }
    }

    fn quantum(&self) -> f64 {
        match self.rules.send_quantum {
            SendQuantum::Segment => 1.0,
            SendQuantum::Rate => self.pacing().map_or(1.0, |rate| send_quantum(rate, self.mss)),
        }
    }

    /// This much in flight, and what the hosts at both ends hold (§4.2.3.2).
    fn with_quanta(&self, flight: f64) -> f64 {
        let target = flight + QUANTA * self.quantum();
        if !self.rules.even_windows {
            return target;
        }
        let probes = matches!(self.mode, Mode::ProbeRate(0, _));
        2.0 * libm::floor(f64::midpoint(target, 1.0)) + if probes { 2.0 } else { 0.0 }
    }

    /// The amount in flight that ends a phase with this gain.
    fn flight_goal(&self, gain: f64) -> f64 {
        let product = self.product(self.rate.greatest(), gain);
        if self.rules.inflight_quanta { self.with_quanta(product) } else { product }
    }

    /// What is in the network when the next packet leaves at the pacing rate, with this much in
    /// flight now; with that packet while the rate is probed.
    fn at_departure(&self, ack: &Ack, flight: f64) -> f64 {
        if !self.rules.departure_time {
            return flight;
        }
        let leaves = if self.gains().0 > 1.0 { self.quantum() } else { 0.0 };
        let wait = ack.due.since(ack.now).as_secs_f64();
        let delivered = libm::floor(self.bandwidth().unwrap_or(0.0) * wait);
        (flight + leaves - delivered).max(0.0)
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::ProbeRate(..) if self.restarts || self.policer.rate().is_some() => {
                (1.0, WINDOW_GAIN)
            }
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeRate(phase, _) => (CYCLE[phase], WINDOW_GAIN),
            Mode::ProbeRtt(..) => (1.0, 1.0),
        }
    }

    /// §4.1.1: updates the round-trip count and the maximum rate of the last ten round trips.
    fn learn_rate(&mut self, ack: &Ack) -> bool {
        let Some(delivery) = ack.delivery else { return false };
        let ends = self.rounds.on_sample(&delivery);
        let mut rate = delivery.rate.0 as f64 / self.mss.bits() as f64;
        if self.rules.even_windows {
            rate = libm::floor(rate * RATE_UNIT) / RATE_UNIT;
        }
        let app_limited = delivery.app_limited || self.is_limited(delivery.prior.0);
        if self.rules.policer {
            self.examine_policer(ack, app_limited, ends);
        }
        if !app_limited || self.rate.greatest().is_none_or(|most| rate >= most) {
            self.rate.push(self.rounds.count, rate);
        }
        // §4.3.2.2.
        if ends
            && !self.filled
            && !app_limited
            && let Some(rate) = self.rate.greatest()
        {
            self.filled = self.plateau.on_round(rate);
        }
        ends
    }

    /// Whether a sample of data that left when `prior` was delivered is too low, because the window
    /// was that of a measurement of the minimum round-trip time.
    fn is_limited(&mut self, prior: f64) -> bool {
        self.limited.is_some_and(|(from, until)| (from..=until).contains(&prior))
    }

    fn examine_policer(&mut self, ack: &Ack, app_limited: bool, round_ended: bool) {
        let sample = Sample {
            now: ack.now,
            losses: ack.lost.0,
            delivered: self.delivered,
            app_limited,
            round_ended,
            probes: matches!(self.mode, Mode::ProbeRate(..)),
        };
        if self.policer.on_sample(&sample, self.mss.bits() as f64) {
            self.begin_phase(ack.now);
        }
    }

    /// Leads back to the cycle, or to Startup if the pipe has not been full.
    fn begin_phase(&mut self, now: Instant) {
        if self.filled {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Updates the excess of acknowledged data over the estimated rate.
    fn learn_extra(&mut self, ack: &Ack) {
        if let Some(rate) = self.bandwidth() {
            self.extra.on_ack(ack, rate, self.window, self.rounds.count);
        }
    }

    /// §4.3.4.3: whether to go to the next phase.
    fn cycle(&mut self, ack: &Ack) {
        let Mode::ProbeRate(phase, since) = self.mode else { return };
        let rtt = self.rtt_min.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let elapsed = ack.now.since(since) > rtt;
        // The data in flight before this acknowledgement.
        let flight = self.at_departure(ack, ack.in_flight.0 + ack.delivered.0);
        let next = match CYCLE[phase] {
            gain if gain > 1.0 => elapsed && (ack.lost.0 > 0.0 || flight >= self.flight_goal(gain)),
            gain if gain < 1.0 => elapsed || flight <= self.flight_goal(1.0),
            _ => elapsed,
        };
        if next {
            self.mode = Mode::ProbeRate((phase + 1) % CYCLE.len(), ack.now);
        }
    }

    /// §4.3.4.2: a random phase except the draining one. The choice depends on the nanoseconds of
    /// the clock, so that equal runs have equal results.
    fn begin_cycle(&mut self, now: Instant) {
        let others = CYCLE.len() as u64 - 1;
        let phase = 1 + (now.0 % others) as usize;
        let phase = if phase == 1 { 0 } else { phase };
        self.mode = Mode::ProbeRate(phase, now);
    }

    /// §4.1.2 and §4.3.5.
    fn learn_rtt(&mut self, ack: &Ack, round_ended: bool) {
        // §4.3.5: after an idle time the queue is empty, and the first sample measures the delay.
        let idle = std::mem::take(&mut self.restarts);
        let strict = self.rules.strict_rtt;
        if strict && self.rtt_min.is_none() {
            // The handshake measured it, one round trip ago.
            self.rtt_min = Some((ack.rtt_min, Instant(ack.now.0 - ack.rtt_min.0.min(ack.now.0))));
        }
        let expired =
            self.rtt_min.is_some_and(|(_, at)| self.rules.is_past(ack.now, at, RTT_MEMORY));
        let renews = |rtt, least| rtt < least || !strict && rtt == least;
        if let Some(rtt) = ack.rtt
            && (expired || self.rtt_min.is_none_or(|(least, _)| renews(rtt, least)))
        {
            self.rtt_min = Some((rtt, ack.now));
        }
        if expired && !idle && !matches!(self.mode, Mode::ProbeRtt(..)) {
            self.save();
            self.mode = Mode::ProbeRtt(None, false);
        }
        let Mode::ProbeRtt(until, round) = self.mode else { return };
        if strict {
            let from = self.limited.map_or(self.delivered, |(from, _)| from);
            self.limited = Some((from, self.delivered + ack.in_flight.0));
        }
        match until {
            None if ack.in_flight.0 <= LEAST_WINDOW => {
                self.mode = Mode::ProbeRtt(Some(ack.now), false);
                if let Some(delivery) = ack.delivery {
                    self.rounds.begin(delivery.total.0);
                }
            }
            None => {}
            Some(since)
                if (round || round_ended) && self.rules.has_passed(ack.now, since, PROBE_RTT) =>
            {
                self.rtt_min = self.rtt_min.map(|(rtt, _)| (rtt, ack.now));
                self.restore();
                self.begin_phase(ack.now);
            }
            Some(_) => self.mode = Mode::ProbeRtt(until, round || round_ended),
        }
    }

    fn save(&mut self) {
        let is_reduced = self.repair != Repair::None || matches!(self.mode, Mode::ProbeRtt(..));
        self.saved = if is_reduced { self.saved.max(self.window) } else { self.window };
    }

    /// The reason of a reduction is over. Another one may remain, so that the saved window is kept.
    fn restore(&mut self) {
        self.window = self.window.max(self.saved);
    }

    /// §4.2.3.4, `BBRModulateCwndForRecovery`: the begin and the end of the repair of a loss.
    fn follow_repair(&mut self, ack: &Ack, round_ended: bool) {
        let conserves = self.rules.conservation;
        if conserves && ack.lost.0 > 0.0 {
            self.window = (self.window - ack.lost.0).max(1.0);
        }
        if self.repair == Repair::None && ack.recovery && conserves {
            self.save();
            self.repair = Repair::Conservation;
            self.window = ack.in_flight.0 + ack.delivered.0.max(1.0);
            if let Some(delivery) = ack.delivery {
                self.rounds.begin(delivery.total.0);
            }
        } else if self.repair != Repair::None && !ack.recovery && !ack.after_timeout {
            self.repair = Repair::None;
            self.restore();
        } else if self.repair == Repair::Conservation && round_ended {
            self.repair = Repair::Growth;
        }
    }

    /// What the window allows for aggregated acknowledgements.
    fn allowance(&self) -> f64 {
        if !self.rules.extra_acked || !self.filled {
            return 0.0;
        }
        let most = self.bandwidth().unwrap_or(0.0) * EXTRA_MOST_S;
        self.extra.greatest().unwrap_or(0.0).min(most)
    }

    /// The pacing rate of the model, in segments per second.
    fn model_rate(&self) -> Option<f64> {
        self.bandwidth().map(|rate| self.gains().0 * (rate * MARGIN))
    }

    /// Sets the rate at which segments leave, where it only rises before the pipe is full.
    fn set_pace(&mut self, ack: &Ack) {
        if self.pace.is_none() && ack.rtt_min > Duration::ZERO {
            let first = HIGH_GAIN * self.initial_window / ack.rtt_min.as_secs_f64();
            self.pace = Some(MARGIN * first);
        }
        if let Some(rate) = self.model_rate()
            && (self.filled || self.pace.is_none_or(|pace| rate > pace))
        {
            self.pace = Some(rate);
        }
    }

    /// §4.2.3.
    fn set_window(&mut self, ack: &Ack) {
        let mut target = self.product(self.bandwidth(), self.gains().1);
        if self.rules.even_windows {
            target += self.allowance();
            target = self.with_quanta(target);
        } else {
            target = self.with_quanta(target) + self.allowance();
        }
        let arrived = ack.delivered.0;
        if self.repair == Repair::Conservation {
            self.window = self.window.max(ack.in_flight.0 + arrived);
        } else if self.filled {
            self.window = (self.window + arrived).min(target);
        } else if self.window < target || self.rounds.before(self.initial_window) {
            self.window += arrived;
        }
        self.window = self.window.max(LEAST_WINDOW);
        if matches!(self.mode, Mode::ProbeRtt(..)) {
            self.window = self.window.min(LEAST_WINDOW);
        }
    }

    fn on_undo(&mut self) {
        if self.rules.policer {
            self.policer.reset();
            self.plateau = Plateau::default();
        }
        self.repair = Repair::None;
        self.restore();
    }

    /// §4.3.4.4: after an idle time the rate is the estimated one, so that the data that is sent
    /// first does not build a queue.
    fn on_send(&mut self, departing: &Departing) {
        self.restarts = departing.in_flight.0 <= 0.0 && matches!(self.mode, Mode::ProbeRate(..))
            || self.restarts && departing.in_flight.0 > 0.0;
        if departing.in_flight.0 <= 0.0 {
            self.extra.restart(departing.now);
        }
    }

    fn pacing(&self) -> Option<BitRate> {
        let rate = match (self.pace, self.model_rate()) {
            (Some(pace), _) if !self.restarts => pace,
            (_, Some(rate)) => rate,
            // §4.2.1: before there is a model, the rate is the initial window per round trip.
            _ if self.srtt > Duration::ZERO => {
                self.gains().0 * (self.initial_window / self.srtt.as_secs_f64())
            }
            _ => return None,
        };
        Some(BitRate((rate * self.mss.bits() as f64) as u64))
    }
}

impl Control for Bbr {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.srtt = ack.srtt;
        self.delivered += ack.delivered.0;
        let round_ended = self.learn_rate(ack);
        self.follow_repair(ack, round_ended);
        self.learn_extra(ack);
        self.cycle(ack);
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.at_departure(ack, ack.in_flight.0) <= self.flight_goal(1.0)
        {
            self.begin_cycle(ack.now);
        }
        self.learn_rtt(ack, round_ended);
        if self.rules.rising_start {
            self.set_pace(ack);
        }
        self.set_window(ack);
    }

    /// §4.2.3.4: a timeout reduces the window to one segment. Until the data that was outstanding
    /// is repaired, it grows by what is delivered, up to the target; then it is what it was.
    fn on_loss(&mut self, loss: &Loss) {
        if loss.cause == Cause::Timeout {
            self.save();
            self.window = 1.0;
            self.repair = Repair::Growth;
        }
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Departing(departing) => self.on_send(departing),
            Event::Undo => self.on_undo(),
            _ => {}
        }
    }

    fn wants(&self) -> Wants {
        Wants { own_window: true, delivery: true, pacing: self.pacing(), ..Wants::default() }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let rate = self.rate.greatest().unwrap_or(f64::NAN);
        visit("rate_mbps", rate * self.mss.bits() as f64 * 1e-6);
        visit("rtt_min_s", self.rtt_min.map_or(f64::NAN, |(rtt, _)| rtt.as_secs_f64()));
        visit("pacing_gain", self.gains().0);
        visit("extra_acked_segments", self.extra.greatest().unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;
    use crate::Linux;
    use crate::control::fixture::{ack_at, config, gauge, loss};

    const RTT_S: f64 = 0.1;

    fn of_linux(settings: BbrConfig) -> Bbr {
        let linux = Linux::default();
        let endpoint = crate::Endpoint::Linux(linux);
        Bbr::new(&Config { endpoint, ..config() }, settings.with_endpoint(linux))
    }

    /// A model of 1000 segments per second and 40 ms: 40 segments.
    fn modelled(mut control: Bbr) -> Bbr {
        control.rate.push(0, 1000.0);
        control.rtt_min = Some((Duration::from_millis(40), Instant::ZERO));
        control.filled = true;
        control.mode = Mode::ProbeRate(2, Instant::ZERO);
        control.pace = Some(1000.0);
        control
    }

    #[test]
    fn the_amounts_in_flight_of_linux_are_even_and_have_quanta() {
        // At 11.7 Mb/s a quantum has two segments: 40 + 6, and 1.25 · 40 + 6 + 2.
        let mut control = modelled(of_linux(BbrConfig::default()));
        assert_eq!(control.flight_goal(1.0), 46.0);
        control.mode = Mode::ProbeRate(0, Instant::ZERO);
        assert_eq!(control.flight_goal(1.25), 58.0);
        let settings = BbrConfig { even_windows: Some(false), ..BbrConfig::default() };
        assert_eq!(modelled(of_linux(settings)).flight_goal(1.0), 46.0);
        let settings = BbrConfig { inflight_quanta: Some(false), ..BbrConfig::default() };
        assert_eq!(modelled(of_linux(settings)).flight_goal(1.0), 40.0);
        let draft = modelled(Bbr::new(&config(), BbrConfig::default()));
        assert_eq!(draft.flight_goal(1.0), 40.0, "the draft's product");
    }

    #[test]
    fn what_leaves_later_is_not_in_the_network() {
        // In 3.5 ms the path delivers three whole segments.
        let control = modelled(of_linux(BbrConfig::default()));
        let now = Instant(1_000_000_000);
        let ack = Ack { now, due: now + Duration::from_micros(3500), ..ack_at(1.0, 2.0, 40.0) };
        assert_eq!(control.at_departure(&ack, 50.0), 47.0);
        assert_eq!(control.at_departure(&Ack { due: Instant::ZERO, ..ack }, 50.0), 50.0);
        let draft = modelled(Bbr::new(&config(), BbrConfig::default()));
        assert_eq!(draft.at_departure(&ack, 50.0), 50.0);
    }

    #[test]
    fn the_rate_at_the_start_of_linux_only_rises() {
        // Ten segments in 100 ms, times 2.885, less 1 %.
        let first = 10.0 / 0.1 * HIGH_GAIN * MARGIN;
        let mut control = of_linux(BbrConfig::default());
        control.on_ack(&ack_at(0.1, 1.0, 100.0));
        assert!((control.pace.unwrap() - first).abs() < 1e-9);
        control.rate.push(0, 10.0);
        control.set_pace(&ack_at(0.2, 1.0, 100.0));
        assert!((control.pace.unwrap() - first).abs() < 1e-9, "a lower model does not count");
        control.filled = true;
        control.set_pace(&ack_at(0.3, 1.0, 100.0));
        assert!(control.pace.unwrap() < first);
    }

    #[test]
    fn a_minimum_that_is_met_again_expires_in_linux() {
        let expires = |settings: BbrConfig| {
            let mut control = of_linux(settings);
            (1..=110).any(|n| {
                control.learn_rtt(&ack_at(0.1 * f64::from(n), 1.0, 100.0), false);
                matches!(control.mode, Mode::ProbeRtt(..))
            })
        };
        assert!(expires(BbrConfig::default()));
        assert!(!expires(BbrConfig { strict_rtt: Some(false), ..BbrConfig::default() }));
    }

    /// A path with a round-trip time of 100 ms that delivers `rate` segments per second, and its
    /// queue.
    struct Path {
        control: Bbr,
        rate: f64,
        now_s: f64,
        delivered: f64,
        /// The amount delivered one round trip ago.
        sent: f64,
    }

    impl Path {
        fn new(rate: f64) -> Self {
            let control = Bbr::new(&config(), BbrConfig::default());
            Self { control, rate, now_s: 0.0, delivered: 0.0, sent: 0.0 }
        }

        /// A round trip with the whole window in flight: segments beyond the bandwidth-delay
        /// product wait in the queue.
        fn round(&mut self) {
            let pacing = self.control.pacing().map_or(f64::INFINITY, |rate| {
                rate.0 as f64 / self.control.mss.bits() as f64 * RTT_S
            });
            let flight = self.control.window().0.min(pacing.max(4.0));
            let share = self.rate * RTT_S;
            let rtt_s = RTT_S * (flight / share).max(1.0);
            let rate = flight / rtt_s;
            let prior = self.delivered;
            for n in 0..flight as u32 {
                self.delivered += 1.0;
                let at = self.now_s + rtt_s * f64::from(n + 1) / flight;
                let delivery = Delivery {
                    rate: BitRate((rate * self.control.mss.bits() as f64) as u64),
                    app_limited: false,
                    prior: Segments(prior),
                    total: Segments(self.delivered),
                    in_flight: Segments(flight),
                    lost: Segments(0.0),
                };
                let in_flight = Segments((self.control.window().0 - 1.0).min(flight));
                self.control.on_ack(&Ack {
                    delivery: Some(delivery),
                    in_flight,
                    ..ack_at(at, 1.0, rtt_s * 1e3)
                });
            }
            self.sent = prior;
            self.now_s += rtt_s;
        }
    }

    #[test]
    fn startup_finds_the_rate_and_then_drains() {
        let mut path = Path::new(1000.0);
        let mut gains = Vec::new();
        for _ in 0..30 {
            path.round();
            gains.push(gauge(&path.control, "pacing_gain").unwrap());
        }
        assert_eq!(gains[0], HIGH_GAIN);
        assert!(gains[25..].iter().all(|gain| CYCLE.contains(gain)), "{gains:?}");
        let rate = path.control.rate.greatest().unwrap();
        assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
        assert_eq!(gauge(&path.control, "rtt_min_s"), Some(0.1));
        // Twice the bandwidth-delay product, three segments and the aggregation allowance.
        assert!((200.0..320.0).contains(&path.control.window().0), "{}", path.control.window().0);
    }

    #[test]
    fn a_send_quantum_follows_the_rate_and_the_window_has_three() {
        let quantum = |mbps: f64| send_quantum(BitRate((mbps * 1e6) as u64), Bytes(1448));
        assert_eq!([quantum(1.0), quantum(1.2), quantum(20.0)], [1.0, 2.0, 2.0]);
        assert!((quantum(115.84) - 10.0).abs() < 1e-9);
        assert!((quantum(1000.0) - 65_536.0 / 1448.0).abs() < 1e-9);

        let windows = [SendQuantum::Segment, SendQuantum::Rate].map(|send_quantum| {
            let settings = BbrConfig {
                send_quantum: Some(send_quantum),
                extra_acked: Some(false),
                ..BbrConfig::default()
            };
            let mut path = Path { control: Bbr::new(&config(), settings), ..Path::new(1000.0) };
            for _ in 0..30 {
                path.round();
            }
            path.control.window().0
        });
        // 1000 segments of 1460 bytes per second are 11.7 Mb/s.
        assert!((windows[1] - windows[0] - 3.0).abs() < 1e-9, "{windows:?}");
    }

    #[test]
    fn losses_change_nothing_and_a_timeout_only_for_a_while() {
        let mut path = Path::new(1000.0);
        for _ in 0..30 {
            path.round();
        }
        let before = path.control.window();
        path.control.on_loss(&loss(Cause::FastRetransmit, 100.0));
        assert_eq!(path.control.window(), before);
        path.control.on_loss(&loss(Cause::Timeout, 100.0));
        assert_eq!(path.control.window().0, 1.0);
        let after_timeout = Ack { after_timeout: true, ..ack_at(path.now_s, 1.0, 100.0) };
        path.control.on_ack(&after_timeout);
        path.control.on_ack(&after_timeout);
        assert_eq!(path.control.window().0, LEAST_WINDOW + 1.0, "by what is delivered");
        path.control.on_ack(&ack_at(path.now_s, 1.0, 100.0));
        assert!(path.control.window().0 > 0.9 * before.0);
    }

    #[test]
    fn fast_recovery_sends_what_is_delivered_for_a_round_trip() {
        let mut path = Path::new(1000.0);
        path.control.rules.conservation = true;
        for _ in 0..30 {
            path.round();
        }
        let before = path.control.window().0;
        // §4.2.3.4: two of 100 are lost; the window is what is in flight and delivered.
        let ack = ack_at(path.now_s, 1.0, 100.0);
        let recovery = Ack { recovery: true, in_flight: Segments(97.0), ..ack };
        path.control.on_ack(&Ack { lost: Segments(2.0), ..recovery });
        assert_eq!(path.control.window().0, 98.0);
        path.control.on_ack(&recovery);
        assert_eq!(path.control.window().0, 98.0);
        path.control.on_ack(&ack);
        assert!(path.control.window().0 > 0.9 * before, "restored at the end");
    }

    #[test]
    fn a_recovery_that_ends_while_the_delay_is_measured_loses_no_window() {
        let mut path = Path::new(1000.0);
        path.control.rules.conservation = true;
        for _ in 0..30 {
            path.round();
        }
        let before = path.control.window().0;
        let ack = Ack { in_flight: Segments(97.0), ..ack_at(path.now_s, 1.0, 100.0) };
        path.control.on_ack(&Ack { recovery: true, ..ack });
        path.control.rtt_min = Some((Duration::from_millis(100), Instant(0)));
        let later = |s: f64| ack_at(path.now_s.max(10.0) + s, 1.0, 110.0);
        path.control.on_ack(&Ack { recovery: true, in_flight: Segments(97.0), ..later(0.1) });
        assert_eq!(path.control.window().0, LEAST_WINDOW);
        path.control.on_ack(&Ack { in_flight: Segments(4.0), ..later(0.2) });
        assert_eq!(
            path.control.window().0,
            LEAST_WINDOW,
            "the recovery is over, the measurement not"
        );
        let delivery = Delivery {
            rate: BitRate(1_000_000),
            app_limited: true,
            prior: Segments(1e9),
            total: Segments(1e9),
            in_flight: Segments(4.0),
            lost: Segments(0.0),
        };
        path.control.on_ack(&Ack { delivery: Some(delivery), ..later(0.5) });
        assert!(path.control.window().0 > 0.9 * before, "{}", path.control.window().0);
    }

    #[test]
    fn after_an_idle_time_the_rate_is_the_estimated_one() {
        let mut path = Path::new(1000.0);
        for _ in 0..30 {
            path.round();
        }
        path.control.mode = Mode::ProbeRate(0, Instant(0));
        let (now, size) = (Instant::ZERO, Segments(1.0));
        let departing = Departing { now, size, in_flight: Segments(0.0), resent: false };
        assert_eq!(gauge(&path.control, "pacing_gain"), Some(1.25));
        path.control.on_send(&departing);
        assert_eq!(gauge(&path.control, "pacing_gain"), Some(1.0));
        path.control.on_ack(&ack_at(path.now_s, 1.0, 100.0));
        assert_eq!(gauge(&path.control, "pacing_gain"), Some(1.25));
    }

    #[test]
    fn the_least_delay_is_measured_anew_after_ten_seconds() {
        let mut path = Path::new(1000.0);
        for _ in 0..30 {
            path.round();
        }
        // From now on the path is longer, and the minimum round-trip time expires.
        path.control.rtt_min = Some((Duration::from_millis(90), Instant(0)));
        path.now_s = path.now_s.max(10.1);
        let mut least = f64::INFINITY;
        for _ in 0..6 {
            path.round();
            least = least.min(path.control.window().0);
        }
        assert_eq!(least, LEAST_WINDOW);
        assert!(path.control.window().0 > 150.0, "and the window is back");
        let rtt = gauge(&path.control, "rtt_min_s").unwrap();
        assert!((0.0999..0.15).contains(&rtt), "{rtt}");
    }

    #[test]
    fn before_the_first_sample_the_initial_window_is_spread() {
        let mut control = Bbr::new(&config(), BbrConfig::default());
        assert_eq!(control.pacing(), None);
        control.on_ack(&ack_at(0.1, 1.0, 100.0));
        let wanted = HIGH_GAIN * 10.0 * 1460.0 * 8.0 / 0.1;
        assert_eq!(control.pacing(), Some(BitRate(wanted as u64)));
    }
}
