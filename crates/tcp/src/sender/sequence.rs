//! The send sequence space (RFC 9293 §3.3.1): the data that was written, sent and acknowledged, and
//! the data that may be sent next. Sequence number 0 is the SYN, data starts at 1, and the FIN
//! follows the data.

use super::small::SmallSegments;
use crate::{Close, Config};

/// The send sequence space of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendSequence {
    /// Bytes of a full segment.
    pub(super) mss: u64,
    /// Whether each write is rounded up to full segments.
    pads: bool,
    /// Whether a FIN ends the data.
    has_fin: bool,

    /// SND.UNA: the lowest sequence number not acknowledged.
    pub(super) una: u64,
    /// SND.NXT: the next to send; below `max` while data is retransmitted after a timeout.
    pub(super) nxt: u64,
    /// One past the highest sent.
    pub(super) max: u64,
    /// SND.WND: the receiver's window.
    pub(super) wnd: u64,
    /// The largest window that the receiver has advertised.
    pub(super) max_wnd: u64,
    /// One past the data written so far.
    pub(super) end: u64,
    /// No more data will be written.
    closed: bool,
    /// What holds back segments that are not full.
    pub(super) small: SmallSegments,
}

/// The sequence numbers that are sent and not acknowledged, from SND.UNA to SND.NXT (RFC 9293
/// §3.3.1). What is sent from its end on is acknowledged a round trip later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    pub(super) una: u64,
    pub(super) nxt: u64,
}

/// The range that one segment carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) seq: u64,
    pub(super) len: u64,
    pub(super) fin: bool,
}

impl Span {
    /// One past its last sequence number.
    pub(super) fn end(&self) -> u64 {
        self.seq + self.len + u64::from(self.fin)
    }
}

impl SendSequence {
    pub(super) fn new(config: &Config) -> Self {
        let mss = config.mss().0;
        assert!(mss > 0, "a segment holds at least a byte");
        Self {
            mss,
            pads: config.pad_last,
            has_fin: config.close == Close::Fin,
            una: 0,
            nxt: 0,
            max: 0,
            wnd: 0,
            max_wnd: 0,
            end: 1,
            closed: false,
            small: SmallSegments::new(config.nagle),
        }
    }

    /// The receiver advertises this window.
    pub(super) fn set_window(&mut self, window: u64) {
        self.wnd = window;
        self.max_wnd = self.max_wnd.max(window);
    }

    /// The SYN is sent.
    pub(super) fn open(&mut self) {
        (self.nxt, self.max) = (1, 1);
    }

    /// The application writes data. An amount near the greatest number is an unlimited transfer.
    pub(super) fn write(&mut self, amount: u64) {
        let padded = match amount.checked_next_multiple_of(self.mss) {
            Some(padded) if self.pads => padded,
            _ => amount,
        };
        self.end = self.end.saturating_add(padded);
    }

    /// The application has no more data.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// The application withdraws the data that was not sent yet.
    pub(super) fn take_back(&mut self) {
        self.end = self.end.min(self.max.max(1));
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether all data is written and acknowledged.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.closed && self.una >= self.end
    }

    /// Whether the FIN was sent.
    pub(super) fn is_fin_sent(&self) -> bool {
        self.closed && self.max > self.end
    }

    pub(super) fn is_fin_acknowledged(&self) -> bool {
        self.una > self.end
    }

    /// Outstanding data: sent and not acknowledged cumulatively.
    pub(super) fn outstanding(&self) -> u64 {
        self.max - self.una
    }

    /// Whether nothing is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.una == self.max
    }

    /// Whether all data was sent, and only the FIN remains.
    pub(super) fn is_fin_next(&self) -> bool {
        self.closed && self.has_fin && self.nxt == self.end
    }

    /// The next segment, given the bytes in flight and the congestion window. Segments are full,
    /// except those that `may_send_small` permits.
    pub(super) fn cut(&self, in_flight: u64, window: u64) -> Option<Span> {
        let seq = self.nxt;
        let waiting = self.end.saturating_sub(seq);
        if waiting == 0 {
            return self.is_fin_next().then_some(Span { seq, len: 0, fin: true });
        }
        let mut len = waiting.min(self.mss);
        if in_flight + len > window {
            return None;
        }
        let outstanding = seq - self.una;
        if seq < self.max {
            if outstanding + len > self.wnd {
                // Data that is retransmitted was within the receive window when it was first sent.
                len = len.min(self.max - seq);
            }
        } else {
            len = len.min(self.wnd.saturating_sub(outstanding));
            if len < self.mss && !self.may_send_small(len, waiting) {
                return None;
            }
        }
        Some(Span { seq, len, fin: self.closed && self.has_fin && len == waiting })
    }

    /// The first segment that is outstanding.
    pub(super) fn first(&self) -> Span {
        let sent = self.max.min(self.end) - self.una.min(self.end);
        let len = sent.min(self.mss);
        let fin = self.una + len == self.end && self.max > self.end;
        Span { seq: self.una, len, fin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness;

    /// An established connection with this much data written and a receive window of 1000 bytes.
    fn written(amount: u64) -> SendSequence {
        let mut snd = SendSequence::new(&harness::config());
        snd.open();
        snd.una = 1;
        snd.set_window(1000);
        snd.write(amount);
        snd
    }

    fn cut(snd: &SendSequence, in_flight: u64, window: u64) -> Option<(u64, u64, bool)> {
        snd.cut(in_flight, window).map(|span| (span.seq, span.len, span.fin))
    }

    #[test]
    fn segments_are_full_but_for_the_last() {
        let mut snd = written(150);
        assert_eq!(cut(&snd, 0, 1000), Some((1, 100, false)));
        assert_eq!(cut(&snd, 901, 1000), None, "the congestion window is full");
        (snd.nxt, snd.max) = (101, 101);
        assert_eq!(cut(&snd, 100, 1000), Some((101, 50, false)));
        (snd.nxt, snd.max) = (151, 151);
        assert_eq!(cut(&snd, 150, 1000), None, "nothing waits");
        assert_eq!(snd.first(), Span { seq: 1, len: 100, fin: false });
    }

    #[test]
    fn the_fin_rides_on_the_last_data_or_follows_it() {
        let mut snd = written(50);
        snd.close();
        assert_eq!(cut(&snd, 0, 1000), Some((1, 50, true)));
        (snd.nxt, snd.max) = (51, 51);
        assert_eq!(cut(&snd, 50, 1000), Some((51, 0, true)));
        (snd.nxt, snd.max) = (52, 52);
        assert_eq!(cut(&snd, 51, 1000), None);
        assert_eq!(snd.first(), Span { seq: 1, len: 50, fin: true });
        snd.una = 51;
        assert!(snd.is_acknowledged(), "the data is; the FIN is not");
        assert_eq!((snd.first().len, snd.first().end()), (0, 52));
    }

    #[test]
    fn a_silly_window_is_not_used() {
        let mut snd = written(500);
        snd.wnd = 60;
        assert_eq!(cut(&snd, 0, 1000), None, "60 bytes are less than half of 1000");
        snd.max_wnd = 120;
        assert_eq!(cut(&snd, 0, 1000), Some((1, 60, false)));
        snd.max_wnd = 1000;
        (snd.nxt, snd.max, snd.wnd) = (101, 101, 160);
        assert_eq!(cut(&snd, 100, 1000), None, "60 bytes are less than a segment");
        snd.nxt = 1;
        assert_eq!(cut(&snd, 0, 1000), Some((1, 100, false)), "resent whatever the window is now");
    }

    #[test]
    fn what_was_sent_cannot_be_taken_back() {
        let mut snd = written(500);
        (snd.nxt, snd.max) = (201, 201);
        snd.take_back();
        assert_eq!(snd.end, 201);
    }
}
