//! The path model of BBR version 3, and its update on an acknowledgement (§5.5).

use super::super::max_filter::MaxFilter;
use super::super::path_model::{Bunches, Plateau, RoundTrips};
use super::super::{Ack, Delivery, Lost};
use super::Bbr3Config;
use kernel::{Bytes, Duration, Instant, Segments};

/// §2.11, `MaxBwFilterLen`: the current probing cycle and the previous one.
const RATE_CYCLES: u64 = 2;
/// §2.16.1, `MinRTTFilterLen`.
const RTT_MEMORY: Duration = Duration::from_secs(10);
/// §5.5.9: the length of the filter for aggregated acknowledgements in round trips, in Startup and
/// after it.
const BUNCH_ROUNDS: (u64, u64) = (1, 10);
/// §2.16.2, `ProbeRTTInterval`.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// §5.6.4.3, `MinPipeCwnd`.
pub(super) const LEAST_WINDOW: f64 = 4.0;
/// The gain of the mark average, and the weight by which it reduces the short-term bounds. The
/// draft (§3.7) does not specify the response to marks; these are its authors' values
/// (`bbr_ecn_alpha_gain`, `bbr_ecn_factor`).
const MARK_GAIN: f64 = 1.0 / 16.0;
const MARK_FACTOR: f64 = 1.0 / 3.0;
/// A larger share of marks in a round trip is too high (the authors' `bbr_ecn_thresh`).
const MARK_THRESHOLD: f64 = 0.5;

/// A model of the path. Rates are in segments per second, volumes in segments.
#[derive(Clone, Debug)]
pub(super) struct Model {
    settings: Bbr3Config,
    segment_bits: f64,
    /// The amount delivered so far.
    pub(super) delivered: f64,
    pub(super) rounds: RoundTrips,
    /// Whether this acknowledgement ends a round trip.
    pub(super) round_started: bool,
    /// Maximum rates, by probing cycle.
    rates: MaxFilter,
    pub(super) cycle: u64,
    pub(super) rtt_min: Option<(Duration, Instant)>,
    recent_rtt: Option<(Duration, Instant)>,
    /// Whether `recent_rtt` has expired and is to be measured again.
    pub(super) rtt_expired: bool,
    /// Maximum rate and volume of the last round trip (`bw_latest`, `inflight_latest`).
    pub(super) latest: (f64, f64),
    /// The delivered amount at which the round trip of a loss ends.
    loss_round: f64,
    pub(super) loss_round_started: bool,
    pub(super) loss_in_round: bool,
    /// The discontiguous ranges of sequence numbers lost in this round trip, and the end of the
    /// last one.
    pub(super) ranges: u32,
    range_end: u64,
    /// The bounds by recent losses (`bw_shortterm`, `inflight_shortterm`).
    pub(super) short: (f64, f64),
    /// The bound by the last probes (`inflight_longterm`).
    pub(super) long: f64,
    pub(super) bunches: Bunches,
    pub(super) plateau: Plateau,
    /// `full_bw_now` and `full_bw_reached`.
    pub(super) full_now: bool,
    pub(super) filled: bool,
    /// Until this amount is delivered, samples are low because of the sender's own limit.
    held_until: f64,
    /// The smoothed share of marked data, and the marked data of this round trip.
    pub(super) mark_share: f64,
    marked: (f64, f64),
    /// Consecutive round trips with too many marks.
    pub(super) marked_rounds: u32,
    marks_in_round: bool,
}

impl Model {
    pub(super) fn new(settings: Bbr3Config, mss: Bytes) -> Self {
        let mut bunches = Bunches::new();
        bunches.remember(BUNCH_ROUNDS.0);
        Self {
            settings,
            segment_bits: mss.bits() as f64,
            delivered: 0.0,
            rounds: RoundTrips::default(),
            round_started: false,
            rates: MaxFilter::new(RATE_CYCLES),
            cycle: 0,
            rtt_min: None,
            recent_rtt: None,
            rtt_expired: false,
            latest: (0.0, 0.0),
            loss_round: 0.0,
            loss_round_started: false,
            loss_in_round: false,
            ranges: 0,
            range_end: 0,
            short: (f64::INFINITY, f64::INFINITY),
            long: f64::INFINITY,
            bunches,
            plateau: Plateau::default(),
            full_now: false,
            filled: false,
            held_until: 0.0,
            mark_share: 0.0,
            marked: (0.0, 0.0),
            marked_rounds: 0,
            marks_in_round: false,
        }
    }

    /// The maximum rate of this cycle and the previous one (`max_bw`).
    pub(super) fn greatest_rate(&self) -> Option<f64> {
        self.rates.greatest()
    }

    /// §5.5.10.3, `BoundBWForModel`: the maximum rate, bounded by recent losses.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rates.greatest().map(|rate| rate.min(self.short.0))
    }

    /// The bandwidth-delay product.
    pub(super) fn product(&self) -> Option<f64> {
        Some(self.rate()? * self.rtt_min?.0.as_secs_f64())
    }

    /// §5.3.3.9, `InflightWithHeadroom`: leaves capacity to other flows.
    pub(super) fn with_headroom(&self) -> f64 {
        let headroom = (self.settings.headroom * self.long).max(1.0);
        if self.long.is_finite() { (self.long - headroom).max(LEAST_WINDOW) } else { self.long }
    }

    /// §5.5.10.2, `IsInflightTooHigh`: whether this much lost, since a segment left, exceeds the
    /// threshold of this much in flight once it had left.
    pub(super) fn is_too_much(&self, lost: Segments, in_flight: Segments) -> bool {
        lost.0 > self.settings.loss_threshold * in_flight.0
    }

    /// §5.5.10.2, `InflightAtLoss`: the data in flight when losses exceeded the threshold.
    pub(super) fn in_flight_at_loss(&self, lost: &Lost) -> f64 {
        let threshold = self.settings.loss_threshold;
        let (before, lost_before) = (lost.in_flight.0 - lost.size.0, lost.lost.0 - lost.size.0);
        before + (threshold * before - lost_before) / (1.0 - threshold)
    }

    /// §5.2.3, the first half of `UpdateModelAndState`. `probes` tells whether the state probes for
    /// bandwidth.
    pub(super) fn learn(&mut self, ack: &Ack, window: f64, probes: bool) {
        self.delivered += ack.delivered.0;
        (self.round_started, self.loss_round_started) = (false, false);
        self.marked.0 += ack.marked.0;
        self.marked.1 += ack.delivered.0;
        self.marks_in_round |= ack.marked.0 > 0.0;
        if let Some(delivery) = ack.delivery {
            self.learn_rate(&delivery, window, probes);
        }
        if self.settings.extra_acked
            && let Some(rate) = self.rate()
        {
            self.bunches.on_ack(ack, rate, window, self.rounds.count);
        }
    }

    /// Segments per second.
    pub(super) fn per_second(&self, delivery: &Delivery) -> f64 {
        delivery.rate.0 as f64 / self.segment_bits
    }

    fn learn_rate(&mut self, delivery: &Delivery, window: f64, probes: bool) {
        let rate = self.per_second(delivery);
        let volume = delivery.total.0 - delivery.prior.0;
        self.latest = (self.latest.0.max(rate), self.latest.1.max(volume));
        if delivery.prior.0 >= self.loss_round {
            self.loss_round = delivery.total.0;
            self.loss_round_started = true;
        }
        // §5.5.5, `UpdateMaxBw`.
        self.round_started = self.rounds.on_sample(delivery);
        let limited = self.is_limited(delivery.app_limited, delivery.prior);
        if !limited || self.rates.greatest().is_none_or(|most| rate >= most) {
            self.rates.push(self.cycle, rate);
        }
        if self.round_started {
            self.learn_marks();
        }
        if self.loss_round_started && !probes {
            self.bound_short(window);
        }
        // §5.3.1.2, `CheckFullBWReached`.
        if self.round_started && !self.full_now && !limited {
            self.full_now = self.plateau.on_round(rate);
            self.filled |= self.full_now;
        }
    }

    /// Whether the application or the measurement of the round-trip time limited the rate when a
    /// segment left that was sent after `prior` was delivered.
    pub(super) fn is_limited(&self, app_limited: bool, prior: Segments) -> bool {
        app_limited || prior.0 < self.held_until
    }

    fn learn_marks(&mut self) {
        let (marked, all) = std::mem::take(&mut self.marked);
        let share = if all > 0.0 { marked / all } else { 0.0 };
        self.mark_share += MARK_GAIN * (share - self.mark_share);
        self.marked_rounds = if share > MARK_THRESHOLD { self.marked_rounds + 1 } else { 0 };
    }

    /// §5.5.10.3: once per round trip with losses, reduces the bounds towards the amount delivered
    /// in it.
    fn bound_short(&mut self, window: f64) {
        if !self.loss_in_round && !self.marks_in_round {
            return;
        }
        if self.short.0.is_infinite() {
            self.short.0 = self.rates.greatest().unwrap_or(f64::INFINITY);
        }
        if self.short.1.is_infinite() {
            self.short.1 = window;
        }
        if self.loss_in_round {
            let beta = self.settings.beta;
            self.short.0 = self.latest.0.max(beta * self.short.0);
            self.short.1 = self.latest.1.max(beta * self.short.1);
        }
        if self.marks_in_round {
            self.short.1 *= 1.0 - MARK_FACTOR * self.mark_share;
        }
    }

    /// A loss was detected after this amount was delivered; returns whether it is the first of this
    /// round trip.
    pub(super) fn note_loss(&mut self, delivered: f64) -> bool {
        let first = !self.loss_in_round;
        if first {
            self.loss_round = delivered;
            self.loss_in_round = true;
        }
        first
    }

    /// §5.3.1.3: this range of sequence numbers was lost.
    pub(super) fn count_range(&mut self, start: u64, end: u64) {
        self.ranges += u32::from(self.ranges == 0 || start != self.range_end);
        self.range_end = end;
    }

    /// §5.3.4.3, `UpdateMinRTT`.
    pub(super) fn learn_rtt(&mut self, ack: &Ack) {
        let older = |seen: Option<(Duration, Instant)>, than: Duration| {
            seen.is_some_and(|(_, at)| ack.now > at + than)
        };
        self.rtt_expired = older(self.recent_rtt, PROBE_RTT_INTERVAL);
        if let Some(rtt) = ack.rtt
            && (self.rtt_expired || self.recent_rtt.is_none_or(|(least, _)| rtt < least))
        {
            self.recent_rtt = Some((rtt, ack.now));
        }
        let expired = older(self.rtt_min, RTT_MEMORY);
        if let Some(recent) = self.recent_rtt
            && (expired || self.rtt_min.is_none_or(|(least, _)| recent.0 < least))
        {
            self.rtt_min = Some(recent);
        }
    }

    /// §5.2.3, at the end: the newest sample begins the maximum of the next round trip.
    pub(super) fn advance(&mut self, ack: &Ack) {
        if let (true, Some(delivery)) = (self.loss_round_started, ack.delivery) {
            let volume = delivery.total.0 - delivery.prior.0;
            self.latest = (self.per_second(&delivery), volume);
            (self.loss_in_round, self.marks_in_round, self.ranges) = (false, false, 0);
        }
    }

    /// The round-trip time has just been measured.
    pub(super) fn measured_rtt(&mut self, now: Instant) {
        self.recent_rtt = self.recent_rtt.map(|(rtt, _)| (rtt, now));
    }

    /// `MarkConnectionAppLimited`: the data sent until now gives no rate sample.
    pub(super) fn hold(&mut self, in_flight: f64) {
        self.held_until = self.delivered + in_flight;
    }

    /// `ResetCongestionSignals`.
    pub(super) fn forget_signals(&mut self) {
        (self.loss_in_round, self.marks_in_round, self.ranges) = (false, false, 0);
        self.latest = (0.0, 0.0);
    }

    /// `ResetShortTermModel`.
    pub(super) fn forget_short(&mut self) {
        self.short = (f64::INFINITY, f64::INFINITY);
    }

    /// `ResetFullBW`, with this initial rate.
    pub(super) fn look_for_plateau(&mut self, rate: Option<f64>) {
        self.plateau = rate.map_or_else(Plateau::default, Plateau::from);
        self.full_now = false;
    }

    /// The pipe is full, by any criterion. From now on the filter for aggregated acknowledgements
    /// is longer.
    pub(super) fn fill(&mut self) {
        self.filled = true;
        self.bunches.remember(BUNCH_ROUNDS.1);
    }
}
