//! Recovery by selective acknowledgements: the scoreboard of RFC 6675, losses by count or by time
//! (RFC 8985), the window by RFC 9937.

use super::{Expiry, Sender, State};
use crate::delivery::Departure;
use crate::prr::{Progress, Prr};
use crate::rack::{Probed, Rack};
use crate::scoreboard::Sent;
use crate::{Ack, Cause, Command, Reduction, Sack, TimerId};
use kernel::{Duration, Instant, Segments};
use wire::Segment;

/// What an acknowledgement tells of the segments that were sent.
struct Tally {
    now: Instant,
    /// The timestamp it echoes.
    echo: Option<Instant>,
    rtt_min: Option<Duration>,
    /// Of what newly arrived: that which left last.
    newest: Option<Departure>,
    /// Whether something newly arrived that had been sent once only, before `recover`.
    original: bool,
    recover: u64,
}

impl Tally {
    fn take(&mut self, rack: &mut Rack, sent: &Sent) {
        self.original |= !sent.was_resent() && sent.end <= self.recover;
        if self.newest.is_none_or(|newest| sent.at() >= newest.at) {
            self.newest = Some(sent.departure);
        }
        rack.on_delivered(self.now, self.echo, self.rtt_min, sent);
    }
}

/// What is to be done with an acknowledgement.
struct News {
    acked: u64,
    delivered: u64,
    sacked: u64,
    lost: u64,
    original: bool,
}

/// Where the detection of needless timeouts stands (RFC 5682 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FRto {
    Off,
    /// Step 2: no acknowledgement has arrived since the timeout.
    First,
    /// Step 3: new data was sent on the first.
    Second,
}

impl Sender {
    /// An acknowledgement, duplicate or not, with or without blocks.
    pub(super) fn on_selective_ack(
        &mut self,
        now: Instant,
        sack: Sack,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let flight = self.in_flight_bytes();
        let outstanding = self.max - self.una;
        let acked = segment.ack - self.una;
        let rtt = if acked > 0 { self.take_sample(now, segment, outstanding) } else { None };
        if let Some(rtt) = rtt {
            out.push(Command::Rtt(rtt));
        }
        let mut tally = Tally {
            now,
            echo: segment.timestamps.filter(|_| self.timestamps).map(|t| t.echo),
            rtt_min: self.rtt.least(),
            newest: None,
            original: false,
            recover: self.recover,
        };
        let (duplicate, skip) = duplicate(segment);
        let (board, rack) = (&mut self.board, &mut self.rack);
        let visit = &mut |sent: &Sent| tally.take(rack, sent);
        let mut delivered = if acked > 0 { board.acknowledge(segment.ack, visit) } else { 0 };
        let mut sacked = 0;
        if !segment.sack.is_empty() {
            sacked = board.select(&segment.sack, skip, visit);
            delivered += sacked;
        }
        self.una = segment.ack;
        let plain = acked == 0 && outstanding > 0 && segment.seq_len() == 0;
        let plain = plain && segment.window == self.peer_window;
        self.counters.duplicate_acks += u64::from(plain);
        self.set_peer_window(segment.window);
        if plain && sacked > 0 {
            self.duplicates = self.duplicates.saturating_add(1);
        } else if acked > 0 {
            (self.duplicates, self.limited) = (0, 0);
        }
        if duplicate.is_some() {
            self.on_duplicate_report(sack);
        }
        let probed = if sack.rack {
            self.rack.on_probe_ack(self.una, duplicate, plain && segment.sack.is_empty())
        } else {
            Probed::Nothing
        };
        let lost = self.find_losses(now, sack, sacked > 0);
        let news = News { acked, delivered, sacked, lost, original: tally.original };
        let echo = self.on_echo(now, segment);
        let before = self.state;
        self.advance(now, sack, &news, out);
        if probed == Probed::Repaired && before == State::Open && self.state == State::Open {
            self.on_loss(now, Cause::FastRetransmit, Segments(1.0), flight, false);
        }
        if delivered > 0 {
            let newest = tally.newest;
            // What ends recovery was sent during it, and tests no window.
            let held = echo || before == State::Recovery;
            self.inform(now, &news, newest.as_ref(), flight, (rtt, echo, held));
        }
        self.follow(sack, &news);
        if acked > 0 {
            self.deadline = None;
            self.probe_at = None;
        }
        self.transmit(now, out);
        if self.una >= self.end {
            self.report_end(out);
        }
    }

    /// Tells the controller.
    fn inform(
        &mut self,
        now: Instant,
        news: &News,
        newest: Option<&Departure>,
        flight: u64,
        (rtt, echo, held): (Option<Duration>, bool, bool),
    ) {
        let mss = self.mss;
        let rtt_min = self.rtt.least();
        self.validate(now, news.acked);
        self.meter.on_lost(news.lost);
        let delivery = self.meter.sample(now, news.delivered, newest, rtt_min, mss);
        let used = flight + mss;
        let acked = self.segments(news.acked);
        if let Some(ramp) = &mut self.ramp
            && used > self.window
            && news.acked > 0
        {
            ramp.on_ack(acked.0);
        }
        let recovery = self.state == State::Recovery;
        let held = held || recovery || news.acked == 0 || used <= self.window;
        self.control.on_ack(&Ack {
            now,
            acked,
            delivered: self.segments(news.delivered),
            lost: self.segments(news.lost),
            in_flight: self.segments(self.in_flight_bytes()),
            rtt,
            srtt: self.rtt.srtt().unwrap_or_default(),
            rtt_min: rtt_min.unwrap_or_default(),
            delivery,
            may_grow: !held && self.ramp.is_none(),
            recovery,
            ecn_echo: echo,
            marked: self.segments(if echo { news.delivered } else { 0 }),
        });
        self.refresh_window();
    }

    /// Which segments are lost; returns the bytes that newly are.
    fn find_losses(&mut self, now: Instant, sack: Sack, news: bool) -> u64 {
        self.reorder_at = None;
        if self.board.is_plain() {
            return 0;
        }
        if sack.rack {
            let recovering = self.state != State::Open;
            let least = self.rtt.least().unwrap_or_default();
            let srtt = self.rtt.srtt().unwrap_or_default();
            let segments = self.board.sacked_segments();
            let window = self.rack.window(recovering, segments, least, srtt);
            let (lost, next) = self.board.find_by_time(now, &self.rack, window);
            self.reorder_at = next;
            lost
        } else if news {
            let lost = self.board.find_by_count(self.mss);
            // RFC 6675 §5, step (2): three duplicates do, however small they are.
            let third = lost == 0 && self.state == State::Open && self.duplicates >= 3;
            if third { self.board.lose_first() } else { lost }
        } else {
            0
        }
    }

    /// The state after an acknowledgement.
    fn advance(&mut self, now: Instant, sack: Sack, news: &News, out: &mut Vec<Command>) {
        if self.state != State::Open && self.una >= self.recover {
            self.state = State::Open;
            self.f_rto = FRto::Off;
            self.rack.on_recovered();
            self.refresh_window();
        }
        match self.state {
            State::Open if news.lost > 0 => self.recover_selectively(now, sack, news),
            State::Loss => self.detect_needless(now, news, out),
            State::Open | State::Recovery => {}
        }
    }

    /// RFC 6675 §5, step (4): recovery begins.
    fn recover_selectively(&mut self, now: Instant, sack: Sack, news: &News) {
        self.counters.fast_retransmits += 1;
        let outstanding = self.max - self.una;
        self.prr = Prr::new(sack.reduction, outstanding, self.board.sacked(), news.delivered);
        // A mark in the same window of data has reduced it already (RFC 3168 §6.1.2).
        if self.una >= self.cwr_until {
            // What a recovery just before this one has sent is outstanding beside what its reports
            // have acknowledged: by that sum a window would grow at a loss.
            let in_flight = outstanding.saturating_sub(self.limited).min(self.window);
            let lost = self.segments(news.lost);
            self.on_loss(now, Cause::FastRetransmit, lost, in_flight, false);
        }
        self.recover = self.max;
        self.timed = None;
        self.state = State::Recovery;
        self.resent = Some(0);
        self.rescued = false;
        self.rack.probe = None;
        self.board.begin();
        // As in the recovery without blocks, the retransmission gets a whole timeout.
        self.deadline = None;
    }

    /// The window of recovery follows what is delivered.
    fn follow(&mut self, sack: Sack, news: &News) {
        if self.state != State::Recovery {
            return;
        }
        let pipe = self.in_flight_bytes();
        let target = self.window;
        let fresh = self.prr.is_fresh();
        if news.delivered == 0 && sack.reduction != Reduction::AtOnce && !fresh {
            return;
        }
        let safe = news.acked > 0 && news.lost == 0;
        let progress = Progress { delivered: news.delivered, safe, pipe, target };
        self.inflated = self.prr.on_ack(&progress, self.mss);
    }

    /// RFC 5682 §3.1: was the timeout needless?
    fn detect_needless(&mut self, now: Instant, news: &News, out: &mut Vec<Command>) {
        match self.f_rto {
            FRto::Off => {}
            FRto::First if news.acked > 0 => {
                // Step (2b): two new segments, and nothing is resent.
                self.f_rto = FRto::Off;
                for _ in 0..2 {
                    if let Some((len, fin)) = self.cut(0, u64::MAX) {
                        self.send_fresh(now, len, fin, out);
                        self.f_rto = FRto::Second;
                    }
                }
                self.holding = self.f_rto == FRto::Second;
            }
            FRto::Second if news.original => {
                // Step (3b).
                self.f_rto = FRto::Off;
                self.undo();
            }
            FRto::First | FRto::Second => {
                if news.acked + news.sacked > 0 {
                    self.f_rto = FRto::Off;
                }
            }
        }
    }

    /// A duplicate was reported (RFC 2883).
    fn on_duplicate_report(&mut self, sack: Sack) {
        self.counters.duplicates_reported += 1;
        if sack.rack {
            self.rack.on_duplicate(self.una, self.max);
        }
        let Some(left) = self.resent.as_mut().filter(|left| **left > 0) else { return };
        *left -= 1;
        // RFC 3708 §2: all that was resent had been there.
        if *left == 0 && sack.undo {
            self.resent = None;
            self.undo();
        }
    }

    /// The last loss was none.
    fn undo(&mut self) {
        self.counters.undone += 1;
        self.board.restore();
        self.resent = None;
        self.state = State::Open;
        self.recover = self.una;
        self.rtt.end_back_off();
        self.control.on_undo();
        self.refresh_window();
    }

    // ---- sending ----

    pub(super) fn transmit_selectively(
        &mut self,
        now: Instant,
        sack: Sack,
        out: &mut Vec<Command>,
    ) {
        let window = if self.state == State::Recovery { self.inflated } else { self.window };
        let holding = std::mem::take(&mut self.holding);
        let max = self.max;
        while !holding && self.send_next(now, sack, window, out) {}
        if self.max > max {
            self.probe_at = None;
        }
        let idle = self.nxt >= self.end && self.board.lost() <= self.board.resent();
        let flight = self.in_flight_bytes();
        if idle && flight < window {
            self.meter.on_idle(flight);
        }
        self.set_timer(now, out);
    }

    /// RFC 6675 `NextSeg`: sends one segment, if one may leave now.
    fn send_next(&mut self, now: Instant, sack: Sack, window: u64, out: &mut Vec<Command>) -> bool {
        let pipe = self.in_flight_bytes();
        if let Some(number) = self.board.next_lost() {
            let sent = self.board.get(number);
            let fits = pipe == 0 || pipe + (sent.end - sent.start) <= window;
            let leaves = fits && self.may_leave(now, out);
            if leaves {
                self.resend(now, number, false, out);
            }
            return leaves;
        }
        // Without limited transmit, what has arrived beyond a hole makes no room.
        let limited = self.config.limited_transmit || self.state != State::Open;
        let flight = if limited { pipe } else { self.max - self.una };
        if let Some((len, fin)) = self.cut(flight, window) {
            let leaves = self.may_leave(now, out);
            if leaves {
                self.send_fresh(now, len, fin, out);
            }
            return leaves;
        }
        self.state == State::Recovery && !sack.rack && self.repair(now, window, out)
    }

    /// RFC 6675 `NextSeg` rules (3) and (4).
    fn repair(&mut self, now: Instant, window: u64, out: &mut Vec<Command>) -> bool {
        if self.in_flight_bytes() + self.mss > window {
            return false;
        }
        if let Some(number) = self.board.next_doubtful() {
            self.resend(now, number, false, out);
            return true;
        }
        if let Some(number) = self.board.last_missing().filter(|_| !self.rescued) {
            self.rescued = true;
            self.resend(now, number, true, out);
            return true;
        }
        false
    }

    fn resend(&mut self, now: Instant, number: u64, rescue: bool, out: &mut Vec<Command>) {
        let sent = self.board.get(number);
        let pipe = self.in_flight_bytes();
        let data = sent.end.min(self.end) - sent.start.min(self.end);
        let departure = self.meter.on_send(now, pipe, data);
        self.board.resend(number, departure, rescue);
        if let Some(resent) = &mut self.resent {
            *resent += 1;
        }
        if self.state == State::Recovery {
            self.prr.on_send(data);
        }
        self.put(now, sent.start, data, sent.end > self.end, false, out);
    }

    /// New data, or the FIN alone.
    fn send_fresh(&mut self, now: Instant, len: u64, fin: bool, out: &mut Vec<Command>) {
        let start = self.nxt;
        let end = start + len + u64::from(fin);
        let pipe = self.in_flight_bytes();
        let departure = self.meter.on_send(now, pipe, len);
        self.board.push(start, end, departure);
        if self.state == State::Recovery {
            self.prr.on_send(len);
        } else if self.board.sacked() > 0 && self.max - self.una + len > self.window {
            self.limited += len;
        }
        if !self.timestamps && self.timed.is_none() && self.state == State::Open {
            self.timed = Some((end, now));
        }
        (self.nxt, self.max) = (end, end);
        self.put(now, start, len, fin, true, out);
    }

    // ---- the timer ----

    /// The timer is set for what comes first of what it serves.
    pub(super) fn set_timer(&mut self, now: Instant, out: &mut Vec<Command>) {
        let outstanding = self.una < self.max;
        if !outstanding {
            self.probe_at = None;
            self.deadline = None;
            self.set_persist(now, out);
            return;
        }
        let deadline = match self.deadline.filter(|&at| at > now) {
            Some(deadline) => deadline,
            None => now + self.rtt.rto(),
        };
        self.deadline = Some(deadline);
        let wanted = if let Some(at) = self.reorder_at {
            (Expiry::Reorder, at.min(deadline))
        } else if self.may_probe() {
            let at = self.probe_at.filter(|&at| at > now).unwrap_or_else(|| {
                let alone = self.board.segments() == 1;
                now + Rack::probe_delay(self.rtt.srtt(), alone)
            });
            self.probe_at = Some(at);
            (Expiry::Probe, at.min(deadline))
        } else {
            (Expiry::Resend, deadline)
        };
        self.set(wanted, out);
    }

    /// Sets the timer, unless it runs until then anyway.
    pub(super) fn set(&mut self, wanted: (Expiry, Instant), out: &mut Vec<Command>) {
        if self.running.is_none_or(|(_, at)| at != wanted.1) {
            out.push(Command::Set(TimerId::Retransmit, wanted.1));
        }
        self.armed = true;
        self.running = Some(wanted);
    }

    /// RFC 8985 §7.2: the tail is probed outside recovery, while no hole is known.
    fn may_probe(&self) -> bool {
        let rack = self.config.sack().is_some_and(|sack| sack.rack);
        rack && self.state == State::Open
            && self.rack.probe.is_none()
            && self.board.sacked() == 0
            && self.rtt.srtt().is_some()
    }

    /// RFC 8985 §7.3: a new segment, or the last again.
    pub(super) fn on_probe(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.counters.probes += 1;
        let (fresh, start) = (self.cut(0, u64::MAX), self.max);
        if let Some((len, fin)) = fresh {
            self.send_fresh(now, len, fin, out);
        } else if let Some(number) = self.board.last_missing() {
            self.resend(now, number, false, out);
        }
        self.rack.probe = Some((self.max, self.max == start));
        self.probe_at = None;
        self.deadline = None;
        self.set_timer(now, out);
    }

    /// The reordering window is over for some segments (RFC 8985 §6.3).
    pub(super) fn on_reorder(&mut self, now: Instant, sack: Sack, out: &mut Vec<Command>) {
        let lost = self.find_losses(now, sack, false);
        let news = News { acked: 0, delivered: 0, sacked: 0, lost, original: false };
        if lost > 0 {
            self.meter.on_lost(lost);
        }
        if self.state == State::Open && lost > 0 {
            self.recover_selectively(now, sack, &news);
            let progress = Progress {
                delivered: 0,
                safe: false,
                pipe: self.in_flight_bytes(),
                target: self.window,
            };
            self.inflated = self.prr.on_ack(&progress, self.mss);
        }
        self.transmit(now, out);
    }

    /// RFC 6298 (5.4) to (5.6), RFC 6675 §5.1: all that has not arrived is lost, and resent by slow
    /// start.
    pub(super) fn on_selective_timeout(
        &mut self,
        now: Instant,
        sack: Sack,
        out: &mut Vec<Command>,
    ) {
        self.counters.timeouts += 1;
        self.rtt.back_off();
        let open = self.state == State::Open;
        let flight = self.max - self.una;
        let repeated = self.timed_out_at == Some(self.una);
        // RFC 5682 §3.1, step (1).
        self.f_rto = if sack.f_rto && open { FRto::First } else { FRto::Off };
        let before = self.board.lost() - self.board.resent().min(self.board.lost());
        self.board.lose_all();
        let lost = self.board.lost();
        self.meter.on_lost(lost.saturating_sub(before));
        self.on_loss(now, Cause::Timeout, self.segments(lost), flight, repeated);
        if !repeated {
            self.resent = Some(0);
        }
        self.state = State::Loss;
        self.timed_out_at = Some(self.una);
        (self.duplicates, self.limited) = (0, 0);
        self.rack.probe = None;
        (self.deadline, self.probe_at, self.reorder_at) = (None, None, None);
        self.transmit(now, out);
    }
}

/// The end of what the first block reports as a duplicate, if it does (RFC 2883 §4), and how many
/// blocks are such reports.
fn duplicate(segment: &Segment) -> (Option<u64>, usize) {
    let blocks = segment.sack.as_slice();
    let Some(first) = blocks.first() else { return (None, 0) };
    let below = first.end <= segment.ack;
    let inside =
        blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
    if below || inside { (Some(first.end), 1) } else { (None, 0) }
}
