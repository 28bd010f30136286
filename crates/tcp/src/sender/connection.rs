//! The states of a connection (RFC 9293 §3.3.2), from its SYN to its end.

use super::Sender;
use super::ecn::EcnSender;
use crate::accurate::{agree, answer, conclude, request, told};
use crate::{Command, Ecn, Feedback, TimerId};
use kernel::Instant;
use wire::{Ecn as Field, Flags, SackBlocks, Segment};

/// The state of a connection at the end that sends data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connection {
    Closed,
    /// This end waits for the receiver to open the connection.
    Listen,
    /// This end has sent a SYN.
    SynSent(Syn),
    /// The receiver has sent a SYN, and this end has answered it.
    SynReceived(Syn),
    Established,
    /// Established, and the application was notified that all its data is acknowledged.
    Acknowledged,
    /// It ended without FIN.
    Done,
    /// Both ends have closed it, this end first or both at once, and since then old segments leave
    /// the network.
    TimeWait(Instant),
    /// The state CLOSED after the connection: segments are answered with RST.
    Over,
}

/// This end's SYN, or SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syn {
    /// When it first left.
    first: Instant,
    /// How often it was retransmitted.
    resent: u32,
}

impl Syn {
    pub(super) fn new(now: Instant) -> Self {
        Self { first: now, resent: 0 }
    }

    /// RFC 6928 §2: whether the initial window falls to one segment, because there were several
    /// retransmissions. They were spurious if the answer echoes the timestamp of the first
    /// transmission.
    fn was_lost(self, echo: Option<Instant>) -> bool {
        self.resent > 1 && echo != Some(self.first)
    }
}

impl Connection {
    /// Whether data may be sent.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Established | Self::Acknowledged)
    }

    /// Whether this end, which listened, has answered a SYN.
    pub(super) fn is_being_accepted(self) -> bool {
        matches!(self, Self::SynReceived(_))
    }

    /// Whether the application was notified that the connection is closed.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::TimeWait(_) | Self::Over)
    }
}

impl Sender {
    /// A SYN arrived: the receiver opens the connection, or has not received the answer.
    pub(super) fn on_syn(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        match self.connection {
            Connection::Listen => {
                self.tcb.snd.open();
                self.tcb.rcv_nxt = 1;
                self.negotiate(segment, agree(self.tcb.config.ecn, segment.flags), None);
                self.syn_arrived = segment.flags.arrived();
                self.connection = Connection::SynReceived(Syn::new(now));
                self.send_syn(now, out);
            }
            Connection::SynReceived(syn) => {
                self.connection =
                    Connection::SynReceived(Syn { resent: syn.resent.saturating_add(1), ..syn });
                self.tcb.timer.take();
                self.send_syn(now, out);
            }
            _ => {}
        }
    }

    /// A segment with ACK arrived while the connection is being opened.
    pub(super) fn on_handshake(
        &mut self,
        now: Instant,
        syn: Syn,
        is_active: bool,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) {
        let answers = segment.flags.has(Flags::SYN) == is_active;
        if segment.ack != 1 {
            // RFC 9293 §3.10.7.3 and §3.10.7.4: an acknowledgement of what was not sent.
            self.refuse(now, segment, out);
            return;
        }
        if !answers || segment.seq != u64::from(!is_active) {
            return;
        }
        self.connection = Connection::Established;
        self.tcb.snd.una = 1;
        self.tcb.snd.set_window(segment.window);
        self.tcb.rcv_nxt = 1;
        if is_active {
            let (feedback, arrived) = conclude(self.tcb.config.ecn, segment.flags);
            self.negotiate(segment, feedback, arrived);
        } else {
            self.tcb.sampler.on_segment(segment);
        }
        if syn.resent == 0 {
            self.tcb.sampler.on_send(syn.first, 1);
        }
        self.tcb.take_sample(now, segment, 0, out);
        if syn.resent > 0 {
            self.tcb.rtt.after_lost_syn();
        }
        if syn.was_lost(self.tcb.sampler.echoed(segment)) {
            self.tcb.cwnd.start_ramp(1.0, f64::INFINITY);
        }
        out.push(Command::Connected);
        self.tcb.timer.take();
        let has_acknowledged = self.end_handshake(now, is_active, segment, out);
        self.transmit(now, out);
        self.set_control_timer(now, out);
        if self.tcb.snd.max == 1 {
            if !self.tcb.timer.is_running() {
                out.push(Command::Cancel(TimerId::Retransmit));
            }
            if is_active && !has_acknowledged {
                self.tcb.send_ack(now, out);
            }
        }
        self.report_end(now, out);
    }

    /// The SYN, or its answer, was lost.
    pub(super) fn on_syn_timeout(&mut self, now: Instant, out: &mut Vec<Command>) {
        if let Connection::SynSent(syn) | Connection::SynReceived(syn) = &mut self.connection {
            syn.resent = syn.resent.saturating_add(1);
            self.tcb.counters.timeouts += 1;
            self.tcb.rtt.back_off();
            self.send_syn(now, out);
        }
    }

    /// Tells the congestion control what was agreed on. With accurate feedback, a client answers
    /// the SYN-ACK by a segment without data, which tells how it arrived (RFC 9768 §3.2.2.1).
    /// Returns whether it did.
    fn end_handshake(
        &mut self,
        now: Instant,
        is_active: bool,
        segment: &Segment,
        out: &mut Vec<Command>,
    ) -> bool {
        self.tcb.pacer.burst = self.tcb.cwnd.on_connected(self.tcb.ecn.feedback());
        let EcnSender::Accurate(accurate) = &mut self.tcb.ecn else { return false };
        let code = segment.flags.ace();
        // The SYN of this end, or its SYN-ACK, was marked.
        let marked = if is_active {
            code == told(Field::Experienced).ace()
        } else {
            accurate.on_third(segment)
        };
        if marked {
            let window = self.tcb.cwnd.bytes();
            self.tcb.reduce_for_mark(now, window);
        }
        if is_active {
            let mut third = self.tcb.segment(now, 1, 0, Flags::ACK);
            third.flags = third.flags.without(Flags::of_ace(7)).and(told(segment.flags.arrived()));
            out.push(Command::Send(third));
        }
        is_active
    }

    /// Negotiates the options of the receiver's SYN.
    fn negotiate(&mut self, syn: &Segment, feedback: Feedback, arrived: Option<Field>) {
        self.tcb.sampler.on_syn(syn);
        self.tcb.sampler.on_segment(syn);
        let wraps = matches!(self.tcb.config.ecn, Ecn::Accurate(accurate) if accurate.wraps);
        self.tcb.ecn = EcnSender::negotiated(feedback, self.tcb.cwnd.ect(), wraps);
        if let EcnSender::Accurate(accurate) = &mut self.tcb.ecn {
            accurate.on_syn(self.syn_sent, arrived, syn);
        }
        if !syn.sack.are_permitted() {
            self.recovery.on_sack_refused();
        }
    }

    pub(super) fn send_syn(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.tcb.last_sent = now;
        let mut flags = match self.connection {
            Connection::SynReceived(syn) => {
                let ecn = answer(self.tcb.ecn.feedback(), self.syn_arrived);
                let ecn = if syn.resent > 1 { Flags::NONE } else { ecn };
                Flags::SYN.and(Flags::ACK).and(ecn)
            }
            Connection::SynSent(syn) => Flags::SYN.and(request(self.tcb.config.ecn, syn.resent)),
            _ => Flags::SYN,
        };
        let ect = self.tcb.cwnd.ect();
        if ect.has(Flags::ECT1) && flags.has(Flags::AE) {
            flags = flags.and(ect);
        }
        self.syn_sent = flags.ecn();
        let mut syn = self.tcb.segment(now, 0, 0, flags);
        if self.recovery.wants_sack() {
            syn.sack = SackBlocks::PERMITTED;
        }
        out.push(Command::Send(syn));
        self.tcb.start_timer(now, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Driven, config, ms, segment};
    use crate::{Close, Config, State};
    use kernel::{Bytes, Duration};

    #[test]
    fn the_third_acknowledgement_rides_on_waiting_data() {
        let mut tcp = Driven::new(&config());
        assert_eq!(tcp.write(0, 250), "", "nothing is sent before the connection is open");
        assert_eq!(tcp.open(0), "S, rto@1000");
        assert_eq!(tcp.open(1), "", "a connection is opened once");
        assert_eq!(tcp.syn_ack(100), "rtt 100, connected, 1:101, 101:201, 201:251, rto@400");
        // RFC 6298 (2.2): RTO = 100 + 4·50 = 300.
        assert_eq!(tcp.sender.rto(), Duration::from_millis(300));
    }

    #[test]
    fn without_data_the_third_acknowledgement_is_alone() {
        let mut tcp = Driven::new(&config());
        tcp.open(0);
        assert_eq!(tcp.syn_ack(100), "rtt 100, connected, rto off, ack 1");
        assert_eq!(tcp.write(150, 80), "1:81, rto@450");
        assert_eq!(tcp.syn_ack(1100), "ack 1", "the receiver asks again: tell it again");
        assert_eq!(tcp.ack(1200, 81), "rtt 1050, rto off");
    }

    #[test]
    fn a_lost_syn_backs_off_and_makes_the_start_careful() {
        let mut tcp = Driven::new(&config());
        tcp.write(0, 2000);
        assert_eq!(tcp.open(0), "S, rto@1000");
        assert_eq!(tcp.timer(1000), "S, rto@3000");
        assert_eq!(tcp.timer(3000), "S, rto@7000");
        // Karn's algorithm: no sample. RFC 6298 (5.7): 3 s. RFC 6928 §2: one segment after two
        // retransmissions.
        assert_eq!(tcp.syn_ack(3100), "connected, 1:101, rto@6100");
        assert_eq!(tcp.ack(3200, 101), "rtt 100, 101:201, 201:301, rto@3500");
        assert_eq!(tcp.sender.window_segments(), 2.0);
        assert_eq!(tcp.ack(3300, 301), "rtt 100, 301:401, 401:501, 501:601, 601:701, rto@3550");
        assert_eq!(tcp.sender.counters().timeouts, 2);
        assert_eq!(tcp.sender.state(), State::Open);
    }

    #[test]
    fn the_default_initial_window_is_limited_in_bytes() {
        // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600)).
        for (mss, bytes, full) in
            [(536, 5360, 10), (1460, 14_600, 10), (2000, 14_600, 7), (8960, 17_920, 2)]
        {
            let (mss, window) = (Some(Bytes(mss)), Some(Bytes(1 << 20)));
            let config = Config { mss, window, initial_window: None, ..config() };
            assert_eq!((config.initial_window().0 * config.mss().0 as f64).round() as u64, bytes);
            let mut tcp = Driven::new(&config);
            tcp.open(0);
            tcp.write(0, u64::MAX);
            let reply = segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK));
            let first = tcp.segment(100, &Segment { window: 1 << 20, ..reply });
            assert_eq!(first.matches(':').count(), full, "{first}");
        }
    }

    #[test]
    fn one_lost_syn_leaves_the_initial_window() {
        let mut tcp = Driven::new(&config());
        tcp.write(0, 2000);
        tcp.open(0);
        tcp.timer(1000);
        let first = "connected, 1:101, 101:201, 201:301, 301:401, rto@4100";
        assert_eq!(tcp.syn_ack(1100), first, "RFC 6928 §2");
    }

    /// A connection whose SYN left three times, at 0, 1 and 3 s; the answer arrives at 3.1 s and
    /// echoes this timestamp.
    fn third_syn(echo: u64) -> (Driven, String) {
        let mut tcp = Driven::new(&Config { timestamps: true, ..config() });
        tcp.write(0, 2000);
        tcp.open(0);
        tcp.timer(1000);
        tcp.timer(3000);
        let timestamps = Some(wire::Timestamps { value: ms(3050), echo: ms(echo) });
        let flags = Flags::SYN.and(Flags::ACK);
        let reply = Segment { timestamps, ..segment(false, 0, 0, 1, flags) };
        let first = tcp.segment(3100, &reply);
        (tcp, first)
    }

    #[test]
    fn a_timestamp_measures_even_a_lost_syn() {
        let (tcp, first) = third_syn(3000);
        assert_eq!(first, "rtt 100, connected, 1:101, rto@6100");
        // RFC 6298 (5.7): only a sample of data shortens the timeout.
        assert_eq!(tcp.sender.rto(), Duration::from_secs(3));
    }

    #[test]
    fn a_syn_that_the_timestamp_shows_was_only_late_leaves_the_initial_window() {
        let (_, first) = third_syn(0);
        assert_eq!(first, "rtt 3100, connected, 1:101, 101:201, 201:301, 301:401, rto@12400");
    }

    #[test]
    fn the_fin_rides_on_the_last_data() {
        let mut tcp = Driven::new(&config());
        tcp.open(0);
        tcp.write(0, 150);
        assert_eq!(tcp.close(0), "");
        assert_eq!(tcp.write(0, 100), "", "closed is closed");
        assert_eq!(tcp.syn_ack(100), "rtt 100, connected, 1:101, 101:151 F, rto@400");
        assert_eq!(tcp.ack(200, 101), "rtt 100, rto@450");
        assert_eq!(tcp.fin_ack(210, 152), "rto off, acknowledged, ack 2, closed");
        assert_eq!(tcp.fin_ack(900, 152), "ack 2", "our last acknowledgement was lost");
        assert_eq!(tcp.sender.acknowledged_bytes(), 150);
    }

    #[test]
    fn a_late_close_sends_a_fin_of_its_own() {
        let (mut tcp, _) = Driven::connected(&config(), 100);
        assert_eq!(tcp.ack(200, 101), "rtt 100, rto off");
        assert_eq!(tcp.close(300), "F ack 1, rto@550, acknowledged");
        assert_eq!(tcp.ack(400, 102), "rtt 100, rto off", "the receiver's FIN is still to come");
        let stray = segment(false, 7, 0, 102, Flags::FIN.and(Flags::ACK));
        assert_eq!(tcp.segment(440, &stray), "", "not the number that follows the SYN");
        assert_eq!(tcp.fin_ack(450, 102), "ack 2, closed");
    }

    #[test]
    fn a_lost_fin_is_resent() {
        let (mut tcp, _) = Driven::connected(&config(), 100);
        tcp.ack(200, 101);
        tcp.close(300);
        assert_eq!(tcp.timer(550), "F ack 1, rto@1050");
        assert_eq!(tcp.fin_ack(650, 102), "rto off, ack 2, closed");
    }

    #[test]
    fn without_closing_segments_the_last_acknowledgement_closes() {
        let config = Config { close: Close::None, ..config() };
        let (mut tcp, _) = Driven::connected(&config, 150);
        assert_eq!(tcp.close(150), "");
        assert_eq!(tcp.ack(200, 101), "rtt 100, rto@450");
        assert_eq!(tcp.ack(210, 151), "rto off, acknowledged, closed");
        let mut empty = Driven::new(&config);
        empty.open(0);
        empty.close(0);
        let all = "rtt 100, connected, rto off, ack 1, acknowledged, closed";
        assert_eq!(empty.syn_ack(100), all);
    }
}
