//! Packet error rates: whether a receiver decodes a frame, from signal, interference and noise in
//! each chunk of constant interference.

use super::frame::{OnAir, Transmission};
use super::interference::{Bounds, Chunk, overlap};
use super::per_cache::{Limits, ModeId, PerCache};
use super::power::Levels;
use crate::mac::Timing;
use crate::phy::error::{ErrorModel, RARE};
use crate::phy::{Mode, Occupied};
use kernel::{Bytes, Duration, Instant, Rng};
use std::ops::Deref;
use std::slice;

/// Below this probability, the loss of all MPDUs of a PSDU counts as impossible.
const ALL_LOST: f64 = 1e-12;

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

/// Between which ratios it is not certain whether a receiver decodes something of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    from: f64,
    to: f64,
    /// In milliwatts.
    noise: f64,
}

impl Doubt {
    /// Whether it is not certain at this power, beside so much interference in milliwatts.
    #[inline]
    pub(super) fn is_at(&self, power: f64, beside: f64) -> bool {
        let disturbance = beside + self.noise;
        power > self.from * disturbance && power < self.to * disturbance
    }
}

/// The largest number of chunks for which `some_above` holds.
const MOST_CHUNKS: usize = 64;

impl PpduParts {
    /// The parts of a PPDU whose MPDUs begin and end at these offsets of the PSDU. `None`: the PSDU
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
            let limits = per_cache.facts_of(transmission, timing, error).limits;
            let end = payload + transmission.airtime.payload;
            let span = BitSpan { begin: payload, end, bits: psdu.bits() };
            return Self { start, payload, limits, spans: Spans::One(span) };
        };
        let spans: Vec<BitSpan> = spans.map(span).collect();
        let most = spans.iter().map(|span| span.bits).max().unwrap_or(1);
        let least = spans.iter().map(|span| span.bits).min().unwrap_or(1);
        let limits = per_cache.limits(mode, least, most, spans.len(), timing, error);
        Self { start, payload, limits, spans: Spans::Several(spans) }
    }

    /// What those decode of a PPDU for which it has no resource unit: HE-SIG-A, in the place of a
    /// PSDU.
    pub(super) fn of_signal_fields(
        transmission: &Transmission,
        timing: &Timing,
        error: &dyn ErrorModel,
        per_cache: &mut PerCache,
    ) -> Self {
        /// HE-SIG-A has two symbols of 26 bits (802.11ax-2021 clause 27.3.11.7).
        const BITS: u64 = 52;
        let (start, payload) = (transmission.start, transmission.payload());
        let mode = timing.standard.lowest_mandatory(transmission.frame.mode.class);
        let limits = per_cache.limits(&mode, BITS, BITS, 1, timing, error);
        let limits = Limits { occupied: transmission.frame.mode.occupied(), ..limits };
        let span = BitSpan { begin: start, end: payload, bits: BITS };
        Self { start, payload, limits, spans: Spans::One(span) }
    }

    /// The PSDU of one user in a resource unit that has room for so many bytes.
    pub(super) fn of_user(
        transmission: &Transmission,
        mode: &Mode,
        room: Bytes,
        spans: impl Iterator<Item = (Bytes, Bytes)>,
        timing: &Timing,
        error: &dyn ErrorModel,
        per_cache: &mut PerCache,
    ) -> Self {
        let (start, payload) = (transmission.start, transmission.payload());
        let lasts = transmission.airtime.payload.0;
        let at = |bytes: Bytes| {
            let part = u128::from(lasts) * u128::from(bytes.0) / u128::from(room.0.max(1));
            payload + Duration(part as u64)
        };
        let span = |(from, to): (Bytes, Bytes)| BitSpan {
            begin: at(from),
            end: at(to),
            bits: (to - from).bits(),
        };
        let spans: Vec<BitSpan> = spans.map(span).collect();
        let most = spans.iter().map(|span| span.bits).max().unwrap_or(1);
        let least = spans.iter().map(|span| span.bits).min().unwrap_or(1);
        let limits = per_cache.limits(mode, least, most, spans.len(), timing, error);
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

    /// Whether a receiver certainly decodes nothing, or certainly something; `None` if the bounds
    /// of the interference do not determine it.
    #[inline]
    pub(super) fn is_certainly_lost(
        &self,
        levels: &Levels,
        power: f64,
        bounds: &Bounds,
    ) -> Option<bool> {
        if power < levels.sensitivity {
            return Some(true);
        }
        self.are_certainly_lost(levels, power, bounds)
            .filter(|&all_lost| all_lost || self.has_header(levels, power, bounds))
    }

    /// Whether a receiver certainly decodes the PHY header.
    #[inline]
    pub(super) fn has_header(&self, levels: &Levels, power: f64, bounds: &Bounds) -> bool {
        let Limits { occupied, header_success_above, .. } = self.limits;
        power >= header_success_above * (bounds.most + levels.noise(occupied))
    }

    /// The power from which a receiver certainly decodes something of a frame that is alone on the
    /// air, as [`Self::is_certainly_lost`] says.
    pub(super) fn decoded_alone_from(&self, levels: &Levels) -> f64 {
        let Limits { occupied, header_success_above, some_above, .. } = self.limits;
        if !self.is_some(1) {
            return f64::INFINITY;
        }
        let noise = levels.noise(occupied);
        levels.sensitivity.max(header_success_above * noise).max(some_above * noise)
    }

    /// Whether a receiver certainly decodes nothing of a frame that is alone on the air.
    pub(super) fn is_lost_alone(&self, levels: &Levels, power: f64) -> bool {
        self.is_certainly_lost(levels, power, &Bounds { least: 0.0, most: 0.0, chunks: 1 })
            == Some(true)
    }

    /// The ratios between which it is not certain whether a receiver decodes something, if there
    /// are at most so many chunks, and interference is the greatest from the start to an instant.
    pub(super) fn doubt(
        &self,
        until: Instant,
        chunks: usize,
        levels: &Levels,
        per_cache: &mut PerCache,
        error: &dyn ErrorModel,
    ) -> Doubt {
        let Limits { body, occupied, header_success_above, some_above, none_below, .. } =
            self.limits;
        let chunk = Chunk { begin: self.start, end: until, interference: 0.0 };
        let from = match &self.spans[..] {
            spans if spans.iter().all(|span| span.end <= until) => none_below,
            [span] => match span.within(&chunk) {
                Some(bits @ 1..) => per_cache.failure_below(body, bits, error),
                _ => 0.0,
            },
            _ => 0.0,
        };
        let is_some = self.is_some(chunks);
        let to = if is_some { header_success_above.max(some_above) } else { f64::INFINITY };
        Doubt { from, to, noise: levels.noise(occupied) }
    }

    /// The same of the MPDUs, if it has decoded the PHY header.
    fn are_certainly_lost(&self, levels: &Levels, power: f64, bounds: &Bounds) -> Option<bool> {
        let limits = &self.limits;
        let noise = levels.noise(limits.occupied);
        if power <= self.failure_below(bounds.chunks) * (bounds.least + noise) {
            return Some(true);
        }
        let disturbance = bounds.most + noise;
        let is_some = self.is_some(bounds.chunks) && power >= limits.some_above * disturbance;
        is_some.then_some(false)
    }

    /// When the first MPDU begins.
    pub(super) fn payload(&self) -> Instant {
        self.payload
    }

    /// The number of MPDUs.
    pub(super) fn frames(&self) -> usize {
        self.spans.len()
    }
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
            if power < limits.header_success_above * self.disturbance(chunk, limits.occupied) {
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
        let Limits { body, occupied, .. } = self.ppdu.limits;
        let within = match chunks.iter().position(|chunk| chunk.end > span.begin) {
            Some(first) if chunks[first].end >= span.end => {
                return self.part(&chunks[first], power, body, span);
            }
            Some(first) => chunks[first..].iter(),
            None => return 1.0,
        };
        let within = within.take_while(|chunk| chunk.begin < span.end);
        for chunk in within.clone() {
            let bits = span.within(chunk).unwrap_or(0);
            if bits > 0
                && power <= self.failure_below(body, bits) * self.disturbance(chunk, occupied)
            {
                return 0.0;
            }
        }
        within.map(|chunk| self.part(chunk, power, body, span)).product()
    }

    /// Whether the bounds of the interference determine that a receiver decodes the PHY header and
    /// each MPDU; if so, [`Self::decodes_all`].
    pub(super) fn is_certain(&self, power: f64, bounds: &Bounds) -> bool {
        let limits = &self.ppdu.limits;
        let disturbance = bounds.most + self.levels.noise(limits.occupied);
        power >= self.levels.sensitivity
            && power >= limits.header_success_above * disturbance
            && power >= limits.all_above * disturbance
    }

    /// Whether [`Self::header`] and [`Self::frame`] are 1.0.
    pub(super) fn decodes_all(&mut self, chunks: &[Chunk], power: f64) -> bool {
        let has_header = self.header(chunks, power) >= 1.0;
        has_header && (0..self.ppdu.frames()).all(|n| self.frame(chunks, power, n) >= 1.0)
    }

    /// Probability that a receiver decodes none of the MPDUs.
    pub(super) fn failure(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        let ppdu = self.ppdu;
        let begin = chunks.iter().take_while(|chunk| chunk.end <= ppdu.payload).count();
        let payload = &chunks[begin..];
        let bounds = Bounds::of(payload);
        let all_lost = match ppdu.are_certainly_lost(self.levels, power, &bounds) {
            Some(are_lost) => f64::from(u8::from(are_lost)),
            None => self.all_lost(payload, power),
        };
        if all_lost >= 1.0 {
            return 1.0;
        }
        1.0 - self.header(chunks, power) * (1.0 - all_lost)
    }

    /// Draws whether a receiver decodes none of the MPDUs beside constant interference, in
    /// milliwatts, up to the end of the PPDU. If it is rare that it does not, few numbers that are
    /// drawn are so small that the probability matters.
    pub(super) fn draw_loss_beside(
        &mut self,
        interference: f64,
        end: Instant,
        power: f64,
        noise: &mut Rng,
    ) -> bool {
        let is_rare = match self.ppdu.spans[..] {
            [span] => self.is_rare(interference, power, span.bits),
            _ => false,
        };
        if !is_rare {
            return noise.chance(self.failure_beside(interference, end, power));
        }
        let drawn = noise.uniform();
        debug_assert!((1e-12..=RARE).contains(&self.failure_beside(interference, end, power)));
        drawn < RARE && drawn < self.failure_beside(interference, end, power)
    }

    /// Whether so many bits are lost with a low probability, and the PHY header never.
    #[inline]
    fn is_rare(&mut self, interference: f64, power: f64, bits: u64) -> bool {
        let Limits { body, occupied, header_success_above, .. } = self.ppdu.limits;
        let disturbance = interference + self.levels.noise(occupied);
        let (above, below) = self.per_cache.rare_loss(body, bits, self.error);
        power > above * disturbance
            && power < below * disturbance
            && power >= header_success_above * disturbance
    }

    /// The probability of this.
    fn failure_beside(&mut self, interference: f64, end: Instant, power: f64) -> f64 {
        let chunk = [Chunk { begin: self.ppdu.start, end, interference }];
        let bounds = Bounds { least: interference, most: interference, chunks: 1 };
        let all_lost = match self.ppdu.are_certainly_lost(self.levels, power, &bounds) {
            Some(are_lost) => f64::from(u8::from(are_lost)),
            None => self.all_lost(&chunk, power),
        };
        1.0 - self.header(&chunk, power) * (1.0 - all_lost)
    }

    /// Probability that all MPDUs of the PSDU are lost.
    fn all_lost(&mut self, chunks: &[Chunk], power: f64) -> f64 {
        let ppdu = self.ppdu;
        if let [span] = ppdu.spans[..] {
            let lost = 1.0 - self.span(chunks, power, span);
            return if lost < ALL_LOST { 0.0 } else { lost };
        }
        let is_every = |chunk: &&Chunk| {
            power >= ppdu.limits.every_above * self.disturbance(chunk, ppdu.limits.occupied)
        };
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
            power <= ppdu.limits.none_below * per.disturbance(chunk, ppdu.limits.occupied)
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
            let disturbance = self.disturbance(chunk, ppdu.limits.occupied);
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

    #[inline]
    fn failure_below(&mut self, mode: ModeId, bits: u64) -> f64 {
        self.per_cache.failure_below(mode, bits, self.error)
    }

    /// Noise and interference, in milliwatts.
    fn disturbance(&self, chunk: &Chunk, occupied: Occupied) -> f64 {
        chunk.interference + self.levels.noise(occupied)
    }

    /// Probability that the bits of a span within a chunk are decoded.
    fn part(&mut self, chunk: &Chunk, power: f64, mode: ModeId, span: BitSpan) -> f64 {
        let Some(bits) = span.within(chunk).filter(|&bits| bits > 0) else { return 1.0 };
        let levels = self.levels;
        let disturbance = |occupied: Occupied| chunk.interference + levels.noise(occupied);
        self.per_cache.success(mode, power, bits, disturbance, self.error)
    }
}
