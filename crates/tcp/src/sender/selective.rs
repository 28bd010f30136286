//! Recovery by selective acknowledgements: the scoreboard of RFC 6675, loss detection by count or
//! by time (RFC 8985), and the window by RFC 9937.

mod in_order;
mod sending;
mod timeouts;

use super::ecn::Marks;
use super::gauges::State;
use super::spurious::{Advice, FRto, Resent};
use super::tcb::Tcb;
use super::timer::Deadlines;
use super::window::{Arrival, Congestion, CongestionWindow};
use crate::delivery::{DeliveryMeter, Departure};
use crate::prr::{Progress, Prr};
use crate::rack::{Probed, Rack};
use crate::scoreboard::{Scoreboard, Visit};
use crate::sent::Sent;
use crate::{Cause, Command, Reduction, Sack};
use kernel::{Duration, Instant};
use wire::{SackBlock, Segment};

/// Loss recovery with selective acknowledgements.
#[derive(Debug)]
pub(super) struct Selective {
    settings: Sack,
    phase: Phase,
    /// One past the highest sequence number sent when the last loss was detected: RFC 6675's
    /// `RecoveryPoint`.
    recover: u64,
    /// Duplicate ACKs with new SACK information, since the last acknowledgement of new data.
    duplicates: u32,
    /// Bytes that were sent by limited transmit (RFC 3042).
    limited: u64,
    board: Scoreboard,
    rack: Rack,
    meter: DeliveryMeter,
    resent: Resent,
    deadlines: Deadlines,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// No loss is known.
    Open,
    Recovery(Recovery),
    /// Slow start after a timeout.
    Loss(FRto),
}

/// Fast recovery.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    prr: Prr,
    /// The data that may be in flight, as of the last acknowledgement.
    window: u64,
    /// The rescue retransmission was sent (RFC 6675, rule (4)).
    rescued: bool,
}

/// The information of an acknowledgement or of a timer.
#[derive(Clone, Copy, Debug, Default)]
struct AckInfo {
    /// Bytes newly acknowledged cumulatively, bytes newly acknowledged selectively, and the sum of
    /// both.
    acked: u64,
    sacked: u64,
    delivered: u64,
    /// Bytes newly considered lost.
    lost: u64,
    /// Bytes that were outstanding before the acknowledgement.
    outstanding: u64,
    /// Of the newly delivered segments, the record of the one that left last.
    newest: Option<Departure>,
    /// When the last of them left that was sent once.
    last: Option<Instant>,
    /// Whether a newly delivered segment had been sent only once, before `recover`.
    original: bool,
    /// Whether the acknowledgement is a duplicate ACK (RFC 5681 §2).
    duplicate: bool,
    /// The range that it reports as a duplicate (RFC 2883).
    reported: Option<SackBlock>,
    /// The delay of the forward path, if timestamps tell it.
    forward_delay: Option<Duration>,
    /// The RTT sample for the congestion control.
    rtt: Option<Duration>,
    /// The congestion marks that it reports.
    marks: Marks,
    /// Whether the window may grow.
    may_grow: bool,
}

impl Selective {
    pub(super) fn new(settings: Sack) -> Self {
        Self {
            settings,
            phase: Phase::Open,
            recover: 0,
            duplicates: 0,
            limited: 0,
            board: Scoreboard::default(),
            rack: Rack::default(),
            meter: DeliveryMeter::default(),
            resent: Resent::default(),
            deadlines: Deadlines::default(),
        }
    }

    /// Processes an acknowledgement, duplicate or not, with or without SACK blocks.
    pub(super) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        if self.is_in_order(tcb, segment) {
            self.on_ack_in_order(tcb, now, segment, out);
            return;
        }
        let flight = self.in_flight(tcb);
        let rtt = if segment.ack > tcb.snd.una {
            tcb.take_sample(now, segment, tcb.snd.outstanding(), out)
        } else {
            None
        };
        let mut info = self.read(tcb, now, segment);
        info.rtt = tcb.sample_for_control(now, rtt, info.last);
        if let Some(reported) = info.reported {
            self.on_duplicate_report(tcb, now, reported, info.acked);
        }
        let is_spurious = info.acked > 0 && self.is_spurious(tcb, segment, &info);
        if is_spurious {
            self.undo(tcb, now, info.acked);
        }
        let probed = if self.settings.rack {
            let plain = info.duplicate && segment.sack.is_empty();
            self.rack.on_probe_ack(tcb.snd.una, info.reported.map(|block| block.end), plain)
        } else {
            Probed::Nothing
        };
        info.lost = self.find_losses(tcb, now, &info);
        let before = self.state();
        let is_open = before == State::Open;
        info.marks = tcb.on_echo(now, segment, info.delivered, info.outstanding, is_open);
        let advice = self.advance(tcb, now, &info);
        let holds = advice == Advice::SendNew && self.send_two_new(tcb, now, out);
        let open = before == State::Open && self.state() == State::Open;
        if probed == Probed::Repaired && open {
            self.reduce(tcb, now, tcb.snd.mss, flight);
        }
        if info.delivered > 0 {
            // Data whose acknowledgement ends recovery was sent during recovery and does not
            // validate the window.
            let held = tcb.cwnd.is_held_by(info.marks);
            // In Linux it lets the window grow (`tcp_cong_control`).
            let counts = before != State::Recovery || tcb.config.linux().is_some();
            info.may_grow = !held && !is_spurious && counts;
            self.inform(tcb, now, &info);
        }
        self.follow(tcb, &info);
        if info.acked > 0 {
            self.deadlines.restart();
        }
        if holds {
            self.end_transmission(tcb, now, out);
        } else {
            self.transmit(tcb, now, out);
        }
    }

    /// The congestion state, as all kinds of recovery define it.
    pub(super) fn state(&self) -> State {
        match self.phase {
            Phase::Open => State::Open,
            Phase::Recovery(_) => State::Recovery,
            Phase::Loss(_) => State::Loss,
        }
    }

    pub(super) fn is_disordered(&self) -> bool {
        self.board.sacked() > 0 || self.duplicates > 0
    }

    /// RFC 6675's `pipe`.
    pub(super) fn in_flight(&self, tcb: &Tcb) -> u64 {
        pipe(&self.board, tcb)
    }

    /// Bytes that have arrived above a hole, and bytes considered lost.
    pub(super) fn sacked_and_lost(&self) -> (u64, u64) {
        (self.board.sacked(), self.board.lost())
    }

    pub(super) fn has_seen_reordering(&self) -> bool {
        self.rack.is_reordered()
    }

    // ---- information of an acknowledgement ----

    /// Marks the segments that have arrived, and returns what the acknowledgement newly reports.
    fn read(&mut self, tcb: &mut Tcb, now: Instant, segment: &Segment) -> AckInfo {
        let outstanding = tcb.snd.outstanding();
        let (echo, rtt_min) = (tcb.sampler.echoed(segment), tcb.rtt.least());
        let forward_delay = tcb.sampler.forward_delay(segment);
        let (reported, skip) = reported(segment);
        // The SACK blocks of an acknowledgement that others overtook are still true.
        let acked = segment.ack.saturating_sub(tcb.snd.una);
        let is_old = segment.ack < tcb.snd.una;
        let mut info =
            AckInfo { acked, outstanding, reported, forward_delay, ..AckInfo::default() };
        let (board, rack, recover) = (&mut self.board, &mut self.rack, self.recover);
        let (newest, original, last) = (&mut info.newest, &mut info.original, &mut info.last);
        let visit = &mut |sent: &Sent, record: Option<&Departure>| {
            if !sent.was_resent() {
                *last = Some(sent.at);
            }
            *original |= !sent.was_resent() && sent.end <= recover;
            if let Some(record) = record
                && newest.is_none_or(|newest| record.at >= newest.at)
            {
                *newest = Some(*record);
            }
            rack.on_delivered(now, echo, rtt_min, sent);
        };
        if info.acked > 0 {
            info.delivered = board.acknowledge(segment.ack, visit);
        }
        if !segment.sack.is_empty() {
            info.sacked = board.select(&segment.sack, skip, visit);
            info.delivered += info.sacked;
        }
        if is_old {
            return info;
        }
        tcb.snd.una = segment.ack;
        let same = segment.window == tcb.snd.wnd;
        info.duplicate = info.acked == 0 && outstanding > 0 && segment.seq_len() == 0 && same;
        tcb.counters.duplicate_acks += u64::from(info.duplicate);
        tcb.set_peer_window(segment.window);
        if info.duplicate && info.sacked > 0 {
            self.duplicates = self.duplicates.saturating_add(1);
        } else if info.acked > 0 {
            (self.duplicates, self.limited) = (0, 0);
        }
        info
    }

    /// Whether the timestamp of an acknowledgement of new data shows that the loss was spurious
    /// (RFC 3522). RFC 4015 §3.1, step (9): not if it echoes a congestion mark.
    fn is_spurious(&self, tcb: &mut Tcb, segment: &Segment, info: &AckInfo) -> bool {
        let is_complete = segment.ack == tcb.snd.max;
        let echo = tcb.sampler.echoed(segment);
        tcb.eifel.on_ack(echo, info.reported.is_some(), is_complete)
            && self.settings.undo
            && !tcb.ecn.is_echoed(segment)
    }

    /// The receiver reported a duplicate (RFC 2883).
    fn on_duplicate_report(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        reported: SackBlock,
        acked: u64,
    ) {
        tcb.counters.duplicates_reported += 1;
        tcb.eifel.reports_duplicates = true;
        if self.settings.rack {
            self.rack.on_duplicate(tcb.snd.una, tcb.snd.max);
        }
        if self.resent.on_duplicate(reported) && self.settings.undo {
            self.undo(tcb, now, acked);
        }
    }

    /// Detects losses by this information and by time, and tells the congestion control of each
    /// lost segment; returns the bytes newly considered lost.
    fn find_losses(&mut self, tcb: &mut Tcb, now: Instant, info: &AckInfo) -> u64 {
        self.deadlines.reorder = None;
        if self.board.is_plain() {
            return 0;
        }
        let open = matches!(self.phase, Phase::Open);
        let visit = &mut tell(&mut self.meter, &mut tcb.cwnd, now, info.delivered, tcb.snd.mss);
        if self.settings.rack {
            let least = tcb.rtt.least().unwrap_or_default();
            let srtt = tcb.rtt.srtt().unwrap_or_default();
            let window = self.rack.window(!open, self.board.sacked_segments(), least, srtt);
            let (lost, next) = self.board.find_by_time(now, &self.rack, window, visit);
            self.deadlines.reorder = match tcb.config.linux() {
                None => next,
                Some(linux) => {
                    next.map(|at| linux.expiry(now, at.since(now) + linux.least_timeout()))
                }
            };
            lost
        } else if info.sacked > 0 {
            let lost = self.board.find_by_count(tcb.snd.mss, visit);
            // RFC 6675 §5, step (2): three duplicate ACKs suffice, whatever the size of the
            // segments.
            let third = lost == 0 && open && self.duplicates >= 3;
            if third { self.board.lose_first(visit) } else { lost }
        } else {
            0
        }
    }

    /// Passes the acknowledgement to the congestion control.
    fn inform(&mut self, tcb: &mut Tcb, now: Instant, info: &AckInfo) {
        let AckInfo { acked, delivered, lost, ref newest, forward_delay, rtt, marks, .. } = *info;
        let state = self.state();
        tcb.validate(now, acked, state);
        let delivery = if tcb.cwnd.wants_delivery() {
            let least = tcb.rtt.least();
            self.meter.sample(now, delivered, newest.as_ref(), least, tcb.snd.mss)
        } else {
            None
        };
        let arrival = Arrival {
            now,
            acked,
            delivered,
            lost,
            in_flight: self.in_flight(tcb),
            rtt,
            forward_delay,
            delivery,
            due: tcb.pacer.due(),
            may_grow: info.may_grow && state != State::Recovery && acked > 0,
            may_ramp: acked > 0,
            state,
            marks,
        };
        tcb.cwnd.on_ack(&arrival, &tcb.rtt);
    }

    // ---- the phases ----

    /// Updates the phase after an acknowledgement.
    fn advance(&mut self, tcb: &mut Tcb, now: Instant, info: &AckInfo) -> Advice {
        if !matches!(self.phase, Phase::Open) && tcb.snd.una >= self.recover {
            self.phase = Phase::Open;
            self.rack.on_recovered();
            tcb.on_recovered(now);
        }
        match &mut self.phase {
            Phase::Open if info.lost > 0 => self.enter_recovery(tcb, now, info),
            Phase::Loss(f_rto) => {
                let advice = f_rto.on_ack(info.acked > 0, info.sacked > 0, info.original);
                if advice == Advice::Undo {
                    self.undo(tcb, now, info.acked);
                }
                return advice;
            }
            Phase::Open | Phase::Recovery(_) => {}
        }
        Advice::None
    }

    /// RFC 6675 §5, step (4): enters recovery.
    fn enter_recovery(&mut self, tcb: &mut Tcb, now: Instant, info: &AckInfo) {
        tcb.counters.fast_retransmits += 1;
        let is_owned = tcb.cwnd.is_owned();
        let rule = if is_owned { Reduction::AtOnce } else { self.settings.reduction };
        let prr = Prr::new(rule, tcb.snd.outstanding(), self.board.sacked(), info.delivered);
        // A mark in the same window of data has already reduced the window (RFC 3168 §6.1.2).
        if tcb.snd.una >= tcb.ecn.reduced() {
            let flight = info.outstanding.saturating_sub(self.limited);
            self.reduce(tcb, now, info.lost, flight);
        }
        self.recover = tcb.snd.max;
        tcb.sampler.forget();
        self.phase = Phase::Recovery(Recovery { prr, window: 0, rescued: false });
        self.resent.begin();
        self.rack.probe = None;
        self.board.begin();
        // As in recovery by cumulative acknowledgements, the retransmission gets a full timeout.
        self.deadlines.restart_timeout();
    }

    /// Reduces the window for a loss that acknowledgements indicate.
    fn reduce(&mut self, tcb: &mut Tcb, now: Instant, lost: u64, flight: u64) {
        let (cause, repeated) = (Cause::FastRetransmit, false);
        tcb.on_loss(&Congestion { now, cause, lost, flight, repeated });
        self.recover = tcb.snd.max;
    }

    /// Updates the window of recovery by the data delivered.
    fn follow(&mut self, tcb: &Tcb, info: &AckInfo) {
        let Phase::Recovery(Recovery { prr, window, .. }) = &mut self.phase else { return };
        if info.delivered == 0 && !prr.is_at_once() && !prr.is_fresh() {
            return;
        }
        let safe = info.acked > 0 && info.lost == 0;
        let (delivered, target) = (info.delivered, tcb.cwnd.bytes());
        let pipe = pipe(&self.board, tcb);
        *window = prr.on_ack(&Progress { delivered, safe, pipe, target }, tcb.snd.mss);
    }

    /// The last loss was spurious, as an acknowledgement of `acked` bytes shows.
    fn undo(&mut self, tcb: &mut Tcb, now: Instant, acked: u64) {
        self.board.restore();
        self.resent.end();
        self.phase = Phase::Open;
        self.recover = tcb.snd.una;
        tcb.undo(now, self.in_flight(tcb), acked);
    }
}

fn pipe(board: &Scoreboard, tcb: &Tcb) -> u64 {
    let outstanding = tcb.snd.nxt - tcb.snd.una;
    if board.is_plain() { outstanding } else { board.pipe(outstanding) }
}

/// Tells the congestion control of lost segments, if it wants their records. The acknowledgement
/// that shows the losses newly delivers `delivered` bytes.
fn tell(
    meter: &mut DeliveryMeter,
    cwnd: &mut CongestionWindow,
    now: Instant,
    delivered: u64,
    mss: u64,
) -> impl Visit {
    move |sent: &Sent, record: Option<&Departure>| {
        if let Some(record) = record {
            cwnd.on_lost(&meter.on_lost_segment(now, sent, record, delivered, mss));
        }
    }
}

/// The range that the first block reports as a duplicate, if it does (RFC 2883 §4), and how many
/// blocks are such reports.
fn reported(segment: &Segment) -> (Option<SackBlock>, usize) {
    let blocks = segment.sack.as_slice();
    let Some(first) = blocks.first() else { return (None, 0) };
    let below = first.end <= segment.ack;
    let inside =
        blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
    if below || inside { (Some(*first), 1) } else { (None, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Event, Wants};
    use crate::harness::ms;
    use crate::harness::{Driven, config, segment, show};
    use crate::{Config, Recovery};
    use kernel::Segments;
    use wire::{Flags, SackBlocks, Timestamps};

    /// Losses are detected by count, and the window falls at once.
    fn by_count() -> Sack {
        Sack { rack: false, reduction: Reduction::AtOnce, ..Sack::default() }
    }

    /// Ten segments in flight, the first of which is 1:101. The window does not grow before the
    /// first loss.
    fn ten(sack: Sack) -> Driven {
        let config = Config {
            initial_window: Some(Segments(10.0)),
            initial_ssthresh: Some(Segments(10.0)),
            recovery: Recovery::Sack(sack),
            ..config()
        };
        let (tcp, first) = Driven::connected(&config, u64::MAX);
        assert!(first.contains("901:1001"));
        tcp
    }

    fn select(tcp: &mut Driven, at: u64, ack: u64, blocks: &[(u64, u64)]) -> String {
        let mut sack = SackBlocks::NONE;
        for &(start, end) in blocks {
            sack.push(SackBlock { start, end });
        }
        tcp.segment(at, &Segment { sack, ..segment(false, 1, 0, ack, Flags::ACK) })
    }

    /// The first segment is considered lost, and is retransmitted.
    fn recovering() -> Driven {
        let mut tcp = ten(by_count());
        assert_eq!(select(&mut tcp, 200, 1, &[(101, 201)]), "1001:1101", "RFC 3042");
        assert_eq!(select(&mut tcp, 201, 1, &[(101, 301)]), "1101:1201");
        assert_eq!(select(&mut tcp, 202, 1, &[(101, 401)]), "1:101, rto@502");
        tcp
    }

    #[test]
    fn three_segments_beyond_a_hole_show_that_it_is_lost() {
        let mut tcp = recovering();
        assert_eq!((tcp.sender.state(), tcp.sender.window_segments()), (State::Recovery, 5.0));
        assert_eq!(tcp.sender.sacked_and_lost(), (300, 100));
        // Of twelve outstanding segments three have arrived, and one is lost and retransmitted:
        // nine are in flight.
        assert_eq!(tcp.sender.in_flight_bytes(), 900);
        assert_eq!(select(&mut tcp, 210, 1, &[(101, 801)]), "", "five are");
        assert_eq!(select(&mut tcp, 211, 1, &[(101, 901)]), "1201:1301");
        select(&mut tcp, 300, 1201, &[]);
        assert_eq!(tcp.sender.state(), State::Open, "what was sent before it is acknowledged");
    }

    #[test]
    fn a_reordering_window_that_has_passed_while_the_sender_stood_by_ends_now() {
        let config = Config {
            initial_window: Some(Segments(4.0)),
            recovery: Recovery::Sack(Sack::default()),
            route_failure: crate::RouteFailure::StandBy,
            ..config()
        };
        let (mut tcp, _) = Driven::connected(&config, 400);
        assert!(select(&mut tcp, 200, 1, &[(101, 201)]).ends_with("rto@225"), "a quarter RTT");
        let mut route = |at, exists| {
            tcp.sender.on_route(ms(at), exists, &mut tcp.out);
            show(&mut tcp.out)
        };
        assert_eq!(route(210, false), "rto@2210");
        assert_eq!(route(1000, true), "rto@1000", "no time before");
    }

    /// Tells of each lost segment.
    #[derive(Debug)]
    struct Told(std::sync::mpsc::Sender<crate::Lost>);

    impl crate::Control for Told {
        fn window(&self) -> Segments {
            Segments(10.0)
        }

        fn on_ack(&mut self, _: &crate::Ack) {}

        fn on_loss(&mut self, _: &crate::Loss) {}

        fn on_event(&mut self, event: Event<'_>) {
            if let Event::Lost(lost) = event {
                self.0.send(*lost).unwrap();
            }
        }

        fn wants(&self) -> Wants {
            Wants { delivery: true, ..Wants::default() }
        }
    }

    #[test]
    fn a_control_learns_the_state_in_which_each_lost_segment_left() {
        let (tell, told) = std::sync::mpsc::channel();
        let config = Config { recovery: Recovery::Sack(by_count()), ..config() };
        let mut tcp = Driven::with(&config, Box::new(Told(tell)));
        tcp.open(0);
        tcp.write(0, u64::MAX);
        assert!(tcp.syn_ack(100).contains("901:1001"), "ten leave");
        // The third and the fourth are lost. The SACK blocks reach to the ninth.
        select(&mut tcp, 200, 201, &[]);
        assert!(told.try_recv().is_err());
        select(&mut tcp, 210, 201, &[(401, 901)]);
        let losses: Vec<crate::Lost> = told.try_iter().collect();
        let shown = losses.iter().map(|l| (l.start, l.end, l.in_flight.0, l.prior.0, l.lost.0));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [(201, 301, 3.0, 0.0, 1.0), (301, 401, 4.0, 0.0, 2.0)],
        );
        assert!(losses.iter().all(|l| (l.now, l.size.0, l.total.0) == (ms(210), 1.0, 7.0)));
        // Both left again at 210 ms with three in flight; the timer counts them as lost again.
        tcp.timer(1000);
        let again: Vec<crate::Lost> = told.try_iter().filter(|lost| lost.end <= 401).collect();
        let shown = again.iter().map(|l| (l.start, l.in_flight.0, l.prior.0));
        assert_eq!(shown.collect::<Vec<_>>(), [(201, 4.0, 7.0), (301, 5.0, 7.0)]);
    }

    #[test]
    fn a_loss_is_taken_back_when_what_was_resent_is_reported_as_a_duplicate() {
        let mut tcp = recovering();
        select(&mut tcp, 220, 401, &[(1, 101)]);
        assert_eq!((tcp.sender.state(), tcp.sender.counters().undone), (State::Open, 1));
        assert_eq!(tcp.sender.window_segments(), 10.0);
    }

    #[test]
    fn a_timeout_is_taken_back_when_what_was_not_resent_is_acknowledged() {
        let mut tcp = ten(by_count());
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
        assert_eq!((tcp.sender.state(), tcp.sender.window_segments()), (State::Loss, 1.0));
        let new = "1001:1101, 1101:1201, rto@1050";
        assert_eq!(select(&mut tcp, 450, 101, &[]), new, "RFC 5682 §3.1, step (2b)");
        select(&mut tcp, 460, 201, &[]);
        assert_eq!((tcp.sender.state(), tcp.sender.counters().undone), (State::Open, 1));
        assert_eq!(tcp.sender.window_segments(), 10.0);
    }

    #[test]
    fn an_unanswered_tail_is_probed_before_the_timeout() {
        let config = Config { recovery: Recovery::Sack(Sack::default()), ..config() };
        let (mut tcp, first) = Driven::connected(&config, 200);
        assert_eq!(first, "rtt 100, connected, 1:101, 101:201, rto@300", "two round trips");
        assert_eq!(tcp.timer(300), "101:201, rto@600", "nothing new waits: the last again");
        let counters = tcp.sender.counters();
        assert_eq!((counters.probes, counters.timeouts), (1, 0));
        assert_eq!(tcp.sender.state(), State::Open);
        assert_eq!(tcp.timer(600), "1:101, rto@1200");
        assert_eq!(tcp.sender.counters().timeouts, 1);
    }

    #[test]
    fn an_acknowledgement_that_others_overtook_still_reports_what_has_arrived() {
        let mut tcp = ten(by_count());
        select(&mut tcp, 200, 301, &[]);
        assert_eq!(select(&mut tcp, 201, 201, &[]), "", "without SACK blocks it is old");
        assert_eq!(select(&mut tcp, 202, 201, &[(401, 701)]), "301:401, rto@452");
        assert_eq!(tcp.sender.sacked_and_lost(), (300, 100));
        assert_eq!(tcp.sender.acknowledged_bytes(), 300);
        assert_eq!(tcp.sender.counters().duplicate_acks, 0);
    }

    #[test]
    fn a_loss_is_answered_from_what_was_in_flight_before_the_acknowledgement() {
        let mut tcp = ten(by_count());
        // A stretch acknowledgement: five of ten have arrived, the sixth is lost.
        select(&mut tcp, 200, 501, &[(601, 1001)]);
        assert_eq!(tcp.sender.state(), State::Recovery);
        assert_eq!(tcp.sender.ssthresh_segments(), Some(5.0), "half of ten, not of five");
    }

    #[test]
    fn a_repeated_report_of_one_duplicate_undoes_nothing() {
        let mut tcp = recovering();
        // A second segment is lost too: two are retransmitted.
        select(&mut tcp, 220, 1, &[(101, 401), (501, 1201)]);
        let before = tcp.sender.counters().retransmissions;
        assert_eq!(before, 2);
        select(&mut tcp, 230, 401, &[(1, 101), (501, 1201)]);
        select(&mut tcp, 231, 401, &[(1, 101), (501, 1201)]);
        assert_eq!(tcp.sender.counters().undone, 0, "401:501 was really lost");
        select(&mut tcp, 232, 1201, &[(401, 501)]);
        assert_eq!(tcp.sender.counters().undone, 1);
    }

    /// Ten segments in flight, with timestamps; they left at 100 ms.
    fn ten_stamped() -> Driven {
        let config = Config {
            initial_window: Some(Segments(10.0)),
            initial_ssthresh: Some(Segments(10.0)),
            recovery: Recovery::Sack(by_count()),
            timestamps: true,
            ..config()
        };
        let mut tcp = Driven::new(&config);
        tcp.open(0);
        tcp.write(0, u64::MAX);
        let timestamps = Some(Timestamps { value: ms(50), echo: ms(0) });
        let syn = segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK));
        assert!(tcp.segment(100, &Segment { timestamps, ..syn }).contains("901:1001"));
        tcp
    }

    #[test]
    fn a_timestamp_shows_at_once_that_a_timeout_was_spurious() {
        let mut tcp = ten_stamped();
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
        assert_eq!(tcp.sender.window_segments(), 1.0);
        // RFC 4015 §3.1, step (9): seven in flight and three acknowledged.
        let sent = tcp.ack_echo(450, 301, 100);
        assert!(sent.starts_with("rtt 350, 1001:1101, 1101:1201, 1201:1301, rto@"), "{sent}");
        assert_eq!((tcp.sender.state(), tcp.sender.counters().undone), (State::Open, 1));
        assert_eq!(tcp.sender.window_segments(), 10.0);
        // Step (11): SRTT + 2G = 102 and RTTVAR = 50 before; the sample of 1001:1101 is 300.
        tcp.ack_echo(700, 1001, 100);
        tcp.ack_echo(750, 1101, 450);
        let ms = tcp.sender.rto().0 / 1_000_000;
        assert_eq!(ms, 300 + 4 * 150);
    }

    #[test]
    fn a_timestamp_shows_that_a_fast_retransmit_was_spurious() {
        let mut tcp = ten_stamped();
        for (at, end) in [(200, 201), (201, 301), (202, 401)] {
            select(&mut tcp, at, 1, &[(101, end)]);
        }
        assert_eq!((tcp.sender.state(), tcp.sender.window_segments()), (State::Recovery, 5.0));
        tcp.ack_echo(203, 401, 100);
        assert_eq!((tcp.sender.state(), tcp.sender.counters().undone), (State::Open, 1));
        assert_eq!(tcp.sender.window_segments(), 10.0, "the first segment was only late");
    }

    #[test]
    fn a_timeout_in_recovery_does_not_raise_the_threshold() {
        let mut tcp = recovering();
        select(&mut tcp, 210, 1, &[(101, 801)]);
        select(&mut tcp, 211, 1, &[(101, 1101)]);
        assert_eq!(tcp.sender.ssthresh_segments(), Some(5.0));
        tcp.timer(1000);
        // RFC 5681 §4.3: the loss of a retransmission lowers it again.
        assert_eq!(tcp.sender.ssthresh_segments(), Some(2.5));
    }

    #[test]
    fn a_probe_without_timestamps_gives_no_sample() {
        let config = Config { recovery: Recovery::Sack(Sack::default()), ..config() };
        let (mut tcp, _) = Driven::connected(&config, 200);
        tcp.timer(300);
        // Karn's algorithm: both copies of 101:201 may have caused the acknowledgement.
        assert!(!tcp.ack(350, 201).contains("rtt "));
    }
}
