//! BBR, version 1: a congestion control by a model of the path's rate and minimum delay, which does
//! not respond to losses.
//!
//! Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM
//! Queue 14:5, 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, whose sections are cited.
//! The allowance for aggregated acknowledgements is from the authors' talk at IETF 101
//! (`extra_acked`).

use super::max_filter::MaxFilter;
use super::path_model::{Bunches, Plateau, RoundTrips};
use super::{Ack, Cause, Connection, Control, Controller, Departing, Loss};
use crate::Config;
use kernel::{BitRate, Bytes, Duration, Instant, Segments};
use settings::{Choice, Settings};

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
/// The maximum excess of acknowledgements, as a time.
const EXTRA_MOST_S: f64 = 0.1;

/// BBR, version 1 (Cardwell and others 2016).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Bbr")]
pub struct BbrConfig {
    /// Whether the window allows for aggregated acknowledgements, as behind aggregated frames.
    #[setting(default = true)]
    pub extra_acked: bool,
    /// Whether fast recovery begins with a round trip in which only as much is sent as is delivered
    /// (section 4.2.3.4 of the draft, and Linux). If there are losses in each round trip, Startup
    /// then ends early, and with 5 % of losses 0.87 of the capacity is left instead of 0.9.
    pub conservation: bool,
    /// The size of a send quantum, of which the window has three in excess.
    pub send_quantum: SendQuantum,
}

/// The data that a host hands to its network device at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SendQuantum {
    /// A segment: the host sends segments one by one, as here without TSO.
    #[default]
    Segment,
    /// By the pacing rate (section 4.2.2 of the draft, and Linux): one segment below 1.2 Mb/s, two
    /// below 24 Mb/s, and from there on the data of a millisecond, at most 64 KB.
    Rate,
}

/// The send quantum at a pacing rate, in segments of this size (§4.2.2).
fn send_quantum(pacing: BitRate, mss: Bytes) -> f64 {
    match pacing.0 {
        0..1_200_000 => 1.0,
        1_200_000..24_000_000 => 2.0,
        rate => (rate as f64 / 8000.0).min(65_536.0) / mss.0 as f64,
    }
}

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
    /// The end of the measurement, once the data in flight is small enough, and whether a round
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
    settings: BbrConfig,
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
}

impl Bbr {
    /// A congestion control for a connection with this configuration.
    pub fn new(config: &Config, settings: BbrConfig) -> Self {
        Self {
            settings,
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
        }
    }

    /// The bandwidth-delay product times a gain; the initial window while the product is unknown.
    fn product(&self, gain: f64) -> f64 {
        match (self.rate.greatest(), self.rtt_min) {
            (Some(rate), Some((rtt, _))) => gain * rate * rtt.as_secs_f64(),
            _ => self.initial_window,
        }
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::ProbeRate(..) if self.restarts => (1.0, WINDOW_GAIN),
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
        let rate = delivery.rate.0 as f64 / self.mss.bits() as f64;
        if !delivery.app_limited || self.rate.greatest().is_none_or(|most| rate >= most) {
            self.rate.push(self.rounds.count, rate);
        }
        // §4.3.2.2.
        if ends
            && !self.filled
            && !delivery.app_limited
            && let Some(rate) = self.rate.greatest()
        {
            self.filled = self.plateau.on_round(rate);
        }
        ends
    }

    /// Updates the excess of acknowledged data over the estimated rate.
    fn learn_extra(&mut self, ack: &Ack) {
        if let Some(rate) = self.rate.greatest() {
            self.extra.on_ack(ack, rate, self.window, self.rounds.count);
        }
    }

    /// §4.3.4.3: whether to go to the next phase.
    fn cycle(&mut self, ack: &Ack) {
        let Mode::ProbeRate(phase, since) = self.mode else { return };
        let rtt = self.rtt_min.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let elapsed = ack.now.since(since) > rtt;
        // The data in flight before this acknowledgement.
        let flight = ack.in_flight.0 + ack.delivered.0;
        let next = match CYCLE[phase] {
            gain if gain > 1.0 => elapsed && (ack.lost.0 > 0.0 || flight >= self.product(gain)),
            gain if gain < 1.0 => elapsed || flight <= self.product(1.0),
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
        let expired = self.rtt_min.is_some_and(|(_, at)| ack.now > at + RTT_MEMORY);
        if let Some(rtt) = ack.rtt
            && (expired || self.rtt_min.is_none_or(|(least, _)| rtt <= least))
        {
            self.rtt_min = Some((rtt, ack.now));
        }
        if expired && !idle && !matches!(self.mode, Mode::ProbeRtt(..)) {
            self.save();
            self.mode = Mode::ProbeRtt(None, false);
        }
        let Mode::ProbeRtt(until, round) = self.mode else { return };
        match until {
            None if ack.in_flight.0 <= LEAST_WINDOW => {
                self.mode = Mode::ProbeRtt(Some(ack.now + PROBE_RTT), false);
                if let Some(delivery) = ack.delivery {
                    self.rounds.begin(delivery.total.0);
                }
            }
            None => {}
            Some(end) if (round || round_ended) && ack.now >= end => {
                self.rtt_min = self.rtt_min.map(|(rtt, _)| (rtt, ack.now));
                self.restore();
                if self.filled {
                    self.begin_cycle(ack.now);
                } else {
                    self.mode = Mode::Startup;
                }
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
        let conserves = self.settings.conservation;
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

    /// §4.2.3.
    fn set_window(&mut self, ack: &Ack) {
        let quantum = match self.settings.send_quantum {
            SendQuantum::Segment => 1.0,
            SendQuantum::Rate => self.pacing().map_or(1.0, |rate| send_quantum(rate, self.mss)),
        };
        let mut target = self.product(self.gains().1) + QUANTA * quantum;
        if self.settings.extra_acked && self.filled {
            let most = self.rate.greatest().unwrap_or(0.0) * EXTRA_MOST_S;
            target += self.extra.greatest().unwrap_or(0.0).min(most);
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
}

impl Control for Bbr {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.srtt = ack.srtt;
        let round_ended = self.learn_rate(ack);
        self.follow_repair(ack, round_ended);
        self.learn_extra(ack);
        self.cycle(ack);
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight.0 <= self.product(1.0) {
            self.begin_cycle(ack.now);
        }
        self.learn_rtt(ack, round_ended);
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

    fn on_undo(&mut self) {
        self.repair = Repair::None;
        self.restore();
    }

    fn owns_window(&self) -> bool {
        true
    }

    fn wants_delivery(&self) -> bool {
        true
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
        let rate = match self.rate.greatest() {
            Some(rate) => rate * MARGIN,
            // §4.2.1: before there is a model, the rate is the initial window per round trip.
            None if self.srtt > Duration::ZERO => self.initial_window / self.srtt.as_secs_f64(),
            None => return None,
        };
        Some(BitRate((self.gains().0 * rate * self.mss.bits() as f64) as u64))
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
    use crate::control::fixture::{ack_at, config, gauge, loss};

    const RTT_S: f64 = 0.1;

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
            let settings = BbrConfig { send_quantum, extra_acked: false, ..BbrConfig::default() };
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
        path.control.settings.conservation = true;
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
        path.control.settings.conservation = true;
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
