//! The airtime ledger: the use of every nanosecond of the medium.
//!
//! Airtime is accounted for when an exchange begins, from the exchange's own data, and in the gaps
//! between. Each nanosecond of the window is counted exactly once; the checker holds the sum to 100
//! %.

use AirtimeGroup as Group;
use kernel::{Duration, Instant};

/// What is told of a use of airtime.
#[derive(Clone, Copy, Debug)]
pub struct AirtimeFacts {
    /// The result that has its fraction.
    pub name: &'static str,
    /// Its heading in reports.
    pub label: &'static str,
    /// The scenarios that have it.
    pub group: AirtimeGroup,
}

/// The scenarios in which airtime is used in some way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirtimeGroup {
    /// All.
    All,
    /// Those with beacons.
    Beacons,
    /// Those with stations that save power.
    PowerSave,
    /// Those with full duplex.
    FullDuplex,
    /// Those with busy tones.
    BusyTone,
    /// Those with OFDMA.
    Mu,
    /// Those with uplink OFDMA.
    Uplink,
}

kernel::listed! {
    /// The use of a span of the medium's time. A use is declared here and nowhere else: its result
    /// and its place in reports and figures follow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AirtimeKind: AirtimeFacts {
        /// User data; all uses of airtime add up to 1.
        Payload => { name: "payload_fraction", label: "payload", group: Group::All },
        /// TCP acknowledgements without data.
        TcpAck => { name: "tcp_ack_fraction", label: "TCP ACKs", group: Group::All },
        /// Preambles, and PHY, MAC, LLC, IP and transport headers.
        Header => { name: "header_fraction", label: "preambles, headers", group: Group::All },
        /// ACK frames.
        MacAck => { name: "mac_ack_fraction", label: "MAC ACKs", group: Group::All },
        /// RTS and CTS frames.
        RtsCts => { name: "rts_cts_fraction", label: "RTS/CTS", group: Group::All },
        /// Beacons.
        Beacon => { name: "beacon_fraction", label: "beacons", group: Group::Beacons },
        /// Frames of power save: Null frames and PS-Polls.
        PowerSave => { name: "power_save_fraction", label: "power save", group: Group::PowerSave },
        /// Interframe spaces, and back-off while a node has a frame to send.
        IfsBackoff => { name: "ifs_backoff_fraction", label: "IFS, back-off", group: Group::All },
        /// Collisions: frames that overlapped.
        Collision => { name: "collision_fraction", label: "collisions", group: Group::All },
        /// Frames that noise or an interferer corrupted, or whose exchange failed.
        Lost => { name: "lost_fraction", label: "lost frames", group: Group::All },
        /// Two data frames at once, to and from a full-duplex access point.
        TwoFrames => {
            name: "two_frames_fraction", label: "two frames at once", group: Group::FullDuplex,
        },
        /// A busy tone beside the longer of two data frames.
        BusyTone => { name: "busy_tone_fraction", label: "busy tone", group: Group::BusyTone },
        /// Padding of users of an OFDMA PPDU up to the end of the longest, by their shares of the
        /// tones.
        Padding => { name: "padding_fraction", label: "OFDMA padding", group: Group::Mu },
        /// Trigger frames for data or buffer reports, and answers without data.
        Trigger => { name: "trigger_fraction", label: "triggers", group: Group::Uplink },
        /// Idle time, in which no node has a frame to send.
        Idle => { name: "idle_fraction", label: "idle", group: Group::All },
    }
}

/// Attributes every nanosecond of the measured window to one kind, exactly once.
///
/// Spans are entered in the order of time. Each begins at the end of the previous one.
#[derive(Clone, Debug)]
pub struct Ledger {
    from: Instant,
    to: Instant,
    spent: [Duration; AirtimeKind::ALL.len()],
    cursor: Option<Instant>,
    /// Time of the window that no span covers, and time that two spans cover.
    gap: Duration,
    overlap: Duration,
}

impl Ledger {
    /// An empty ledger of the window from `from` to `to`.
    pub fn new(from: Instant, to: Instant) -> Self {
        debug_assert!(from <= to, "a window that ends before it begins");
        Self {
            from,
            to: to.max(from),
            spent: [Duration::ZERO; AirtimeKind::ALL.len()],
            cursor: None,
            gap: Duration::ZERO,
            overlap: Duration::ZERO,
        }
    }

    /// Attributes the part of `start..end` in the window to a kind.
    #[inline]
    pub fn add(&mut self, kind: AirtimeKind, start: Instant, end: Instant) {
        // Mostly the whole span is in the window, and nothing is missing before it.
        if self.cursor == Some(start) && start >= self.from && start <= end && end <= self.to {
            self.spent[kind as usize] += end - start;
            self.cursor = Some(end);
        } else {
            self.enter(kind, start, end);
        }
        debug_assert!(self.contiguous(), "{kind:?} from {start} to {end} leaves a gap or overlaps");
    }

    #[inline(never)]
    fn enter(&mut self, kind: AirtimeKind, start: Instant, end: Instant) {
        // Before the first span, only time in the window can be missing.
        let cursor = self.cursor.unwrap_or(start.min(self.from));
        self.gap += self.inside(cursor, start);
        self.overlap += self.inside(start, cursor.min(end));
        self.spent[kind as usize] += self.inside(start, end);
        self.cursor = Some(end.max(cursor));
    }

    /// The part of a span in the window; empty if the span has its end before its start.
    fn inside(&self, start: Instant, end: Instant) -> Duration {
        end.min(self.to).since(start.max(self.from))
    }

    /// Where the next span must begin; `None` before the first.
    pub fn cursor(&self) -> Option<Instant> {
        self.cursor
    }

    /// Whether every part of the window so far was entered exactly once.
    pub fn contiguous(&self) -> bool {
        self.gap == Duration::ZERO && self.overlap == Duration::ZERO
    }

    /// Time of the window that was not entered.
    pub fn gap(&self) -> Duration {
        self.gap
    }

    /// Time of the window that was entered twice.
    pub fn overlap(&self) -> Duration {
        self.overlap
    }

    /// Length of the window.
    pub fn window(&self) -> Duration {
        self.to - self.from
    }

    /// All time entered.
    pub fn total(&self) -> Duration {
        self.spent.iter().copied().sum()
    }

    /// Time entered under a kind.
    pub fn spent(&self, kind: AirtimeKind) -> Duration {
        self.spent[kind as usize]
    }

    /// Share of the window; the shares of a complete ledger sum to 1. NaN for an empty window.
    pub fn fraction(&self, kind: AirtimeKind) -> f64 {
        self.spent(kind).0 as f64 / self.window().0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether every nanosecond of the window was entered exactly once.
    fn complete(ledger: &Ledger) -> bool {
        ledger.contiguous() && ledger.total() == ledger.window()
    }

    const fn us(us: u64) -> Instant {
        Instant(us * 1000)
    }

    #[test]
    fn spans_are_clipped_to_the_window() {
        let mut ledger = Ledger::new(us(100), us(200));
        ledger.add(AirtimeKind::Idle, us(0), us(110));
        ledger.add(AirtimeKind::Payload, us(110), us(190));
        ledger.add(AirtimeKind::MacAck, us(190), us(230));
        ledger.add(AirtimeKind::Collision, us(230), us(300));
        assert_eq!(ledger.spent(AirtimeKind::Idle), Duration::from_micros(10));
        assert_eq!(ledger.spent(AirtimeKind::Payload), Duration::from_micros(80));
        assert_eq!(ledger.spent(AirtimeKind::MacAck), Duration::from_micros(10));
        assert_eq!(ledger.spent(AirtimeKind::Collision), Duration::ZERO);
        assert_eq!(ledger.fraction(AirtimeKind::Payload), 0.8);
        assert!(complete(&ledger));
    }

    #[test]
    fn one_span_may_cover_the_whole_window() {
        let mut ledger = Ledger::new(us(100), us(200));
        ledger.add(AirtimeKind::Idle, us(0), us(1000));
        assert!(complete(&ledger));
        assert_eq!(ledger.fraction(AirtimeKind::Idle), 1.0);
    }

    #[test]
    fn what_is_missing_at_either_end_is_noticed() {
        let mut late = Ledger::new(us(100), us(200));
        late.enter(AirtimeKind::Idle, us(101), us(200));
        assert_eq!(late.gap(), Duration::from_micros(1));
        assert!(!late.contiguous() && !complete(&late));
        let mut early = Ledger::new(us(100), us(200));
        early.enter(AirtimeKind::Idle, us(100), us(199));
        assert!(early.contiguous() && !complete(&early));
    }

    #[test]
    fn gaps_and_overlaps_are_measured() {
        let mut ledger = Ledger::new(us(0), us(100));
        ledger.enter(AirtimeKind::Idle, us(0), us(10));
        ledger.enter(AirtimeKind::Payload, us(12), us(30));
        assert_eq!((ledger.gap(), ledger.overlap()), (Duration::from_micros(2), Duration::ZERO));
        ledger.enter(AirtimeKind::Header, us(25), us(28));
        assert_eq!(ledger.overlap(), Duration::from_micros(3));
        assert_eq!(ledger.cursor(), Some(us(30)), "a span inside another moves nothing");
        ledger.enter(AirtimeKind::Idle, us(28), us(100));
        assert_eq!(ledger.overlap(), Duration::from_micros(5));
        assert!(!complete(&ledger));
    }

    #[test]
    fn a_gap_and_an_equal_overlap_do_not_pass_for_complete() {
        let mut ledger = Ledger::new(us(0), us(100));
        ledger.enter(AirtimeKind::Idle, us(0), us(40));
        ledger.enter(AirtimeKind::Payload, us(30), us(60));
        ledger.enter(AirtimeKind::Idle, us(70), us(100));
        assert_eq!(ledger.total(), ledger.window());
        assert!(!complete(&ledger));
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "leaves a gap or overlaps"))]
    fn add_insists_on_contiguity() {
        let mut ledger = Ledger::new(us(0), us(100));
        ledger.add(AirtimeKind::Idle, us(0), us(10));
        ledger.add(AirtimeKind::Idle, us(11), us(12));
        assert!(!ledger.contiguous());
    }

    proptest! {
        #[test]
        fn contiguous_spans_sum_to_the_whole(
            spans in prop::collection::vec((0usize..AirtimeKind::ALL.len(), 0u64..5000), 1..200),
            window in (0u64..200_000, 1u64..300_000),
        ) {
            let (from, to) = (Instant(window.0), Instant(window.0 + window.1));
            let mut ledger = Ledger::new(from, to);
            let mut nanoseconds = [0u64; AirtimeKind::ALL.len()];
            let mut now = 0;
            for (kind, length) in spans {
                ledger.add(AirtimeKind::ALL[kind], Instant(now), Instant(now + length));
                let counted = (now..now + length).filter(|&ns| ns >= from.0 && ns < to.0);
                nanoseconds[kind] += counted.count() as u64;
                now += length;
            }
            prop_assert_eq!(complete(&ledger), now >= to.0);
            ledger.add(AirtimeKind::Idle, Instant(now), to.max(Instant(now)));
            nanoseconds[AirtimeKind::Idle as usize] += to.since(Instant(now).max(from)).0;
            prop_assert!(complete(&ledger));
            let fractions: f64 = AirtimeKind::ALL.map(|kind| ledger.fraction(kind)).iter().sum();
            prop_assert!((fractions - 1.0).abs() < 1e-12);
            for kind in AirtimeKind::ALL {
                prop_assert_eq!(ledger.spent(kind).0, nanoseconds[kind as usize]);
            }
        }
    }
}
