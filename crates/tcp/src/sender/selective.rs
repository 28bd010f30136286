//! Recovery by selective acknowledgements: the scoreboard of RFC 6675, loss detection by count or
//! by time (RFC 8985), and the window by RFC 9937.

mod sending;
mod timeouts;

use super::gauges::State;
use super::spurious::{Advice, FRto, Resent};
use super::tcb::Tcb;
use super::timer::Deadlines;
use super::window::{Arrival, Congestion};
use crate::delivery::{DeliveryMeter, Departure};
use crate::prr::{Progress, Prr};
use crate::rack::{Probed, Rack};
use crate::scoreboard::{Scoreboard, Sent};
use crate::{Cause, Command, Reduction, Sack};
use kernel::{Duration, Instant};
use wire::Segment;

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
    /// Of the newly delivered segments, the record of the one that left last.
    newest: Option<Departure>,
    /// Whether a newly delivered segment had been sent only once, before `recover`.
    original: bool,
    /// Whether the acknowledgement is a duplicate ACK (RFC 5681 §2).
    duplicate: bool,
    /// The end of the range that it reports as a duplicate (RFC 2883).
    reported: Option<u64>,
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
            resent: Resent::Uncounted,
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
        if segment.ack < tcb.snd.una {
            return;
        }
        let flight = self.in_flight(tcb);
        let rtt = if segment.ack > tcb.snd.una {
            tcb.take_sample(now, segment, tcb.snd.outstanding(), out)
        } else {
            None
        };
        let mut info = self.read(tcb, now, segment);
        if info.reported.is_some() {
            self.on_duplicate_report(tcb);
        }
        let probed = if self.settings.rack {
            let plain = info.duplicate && segment.sack.is_empty();
            self.rack.on_probe_ack(tcb.snd.una, info.reported, plain)
        } else {
            Probed::Nothing
        };
        info.lost = self.find_losses(tcb, now, info.sacked > 0);
        let before = self.state();
        let echo = tcb.on_echo(now, segment, before == State::Open);
        let advice = self.advance(tcb, now, &info);
        let holds = advice == Advice::SendNew && self.send_two_new(tcb, now, out);
        let open = before == State::Open && self.state() == State::Open;
        if probed == Probed::Repaired && open {
            self.reduce(tcb, now, tcb.snd.mss, flight);
        }
        if info.delivered > 0 {
            // Data whose acknowledgement ends recovery was sent during recovery and does not
            // validate the window.
            let may_grow = !echo && before != State::Recovery;
            self.inform(tcb, now, &info, flight, (rtt, echo, may_grow));
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
        let (reported, skip) = reported(segment);
        let mut info = AckInfo { acked: segment.ack - tcb.snd.una, reported, ..AckInfo::default() };
        let (board, rack, recover) = (&mut self.board, &mut self.rack, self.recover);
        let (newest, original) = (&mut info.newest, &mut info.original);
        let visit = &mut |sent: &Sent| {
            *original |= !sent.was_resent() && sent.end <= recover;
            if newest.is_none_or(|newest| sent.at() >= newest.at) {
                *newest = Some(sent.departure);
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

    /// The receiver reported a duplicate (RFC 2883).
    fn on_duplicate_report(&mut self, tcb: &mut Tcb) {
        tcb.counters.duplicates_reported += 1;
        if self.settings.rack {
            self.rack.on_duplicate(tcb.snd.una, tcb.snd.max);
        }
        if self.resent.on_duplicate() && self.settings.undo {
            self.undo(tcb);
        }
    }

    /// Detects losses; returns the bytes newly considered lost.
    fn find_losses(&mut self, tcb: &Tcb, now: Instant, sacked: bool) -> u64 {
        self.deadlines.reorder = None;
        if self.board.is_plain() {
            return 0;
        }
        let open = matches!(self.phase, Phase::Open);
        if self.settings.rack {
            let least = tcb.rtt.least().unwrap_or_default();
            let srtt = tcb.rtt.srtt().unwrap_or_default();
            let window = self.rack.window(!open, self.board.sacked_segments(), least, srtt);
            let (lost, next) = self.board.find_by_time(now, &self.rack, window);
            self.deadlines.reorder = next;
            lost
        } else if sacked {
            let lost = self.board.find_by_count(tcb.snd.mss);
            // RFC 6675 §5, step (2): three duplicate ACKs suffice, whatever the size of the
            // segments.
            let third = lost == 0 && open && self.duplicates >= 3;
            if third { self.board.lose_first() } else { lost }
        } else {
            0
        }
    }

    /// Passes the acknowledgement to the congestion control.
    fn inform(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        info: &AckInfo,
        flight: u64,
        (rtt, echo, may_grow): (Option<Duration>, bool, bool),
    ) {
        let AckInfo { acked, delivered, lost, ref newest, .. } = *info;
        tcb.validate(now, acked);
        self.meter.on_lost(lost);
        let least = tcb.rtt.least();
        let delivery = self.meter.sample(now, delivered, newest.as_ref(), least, tcb.snd.mss);
        let recovery = self.state() == State::Recovery;
        let arrival = Arrival {
            now,
            acked,
            delivered,
            lost,
            flight,
            in_flight: self.in_flight(tcb),
            rtt,
            delivery,
            may_grow: may_grow && !recovery && acked > 0,
            may_ramp: acked > 0,
            recovery,
            echo,
        };
        tcb.cwnd.on_ack(&arrival, &tcb.rtt);
    }

    // ---- the phases ----

    /// Updates the phase after an acknowledgement.
    fn advance(&mut self, tcb: &mut Tcb, now: Instant, info: &AckInfo) -> Advice {
        if !matches!(self.phase, Phase::Open) && tcb.snd.una >= self.recover {
            self.phase = Phase::Open;
            self.rack.on_recovered();
            tcb.cwnd.refresh();
        }
        match &mut self.phase {
            Phase::Open if info.lost > 0 => self.enter_recovery(tcb, now, info),
            Phase::Loss(f_rto) => {
                let advice = f_rto.on_ack(info.acked > 0, info.sacked > 0, info.original);
                if advice == Advice::Undo {
                    self.undo(tcb);
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
        let outstanding = tcb.snd.outstanding();
        let rule = self.settings.reduction;
        let prr = Prr::new(rule, outstanding, self.board.sacked(), info.delivered);
        // A mark in the same window of data has already reduced the window (RFC 3168 §6.1.2).
        if tcb.snd.una >= tcb.ecn.reduced() {
            // Outstanding data includes what the previous recovery retransmitted, and also what has
            // been SACKed. With the window set from this sum, a loss would increase the window.
            let flight = outstanding.saturating_sub(self.limited).min(tcb.cwnd.bytes());
            self.reduce(tcb, now, info.lost, flight);
        }
        self.recover = tcb.snd.max;
        tcb.sampler.forget();
        self.phase = Phase::Recovery(Recovery { prr, window: 0, rescued: false });
        self.resent = Resent::Segments(0);
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
        let at_once = self.settings.reduction == Reduction::AtOnce;
        if info.delivered == 0 && !at_once && !prr.is_fresh() {
            return;
        }
        let safe = info.acked > 0 && info.lost == 0;
        let (delivered, target) = (info.delivered, tcb.cwnd.bytes());
        let pipe = pipe(&self.board, tcb);
        *window = prr.on_ack(&Progress { delivered, safe, pipe, target }, tcb.snd.mss);
    }

    /// The last loss was spurious, by F-RTO or by reported duplicates.
    fn undo(&mut self, tcb: &mut Tcb) {
        self.board.restore();
        self.resent = Resent::Uncounted;
        self.phase = Phase::Open;
        self.recover = tcb.snd.una;
        tcb.undo();
    }
}

fn pipe(board: &Scoreboard, tcb: &Tcb) -> u64 {
    let outstanding = tcb.snd.nxt - tcb.snd.una;
    if board.is_plain() { outstanding } else { board.pipe(outstanding) }
}

/// The end of the range that the first block reports as a duplicate, if it does (RFC 2883 §4), and
/// how many blocks are such reports.
fn reported(segment: &Segment) -> (Option<u64>, usize) {
    let blocks = segment.sack.as_slice();
    let Some(first) = blocks.first() else { return (None, 0) };
    let below = first.end <= segment.ack;
    let inside =
        blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
    if below || inside { (Some(first.end), 1) } else { (None, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Driven, config, segment};
    use crate::{Config, Recovery};
    use kernel::Segments;
    use wire::{Flags, SackBlock, SackBlocks};

    /// Losses are detected by count, and the window falls at once.
    fn by_count() -> Sack {
        Sack { rack: false, reduction: Reduction::AtOnce, ..Sack::default() }
    }

    /// Ten segments in flight, the first of which is 1:101. The window does not grow before the
    /// first loss.
    fn ten(sack: Sack) -> Driven {
        let config = Config {
            initial_window: Segments(10.0),
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
    fn an_old_acknowledgement_says_nothing() {
        let mut tcp = ten(by_count());
        select(&mut tcp, 200, 301, &[]);
        assert_eq!(select(&mut tcp, 201, 201, &[(401, 701)]), "");
        assert_eq!(tcp.sender.sacked_and_lost(), (0, 0));
    }
}
