//! Packet error rates: whether a receiver decodes a frame, from signal, interference and noise in
//! each chunk of constant interference.

use super::frame::Transmission;
use super::interference::{Bounds, Chunk, overlap};
use super::radio::Levels;
use crate::mac::Timing;
use crate::phy::error::{Certain, ErrorModel, SinrChunk};
use crate::phy::{Coding, Mode, decibels};
use kernel::{Bytes, Db, Instant};

/// Above this SINR, a receiver decodes the PHY header in any mode and with any error model, if it
/// can decode anything of the rest of the frame.
const HEADER_SUCCESS_ABOVE: f64 = 100.0;

/// Bits that stand for preamble and PHY header: those of the L-SIG field (clause 17.3.4), which
/// follows the training fields, and those of the DSSS preamble and header (clause 16.2.2).
const SIGNAL_BITS: u64 = 24;
const DSSS_HEADER_BITS: u64 = 192;

/// Below this probability, the loss of all MPDUs of a PSDU counts as impossible.
const ALL_LOST: f64 = 1e-12;

/// A cache of the error model's results: without interference, the same arguments recur often.
#[derive(Debug)]
pub(super) struct PerCache {
    answers: Vec<(PerKey, f64)>,
    /// The limits of each mode beyond which the error model is not evaluated.
    certain: Vec<(Mode, Box<Certain>)>,
}

/// Power, noise with interference, bits, and the key of the mode.
type PerKey = [u64; 4];

impl PerCache {
    const SIZE: usize = 1 << 13;

    pub(super) fn new() -> Self {
        // No entry is for zero bits.
        Self { answers: vec![([0; 4], 1.0); Self::SIZE], certain: Vec::new() }
    }

    fn recall(&mut self, question: PerKey, answer: impl FnOnce() -> f64) -> f64 {
        let mut hash = 0u64;
        for word in question {
            // The multiplier of PCG64: odd, and its bits are well mixed.
            hash = (hash ^ word).wrapping_mul(0x5851_f42d_4c95_7f2d);
            hash ^= hash >> 29;
        }
        let entry = &mut self.answers[hash as usize % Self::SIZE];
        if entry.0 != question {
            *entry = (question, answer());
        }
        entry.1
    }

    /// Looks up a mode and its key.
    fn cached_mode(&mut self, mode: Mode) -> CachedMode {
        let at = self.certain.iter().position(|(known, _)| *known == mode);
        let certain = at.unwrap_or_else(|| {
            self.certain.push((mode, Box::new(Certain::NEW)));
            self.certain.len() - 1
        });
        CachedMode { mode, key: key(&mode), certain }
    }
}

/// An MPDU, or the PHY header, on the air.
#[derive(Clone, Copy, Debug)]
struct BitSpan {
    begin: Instant,
    end: Instant,
    bits: u64,
}

impl BitSpan {
    /// How many of its bits are sent within a chunk; `None` if it has no duration.
    fn within(&self, chunk: &Chunk) -> Option<u64> {
        if chunk.begin <= self.begin && self.end <= chunk.end && self.begin < self.end {
            return Some(self.bits);
        }
        let within = overlap(chunk, self.begin, self.end);
        (self.bits * within.0).checked_div((self.end - self.begin).0)
    }
}

/// A mode of a part of the frame, as the cache knows it.
#[derive(Clone, Copy, Debug)]
struct CachedMode {
    mode: Mode,
    /// The key of the mode in a [`PerKey`].
    key: u64,
    /// Its index in [`PerCache::certain`].
    certain: usize,
}

/// The parts of a PPDU and the SINR limits of its reception, the same for all receivers.
#[derive(Debug)]
pub(super) struct PpduParts {
    start: Instant,
    payload: Instant,
    header: CachedMode,
    header_bits: u64,
    /// Above this SINR the header is decoded.
    header_success_above: f64,
    body: CachedMode,
    spans: Vec<BitSpan>,
    /// Above `some_above`, at least one MPDU is decoded with certainty; above `every_above`, each
    /// MPDU is.
    some_above: f64,
    every_above: f64,
    /// Below `none_below`, an MPDU within one chunk is lost with certainty; below
    /// `none_below_in_parts`, so is an MPDU that extends over up to `parts` chunks.
    none_below: f64,
    none_below_in_parts: f64,
    parts: usize,
}

/// The largest number of chunks for which `some_above` holds.
const MOST_CHUNKS: usize = 64;

impl PpduParts {
    /// The parts of a PPDU whose MPDUs begin and end at these offsets of the PSDU.
    pub(super) fn new(
        transmission: &Transmission,
        spans: impl Iterator<Item = (Bytes, Bytes)>,
        timing: &Timing,
        error: &dyn ErrorModel,
        per_cache: &mut PerCache,
    ) -> Self {
        let span = |(from, to): (Bytes, Bytes)| BitSpan {
            begin: transmission.sent_by(from),
            end: transmission.sent_by(to),
            bits: (to - from).bits(),
        };
        let spans: Vec<BitSpan> = spans.map(span).collect();
        let mode = transmission.frame.mode;
        let header_bits = if mode.class.is_dsss() { DSSS_HEADER_BITS } else { SIGNAL_BITS };
        let most = spans.iter().map(|span| span.bits).max().unwrap_or(1);
        let least = spans.iter().map(|span| span.bits).min().unwrap_or(1);
        let header = per_cache.cached_mode(timing.standard.lowest_mandatory(mode.class));
        let body = per_cache.cached_mode(mode);
        let header_success_above =
            per_cache.certain[header.certain].1.success_above(error, &header.mode, header_bits);
        let certain = &mut per_cache.certain[body.certain].1;
        Self {
            start: transmission.start,
            payload: transmission.payload(),
            header,
            header_bits,
            header_success_above: header_success_above.min(HEADER_SUCCESS_ABOVE),
            body,
            some_above: certain.any_success_above(error, &mode, most, spans.len()),
            every_above: certain.any_success_above(error, &mode, most, 1),
            none_below: certain.failure_below(error, &mode, least),
            none_below_in_parts: certain.failure_below_in_parts(error, &mode, least),
            parts: (least / Certain::PART) as usize,
            spans,
        }
    }

    /// The SINR below which no MPDU is decoded, if there are so many chunks.
    fn failure_below(&self, chunks: usize) -> f64 {
        match chunks {
            1 => self.none_below,
            chunks if chunks <= self.parts => self.none_below_in_parts,
            _ => 0.0,
        }
    }

    /// Whether an SINR above `some_above` in each of so many chunks is sufficient.
    fn is_some(&self, chunks: usize) -> bool {
        chunks <= MOST_CHUNKS && !self.spans.is_empty()
    }

    /// The number of MPDUs.
    pub(super) fn frames(&self) -> usize {
        self.spans.len()
    }
}

/// A number that differs between modes.
fn key(mode: &Mode) -> u64 {
    let kind = (mode.class as u64) << 16 | u64::from(mode.mcs) << 8 | u64::from(mode.streams);
    let kind = (kind << 8 | mode.width as u64) << 8 | mode.guard as u64;
    // The rate distinguishes modes without MCS; modes with MCS differ in the code as well.
    let code = u64::from(mode.coding == Coding::Ldpc);
    (kind << 1 | code) ^ mode.rate.0 << 41
}

/// Computes packet error rates of one PPDU at any receiver.
pub(super) struct PerCalculator<'a> {
    pub(super) levels: &'a Levels,
    pub(super) error: &'a dyn ErrorModel,
    pub(super) ppdu: &'a PpduParts,
    pub(super) per_cache: &'a mut PerCache,
}

impl PerCalculator<'_> {
    /// Probability that a receiver decodes the PHY header at this `power`.
    pub(super) fn header(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        if power < self.levels.sensitivity {
            return 0.0;
        }
        let PpduParts { ref header, header_bits, start, payload, .. } = *self.ppdu;
        let mut success = 1.0;
        for chunk in chunks.iter().take_while(|chunk| chunk.begin < payload) {
            if power
                < self.ppdu.header_success_above * self.disturbance(chunk, &self.ppdu.body.mode)
            {
                let span = BitSpan { begin: start, end: payload, bits: header_bits };
                success *= self.part(chunk, power, header, span);
            }
        }
        success
    }

    /// Probability that a receiver that has decoded the PHY header decodes one of the MPDUs.
    pub(super) fn frame(&mut self, chunks: &[Chunk], power: f64, index: usize) -> f64 {
        self.span(chunks, power, self.ppdu.spans[index])
    }

    fn span(&mut self, chunks: &[Chunk], power: f64, span: BitSpan) -> f64 {
        let within = chunks.iter().skip_while(|chunk| chunk.end <= span.begin);
        let within = within.take_while(|chunk| chunk.begin < span.end);
        let body = &self.ppdu.body;
        for chunk in within.clone() {
            let bits = span.within(chunk).unwrap_or(0);
            if bits > 0
                && power <= self.failure_below(body, bits) * self.disturbance(chunk, &body.mode)
            {
                return 0.0;
            }
        }
        within.map(|chunk| self.part(chunk, power, body, span)).product()
    }

    /// The value of [`Self::failure`], if the bounds of the interference determine it.
    pub(super) fn certain_failure(&self, power: f64, bounds: &Bounds) -> Option<f64> {
        if power < self.levels.sensitivity {
            return Some(1.0);
        }
        let disturbance = bounds.most + self.levels.noise(self.ppdu.body.mode.width);
        let is_found = power >= self.levels.sensitivity
            && power >= self.ppdu.header_success_above * disturbance;
        self.certain_loss(power, bounds).filter(|&all_lost| all_lost >= 1.0 || is_found)
    }

    /// The value of [`Self::all_lost`], if the bounds of the interference determine it.
    fn certain_loss(&self, power: f64, bounds: &Bounds) -> Option<f64> {
        let ppdu = self.ppdu;
        let noise = self.levels.noise(ppdu.body.mode.width);
        if power <= ppdu.failure_below(bounds.chunks) * (bounds.least + noise) {
            return Some(1.0);
        }
        let is_some =
            ppdu.is_some(bounds.chunks) && power >= ppdu.some_above * (bounds.most + noise);
        is_some.then_some(0.0)
    }

    /// Probability that a receiver decodes none of the MPDUs.
    pub(super) fn failure(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        let ppdu = self.ppdu;
        let begin = chunks.iter().take_while(|chunk| chunk.end <= ppdu.payload).count();
        let payload = &chunks[begin..];
        let all_lost = self.certain_loss(power, &Bounds::of(payload));
        let all_lost = all_lost.unwrap_or_else(|| self.all_lost(payload, power));
        if all_lost >= 1.0 {
            return 1.0;
        }
        1.0 - self.header(chunks, power) * (1.0 - all_lost)
    }

    /// Probability that all MPDUs of the PSDU are lost.
    fn all_lost(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        let ppdu = self.ppdu;
        if let [span] = ppdu.spans[..] {
            let lost = 1.0 - self.span(chunks, power, span);
            return if lost < ALL_LOST { 0.0 } else { lost };
        }
        let is_every =
            |chunk: &&Chunk| power >= ppdu.every_above * self.disturbance(chunk, &ppdu.body.mode);
        for chunk in chunks.iter().filter(is_every) {
            // MPDUs are in order of time: all that begin earlier end earlier.
            let at = ppdu.spans.partition_point(|span| span.begin < chunk.begin);
            if ppdu.spans.get(at).is_some_and(|span| span.end <= chunk.end) {
                return 0.0;
            }
        }
        if self.is_some_inside(chunks, power) {
            return 0.0;
        }
        let mut all_lost = 1.0;
        // MPDUs of one size within one chunk have the same error rate.
        let (mut at, mut last) = (0, None);
        let is_lost = |chunk: &Chunk, per: &Self| {
            power <= ppdu.none_below * per.disturbance(chunk, &ppdu.body.mode)
        };
        let mut failure_below = is_lost(&chunks[0], self);
        for span in &ppdu.spans {
            while chunks[at].end <= span.begin && at + 1 < chunks.len() {
                at += 1;
                failure_below = is_lost(&chunks[at], self);
            }
            if failure_below && span.end <= chunks[at].end {
                continue;
            }
            let success = match last {
                Some((chunk, bits, success))
                    if chunk == at && bits == span.bits && span.end <= chunks[at].end =>
                {
                    success
                }
                _ => self.span(&chunks[at..], power, *span),
            };
            let is_inside = chunks[at].begin <= span.begin && span.end <= chunks[at].end;
            last = is_inside.then_some((at, span.bits, success));
            all_lost *= 1.0 - success;
            if all_lost < ALL_LOST {
                return 0.0;
            }
        }
        all_lost
    }

    /// Whether the MPDUs that lie within one chunk suffice to be certain that some MPDU is decoded.
    /// The others then need no evaluation.
    fn is_some_inside(&mut self, chunks: &[Chunk], power: f64) -> bool {
        let ppdu = self.ppdu;
        let mut all_lost = 1.0;
        let mut spans = ppdu.spans.iter().peekable();
        for chunk in chunks {
            while spans.next_if(|span| span.begin < chunk.begin).is_some() {}
            let disturbance = self.disturbance(chunk, &ppdu.body.mode);
            let is_lost = power <= ppdu.none_below * disturbance;
            let mut last = (0, 1.0);
            while let Some(&span) = spans.next_if(|span| span.end <= chunk.end) {
                if is_lost {
                    continue;
                }
                if last.0 != span.bits {
                    last = (span.bits, 1.0 - self.part(chunk, power, &ppdu.body, span));
                }
                all_lost *= last.1;
                // Half the limit, because rounding depends on the order of the factors.
                if all_lost < ALL_LOST / 2.0 {
                    return true;
                }
            }
        }
        false
    }

    /// Probability that a receiver decodes a whole PSDU without interference.
    pub(super) fn alone(&mut self, power: f64, transmission: &Transmission) -> f64 {
        let (begin, end) = (transmission.start, transmission.end());
        let chunk = [Chunk { begin, end, interference: 0.0 }];
        let (begin, end) = (transmission.payload(), transmission.sent_by(transmission.frame.psdu));
        let span = BitSpan { begin, end, bits: transmission.frame.psdu.bits() };
        self.header(&chunk, power) * self.span(&chunk, power, span)
    }

    fn failure_below(&mut self, cached_mode: &CachedMode, bits: u64) -> f64 {
        self.per_cache.certain[cached_mode.certain].1.failure_below(
            self.error,
            &cached_mode.mode,
            bits,
        )
    }

    fn success_above(&mut self, cached_mode: &CachedMode, bits: u64) -> f64 {
        self.per_cache.certain[cached_mode.certain].1.success_above(
            self.error,
            &cached_mode.mode,
            bits,
        )
    }

    /// Noise and interference, in milliwatts.
    fn disturbance(&self, chunk: &Chunk, mode: &Mode) -> f64 {
        chunk.interference + self.levels.noise(mode.width)
    }

    /// Probability that the bits of a span within a chunk are decoded.
    fn part(&mut self, chunk: &Chunk, power: f64, cached_mode: &CachedMode, span: BitSpan) -> f64 {
        let Some(bits) = span.within(chunk).filter(|&bits| bits > 0) else { return 1.0 };
        let disturbance = self.disturbance(chunk, &cached_mode.mode);
        if power >= self.success_above(cached_mode, bits) * disturbance {
            return 1.0;
        }
        if power <= self.failure_below(cached_mode, bits) * disturbance {
            return 0.0;
        }
        let question = [power.to_bits(), disturbance.to_bits(), bits, cached_mode.key];
        self.per_cache.recall(question, || {
            let sinr: Db = decibels(power / disturbance);
            self.error.success(&SinrChunk { mode: &cached_mode.mode, sinr, bits })
        })
    }
}
