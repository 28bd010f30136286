//! Sending in recovery by selective acknowledgements: RFC 6675's `NextSeg`.

use super::{Phase, Recovery, Selective};
use crate::Command;
use crate::delivery::Departure;
use crate::sender::sequence::Span;
use crate::sender::spurious::FRto;
use crate::sender::tcb::Tcb;
use kernel::Instant;

impl Selective {
    /// Sends what the windows allow.
    pub(in crate::sender) fn transmit(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        out: &mut Vec<Command>,
    ) {
        tcb.end_idle(now);
        let (window, max) = (self.allowed(tcb), tcb.snd.max);
        if matches!(self.phase, Phase::Open) && self.board.is_plain() {
            self.send_in_order(tcb, now, window, out);
        } else {
            while self.send_next(tcb, now, window, out) {}
        }
        if tcb.snd.max > max {
            self.deadlines.restart_probe();
        }
        self.end_transmission(tcb, now, out);
    }

    /// Nothing more can be sent now: records whether the reason is a lack of data, and sets the
    /// timer.
    pub(super) fn end_transmission(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let drained = tcb.snd.nxt >= tcb.snd.end || tcb.snd.is_held();
        let idle = drained && self.board.lost() <= self.board.resent();
        let flight = self.in_flight(tcb);
        if idle && flight < self.allowed(tcb) {
            self.meter.on_idle(flight);
        }
        tcb.on_transmitted(flight, out);
        self.set_timer(tcb, now, out);
    }

    /// RFC 5682 §3.1, step (2b): sends up to two new segments instead of retransmissions; returns
    /// whether there were any.
    pub(super) fn send_two_new(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        out: &mut Vec<Command>,
    ) -> bool {
        for _ in 0..2 {
            if let Some(span) = tcb.snd.cut(0, u64::MAX) {
                self.send_fresh(tcb, now, span, out);
                self.phase = Phase::Loss(FRto::Second);
            }
        }
        matches!(self.phase, Phase::Loss(FRto::Second))
    }

    /// Sends new data, or the FIN alone.
    pub(super) fn send_fresh(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        span: Span,
        out: &mut Vec<Command>,
    ) {
        let end = span.end();
        let flight = self.in_flight(tcb);
        let record = self.record(tcb, now, flight, span.len);
        self.board.push(span.seq, end, now, record);
        if let Phase::Recovery(recovery) = &mut self.phase {
            recovery.prr.on_send(span.len);
        } else if self.board.sacked() > 0 && tcb.snd.outstanding() + span.len > tcb.cwnd.bytes() {
            self.limited += span.len;
        }
        // RTT is measured only while no loss is known, since nothing is retransmitted then (Karn's
        // algorithm).
        if matches!(self.phase, Phase::Open) {
            tcb.sampler.on_send(now, end);
        }
        (tcb.snd.nxt, tcb.snd.max) = (end, end);
        tcb.put(now, span, true, flight, out);
    }

    /// Retransmits the segment with this number.
    pub(super) fn resend(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        number: u64,
        rescue: bool,
        out: &mut Vec<Command>,
    ) {
        let sent = self.board.get(number);
        let end = tcb.snd.end;
        let len = sent.end.min(end) - sent.start.min(end);
        let flight = self.in_flight(tcb);
        let record = self.record(tcb, now, flight, len);
        self.board.resend(number, now, record, rescue);
        self.resent.on_resend(sent.start, sent.end);
        if let Phase::Recovery(recovery) = &mut self.phase {
            recovery.prr.on_send(len);
        }
        tcb.put(now, Span { seq: sent.start, len, fin: sent.end > end }, false, flight, out);
    }

    /// The record of a segment that leaves now, if the delivery rate is sampled.
    pub(super) fn record(
        &mut self,
        tcb: &Tcb,
        now: Instant,
        flight: u64,
        len: u64,
    ) -> Option<Departure> {
        tcb.cwnd.wants_delivery().then(|| self.meter.on_send(now, flight, len))
    }

    /// The amount that may be in flight.
    fn allowed(&self, tcb: &Tcb) -> u64 {
        match self.phase {
            Phase::Recovery(Recovery { window, .. }) => window,
            Phase::Open | Phase::Loss(_) => tcb.cwnd.bytes(),
        }
    }

    /// RFC 6675 `NextSeg`: sends one segment if one may leave now.
    fn send_next(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        window: u64,
        out: &mut Vec<Command>,
    ) -> bool {
        let pipe = self.in_flight(tcb);
        if let Some(number) = self.board.next_lost() {
            let sent = self.board.get(number);
            let fits = pipe == 0 || pipe + (sent.end - sent.start) <= window;
            let leaves = fits && tcb.may_leave(now, out);
            if leaves {
                self.resend(tcb, now, number, false, out);
            }
            return leaves;
        }
        // Without limited transmit, data that has arrived above a hole does not allow new segments.
        let limited = tcb.config.limited_transmit || !matches!(self.phase, Phase::Open);
        let flight = if limited { pipe } else { tcb.snd.outstanding() };
        if let Some(span) = tcb.snd.cut(flight, window) {
            let leaves = match self.phase {
                Phase::Open => tcb.may_leave_new(now, flight, window, out),
                Phase::Recovery(_) | Phase::Loss(_) => tcb.may_leave(now, out),
            };
            if leaves {
                self.send_fresh(tcb, now, span, out);
            }
            return leaves;
        }
        match &mut self.phase {
            Phase::Recovery(recovery) if !self.settings.rack => {
                if pipe + tcb.snd.mss > window {
                    return false;
                }
                // Rules (3) and (4).
                let doubtful = self.board.next_doubtful();
                let rescue = || self.board.last_missing().filter(|_| !recovery.rescued);
                let Some(number) = doubtful.or_else(rescue) else { return false };
                recovery.rescued |= doubtful.is_none();
                self.resend(tcb, now, number, doubtful.is_none(), out);
                true
            }
            Phase::Open | Phase::Recovery(_) | Phase::Loss(_) => false,
        }
    }
}
