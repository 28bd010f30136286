//! What recurs often: answers of the error model, and what is the same for all frames of one mode
//! and length.

use super::frame::{OnAir, Transmission};
use crate::mac::{ACK, Deferral, Timing};
use crate::phy::error::{Certain, ErrorModel, SinrChunk};
use crate::phy::{Airtime, Coding, Mode, Occupied, decibels};
use kernel::{Bytes, Db, Duration, IdVec};
use wire::FrameKind;

/// Above this SINR, a receiver decodes the PHY header in any mode and with any error model, if it
/// can decode anything of the rest of the frame.
const HEADER_SUCCESS_ABOVE: f64 = 100.0;

/// Bits that stand for preamble and PHY header: those of the L-SIG field (clause 17.3.4), which
/// follows the training fields, and those of the DSSS preamble and header (clause 16.2.2).
const SIGNAL_BITS: u64 = 24;
const DSSS_HEADER_BITS: u64 = 192;

/// What the error model has answered, and what is known of modes and of frames of one length:
/// the same questions recur often.
#[derive(Debug)]
pub(super) struct PerCache {
    answers: Vec<(PerKey, f64)>,
    modes: IdVec<ModeId, KnownMode>,
    frames: Vec<Option<FrameFacts>>,
    /// How often an entry of `frames` was computed, and one more.
    version: u64,
}

/// The place of facts in a version of the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FactsPlace {
    place: u32,
    version: u64,
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

kernel::id! {
    /// A mode of a part of a frame.
    pub(super) ModeId
}

/// What is the same for all frames of one mode and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameFacts {
    /// The key of the mode, and whether it is that of data frames only.
    mode: u64,
    psdu: Bytes,
    pub(super) airtime: Airtime,
    /// What such a frame causes at a node that cannot decode it.
    pub(super) deferral: Deferral,
    /// An RTS sets a NAV that ends so long after the RTS if no frame has begun by then.
    pub(super) nav_reset: Duration,
    /// If the PSDU is one MPDU.
    pub(super) limits: Limits,
}

impl PerCache {
    const ANSWERS: usize = 1 << 13;
    const FRAMES: usize = 1 << 8;

    pub(super) fn new() -> Self {
        // No entry is for zero bits.
        let answers = vec![([0; 4], 1.0); Self::ANSWERS];
        Self { answers, modes: IdVec::new(), frames: vec![None; Self::FRAMES], version: 1 }
    }

    /// What is the same for all frames of this frame's mode and length, and its place. In the model
    /// of a paper, data frames have a header of their own.
    pub(super) fn facts(
        &mut self,
        &OnAir { kind, ref mode, psdu, .. }: &OnAir,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> (FactsPlace, &FrameFacts) {
        let is_apart = kind == FrameKind::Data && timing.model_header.is_some();
        let key = key(mode) ^ u64::from(is_apart) << 40;
        let place = mix([key, psdu.0]) as usize % Self::FRAMES;
        let is_known = |facts: &FrameFacts| facts.psdu == psdu && facts.mode == key;
        if !self.frames[place].as_ref().is_some_and(is_known) {
            let airtime = timing.frame_airtime(kind, mode, psdu);
            let facts = self.compute(key, mode, psdu, airtime, timing, error);
            self.frames[place] = Some(facts);
            self.version += 1;
        }
        let at = FactsPlace { place: place as u32, version: self.version };
        (at, self.frames[place].as_ref().expect("it is known now"))
    }

    /// The same for a transmission. They are still at their place if the cache has not changed
    /// since it began.
    #[inline]
    pub(super) fn facts_of(
        &mut self,
        transmission: &Transmission,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> &FrameFacts {
        let Transmission { ref frame, facts: FactsPlace { mut place, version }, .. } =
            *transmission;
        if version != self.version {
            let (found, _) = self.facts(frame, timing, error);
            place = found.place;
        }
        self.frames[place as usize].as_ref().expect("it is known now")
    }

    #[cold]
    fn compute(
        &mut self,
        key: u64,
        mode: &Mode,
        psdu: Bytes,
        airtime: Airtime,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> FrameFacts {
        let cts = timing.response_mode(mode);
        let delay = timing.standard.rx_start_delay(&cts, timing.preamble);
        let lasting = timing.airtime(&cts, ACK).total();
        FrameFacts {
            mode: key,
            psdu,
            airtime,
            deferral: timing.deferral(mode),
            nav_reset: timing.sifs() * 2 + lasting + delay + timing.slot * 2,
            limits: self.limits(mode, psdu.bits(), psdu.bits(), 1, timing, error),
        }
    }

    /// The limits of PPDUs whose MPDUs have from `least` to `most` bits.
    pub(super) fn limits(
        &mut self,
        mode: &Mode,
        least: u64,
        most: u64,
        mpdus: usize,
        timing: &Timing,
        error: &dyn ErrorModel,
    ) -> Limits {
        let header_bits = if mode.class.is_dsss() { DSSS_HEADER_BITS } else { SIGNAL_BITS };
        let header_mode = timing.standard.lowest_mandatory(mode.class);
        let (header, body) = (self.index(&header_mode), self.index(mode));
        let certain = &mut self.modes[header].certain;
        let header_above = certain.success_above(error, &header_mode, header_bits);
        let certain = &mut self.modes[body].certain;
        Limits {
            header,
            header_bits,
            header_success_above: header_above.min(HEADER_SUCCESS_ABOVE),
            body,
            occupied: mode.occupied(),
            some_above: certain.any_success_above(error, mode, most, mpdus),
            every_above: certain.any_success_above(error, mode, most, 1),
            all_above: certain.success_above(error, mode, most),
            none_below: certain.failure_below(error, mode, least),
            none_below_in_parts: certain.failure_below_in_parts(error, mode, least),
            parts: (least / Certain::PART) as usize,
        }
    }

    /// The ratio below which the error model decodes so many bits with no probability.
    #[inline]
    pub(super) fn failure_below(&mut self, mode: ModeId, bits: u64, error: &dyn ErrorModel) -> f64 {
        let KnownMode { mode, certain, .. } = &mut self.modes[mode];
        certain.failure_below(error, mode, bits)
    }

    /// Between which ratios the error model loses so many bits with a probability above 1e-12 and
    /// below [`RARE`](crate::phy::error::RARE).
    #[inline]
    pub(super) fn rare_loss(
        &mut self,
        mode: ModeId,
        bits: u64,
        error: &dyn ErrorModel,
    ) -> (f64, f64) {
        let KnownMode { mode, certain, .. } = &mut self.modes[mode];
        certain.rare_loss(error, mode, bits)
    }

    /// Probability that so many bits are decoded at this power. `disturbance` is the power of noise
    /// and interference in a bandwidth.
    pub(super) fn success(
        &mut self,
        mode: ModeId,
        power: f64,
        bits: u64,
        disturbance: impl FnOnce(Occupied) -> f64,
        error: &dyn ErrorModel,
    ) -> f64 {
        let KnownMode { mode, key, certain } = &mut self.modes[mode];
        let disturbance = disturbance(mode.occupied());
        if power >= certain.success_above(error, mode, bits) * disturbance {
            return 1.0;
        }
        if power <= certain.failure_below(error, mode, bits) * disturbance {
            return 0.0;
        }
        let question = [power.to_bits(), disturbance.to_bits(), bits, *key];
        let answer = &mut self.answers[mix(question) as usize % Self::ANSWERS];
        if answer.0 != question {
            let sinr: Db = decibels(power / disturbance);
            *answer = (question, error.success(&SinrChunk { mode, sinr, bits }));
        }
        answer.1
    }

    fn index(&mut self, mode: &Mode) -> ModeId {
        self.modes.find(|known| known.mode == *mode).unwrap_or_else(|| {
            let certain = Box::new(Certain::NEW);
            self.modes.push(KnownMode { mode: *mode, key: key(mode), certain })
        })
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

/// The SINR limits of the reception of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) header: ModeId,
    pub(super) header_bits: u64,
    /// Above this SINR the header is decoded.
    pub(super) header_success_above: f64,
    pub(super) body: ModeId,
    /// The bandwidth of the body.
    pub(super) occupied: Occupied,
    /// Above `some_above`, at least one MPDU is decoded with certainty; above `every_above`, each
    /// MPDU is, except with a negligible probability; above `all_above`, with probability 1.0.
    pub(super) some_above: f64,
    pub(super) every_above: f64,
    pub(super) all_above: f64,
    /// Below `none_below`, an MPDU within one chunk is lost with certainty; below
    /// `none_below_in_parts`, so is an MPDU that extends over up to `parts` chunks.
    pub(super) none_below: f64,
    pub(super) none_below_in_parts: f64,
    pub(super) parts: usize,
}

/// A number that differs between modes.
fn key(mode: &Mode) -> u64 {
    let kind = (mode.class as u64) << 16 | u64::from(mode.mcs) << 8 | u64::from(mode.streams);
    let kind = (kind << 8 | mode.width as u64) << 8 | mode.guard as u64;
    // The rate distinguishes modes without MCS; modes with MCS differ in the code as well.
    let code = u64::from(mode.coding == Coding::Ldpc);
    (kind << 1 | code) ^ mode.rate.0 << 41
}
