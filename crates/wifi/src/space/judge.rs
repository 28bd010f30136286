//! Whether a receiver understands a frame: signal, interference and noise, chunk by chunk.

use super::frame::Flight;
use super::radio::Levels;
use super::reception::{Chunk, overlap};
use crate::mac::Timing;
use crate::phy::error::{Chunk as Bits, ErrorModel};
use crate::phy::{Mode, decibels};
use kernel::{Bytes, Db, Instant};

/// From this ratio on every mode of PHY headers is understood, whatever the error model, if there
/// is any hope for the rest of the frame.
const HEADER_IS_CLEAR: f64 = 100.0;

/// Bits that stand for preamble and PHY header: those of the L-SIG field (clause 17.3.4), which
/// needs the training before it, and those of the DSSS preamble and header (clause 16.2.2).
const SIGNAL_BITS: u64 = 24;
const DSSS_HEADER_BITS: u64 = 192;

/// All that decides on the reception of one frame, but its receiver.
pub(super) struct Judge<'a> {
    pub(super) timing: &'a Timing,
    pub(super) levels: &'a Levels,
    pub(super) error: &'a dyn ErrorModel,
    pub(super) flight: &'a Flight,
}

impl Judge<'_> {
    /// Probability that a receiver that gets `power` understands the header.
    pub(super) fn header(&self, chunks: &[Chunk], power: f64) -> f64 {
        if power < self.levels.sensitivity {
            return 0.0;
        }
        chunks.iter().map(|chunk| self.header_within(chunk, power)).product()
    }

    /// Probability that it then understands a frame of the PSDU, between these of its bytes.
    pub(super) fn frame(&self, chunks: &[Chunk], power: f64, span: (Bytes, Bytes)) -> f64 {
        let Flight { frame, .. } = self.flight;
        let (begin, end) = (self.flight.sent_by(span.0), self.flight.sent_by(span.1));
        let bits = (span.1 - span.0).bits();
        chunks.iter().map(|chunk| self.part(chunk, power, &frame.mode, bits, begin, end)).product()
    }

    /// Probability that it understands none of the frames.
    pub(super) fn failure(
        &self,
        chunks: &[Chunk],
        power: f64,
        spans: impl Iterator<Item = (Bytes, Bytes)>,
    ) -> f64 {
        let mut all_lost = 1.0;
        for span in spans {
            all_lost *= 1.0 - self.frame(chunks, power, span);
            // Of many frames some will arrive.
            if all_lost < 1e-12 {
                all_lost = 0.0;
                break;
            }
        }
        1.0 - self.header(chunks, power) * (1.0 - all_lost)
    }

    /// Whether it would probably understand a whole PSDU without interference.
    pub(super) fn is_clear_alone(&self, power: f64) -> bool {
        let (begin, end) = (self.flight.start, self.flight.end());
        let chunk = [Chunk { begin, end, interference: 0.0 }];
        let span = (Bytes::ZERO, self.flight.frame.psdu);
        self.header(&chunk, power) * self.frame(&chunk, power, span) > 0.5
    }

    fn header_within(&self, chunk: &Chunk, power: f64) -> f64 {
        let class = self.flight.frame.mode.class;
        let mode = self.timing.standard.lowest_mandatory(class);
        if power >= HEADER_IS_CLEAR * self.disturbance(chunk, &mode) {
            return 1.0;
        }
        let bits = if class.is_dsss() { DSSS_HEADER_BITS } else { SIGNAL_BITS };
        self.part(chunk, power, &mode, bits, self.flight.start, self.flight.payload())
    }

    /// Noise and interference, in milliwatts.
    fn disturbance(&self, chunk: &Chunk, mode: &Mode) -> f64 {
        chunk.interference + self.levels.noise(mode.width)
    }

    /// The part within a chunk of `bits` that are sent from `begin` to `end`.
    fn part(
        &self,
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
        let sinr: Db = decibels(power / self.disturbance(chunk, mode));
        self.error.success(&Bits { mode, sinr, bits })
    }
}
