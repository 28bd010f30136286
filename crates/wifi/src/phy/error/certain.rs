//! SINR limits beyond which the result of an error model is known without evaluating it.
//!
//! The error model is therefore asked only where it matters: `space/per_cache.rs` keeps the limits
//! for frames of one mode and length, and `space/outcome.rs` looks up what was on the air with a
//! frame only if the bounds leave a doubt.

use super::{ErrorModel, SinrChunk};
use crate::phy::{Mode, linear};
use kernel::Db;

/// SINR limits of one mode beyond which the result of an error model is certain. Apart from
/// rounding, the success probability of the model must not decrease with the SINR and must not
/// increase with the number of bits.
#[derive(Debug)]
pub(crate) struct Certain {
    /// By loss and number of bits, as powers of two. NaN: not computed yet.
    above: [[f64; SIZES]; LOSSES.len()],
    /// The limits for whole blocks of bits, and for blocks in parts.
    below: [[f64; SIZES]; 2],
    /// The limits between which a loss is possible and rare.
    rare: [(f64, f64); SIZES],
}

/// Losses that count as certain success: zero, and those with which the loss of all of so many
/// MPDUs has a probability below 1e-12, if each MPDU extends over up to 64 chunks.
const LOSSES: [f64; 6] = [0.0, 1e-12 / 64.0, 1e-6 / 64.0, 1e-4 / 64.0, 1e-3 / 64.0, 1e-2 / 64.0];
const FRAMES: [usize; 6] = [0, 1, 2, 3, 4, 6];
/// A loss below this probability is rare.
pub(crate) const RARE: f64 = 1e-2;
/// A loss above this probability is possible.
const POSSIBLE: f64 = 1e-11;
/// A success probability p so small that 1.0 - p equals 1.0.
const NOTHING: f64 = 1e-20;
/// The longest PSDU has about 52 million bits.
const SIZES: usize = 27;
/// Above this number of bits, [`AwgnTable`](super::AwgnTable) uses another table, and longer frames
/// may have a lower error rate.
const JOINT: u64 = 3199;
/// In decibels: the range of the search, its resolution, and the margin that is added to its
/// result.
const RANGE: (f64, f64) = (-40.0, 90.0);
const STEP: f64 = 0.01;
const MARGIN: f64 = 0.25;

impl Certain {
    /// If bits are divided into at most one part for each `PART` bits, at least half of them lie in
    /// parts with a whole bit: the error model is evaluated for the whole bits of a part.
    pub(crate) const PART: u64 = 2;

    pub(crate) const NEW: Self = Self {
        above: [[f64::NAN; SIZES]; LOSSES.len()],
        below: [[f64::NAN; SIZES]; 2],
        rare: [(f64::NAN, f64::NAN); SIZES],
    };

    /// Above this ratio, the model decodes up to so many bits with probability 1.0.
    pub(crate) fn success_above(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64) -> f64 {
        self.above(model, mode, bits, 0)
    }

    /// Above this ratio, the model decodes at least one of several frames of up to so many bits
    /// each, except with a probability below 1e-12, even if each frame extends over up to 64
    /// ratios.
    pub(crate) fn any_success_above(
        &mut self,
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
        frames: usize,
    ) -> f64 {
        let class = FRAMES.iter().rposition(|&least| least <= frames).unwrap_or(0);
        self.above(model, mode, bits, class)
    }

    /// Between these ratios, the model loses so many bits with a probability above 1e-12 and below
    /// [`RARE`].
    pub(crate) fn rare_loss(
        &mut self,
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
    ) -> (f64, f64) {
        let size = (bits.max(1).ilog2() as usize).min(SIZES - 1);
        let known = &mut self.rare[size];
        if known.0.is_nan() {
            let (least, most) = (1 << size, 2 << size);
            let lost = |bits, level| {
                let success = model.success(&SinrChunk { mode, sinr: Db(level), bits });
                1.0 - success
            };
            let above = edge(|level| lost(most, level).max(lost(JOINT.min(most), level)) < RARE);
            let below = edge(|level| {
                lost(least, level).min(lost((JOINT + 1).max(least), level)) < POSSIBLE
            });
            *known = (linear(Db(above + MARGIN)), linear(Db(below - STEP - MARGIN)));
        }
        *known
    }

    fn above(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64, class: usize) -> f64 {
        let size = (bits.next_power_of_two().ilog2() as usize).min(SIZES - 1);
        let known = &mut self.above[class][size];
        if known.is_nan() {
            let sizes = (0..=size).map(|size| 1 << size).chain([JOINT.min(1 << size)]);
            let edge = edge(|level| {
                let chunk = |bits| SinrChunk { mode, sinr: Db(level), bits };
                sizes.clone().all(|bits| 1.0 - model.success(&chunk(bits)) <= LOSSES[class])
            });
            *known = linear(Db(edge + MARGIN));
        }
        *known
    }

    /// Below this ratio, the success probability p of so many bits, or more, is so small that 1.0 -
    /// p equals 1.0.
    pub(crate) fn failure_below(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64) -> f64 {
        self.below(model, mode, bits, false)
    }

    /// As [`Self::failure_below`], for bits that are divided into at most one part for each
    /// [`Certain::PART`] bits.
    pub(crate) fn failure_below_in_parts(
        &mut self,
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
    ) -> f64 {
        self.below(model, mode, bits, true)
    }

    fn below(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64, cut: bool) -> f64 {
        let size = (bits.max(1).ilog2() as usize).min(SIZES - 1);
        let known = &mut self.below[usize::from(cut)][size];
        if known.is_nan() {
            let whole = (size..SIZES).map(|size| 1 << size).chain([(JOINT + 1).max(1 << size)]);
            let parts = (0..size).map(|part| 1 << part).chain([JOINT.min(1 << size)]);
            let edge = edge(|level| {
                let success = |bits| model.success(&SinrChunk { mode, sinr: Db(level), bits });
                // Half of all bits, in parts of up to twice this number.
                let all =
                    |part| libm::pow(success(part), (1u64 << size) as f64 / (4 * part) as f64);
                whole.clone().any(|bits| success(bits) > NOTHING)
                    || cut && parts.clone().any(|part| all(part) > NOTHING)
            });
            *known = linear(Db(edge - STEP - MARGIN));
        }
        *known
    }
}

/// The level in decibels above which the predicate holds.
fn edge(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = RANGE;
    if holds(low) {
        return f64::NEG_INFINITY;
    }
    if !holds(high) {
        return f64::INFINITY;
    }
    while high - low > STEP {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::super::{AwgnTable, Nist, Threshold, Yans};
    use super::*;
    use crate::phy::{Band, Coding, DOT11A, DOT11B, ModeClass, TxVector, decibels};

    const MODELS: [&dyn ErrorModel; 4] =
        [&Nist {}, &Yans {}, &AwgnTable {}, &Threshold { sinr: Db(10.0) }];
    const BITS: [u64; 10] = [1, 24, 112, 320, 3000, 3199, 3200, 12_304, 91_000, 52_000_000];

    fn modes() -> impl Iterator<Item = Mode> {
        let he = |(mcs, coding)| {
            let vector = TxVector { mcs, ..TxVector::of(ModeClass::He, Band::Ghz5) };
            TxVector { coding: Some(coding), ..vector }.mode().ok()
        };
        let coded = (0..=11).flat_map(|mcs| [(mcs, Coding::Bcc), (mcs, Coding::Ldpc)]);
        DOT11A.modes.iter().chain(DOT11B.modes).copied().chain(coded.filter_map(he))
    }

    /// The results of models for so many bits at ratios from this one upwards or downwards.
    fn answers(
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
        from: f64,
        step: f64,
    ) -> impl Iterator<Item = f64> {
        let levels = (0..200).map(move |n| decibels(from).0 + f64::from(n) * step);
        levels.map(move |level| model.success(&SinrChunk { mode, sinr: Db(level), bits }))
    }

    #[test]
    fn above_its_limits_a_model_decodes_with_certainty() {
        for model in MODELS {
            for mode in modes() {
                let mut certain = Certain::NEW;
                for bits in BITS {
                    let success_above = certain.success_above(model, &mode, bits);
                    assert!(
                        answers(model, &mode, bits, success_above, 0.2)
                            .all(|success| success == 1.0)
                    );
                    for (frames, loss) in [(1, 1e-12), (2, 1e-6), (5, 1e-3), (12, 1e-2)] {
                        let from = certain.any_success_above(model, &mode, bits, frames);
                        assert!(from <= success_above);
                        // Fewer bits have no higher error rate.
                        for bits in BITS.into_iter().filter(|&fewer| fewer <= bits) {
                            let lost = |success: f64| 64.0 * (1.0 - success) < loss;
                            assert!(answers(model, &mode, bits, from, 0.2).all(lost));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn between_its_limits_a_loss_is_possible_and_rare() {
        for model in MODELS {
            for mode in modes() {
                let mut certain = Certain::NEW;
                for bits in BITS {
                    let (from, to) = certain.rare_loss(model, &mode, bits);
                    let is_rare = |success: f64| 1.0 - success < RARE;
                    assert!(answers(model, &mode, bits, from, 0.2).all(is_rare));
                    let is_possible = |success: f64| 1.0 - success > 1e-12;
                    assert!(to <= 0.0 || answers(model, &mode, bits, to, -0.2).all(is_possible));
                }
            }
        }
    }

    #[test]
    fn below_its_limits_a_model_decodes_nothing() {
        for model in MODELS {
            for mode in modes() {
                let mut certain = Certain::NEW;
                for bits in BITS {
                    let failure_below = certain.failure_below(model, &mode, bits);
                    let in_parts = certain.failure_below_in_parts(model, &mode, bits);
                    assert!(in_parts <= failure_below && (bits < 3000 || in_parts > 0.0));
                    // Even without power, a receiver may guess a few bits correctly.
                    for from in [failure_below, in_parts].into_iter().filter(|&from| from > 0.0) {
                        for bits in BITS.into_iter().filter(|&more| more >= bits) {
                            let nothing = |success: f64| success <= NOTHING && 1.0 - success == 1.0;
                            assert!(answers(model, &mode, bits, from, -0.2).all(nothing));
                        }
                    }
                    // In equal parts, with the greatest number of parts.
                    let parts = (bits / Certain::PART).max(1);
                    let whole = |success: f64| libm::pow(success, parts as f64) <= NOTHING;
                    if in_parts > 0.0 {
                        assert!(answers(model, &mode, bits / parts, in_parts, -0.2).all(whole));
                    }
                }
            }
        }
    }

    #[test]
    fn few_ratios_need_the_error_model() {
        for mode in modes() {
            let mut certain = Certain::NEW;
            let from = certain.failure_below(&Nist {}, &mode, 12_000);
            let to = certain.any_success_above(&Nist {}, &mode, 12_000, 1);
            assert!((0.0..12.0).contains(&decibels(to / from).0), "{mode:?}: {from} to {to}");
        }
    }
}
