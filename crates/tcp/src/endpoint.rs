//! The endpoint above congestion control and loss recovery: what a stack does of its own beside the
//! RFCs.

use kernel::{BitRate, Bytes, Duration, Instant};
use settings::{Choice, Settings};

/// What both ends of a connection do beside what the RFCs require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Endpoint {
    /// What the RFCs say.
    #[default]
    Rfc,
    /// As Linux: quick ACKs, GRO, compressed SACK ACKs, bursts (GSO) and their deferral, TCP small
    /// queues, and credit for late packets.
    Linux(Linux),
}

/// The version of the kernel whose defaults hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Kernel {
    /// Linux 6.18.
    #[default]
    #[setting(name = "6.18")]
    V6_18,
    /// Linux 6.1, with the corrections up to 6.1.192.
    #[setting(name = "6.1")]
    V6_1,
    /// Linux 4.9: no compressed SACK ACKs, a `pacing_shift` of 10 for radios too, at most 256 KiB
    /// in a small queue, bursts that do not grow for near peers, and an older rule of deferral.
    #[setting(name = "4.9")]
    V4_9,
}

/// The rules of Linux. Beside them `rto_min_ms` is 200, `rto_rule` "linux" and `ssthresh_from`
/// "window", and the control has the rules of Linux, except for keys that have a value.
/// `delayed_ack` has no effect. A queue `fq` of the sender's node paces it, as `pacing = true`
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "LinuxEndpoint")]
pub struct Linux {
    /// The version of the kernel.
    pub version: Kernel,
    /// Clock ticks in a second (`CONFIG_HZ`): 250 in most distributions, 100 or 1000 in others.
    /// Timers of retransmission, probes, reordering and delayed acknowledgements expire at ticks,
    /// and the clocks of CUBIC and BBR count them.
    #[setting(default = 250, range = 24..=1000)]
    pub hz: u32,
    /// Whether the receiver's driver merges segments that arrive at one instant (generic receive
    /// offload), so that one acknowledgement answers up to 45 of them. The driver ath9k does not.
    #[setting(default = true)]
    pub gro: bool,
    /// Whether acknowledgements of data above a hole are delayed after the third
    /// (`tcp_comp_sack_delay_ns`). Default: true, and false in version 4.9.
    pub compressed_sack: Option<bool>,
    /// Whether segments leave in bursts of the size of a packet before segmentation (GSO), which is
    /// what the pacing rate sends in about 2^-`pacing_shift` seconds, at least two segments
    /// (`tcp_tso_autosize`), and at most half of the congestion window. Pacing and small queues
    /// then hold back bursts, not segments.
    #[setting(default = true)]
    pub gso: bool,
    /// Whether the sender waits for further acknowledgements while its windows have room for less
    /// than such a packet, and less than a third of the window (TSO deferral,
    /// `tcp_tso_should_defer`). It waits only if its last segment left within 1 ms and if it
    /// expects the next acknowledgement within 1 ms, or half a round trip if that is less; in
    /// version 4.9 if its last segment left in the same 4 ms and the first outstanding one half a
    /// round trip ago. It never waits while a loss is repaired. Without `gso` it has no effect.
    #[setting(default = true)]
    pub tso_defer: bool,
    /// Whether a packet that leaves late at the pacing rate takes less time of what follows: by the
    /// time it is late, and at most by half its own time (`tcp_update_skb_after_send`, `fq` in
    /// version 4.9).
    #[setting(default = true)]
    pub pacing_credit: bool,
    /// Whether the last segment of such a packet of two or more has PSH (`__tcp_transmit_skb` from
    /// 5.4 on), and a receiver whose application has read everything acknowledges a full segment
    /// with PSH at once (`tcp_measure_rcv_mss` from 6.7 on and in 6.1.58). Default: true, and false
    /// in version 4.9.
    pub push: Option<bool>,
    /// Whether the sender keeps little data in the queue and the device of its own node, and waits
    /// for transmissions to complete (TCP small queues). Not where nodes forward (`[routing]`), and
    /// not at a server without `[wire]`.
    #[setting(default = true)]
    pub small_queues: bool,
    /// The data that may wait there is what the pacing rate sends in 2^-n seconds
    /// (`sk_pacing_shift`), and at least two packets before segmentation. Default: 7, which is 7.8
    /// ms, for senders with a radio (mac80211), and 10 for others and in version 4.9.
    #[setting(range = 0..=20)]
    pub pacing_shift: Option<u32>,
    /// And never more than this (`tcp_limit_output_bytes`). Default: 4 MiB, and 256 KiB in version
    /// 4.9.
    #[setting(key = "limit_output_bytes", range = 1..)]
    pub limit_output: Option<Bytes>,
}

/// The device over which the node of a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// None that reports the end of transmissions.
    None,
    /// A radio.
    Radio,
    /// A wired link.
    Wire,
}

/// `sk_pacing_shift` of a socket, and what mac80211 sets for sockets above a radio.
const PACING_SHIFT: u32 = 10;
const PACING_SHIFT_RADIO: u32 = 7;
/// The largest packet of generic segmentation offload (`gso_max_size`).
const GSO_MOST: u64 = 65_536;
/// The fewest segments of such a packet (`tcp_min_tso_segs`).
const TSO_LEAST: u64 = 2;
/// The burst grows by 2^-(RTT / 512 µs) of the largest packet (`tcp_tso_rtt_log`).
const TSO_RTT_LOG: u32 = 9;
/// The largest header that version 4.9 leaves room for in such a packet (`MAX_TCP_HEADER`).
const LARGEST_HEADER: u64 = 320;

impl Linux {
    /// The rules at a sender.
    #[must_use]
    pub(crate) fn at(self, device: Device) -> Self {
        let by_radio = self.is_recent() && device == Device::Radio;
        let usual = if by_radio { PACING_SHIFT_RADIO } else { PACING_SHIFT };
        Self {
            pacing_shift: Some(self.pacing_shift.unwrap_or(usual)),
            small_queues: self.small_queues && device != Device::None,
            ..self
        }
    }

    fn is_recent(&self) -> bool {
        self.version != Kernel::V4_9
    }

    /// Whether the last segment of a burst has PSH, and receivers answer it.
    pub fn pushes(&self) -> bool {
        self.push.unwrap_or(self.is_recent())
    }

    /// Whether acknowledgements of data above a hole are delayed.
    pub fn compresses_sack(&self) -> bool {
        self.compressed_sack.unwrap_or(self.is_recent())
    }

    /// The most data that may wait in the queue of the sender's node.
    fn limit_output(&self) -> Bytes {
        let usual = if self.is_recent() { 4 << 20 } else { 256 << 10 };
        self.limit_output.unwrap_or(Bytes(usual))
    }

    /// The rules with what the version says of keys without a value.
    #[must_use]
    pub(crate) fn with_version(self) -> Self {
        Self {
            compressed_sack: Some(self.compresses_sack()),
            push: Some(self.pushes()),
            limit_output: Some(self.limit_output()),
            ..self
        }
    }

    /// The length of a tick of the kernel's clock.
    fn tick(&self) -> u64 {
        1_000_000_000 / u64::from(self.hz)
    }

    /// The last tick of the kernel's clock.
    pub(crate) fn last_tick(&self, now: Instant) -> Instant {
        Instant(now.0 - now.0 % self.tick())
    }

    /// This time in whole ticks, rounded up (`usecs_to_jiffies`).
    pub(crate) fn in_ticks(&self, wait: Duration) -> Duration {
        Duration(wait.0.next_multiple_of(self.tick()))
    }

    /// The ticks that a probe and a reordering window last longer (`TCP_TIMEOUT_MIN_US`).
    pub(crate) fn least_timeout(&self) -> Duration {
        Duration(2 * self.tick())
    }

    /// When a timer expires that is set for this time.
    pub(crate) fn expiry(&self, now: Instant, wait: Duration) -> Instant {
        self.last_tick(now) + self.in_ticks(wait)
    }

    /// The bytes that the pacing rate sends in 2^-n seconds.
    fn share(&self, rate: BitRate) -> u64 {
        (rate.0 / 8) >> self.pacing_shift.unwrap_or(PACING_SHIFT)
    }

    /// Segments in a packet of the sender, before it is segmented (`tcp_tso_autosize`).
    pub fn burst_segments(&self, rate: BitRate, mss: Bytes, rtt_min: Option<Duration>) -> u64 {
        let bytes = match self.version {
            Kernel::V6_18 | Kernel::V6_1 => {
                let r = rtt_min.map_or(u64::MAX, |rtt| (rtt.0 / 1000) >> TSO_RTT_LOG);
                let near = if r < 32 { GSO_MOST >> r } else { 0 };
                (self.share(rate) + near).min(GSO_MOST)
            }
            Kernel::V4_9 => self.share(rate).min(GSO_MOST - 1 - LARGEST_HEADER),
        };
        (bytes / mss.0).max(TSO_LEAST)
    }

    /// The bytes that may wait in the queue and the device of the sender's node
    /// (`tcp_small_queue_check`): two packets at least.
    pub fn small_queue(&self, rate: BitRate, mss: Bytes, rtt_min: Option<Duration>) -> Bytes {
        let packet = self.burst_segments(rate, mss, rtt_min) * mss.0;
        Bytes(self.share(rate).max(2 * packet).min(self.limit_output().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1448);

    /// The share of a rate in a shift.
    #[test]
    fn the_share_of_the_pacing_rate_by_hand() {
        let share = |mbps: f64, shift| {
            let linux = Linux { pacing_shift: Some(shift), ..Linux::default() };
            linux.share(BitRate::from_mbps(mbps))
        };
        assert_eq!([10, 8, 7].map(|shift| share(50.0, shift)), [6103, 24_414, 48_828]);
        assert_eq!(share(6.0, 7), 5859);
    }

    #[test]
    fn bursts_follow_the_pacing_rate_and_near_peers_get_larger_ones() {
        let segments = |mbps: f64, shift, rtt_ms| {
            let linux = Linux { pacing_shift: Some(shift), ..Linux::default() };
            let rtt = Some(Duration::from_millis(rtt_ms));
            linux.burst_segments(BitRate::from_mbps(mbps), MSS, rtt)
        };
        let far = 100;
        let rates = [1.0, 10.0, 50.0, 100.0, 400.0];
        assert_eq!(rates.map(|rate| segments(rate, 10, far)), [2, 2, 4, 8, 33]);
        assert_eq!(rates.map(|rate| segments(rate, 7, far)), [2, 6, 33, 45, 45]);
        // 1 ms: 2^15 bytes more; 5 ms: 128.
        assert_eq!([1, 5].map(|rtt| segments(50.0, 10, rtt)), [26, 4]);
        assert_eq!(segments(50.0, 7, 1), 45);
    }

    #[test]
    fn version_4_9_has_smaller_queues_and_bursts() {
        let old = Linux { version: Kernel::V4_9, ..Linux::default() }.at(Device::Radio);
        assert_eq!(
            (old.pacing_shift, old.compresses_sack(), old.pushes()),
            (Some(10), false, false)
        );
        let by_hand = Linux { compressed_sack: Some(true), push: Some(true), ..old };
        assert!(by_hand.compresses_sack() && by_hand.pushes(), "a key that is set wins");
        let segments = |mbps: f64| {
            old.burst_segments(BitRate::from_mbps(mbps), MSS, Some(Duration::from_millis(1)))
        };
        let rates = [1.0, 10.0, 50.0, 100.0, 400.0, 10_000.0];
        assert_eq!(rates.map(segments), [2, 2, 4, 8, 33, 45]);
        let limit = |mbps: f64| old.small_queue(BitRate::from_mbps(mbps), MSS, None).0;
        assert_eq!(limit(50.0), 2 * 4 * 1448);
        assert_eq!(limit(100_000.0), 256 << 10);
        let kept = Linux { pacing_shift: Some(8), limit_output: Some(Bytes(9000)), ..old };
        assert_eq!(kept.at(Device::Radio).small_queue(BitRate::from_mbps(1e3), MSS, None).0, 9000);
    }

    #[test]
    fn at_least_two_packets_may_wait_and_at_most_the_limit() {
        let linux = Linux::default().at(Device::Radio);
        let limit = |mbps: f64| linux.small_queue(BitRate::from_mbps(mbps), MSS, None).0;
        assert_eq!(limit(1.0), 2 * 2 * 1448);
        assert_eq!(limit(50.0), 2 * 33 * 1448, "two packets of 33 segments");
        assert_eq!(limit(1000.0), 1_000_000_000 / 8 / 128);
        assert_eq!(limit(100_000.0), 4 << 20);
        assert_eq!(Linux::default().at(Device::Wire).pacing_shift, Some(10));
    }
}
