//! How a connection ends at the end that sends data, and the segments that a connection does not
//! accept: resets, SYNs and acknowledgements of data that was never sent (RFC 9293 §3.10.7, RFC
//! 5961).

use super::Sender;
use super::connection::Connection;
use super::sequence::SendSequence;
use crate::challenge::{Reset, TIME_WAIT, refusal};
use crate::{Close, Command};
use kernel::Instant;
use wire::{Flags, Segment};

impl Sender {
    /// The application aborts the connection (RFC 9293 §3.10.5): a RST tells the receiver, unless
    /// both ends have sent their FIN.
    pub fn on_abort(&mut self, now: Instant, out: &mut Vec<Command>) {
        let synchronised = self.connection.is_open() || self.connection.is_being_accepted();
        if synchronised && !(self.tcb.snd.is_fin_sent() && self.tcb.rcv_nxt > 1) {
            out.push(Command::Send(self.tcb.segment(now, self.tcb.snd.max, 0, Flags::RST)));
        }
        self.end(out);
    }

    /// A segment with SYN or RST arrived.
    pub(super) fn on_control(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let (is_reset, has_ack) = (segment.flags.has(Flags::RST), segment.flags.has(Flags::ACK));
        match self.connection {
            // The receiver refuses the connection (RFC 9293 §3.10.7.3).
            Connection::SynSent(_) if is_reset && has_ack && segment.ack == 1 => self.end(out),
            Connection::Closed | Connection::Listen | Connection::Over | Connection::SynSent(_)
                if is_reset => {}
            _ if is_reset => self.on_reset(now, segment, out),
            Connection::Closed | Connection::Over => self.refuse(now, segment, out),
            Connection::Listen if has_ack => self.refuse(now, segment, out),
            Connection::SynSent(syn) if has_ack => {
                self.on_handshake(now, syn, true, segment, out);
            }
            Connection::SynReceived(syn) if has_ack => {
                self.on_handshake(now, syn, false, segment, out);
            }
            Connection::Listen | Connection::SynReceived(_) => self.on_syn(now, segment, out),
            // The receiver answers a SYN with SYN-ACK. A SYN without ACK opens no connection.
            Connection::SynSent(_) => {}
            // RFC 5961 §4.2. The receiver may not know yet that the connection is established.
            _ => {
                self.tcb.sampler.on_segment(segment);
                self.challenge(now, out);
            }
        }
    }

    fn on_reset(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let next = self.tcb.rcv_nxt;
        match Reset::of(segment.seq, next, next.saturating_add(self.tcb.rcv_wnd)) {
            Reset::Accepted if self.connection.is_being_accepted() => {
                self.connection = Connection::Listen;
                self.tcb.timer.cancel(out);
            }
            Reset::Accepted => self.end(out),
            Reset::Challenged => self.challenge(now, out),
            Reset::Ignored => {}
        }
    }

    /// The connection is over without both FINs.
    fn end(&mut self, out: &mut Vec<Command>) {
        let was_closed = self.connection.is_closed();
        self.connection = Connection::Over;
        self.tcb.timer.cancel(out);
        self.recovery.on_closed();
        if !was_closed {
            out.push(Command::Closed);
        }
    }

    /// Sends a challenge ACK (RFC 5961 §7), unless there were too many.
    pub(super) fn challenge(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.challenges.permit(now) {
            self.tcb.counters.challenges += 1;
            self.tcb.send_ack(now, out);
        }
    }

    /// Answers a segment without RST that belongs to no connection with a RST, whose sequence
    /// number is the one that its sender expects (RFC 9293 §3.10.7.1).
    pub(super) fn refuse(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let (seq, ack, flags) = refusal(segment);
        let timestamps = None;
        let reset = Segment { ack, timestamps, ..self.tcb.segment(now, seq, 0, flags) };
        out.push(Command::Send(reset));
    }

    /// A segment arrived in TIME-WAIT. A repeated FIN starts the wait again. Returns whether the
    /// wait was over.
    pub(super) fn leave_time_wait(
        &mut self,
        since: Instant,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) -> bool {
        let over = now.since(since) >= TIME_WAIT;
        if over {
            self.connection = Connection::Over;
            self.refuse(now, segment, out);
        } else if segment.flags.has(Flags::FIN) {
            self.connection = Connection::TimeWait(now);
        }
        over
    }

    /// Notifies once when all data is acknowledged, and once when the connection is closed.
    pub(super) fn report_end(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.tcb.snd.is_acknowledged() {
            return;
        }
        if self.connection == Connection::Established {
            self.connection = Connection::Acknowledged;
            out.push(Command::Acknowledged);
        }
        let both_closed = self.tcb.snd.is_fin_acknowledged() && self.tcb.rcv_nxt > 1;
        let plain = self.tcb.config.close == Close::None;
        if (both_closed || plain) && self.connection == Connection::Acknowledged {
            self.connection = match () {
                () if plain => Connection::Done,
                () if self.closed_second => Connection::Over,
                () => Connection::TimeWait(now),
            };
            self.recovery.on_closed();
            out.push(Command::Closed);
        }
    }

    /// The state by its name in RFC 9293 §3.3.2.
    pub fn state_name(&self, now: Instant) -> &'static str {
        match self.connection {
            Connection::TimeWait(since) if now.since(since) < TIME_WAIT => "time_wait",
            Connection::Closed | Connection::Over | Connection::TimeWait(_) => "closed",
            Connection::Listen => "listen",
            Connection::SynSent(_) => "syn_sent",
            Connection::SynReceived(_) => "syn_received",
            Connection::Established | Connection::Acknowledged | Connection::Done => {
                let (snd, peer_closed) = (&self.tcb.snd, self.tcb.rcv_nxt > 1);
                match (snd.is_fin_sent(), peer_closed) {
                    (false, false) => "established",
                    (false, true) => "close_wait",
                    (true, false) if snd.is_fin_acknowledged() => "fin_wait_2",
                    (true, false) => "fin_wait_1",
                    (true, true) if self.closed_second => "last_ack",
                    (true, true) => "closing",
                }
            }
        }
    }
}

impl SendSequence {
    /// Whether an acknowledgement number is plausible (RFC 5961 §5.2): of data that was sent, and
    /// not older than the largest window.
    pub(super) fn accepts_ack(&self, ack: u64) -> bool {
        ack <= self.max && ack.saturating_add(self.max_wnd) >= self.una
    }
}
