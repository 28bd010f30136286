//! The states of a connection at the receiver (RFC 9293 §3.3.2): its SYN, its FIN, which may come
//! before or after the sender's, and resets (RFC 5961).

use super::Receiver;
use crate::challenge::{Reset, TIME_WAIT, refusal};
use crate::{Command, Feedback, TimerId};
use kernel::Instant;
use wire::{Flags, SackBlocks, Segment};

/// How far the end of a connection has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    /// The application closed this direction.
    asked: bool,
    /// It did so before the sender's FIN arrived.
    first: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Not both ends have closed.
    #[default]
    Open,
    /// Both ends have closed, this end first or both at once, and since then old segments leave the
    /// network.
    TimeWait(Instant),
    /// The state CLOSED after the connection: segments are answered with RST.
    Over,
}

impl Receiver {
    /// The application closes this end's direction, in which no data flows; the sender may go on
    /// (half-close).
    pub fn on_close(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.ending.asked {
            self.ending.asked = true;
            self.ending.first = !self.finished();
            // In the state SYN-RECEIVED the FIN waits for the acknowledgement of the SYN.
            if self.own_una == 1 && self.own_next == 1 {
                self.send_fin(now, out);
            }
        }
    }

    /// The application aborts the connection (RFC 9293 §3.10.5): a RST tells the sender, unless
    /// both ends have sent their FIN.
    pub fn on_abort(&mut self, out: &mut Vec<Command>) {
        if self.is_synchronised() && !(self.own_next == 2 && self.finished()) {
            self.send_reset(self.own_next, 0, Flags::RST, out);
        }
        self.end(out);
    }

    /// A segment with SYN or RST arrived, or one that arrives before or after the connection.
    /// Returns whether it needs no further processing.
    pub(super) fn on_control(
        &mut self,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) -> bool {
        let flags = segment.flags;
        let (is_reset, is_syn) = (flags.has(Flags::RST), flags.has(Flags::SYN));
        let opens = self.next == 0 && is_syn && !flags.has(Flags::ACK);
        if self.is_over(now) || self.next == 0 && !opens {
            if !is_reset {
                let (seq, ack, flags) = refusal(segment);
                self.send_reset(seq, ack, flags, out);
            }
        } else if is_reset {
            self.on_reset(now, segment, out);
        } else if is_syn && self.own_una == 0 {
            self.on_syn(now, segment, out);
        } else if is_syn {
            // RFC 5961 §4.2.
            self.challenge(now, out);
        } else {
            if flags.has(Flags::FIN) {
                self.ending.phase = Phase::TimeWait(now);
            }
            return false;
        }
        true
    }

    /// An acknowledgement that is not the one of every segment between this end's SYN and FIN.
    /// Returns whether the segment is acceptable.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) -> bool {
        if !segment.flags.has(Flags::ACK) {
            return false;
        }
        if segment.ack > self.own_next || self.own_una == 0 && segment.ack == 0 {
            // RFC 5961 §5.2; before the connection is established, RFC 9293 §3.10.7.4.
            if self.own_una == 0 {
                let (seq, ack, flags) = refusal(segment);
                self.send_reset(seq, ack, flags, out);
            } else {
                self.challenge(now, out);
            }
            return false;
        }
        if segment.ack > self.own_una {
            self.on_own_acknowledged(now, segment.ack, out);
        }
        true
    }

    /// The sender acknowledges this end's SYN or FIN.
    fn on_own_acknowledged(&mut self, now: Instant, ack: u64, out: &mut Vec<Command>) {
        self.own_una = ack;
        if let Some(sent) = self.own_sent.take() {
            self.rtt.sample(now, now.since(sent), 1);
        }
        if self.own_una == 1 {
            self.wnd.on_established(now);
        }
        out.push(Command::Cancel(TimerId::Retransmit));
        if self.own_una == 2 && self.finished() {
            self.finish(now, out);
        } else if self.own_una == 1 && self.ending.asked {
            self.send_fin(now, out);
        }
    }

    /// All data and the sender's FIN have arrived.
    pub(super) fn on_fin(&mut self, now: Instant, out: &mut Vec<Command>) {
        let waits = self.config.closes && !self.ending.asked;
        if self.own_next == 1 && !waits {
            self.send_fin(now, out);
            return;
        }
        self.acknowledge(now, out);
        if self.own_una == 2 {
            self.finish(now, out);
        }
    }

    fn on_reset(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        match Reset::of(segment.seq, self.next, self.edge) {
            Reset::Accepted if self.own_una == 0 => {
                // A connection that the peer opened returns to LISTEN (RFC 9293 §3.10.7.4).
                (self.next, self.own_next) = (0, 0);
                self.stop_timers(out);
            }
            Reset::Accepted => self.end(out),
            Reset::Challenged => self.challenge(now, out),
            Reset::Ignored => {}
        }
    }

    /// Whether all data and the sender's FIN have arrived.
    pub(super) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// Whether the connection exists: a SYN has arrived, and not both ends have closed.
    pub(super) fn is_synchronised(&self) -> bool {
        self.next > 0 && self.ending.phase == Phase::Open
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.ending.phase {
            Phase::Open => false,
            Phase::TimeWait(since) => now.since(since) >= TIME_WAIT,
            Phase::Over => true,
        }
    }

    /// The state by its name in RFC 9293 §3.3.2.
    pub fn state_name(&self, now: Instant) -> &'static str {
        if self.is_over(now) {
            return "closed";
        }
        match (self.ending.phase, self.own_next, self.finished()) {
            (Phase::TimeWait(_), ..) => "time_wait",
            _ if self.next == 0 => "listen",
            _ if self.own_una == 0 => "syn_received",
            (_, 1, false) => "established",
            (_, 1, true) => "close_wait",
            (_, _, true) if self.ending.first => "closing",
            (_, _, true) => "last_ack",
            (_, _, false) if self.own_una == 2 => "fin_wait_2",
            (_, _, false) => "fin_wait_1",
        }
    }

    // ---- what this end sends ----

    fn send_fin(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.own_next = 2;
        self.send_own(now, out);
    }

    /// Sends this end's SYN or FIN with an acknowledgement, and starts its retransmission timer.
    pub(super) fn send_own(&mut self, now: Instant, out: &mut Vec<Command>) {
        let flag = match self.own_next {
            // RFC 3168 §6.1.1: an ECN-setup SYN-ACK.
            1 if self.feedback == Feedback::Classic => Flags::SYN.and(Flags::ECE),
            1 => Flags::SYN,
            _ => Flags::FIN,
        };
        self.send(now, self.own_next - 1, Flags::ACK.and(flag), out);
        out.push(Command::Set(TimerId::Retransmit, now + self.rtt.rto()));
    }

    fn challenge(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.challenges.permit(now) {
            self.counters.challenges += 1;
            self.acknowledge(now, out);
        }
    }

    fn send_reset(&self, seq: u64, ack: u64, flags: Flags, out: &mut Vec<Command>) {
        out.push(Command::Send(Segment {
            flow: self.flow,
            connection: self.connection,
            forward: false,
            seq,
            len: 0,
            ack,
            window: 0,
            flags,
            timestamps: None,
            sack: SackBlocks::NONE,
            coded: None,
        }));
    }

    // ---- the end ----

    /// Both ends have closed.
    fn finish(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.ending.phase == Phase::Open {
            self.ending.phase = if self.ending.first { Phase::TimeWait(now) } else { Phase::Over };
            out.push(Command::Closed);
        }
    }

    /// The connection is over without both FINs.
    fn end(&mut self, out: &mut Vec<Command>) {
        let was_open = self.ending.phase == Phase::Open;
        self.ending.phase = Phase::Over;
        self.stop_timers(out);
        if was_open {
            out.push(Command::Closed);
        }
    }

    fn stop_timers(&mut self, out: &mut Vec<Command>) {
        self.own_una = self.own_next;
        (self.delaying, self.reading) = (false, false);
        for timer in [TimerId::Retransmit, TimerId::DelayedAck, TimerId::Pacing] {
            out.push(Command::Cancel(timer));
        }
    }
}
