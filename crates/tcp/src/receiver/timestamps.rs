//! Timestamps at the receiver: which one is echoed, and the protection against wrapped sequence
//! numbers (PAWS).

use super::Receiver;
use crate::Command;
use kernel::Instant;
use wire::Segment;

/// The clock of timestamps, in nanoseconds (`TCP_TS_HZ`), and how much older a timestamp may be
/// than the last one (`TCP_PAWS_WINDOW`), in its ticks.
const TICK: u64 = 1_000_000;
const REPLAY_WINDOW: u64 = 1;

pub(super) fn ticks(at: Instant) -> u64 {
    at.0 / TICK
}

impl Receiver {
    /// Whether PAWS refuses a segment: its timestamp is older than the last one of data in order
    /// (RFC 7323 §5.3 R1, `tcp_paws_discard`).
    pub(super) fn is_old(&self, segment: &Segment) -> bool {
        let is_older = |value| ticks(value) + REPLAY_WINDOW < ticks(self.recent);
        self.config.paws()
            && segment.seq_end() > segment.seq
            && segment.timestamps.is_some_and(|timestamps| is_older(timestamps.value))
    }

    /// Answers a segment that is refused, and drops it (`tcp_send_dupack`).
    pub(super) fn refuse(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        self.counters.segments += u64::from(segment.len > 0);
        if segment.seq < self.next {
            self.counters.duplicates += u64::from(segment.seq_end() <= self.next);
            self.note_duplicate(segment.seq, segment.seq_end());
            self.hurry();
        }
        self.acknowledge(now, out);
    }

    /// The next echo is that of the earliest segment not yet acknowledged (RFC 7323 §4.3).
    pub(super) fn note_timestamp(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps
            && segment.seq <= self.last_ack
            && timestamps.value >= self.recent
        {
            self.recent = timestamps.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Listening, config, ms, segment};
    use crate::{Config, DelayedAck};
    use kernel::Instant;
    use wire::{Flags, Segment, Timestamps};

    /// What follows when 100 bytes arrive that left at this time.
    fn data(tcp: &mut Listening, at: u64, seq: u64, sent: u64) -> String {
        let timestamps = Some(Timestamps { value: ms(sent), echo: Instant::ZERO });
        tcp.segment(at, &Segment { timestamps, ..segment(true, seq, 100, 1, Flags::ACK) })
    }

    /// A retransmission of 101, which left at 60 ms, has overtaken what follows it.
    fn overtaken(paws: bool) -> Listening {
        let delayed_ack = DelayedAck::None;
        let config = Config { timestamps: true, paws: Some(paws), delayed_ack, ..config() };
        let mut tcp = Listening::new(&config);
        let timestamps = Some(Timestamps::default());
        let syn = Segment { timestamps, ..segment(true, 0, 0, 0, Flags::SYN) };
        tcp.segment(0, &syn);
        assert_eq!(data(&mut tcp, 15, 1, 10), "rto off, deliver 100, ack 101");
        assert_eq!(data(&mut tcp, 70, 101, 60), "deliver 100, ack 201");
        tcp
    }

    #[test]
    fn a_retransmission_that_overtakes_data_lets_it_be_refused() {
        let mut tcp = overtaken(true);
        assert_eq!(data(&mut tcp, 71, 201, 58), "ack 201", "2 ms older");
        assert_eq!(data(&mut tcp, 72, 201, 59), "deliver 100, ack 301", "a tick is tolerated");
        assert_eq!(data(&mut tcp, 73, 401, 20), "ack 301", "above a hole, too");
        assert_eq!(data(&mut tcp, 75, 301, 61), "deliver 100, ack 401");
    }

    #[test]
    fn without_paws_the_age_of_a_segment_does_not_matter() {
        let mut tcp = overtaken(false);
        assert_eq!(data(&mut tcp, 71, 201, 20), "deliver 100, ack 301");
    }
}
