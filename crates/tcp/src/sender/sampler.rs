//! Selects the acknowledgements that give RTT samples: with timestamps each one that acknowledges
//! new data (RFC 7323 §4.1), without them one segment at a time by Karn's algorithm (RFC 6298 §3).

use kernel::{Duration, Instant};
use wire::{Segment, Timestamps};

/// Takes RTT samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum RttSampler {
    /// Both ends send timestamps, or this end offers them; `echo` is the last timestamp of the
    /// peer.
    Timestamps { echo: Instant },
    /// The segment that is being timed, if any.
    Segment(Option<Timed>),
}

/// A segment that is being timed: its end, and when it left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    end: u64,
    at: Instant,
}

impl RttSampler {
    pub(super) fn new(timestamps: bool) -> Self {
        if timestamps { Self::Timestamps { echo: Instant::ZERO } } else { Self::Segment(None) }
    }

    /// The peer's SYN: timestamps are used if both ends offer them.
    pub(super) fn on_syn(&mut self, segment: &Segment) {
        if segment.timestamps.is_none() {
            *self = Self::Segment(None);
        }
    }

    /// A segment of the peer arrived.
    pub(super) fn on_segment(&mut self, segment: &Segment) {
        if let (Self::Timestamps { echo }, Some(timestamps)) = (self, segment.timestamps) {
            *echo = timestamps.value;
        }
    }

    /// A new segment leaves while nothing is being retransmitted.
    pub(super) fn on_send(&mut self, now: Instant, end: u64) {
        if let Self::Segment(timed @ None) = self {
            *timed = Some(Timed { end, at: now });
        }
    }

    /// Stops timing a segment, since it may be retransmitted before it is acknowledged.
    pub(super) fn forget(&mut self) {
        if let Self::Segment(timed) = self {
            *timed = None;
        }
    }

    /// The RTT sample of an acknowledgement of new data, if it gives one, and how many samples are
    /// expected per round trip with `flight` bytes in flight.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        segment: &Segment,
        flight: u64,
        mss: u64,
    ) -> Option<(Duration, u64)> {
        match self {
            Self::Timestamps { .. } => {
                Some((now.since(segment.timestamps?.echo), samples(flight, mss)))
            }
            Self::Segment(timed) => {
                let timed = timed.take_if(|timed| timed.end <= segment.ack)?;
                Some((now.since(timed.at), 1))
            }
        }
    }

    /// The time from the departure of the data that the segment acknowledges to its own departure.
    pub(super) fn forward_delay(&self, segment: &Segment) -> Option<Duration> {
        match self {
            Self::Timestamps { .. } => {
                segment.timestamps.map(|timestamps| timestamps.value.since(timestamps.echo))
            }
            Self::Segment(_) => None,
        }
    }

    /// The timestamps of a segment that leaves now.
    pub(super) fn stamp(&self, now: Instant) -> Option<Timestamps> {
        match *self {
            Self::Timestamps { echo } => Some(Timestamps { value: now, echo }),
            Self::Segment(_) => None,
        }
    }

    /// The timestamp that a segment echoes, if the connection uses timestamps.
    pub(super) fn echoed(&self, segment: &Segment) -> Option<Instant> {
        match self {
            Self::Timestamps { .. } => segment.timestamps.map(|timestamps| timestamps.echo),
            Self::Segment(_) => None,
        }
    }
}

/// RFC 7323 Appendix G: one sample for every second segment of a round trip.
pub(super) fn samples(flight: u64, mss: u64) -> u64 {
    flight.div_ceil(2 * mss).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Driven, config, ms, segment};
    use crate::{Command, Config};
    use wire::Flags;

    fn ack(ack: u64) -> Segment {
        segment(false, 1, 0, ack, Flags::ACK)
    }

    #[test]
    fn karn_times_one_segment_at_a_time_and_none_that_may_be_resent() {
        let mut sampler = RttSampler::new(false);
        sampler.on_send(ms(10), 101);
        sampler.on_send(ms(20), 201);
        assert_eq!(sampler.sample(ms(50), &ack(100), 200, 100), None);
        let sample = sampler.sample(ms(50), &ack(201), 200, 100);
        assert_eq!(sample, Some((Duration::from_millis(40), 1)), "the first, not the second");
        assert_eq!(sampler.sample(ms(60), &ack(301), 200, 100), None);
        sampler.on_send(ms(60), 401);
        sampler.forget();
        assert_eq!(sampler.sample(ms(90), &ack(401), 200, 100), None);
    }

    #[test]
    fn timestamps_need_both_syns() {
        let mut sampler = RttSampler::new(true);
        let stamped =
            Segment { timestamps: Some(Timestamps { value: ms(7), echo: ms(10) }), ..ack(101) };
        sampler.on_syn(&stamped);
        sampler.on_segment(&stamped);
        assert_eq!(sampler.stamp(ms(60)), Some(Timestamps { value: ms(60), echo: ms(7) }));
        assert_eq!(sampler.echoed(&stamped), Some(ms(10)));
        // Five segments in flight: three samples per round trip.
        let sample = sampler.sample(ms(60), &stamped, 500, 100);
        assert_eq!(sample, Some((Duration::from_millis(50), 3)));
        sampler.on_syn(&ack(101));
        assert_eq!((sampler.stamp(ms(60)), sampler.echoed(&stamped)), (None, None));
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
        let timestamps = Some(Timestamps { value: ms(50), echo: ms(0) });
        let flags = Flags::SYN.and(Flags::ACK);
        tcp.segment(100, &Segment { timestamps, ..segment(false, 0, 0, 1, flags) });
        assert!(tcp.ack_echo(210, 101, 100).starts_with("rtt 110, "));
        assert!(tcp.ack_echo(230, 201, 100).starts_with("rtt 130, "));
        assert!(tcp.ack_echo(240, 301, 100).starts_with("rtt 140, "));
    }
}
