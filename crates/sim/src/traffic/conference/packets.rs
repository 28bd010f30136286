//! What the packets of a conference carry: the headers of the media, and the reports.

use kernel::{Duration, Instant};
use std::collections::VecDeque;

/// What was sent is known for this long: a packet that takes longer is lost.
const REMEMBERED: Duration = Duration::from_secs(10);

/// A packet of the video: the frame, and the place in it.
pub(super) type Piece = (u32, u16);

/// What is known of a packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Instant,
    pub(super) len: u16,
    /// Nothing of audio.
    pub(super) video: Option<Video>,
}

/// What the headers of a video packet say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video {
    pub(super) piece: Piece,
    /// The number of packets of the frame.
    pub(super) pieces: u16,
    pub(super) captured: Instant,
    pub(super) is_key: bool,
}

/// The packets that were sent, by number.
#[derive(Debug, Default)]
pub(super) struct Log {
    sent: VecDeque<Sent>,
    /// The number of the first of them.
    first: u64,
}

impl Log {
    /// A packet is sent. Returns its number.
    pub(super) fn push(&mut self, sent: Sent) -> u64 {
        while self.sent.front().is_some_and(|oldest| oldest.at + REMEMBERED < sent.at) {
            self.sent.pop_front();
            self.first += 1;
        }
        self.sent.push_back(sent);
        self.first + self.sent.len() as u64 - 1
    }

    /// What was sent by this number, unless it was long ago.
    pub(super) fn get(&self, number: u64) -> Option<Sent> {
        self.sent.get(number.checked_sub(self.first)? as usize).copied()
    }
}

/// What a report says.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) at: Instant,
    /// The packets since the last report, with transport feedback.
    pub(super) arrivals: Vec<(u64, Instant)>,
    /// The latest packet, and when it arrived.
    pub(super) last: (u64, Instant),
    /// Packets since the last report: those lost, and all.
    pub(super) lost: u64,
    pub(super) expected: u64,
    /// The estimated rate in bit/s, with REMB.
    pub(super) estimate: Option<f64>,
    /// Packets to be sent again.
    pub(super) missing: Vec<Piece>,
    pub(super) wants_key: bool,
}

impl Report {
    /// Bytes of its RTCP packets.
    pub(super) fn size(&self) -> u16 {
        // A receiver report and REMB; or transport feedback: 20 bytes, two bits for the status of a
        // packet and a byte for the time of one that arrived.
        let rates = match self.estimate {
            Some(_) => 32 + 24,
            None => 20 + 2 * self.expected.div_ceil(7) + self.arrivals.len() as u64,
        };
        // A generic NACK has 12 bytes and 4 for each entry; a picture loss indication has 12.
        let missing = self.missing.len() as u64;
        let nack = if missing > 0 { 12 + 4 * missing } else { 0 };
        let picture = if self.wants_key { 12 } else { 0 };
        (rates + nack + picture).min(1200) as u16
    }
}
