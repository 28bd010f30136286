//! Receive-window autotuning: the receive buffer grows with the amount that the application reads
//! per round trip, so that the window does not limit the sender (dynamic right-sizing: Fisk and
//! Feng, "Dynamic right-sizing in TCP", 2001). The rules are those of Linux 6.18.
//!
//! Linux counts the memory of packets and advertises the fraction of it that is payload, which is
//! 1/2 at the start. Here all amounts are payload. The fraction cancels out when the buffer grows,
//! so that only two constants contain it: `tcp_rmem` is 128 KiB at the start and at most 32 MiB,
//! which are windows of 64 KiB and 16 MiB. Data above a hole takes no space from the window,
//! because it lies within the window.
//!
//! The receive window grows by default. This departs from "the standard is the default" because a
//! window of 64 KB decides results: over 20 ms it allows 26 Mb/s, whatever the PHY. A sender
//! records what limits it whenever it stops sending, so that every report shows it. Comparisons and
//! models that need a fixed window set it.

use crate::Config;
use kernel::{Bytes, Duration, Instant};
use wire::Segment;

/// The window at the start: half of the default of `tcp_rmem`, in whole segments, and at most the
/// 16 bits of a window that is not scaled.
const FIRST_SPACE: u64 = 131_072 / 2;
const UNSCALED: u64 = 65_535;
/// The initial congestion window of Linux in segments (`TCP_INIT_CWND`): the amount that the
/// application is assumed to have read before the first round trip.
const FIRST_READ: u64 = 10;
/// Below this round-trip time the buffer grows less (`tcp_rcvbuf_low_rtt`).
const LOW_RTT: Duration = Duration::from_millis(1);

/// The largest window by default: half of the maximum of `tcp_rmem`, 32 MiB.
pub(crate) const LARGEST: Bytes = Bytes(16 << 20);

/// The window at the start of a connection.
pub(crate) fn first_window(mss: u64, most: Bytes) -> Bytes {
    Bytes((FIRST_SPACE / mss * mss).min(UNSCALED).min(most.0))
}

/// The state of autotuning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Autotuning {
    mss: u64,
    /// The size of the buffer, which only grows, and its maximum.
    buffer: u64,
    most: u64,
    /// The window that may be advertised, which opens gradually up to the buffer (`rcv_ssthresh`).
    open: u64,
    /// The most that the application has read in one round trip (`rcvq_space.space`).
    space: u64,
    /// When the current period began, and one past the data that had been read by then.
    began: Instant,
    read: u64,
    rtt: Option<Duration>,
    /// The last echoed timestamp.
    echo: Instant,
    /// Without timestamps: the right edge of the window at some time, and that time.
    window: Option<(u64, Instant)>,
}

impl Autotuning {
    /// Autotuning from this window on.
    pub(super) fn new(config: &Config) -> Self {
        let (mss, open) = (config.mss().0, config.window().0);
        Self {
            mss,
            buffer: open,
            most: config.window_max().0,
            open,
            space: open.min(FIRST_READ * mss),
            began: Instant::ZERO,
            read: 1,
            rtt: None,
            echo: Instant::ZERO,
            window: None,
        }
    }

    /// The size of the buffer.
    pub(super) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// The window that may be advertised if the application has read all data.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// The connection is established: the first period begins.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.began = now;
    }

    /// A segment with data arrived; before it, `next` was the next byte expected. Measures the
    /// round-trip time: by the timestamp that a full segment echoes, once for each timestamp, or
    /// else by the time in which a whole window arrives.
    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment, next: u64) {
        let Some(timestamps) = segment.timestamps else { return self.time_window(now, next) };
        if timestamps.echo != self.echo && u64::from(segment.len) >= self.mss {
            self.echo = timestamps.echo;
            self.sample(now.since(timestamps.echo), true);
        }
    }

    fn time_window(&mut self, now: Instant, next: u64) {
        if let Some((edge, began)) = self.window {
            if next < edge {
                return;
            }
            // A window takes at least a round trip: only a shorter time is better.
            self.sample(now.since(began), false);
        }
        self.window = Some((next + self.open, now));
    }

    /// The estimate follows a shorter sample at once, a longer one by an eighth.
    fn sample(&mut self, sample: Duration, smooths: bool) {
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample < rtt => sample,
            Some(rtt) if smooths => rtt - rtt / 8 + sample / 8,
            Some(rtt) => rtt,
            None => sample,
        });
    }

    /// Data came into order: the window opens by twice its amount and by at least two segments, as
    /// far as there is `free` space. Data above a hole does not open the window, so that duplicate
    /// ACKs repeat it (RFC 5681 §2).
    #[inline]
    pub(super) fn on_in_order(&mut self, fresh: u64, free: u64) {
        let room = self.buffer.min(free).saturating_sub(self.open);
        if room > 0 {
            self.open += room.min(2 * fresh.max(self.mss));
        }
    }

    /// The application has read all data below `read` and has not read `queued` bytes after it.
    /// Once per round trip, the buffer grows if more was read than in any round trip before.
    /// `beyond` is the distance from the first missing byte to the end of the data above it.
    #[inline]
    pub(super) fn on_read(
        &mut self,
        now: Instant,
        read: u64,
        queued: u64,
        beyond: impl FnOnce() -> u64,
    ) {
        let Some(rtt) = self.rtt else { return };
        if now.since(self.began) < rtt {
            return;
        }
        let amount = (read - self.read).saturating_sub(queued);
        if amount > self.space {
            let wanted = wanted(amount, self.space, rtt).saturating_add(beyond());
            self.buffer = self.buffer.max(wanted.min(self.most));
            self.space = amount;
        }
        (self.began, self.read) = (now, read);
    }
}

/// The buffer for an application that read `amount` bytes in a round trip, and `before` in an
/// earlier one. Twice the amount, because the measurement is one round trip late; and more in
/// proportion to its growth, so that the sender can double its rate in slow start. A growth of the
/// amount over a short round trip says little, and the buffer then grows with the round-trip time.
fn wanted(amount: u64, before: u64, rtt: Duration) -> u64 {
    let twice = 2 * u128::from(amount);
    let more = if rtt < LOW_RTT {
        twice * u128::from(rtt.0) / u128::from(LOW_RTT.0)
    } else {
        2 * (twice * u128::from(amount - before) / u128::from(before.max(1)))
    };
    u64::try_from(twice + more).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use crate::harness::{Listening, config, ms, segment};
    use kernel::BitRate;
    use wire::{Flags, Timestamps};

    /// The setting `T16` of the design note: segments of 1460 bytes.
    fn autotuned(more: &Config) -> Config {
        Config { mss: Some(Bytes(1460)), window: None, ..*more }
    }

    /// Data is read as it arrives, in these amounts per round trip; returns the buffer after each.
    fn buffers(rtt: Duration, amounts: &[u64]) -> Vec<u64> {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        tuning.rtt = Some(rtt);
        tuning.on_established(ms(0));
        let (mut now, mut read) = (ms(0), 1);
        let mut after = |amount: &u64| {
            (now, read) = (now + rtt, read + amount);
            tuning.on_read(now, read, 0, || 0);
            tuning.buffer
        };
        amounts.iter().map(&mut after).collect()
    }

    #[test]
    fn the_first_window_is_whole_segments_of_64_kib_and_at_most_16_bits() {
        let first = |mss, most| first_window(mss, Bytes(most)).0;
        assert_eq!(first(1460, 1 << 24), 64_240);
        assert_eq!(first(1448, 1 << 24), 65_160);
        assert_eq!(first(65_536 / 8, 1 << 24), 65_535);
        assert_eq!(first(1448, 20_000), 20_000, "tcp.window_max_bytes");
    }

    #[test]
    fn the_buffer_grows_with_what_was_read_and_with_its_growth() {
        let rtt = Duration::from_millis(20);
        // 29200 is twice the first 14600: 2 · 29200 · (1 + 2 · 1).
        assert_eq!(buffers(rtt, &[29_200, 58_400, 116_800]), [175_200, 350_400, 700_800]);
        // A quarter more: 2 · 125000 · (1 + 2 / 4).
        assert_eq!(wanted(125_000, 100_000, rtt), 375_000);
    }

    #[test]
    fn below_a_millisecond_the_buffer_grows_with_the_round_trip_time() {
        assert_eq!(wanted(29_200, 14_600, Duration::from_micros(500)), 87_600);
        assert_eq!(wanted(29_200, 14_600, LOW_RTT), 175_200);
    }

    #[test]
    fn the_buffer_only_grows_and_up_to_its_maximum() {
        let rtt = Duration::from_millis(20);
        assert_eq!(buffers(rtt, &[29_200, 1000, 29_200, 29_201])[1..], [175_200; 3]);
        assert_eq!(buffers(rtt, &[10_000_000]), [LARGEST.0]);
        let narrow = Config { window_max: Some(Bytes(100_000)), ..autotuned(&config()) };
        let mut tuning = Autotuning::new(&narrow);
        tuning.rtt = Some(rtt);
        tuning.on_read(ms(20), 29_201, 0, || 0);
        assert_eq!(tuning.buffer, 100_000);
    }

    #[test]
    fn only_a_whole_round_trip_is_measured_and_only_data_that_the_application_had_time_to_read() {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        tuning.on_read(ms(50), 100_001, 0, || 0);
        assert_eq!(tuning.buffer, 64_240, "the round-trip time is not known");
        tuning.rtt = Some(Duration::from_millis(60));
        tuning.on_read(ms(59), 100_001, 0, || 0);
        assert_eq!((tuning.buffer, tuning.read), (64_240, 1), "the period goes on");
        tuning.on_read(ms(60), 29_201, 14_600, || 0);
        assert_eq!((tuning.buffer, tuning.read), (64_240, 29_201), "14600 wait: 14600 count");
    }

    #[test]
    fn data_above_a_hole_is_added() {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        tuning.rtt = Some(Duration::from_millis(20));
        tuning.on_read(ms(20), 29_201, 0, || 50_000);
        assert_eq!(tuning.buffer, 175_200 + 50_000);
    }

    #[test]
    fn each_segment_opens_the_window_by_two_as_far_as_there_is_space() {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        tuning.buffer = 80_000;
        tuning.on_in_order(1460, 80_000);
        assert_eq!(tuning.open, 64_240 + 2920);
        tuning.on_in_order(10, 80_000);
        assert_eq!(tuning.open, 64_240 + 2 * 2920, "a small segment counts as a full one");
        tuning.on_in_order(4380, 72_000);
        assert_eq!(tuning.open, 72_000, "unread data takes the rest");
        tuning.on_in_order(4380, 50_000);
        assert_eq!(tuning.open, 72_000);
        tuning.on_in_order(100_000, 80_000);
        assert_eq!(tuning.open, 80_000);
    }

    #[test]
    fn a_timestamp_is_a_sample_once_and_shorter_samples_count_at_once() {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        let mut echo = |at, echo, len| {
            let timestamps = Some(Timestamps { value: ms(at), echo: ms(echo) });
            let data = Segment { timestamps, ..segment(true, 1, len, 1, Flags::ACK) };
            tuning.on_segment(ms(at), &data, 1);
            tuning.rtt.map(|rtt| rtt.0 / 1_000_000)
        };
        assert_eq!(echo(100, 60, 1459), None, "a small segment may have waited for its data");
        assert_eq!(echo(100, 60, 1460), Some(40));
        assert_eq!(echo(180, 60, 1460), Some(40), "the same timestamp again");
        assert_eq!(echo(240, 120, 1460), Some(50), "7/8 · 40 + 120/8");
        assert_eq!(echo(260, 250, 1460), Some(10), "shorter");
    }

    #[test]
    fn without_timestamps_the_shortest_time_of_a_window_counts() {
        let mut tuning = Autotuning::new(&autotuned(&config()));
        let mut data = |at, next| {
            tuning.on_segment(ms(at), &segment(true, next, 1460, 1, Flags::ACK), next);
            tuning.rtt.map(|rtt| rtt.0 / 1_000_000)
        };
        assert_eq!(data(100, 1), None);
        assert_eq!(data(150, 64_240), None, "one byte of the window is missing");
        assert_eq!(data(160, 64_241), Some(60));
        assert_eq!(data(300, 200_000), Some(60), "140 ms");
        assert_eq!(data(330, 300_000), Some(30));
    }

    /// The unit of a window of up to 16 MiB, and the first window in whole units.
    const UNIT: u64 = 512;
    const FIRST: u64 = 64_000;

    /// A receiver with a round trip of 100 ms: windows of data arrive and are acknowledged; returns
    /// the largest window advertised in each round trip.
    fn windows(config: &Config, rounds: u64, amount: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut tcp = Listening::connected(config);
        let (mut next, mut edge, mut most) = (1, 0, Vec::new());
        for round in 0..rounds {
            let now = ms(100 + 100 * round);
            let mut largest = 0;
            let end = next + amount(largest.max(*most.last().unwrap_or(&64_240)));
            while next + 1460 <= end {
                let echo = Timestamps { value: now, echo: ms(100 * round) };
                let data = segment(true, next, 1460, 1, Flags::ACK);
                let data = Segment { timestamps: Some(echo), ..data };
                tcp.receiver.on_segment(now, &data, &mut tcp.out);
                next += 1460;
                for command in tcp.out.drain(..) {
                    if let Command::Send(ack) = command {
                        assert_eq!(ack.window % (1 << config.window_shift()), 0);
                        let right = ack.ack + ack.window;
                        assert!(right + UNIT > edge, "the right edge moves back by a unit");
                        edge = edge.max(right);
                        largest = largest.max(ack.window);
                    }
                }
            }
            most.push(largest);
        }
        most
    }

    #[test]
    fn a_sender_that_fills_the_window_finds_twice_the_window_after_each_round_trip() {
        let config = Config { timestamps: true, ..autotuned(&config()) };
        let windows = windows(&config, 9, |window| window);
        let doubled = |pair: &[u64]| pair[1] >= 2 * pair[0] || pair[1] == LARGEST.0;
        assert!(windows[1..].windows(2).all(doubled), "{windows:?}");
        assert_eq!(windows.last(), Some(&LARGEST.0));
    }

    #[test]
    fn a_slow_sender_does_not_open_the_window() {
        let config = Config { timestamps: true, ..autotuned(&config()) };
        assert_eq!(windows(&config, 20, |_| 14_600), [FIRST; 20]);
    }

    #[test]
    fn a_fixed_window_stays() {
        let config = Config { window: Some(Bytes(64_240)), ..autotuned(&config()) };
        assert_eq!(windows(&config, 9, |window| window), [64_240; 9]);
    }

    #[test]
    fn unread_data_closes_a_window_that_grows() {
        // 1 Mb/s are 12.5 kB in 100 ms, less than ten segments: the buffer does not grow.
        let read_rate = Some(BitRate::from_mbps(1.0));
        let config = Config { timestamps: true, read_rate, ..autotuned(&config()) };
        let windows = windows(&config, 3, |window| window);
        assert_eq!(windows[0], (64_240 - 1460) / UNIT * UNIT);
        assert!(windows[1] < 64_240 / 2 && windows[2] < 64_240 / 2, "{windows:?}");
    }

    #[test]
    fn a_duplicate_ack_repeats_the_window() {
        let config = autotuned(&config());
        let mut tcp = Listening::connected(&config);
        let mut ack = |seq| {
            let data = segment(true, seq, 1460, 1, Flags::ACK);
            tcp.receiver.on_segment(ms(300), &data, &mut tcp.out);
            tcp.out.drain(..).find_map(|command| match command {
                Command::Send(ack) => Some((ack.ack, ack.window)),
                _ => None,
            })
        };
        assert_eq!(ack(1), Some((1461, FIRST)));
        assert_eq!(ack(2921), Some((1461, FIRST)));
        assert_eq!(ack(4381), Some((1461, FIRST)));
    }
}
