//! What limits the sender: how long each reason kept an established connection from sending more.
//! The Extended Statistics MIB of TCP counts such times (RFC 4898, `tcpEStatsStackSndLimTimeRwin`,
//! `SndLimTimeCwnd` and `SndLimTimeSnd`); here application, small segments,
//! stand-by, pacing, the queue of the node and recovery are apart.

use super::Sender;
use super::gauges::State;
use super::recovery::LossRecovery;
use kernel::{Duration, Instant};

/// Why a sender sends no more for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The receive window is full.
    ReceiveWindow,
    /// The application has written no more data.
    Application,
    /// The congestion window is full, and no loss is being repaired.
    CongestionWindow,
    /// A loss is being repaired, in fast recovery or after a timeout.
    Recovery,
    /// The windows allow another segment, and the pacing rate allows it later.
    Pacing,
    /// Less than a full segment waits, and Nagle's algorithm, Minshall's, CORK or the avoidance of
    /// silly windows holds it back.
    SmallSegment,
    /// The route to the receiver has failed, and the sender stands by.
    StandBy,
    /// Enough of the connection waits in the queue of the node (TCP small queues).
    SmallQueue,
}

/// The number of reasons.
const REASONS: usize = Limit::SmallQueue as usize + 1;

/// The times in which each reason limited a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitTimes([Duration; REASONS]);

impl LimitTimes {
    /// The time in which this reason limited the sender.
    pub fn of(&self, limit: Limit) -> Duration {
        self.0[limit as usize]
    }

    /// The time in which connections were established: the sum over all reasons.
    pub fn total(&self) -> Duration {
        self.0.iter().copied().sum()
    }
}

impl std::ops::AddAssign for LimitTimes {
    fn add_assign(&mut self, other: Self) {
        for (time, more) in self.0.iter_mut().zip(other.0) {
            *time += more;
        }
    }
}

/// The current limit, and the times of all limits until it began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    times: LimitTimes,
    /// None while no connection is established.
    now: Option<Limit>,
    since: Instant,
}

impl Limits {
    /// From now on, this limits the sender.
    #[inline]
    fn set(&mut self, now: Instant, limit: Option<Limit>) {
        if limit != self.now {
            self.end(now);
            self.now = limit;
        }
    }

    /// Adds the time until now to that of the current limit.
    fn end(&mut self, now: Instant) {
        if let Some(limit) = self.now {
            self.times.0[limit as usize] += now.since(self.since);
        }
        self.since = now;
    }
}

impl Sender {
    /// The times in which each reason limited the sender, until now.
    pub fn limit_times(&self, now: Instant) -> LimitTimes {
        let mut limits = self.limits;
        limits.end(now);
        limits.times
    }

    /// Nothing more can be sent for now: records why.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Instant) {
        let limit = self.connection.is_open().then(|| self.limit());
        self.limits.set(now, limit);
    }

    fn limit(&self) -> Limit {
        let (snd, cwnd) = (&self.tcb.snd, self.tcb.cwnd.bytes());
        if self.is_standing_by() {
            return Limit::StandBy;
        }
        if self.recovery.state() != State::Open {
            return Limit::Recovery;
        }
        if self.tcb.pacer.is_waiting() {
            return Limit::Pacing;
        }
        if self.tcb.small_queue.is_throttled() {
            return Limit::SmallQueue;
        }
        if let Some(limit) = self.tcb.bursts.deferred() {
            return limit;
        }
        // Data of a block counts as sent when the block is formed.
        if let LossRecovery::Coded(coded) = &self.recovery
            && coded.in_flight() + coded.unit() > cwnd
        {
            return Limit::CongestionWindow;
        }
        let waiting = snd.end.saturating_sub(snd.nxt);
        if waiting == 0 {
            Limit::Application
        } else if snd.outstanding() + waiting.min(snd.mss) > snd.wnd {
            Limit::ReceiveWindow
        } else if snd.outstanding() + waiting <= cwnd && snd.is_held() {
            Limit::SmallSegment
        } else {
            Limit::CongestionWindow
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Driven, config, ms, segment};
    use crate::{Config, TimerId};
    use kernel::{Duration, Instant, Segments};
    use wire::{Flags, Segment};

    /// The times in ms: receive window, application, congestion window, recovery, pacing. The
    /// others are 0.
    fn times(tcp: &Driven, at: u64) -> [u64; 5] {
        let (first, rest) = all(tcp, at);
        assert_eq!(rest, [0; 3]);
        first
    }

    /// These times, and those of small segments, stand-by and small queues.
    fn all(tcp: &Driven, at: u64) -> ([u64; 5], [u64; 3]) {
        let times = tcp.sender.limit_times(ms(at)).0.map(|time| time.0 / 1_000_000);
        (times[..5].try_into().unwrap(), times[5..].try_into().unwrap())
    }

    #[test]
    fn a_small_segment_that_waits_for_an_acknowledgement_is_named() {
        let config = Config { nagle: crate::Nagle::Nagle, ..config() };
        let (mut tcp, _) = Driven::connected(&config, 0);
        tcp.write(200, 150);
        assert_eq!(all(&tcp, 260), ([0, 100, 0, 0, 0], [60, 0, 0]), "50 bytes wait");
        tcp.ack(300, 101);
        assert_eq!(all(&tcp, 350), ([0, 150, 0, 0, 0], [100, 0, 0]));
    }

    #[test]
    fn time_counts_from_when_the_connection_is_established_to_its_end() {
        let mut tcp = Driven::new(&config());
        tcp.open(0);
        assert_eq!(times(&tcp, 90), [0; 5], "no connection yet");
        tcp.syn_ack(100);
        tcp.write(250, 50);
        assert_eq!(times(&tcp, 300), [0, 200, 0, 0, 0]);
        tcp.ack(350, 51);
        tcp.close(400);
        assert_eq!(tcp.fin_ack(500, 52), "rtt 100, rto off, ack 2, closed");
        assert_eq!(times(&tcp, 900), [0, 400, 0, 0, 0], "the connection is over");
    }

    #[test]
    fn the_window_that_refuses_the_next_segment_is_the_limit() {
        // Four segments of 100 bytes are the initial window.
        let (mut tcp, _) = Driven::connected(&config(), 1000);
        let window = |window, ack| Segment { window, ..segment(false, 1, 0, ack, Flags::ACK) };
        tcp.segment(200, &window(450, 101));
        assert_eq!(times(&tcp, 200), [0, 0, 100, 0, 0], "congestion window");
        assert_eq!(times(&tcp, 260), [60, 0, 100, 0, 0], "450 bytes hold four segments");
        tcp.segment(300, &window(10_000, 101));
        tcp.segment(400, &window(10_000, 501));
        tcp.segment(500, &window(10_000, 901));
        assert_eq!(times(&tcp, 600), [100, 200, 200, 0, 0], "all data was sent at 400 ms");
    }

    #[test]
    fn a_closed_window_counts_as_the_receive_window() {
        let (mut tcp, _) = Driven::connected(&config(), 1000);
        let closed = Segment { window: 0, ..segment(false, 1, 0, 401, Flags::ACK) };
        tcp.segment(200, &closed);
        tcp.timer(450);
        assert_eq!(times(&tcp, 1100), [900, 0, 100, 0, 0]);
    }

    #[test]
    fn the_repair_of_a_loss_is_recovery_whatever_else_limits() {
        let (mut tcp, _) = Driven::connected(&config(), 400);
        assert_eq!(times(&tcp, 150), [0, 50, 0, 0, 0]);
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
        tcp.ack(600, 401);
        assert_eq!(times(&tcp, 650), [0, 350, 0, 200, 0]);
    }

    #[test]
    fn a_segment_that_waits_for_its_time_is_paced() {
        let config = Config { pacing: true, initial_window: Some(Segments(12.5)), ..config() };
        let (mut tcp, first) = Driven::connected(&config, 2000);
        // The first ten are not paced. 2 · 1250 bytes per 100 ms: a segment each 4 ms.
        assert!(first.ends_with("1001:1101, pace@104, rto@400"), "{first}");
        assert_eq!(times(&tcp, 103), [0, 0, 0, 0, 3]);
        tcp.sender.on_timer(Instant(104_000_000), TimerId::Pacing, &mut tcp.out);
        assert_eq!(times(&tcp, 200), [0, 0, 96, 0, 4], "the window is full at 104 ms");
    }

    #[test]
    fn the_times_are_the_time_since_the_connection_was_established() {
        let (mut tcp, _) = Driven::connected(&config(), 5000);
        for (at, ack) in [(200, 101), (210, 301), (220, 301), (230, 301), (240, 301), (400, 901)] {
            tcp.ack(at, ack);
            let times = tcp.sender.limit_times(ms(at + 7));
            assert_eq!(times.total(), Duration::from_millis(at + 7 - 100));
        }
    }
}
