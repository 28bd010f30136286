//! The sender: what to send, what is lost, when to resend.
//!
//! With selective acknowledgements loss is detected by time (RFC 8985) or by count (RFC 6675), and
//! holes are filled from a scoreboard; without, by three duplicate acknowledgements (RFC 5681) and
//! `NewReno` (RFC 6582). Behind both stands the retransmission timer (RFC 6298). Sequence number 0
//! is the SYN's, data starts at 1, the FIN follows the data.

mod coding;
mod gauges;
mod loss;
mod selective;
mod sending;
mod validation;

pub use gauges::{SenderCounters, State};

use crate::delivery::DeliveryMeter;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::ramp::Ramp;
use crate::scoreboard::Scoreboard;
use crate::{
    Ack, Close, Command, Config, Control, Ecn, Hint, Recovery, Reduction, RttEstimator, TimerId,
};
use coding::Coding;
use kernel::{Bytes, Duration, Instant, Segments};
use selective::FRto;
use validation::Validation;
use wire::{Flags, FlowId, Segment};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// Waits for the receiver to open.
    Listening,
    Opening,
    Established,
    Done,
}

/// What the one timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiry {
    /// Retransmission (RFC 6298).
    Resend,
    /// A tail loss probe (RFC 8985 §7).
    Probe,
    /// The reordering window (RFC 8985 §6.3).
    Reorder,
    /// A probe of a closed window (RFC 9293 §3.8.6.1).
    Persist,
}

/// Why the window must not grow by an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    No,
    /// It echoes a mark.
    Marked,
    /// Fast recovery is under way.
    Recovering,
    /// It ends fast recovery.
    Once,
}

/// The end of a connection that sends data.
#[derive(Debug)]
pub struct Sender {
    flow: FlowId,
    connection: u32,
    config: Config,
    /// Bytes of a full segment.
    mss: u64,
    /// The window that this end advertises.
    own_window: u64,
    control: Box<dyn Control>,
    rtt: RttEstimator,
    phase: Phase,
    state: State,
    /// The receiver opened the connection.
    passive: bool,

    /// Lowest sequence number not acknowledged.
    una: u64,
    /// Next to send; behind `max` while data is resent after a timeout.
    nxt: u64,
    /// One past the highest sent.
    max: u64,
    /// One past the data written so far.
    end: u64,
    /// No more data will be written.
    closed: bool,
    /// All data written, and closed, was acknowledged.
    acknowledged: bool,

    /// The effective congestion window in bytes, without recovery's inflation.
    window: u64,
    ramp: Option<Ramp>,
    /// Whether the window is used, where that decides how long it is kept (RFC 7661).
    validation: Option<Validation>,
    /// The receiver's window.
    peer_window: u64,
    /// Next sequence number expected from the receiver.
    peer_next: u64,

    /// `max` when the last loss was noticed: RFC 6582's `recover`, plus one.
    recover: u64,
    /// The inflated window of fast recovery.
    inflated: u64,
    /// Fast recovery has seen a partial acknowledgement.
    partial: bool,
    duplicates: u32,
    /// Bytes in flight by limited transmit alone.
    limited: u64,

    /// What selective acknowledgements tell; empty without them, as all up to `prr`.
    board: Scoreboard,
    rack: Rack,
    meter: DeliveryMeter,
    prr: Prr,
    f_rto: FRto,
    /// How much was resent since the last loss and not reported as a duplicate, in segments.
    resent: Option<u32>,
    /// The rescue retransmission of this recovery was sent (RFC 6675, rule (4)).
    rescued: bool,
    /// Nothing is resent on this acknowledgement (RFC 5682).
    holding: bool,

    /// The blocks of coded data; empty without a code, and while they are worked on.
    coding: Option<Box<Coding>>,

    /// Whether ECN was negotiated.
    ecn: bool,
    /// The next new data tells that the window was reduced.
    cwr: bool,
    /// `max` when it last was.
    cwr_until: u64,

    /// When the pacing rate allows the next segment, and whether the timer for it runs.
    next_departure: Instant,
    pacing: bool,

    /// Whether the retransmission timer runs; what for, and until when.
    armed: bool,
    running: Option<(Expiry, Instant)>,
    /// With selective acknowledgements: when to resend, to probe, to judge what was reordered.
    deadline: Option<Instant>,
    probe_at: Option<Instant>,
    reorder_at: Option<Instant>,
    /// `una` when the retransmission timer last expired.
    timed_out_at: Option<u64>,
    syn_lost: bool,
    last_sent: Instant,
    /// Without timestamps: the segment being timed, by its end, and when it left.
    timed: Option<(u64, Instant)>,
    /// Whether timestamps were negotiated.
    timestamps: bool,
    echo: Instant,

    counters: SenderCounters,
}

impl Sender {
    /// A sender for one connection of a flow.
    pub fn new(flow: FlowId, connection: u32, config: &Config, control: Box<dyn Control>) -> Self {
        let mss = config.mss().0;
        assert!(mss > 0, "a segment holds at least a byte");
        let mut sender = Self {
            flow,
            connection,
            config: *config,
            mss,
            own_window: config.window().0,
            control,
            rtt: RttEstimator::new(config),
            phase: Phase::Idle,
            state: State::Open,
            passive: false,
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            closed: false,
            acknowledged: false,
            window: 0,
            ramp: None,
            validation: config.validation.then(Validation::default),
            peer_window: 0,
            peer_next: 0,
            recover: 0,
            inflated: 0,
            partial: false,
            duplicates: 0,
            limited: 0,
            board: Scoreboard::default(),
            rack: Rack::default(),
            meter: DeliveryMeter::default(),
            prr: Prr::new(Reduction::AtOnce, 0, 0, 0),
            f_rto: FRto::Off,
            resent: None,
            rescued: false,
            holding: false,
            coding: config.fec.map(|fec| Box::new(Coding::new(&fec, mss))),
            ecn: false,
            cwr: false,
            cwr_until: 0,
            next_departure: Instant::ZERO,
            pacing: false,
            armed: false,
            running: None,
            deadline: None,
            probe_at: None,
            reorder_at: None,
            timed_out_at: None,
            syn_lost: false,
            last_sent: Instant::ZERO,
            timed: None,
            timestamps: config.timestamps,
            echo: Instant::ZERO,
            counters: SenderCounters::default(),
        };
        sender.refresh_window();
        sender
    }

    /// Opens the connection: sends the SYN.
    pub fn on_open(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Opening;
            (self.nxt, self.max) = (1, 1);
            self.send_syn(now, out);
        }
    }

    /// Waits for the receiver to open the connection, as a server does that sends.
    pub fn on_listen(&mut self) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Listening;
            self.passive = true;
        }
    }

    /// The application writes data; an amount near the greatest number never ends.
    pub fn on_data(&mut self, now: Instant, amount: Bytes, out: &mut Vec<Command>) {
        if self.closed {
            return;
        }
        let padded = match amount.0.checked_next_multiple_of(self.mss) {
            Some(padded) if self.config.pad_last => padded,
            _ => amount.0,
        };
        self.end = self.end.saturating_add(padded);
        if self.phase == Phase::Established {
            self.transmit(now, out);
        }
    }

    /// The application has no more data.
    pub fn on_close(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.closed {
            return;
        }
        self.closed = true;
        if self.phase == Phase::Established {
            self.transmit(now, out);
            self.report_end(out);
        }
    }

    /// The application takes back what was not sent yet, and closes.
    pub fn on_stop(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.closed {
            self.end = self.end.min(self.max.max(1));
            self.on_close(now, out);
        }
    }

    /// A segment arrived from the receiver.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let ours = segment.connection == self.connection && segment.flow == self.flow;
        if !ours || segment.forward {
            return;
        }
        if self.passive && segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            self.on_syn(now, segment, out);
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.ack > self.max {
            return;
        }
        match self.phase {
            Phase::Idle | Phase::Listening => {}
            Phase::Opening => self.on_handshake(now, segment, out),
            Phase::Established | Phase::Done => {
                if let Some(timestamps) = segment.timestamps {
                    self.echo = timestamps.value;
                }
                if segment.flags.has(Flags::SYN) {
                    // The receiver has not seen that we are connected.
                    self.send_ack(now, out);
                    return;
                }
                self.on_ack(now, segment, out);
                // The receiver sends no data: its FIN follows its SYN.
                if segment.flags.has(Flags::FIN) && segment.seq == 1 {
                    self.peer_next = 2;
                    self.send_ack(now, out);
                    self.report_end(out);
                }
            }
        }
    }

    /// A timer expired.
    pub fn on_timer(&mut self, now: Instant, timer: TimerId, out: &mut Vec<Command>) {
        if timer == TimerId::Pacing && self.pacing {
            self.pacing = false;
            if self.phase == Phase::Established {
                self.transmit(now, out);
            }
        }
        if timer != TimerId::Retransmit || !self.armed {
            return;
        }
        let expiry = self.running.map_or(Expiry::Resend, |(expiry, _)| expiry);
        self.disarm();
        match (self.phase, self.config.sack()) {
            (Phase::Opening, _) => {
                self.counters.timeouts += 1;
                self.syn_lost = true;
                self.rtt.back_off();
                self.send_syn(now, out);
            }
            (Phase::Established, _) if expiry == Expiry::Persist => self.on_persist(now, out),
            (Phase::Established, _) if self.coding.is_some() => {
                self.on_coded_timer(now, expiry, out);
            }
            (Phase::Established, _) if self.una == self.max => {}
            (Phase::Established, None) => self.on_timeout(now, out),
            (Phase::Established, Some(sack)) => match expiry {
                Expiry::Probe => self.on_probe(now, out),
                Expiry::Reorder => self.on_reorder(now, sack, out),
                Expiry::Resend | Expiry::Persist => self.on_selective_timeout(now, sack, out),
            },
            _ => {}
        }
    }

    /// A lower layer has something to tell the controller.
    pub fn on_hint(&mut self, _now: Instant, hint: Hint) {
        self.control.on_hint(&hint);
        self.refresh_window();
    }

    // ---- connection ----

    /// The receiver opens the connection, or did not hear our answer.
    fn on_syn(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        match self.phase {
            Phase::Listening => {
                self.phase = Phase::Opening;
                (self.nxt, self.max, self.peer_next) = (1, 1, 1);
                self.timestamps &= segment.timestamps.is_some();
                self.negotiate_sack(segment);
                let asks = segment.flags.has(Flags::ECE.and(Flags::CWR));
                self.ecn = self.config.ecn != Ecn::Off && asks;
                self.echo = segment.timestamps.map_or(Instant::ZERO, |t| t.value);
                self.send_syn(now, out);
            }
            Phase::Opening => {
                self.syn_lost = true;
                self.disarm();
                self.send_syn(now, out);
            }
            Phase::Idle | Phase::Established | Phase::Done => {}
        }
    }

    fn on_handshake(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let answers = segment.flags.has(Flags::SYN) != self.passive;
        if !answers || segment.seq != u64::from(self.passive) || segment.ack != 1 {
            return;
        }
        self.phase = Phase::Established;
        self.una = 1;
        self.peer_next = 1;
        self.peer_window = segment.window;
        if !self.passive {
            self.timestamps &= segment.timestamps.is_some();
            self.negotiate_sack(segment);
        }
        self.echo = segment.timestamps.map_or(Instant::ZERO, |t| t.value);
        if let Some(rtt) = self.take_sample(now, segment, 0) {
            out.push(Command::Rtt(rtt));
        }
        if self.syn_lost {
            self.rtt.after_lost_syn();
            // RFC 5681 §3.1: one segment is the initial window after a lost SYN.
            self.start_ramp(1.0, f64::INFINITY);
        }
        if !self.passive {
            self.ecn = self.config.ecn != Ecn::Off && segment.flags.has(Flags::ECE);
        }
        out.push(Command::Connected);
        self.disarm();
        self.transmit(now, out);
        if self.max == 1 {
            if !self.armed {
                out.push(Command::Cancel(TimerId::Retransmit));
            }
            if !self.passive {
                self.send_ack(now, out);
            }
        }
        self.report_end(out);
    }

    /// RFC 2018 §2: blocks are sent where both SYNs permit them; without, recovery is `NewReno`'s.
    fn negotiate_sack(&mut self, syn: &Segment) {
        if !syn.sack.are_permitted() {
            self.config.recovery = Recovery::NewReno;
        }
    }

    /// Tells once each that the data, and that the connection, has come to its end.
    fn report_end(&mut self, out: &mut Vec<Command>) {
        if !self.closed || self.una < self.end || self.phase == Phase::Done {
            return;
        }
        if !self.acknowledged {
            self.acknowledged = true;
            out.push(Command::Acknowledged);
        }
        let both_closed = self.una > self.end && self.peer_next > 1;
        if both_closed || self.config.close == Close::None {
            self.phase = Phase::Done;
            if let Some(coding) = &mut self.coding {
                coding.blocks.clear();
            }
            out.push(Command::Closed);
        }
    }

    // ---- acknowledgements ----

    fn on_ack(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        self.counters.acks_received += 1;
        if self.coding.is_some() {
            self.on_coded_ack(now, segment, out);
        } else if let Some(sack) = self.config.sack() {
            if segment.ack >= self.una {
                self.on_selective_ack(now, sack, segment, out);
            }
        } else if segment.ack > self.una {
            self.on_new_ack(now, segment, out);
        } else if segment.ack == self.una {
            // RFC 5681 §2: outstanding data, no data, no SYN or FIN, the same window.
            if self.una < self.max && segment.seq_len() == 0 && segment.window == self.peer_window {
                self.on_duplicate_ack(now, out);
            } else {
                self.set_peer_window(segment.window);
                self.transmit(now, out);
            }
        }
    }

    fn on_new_ack(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let flight = self.nxt - self.una;
        let acked = segment.ack - self.una;
        self.una = segment.ack;
        self.nxt = self.nxt.max(self.una);
        self.set_peer_window(segment.window);
        let rtt = self.take_sample(now, segment, flight);
        if let Some(rtt) = rtt {
            out.push(Command::Rtt(rtt));
        }
        // RFC 6298 (5.3); but only the first partial acknowledgement of a recovery restarts the
        // timer (RFC 6582 §3.2, the impatient variant).
        let mut restart = true;
        match self.state {
            State::Recovery if self.una < self.recover => {
                restart = !self.partial;
                self.inform_cumulatively(now, acked, flight, rtt, Held::Recovering);
                self.on_partial_ack(now, acked, out);
            }
            State::Recovery => {
                // What ends recovery was sent during it, and tests no window.
                self.inform_cumulatively(now, acked, flight, rtt, Held::Once);
                self.leave_recovery();
            }
            State::Open | State::Loss => {
                if self.una >= self.recover {
                    self.state = State::Open;
                }
                let held = if self.on_echo(now, segment) { Held::Marked } else { Held::No };
                self.inform_cumulatively(now, acked, flight, rtt, held);
            }
        }
        self.duplicates = 0;
        self.limited = 0;
        let running = self.running;
        if restart {
            self.disarm();
        }
        self.transmit(now, out);
        if running.is_some() && !self.armed {
            out.push(Command::Cancel(TimerId::Retransmit));
        }
        if self.una >= self.end {
            self.report_end(out);
        }
    }

    /// Tells the controller of a cumulative acknowledgement.
    fn inform_cumulatively(
        &mut self,
        now: Instant,
        acked: u64,
        flight: u64,
        rtt: Option<Duration>,
        held: Held,
    ) {
        self.validate(now, acked);
        let acked = self.segments(acked);
        let used = flight + self.mss;
        if let Some(ramp) = &mut self.ramp
            && used > self.window
            && matches!(held, Held::No | Held::Marked)
        {
            ramp.on_ack(acked.0);
        }
        let ecn_echo = held == Held::Marked;
        self.control.on_ack(&Ack {
            now,
            acked,
            delivered: acked,
            lost: Segments(0.0),
            in_flight: self.segments(self.nxt - self.una),
            rtt,
            srtt: self.rtt.srtt().unwrap_or_default(),
            rtt_min: self.rtt.least().unwrap_or_default(),
            delivery: None,
            may_grow: self.ramp.is_none() && used > self.window && held == Held::No,
            recovery: held == Held::Recovering,
            ecn_echo,
            marked: if ecn_echo { acked } else { Segments(0.0) },
        });
        self.refresh_window();
    }

    /// RFC 7323 §4.1 with timestamps, else Karn's algorithm (RFC 6298 §3) on one segment at a
    /// time.
    fn take_sample(&mut self, now: Instant, segment: &Segment, flight: u64) -> Option<Duration> {
        let (rtt, per_round) = if self.timestamps {
            // RFC 7323 Appendix G: a sample for every second segment of a round trip.
            let samples = flight.div_ceil(2 * self.mss).max(1);
            (now.since(segment.timestamps?.echo), samples)
        } else {
            let (_, sent) = self.timed.take_if(|(end, _)| *end <= segment.ack)?;
            (now.since(sent), 1)
        };
        self.rtt.sample(rtt, per_round);
        Some(rtt)
    }

    // ---- window ----

    fn segments(&self, bytes: u64) -> Segments {
        Segments(bytes as f64 / self.mss as f64)
    }

    /// Asks the controller for its window again. A window below one segment, or none at all (NaN),
    /// is one segment.
    fn refresh_window(&mut self) {
        let mut window = self.control.window().0.max(1.0);
        match self.ramp {
            Some(ramp) if ramp.window < window => window = ramp.window,
            _ => self.ramp = None,
        }
        self.window = (window * self.mss as f64) as u64;
    }

    fn start_ramp(&mut self, window: f64, ssthresh: f64) {
        self.ramp = Some(Ramp { window, ssthresh });
        self.refresh_window();
    }

    /// RFC 5681 §4.1: after an idle time the acknowledgement clock has stopped.
    fn restart_if_idle(&mut self, now: Instant) {
        if self.validation.is_some() {
            self.decay(now);
            return;
        }
        let idle = now.since(self.last_sent) > self.rtt.rto();
        // The restart window: min(IW, cwnd).
        let restart = self.config.initial_window.0.max(1.0);
        if idle && self.config.restart_after_idle && restart < self.window_segments() {
            let ssthresh = self.ssthresh_segments().unwrap_or(f64::INFINITY);
            self.start_ramp(restart, ssthresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::NewReno;
    use crate::script::{Driven, FLOW, config, ms, segment};

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
        // Karn: no sample. RFC 6298 (5.7): 3 s. RFC 5681 §3.1: one segment.
        assert_eq!(tcp.syn_ack(3100), "connected, 1:101, rto@6100");
        assert_eq!(tcp.ack(3200, 101), "rtt 100, 101:201, 201:301, rto@3500");
        assert_eq!(tcp.sender.window_segments(), 2.0);
        assert_eq!(tcp.ack(3300, 301), "rtt 100, 301:401, 401:501, 501:601, 601:701, rto@3550");
        assert_eq!(tcp.sender.counters().timeouts, 2);
        assert_eq!(tcp.sender.state(), State::Open);
    }

    #[test]
    fn a_timestamp_measures_even_a_lost_syn() {
        let config = Config { timestamps: true, ..config() };
        let mut tcp = Driven::new(&config);
        tcp.open(0);
        tcp.timer(1000);
        let timestamps = Some(wire::Timestamps { value: ms(1050), echo: ms(1000) });
        let flags = Flags::SYN.and(Flags::ACK);
        let reply = Segment { timestamps, ..segment(false, 0, 0, 1, flags) };
        assert_eq!(tcp.segment(1080, &reply), "rtt 80, connected, rto off, ack 1");
        assert_eq!(tcp.sender.rto(), Duration::from_millis(240));
    }

    #[test]
    fn timestamps_need_both_ends() {
        let config = Config { timestamps: true, ..config() };
        let mut tcp = Driven::new(&config);
        tcp.sender.on_open(ms(0), &mut tcp.out);
        let Command::Send(syn) = tcp.out[0] else { panic!() };
        assert!(syn.timestamps.is_some());
        tcp.out.clear();
        tcp.write(0, 100);
        tcp.sender.on_segment(
            ms(100),
            &segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK)),
            &mut tcp.out,
        );
        let data = tcp.out.iter().find_map(|command| match command {
            Command::Send(segment) => Some(*segment),
            _ => None,
        });
        assert_eq!(data.unwrap().timestamps, None);
    }

    #[test]
    fn segments_of_others_are_ignored() {
        let (mut tcp, _) = Driven::connected(&config(), 1000);
        let ack = segment(false, 1, 0, 201, Flags::ACK);
        assert_eq!(tcp.segment(200, &Segment { connection: 4, ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { flow: FlowId(9), ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { forward: true, ..ack }), "");
        assert_eq!(tcp.segment(200, &Segment { flags: Flags::NONE, ..ack }), "");
        assert_eq!(tcp.ack(200, 5000), "", "never sent");
        assert_eq!(tcp.sender.counters().acks_received, 0);
        assert_eq!(tcp.ack(200, 201), "rtt 100, 401:501, 501:601, 601:701, 701:801, rto@450");
        assert_eq!(tcp.ack(200, 101), "", "old");
        assert_eq!(tcp.sender.counters().duplicate_acks, 0);
        assert_eq!(FLOW, tcp.sender.flow);
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
        assert_eq!(tcp.sender.window_segments(), 7.0, "once beyond what is used, it stays");
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
        tcp.syn_ack(1100);
        tcp.write(1200, 100);
        tcp.ack(1300, 101);
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
    fn one_segment_at_a_time_is_measured_without_timestamps() {
        let (mut tcp, _) = Driven::connected(&config(), u64::MAX);
        assert!(tcp.ack(210, 101).starts_with("rtt 110, "), "the first is timed");
        assert!(!tcp.ack(211, 201).contains("rtt"), "then one that left at 210");
        assert!(!tcp.ack(212, 301).contains("rtt"));
        assert!(!tcp.ack(213, 401).contains("rtt"));
        assert!(tcp.ack(330, 501).starts_with("rtt 120, "));
    }

    #[test]
    fn with_timestamps_each_acknowledgement_is_a_sample() {
        let config = Config { timestamps: true, ..config() };
        let mut tcp = Driven::new(&config);
        tcp.open(0);
        tcp.write(0, u64::MAX);
        let timestamps = Some(wire::Timestamps { value: ms(50), echo: ms(0) });
        let flags = Flags::SYN.and(Flags::ACK);
        tcp.segment(100, &Segment { timestamps, ..segment(false, 0, 0, 1, flags) });
        assert!(tcp.ack_echo(210, 101, 100).starts_with("rtt 110, "));
        assert!(tcp.ack_echo(230, 201, 100).starts_with("rtt 130, "));
        assert!(tcp.ack_echo(240, 301, 100).starts_with("rtt 140, "));
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
            fn on_hint(&mut self, hint: &Hint) {
                let Hint::LinkRate(rate) = hint;
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
        let (tell, told) = std::sync::mpsc::channel();
        let mut tcp = Driven::with(&config(), Box::new(Seen(tell)));
        tcp.write(0, 600);
        tcp.open(0);
        tcp.syn_ack(100);
        tcp.ack(180, 251);
        tcp.ack(300, 601);
        let (first, last) = (told.recv().unwrap(), told.recv().unwrap());
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
