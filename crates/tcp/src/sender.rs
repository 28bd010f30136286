//! The sender: which segments to send, which are lost, when to retransmit.
//!
//! A [`Sender`] consists of the state of its [`Connection`] (RFC 9293), a [`Tcb`], and one of three
//! kinds of loss recovery ([`LossRecovery`]): cumulative, selective or coded. The [`Tcb`] has the
//! parts that every connection needs, each a small machine in its own file: sequence numbers,
//! congestion window, RTT samples, ECN, pacing and the timer. Data that exist in one phase of
//! recovery only are fields of that phase. The retransmission timer (RFC 6298) is common to all
//! three kinds of loss recovery.
//!
//! `CongestionWindow::reduce` alone reduces the window. `spurious.rs` decides when a loss was none,
//! and `Tcb::undo` restores the window. `usage.rs` decides by round trips whether the window limits
//! the sender, `validation.rs` by RFC 7661, and `limits.rs` records what limits it. `small.rs`
//! decides when a small segment may leave (Nagle, CORK, silly window avoidance). `challenge.rs`,
//! `sender/ending.rs` and `receiver/connection.rs` hold resets, challenge ACKs and the end of a
//! connection for both ends.
//!
//! While nothing is marked, recovery by SACK takes a short path (`sender/selective/in_order.rs`)
//! with the same results; `crates/tcp/tests/instructions.rs` holds TCP's cost to at most 1.25 times
//! `NewReno`'s.

mod accurate;
mod burst;
mod coded;
mod connection;
mod cumulative;
mod ecn;
mod ending;
mod gauges;
mod limits;
mod pacer;
mod ramp;
mod recovery;
mod sampler;
mod selective;
mod sequence;
mod silly_window;
mod small;
mod small_queue;
mod spurious;
mod stand_by;
mod tcb;
mod timer;
mod usage;
mod validation;
mod window;

pub use gauges::{SenderCounters, State};
pub use limits::{Limit, LimitTimes};

use crate::challenge::Challenges;
use crate::{Command, Config, Control, Hint, TimerId};
use connection::{Connection, Syn};
use kernel::{Bytes, Instant};
use limits::Limits;
use recovery::LossRecovery;
use tcb::Tcb;
use timer::Timer;
use wire::{Flags, FlowId, Segment};

/// The end of a connection that sends data.
#[derive(Debug)]
pub struct Sender {
    connection: Connection,
    tcb: Tcb,
    recovery: LossRecovery,
    /// Whether the receiver's FIN arrived before this end sent its own.
    closed_second: bool,
    challenges: Challenges,
    limits: Limits,
    /// The ECN fields of this end's SYN as it was last sent, and of the peer's as it arrived.
    syn_sent: wire::Ecn,
    syn_arrived: wire::Ecn,
}

impl Sender {
    /// A sender for one connection of a flow.
    pub fn new(flow: FlowId, connection: u32, config: &Config, control: Box<dyn Control>) -> Self {
        Self {
            connection: Connection::Closed,
            tcb: Tcb::new(flow, connection, config, control),
            recovery: LossRecovery::new(config),
            closed_second: false,
            challenges: Challenges::default(),
            limits: Limits::default(),
            syn_sent: wire::Ecn::default(),
            syn_arrived: wire::Ecn::default(),
        }
    }

    /// Opens the connection: sends the SYN.
    pub fn on_open(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.connection == Connection::Closed {
            self.connection = Connection::SynSent(Syn::new(now));
            self.tcb.snd.open();
            self.send_syn(now, out);
        }
    }

    /// Waits for the receiver to open the connection, like a server that sends data.
    pub fn on_listen(&mut self) {
        if self.connection == Connection::Closed {
            self.connection = Connection::Listen;
        }
    }

    /// The application writes data. An amount near the greatest number is an unlimited transfer.
    pub fn on_data(&mut self, now: Instant, amount: Bytes, out: &mut Vec<Command>) {
        if self.tcb.snd.is_closed() {
            return;
        }
        self.tcb.snd.write(amount.0);
        if self.connection.is_open() {
            self.transmit(now, out);
            self.set_control_timer(now, out);
        }
    }

    /// The application has no more data to write.
    pub fn on_close(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.tcb.snd.is_closed() {
            return;
        }
        self.tcb.snd.close();
        if self.connection.is_open() {
            self.transmit(now, out);
            self.report_end(now, out);
            self.note_limit(now);
        }
    }

    /// The application withdraws the data that was not sent yet, and closes.
    pub fn on_stop(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.tcb.snd.is_closed() {
            self.tcb.snd.take_back();
            self.on_close(now, out);
        }
    }

    /// A segment arrived from the receiver.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let tcb = &mut self.tcb;
        let ours = segment.connection == tcb.connection && segment.flow == tcb.flow;
        if !ours || segment.forward {
            return;
        }
        if segment.flags.has_any(Flags::SYN.and(Flags::RST)) {
            self.on_control(now, segment, out);
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        match self.connection {
            Connection::Closed | Connection::Listen | Connection::Over => {
                self.refuse(now, segment, out);
            }
            Connection::SynSent(syn) => self.on_handshake(now, syn, true, segment, out),
            Connection::SynReceived(syn) => self.on_handshake(now, syn, false, segment, out),
            Connection::TimeWait(since) => {
                if !self.leave_time_wait(since, now, segment, out) {
                    self.on_ack(now, segment, out);
                }
            }
            Connection::Established | Connection::Acknowledged | Connection::Done => {
                self.on_ack(now, segment, out);
                self.set_control_timer(now, out);
            }
        }
        self.note_limit(now);
    }

    /// A timer expired.
    pub fn on_timer(&mut self, now: Instant, timer: TimerId, out: &mut Vec<Command>) {
        match timer {
            TimerId::Pacing => {
                if self.tcb.pacer.on_timer() && self.connection.is_open() {
                    self.transmit(now, out);
                }
            }
            TimerId::Retransmit => self.on_expiry(now, out),
            TimerId::Control => {
                self.tcb.control_timer = None;
                if self.connection.is_open() {
                    self.tcb.cwnd.on_timer(now);
                    self.transmit(now, out);
                }
            }
            TimerId::DelayedAck => {}
        }
        self.set_control_timer(now, out);
    }

    /// A lower layer passes a hint to the congestion control.
    pub fn on_hint(&mut self, _now: Instant, hint: Hint) {
        self.tcb.cwnd.on_hint(hint);
    }

    /// An acknowledgement arrived in a synchronised state.
    fn on_ack(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let tcb = &mut self.tcb;
        if !tcb.snd.accepts_ack(segment.ack) {
            self.challenge(now, out);
            return;
        }
        tcb.sampler.on_segment(segment);
        tcb.counters.acks_received += 1;
        if self.end_stand_by(now, segment.ack, out) {
            return;
        }
        let tcb = &mut self.tcb;
        self.recovery.on_ack(tcb, now, segment, out);
        if tcb.snd.is_acknowledged() {
            self.report_end(now, out);
        }
        // The receiver sends no data: its FIN follows its SYN.
        if segment.flags.has(Flags::FIN) && segment.seq == 1 {
            if self.tcb.rcv_nxt == 1 {
                self.closed_second = !self.tcb.snd.is_fin_sent();
            }
            self.tcb.rcv_nxt = 2;
            self.tcb.send_ack(now, out);
            self.report_end(now, out);
        }
    }

    /// The timer for retransmissions and probes expired.
    fn on_expiry(&mut self, now: Instant, out: &mut Vec<Command>) {
        let expired = self.tcb.timer.take();
        if expired == Timer::Off {
            return;
        }
        match self.connection {
            Connection::SynSent(_) | Connection::SynReceived(_) => self.on_syn_timeout(now, out),
            Connection::Established | Connection::Acknowledged => {
                match expired {
                    Timer::StandBy(_) => self.on_stand_by(now, out),
                    Timer::Persist(_) if self.tcb.snd.wnd == 0 => self.tcb.on_persist(now, out),
                    Timer::Persist(_) => self.on_override(now, out),
                    _ => self.recovery.on_timer(&mut self.tcb, now, expired, out),
                }
                self.note_limit(now);
            }
            _ => {}
        }
    }

    /// Sets the timer of the congestion control, which runs while the connection is open.
    fn set_control_timer(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.connection.is_open() {
            self.tcb.set_control_timer(now, out);
        }
    }

    /// Sends what the windows allow.
    fn transmit(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.recovery.transmit(&mut self.tcb, now, out);
        self.note_limit(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ack;
    use crate::control::Event;
    use crate::control::NewReno;
    use crate::harness::{Driven, FLOW, config, ms, segment};
    use kernel::{Duration, Segments};

    #[test]
    fn segments_of_others_are_ignored() {
        let (mut tcp, _) = Driven::connected(&config(), 1000);
        let ack = segment(false, 1, 0, 201, Flags::ACK);
        assert_eq!(tcp.segment(200, &Segment { connection: 4, ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { flow: FlowId(9), ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { forward: true, ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { flags: Flags::NONE, ..ack }), "");
        assert_eq!(tcp.ack(200, 5000), "ack 1", "never sent: a challenge ACK");
        assert_eq!(tcp.sender.counters().acks_received, 0);
        assert_eq!(tcp.ack(200, 201), "rtt 100, 401:501, 501:601, 601:701, 701:801, rto@450");
        assert_eq!(tcp.ack(200, 101), "", "old");
        assert_eq!(tcp.sender.counters().duplicate_acks, 0);
        assert_eq!(FLOW, tcp.sender.tcb.flow);
    }

    #[test]
    fn a_window_that_is_not_a_number_is_one_segment() {
        #[derive(Debug)]
        struct Broken;
        impl Control for Broken {
            fn window(&self) -> Segments {
                Segments(f64::NAN)
            }
            fn on_ack(&mut self, _: &Ack) {}
            fn on_loss(&mut self, _: &crate::Loss) {}
        }
        let mut tcp = Driven::with(&config(), Box::new(Broken));
        tcp.write(0, 1000);
        tcp.open(0);
        assert_eq!(tcp.syn_ack(100), "rtt 100, connected, 1:101, rto@400");
    }

    #[test]
    fn a_hint_reaches_the_controller() {
        #[derive(Debug)]
        struct Hinted(f64);
        impl Control for Hinted {
            fn window(&self) -> Segments {
                Segments(self.0)
            }
            fn on_ack(&mut self, _: &Ack) {}
            fn on_loss(&mut self, _: &crate::Loss) {}
            fn on_event(&mut self, event: Event<'_>) {
                let Event::Hint(Hint::LinkRate(rate)) = event else { return };
                self.0 = rate.as_mbps();
            }
        }
        let mut tcp = Driven::with(&config(), Box::new(Hinted(2.0)));
        tcp.sender.on_hint(ms(0), Hint::LinkRate(kernel::BitRate::from_mbps(11.0)));
        assert_eq!(tcp.sender.window_segments(), 11.0);
    }

    #[test]
    fn the_controller_learns_what_an_acknowledgement_says() {
        #[derive(Debug)]
        struct Seen(std::sync::mpsc::Sender<Ack>);
        impl Control for Seen {
            fn window(&self) -> Segments {
                Segments(4.0)
            }
            fn on_ack(&mut self, ack: &Ack) {
                self.0.send(*ack).unwrap();
            }
            fn on_loss(&mut self, _: &crate::Loss) {}
        }
        let (sending, receiving) = std::sync::mpsc::channel();
        let mut tcp = Driven::with(&config(), Box::new(Seen(sending)));
        tcp.write(0, 600);
        tcp.open(0);
        tcp.syn_ack(100);
        tcp.ack(180, 251);
        tcp.ack(300, 601);
        let (first, last) = (receiving.recv().unwrap(), receiving.recv().unwrap());
        assert_eq!(first.now, ms(180));
        assert_eq!((first.acked, first.in_flight), (Segments(2.5), Segments(1.5)));
        assert_eq!(
            (first.rtt, first.rtt_min),
            (Some(Duration::from_millis(80)), first.rtt.unwrap())
        );
        assert_eq!(first.srtt, Duration::from_micros(97_500), "7/8·100 + 1/8·80");
        assert!(first.may_grow && !first.ecn_echo);
        assert_eq!((last.acked, last.in_flight), (Segments(3.5), Segments(0.0)));
        assert!(last.may_grow, "3.5 of 4 leave no room for a segment");
        assert_eq!(NewReno::from(&config()).window(), Segments(4.0));
    }
}
