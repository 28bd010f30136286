//! Segments that a connection does not accept, at both ends: resets, and the challenge ACKs that
//! protect a connection from blind in-window attacks (RFC 5961).

use kernel::{Duration, Instant};
use wire::{Flags, Segment};

/// A connection sends at most this many challenge ACKs in a period (§7).
const MOST: u32 = 10;
const PERIOD: Duration = Duration::from_secs(5);

/// The throttle of challenge ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Challenges {
    /// When the period began, and the number of challenge ACKs in it.
    since: Option<Instant>,
    sent: u32,
}

impl Challenges {
    /// Whether a challenge ACK may be sent now; if so, it is counted.
    pub(crate) fn permit(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.since(since) >= PERIOD) {
            (self.since, self.sent) = (Some(now), 0);
        }
        let permitted = self.sent < MOST;
        self.sent += u32::from(permitted);
        permitted
    }
}

/// The effect of a segment with RST on a synchronised connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    Accepted,
    Challenged,
    Ignored,
}

impl Reset {
    /// §3.2: the sequence number must be the next one expected. Anything else up to `edge`, the
    /// right edge of the receive window, may come from a peer that lost its state.
    pub(crate) fn of(seq: u64, next: u64, edge: u64) -> Self {
        if seq == next {
            Self::Accepted
        } else if next < seq && seq < edge {
            Self::Challenged
        } else {
            Self::Ignored
        }
    }
}

/// How long TIME-WAIT lasts: twice the maximum segment lifetime, which is two minutes (RFC 9293
/// §3.4.2).
pub(crate) const TIME_WAIT: Duration = Duration::from_secs(240);

/// Sequence number, acknowledgement number and flags of the RST that answers a segment.
pub(crate) fn refusal(segment: &Segment) -> (u64, u64, Flags) {
    if segment.flags.has(Flags::ACK) {
        (segment.ack, 0, Flags::RST)
    } else {
        (0, segment.seq.saturating_add(segment.seq_len()), Flags::RST.and(Flags::ACK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_needs_the_exact_number() {
        let of = |seq| Reset::of(seq, 100, 1100);
        assert_eq!(of(100), Reset::Accepted);
        assert_eq!((of(101), of(1099)), (Reset::Challenged, Reset::Challenged));
        assert_eq!((of(99), of(1100), of(2000)), (Reset::Ignored, Reset::Ignored, Reset::Ignored));
        assert_eq!(Reset::of(100, 100, 100), Reset::Accepted, "even if the window is closed");
    }

    #[test]
    fn ten_challenges_are_sent_in_five_seconds() {
        let mut challenges = Challenges::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let sent = (0..50).filter(|i| challenges.permit(at(7000 + 99 * i))).count();
        assert_eq!(sent, 10);
        assert!(!challenges.permit(at(11_999)));
        assert!(challenges.permit(at(12_000)));
    }
}
