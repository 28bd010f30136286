//! Packets before segmentation (GSO of Linux): the segments that leave together, and when a sender
//! waits for acknowledgements that make room for a larger packet (TSO deferral).
//!
//! The rules are those of `tcp_write_xmit`, `tcp_cwnd_test` and `tcp_tso_should_defer` in
//! `net/ipv4/tcp_output.c` of Linux 4.9 and 6.18, of which the newer one asks for an
//! acknowledgement that is near since commit 295ce1eb36ae (6.18-rc2). The write queue of Linux
//! holds packets of 64 KiB; here it is data without boundaries.
//!
//! A burst is a number of segments that leave in one call without further questions to small queue
//! and pacer: segments stay the unit of everything else. Deferral is asked before both, with the
//! room of the windows; each kind of recovery asks it while no loss is known. A window with room
//! that waits counts as used.

use super::limits::Limit;
use super::sequence::{Outstanding, Span};
use super::tcb::Tcb;
use crate::endpoint::Kernel;
use crate::{Command, Endpoint, Linux};
use kernel::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;
use wire::Flags;

/// The packets before segmentation of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Bursts {
    /// When the packet left of which segments are leaving, and how many still belong to it.
    at: Instant,
    left: u64,
    /// The segments of it that have left.
    size: u64,
    /// Of each packet that is outstanding, one past its last sequence number, and when it left.
    sent: VecDeque<(u64, Instant)>,
    /// Why the next packet waits, if it does: during a transmission, and after it.
    deferring: Option<Limit>,
    deferred: Option<Limit>,
}

impl Bursts {
    /// The segments that still belong to the packet that is leaving.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Which window the next packet waits for, if it waits although the windows have room.
    pub(super) fn deferred(&self) -> Option<Limit> {
        self.deferred
    }

    /// The next segment belongs to another packet.
    pub(super) fn end(&mut self) {
        self.left = 0;
    }

    /// When the first packet left of which something is outstanding.
    fn head(&mut self, una: u64) -> Option<Instant> {
        while self.sent.pop_front_if(|&mut (end, _)| end <= una).is_some() {}
        self.sent.front().map(|&(_, at)| at)
    }

    /// New data up to this sequence number leaves, in the last packet or in another one.
    fn record(&mut self, now: Instant, una: u64, end: u64, continues: bool) {
        self.head(una);
        match self.sent.back_mut() {
            Some((last, at)) if continues && *at == now => *last = end,
            _ => self.sent.push_back((end, now)),
        }
    }
}

/// What the next packet depends on, in bytes.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// A packet of full size.
    packet: u64,
    /// What the receive window and the congestion window still allow.
    send: u64,
    congestion: u64,
    /// The smaller of both windows.
    window: u64,
    /// The data that waits, and whether the FIN follows it.
    waiting: u64,
    closes: bool,
    /// When the last segment left, or will have left at the pacing rate.
    last: Instant,
    /// When the first packet left that is outstanding.
    head: Instant,
    srtt: Duration,
}

/// The fraction of the window that is always worth a packet (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// A sender waits only if its last segment left within this time, and, since 6.18, if it expects
/// the next acknowledgement within this time.
const RECENT: Duration = Duration::from_millis(1);
/// A tick of the kernel's clock (`CONFIG_HZ` 250), in nanoseconds. In version 4.9 the last segment
/// has to leave in the same tick.
const TICK: u64 = 4_000_000;

impl Room {
    /// Why a packet waits for acknowledgements, if it does.
    fn deferral(&self, version: Kernel, now: Instant) -> Option<Limit> {
        let limit = self.send.min(self.congestion);
        let is_recent = match version {
            Kernel::V6_18 | Kernel::V6_1 => now <= self.last + RECENT,
            Kernel::V4_9 => now.0 / TICK == self.last.0 / TICK,
        };
        if !is_recent || limit >= self.packet || limit >= self.window / WINDOW_DIVISOR {
            return None;
        }
        let half = Duration(self.srtt.0 / 2);
        let is_near = match version {
            Kernel::V6_18 | Kernel::V6_1 => self.head + self.srtt <= now + half.min(RECENT),
            Kernel::V4_9 => now.since(self.head) >= half,
        };
        let by_window = if self.congestion < self.send {
            (self.congestion <= self.waiting).then_some(Limit::CongestionWindow)
        } else {
            (self.send <= self.waiting).then_some(Limit::ReceiveWindow)
        };
        let closes = self.closes && (version == Kernel::V4_9 || by_window.is_none());
        (is_near && !closes).then_some(by_window.unwrap_or(Limit::Application))
    }
}

impl Tcb {
    /// Whether the next segment belongs to a packet that leaves at this instant.
    pub(super) fn is_in_burst(&self, now: Instant) -> bool {
        self.bursts.left > 0 && self.bursts.at == now
    }

    /// Segments in the next packet if no window limits it.
    fn burst_segments(&self, linux: &Linux) -> u64 {
        let rate = self.linux_rate().unwrap_or(BitRate(u64::MAX));
        linux.burst_segments(rate, Bytes(self.snd.mss), self.rtt.least())
    }

    /// A segment with data leaves: one of a packet, or the first of the next one. A packet is at
    /// most half of the congestion window, so that two are in flight. Returns whether it is the
    /// last of several.
    #[inline]
    pub(super) fn on_burst(&mut self, now: Instant, span: Span, fresh: bool) -> bool {
        if let Endpoint::Linux(linux) = &self.config.endpoint
            && linux.gso
        {
            return self.add_to_burst(*linux, now, span, fresh);
        }
        false
    }

    /// The last segment that has left ends a packet.
    fn push_last(&mut self, out: &mut [Command]) {
        let pushes = self.config.linux().is_some_and(|linux| linux.pushes());
        if !pushes || self.bursts.left == 0 || self.bursts.size < 2 {
            return;
        }
        let last = out.iter_mut().rev().find_map(|command| match command {
            Command::Send(segment) if segment.len > 0 => Some(segment),
            _ => None,
        });
        if let Some(segment) = last {
            segment.flags = segment.flags.and(Flags::PSH);
        }
    }

    fn add_to_burst(&mut self, linux: Linux, now: Instant, span: Span, fresh: bool) -> bool {
        let continues = self.is_in_burst(now);
        if !continues {
            let half = (self.cwnd.segments() as u64 / 2).max(1);
            (self.bursts.at, self.bursts.left) = (now, self.burst_segments(&linux).min(half));
            self.bursts.size = 0;
        }
        self.bursts.left -= 1;
        self.bursts.size += 1;
        // Retransmissions do not count: nothing waits while a loss is repaired.
        if linux.tso_defer && fresh {
            self.bursts.record(now, self.snd.una, span.end(), continues);
        }
        linux.pushes() && self.bursts.left == 0 && self.bursts.size > 1
    }

    /// Whether the sender waits for acknowledgements before it sends new data, with `flight` bytes
    /// in flight in a window of `window` bytes.
    #[inline]
    pub(super) fn defers(&mut self, now: Instant, flight: u64, window: u64) -> bool {
        match self.config.endpoint {
            Endpoint::Linux(linux) if linux.gso && linux.tso_defer => {
                self.examine(&linux, now, flight, window)
            }
            _ => false,
        }
    }

    fn examine(&mut self, linux: &Linux, now: Instant, flight: u64, window: u64) -> bool {
        let snd = &self.snd;
        let (mss, waiting) = (snd.mss, snd.end.saturating_sub(snd.nxt));
        let (Some(head), Some(srtt)) = (self.bursts.head(snd.una), self.rtt.srtt()) else {
            return false;
        };
        // Nagle's algorithm decides on a single segment.
        if waiting <= mss {
            return false;
        }
        let room = Room {
            packet: self.burst_segments(linux) * mss,
            send: snd.wnd.saturating_sub(snd.nxt - snd.una),
            congestion: window.saturating_sub(flight) / mss * mss,
            window: snd.wnd.min(window / mss * mss),
            waiting,
            closes: snd.is_closed(),
            last: match linux.version {
                Kernel::V6_18 | Kernel::V6_1 => self.last_sent.max(self.pacer.due()),
                Kernel::V4_9 => self.last_sent,
            },
            head,
            srtt,
        };
        self.bursts.deferring = room.deferral(linux.version, now);
        self.bursts.deferring.is_some()
    }

    /// The sender has sent all that it may, and `flight` bytes are in flight. A congestion window
    /// whose room waits for more is used.
    pub(super) fn on_transmitted(&mut self, flight: u64, out: &mut [Command]) {
        self.push_last(out);
        self.bursts.end();
        self.bursts.deferred = self.bursts.deferring.take();
        let is_limited = self.bursts.deferred == Some(Limit::CongestionWindow);
        let round = Outstanding { una: self.snd.una, nxt: self.snd.nxt };
        self.cwnd.on_transmitted(flight, is_limited, round);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Driven, config, ms, segment};
    use crate::{Config, Limit};
    use kernel::Segments;

    /// Room for 3 of 40 segments of 100 bytes at 100 ms; packets have 10, and the round trip of 20
    /// ms of the first outstanding one ends now.
    fn room() -> Room {
        Room {
            packet: 1000,
            send: 3000,
            congestion: 300,
            window: 4000,
            waiting: 9000,
            closes: false,
            last: ms(100),
            head: ms(80),
            srtt: Duration::from_millis(20),
        }
    }

    const VERSIONS: [Kernel; 2] = [Kernel::V4_9, Kernel::V6_18];

    #[test]
    fn a_packet_waits_while_there_is_room_for_less_than_it_and_a_third_of_the_window() {
        for version in VERSIONS {
            let deferral = |room: Room| room.deferral(version, ms(100));
            assert_eq!(deferral(room()), Some(Limit::CongestionWindow));
            assert_eq!(deferral(Room { send: 200, ..room() }), Some(Limit::ReceiveWindow));
            let waiting = Room { waiting: 250, ..room() };
            assert_eq!(deferral(waiting), Some(Limit::Application), "more may be written");
            assert_eq!(deferral(Room { closes: true, ..waiting }), None);
            assert_eq!(deferral(Room { congestion: 1000, ..room() }), None, "a packet");
            assert_eq!(deferral(Room { packet: 300, ..room() }), None);
            assert_eq!(deferral(Room { window: 900, ..room() }), None, "a third of the window");
            assert!(deferral(Room { window: 903, ..room() }).is_some());
        }
        // The FIN makes a packet of version 4.9 leave in any case.
        let closes = Room { closes: true, ..room() };
        assert_eq!(
            VERSIONS.map(|version| closes.deferral(version, ms(100)).is_some()),
            [false, true]
        );
    }

    #[test]
    fn a_packet_waits_only_shortly_before_an_acknowledgement_and_after_the_last_segment() {
        let at = |micros: u64| Instant(micros * 1000);
        let waits = |version, last, head, now| {
            let room = Room { last: at(last), head: at(head), ..room() };
            room.deferral(version, at(now)).is_some()
        };
        // Version 6.18: the acknowledgement of what left at 80 ms is expected at 100 ms.
        let [old, new] = VERSIONS;
        assert!(waits(new, 99_000, 80_000, 100_000) && !waits(new, 98_999, 80_000, 100_000));
        assert!(waits(new, 99_000, 80_000, 99_000) && !waits(new, 98_999, 80_000, 98_999));
        assert!(waits(new, 110_000, 80_000, 100_000), "paced: the last segment leaves later");
        // A round trip of 1 ms: half of it before.
        let near = |now| {
            let srtt = Duration::from_millis(1);
            Room { last: at(now), head: at(99_000), srtt, ..room() }.deferral(new, at(now))
        };
        assert!(near(99_500).is_some() && near(99_499).is_none());
        // Version 4.9: the tick from 100 to 104 ms, and half of the round trip.
        assert!(waits(old, 100_000, 80_000, 103_999) && !waits(old, 103_999, 80_000, 104_000));
        assert!(waits(old, 100_000, 90_000, 100_000) && !waits(old, 100_000, 90_001, 100_000));
    }

    /// 40 segments of 100 bytes in a window of 40 that hardly grows, sent at 100 ms after a round
    /// trip of 100 ms. At twice this rate a packet has 62 segments.
    fn forty(rules: Linux) -> Driven {
        let config = Config {
            initial_window: Some(Segments(40.0)),
            initial_ssthresh: Some(Segments(40.0)),
            endpoint: Endpoint::Linux(Linux {
                pacing_shift: Some(3),
                small_queues: false,
                ..rules
            }),
            ..config()
        };
        let (tcp, first) = Driven::connected(&config, u64::MAX);
        assert_eq!(first.matches(':').count(), 40);
        tcp
    }

    fn sent(text: &str) -> usize {
        text.matches(':').count()
    }

    #[test]
    fn acknowledgements_of_one_time_give_one_packet() {
        for (tso_defer, counts) in [(false, [2, 2, 2, 10]), (true, [2, 0, 0, 14])] {
            let mut tcp = forty(Linux { tso_defer, ..Linux::default() });
            // The first acknowledgement follows 100 ms after the last segment, the next two at
            // once; 14 segments are a third of the window.
            let acks = [(200, 201), (200, 401), (201, 601), (201, 1601)];
            let found = acks.map(|(at, ack)| sent(&tcp.ack(at, ack)));
            assert_eq!(found, counts, "tso_defer = {tso_defer}");
        }
    }

    #[test]
    fn a_sender_that_waits_is_limited_by_its_window() {
        let mut tcp = forty(Linux::default());
        tcp.ack(200, 201);
        tcp.ack(200, 401);
        assert_eq!(tcp.sender.in_flight_bytes(), 3800);
        let limited = |tcp: &Driven, at| tcp.sender.limit_times(ms(at)).of(Limit::CongestionWindow);
        let before = limited(&tcp, 200);
        assert_eq!(limited(&tcp, 210).saturating_sub(before), Duration::from_millis(10));
    }

    /// A window of 40 in congestion avoidance, which tells whether acknowledgements may raise it.
    #[derive(Debug)]
    struct Told(std::sync::mpsc::Sender<bool>);

    impl crate::Control for Told {
        fn window(&self) -> Segments {
            Segments(40.0)
        }

        fn on_ack(&mut self, ack: &crate::Ack) {
            self.0.send(ack.may_grow).unwrap();
        }

        fn on_loss(&mut self, _: &crate::Loss) {}

        fn ssthresh(&self) -> Option<f64> {
            Some(20.0)
        }
    }

    #[test]
    fn a_window_whose_room_waits_is_used() {
        let linux = Linux { pacing_shift: Some(3), small_queues: false, ..Linux::default() };
        let (tell, told) = std::sync::mpsc::channel();
        let config = Config { endpoint: Endpoint::Linux(linux), ..config() };
        let mut tcp = Driven::with(&config, Box::new(Told(tell)));
        tcp.open(0);
        tcp.write(0, u64::MAX);
        assert_eq!(sent(&tcp.syn_ack(100)), 40);
        // The second round trip begins with the third acknowledgement, after which room for one
        // segment waits.
        let counts = [(200, 3801), (300, 3901), (300, 4001), (300, 4101)]
            .map(|(at, ack)| sent(&tcp.ack(at, ack)));
        assert_eq!(counts, [38, 1, 0, 0]);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [true; 4]);
    }

    #[test]
    fn a_packet_is_at_most_half_of_the_window() {
        let mut tcp = forty(Linux { tso_defer: false, ..Linux::default() });
        tcp.ack(200, 3901);
        let sizes: Vec<_> = tcp.sender.tcb.bursts.sent.iter().collect();
        assert!(sizes.is_empty(), "only deferral needs them: {sizes:?}");
        let mut tcp = forty(Linux::default());
        tcp.ack(200, 3901);
        let ends: Vec<_> = tcp.sender.tcb.bursts.sent.iter().map(|&(end, _)| end).collect();
        assert_eq!(ends, [4001, 6001, 7901], "the 40 of the start, then 20 and 19");
    }

    #[test]
    fn the_last_segment_of_a_packet_has_push() {
        for (push, expected) in [(true, vec![19, 38]), (false, vec![])] {
            let mut tcp = forty(Linux { tso_defer: false, push: Some(push), ..Linux::default() });
            let ack = segment(false, 1, 0, 3901, Flags::ACK);
            tcp.sender.on_segment(ms(200), &ack, &mut tcp.out);
            let data = tcp.out.iter().filter_map(|command| match command {
                Command::Send(segment) if segment.len > 0 => Some(segment.flags),
                _ => None,
            });
            let pushed: Vec<_> =
                data.enumerate().filter(|(_, flags)| flags.has(Flags::PSH)).collect();
            let places: Vec<_> = pushed.iter().map(|(n, _)| *n).collect();
            assert_eq!(places, expected, "packets of 20 and 19 segments; push = {push}");
        }
    }

    #[test]
    fn a_loss_is_repaired_without_waiting() {
        let mut tcp = forty(Linux::default());
        for at in [200, 200, 200] {
            tcp.ack(at, 1);
        }
        // Recovery inflates the window by a segment for each duplicate acknowledgement: from half
        // of 40 and 3 beyond the 42 in flight.
        let counts = [(); 21].map(|()| sent(&tcp.ack(200, 1)));
        assert_eq!(counts[17..], [0, 0, 1, 1], "{counts:?}");
    }
}
