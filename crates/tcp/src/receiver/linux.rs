//! Acknowledgements as Linux 6.18 sends them (`net/ipv4/tcp_input.c`, read and described anew):
//! quick ACKs, the delay of an acknowledgement, compressed SACK ACKs, and generic receive offload.

use super::Receiver;
use super::timestamps::ticks;
use crate::endpoint::Linux;
use crate::{Command, RttEstimator, TimerId};
use kernel::{Duration, Instant};
use wire::{Flags, Segment};

/// The least and the greatest delay of an acknowledgement (`TCP_ATO_MIN`, `TCP_DELACK_MAX`).
const ATO_MIN: Duration = Duration::from_millis(40);
const DELAY_MAX: Duration = Duration::from_millis(200);
/// The most quick ACKs at the start (`TCP_MAX_QUICKACKS`).
const QUICK_MAX: u64 = 16;
/// So many duplicate ACKs leave at once before they are compressed.
const PROMPT_DUPLICATES: u32 = 3;
/// At most so many of them are one (`tcp_comp_sack_nr`).
const COMPRESSED_MOST: u32 = 44;
/// The delay of the others: at most this, and this part of the round-trip time.
const COMPRESSED_DELAY: Duration = Duration::from_millis(1);
const COMPRESSED_PERCENT: u64 = 33;
/// The most segments of 1448 bytes in the 65535 bytes of a merged packet.
const MERGED_BYTES: u64 = 65_535;

/// The state of acknowledging.
#[derive(Debug)]
pub(super) struct Acknowledger {
    rules: Linux,
    mss: u64,
    /// Segments that are still acknowledged at once.
    quick: u64,
    /// The estimated delay of an acknowledgement (`ato`).
    delay: Duration,
    /// When data last arrived.
    last: Option<Instant>,
    /// When the acknowledgement that waits leaves.
    due: Option<Instant>,
    /// Duplicate ACKs since `next` moved, to at most three, and those that one ACK will stand for.
    duplicates: (u64, u32),
    compressed: u32,
    /// The segments that the driver merges now, and the one that arrives.
    merged: Option<Merged>,
    arriving: Merged,
}

/// Segments that arrived at one instant, one after the other, with equal timestamps options: the
/// driver compares the options of headers, in which the clock ticks once a millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Merged {
    at: Instant,
    stamps: Option<[u64; 2]>,
    seq: u64,
    bytes: u64,
    /// Whether they filled a hole, and whether one has PSH.
    hole: bool,
    pushed: bool,
}

impl Acknowledger {
    pub(super) fn new(rules: Linux, mss: u64) -> Self {
        Self {
            rules,
            mss,
            quick: 0,
            delay: Duration::ZERO,
            last: None,
            due: None,
            duplicates: (0, 0),
            compressed: 0,
            merged: None,
            arriving: Merged::default(),
        }
    }

    /// The next segments are acknowledged at once, as many as half of the window holds.
    fn hurry(&mut self, window: u64) {
        let half = (window / (2 * self.mss)).max(2);
        self.quick = self.quick.max(half.min(QUICK_MAX));
        self.delay = ATO_MIN;
    }

    /// Data arrives: the estimate of the time between two arrivals.
    fn on_arrival(&mut self, now: Instant, window: u64, rto: Duration) {
        let Some(last) = self.last.replace(now) else { return self.hurry(window) };
        let gap = now.since(last);
        if gap <= ATO_MIN / 2 {
            self.delay = self.delay / 2 + ATO_MIN / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(rto);
        } else if gap > rto {
            self.hurry(window);
        }
    }

    /// When the acknowledgement of data that arrives now leaves; `None` is at once.
    fn deadline(&self, now: Instant, rtt: &RttEstimator) -> Option<Instant> {
        let mut delay = self.delay;
        if delay > ATO_MIN {
            let srtt = rtt.srtt().map_or(DELAY_MAX, |srtt| srtt.max(ATO_MIN));
            delay = delay.min(srtt).min(DELAY_MAX);
        }
        let later = self.rules.expiry(now, delay);
        match self.due {
            Some(due) if due <= now + self.delay / 4 => None,
            Some(due) => Some(due.min(later)),
            None => Some(later),
        }
    }

    /// Whether the driver merges the segment that arrives with those before it.
    fn merges(&self) -> bool {
        let Merged { at, stamps, seq, bytes, .. } = self.arriving;
        self.merged.is_some_and(|merged| {
            merged.at == at
                && merged.seq + merged.bytes == seq
                && merged.stamps == stamps
                && merged.bytes + bytes <= MERGED_BYTES
        })
    }

    /// An acknowledgement leaves.
    pub(super) fn on_sent(&mut self) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = ATO_MIN;
            }
        }
        (self.due, self.merged, self.compressed) = (None, None, 0);
    }
}

impl Receiver {
    /// A segment with data arrives. If the driver does not merge it with those before it, these are
    /// processed first.
    pub(super) fn on_arrival(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let Some(linux) = &mut self.linux else { return };
        linux.arriving = Merged {
            at: now,
            stamps: segment.timestamps.map(|stamps| [stamps.value, stamps.echo].map(ticks)),
            seq: segment.seq,
            bytes: u64::from(segment.len),
            hole: false,
            pushed: segment.flags.has(Flags::PSH),
        };
        if linux.merged.is_some() && !linux.merges() {
            self.answer_merged(now, out);
        }
    }

    /// Data came into order; `hole` if there was data above a hole before, and `grown` if the
    /// window has opened.
    pub(super) fn answer(&mut self, now: Instant, hole: bool, grown: bool, out: &mut Vec<Command>) {
        let (window, rto) = (self.window(), self.rtt.rto());
        let Some(linux) = &mut self.linux else { return };
        let known = linux.merged;
        if known.is_none() {
            linux.on_arrival(now, window, rto);
        }
        if grown {
            linux.quick = linux.quick.max(1);
        }
        let arriving = linux.arriving;
        let mut merged = known.unwrap_or(Merged { bytes: 0, ..arriving });
        merged.bytes += arriving.bytes;
        merged.hole |= hole;
        merged.pushed |= arriving.pushed;
        linux.merged = Some(merged);
        if !linux.rules.gro {
            self.answer_merged(now, out);
        } else if known.is_none() {
            self.delaying = true;
            out.push(Command::Set(TimerId::DelayedAck, now));
        }
    }

    /// Acknowledges merged segments at once or later.
    fn answer_merged(&mut self, now: Instant, out: &mut Vec<Command>) {
        let (is_hurried, reads_at_once) = (self.is_hurried(), !self.reads());
        let Some(linux) = &mut self.linux else { return };
        let Some(Merged { hole, pushed, .. }) = linux.merged.take() else { return };
        // The application has read what came into order, unless it reads slowly.
        let is_read = pushed && linux.rules.pushes() && !hole && reads_at_once;
        let is_filled = hole && self.store.is_empty();
        if is_filled || is_hurried || is_read || self.pending > self.mss || linux.quick > 0 {
            self.acknowledge(now, out);
        } else if hole {
            self.answer_hole(now, out);
        } else {
            match linux.deadline(now, &self.rtt) {
                Some(at) => self.wait_until(at, out),
                None => self.acknowledge(now, out),
            }
        }
    }

    fn wait_until(&mut self, at: Instant, out: &mut Vec<Command>) {
        if let Some(linux) = &mut self.linux {
            linux.due = Some(at);
        }
        self.delaying = true;
        out.push(Command::Set(TimerId::DelayedAck, at));
    }

    /// Data arrived above a hole: the first three acknowledgements leave at once, and others
    /// together.
    pub(super) fn answer_hole(&mut self, now: Instant, out: &mut Vec<Command>) {
        let next = self.next;
        let has_sack = self.config.sack().is_some();
        let srtt = self.rtt.srtt();
        let Some(linux) = self.linux.as_mut().filter(|linux| linux.rules.compresses_sack()) else {
            return self.acknowledge(now, out);
        };
        if linux.duplicates.0 != next {
            linux.duplicates = (next, 0);
        }
        let Some(srtt) = srtt.filter(|_| has_sack && linux.duplicates.1 >= PROMPT_DUPLICATES)
        else {
            linux.duplicates.1 += 1;
            return self.acknowledge(now, out);
        };
        linux.compressed += 1;
        if linux.compressed > COMPRESSED_MOST {
            self.acknowledge(now, out);
        } else if linux.due.is_none() {
            let part = Duration(srtt.0 / 100 * COMPRESSED_PERCENT);
            self.wait_until(now + part.min(COMPRESSED_DELAY), out);
        }
    }

    /// Data came again, or outside the window: the sender may have lost acknowledgements.
    pub(super) fn hurry(&mut self) {
        let window = self.window();
        if let Some(linux) = &mut self.linux {
            linux.hurry(window);
        }
    }

    /// The timer of the delayed acknowledgement expired. Returns whether an acknowledgement leaves.
    pub(super) fn is_due(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        let rto = self.rtt.rto();
        let Some(linux) = &mut self.linux else { return true };
        if linux.merged.is_some() {
            self.answer_merged(now, out);
            return false;
        }
        if linux.compressed == 0 {
            linux.delay = Duration(2 * linux.delay.0).min(rto);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Listening, config, segment};
    use crate::{Config, Endpoint, Linux, Recovery, TimerId};
    use kernel::{Bytes, Instant};
    use wire::{Flags, SackBlocks, Segment, Timestamps};

    fn linux(gro: bool) -> Config {
        let endpoint = Endpoint::Linux(Linux { gro, ..Linux::default() });
        Config { endpoint, ..config() }
    }

    /// A receiver with selective acknowledgements that has received a SYN.
    fn listening(config: &Config) -> Listening {
        let mut tcp = Listening::new(&Config { recovery: Recovery::default(), ..*config });
        let sack = SackBlocks::PERMITTED;
        tcp.segment(0, &Segment { sack, ..segment(true, 0, 0, 0, Flags::SYN) });
        tcp
    }

    /// The state after the quick ACKs at the start: next is the next number to send.
    fn after_start(gro: bool) -> (Listening, u64) {
        after_start_of(Linux { gro, ..Linux::default() })
    }

    fn after_start_of(rules: Linux) -> (Listening, u64) {
        let endpoint = Endpoint::Linux(rules);
        let mut tcp = Listening::connected(&Config { endpoint, ..config() });
        let mut next = 1;
        for at in 0..16 {
            tcp.data(10 + at, next, 100);
            tcp.timer(10 + at, TimerId::DelayedAck);
            next += 100;
        }
        (tcp, next)
    }

    #[test]
    fn the_first_sixteen_segments_are_acknowledged_at_once() {
        // rcv_wnd 64240, rcv_mss 1460: 22, at most 16.
        let mut tcp = Listening::connected(&Config {
            mss: Some(Bytes(1460)),
            window: Some(Bytes(64_240)),
            ..linux(false)
        });
        let acked =
            |tcp: &mut Listening, n: u64| tcp.data(10 + n, 1 + 1460 * n, 1460).contains("ack");
        assert!((0..16).all(|n| acked(&mut tcp, n)));
        let later: Vec<bool> = (16..20).map(|n| acked(&mut tcp, n)).collect();
        assert_eq!(later, [false, true, false, true], "and then every second");
    }

    #[test]
    fn a_merged_packet_has_one_acknowledgement() {
        let (mut tcp, next) = after_start(true);
        assert_eq!(tcp.data(50, next, 100), "deliver 100, delay@50");
        for n in 1..32 {
            assert_eq!(tcp.data(50, next + 100 * n, 100), "deliver 100");
        }
        assert_eq!(tcp.timer(50, TimerId::DelayedAck), format!("ack {}", next + 3200));
        let (mut single, next) = after_start(false);
        let acks = (0..32).filter(|n| single.data(50, next + 100 * n, 100).contains("ack")).count();
        assert_eq!(acks, 16, "without GRO every second");
    }

    #[test]
    fn segments_with_other_timestamps_are_not_merged() {
        // Two segments at 50 ms, whose timestamps differ by this many microseconds.
        let acks = |sent_us: u64, echoed_us: u64| {
            let (mut tcp, next) = after_start(true);
            let us = |us| Instant(1000 * us);
            let first = Timestamps { value: us(30_000), echo: us(20_000) };
            let second = Timestamps { value: us(30_000 + sent_us), echo: us(20_000 + echoed_us) };
            let data = segment(true, next, 100, 1, Flags::ACK);
            tcp.segment(50, &Segment { timestamps: Some(first), ..data });
            let next = Segment { timestamps: Some(second), seq: next + 100, ..data };
            !tcp.segment(50, &next).contains("delay@50")
        };
        assert!(acks(999, 999), "the clock of timestamps ticks once a millisecond");
        assert!(!acks(1000, 0));
        assert!(!acks(0, 1000), "the driver compares the echo, too");
    }

    #[test]
    fn a_single_segment_waits_for_40_ms() {
        for gro in [false, true] {
            let (mut tcp, next) = after_start(gro);
            let mut said = tcp.data(50, next, 100);
            if gro {
                said = tcp.timer(50, TimerId::DelayedAck);
            }
            // The tick before, at 48 ms, and ten of them.
            assert!(said.ends_with("delay@88"), "{said}");
            assert_eq!(tcp.timer(88, TimerId::DelayedAck), format!("ack {}", next + 100));
        }
    }

    #[test]
    fn a_segment_with_push_is_acknowledged_at_once() {
        let pushed = Flags::ACK.and(Flags::PSH);
        for (push, said) in [(true, "ack"), (false, "delay@88")] {
            let rules = Linux { gro: false, push: Some(push), ..Linux::default() };
            let (mut tcp, next) = after_start_of(rules);
            let found = tcp.segment(50, &segment(true, next, 100, 1, pushed));
            assert!(found.contains(said), "push = {push}: {found}");
        }
    }

    #[test]
    fn the_fourth_duplicate_and_those_after_it_are_one() {
        let mut tcp = listening(&linux(true));
        // The handshake measures 20 ms, of which 33 % are more than 1 ms.
        tcp.segment(20, &segment(true, 1, 0, 1, Flags::ACK));
        for n in 1..4 {
            assert_eq!(tcp.data(30, 1 + 200 * n, 100), "ack 1");
        }
        assert_eq!(tcp.data(30, 1001, 100), "delay@31");
        assert_eq!(tcp.data(30, 1201, 100), "");
        assert_eq!(tcp.timer(31, TimerId::DelayedAck), "ack 1");
        let mut none = listening(&Config {
            endpoint: Endpoint::Linux(Linux { compressed_sack: Some(false), ..Linux::default() }),
            ..linux(true)
        });
        none.segment(20, &segment(true, 1, 0, 1, Flags::ACK));
        assert!((1..8).all(|n| none.data(30, 1 + 200 * n, 100) == "ack 1"));
    }

    #[test]
    fn at_most_44_duplicates_are_one() {
        let mut tcp = listening(&Config { window: Some(Bytes(100_000)), ..linux(true) });
        tcp.segment(20, &segment(true, 1, 0, 1, Flags::ACK));
        let acks: Vec<u64> =
            (1..100).filter(|n| tcp.data(30, 1 + 200 * n, 100).contains("ack")).collect();
        assert_eq!(acks, [1, 2, 3, 48, 93]);
    }
}
