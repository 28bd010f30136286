//! The congestion window: that of the congestion control, or less during a slow start of the sender
//! itself; and how it changes while it is not used. All events reach the congestion control through
//! this module.

use super::ecn::Marks;
use super::gauges::State;
use super::ramp::Ramp;
use super::sequence::Outstanding;
use super::usage::Usage;
use super::validation::Unused;
use crate::config::SsthreshFrom;
use crate::control::{Departing, Event};
use crate::{Ack, Cause, Config, Control, Delivery, Feedback, Hint, Loss, Lost, RttEstimator};
use kernel::{BitRate, Duration, Instant, Segments};
use wire::Flags;

/// The congestion window of a connection, without the inflation of fast recovery.
#[derive(Debug)]
pub(super) struct CongestionWindow {
    control: Box<dyn Control>,
    wants_delivery: bool,
    reads_marks: bool,
    mss: u64,
    /// The initial window.
    initial: f64,
    /// The window in bytes.
    bytes: u64,
    ramp: Option<Ramp>,
    usage: Usage,
    unused: Unused,
    ssthresh_from: SsthreshFrom,
}

/// The information of an acknowledgement that delivers data, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Instant,
    /// Newly acknowledged cumulatively.
    pub(super) acked: u64,
    /// Newly delivered, cumulatively or selectively.
    pub(super) delivered: u64,
    /// Newly considered lost.
    pub(super) lost: u64,
    /// Data in flight after the acknowledgement.
    pub(super) in_flight: u64,
    /// The RTT sample, if the acknowledgement gave one.
    pub(super) rtt: Option<Duration>,
    /// The delay of the forward path, if the acknowledgement tells it.
    pub(super) forward_delay: Option<Duration>,
    pub(super) delivery: Option<Delivery>,
    /// When the next segment may leave at the pacing rate.
    pub(super) due: Instant,
    /// Whether the window of the congestion control and the sender's own slow start may grow on it,
    /// as far as recovery and marks allow. A window that was not used does not grow in any case.
    pub(super) may_grow: bool,
    pub(super) may_ramp: bool,
    /// The state after the acknowledgement, and the marks that it reports.
    pub(super) state: State,
    pub(super) marks: Marks,
}

/// A loss or a congestion mark, in bytes: [`Loss`] has the same fields in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    pub(super) now: Instant,
    pub(super) cause: Cause,
    pub(super) lost: u64,
    /// Data in flight, or outstanding (RFC 5681's `FlightSize`), before the acknowledgement or the
    /// timeout that shows the congestion.
    pub(super) flight: u64,
    pub(super) repeated: bool,
}

impl CongestionWindow {
    pub(super) fn new(config: &Config, control: Box<dyn Control>) -> Self {
        let mut window = Self {
            wants_delivery: control.wants().delivery,
            reads_marks: control.wants().marks,
            control,
            mss: config.mss().0,
            initial: config.initial_window().0.max(1.0),
            bytes: 0,
            ramp: None,
            usage: Usage::default(),
            unused: Unused::Kept,
            ssthresh_from: config.ssthresh_from(),
        };
        if !window.is_owned() {
            window.unused = Unused::new(config);
        }
        window.refresh();
        window
    }

    /// Data was acknowledged: informs the congestion control. Inlining it into its three callers
    /// saves 0.1 % of the instructions of a run.
    #[inline]
    pub(super) fn on_ack(&mut self, arrival: &Arrival, rtt: &RttEstimator) {
        let acked = self.in_segments(arrival.acked);
        let used = self.is_used();
        if let Some(ramp) = &mut self.ramp
            && used
            && arrival.may_ramp
        {
            ramp.on_ack(acked.0);
        }
        let delivered = self.in_segments(arrival.delivered);
        let marked = match arrival.marks {
            Marks::None => 0.0,
            Marks::All => delivered.0,
            Marks::Packets(packets) => delivered.0.min(packets as f64),
        };
        self.control.on_ack(&Ack {
            now: arrival.now,
            acked,
            delivered,
            lost: self.in_segments(arrival.lost),
            in_flight: self.in_segments(arrival.in_flight),
            rtt: arrival.rtt,
            srtt: rtt.srtt().unwrap_or_default(),
            rtt_min: rtt.least().unwrap_or_default(),
            delivery: arrival.delivery,
            due: arrival.due,
            may_grow: arrival.may_grow && used && self.ramp.is_none(),
            recovery: arrival.state == State::Recovery,
            after_timeout: arrival.state == State::Loss,
            forward_delay: arrival.forward_delay,
            ecn_echo: arrival.marks.any(),
            marked: Segments(marked),
        });
        self.refresh();
    }

    /// Reduces the window for a loss or for a mark. All reductions go through this function.
    ///
    /// What is outstanding exceeds the window if it contains data that has arrived, segments of
    /// limited transmit, or data of before a previous reduction. Computed from this excess, a
    /// reduction would increase the window. RFC 5681 §4.3: each loss lowers the window, that of a
    /// retransmission too.
    pub(super) fn reduce(&mut self, congestion: &Congestion) {
        let Congestion { now, cause, lost, .. } = *congestion;
        let (mut flight, repeated) = match self.ssthresh_from {
            SsthreshFrom::FlightSize => (congestion.flight.min(self.bytes), congestion.repeated),
            SsthreshFrom::Window => (self.bytes, congestion.repeated),
            SsthreshFrom::CongestionWindow if cause == Cause::Timeout => {
                (self.bytes - self.bytes % (2 * self.mss), false)
            }
            SsthreshFrom::CongestionWindow => (self.bytes, false),
        };
        if let Unused::Validated(validation) = &mut self.unused {
            flight = validation.on_loss(flight, self.bytes);
        }
        let (lost, in_flight) = (self.in_segments(lost), self.in_segments(flight));
        self.control.on_loss(&Loss { now, cause, lost, in_flight, repeated });
        self.refresh();
    }

    /// The losses are repaired, by `resent` bytes of retransmissions.
    pub(super) fn on_recovered(&mut self, now: Instant, resent: u64) {
        if let Unused::Validated(validation) = &mut self.unused
            && let Some(window) = validation.on_recovered(now, resent)
        {
            let window = (window as f64 / self.mss as f64).max(1.0);
            self.ramp = Some(Ramp { window, ssthresh: window });
        }
        self.refresh();
    }

    /// The last reduction was spurious: undoes it.
    pub(super) fn on_undo(&mut self) {
        self.control.on_event(Event::Undo);
        self.refresh();
    }

    /// RFC 4015 §3.1, step (9): after a spurious timeout the window rises by slow start to what it
    /// was, from the `flight` bytes in flight and the `acked` bytes that the acknowledgement
    /// covers, of which at most an initial window counts.
    pub(super) fn revalidate(&mut self, flight: u64, acked: u64) {
        if !self.is_owned() {
            let acked = self.in_segments(acked).0.min(self.initial);
            self.start_ramp(self.in_segments(flight).0 + acked, f64::INFINITY);
        }
    }

    /// Whether the window is used, so that it may grow.
    fn is_used(&self) -> bool {
        match &self.unused {
            Unused::Validated(validation) => {
                validation.is_validated(self.bytes) || self.usage.may_grow(self.bytes, || false)
            }
            Unused::Kept | Unused::Restarts => {
                self.usage.may_grow(self.bytes, || self.is_slow_start())
            }
        }
    }

    /// Whether the congestion control sets its window by itself in each state.
    pub(super) fn is_owned(&self) -> bool {
        self.control.wants().own_window
    }

    /// Whether the congestion control uses delivery rate samples.
    pub(super) fn wants_delivery(&self) -> bool {
        self.wants_delivery
    }

    /// Whether the congestion control answers marks by itself.
    pub(super) fn reads_marks(&self) -> bool {
        self.reads_marks
    }

    /// Whether marks keep the window from growing on an acknowledgement that reports them.
    pub(super) fn is_held_by(&self, marks: Marks) -> bool {
        marks.any() && !self.reads_marks
    }

    /// The ECN field of data, as the congestion control wants it.
    pub(super) fn ect(&self) -> Flags {
        self.control.wants().ect
    }

    /// Both ends have agreed on this feedback. Returns how long a burst of paced segments lasts.
    pub(super) fn on_connected(&mut self, feedback: Feedback) -> Duration {
        self.control.on_event(Event::Connected(feedback));
        let wants = self.control.wants();
        self.reads_marks = wants.marks;
        self.refresh();
        wants.burst
    }

    /// A segment is newly considered lost.
    pub(super) fn on_lost(&mut self, lost: &Lost) {
        self.control.on_event(Event::Lost(lost));
    }

    /// A data segment of this size leaves, with `flight` bytes in flight before it.
    pub(super) fn on_send(&mut self, now: Instant, size: u64, flight: u64, resent: bool) {
        let (size, in_flight) = (self.in_segments(size), self.in_segments(flight));
        let departing = Departing { now, size, in_flight, resent };
        self.control.on_event(Event::Departing(&departing));
    }

    /// The sender has sent all that the windows, the data and pacing allow, and `flight` bytes are
    /// in flight. `is_limited` if the window limits the sender although it has room. The
    /// end of what is outstanding delimits a round trip.
    pub(super) fn on_transmitted(&mut self, flight: u64, is_limited: bool, round: Outstanding) {
        self.usage.on_transmitted(flight, self.bytes, self.mss, is_limited, round);
    }

    /// When the congestion control is to be called, if it has a timer.
    pub(super) fn timer(&self) -> Option<Instant> {
        self.control.wants().timer
    }

    /// The timer of the congestion control has expired.
    pub(super) fn on_timer(&mut self, now: Instant) {
        self.control.on_event(Event::Timer(now));
        self.refresh();
    }

    pub(super) fn on_hint(&mut self, hint: Hint) {
        self.control.on_event(Event::Hint(&hint));
        self.refresh();
    }

    /// Data was acknowledged: records whether the window is used, if validation (RFC 7661) is on.
    pub(super) fn validate(&mut self, now: Instant, acked: u64, srtt: Duration, idle: bool) {
        if let Unused::Validated(validation) = &mut self.unused {
            validation.on_ack(now, acked, self.bytes, srtt);
            let periods = validation.periods(now, idle);
            self.decay(periods);
        }
    }

    /// Data is to be sent while nothing is outstanding, so that the ACK clock has stopped;
    /// `timed_out` tells whether more than a retransmission timeout has passed.
    pub(super) fn on_idle_end(&mut self, now: Instant, timed_out: impl FnOnce() -> bool) {
        match &mut self.unused {
            Unused::Kept => {}
            Unused::Restarts => {
                // RFC 5681 §4.1: the restart window is min(IW, cwnd).
                if timed_out() && self.initial < self.segments() {
                    let ssthresh = self.ssthresh().unwrap_or(f64::INFINITY);
                    self.start_ramp(self.initial, ssthresh);
                }
            }
            Unused::Validated(validation) => {
                let periods = validation.periods(now, true);
                self.decay(periods);
            }
        }
    }

    /// The window rises by slow start from here to that of the congestion control.
    pub(super) fn start_ramp(&mut self, window: f64, ssthresh: f64) {
        self.ramp = Some(Ramp { window: window.max(1.0), ssthresh });
        self.refresh();
    }

    /// Reads the window of the congestion control again. A window below one segment or NaN counts
    /// as one segment.
    pub(super) fn refresh(&mut self) {
        let mut window = self.control.window().0.max(1.0);
        match self.ramp {
            Some(ramp) if ramp.window < window => window = ramp.window,
            _ => self.ramp = None,
        }
        self.bytes = (window * self.mss as f64) as u64;
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn segments(&self) -> f64 {
        self.in_segments(self.bytes).0
    }

    pub(super) fn in_segments(&self, bytes: u64) -> Segments {
        Segments(bytes as f64 / self.mss as f64)
    }

    /// The slow start threshold in segments; `None` while it is arbitrarily high.
    pub(super) fn ssthresh(&self) -> Option<f64> {
        self.control.ssthresh()
    }

    pub(super) fn is_slow_start(&self) -> bool {
        self.segments() < self.ssthresh().unwrap_or(1e18)
    }

    /// The pacing rate of the congestion control, if it sets one.
    pub(super) fn pacing(&self) -> Option<BitRate> {
        self.control.wants().pacing
    }

    pub(super) fn control(&self) -> &dyn Control {
        &*self.control
    }

    /// RFC 7661 §4.4.3: each five minutes in which the window was not used halve it, at most to the
    /// initial window. Slow start then leads back to three quarters of it.
    fn decay(&mut self, periods: u64) {
        for _ in 0..periods {
            let window = self.segments();
            if window <= self.initial {
                return;
            }
            let ssthresh = self.ssthresh().unwrap_or(0.0);
            self.start_ramp(self.initial.max(window / 2.0), ssthresh.max(0.75 * window));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::NewReno;
    use crate::harness::{Driven, config, ms, segment};
    use kernel::Bytes;
    use wire::Flags;

    /// The initial window is four segments of 100 bytes; slow start ends at sixteen.
    fn sixteen(more: &Config) -> CongestionWindow {
        let mut window = CongestionWindow::new(more, Box::new(NewReno::from(more)));
        for flight in 4..16 {
            use_up(&mut window, 100 * flight);
        }
        assert_eq!((window.segments(), window.bytes()), (16.0, 1600));
        window
    }

    /// A segment is acknowledged.
    fn arrival() -> Arrival {
        Arrival {
            now: ms(0),
            acked: 100,
            delivered: 100,
            lost: 0,
            in_flight: 0,
            rtt: None,
            forward_delay: None,
            delivery: None,
            due: ms(0),
            may_grow: true,
            may_ramp: true,
            state: State::Open,
            marks: Marks::None,
        }
    }

    /// A segment is acknowledged after this much was in flight.
    fn use_up(window: &mut CongestionWindow, flight: u64) {
        window.on_transmitted(flight, false, Outstanding { una: 0, nxt: 0 });
        window.on_ack(&arrival(), &RttEstimator::new(&config()));
    }

    #[test]
    fn a_ramp_holds_the_window_below_the_controllers_until_it_has_caught_up() {
        let mut window = sixteen(&config());
        let rtt = RttEstimator::new(&config());
        window.start_ramp(2.0, f64::INFINITY);
        assert_eq!(window.bytes(), 200);
        use_up(&mut window, 100);
        assert_eq!(window.bytes(), 200, "not used");
        window.on_transmitted(200, false, Outstanding { una: 0, nxt: 0 });
        window.on_ack(&Arrival { may_ramp: false, ..arrival() }, &rtt);
        assert_eq!(window.bytes(), 200);
        for flight in 2..16 {
            use_up(&mut window, 100 * flight);
        }
        assert_eq!(window.segments(), 16.0);
        use_up(&mut window, 1600);
        assert_eq!(window.segments(), 17.0, "the controller's own growth");
    }

    #[test]
    fn five_unused_minutes_halve_the_window_down_to_the_initial_one() {
        let mut window = sixteen(&Config { validation: true, ..config() });
        window.validate(ms(1000), 100, Duration(0), true);
        window.on_idle_end(ms(302_000), || true);
        assert_eq!(window.segments(), 8.0);
        window.on_idle_end(ms(2_000_000), || true);
        assert_eq!(window.segments(), 4.0);
    }

    #[test]
    fn after_a_spurious_timeout_the_window_rises_from_what_is_in_flight() {
        let mut window = sixteen(&config());
        let (cause, lost, flight, repeated) = (Cause::Timeout, 1600, 1600, false);
        window.reduce(&Congestion { now: ms(0), cause, lost, flight, repeated });
        assert_eq!(window.segments(), 1.0);
        window.on_undo();
        // One segment is in flight, and the acknowledgement covers 15, of which an initial window
        // counts.
        window.revalidate(100, 1500);
        assert_eq!(window.segments(), 5.0);
        for flight in 5..16 {
            use_up(&mut window, 100 * flight);
        }
        assert_eq!(window.segments(), 16.0, "slow start leads back to the former window");
    }

    #[test]
    fn the_threshold_comes_from_what_is_in_flight_or_from_the_window() {
        let after = |ssthresh_from, losses: &[(Cause, bool)]| {
            let mut window = sixteen(&Config { ssthresh_from: Some(ssthresh_from), ..config() });
            for &(cause, repeated) in losses {
                let (now, lost, flight) = (ms(0), 100, 1000);
                window.reduce(&Congestion { now, cause, lost, flight, repeated });
            }
            (window.segments(), window.ssthresh())
        };
        let timeout = [(Cause::Timeout, false), (Cause::Timeout, true)];
        let fast = [(Cause::FastRetransmit, false)];
        // RFC 5681 §3.1: half of ten segments, which the second timeout keeps.
        assert_eq!(after(SsthreshFrom::FlightSize, &fast), (5.0, Some(5.0)));
        assert_eq!(after(SsthreshFrom::FlightSize, &timeout), (1.0, Some(5.0)));
        assert_eq!(after(SsthreshFrom::CongestionWindow, &fast), (8.0, Some(8.0)));
        assert_eq!(after(SsthreshFrom::CongestionWindow, &timeout[..1]), (1.0, Some(8.0)));
        assert_eq!(after(SsthreshFrom::CongestionWindow, &timeout), (1.0, Some(2.0)));
    }

    #[test]
    fn after_a_timeout_the_threshold_is_a_whole_number_of_segments_in_ns_2() {
        let ssthresh_from = Some(SsthreshFrom::CongestionWindow);
        let config = Config { ssthresh_from, ..config() };
        let mut window = CongestionWindow::new(&config, Box::new(NewReno::from(&config)));
        for flight in 4..7 {
            use_up(&mut window, 100 * flight);
        }
        let (cause, lost, flight, repeated) = (Cause::Timeout, 700, 700, false);
        window.reduce(&Congestion { now: ms(0), cause, lost, flight, repeated });
        assert_eq!(window.ssthresh(), Some(3.0), "half of seven is 3.5");
    }

    #[test]
    fn a_loss_in_an_unused_window_leaves_half_of_what_was_used() {
        // RFC 7661 §4.4.1: pipeACK 2, LossFlightSize 4, one segment retransmitted.
        let mut window = sixteen(&Config { validation: true, ..config() });
        window.validate(ms(900), 200, Duration(100_000_000), false);
        window.validate(ms(1000), 0, Duration(100_000_000), false);
        let (cause, lost, flight, repeated) = (Cause::FastRetransmit, 100, 400, false);
        window.reduce(&Congestion { now: ms(1050), cause, lost, flight, repeated });
        assert_eq!(window.segments(), 2.0);
        window.on_recovered(ms(1150), 100);
        assert_eq!(window.segments(), 1.5);
    }

    #[test]
    fn a_validated_window_grows_although_it_is_not_full() {
        // RFC 7661 §4.3: half of it is used.
        let mut window = sixteen(&Config { validation: true, ..config() });
        window.validate(ms(900), 800, Duration(100_000_000), false);
        window.validate(ms(1000), 0, Duration(100_000_000), false);
        use_up(&mut window, 800);
        assert_eq!(window.segments(), 17.0);
        window.validate(ms(2500), 400, Duration(100_000_000), false);
        use_up(&mut window, 800);
        assert_eq!(window.segments(), 17.0, "not in the non-validated phase");
    }

    #[test]
    fn only_an_idle_timeout_restarts_the_window() {
        let mut window = sixteen(&config());
        window.on_idle_end(ms(1000), || false);
        assert_eq!(window.segments(), 16.0);
        window.on_idle_end(ms(1000), || true);
        assert_eq!(window.segments(), 4.0);
        let mut kept = sixteen(&Config { restart_after_idle: false, ..config() });
        kept.on_idle_end(ms(1000), || true);
        assert_eq!(kept.segments(), 16.0);
    }

    #[test]
    fn the_receivers_window_limits_and_so_ends_growth() {
        let config = Config { window: Some(Bytes(650)), ..config() };
        let (mut tcp, _) = Driven::connected(&config, u64::MAX);
        let mut reply = segment(false, 1, 0, 1, Flags::ACK);
        reply.window = 650;
        for round in 1..50 {
            reply.ack += 100;
            tcp.segment(100 + 100 * round, &reply);
            assert!(tcp.sender.in_flight_bytes() <= 650);
        }
        assert_eq!(tcp.sender.in_flight_bytes(), 600, "full segments only");
        // Slow start may have twice what was in flight.
        assert_eq!(tcp.sender.window_segments(), 12.0, "once beyond what is used, it stays");
    }

    #[test]
    fn a_window_that_data_does_not_fill_does_not_grow() {
        let (mut tcp, _) = Driven::connected(&config(), 100);
        for round in 1..20 {
            tcp.ack(100 + 10 * round, 1 + 100 * round);
            tcp.write(100 + 10 * round, 100);
        }
        assert_eq!(tcp.sender.window_segments(), 4.0);
    }

    #[test]
    fn an_idle_time_restarts_from_the_initial_window() {
        let (mut tcp, _) = Driven::connected(&config(), 2800);
        let mut ack = 1;
        while ack < 2801 {
            ack += 100;
            tcp.ack(200, ack);
        }
        let window = tcp.sender.window_segments();
        assert!(window >= 16.0);
        let sent = |text: String| text.matches(':').count();
        // The timeout is 300 ms: at 500 ms it has not passed, at 900 ms it has.
        assert_eq!(sent(tcp.write(350, 100)), 1);
        tcp.ack(360, 2901);
        assert_eq!(sent(tcp.write(900, 10_000)), 4, "min(IW, cwnd)");
        assert_eq!(sent(tcp.ack(1000, 3001)), 2, "and slow start from there");
        assert_eq!(tcp.sender.window_segments(), 5.0);
        for ack in 31..80 {
            tcp.ack(1000, 100 * ack + 1);
        }
        assert!(tcp.sender.window_segments() > window, "the controller's window is back");
    }

    #[test]
    fn a_restart_is_no_gain_after_a_lost_syn() {
        let mut tcp = Driven::new(&config());
        tcp.open(0);
        tcp.timer(1000);
        tcp.timer(3000);
        tcp.syn_ack(3100);
        tcp.write(3200, 100);
        tcp.ack(3300, 101);
        assert_eq!(tcp.write(9000, 1000), "101:201, 201:301, rto@9300", "not the initial window");
    }

    #[test]
    fn a_restarted_window_grows_only_when_it_is_used() {
        let (mut tcp, _) = Driven::connected(&config(), 800);
        for ack in 2..=9 {
            tcp.ack(200, 100 * ack - 99);
        }
        assert!(tcp.sender.window_segments() > 6.0);
        for at in [2000, 2010, 2020] {
            tcp.write(at, 100);
            tcp.ack(at + 5, tcp.sender.acknowledged_bytes() + 101);
        }
        assert_eq!(tcp.sender.window_segments(), 4.0);
    }

    #[test]
    fn a_restart_slow_starts_only_up_to_the_threshold() {
        let config = Config { initial_ssthresh: Some(Segments(6.0)), ..config() };
        let (mut tcp, _) = Driven::connected(&config, 20_000);
        let mut ack = 1;
        while ack < 20_001 {
            ack += 100;
            tcp.ack(200, ack);
        }
        assert!(tcp.sender.window_segments() > 15.0);
        tcp.write(2000, 100_000);
        for _ in 0..2 {
            ack += 100;
            tcp.ack(2100, ack);
        }
        assert_eq!(tcp.sender.window_segments(), 6.0);
        ack += 600;
        tcp.ack(2200, ack);
        assert_eq!(tcp.sender.window_segments(), 7.0);
    }

    #[test]
    fn without_restart_an_idle_window_is_kept() {
        let config = Config { restart_after_idle: false, ..config() };
        let (mut tcp, _) = Driven::connected(&config, 800);
        for ack in 2..=9 {
            tcp.ack(200, 100 * ack - 99);
        }
        let window = tcp.sender.window_segments();
        assert!(window > 4.0);
        tcp.write(9000, 10_000);
        assert_eq!(tcp.sender.in_flight_bytes(), 100 * window as u64);
    }

    #[test]
    fn slow_start_doubles_the_window_each_round() {
        let (mut tcp, first) = Driven::connected(&config(), u64::MAX);
        assert_eq!(first, "rtt 100, connected, 1:101, 101:201, 201:301, 301:401, rto@400");
        let mut ack = 1;
        for round in 1..=4u32 {
            let segments = 4 << (round - 1);
            for _ in 0..segments {
                ack += 100;
                tcp.ack(100 + 100 * u64::from(round), ack);
            }
            assert_eq!(tcp.sender.window_segments(), f64::from(4 << round));
            assert_eq!(tcp.sender.in_flight_bytes(), 100 * (4 << round));
        }
        assert_eq!(tcp.sender.ssthresh_segments(), None);
    }
}
