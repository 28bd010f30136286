//! Packet error rates: whether a receiver decodes a frame, from signal, interference and noise in
//! each chunk of constant interference.

use super::frame::{OnAir, Transmission};
use super::interference::{Bounds, Chunk, overlap};
use super::radio::Levels;
use crate::mac::{ACK, Timing};
use crate::phy::error::{Certain, ErrorModel, SinrChunk};
use crate::phy::{Airtime, Coding, Mode, Width, decibels};
use kernel::{Bytes, Db, Duration, Instant};
use std::ops::Deref;
use std::slice;

/// Above this SINR, a receiver decodes the PHY header in any mode and with any error model, if it
/// can decode anything of the rest of the frame.
const HEADER_SUCCESS_ABOVE: f64 = 100.0;

/// Bits that stand for preamble and PHY header: those of the L-SIG field (clause 17.3.4), which
/// follows the training fields, and those of the DSSS preamble and header (clause 16.2.2).
const SIGNAL_BITS: u64 = 24;
const DSSS_HEADER_BITS: u64 = 192;

/// Below this probability, the loss of all MPDUs of a PSDU counts as impossible.
const ALL_LOST: f64 = 1e-12;

/// What the error model has answered, and what is known of modes and of frames of one length:
/// the same questions recur often.
#[derive(Debug)]
pub(super) struct PerCache {
    answers: Vec<(PerKey, f64)>,
    modes: Vec<KnownMode>,
    frames: Vec<Option<FrameFacts>>,
}

/// Power, noise with interference, bits, and the key of the mode.
type PerKey = [u64; 4];

/// A mode, its key, and its limits beyond which the error model is not evaluated.
#[derive(Debug)]
struct KnownMode {
    mode: Mode,
    key: u64,
    certain: Box<Certain>,
}

/// A mode of a part of a frame: its index in [`PerCache::modes`].
#[derive(Clone, Copy, Debug)]
struct ModeIndex(u32);

/// What is the same for all frames of one mode and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameFacts {
    /// The key of the mode.
    mode: u64,
    psdu: Bytes,
    pub(super) airtime: Airtime,
    /// The difference of EIFS and DIFS after such a frame.
    pub(super) extra: Duration,
    /// An RTS sets a NAV that ends so long after the RTS if no frame has begun by then.
    pub(super) nav_reset: Duration,
    /// If the PSDU is one MPDU.
    limits: Limits,
}

impl PerCache {
    const ANSWERS: usize = 1 << 13;
    const FRAMES: usize = 1 << 8;

    pub(super) fn new() -> Self {
        // No entry is for zero bits.
        let answers = vec![([0; 4], 1.0); Self::ANSWERS];
        Self { answers, modes: Vec::new(), frames: vec![None; Self::FRAMES] }
    }

    /// What is the same for all frames of this mode and length.
    #[inline]
    pub(super) fn facts(
        &mut self,
        mode: &Mode,
        psdu: Bytes,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> &FrameFacts {
        let key = key(mode);
        let place = mix([key, psdu.0]) as usize % Self::FRAMES;
        let is_known = |facts: &FrameFacts| facts.psdu == psdu && facts.mode == key;
        if !self.frames[place].as_ref().is_some_and(is_known) {
            let facts = self.compute(mode, psdu, timing, error);
            self.frames[place] = Some(facts);
        }
        self.frames[place].as_ref().expect("it is known now")
    }

    #[cold]
    fn compute(
        &mut self,
        mode: &Mode,
        psdu: Bytes,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> FrameFacts {
        let cts = timing.response_mode(mode);
        let delay = timing.standard.rx_start_delay(&cts, timing.preamble);
        let lasting = timing.airtime(&cts, ACK).total();
        FrameFacts {
            mode: key(mode),
            psdu,
            airtime: timing.airtime(mode, psdu),
            extra: timing.eifs(mode).saturating_sub(timing.difs()),
            nav_reset: timing.sifs() * 2 + lasting + delay + timing.slot * 2,
            limits: self.limits(mode, (psdu.bits(), psdu.bits(), 1), timing, error),
        }
    }

    /// The limits of PPDUs whose MPDUs have from `least` to `most` bits.
    fn limits(
        &mut self,
        mode: &Mode,
        (least, most, mpdus): (u64, u64, usize),
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> Limits {
        let header_bits = if mode.class.is_dsss() { DSSS_HEADER_BITS } else { SIGNAL_BITS };
        let header_mode = timing.standard.lowest_mandatory(mode.class);
        let (header, body) = (self.index(&header_mode), self.index(mode));
        let certain = &mut self.modes[header.0 as usize].certain;
        let header_above = certain.success_above(error, &header_mode, header_bits);
        let certain = &mut self.modes[body.0 as usize].certain;
        Limits {
            header,
            header_bits,
            header_success_above: header_above.min(HEADER_SUCCESS_ABOVE),
            body,
            width: mode.width,
            some_above: certain.any_success_above(error, mode, most, mpdus),
            every_above: certain.any_success_above(error, mode, most, 1),
            all_above: certain.success_above(error, mode, most),
            none_below: certain.failure_below(error, mode, least),
            none_below_in_parts: certain.failure_below_in_parts(error, mode, least),
            parts: (least / Certain::PART) as usize,
        }
    }

    fn index(&mut self, mode: &Mode) -> ModeIndex {
        let at = self.modes.iter().position(|known| known.mode == *mode);
        let at = at.unwrap_or_else(|| {
            let certain = Box::new(Certain::NEW);
            self.modes.push(KnownMode { mode: *mode, key: key(mode), certain });
            self.modes.len() - 1
        });
        ModeIndex(at as u32)
    }
}

/// A number that differs between most questions.
fn mix<const N: usize>(question: [u64; N]) -> u64 {
    let mut hash = 0u64;
    for word in question {
        // The multiplier of PCG64: odd, and its bits are well mixed.
        hash = (hash ^ word).wrapping_mul(0x5851_f42d_4c95_7f2d);
        hash ^= hash >> 29;
    }
    hash
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

/// The SINR limits of the reception of a PPDU.
#[derive(Clone, Copy, Debug)]
struct Limits {
    header: ModeIndex,
    header_bits: u64,
    /// Above this SINR the header is decoded.
    header_success_above: f64,
    body: ModeIndex,
    /// The bandwidth of the body.
    width: Width,
    /// Above `some_above`, at least one MPDU is decoded with certainty; above `every_above`, each
    /// MPDU is, except with a negligible probability; above `all_above`, with probability 1.0.
    some_above: f64,
    every_above: f64,
    all_above: f64,
    /// Below `none_below`, an MPDU within one chunk is lost with certainty; below
    /// `none_below_in_parts`, so is an MPDU that extends over up to `parts` chunks.
    none_below: f64,
    none_below_in_parts: f64,
    parts: usize,
}

/// The parts of a PPDU and the limits of its reception, the same for all receivers.
#[derive(Debug)]
pub(super) struct PpduParts {
    start: Instant,
    payload: Instant,
    limits: Limits,
    spans: Spans,
}

/// The MPDUs of a PSDU.
#[derive(Debug)]
enum Spans {
    One(BitSpan),
    Several(Vec<BitSpan>),
}

impl Deref for Spans {
    type Target = [BitSpan];

    fn deref(&self) -> &[BitSpan] {
        match self {
            Self::One(span) => slice::from_ref(span),
            Self::Several(spans) => spans,
        }
    }
}

/// The largest number of chunks for which `some_above` holds.
const MOST_CHUNKS: usize = 64;

impl PpduParts {
    /// The parts of a PPDU whose MPDUs begin and end at these offsets of the PSDU; `None` if the PSDU
    /// is one MPDU.
    pub(super) fn new(
        transmission: &Transmission,
        spans: Option<impl Iterator<Item = (Bytes, Bytes)>>,
        timing: &Timing,
        error: &dyn ErrorModel,
        per_cache: &mut PerCache,
    ) -> Self {
        let span = |(from, to): (Bytes, Bytes)| BitSpan {
            begin: transmission.sent_by(from),
            end: transmission.sent_by(to),
            bits: (to - from).bits(),
        };
        let (start, payload) = (transmission.start, transmission.payload());
        let OnAir { ref mode, psdu, .. } = transmission.frame;
        let Some(spans) = spans else {
            let limits = per_cache.facts(mode, psdu, timing, error).limits;
            return Self { start, payload, limits, spans: Spans::One(span((Bytes::ZERO, psdu))) };
        };
        let spans: Vec<BitSpan> = spans.map(span).collect();
        let most = spans.iter().map(|span| span.bits).max().unwrap_or(1);
        let least = spans.iter().map(|span| span.bits).min().unwrap_or(1);
        let limits = per_cache.limits(mode, (least, most, spans.len()), timing, error);
        Self { start, payload, limits, spans: Spans::Several(spans) }
    }

    /// The SINR below which no MPDU is decoded, if there are so many chunks.
    fn failure_below(&self, chunks: usize) -> f64 {
        match chunks {
            1 => self.limits.none_below,
            chunks if chunks <= self.limits.parts => self.limits.none_below_in_parts,
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
        let PpduParts { ref limits, start, payload, .. } = *self.ppdu;
        let Limits { header, header_bits, .. } = *limits;
        let mut success = 1.0;
        for chunk in chunks.iter().take_while(|chunk| chunk.begin < payload) {
            if power < limits.header_success_above * self.disturbance(chunk, limits.width) {
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
        let Limits { body, width, .. } = self.ppdu.limits;
        for chunk in within.clone() {
            let bits = span.within(chunk).unwrap_or(0);
            if bits > 0 && power <= self.failure_below(body, bits) * self.disturbance(chunk, width)
            {
                return 0.0;
            }
        }
        within.map(|chunk| self.part(chunk, power, body, span)).product()
    }

    /// Whether the bounds of the interference determine that a receiver decodes the PHY header and
    /// each MPDU: that [`Self::header`] and [`Self::frame`] are 1.0.
    pub(super) fn is_certain(&self, power: f64, bounds: &Bounds) -> bool {
        let limits = &self.ppdu.limits;
        let disturbance = bounds.most + self.levels.noise(limits.width);
        power >= self.levels.sensitivity
            && power >= limits.header_success_above * disturbance
            && power >= limits.all_above * disturbance
    }

    /// The value of [`Self::failure`], if the bounds of the interference determine it.
    pub(super) fn certain_failure(&self, power: f64, bounds: &Bounds) -> Option<f64> {
        if power < self.levels.sensitivity {
            return Some(1.0);
        }
        let limits = &self.ppdu.limits;
        let disturbance = bounds.most + self.levels.noise(limits.width);
        let is_found = power >= self.levels.sensitivity
            && power >= limits.header_success_above * disturbance;
        self.certain_loss(power, bounds).filter(|&all_lost| all_lost >= 1.0 || is_found)
    }

    /// The value of [`Self::all_lost`], if the bounds of the interference determine it.
    fn certain_loss(&self, power: f64, bounds: &Bounds) -> Option<f64> {
        let ppdu = self.ppdu;
        let noise = self.levels.noise(ppdu.limits.width);
        if power <= ppdu.failure_below(bounds.chunks) * (bounds.least + noise) {
            return Some(1.0);
        }
        let is_some =
            ppdu.is_some(bounds.chunks) && power >= ppdu.limits.some_above * (bounds.most + noise);
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
            |chunk: &&Chunk| power >= ppdu.limits.every_above * self.disturbance(chunk, ppdu.limits.width);
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
            power <= ppdu.limits.none_below * per.disturbance(chunk, ppdu.limits.width)
        };
        let mut failure_below = is_lost(&chunks[0], self);
        for span in ppdu.spans.iter() {
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
            let disturbance = self.disturbance(chunk, ppdu.limits.width);
            let is_lost = power <= ppdu.limits.none_below * disturbance;
            let mut last = (0, 1.0);
            while let Some(&span) = spans.next_if(|span| span.end <= chunk.end) {
                if is_lost {
                    continue;
                }
                if last.0 != span.bits {
                    last = (span.bits, 1.0 - self.part(chunk, power, ppdu.limits.body, span));
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

    fn failure_below(&mut self, mode: ModeIndex, bits: u64) -> f64 {
        let KnownMode { mode, certain, .. } = &mut self.per_cache.modes[mode.0 as usize];
        certain.failure_below(self.error, mode, bits)
    }

    /// Noise and interference, in milliwatts.
    fn disturbance(&self, chunk: &Chunk, width: Width) -> f64 {
        chunk.interference + self.levels.noise(width)
    }

    /// Probability that the bits of a span within a chunk are decoded.
    fn part(&mut self, chunk: &Chunk, power: f64, mode: ModeIndex, span: BitSpan) -> f64 {
        let Some(bits) = span.within(chunk).filter(|&bits| bits > 0) else { return 1.0 };
        let PerCache { answers, modes, .. } = &mut *self.per_cache;
        let KnownMode { mode, key, certain } = &mut modes[mode.0 as usize];
        let disturbance = chunk.interference + self.levels.noise(mode.width);
        if power >= certain.success_above(self.error, mode, bits) * disturbance {
            return 1.0;
        }
        if power <= certain.failure_below(self.error, mode, bits) * disturbance {
            return 0.0;
        }
        let question = [power.to_bits(), disturbance.to_bits(), bits, *key];
        let answer = &mut answers[mix(question) as usize % PerCache::ANSWERS];
        if answer.0 != question {
            let sinr: Db = decibels(power / disturbance);
            *answer = (question, self.error.success(&SinrChunk { mode, sinr, bits }));
        }
        answer.1
    }
}
