//! The transmission control block (RFC 9293 §3.3.1): the state that a connection has with any kind
//! of loss recovery. Loss recovery decides what to send, and sends segments through the block.

use super::burst::Bursts;
use super::ecn::{EcnSender, Marks};
use super::gauges::{SenderCounters, State};
use super::pacer::{self, Pacer};
use super::sampler::RttSampler;
use super::sequence::{Outstanding, SendSequence, Span};
use super::small::override_timeout;
use super::small_queue::SmallQueue;
use super::spurious::Eifel;
use super::stand_by::StandBy;
use super::timer::{Deadlines, Timer};
use super::window::{Congestion, CongestionWindow};
use crate::config::in_header;
use crate::{Cause, Command, Config, Control, Endpoint, RttEstimator, TimerId};
use kernel::{BitRate, Duration, Instant};
use wire::{Flags, FlowId, SackBlocks, Segment};

/// The transmission control block.
#[derive(Debug)]
pub(super) struct Tcb {
    pub(super) flow: FlowId,
    pub(super) connection: u32,
    pub(super) config: Config,

    pub(super) snd: SendSequence,
    /// RCV.NXT: the next sequence number expected from the receiver, which sends no data.
    pub(super) rcv_nxt: u64,
    /// RCV.WND: the window that this end advertises, and the scale of its field.
    pub(super) rcv_wnd: u64,
    rcv_shift: u8,

    pub(super) cwnd: CongestionWindow,
    pub(super) rtt: RttEstimator,
    pub(super) sampler: RttSampler,
    pub(super) ecn: EcnSender,
    pub(super) pacer: Pacer,
    pub(super) small_queue: SmallQueue,
    pub(super) bursts: Bursts,
    pub(super) timer: Timer,
    /// While the sender waits for a route.
    pub(super) stand_by: Option<StandBy>,
    /// When the timer of the congestion control expires.
    pub(super) control_timer: Option<Instant>,
    pub(super) eifel: Eifel,
    /// How the last loss was detected, and the bytes that were retransmitted since.
    loss: Option<Cause>,
    resent: u64,
    /// `snd.una` when the retransmission timer last expired.
    timed_out_at: Option<u64>,
    pub(super) last_sent: Instant,
    pub(super) counters: SenderCounters,
}

impl Tcb {
    pub(super) fn new(
        flow: FlowId,
        connection: u32,
        config: &Config,
        control: Box<dyn Control>,
    ) -> Self {
        Self {
            flow,
            connection,
            config: *config,
            snd: SendSequence::new(config),
            rcv_nxt: 0,
            rcv_wnd: config.window().0,
            rcv_shift: config.window_shift(),
            cwnd: CongestionWindow::new(config, control),
            rtt: RttEstimator::new(config),
            sampler: RttSampler::new(config.timestamps),
            ecn: EcnSender::default(),
            pacer: Pacer::new(config.linux().is_some_and(|linux| linux.pacing_credit)),
            small_queue: SmallQueue::default(),
            bursts: Bursts::default(),
            timer: Timer::default(),
            stand_by: None,
            control_timer: None,
            eifel: Eifel::new(config.eifel),
            loss: None,
            resent: 0,
            timed_out_at: None,
            last_sent: Instant::ZERO,
            counters: SenderCounters::default(),
        }
    }

    // ---- acknowledgements ----

    /// Takes the RTT sample of an acknowledgement of new data, with `flight` bytes in flight before
    /// it.
    pub(super) fn take_sample(
        &mut self,
        now: Instant,
        segment: &Segment,
        flight: u64,
        out: &mut Vec<Command>,
    ) -> Option<Duration> {
        let (rtt, per_round) = self.sampler.sample(now, segment, flight, self.snd.mss)?;
        self.take_rtt(now, rtt, per_round);
        out.push(Command::Rtt(rtt));
        Some(rtt)
    }

    /// The RTT sample that an acknowledgement gives the congestion control. In Linux it is that of
    /// the last segment that the acknowledgement covers and that was sent once (`ca_rtt_us` of
    /// `tcp_clean_rtx_queue`); `last` is when that left.
    pub(super) fn sample_for_control(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        last: Option<Instant>,
    ) -> Option<Duration> {
        match last {
            Some(last) if self.config.linux().is_some() => {
                let rtt = now.since(last);
                self.rtt.note_least(rtt);
                Some(rtt)
            }
            _ => rtt,
        }
    }

    /// Takes an RTT sample, of which this many are expected in a round trip.
    pub(super) fn take_rtt(&mut self, now: Instant, rtt: Duration, per_round: u64) {
        let per_round = if self.config.rtt_scaling { per_round } else { 1 };
        self.rtt.sample(now, rtt, per_round);
    }

    /// The receive window is now this.
    pub(super) fn set_peer_window(&mut self, window: u64) {
        if self.snd.wnd == 0 && window > 0 && self.snd.is_idle() {
            self.rtt.end_back_off();
        }
        self.snd.set_window(window);
    }

    /// This amount was acknowledged cumulatively. RFC 7661 §4.2: not in fast recovery.
    pub(super) fn validate(&mut self, now: Instant, acked: u64, state: State) {
        if state != State::Recovery {
            let srtt = self.rtt.srtt().unwrap_or_default();
            self.cwnd.validate(now, acked, srtt, self.snd.is_idle());
        }
    }

    // ---- loss ----

    /// The window is reduced for a loss.
    pub(super) fn on_loss(&mut self, loss: &Congestion) {
        self.cwnd.reduce(loss);
        self.eifel.on_loss();
        (self.loss, self.resent) = (Some(loss.cause), 0);
        self.ecn.on_reduction(self.snd.max);
        // Karn's algorithm: a segment that is being timed may be retransmitted before it is
        // acknowledged.
        self.sampler.forget();
    }

    /// Returns the congestion marks that the segment, which delivers so many bytes, reports. If
    /// there are any, reduces the window, at most once per window of data (RFC 3168 §6.1.2) and not
    /// while a loss is being repaired. `flight` was outstanding before the segment arrived.
    pub(super) fn on_echo(
        &mut self,
        now: Instant,
        segment: &Segment,
        delivered: u64,
        flight: u64,
        is_open: bool,
    ) -> Marks {
        let sent = Outstanding { una: self.snd.una, nxt: self.snd.max };
        let marks = self.ecn.read(segment, delivered, self.snd.mss, sent);
        if let Marks::Packets(packets) = marks {
            self.counters.marks_reported += packets;
        }
        if marks.any() && is_open && !self.cwnd.reads_marks() && self.snd.una > self.ecn.reduced() {
            self.reduce_for_mark(now, flight);
        }
        marks
    }

    /// Reduces the window for a mark.
    pub(super) fn reduce_for_mark(&mut self, now: Instant, flight: u64) {
        self.counters.marks_answered += 1;
        let (cause, lost, repeated) = (Cause::Ecn, 0, false);
        self.cwnd.reduce(&Congestion { now, cause, lost, flight, repeated });
        self.ecn.on_reduction(self.snd.max);
    }

    /// The retransmission timer expired (RFC 6298 (5.5)); returns whether it had already expired
    /// for the same segment.
    pub(super) fn on_expiry(&mut self) -> bool {
        self.counters.timeouts += 1;
        self.rtt.back_off();
        self.timed_out_at.replace(self.snd.una) == Some(self.snd.una)
    }

    /// All losses are repaired.
    pub(super) fn on_recovered(&mut self, now: Instant) {
        self.cwnd.on_recovered(now, self.resent);
    }

    /// The last loss was spurious, as an acknowledgement of `acked` bytes shows, after which
    /// `flight` bytes are in flight: restores the window and the timeout. After a spurious timeout
    /// the response is that of RFC 4015 §3.1.
    pub(super) fn undo(&mut self, now: Instant, flight: u64, acked: u64) {
        self.counters.undone += 1;
        self.cwnd.on_undo();
        if self.loss.take() == Some(Cause::Timeout) {
            self.cwnd.revalidate(flight, acked);
            self.rtt.on_spurious_timeout(now);
        }
        self.rtt.end_back_off();
    }

    // ---- sending ----

    /// Before a segment is sent: reduces the window after an idle time.
    pub(super) fn end_idle(&mut self, now: Instant) {
        if self.snd.is_idle() && self.snd.nxt < self.snd.end {
            let (last, rtt) = (self.last_sent, &self.rtt);
            self.cwnd.on_idle_end(now, || now.since(last) > rtt.rto());
        }
    }

    /// Whether the route, the queue of the node and the pacing rate let a segment leave now. If the
    /// rate does not, the pacing timer is set.
    pub(super) fn may_leave(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        self.stand_by.is_none()
            && (self.is_in_burst(now) || self.fits_small_queue() && self.pacer.may_send(now, out))
    }

    /// Whether new data may leave now while no loss is known, with `flight` bytes in flight in a
    /// window of `window` bytes.
    pub(super) fn may_leave_new(
        &mut self,
        now: Instant,
        flight: u64,
        window: u64,
        out: &mut Vec<Command>,
    ) -> bool {
        let waits = !self.is_in_burst(now) && self.defers(now, flight, window);
        !waits && self.may_leave(now, out)
    }

    /// Sends a segment while `flight` bytes are in flight. Only new data is sent as ECN-capable and
    /// carries CWR (RFC 3168 §6.1.2 and §6.1.5).
    pub(super) fn put(
        &mut self,
        now: Instant,
        span: Span,
        fresh: bool,
        flight: u64,
        out: &mut Vec<Command>,
    ) {
        let mut flags = if span.fin { Flags::ACK.and(Flags::FIN) } else { Flags::ACK };
        if span.len > 0 {
            self.counters.segments += 1;
            self.counters.bytes += span.len;
            self.counters.retransmissions += u64::from(!fresh);
            if fresh {
                flags = flags.and(self.ecn.on_new_data());
                if span.len < self.snd.mss {
                    self.snd.small.on_send(span.end());
                }
            }
        }
        if !fresh {
            flags = flags.and(self.ecn.on_old_data());
            self.resent += span.len;
            self.eifel.on_resend(now, span.seq == self.snd.una);
            // Karn's algorithm: no RTT sample of a segment that was sent twice, nor of one whose
            // acknowledgement depends on a retransmission.
            self.sampler.forget();
        }
        if span.len > 0 && self.on_burst(now, span, fresh) {
            flags = flags.and(Flags::PSH);
        }
        self.on_departure(now, span.len, flight, !fresh);
        self.on_queued(span.len);
        out.push(Command::Send(self.segment(now, span.seq, span.len as u32, flags)));
    }

    /// A segment with this much data leaves now, with `flight` bytes in flight before it. This
    /// determines when pacing allows the next.
    pub(super) fn on_departure(&mut self, now: Instant, len: u64, flight: u64, resent: bool) {
        self.last_sent = now;
        self.cwnd.on_send(now, len, flight, resent);
        match self.cwnd.pacing() {
            None if !self.config.pacing => self.pacer.on_unpaced(now),
            Some(rate) if matches!(self.config.endpoint, Endpoint::Rfc) => {
                self.pacer.on_send(now, len, rate);
            }
            own => match self.pacing_rate(own) {
                Some(rate) => self.pacer.on_send(now, len, rate),
                None => self.pacer.on_unpaced(now),
            },
        }
    }

    /// The rate at which a segment that leaves now is paced, if it is: that of the congestion
    /// control, or that of the window.
    fn pacing_rate(&self, own: Option<BitRate>) -> Option<BitRate> {
        let is_linux = matches!(self.config.endpoint, Endpoint::Linux(_));
        let is_first = if is_linux {
            self.counters.segments + self.bursts.left() < pacer::UNPACED
        } else {
            self.counters.segments <= pacer::UNPACED
        };
        if is_first {
            return None;
        }
        own.or_else(|| {
            let (bytes, segments) = (self.cwnd.bytes(), self.cwnd.segments());
            Some(pacer::rate_of(bytes, segments, self.cwnd.ssthresh(), self.rtt.srtt()?))
        })
    }

    pub(super) fn send_ack(&self, now: Instant, out: &mut Vec<Command>) {
        out.push(Command::Send(self.segment(now, self.snd.max, 0, Flags::ACK)));
    }

    pub(super) fn segment(&self, now: Instant, seq: u64, len: u32, flags: Flags) -> Segment {
        let is_syn = flags.has(Flags::SYN);
        let flags = if is_syn { flags } else { flags.and(self.ecn.on_any()) };
        Segment {
            flow: self.flow,
            connection: self.connection,
            forward: true,
            seq,
            len,
            ack: self.rcv_nxt,
            window: in_header(self.rcv_wnd, self.rcv_shift, is_syn),
            flags,
            timestamps: self.sampler.stamp(now),
            sack: SackBlocks::NONE,
            coded: None,
        }
    }

    // ---- the timers ----

    /// Sets the timer that the congestion control asks for; a time that has passed is now.
    pub(super) fn set_control_timer(&mut self, now: Instant, out: &mut Vec<Command>) {
        let wanted = self.cwnd.timer();
        if wanted != self.control_timer {
            self.control_timer = wanted;
            out.push(match wanted {
                Some(at) => Command::Set(TimerId::Control, at.max(now)),
                None => Command::Cancel(TimerId::Control),
            });
        }
    }

    /// RFC 6298 (5.1): the timer runs while data is outstanding.
    pub(super) fn start_timer(&mut self, now: Instant, out: &mut Vec<Command>) {
        if let Some(StandBy { probe_at, .. }) = self.stand_by {
            self.timer.set(Timer::StandBy(probe_at), out);
        } else if self.snd.is_idle() {
            self.set_persist(now, out);
        } else if matches!(self.timer, Timer::Off | Timer::Persist(_)) {
            self.timer.set(Timer::Resend(now + self.rtt.rto()), out);
        }
    }

    /// Sets the timer for the earliest deadline of a loss recovery; `probe` is the probe timeout,
    /// if a tail loss probe may be sent. While nothing is outstanding only a closed window needs
    /// it.
    #[inline]
    pub(super) fn set_deadline(
        &mut self,
        now: Instant,
        is_outstanding: bool,
        deadlines: &mut Deadlines,
        probe: Option<Duration>,
        out: &mut Vec<Command>,
    ) {
        if let Some(StandBy { probe_at, .. }) = self.stand_by {
            self.timer.set(Timer::StandBy(probe_at), out);
        } else if is_outstanding {
            // A reordering window may have passed while the sender stood by.
            deadlines.reorder = deadlines.reorder.map(|at| at.max(now));
            let rto = self.rtt.rto();
            let next = match self.config.linux() {
                None => deadlines.next(now, rto, probe),
                Some(linux) => {
                    let probe = probe.map(|wait| linux.in_ticks(wait));
                    deadlines.next(linux.last_tick(now), linux.in_ticks(rto), probe)
                }
            };
            self.timer.set(next, out);
        } else {
            deadlines.restart();
            self.set_persist(now, out);
        }
    }

    /// RFC 9293 §3.8.6.1: while the receive window is closed and nothing is outstanding whose
    /// acknowledgement would report that it opens, the sender sends zero-window probes. The same
    /// timer is the override timer of silly window avoidance (§3.8.6.2.1).
    pub(super) fn set_persist(&mut self, now: Instant, out: &mut Vec<Command>) {
        let waits = self.snd.nxt < self.snd.end;
        if waits && self.snd.wnd == 0 {
            if !matches!(self.timer, Timer::Persist(_)) {
                self.timer.set(Timer::Persist(now + self.rtt.rto()), out);
            }
        } else if waits && self.snd.cut(0, u64::MAX).is_none() {
            let at = now + override_timeout(self.rtt.rto());
            if !matches!(self.timer, Timer::Persist(earlier) if earlier <= at) {
                self.timer.set(Timer::Persist(at), out);
            }
        } else {
            self.timer.cancel(out);
        }
    }

    /// Sends a zero-window probe: an octet that was acknowledged long ago, which the receiver
    /// answers with its window.
    pub(super) fn on_persist(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.counters.probes += 1;
        self.rtt.back_off();
        out.push(Command::Send(self.segment(now, self.snd.una - 1, 0, Flags::ACK)));
        self.set_persist(now, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;
    use crate::harness::{Driven, config, segment};
    use kernel::{Bytes, Segments};
    use wire::{Flags, SackBlocks, Segment};

    #[test]
    fn what_is_written_together_is_cut_together() {
        let (mut tcp, _) = Driven::connected(&config(), 30);
        assert_eq!(tcp.write(110, 30), "31:61", "no Nagle");
        assert_eq!(tcp.write(120, 250), "61:161, 161:261, 261:311");
        let counters = tcp.sender.counters();
        assert_eq!((counters.segments, counters.bytes, counters.retransmissions), (5, 310, 0));
    }

    #[test]
    fn padding_makes_every_segment_full() {
        let config = Config { pad_last: true, ..config() };
        let (mut tcp, first) = Driven::connected(&config, 101);
        assert_eq!(first, "rtt 100, connected, 1:101, 101:201, rto@400");
        assert_eq!(tcp.write(120, 200), "201:301, 301:401", "a multiple stays as it is");
    }

    #[test]
    fn the_window_counts_whole_segments_and_small_ones_by_their_bytes() {
        let config = Config { initial_window: Some(Segments(2.5)), ..config() };
        let (mut tcp, first) = Driven::connected(&config, 250);
        assert_eq!(first, "rtt 100, connected, 1:101, 101:201, 201:251, rto@400");
        assert_eq!(tcp.write(110, 1), "", "2.5 segments are in flight");
        let (_, first) = Driven::connected(&config, 1000);
        assert_eq!(first, "rtt 100, connected, 1:101, 101:201, rto@400", "2.5 holds two");
    }

    #[test]
    fn a_receiver_window_below_a_segment_still_moves_data() {
        let mut tcp = Driven::new(&Config { window: Some(Bytes(60)), ..config() });
        tcp.open(0);
        tcp.write(0, 150);
        let narrow = Segment { window: 60, ..segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK)) };
        assert_eq!(tcp.segment(100, &narrow), "rtt 100, connected, 1:61, rto@400");
        let narrow = Segment { window: 60, ..segment(false, 1, 0, 61, Flags::ACK) };
        assert_eq!(tcp.segment(200, &narrow), "rtt 100, 61:121, rto@450");
    }

    #[test]
    fn an_opened_window_is_used_at_once() {
        let (mut tcp, first) = Driven::connected(&config(), 1000);
        assert!(first.contains("301:401"));
        let closed = Segment { window: 400, ..segment(false, 1, 0, 101, Flags::ACK) };
        assert_eq!(tcp.segment(200, &closed), "rtt 100, 401:501, rto@450");
        let open = Segment { window: 10_000, ..closed };
        assert_eq!(tcp.segment(210, &open), "501:601", "not a duplicate: the window differs");
        assert_eq!(tcp.sender.counters().duplicate_acks, 0);
    }

    #[test]
    fn an_endless_write_does_not_overflow() {
        let (mut tcp, first) = Driven::connected(&config(), u64::MAX);
        assert!(first.ends_with("301:401, rto@400"));
        assert_eq!(tcp.write(110, u64::MAX), "");
        assert_eq!(tcp.ack(200, 101), "rtt 100, 401:501, 501:601, rto@450");
    }

    #[test]
    fn segments_carry_the_connection() {
        let mut tcp = Driven::new(&config());
        tcp.sender.on_open(kernel::Instant::ZERO, &mut tcp.out);
        let crate::Command::Send(syn) = tcp.out[0] else { panic!() };
        let sack = SackBlocks::NONE;
        assert_eq!(syn, Segment { sack, ..segment(true, 0, 0, 0, Flags::SYN) });
    }
}
