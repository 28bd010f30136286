//! BBR, version 3: a congestion control by a model of the path's rate, delay and volume, which
//! losses and marks limit.
//!
//! Cardwell, Swett and Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr, as of August 2026,
//! whose sections are cited.

mod cycle;
mod model;

use super::{
    Ack, Cause, Connection, Control, Controller, Delivery, Departing, Event, Loss, Lost, Wants,
};
use crate::Config;
use kernel::{BitRate, Bytes, Duration, Instant, Segments};
use model::{LEAST_WINDOW, Model};
use settings::{Range, Settings};

/// §5.6.1: gains of the pacing rate and of the window.
const STARTUP: (f64, f64) = (2.77, 2.0);
const DRAIN: (f64, f64) = (0.5, 2.0);
const DOWN: (f64, f64) = (0.9, 2.0);
const CRUISE: (f64, f64) = (1.0, 2.0);
const UP: (f64, f64) = (1.25, 2.25);
const PROBE_RTT: (f64, f64) = (1.0, 0.5);
/// §5.6.2, `PacingMarginPercent`.
const MARGIN: f64 = 0.99;
/// §5.3.2: the maximum duration of Drain in round trips.
const DRAIN_ROUNDS: u64 = 3;
/// §5.3.1.3, `BBRStartupFullLossCnt`.
const STARTUP_RANGES: u32 = 6;
/// §2.16.2, `ProbeRTTDuration`.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// §5.6.3: the send quantum is the data of 1 ms, and at most 64 KB.
const QUANTUM_S: f64 = 1e-3;
const QUANTUM_MOST: Bytes = Bytes(65_536);
/// Consecutive round trips with too many marks that end Startup (the authors' `bbr_full_ecn_cnt`).
const STARTUP_MARKED: u32 = 2;

/// BBR, version 3 (draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
#[settings(name = "Bbr3")]
pub struct Bbr3Config {
    /// The loss rate in a round trip above which a probe for bandwidth has gone too far (section
    /// 2.8).
    #[setting(default = 0.02, range = Range::OPEN_UNIT)]
    pub loss_threshold: f64,
    /// The minimum factor by which a round trip with losses reduces the bounds (section 2.8).
    #[setting(default = 0.7, range = Range::OPEN_UNIT)]
    pub beta: f64,
    /// The share of the tolerable data in flight that is left to other flows (section 2.8).
    #[setting(default = 0.15, range = Range::OPEN_UNIT)]
    pub headroom: f64,
    /// Whether the window allows for aggregated acknowledgements.
    #[setting(default = true)]
    pub extra_acked: bool,
}

impl Controller for Bbr3Config {
    fn build(&self, connection: &Connection<'_>) -> Box<dyn Control> {
        Box::new(Bbr3::new(connection.config, *self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    /// Since this round trip.
    Drain(u64),
    Down,
    Cruise,
    Refill,
    Up,
    /// The end of the measurement, once the data in flight is small enough, and whether a round
    /// trip has ended since.
    ProbeRtt(Option<Instant>, bool),
}

/// The state that a loss changes and an undo restores (§5.5.11).
#[derive(Clone, Copy, Debug)]
struct Before {
    /// The state that a loss ended.
    state: Option<State>,
    /// Whether the losses are repaired.
    repaired: bool,
    short: (f64, f64),
    long: f64,
}

/// BBR, version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    settings: Bbr3Config,
    mss: Bytes,
    initial_window: f64,
    window: f64,
    /// In segments per second.
    pacing: Option<f64>,
    state: State,
    model: Model,
    /// Acknowledgements still refer to data that left during the last probe
    /// (`ACKS_PROBE_STOPPING`).
    stopping: bool,
    /// Acknowledgements refer to a probe whose outcome is not known yet (`is_bw_probe_sample`).
    probe_sample: bool,
    /// The growth of `inflight_longterm` during a probe.
    up_rounds: u32,
    up_acked: f64,
    acked_per_step: f64,
    /// When the cycle began, the time until the next probe, and round trips since the last probe.
    cycle_began: Instant,
    wait: Duration,
    rounds_since_probe: u64,
    /// §5.3.3.6.
    too_high: bool,
    precautionary: bool,
    /// The window before it was reduced for a measurement or a timeout (`prior_cwnd`).
    saved: f64,
    before: Option<Before>,
    /// Whether fast recovery is in progress, and whether the data that was outstanding at a timeout
    /// is being repaired.
    recovery: bool,
    after_timeout: bool,
    /// Nothing was in flight when data left, and none of it is delivered (`idle_restart`).
    restarts: bool,
    srtt: Duration,
}

impl Bbr3 {
    /// A congestion control for a connection with this configuration.
    pub fn new(config: &Config, settings: Bbr3Config) -> Self {
        let initial_window = config.initial_window().0.max(1.0);
        Self {
            settings,
            mss: config.mss(),
            initial_window,
            window: initial_window,
            pacing: None,
            state: State::Startup,
            model: Model::new(settings, config.mss()),
            stopping: false,
            probe_sample: false,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_step: f64::INFINITY,
            cycle_began: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            too_high: false,
            precautionary: false,
            saved: 0.0,
            before: None,
            recovery: false,
            after_timeout: false,
            restarts: false,
            srtt: Duration::ZERO,
        }
    }

    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => STARTUP,
            State::Drain(_) => DRAIN,
            State::Down => DOWN,
            State::Cruise | State::Refill => CRUISE,
            State::Up => UP,
            State::ProbeRtt(..) => PROBE_RTT,
        }
    }

    /// §5.3.3.9, `IsProbingBW`.
    fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// §5.3.3.9, `IsInAProbeBWState`.
    fn is_cycling(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// §5.6.4.2, `QuantizationBudget`: room for three send quanta. Segments leave individually
    /// here, but the receiver may acknowledge a quantum at once (§5.6.3: 1 ms at the pacing rate,
    /// and from two segments to 64 KB).
    fn with_quanta(&self, volume: f64) -> f64 {
        let most = QUANTUM_MOST.0 as f64 / self.mss.0 as f64;
        let quantum = (self.pacing.unwrap_or(0.0) * QUANTUM_S).min(most).max(2.0);
        let budget = volume.max(3.0 * quantum).max(LEAST_WINDOW);
        budget + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// §5.6.4.2, `Inflight`: a gain times the bandwidth-delay product, and the quantization budget.
    fn volume(&self, gain: f64) -> f64 {
        self.with_quanta(self.product(gain))
    }

    fn product(&self, gain: f64) -> f64 {
        self.model.product().map_or(self.initial_window, |product| gain * product)
    }

    /// §5.3.3.8, `TargetInflight`.
    fn target(&self) -> f64 {
        self.model.product().unwrap_or(self.initial_window).min(self.window)
    }

    // ---- losses ----

    /// §5.5.10.2, `NoteLoss` and `SaveStateUponLoss`, after this amount was delivered. The losses
    /// that follow the one that ended a probe are of the same recovery, at whose start the state is
    /// saved (§5.5.11.1): they do not replace it, although the end of the probe begins a new round.
    fn note_loss(&mut self, delivered: f64) {
        if self.model.note_loss(delivered) {
            self.save_window();
            if self.before.is_none_or(|before| before.state.is_none() || before.repaired) {
                let Model { short, long, .. } = self.model;
                self.before = Some(Before { state: None, repaired: false, short, long });
            }
        }
    }

    /// §5.6.4.4: saves the last good window.
    fn save_window(&mut self) {
        let reduced = self.recovery || self.after_timeout;
        let reduced = reduced || matches!(self.state, State::ProbeRtt(..));
        self.saved = if reduced { self.saved.max(self.window) } else { self.window };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.saved);
    }

    /// Marks take the place of losses: too large a share of them in a round trip means that a probe
    /// went too far.
    fn handle_marks(&mut self, ack: &Ack) {
        if let Some(delivery) = ack.delivery
            && self.probe_sample
            && self.model.round_started
            && self.model.marked_rounds > 0
        {
            let limited = self.model.is_limited(delivery.app_limited, delivery.prior);
            self.end_probe(ack.now, delivery.in_flight.0, limited);
        }
    }

    /// §5.5.10.2, `HandleInflightTooHigh`: a probe went too far, with `safe` the data in flight
    /// that the path bears.
    fn end_probe(&mut self, now: Instant, safe: f64, limited: bool) {
        (self.too_high, self.probe_sample) = (true, false);
        if !limited {
            self.model.long = safe.max(self.settings.beta * self.target());
        }
        if self.state == State::Up {
            if let Some(before) = &mut self.before {
                before.state = Some(State::Up);
            }
            self.go_down(now);
        }
    }

    /// §5.3.1.3, and the end of startup by a plateau (§5.3.1.2).
    fn check_startup(&mut self, ack: &Ack) {
        if self.state != State::Startup {
            return;
        }
        let model = &mut self.model;
        let high = |delivery: &Delivery| model.is_too_much(delivery.lost, delivery.in_flight);
        let lossy = model.loss_round_started
            && self.recovery
            && ack.recovery
            && model.ranges >= STARTUP_RANGES
            && ack.delivery.as_ref().is_some_and(high);
        if lossy || model.marked_rounds >= STARTUP_MARKED {
            model.filled = true;
            model.full_now = true;
            model.long = model.product().unwrap_or(0.0).max(model.latest.1);
            if let Some(before) = &mut self.before {
                before.state = Some(State::Startup);
            }
        }
        if model.filled {
            model.fill();
            self.state = State::Drain(model.rounds.count);
        }
    }

    /// §5.3.2, `CheckDrainDone`.
    fn check_drain(&mut self, ack: &Ack) {
        if let State::Drain(since) = self.state
            && (ack.in_flight.0 <= self.volume(1.0)
                || self.model.rounds.count > since + DRAIN_ROUNDS)
        {
            self.go_down(ack.now);
        }
    }

    // ---- the minimum round-trip time (§5.3.4) ----

    /// `ProbeRTTCwnd`.
    fn probe_rtt_window(&self) -> f64 {
        let product = self.model.product().map_or(self.initial_window, |p| PROBE_RTT.1 * p);
        product.max(LEAST_WINDOW)
    }

    /// `CheckProbeRTT`; after an idle time no measurement is needed, because the queue is empty.
    fn check_probe_rtt(&mut self, ack: &Ack, idle: bool) {
        let probing = matches!(self.state, State::ProbeRtt(..));
        if !probing && self.model.rtt_expired && !idle {
            self.save_window();
            self.state = State::ProbeRtt(None, false);
            self.stopping = true;
            self.model.rounds.begin(self.model.delivered);
        }
        let State::ProbeRtt(until, round) = self.state else { return };
        self.model.hold(ack.in_flight.0);
        let round = round || self.model.round_started;
        match until {
            None if ack.in_flight.0 <= self.probe_rtt_window() => {
                self.state = State::ProbeRtt(Some(ack.now + PROBE_RTT_TIME), false);
                self.model.rounds.begin(self.model.delivered);
            }
            None => {}
            Some(end) if round && ack.now > end => {
                self.model.measured_rtt(ack.now);
                self.restore_window();
                self.model.forget_short();
                if self.model.filled {
                    self.go_down(ack.now);
                    self.state = State::Cruise;
                } else {
                    self.state = State::Startup;
                }
            }
            Some(_) => self.state = State::ProbeRtt(until, round),
        }
    }

    // ---- control parameters (§5.6) ----

    /// `SetPacingRate`.
    fn set_pacing(&mut self) {
        let Some(rate) = self.model.rate() else { return };
        let rate = self.gains().0 * rate * MARGIN;
        if self.model.filled || self.pacing.is_none_or(|pacing| rate > pacing) {
            self.pacing = Some(rate);
        }
    }

    /// `SetCwnd`.
    fn set_window(&mut self, ack: &Ack) {
        let mut most = self.product(self.gains().1);
        if self.settings.extra_acked && self.model.rtt_min.is_some() {
            most += self.model.bunches.greatest().unwrap_or(0.0);
        }
        let most = self.with_quanta(most);
        let arrived = ack.delivered.0;
        if self.model.filled {
            self.window = (self.window + arrived).min(most);
        } else if self.window < most || self.model.delivered < self.initial_window {
            self.window += arrived;
        }
        // `BoundCwndForProbeRTT` and `BoundCwndForModel`.
        let cap = match self.state {
            State::Startup | State::Drain(_) => f64::INFINITY,
            State::Down | State::Refill | State::Up => self.model.long,
            State::Cruise => self.model.with_headroom(),
            State::ProbeRtt(..) => self.model.with_headroom().min(self.probe_rtt_window()),
        };
        let cap = cap.min(self.model.short.1).max(LEAST_WINDOW);
        self.window = self.window.max(LEAST_WINDOW).min(cap);
    }

    /// §5.5.10.2, `HandleLostPacket`: by the losses since this segment left.
    fn on_lost(&mut self, lost: &Lost) {
        self.note_loss(lost.total.0);
        self.model.count_range(lost.start, lost.end);
        if self.probe_sample && self.model.is_too_much(lost.lost, lost.in_flight) {
            let limited = self.model.is_limited(lost.app_limited, lost.prior);
            self.end_probe(lost.now, self.model.in_flight_at_loss(lost), limited);
        }
    }

    /// §5.4.1, `HandleRestartFromIdle`. The network is empty: the rate is the estimated one.
    fn on_send(&mut self, departing: &Departing) {
        if departing.in_flight.0 > 0.0 {
            return;
        }
        self.restarts = true;
        self.model.bunches.restart(departing.now);
        if self.is_cycling()
            && let Some(rate) = self.model.rate()
        {
            self.pacing = Some(rate * MARGIN);
        }
    }

    /// §5.5.11.2, `HandleSpuriousLossDetection`.
    fn on_undo(&mut self) {
        (self.recovery, self.after_timeout) = (false, false);
        self.restore_window();
        let Some(before) = self.before.take() else { return };
        let model = &mut self.model;
        model.loss_in_round = false;
        model.look_for_plateau(None);
        model.short = (model.short.0.max(before.short.0), model.short.1.max(before.short.1));
        model.long = model.long.max(before.long);
        let measures = matches!(self.state, State::ProbeRtt(..));
        match before.state {
            Some(State::Startup) if self.state != State::Startup => {
                model.filled = false;
                if !measures {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !measures => self.refill(),
            _ => {}
        }
    }

    fn pacing(&self) -> Option<BitRate> {
        let rate = match self.pacing {
            Some(rate) => rate,
            // `InitPacingRate`.
            None if self.srtt > Duration::ZERO => {
                STARTUP.0 * self.initial_window / self.srtt.as_secs_f64()
            }
            None => return None,
        };
        Some(BitRate((rate * self.mss.bits() as f64) as u64))
    }
}

impl Control for Bbr3 {
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// §5.2.3.
    fn on_ack(&mut self, ack: &Ack) {
        self.srtt = ack.srtt;
        let idle = std::mem::take(&mut self.restarts);
        let was_reduced = self.recovery || self.after_timeout;
        self.after_timeout = ack.after_timeout;
        if was_reduced && !ack.recovery && !ack.after_timeout {
            self.restore_window();
            if let Some(before) = &mut self.before {
                before.repaired = true;
            }
        }
        self.model.learn(ack, self.window, self.is_probing());
        self.rounds_since_probe += u64::from(self.model.round_started);
        self.handle_marks(ack);
        self.check_startup(ack);
        self.check_drain(ack);
        self.cycle(ack);
        self.model.learn_rtt(ack);
        self.check_probe_rtt(ack, idle);
        self.model.advance(ack);
        self.recovery = ack.recovery;
        self.set_pacing();
        self.set_window(ack);
    }

    /// §5.6.4.4. The acknowledgements that follow a loss update the model.
    fn on_loss(&mut self, loss: &Loss) {
        match loss.cause {
            Cause::Ecn => {}
            Cause::FastRetransmit => self.note_loss(self.model.delivered),
            Cause::Timeout => {
                self.note_loss(self.model.delivered);
                self.save_window();
                self.after_timeout = true;
                self.window = 1.0;
            }
        }
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Lost(lost) => self.on_lost(lost),
            Event::Departing(departing) => self.on_send(departing),
            Event::Undo => self.on_undo(),
            _ => {}
        }
    }

    fn wants(&self) -> Wants {
        Wants { own_window: true, delivery: true, pacing: self.pacing(), ..Wants::default() }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let mbps = self.mss.bits() as f64 * 1e-6;
        let model = &self.model;
        visit("rate_mbps", model.rate().unwrap_or(f64::NAN) * mbps);
        visit("rtt_min_s", model.rtt_min.map_or(f64::NAN, |(rtt, _)| rtt.as_secs_f64()));
        visit("pacing_gain", self.gains().0);
        visit("extra_acked_segments", model.bunches.greatest().unwrap_or(f64::NAN));
        visit("inflight_high_segments", model.long);
        visit("inflight_low_segments", model.short.1);
        visit("rate_low_mbps", model.short.0 * mbps);
        visit("mark_share", model.mark_share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::fixture::{ack_at, config, gauge, loss};

    /// A path that holds 100 segments, with a round-trip time of 100 ms; the window never exceeds
    /// it.
    struct Path {
        control: Bbr3,
        now_s: f64,
        after_timeout: bool,
        delivered: f64,
    }

    impl Path {
        fn new() -> Self {
            let control = Bbr3::new(&config(), Bbr3Config::default());
            Self { control, now_s: 0.0, after_timeout: false, delivered: 0.0 }
        }

        /// A round trip with this many segments in flight, of which `lost` are lost at its end.
        fn round(&mut self, flight: f64, lost: f64) {
            let prior = self.delivered;
            let bits = self.control.mss.bits() as f64;
            for n in 1..=flight as u32 {
                self.delivered += 1.0;
                self.now_s += 0.1 / flight;
                let ends = n == flight as u32;
                let lost = Segments(if ends { lost } else { 0.0 });
                for number in 1..=lost.0 as u32 {
                    let (left, lost) = (Segments(prior), Segments(f64::from(number)));
                    self.control.on_lost(&self.lost(2 * number, (left, flight, lost)));
                }
                let delivery = Delivery {
                    rate: BitRate((flight.min(100.0) * 10.0 * bits) as u64),
                    app_limited: false,
                    prior: Segments(prior),
                    total: Segments(self.delivered),
                    in_flight: Segments(flight),
                    lost,
                };
                let delivery = Some(delivery);
                let in_flight = Segments(flight - 1.0);
                let after_timeout = self.after_timeout;
                let ack = ack_at(self.now_s, 1.0, 100.0);
                let ack = Ack { lost, in_flight, delivery, after_timeout, ..ack };
                self.control.on_ack(&ack);
            }
        }

        /// The loss of a segment that left after `prior` was delivered, with `lost` lost since.
        fn lost(&self, number: u32, (prior, flight, lost): (Segments, f64, Segments)) -> Lost {
            let (now, total) = (ack_at(self.now_s, 0.0, 0.0).now, Segments(self.delivered));
            let (start, end) = (1460 * u64::from(number), 1460 * u64::from(number + 1));
            let (size, in_flight, app_limited) = (Segments(1.0), Segments(flight), false);
            Lost { now, start, end, size, total, prior, in_flight, lost, app_limited }
        }

        /// Runs round trips until the state is this.
        fn reach(&mut self, state: State) {
            for _ in 0..200 {
                if self.control.state == state {
                    return;
                }
                let most = if self.control.state == State::Down { 80.0 } else { 100.0 };
                self.round(self.control.window().0.floor().min(most), 0.0);
            }
            panic!("{state:?} was not reached; it is {:?}", self.control.state);
        }
    }

    #[test]
    fn the_volume_at_which_losses_passed_the_threshold() {
        // §5.5.10.2: of 100 segments in flight 5 are lost at once. 2 % of 95 is 1.9, and 1.9 over
        // 0.98 is added.
        let model = Model::new(Bbr3Config::default(), Bytes(1000));
        let path = Path::new();
        let five = path.lost(1, (Segments(0.0), 100.0, Segments(5.0)));
        let five = Lost { size: Segments(5.0), ..five };
        assert!(model.is_too_much(five.lost, five.in_flight));
        assert!(!model.is_too_much(Segments(2.0), five.in_flight));
        let at = model.in_flight_at_loss(&five);
        assert!((at - (95.0 + 1.9 / 0.98)).abs() < 1e-9, "{at}");
    }

    #[test]
    fn a_loss_is_judged_by_what_was_in_flight_when_the_lost_segment_left() {
        // §5.5.10.2: three are lost since a segment left as the 200th in flight, and since another
        // left as the 100th.
        let mut path = Path::new();
        path.reach(State::Up);
        let (left, three) = (Segments(path.delivered), Segments(3.0));
        path.control.on_lost(&path.lost(1, (left, 200.0, three)));
        assert_eq!(path.control.state, State::Up);
        path.control.on_lost(&path.lost(3, (left, 100.0, three)));
        assert_eq!(path.control.state, State::Down);
        // 2 % of 99 is 1.98, and two of them were lost before.
        let high = gauge(&path.control, "inflight_high_segments").unwrap();
        assert!((high - (99.0 - 0.02 / 0.98)).abs() < 1e-9, "{high}");
    }

    #[test]
    fn adjoining_lost_segments_are_one_range() {
        // §5.3.1.3.
        let mut path = Path::new();
        let one = (Segments(0.0), 100.0, Segments(1.0));
        for (number, ranges) in [(7, 1), (8, 1), (9, 1), (11, 2), (13, 3), (14, 3)] {
            path.control.on_lost(&path.lost(number, one));
            assert_eq!(path.control.model.ranges, ranges, "segment {number}");
        }
    }

    #[test]
    fn a_probe_that_loses_too_much_sets_the_bound_and_an_undo_takes_it_back() {
        let mut path = Path::new();
        path.reach(State::Up);
        path.round(100.0, 5.0);
        assert_eq!(path.control.state, State::Down);
        let high = gauge(&path.control, "inflight_high_segments").unwrap();
        assert!((95.0..100.0).contains(&high), "{high}");
        path.control.on_undo();
        assert_eq!(path.control.state, State::Refill, "the probe begins anew");
        assert_eq!(gauge(&path.control, "inflight_high_segments"), Some(f64::INFINITY));
    }

    #[test]
    fn after_a_probe_that_went_too_far_the_next_turns_back_at_the_bound() {
        // §5.3.3.6.
        let mut path = Path::new();
        path.reach(State::Up);
        path.round(100.0, 5.0);
        path.round(80.0, 0.0);
        path.reach(State::Up);
        assert!(path.control.too_high);
        path.round(100.0, 0.0);
        assert!(path.control.precautionary && !path.control.too_high);
        assert_ne!(path.control.state, State::Up);
        path.round(80.0, 0.0);
        path.round(80.0, 0.0);
        let again = matches!(path.control.state, State::Refill | State::Up);
        assert!(again, "nothing was lost: at once again, and is {:?}", path.control.state);
    }

    #[test]
    fn a_loss_while_it_cruises_bounds_by_what_was_delivered() {
        // §5.5.10.3: the greater of the amount delivered and 0.7 times the previous bound.
        let mut path = Path::new();
        path.reach(State::Cruise);
        path.round(90.0, 10.0);
        path.round(60.0, 0.0);
        path.round(60.0, 0.0);
        let low = gauge(&path.control, "inflight_low_segments").unwrap();
        assert!(low.is_finite() && low >= 60.0, "{low}");
        let rate = gauge(&path.control, "rate_low_mbps").unwrap();
        let full = 1000.0 * path.control.mss.bits() as f64 * 1e-6;
        assert!((0.7 * full - 1e-6..full).contains(&rate), "{rate} of {full}");
        path.reach(State::Refill);
        assert_eq!(gauge(&path.control, "inflight_low_segments"), Some(f64::INFINITY));
    }

    #[test]
    fn a_timeout_makes_the_window_one_until_all_is_repaired() {
        let mut path = Path::new();
        path.reach(State::Cruise);
        let before = path.control.window().0;
        path.control.on_loss(&loss(Cause::Timeout, 20.0));
        assert_eq!(path.control.window().0, 1.0);
        path.after_timeout = true;
        path.round(10.0, 0.0);
        assert_eq!(path.control.window().0, LEAST_WINDOW + 9.0, "it grows by what is delivered");
        path.after_timeout = false;
        path.round(1.0, 0.0);
        let bound = gauge(&path.control, "inflight_low_segments").unwrap().min(before);
        assert!(path.control.window().0 >= bound, "{} of {before}", path.control.window().0);
    }

    #[test]
    fn the_first_rate_is_that_of_the_initial_window() {
        let mut control = Bbr3::new(&config(), Bbr3Config::default());
        assert_eq!(control.pacing(), None);
        control.on_ack(&ack_at(0.1, 0.0, 100.0));
        let rate = 2.77 * 10.0 / 0.1 * 1460.0 * 8.0;
        assert_eq!(control.pacing(), Some(BitRate(rate as u64)));
    }
}
