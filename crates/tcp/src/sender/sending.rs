//! Sending: what the windows allow, segment by segment.

use super::{Expiry, Phase, Sender, State};
use crate::{Close, Command, Ecn, TimerId};
use kernel::{BitRate, Bytes, Instant};
use wire::{Flags, SackBlocks, Segment, Timestamps};

impl Sender {
    /// Sends what the windows allow.
    pub(super) fn transmit(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.una == self.max && self.nxt < self.end {
            self.restart_if_idle(now);
        }
        if self.coding.is_some() {
            self.transmit_coded(now, out);
            return;
        }
        if let Some(sack) = self.config.sack() {
            self.transmit_selectively(now, sack, out);
            return;
        }
        let window = if self.state == State::Recovery { self.inflated } else { self.window };
        while let Some((len, fin)) = self.next_segment(window)
            && self.may_leave(now, out)
        {
            self.send_data(now, self.nxt, len, fin, out);
        }
        self.start_timer(now, out);
    }

    /// RFC 3042: one new segment for each of the first two duplicate acknowledgements, up to two
    /// beyond the window.
    pub(super) fn transmit_limited(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.config.limited_transmit {
            return;
        }
        let extra = u64::from(self.duplicates) * self.mss;
        if let Some((len, fin)) = self.next_segment(self.window.saturating_add(extra)) {
            if self.nxt - self.una + len > self.window {
                self.limited += len;
            }
            self.send_data(now, self.nxt, len, fin, out);
        }
    }

    /// The next segment within this window: its data, and whether the FIN rides on it.
    pub(super) fn next_segment(&self, window: u64) -> Option<(u64, bool)> {
        self.cut(self.nxt - self.una, window)
    }

    /// The next segment beside so much in flight: its data, and whether the FIN rides on it.
    /// Segments are full, but for the last before the application's next write.
    pub(super) fn cut(&self, in_flight: u64, window: u64) -> Option<(u64, bool)> {
        let waiting = self.end.saturating_sub(self.nxt);
        let fin = self.closed && self.config.close == Close::Fin;
        if waiting == 0 {
            return (fin && self.nxt == self.end).then_some((0, true));
        }
        let mut len = waiting.min(self.mss);
        if in_flight + len > window {
            return None;
        }
        let outstanding = self.nxt - self.una;
        if outstanding + len > self.peer_window && self.nxt < self.max {
            // What is resent was within the receiver's window when it was sent.
            len = len.min(self.max - self.nxt);
        } else if outstanding + len > self.peer_window {
            // No silly windows (RFC 9293 §3.8.6.2.1): less than a full segment only if nothing is
            // outstanding that will open the window.
            if outstanding > 0 || self.peer_window == 0 {
                return None;
            }
            len = self.peer_window;
        }
        Some((len, fin && len == waiting))
    }

    /// Resends the first outstanding segment, leaving `nxt` where it is.
    pub(super) fn resend_first(&mut self, now: Instant, out: &mut Vec<Command>) {
        let nxt = self.nxt;
        let sent = self.max.min(self.end) - self.una.min(self.end);
        let len = sent.min(self.mss);
        let fin = self.una + len == self.end && self.max > self.end;
        self.send_data(now, self.una, len, fin, out);
        self.nxt = nxt;
    }

    pub(super) fn send_data(
        &mut self,
        now: Instant,
        seq: u64,
        len: u64,
        fin: bool,
        out: &mut Vec<Command>,
    ) {
        let end = seq + len + u64::from(fin);
        let fresh = seq >= self.max;
        // In the open state nothing is resent (Karn).
        if !self.timestamps && self.timed.is_none() && self.state == State::Open {
            self.timed = Some((end, now));
        }
        self.max = self.max.max(end);
        self.nxt = end;
        self.put(now, seq, len, fin, fresh, out);
    }

    /// Hands a segment down. Only new data asks for an ECN-capable packet, and only it tells that
    /// the window was reduced (RFC 3168 §6.1.2 and §6.1.5).
    pub(super) fn put(
        &mut self,
        now: Instant,
        seq: u64,
        len: u64,
        fin: bool,
        fresh: bool,
        out: &mut Vec<Command>,
    ) {
        let mut flags = if fin { Flags::ACK.and(Flags::FIN) } else { Flags::ACK };
        if len > 0 {
            self.counters.segments += 1;
            self.counters.bytes += len;
            self.counters.retransmissions += u64::from(!fresh);
            if self.ecn && fresh {
                flags = flags.and(Flags::ECT);
                if std::mem::take(&mut self.cwr) {
                    flags = flags.and(Flags::CWR);
                }
            }
        }
        self.last_sent = now;
        self.pace(now, len);
        out.push(Command::Send(self.segment(now, seq, len as u32, flags)));
    }

    /// Whether the pacing rate lets a segment leave now; else the timer is set for when it does.
    pub(super) fn may_leave(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        if self.next_departure <= now {
            return true;
        }
        if !self.pacing {
            self.pacing = true;
            out.push(Command::Set(TimerId::Pacing, self.next_departure));
        }
        false
    }

    /// A segment leaves now: when may the next?
    pub(super) fn pace(&mut self, now: Instant, len: u64) {
        let rate = match self.control.pacing() {
            Some(rate) => rate,
            None if self.config.pacing => {
                let Some(srtt) = self.rtt.srtt() else { return };
                let slow_start = self.window_segments() < self.ssthresh_segments().unwrap_or(1e18);
                // Linux's tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
                let ratio = if slow_start { 2.0 } else { 1.2 };
                BitRate((ratio * self.window as f64 * 8.0 / srtt.as_secs_f64()) as u64)
            }
            None => return,
        };
        // Windows, and the rates made of them, count data without headers.
        let from = self.next_departure.max(now);
        self.next_departure = from + BitRate(rate.0.max(1)).time_for(Bytes(len));
    }

    pub(super) fn send_syn(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.last_sent = now;
        self.timed = (!self.syn_lost).then_some((1, now));
        // RFC 3168 §6.1.1: an ECN-setup SYN, or SYN-ACK.
        let flags = match (self.passive, self.config.ecn != Ecn::Off) {
            (false, true) => Flags::SYN.and(Flags::ECE).and(Flags::CWR),
            (false, false) => Flags::SYN,
            (true, _) if self.ecn => Flags::SYN.and(Flags::ACK).and(Flags::ECE),
            (true, _) => Flags::SYN.and(Flags::ACK),
        };
        let mut syn = self.segment(now, 0, 0, flags);
        if self.config.sack().is_some() {
            syn.sack = SackBlocks::PERMITTED;
        }
        out.push(Command::Send(syn));
        self.start_timer(now, out);
    }

    pub(super) fn send_ack(&mut self, now: Instant, out: &mut Vec<Command>) {
        out.push(Command::Send(self.segment(now, self.max, 0, Flags::ACK)));
    }

    pub(super) fn segment(&self, now: Instant, seq: u64, len: u32, flags: Flags) -> Segment {
        Segment {
            flow: self.flow,
            connection: self.connection,
            forward: true,
            seq,
            len,
            ack: self.peer_next,
            window: self.own_window,
            flags,
            timestamps: self.timestamps.then_some(Timestamps { value: now, echo: self.echo }),
            sack: SackBlocks::NONE,
            coded: None,
        }
    }

    /// RFC 6298 (5.1): the timer runs while something is outstanding.
    pub(super) fn start_timer(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.una < self.max {
            let other = self.running.is_some_and(|(expiry, _)| expiry == Expiry::Persist);
            if !self.armed || other {
                self.set((Expiry::Resend, now + self.rtt.rto()), out);
            }
        } else {
            self.set_persist(now, out);
        }
    }

    // ---- the closed window ----

    /// RFC 9293 §3.8.6.1: while the receiver's window is closed and nothing is outstanding that
    /// would tell of its opening, it is probed.
    pub(super) fn set_persist(&mut self, now: Instant, out: &mut Vec<Command>) {
        let open = self.phase == Phase::Established;
        if open && self.peer_window == 0 && self.nxt < self.end {
            if self.running.is_none_or(|(expiry, _)| expiry != Expiry::Persist) {
                self.set((Expiry::Persist, now + self.rtt.rto()), out);
            }
        } else if self.running.is_some() {
            self.disarm();
            out.push(Command::Cancel(TimerId::Retransmit));
        }
    }

    /// An octet that was acknowledged long ago: the receiver answers it with its window.
    pub(super) fn on_persist(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.counters.probes += 1;
        self.rtt.back_off();
        out.push(Command::Send(self.segment(now, self.una - 1, 0, Flags::ACK)));
        self.set_persist(now, out);
    }

    pub(super) fn set_peer_window(&mut self, window: u64) {
        if self.peer_window == 0 && window > 0 && self.una == self.max {
            self.rtt.end_back_off();
        }
        self.peer_window = window;
    }

    pub(super) fn disarm(&mut self) {
        self.armed = false;
        self.running = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;
    use crate::script::{Driven, config, segment};
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
        let config = Config { initial_window: Segments(2.5), ..config() };
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
