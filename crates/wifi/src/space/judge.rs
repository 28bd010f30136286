//! Whether a receiver understands a frame: signal, interference and noise, chunk by chunk.

use super::frame::Flight;
use super::radio::Levels;
use super::reception::{Chunk, overlap};
use crate::mac::Timing;
use crate::phy::error::{Chunk as Bits, ErrorModel};
use crate::phy::{Coding, Mode, decibels};
use kernel::{Bytes, Db, Instant};

/// From this ratio on every mode of PHY headers is understood, whatever the error model, if there
/// is any hope for the rest of the frame.
const HEADER_IS_CLEAR: f64 = 100.0;

/// Bits that stand for preamble and PHY header: those of the L-SIG field (clause 17.3.4), which
/// needs the training before it, and those of the DSSS preamble and header (clause 16.2.2).
const SIGNAL_BITS: u64 = 24;
const DSSS_HEADER_BITS: u64 = 192;

/// What an error model has said: without interference the same question comes again and again.
#[derive(Debug)]
pub(super) struct Memo(Vec<(Question, f64)>);

/// Power, noise with interference, bits, and what tells modes apart.
type Question = [u64; 4];

impl Memo {
    const SIZE: usize = 1 << 13;

    pub(super) fn new() -> Self {
        // No question asks for no bits.
        Self(vec![([0; 4], 1.0); Self::SIZE])
    }

    fn recall(&mut self, question: Question, answer: impl FnOnce() -> f64) -> f64 {
        let mut hash = 0u64;
        for word in question {
            // The multiplier of PCG64: odd, and its bits are well mixed.
            hash = (hash ^ word).wrapping_mul(0x5851_f42d_4c95_7f2d);
            hash ^= hash >> 29;
        }
        let entry = &mut self.0[hash as usize % Self::SIZE];
        if entry.0 != question {
            *entry = (question, answer());
        }
        entry.1
    }
}

/// All that decides on the reception of one frame, but its receiver.
pub(super) struct Judge<'a> {
    pub(super) timing: &'a Timing,
    pub(super) levels: &'a Levels,
    pub(super) error: &'a dyn ErrorModel,
    pub(super) flight: &'a Flight,
    pub(super) memo: &'a mut Memo,
}

impl Judge<'_> {
    /// Probability that a receiver that gets `power` understands the header.
    pub(super) fn header(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        if power < self.levels.sensitivity {
            return 0.0;
        }
        chunks.iter().map(|chunk| self.header_within(chunk, power)).product()
    }

    /// Probability that it then understands a frame of the PSDU, between these of its bytes.
    pub(super) fn frame(&mut self, chunks: &[Chunk], power: f64, span: (Bytes, Bytes)) -> f64 {
        let mode = &self.flight.frame.mode;
        let (begin, end) = (self.flight.sent_by(span.0), self.flight.sent_by(span.1));
        let bits = (span.1 - span.0).bits();
        chunks.iter().map(|chunk| self.part(chunk, power, mode, bits, begin, end)).product()
    }

    /// Probability that it understands none of the frames.
    pub(super) fn failure(
        &mut self,
        chunks: &[Chunk],
        power: f64,
        spans: impl Iterator<Item = (Bytes, Bytes)>,
    ) -> f64 {
        let mut all_lost = 1.0;
        // Frames of one size within one chunk all fare alike.
        let (mut at, mut last) = (0, None);
        for span in spans {
            let (begin, end) = (self.flight.sent_by(span.0), self.flight.sent_by(span.1));
            while chunks[at].end <= begin && at + 1 < chunks.len() {
                at += 1;
            }
            let bytes = span.1 - span.0;
            let success = match last {
                Some((chunk, size, success))
                    if chunk == at && size == bytes && end <= chunks[at].end =>
                {
                    success
                }
                _ => self.frame(chunks, power, span),
            };
            let is_inside = chunks[at].begin <= begin && end <= chunks[at].end;
            last = is_inside.then_some((at, bytes, success));
            all_lost *= 1.0 - success;
            // Of many frames some will arrive.
            if all_lost < 1e-12 {
                all_lost = 0.0;
                break;
            }
        }
        1.0 - self.header(chunks, power) * (1.0 - all_lost)
    }

    /// Whether it would probably understand a whole PSDU without interference.
    pub(super) fn is_clear_alone(&mut self, power: f64) -> bool {
        let (begin, end) = (self.flight.start, self.flight.end());
        let chunk = [Chunk { begin, end, interference: 0.0 }];
        let span = (Bytes::ZERO, self.flight.frame.psdu);
        self.header(&chunk, power) * self.frame(&chunk, power, span) > 0.5
    }

    fn header_within(&mut self, chunk: &Chunk, power: f64) -> f64 {
        if power >= HEADER_IS_CLEAR * self.disturbance(chunk, &self.flight.frame.mode) {
            return 1.0;
        }
        let class = self.flight.frame.mode.class;
        let mode = self.timing.standard.lowest_mandatory(class);
        let bits = if class.is_dsss() { DSSS_HEADER_BITS } else { SIGNAL_BITS };
        self.part(chunk, power, &mode, bits, self.flight.start, self.flight.payload())
    }

    /// Noise and interference, in milliwatts.
    fn disturbance(&self, chunk: &Chunk, mode: &Mode) -> f64 {
        chunk.interference + self.levels.noise(mode.width)
    }

    /// The part within a chunk of `bits` that are sent from `begin` to `end`.
    fn part(
        &mut self,
        chunk: &Chunk,
        power: f64,
        mode: &Mode,
        bits: u64,
        begin: Instant,
        end: Instant,
    ) -> f64 {
        let within = overlap(chunk, begin, end);
        let Some(bits) = (bits * within.0).checked_div((end - begin).0) else { return 1.0 };
        if bits == 0 {
            return 1.0;
        }
        let disturbance = self.disturbance(chunk, mode);
        let kind = (mode.class as u64) << 16 | u64::from(mode.mcs) << 8 | u64::from(mode.streams);
        let kind = (kind << 8 | mode.width as u64) << 8 | mode.guard as u64;
        // Without MCS the rate tells modes apart, with them the code does as well.
        let code = u64::from(mode.coding == Coding::Ldpc);
        let question =
            [power.to_bits(), disturbance.to_bits(), bits, (kind << 1 | code) ^ mode.rate.0 << 41];
        self.memo.recall(question, || {
            let sinr: Db = decibels(power / disturbance);
            self.error.success(&Bits { mode, sinr, bits })
        })
    }
}
