//! Where an error model need not be asked.

use super::{Chunk, ErrorModel};
use crate::phy::{Mode, linear};
use kernel::Db;

/// Ratios of signal to noise and interference beyond which the answers of an error model for one
/// mode are known well enough. A model must understand the better the higher the ratio, and the
/// fewer the bits, but for rounding.
#[derive(Debug)]
pub(crate) struct Certain {
    /// By loss and number of bits, as powers of two; not a number where not asked for yet.
    above: [[f64; SIZES]; LOSSES.len()],
    /// Whole, and in parts.
    below: [[f64; SIZES]; 2],
}

/// Losses that can be told: none to the last bit, and as much as leaves less than a millionth of a
/// millionth if so many frames must all be lost: each may stand under 64 ratios.
const LOSSES: [f64; 6] = [0.0, 1e-12 / 64.0, 1e-6 / 64.0, 1e-4 / 64.0, 1e-3 / 64.0, 1e-2 / 64.0];
const FRAMES: [usize; 6] = [0, 1, 2, 3, 4, 6];
/// A success of which 1.0 notices nothing if it is subtracted.
const NOTHING: f64 = 1e-20;
/// The longest PSDU has some 52 million bits.
const SIZES: usize = 27;
/// Above so many bits [`AwgnTable`](super::AwgnTable) follows another table, and longer frames may
/// fare better.
const JOINT: u64 = 3199;
/// In decibels: where is looked, how closely, and what is kept from what is found.
const RANGE: (f64, f64) = (-40.0, 90.0);
const STEP: f64 = 0.01;
const MARGIN: f64 = 0.25;

impl Certain {
    /// Of so many bits to a part, half are sent in parts of whole bits at least: a part is reckoned
    /// with the whole bits that are sent in it.
    pub(crate) const PART: u64 = 2;

    pub(crate) const NEW: Self =
        Self { above: [[f64::NAN; SIZES]; LOSSES.len()], below: [[f64::NAN; SIZES]; 2] };

    /// From which ratio on up to so many bits are understood with probability 1.0.
    pub(crate) fn clear(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64) -> f64 {
        self.above(model, mode, bits, 0)
    }

    /// From which ratio on one of several frames of up to so many bits each is understood, but for
    /// a probability of less than 1e-12; even if each lasts over up to 64 ratios.
    pub(crate) fn one_of(
        &mut self,
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
        frames: usize,
    ) -> f64 {
        let class = FRAMES.iter().rposition(|&least| least <= frames).unwrap_or(0);
        self.above(model, mode, bits, class)
    }

    fn above(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64, class: usize) -> f64 {
        let size = (bits.next_power_of_two().ilog2() as usize).min(SIZES - 1);
        let known = &mut self.above[class][size];
        if known.is_nan() {
            let sizes = (0..=size).map(|size| 1 << size).chain([JOINT.min(1 << size)]);
            let edge = edge(|level| {
                let chunk = |bits| Chunk { mode, sinr: Db(level), bits };
                sizes.clone().all(|bits| 1.0 - model.success(&chunk(bits)) <= LOSSES[class])
            });
            *known = linear(Db(edge + MARGIN));
        }
        *known
    }

    /// Up to which ratio so many bits, or more, are understood with a probability that makes no
    /// difference to 1.0.
    pub(crate) fn hopeless(&mut self, model: &dyn ErrorModel, mode: &Mode, bits: u64) -> f64 {
        self.below(model, mode, bits, false)
    }

    /// The same of bits that are cut into parts, one for each [`Certain::PART`] bits at most.
    pub(crate) fn hopeless_in_parts(
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
                let success = |bits| model.success(&Chunk { mode, sinr: Db(level), bits });
                // Half of all bits, in parts of up to twice as many as these.
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

/// From where on it holds, in decibels.
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

    /// What models say of so many bits from a ratio on, upwards or downwards.
    fn answers(
        model: &dyn ErrorModel,
        mode: &Mode,
        bits: u64,
        from: f64,
        step: f64,
    ) -> impl Iterator<Item = f64> {
        let levels = (0..200).map(move |n| decibels(from).0 + f64::from(n) * step);
        levels.map(move |level| model.success(&Chunk { mode, sinr: Db(level), bits }))
    }

    #[test]
    fn above_its_limits_a_model_says_what_is_expected() {
        for model in MODELS {
            for mode in modes() {
                let mut certain = Certain::NEW;
                for bits in BITS {
                    let clear = certain.clear(model, &mode, bits);
                    assert!(answers(model, &mode, bits, clear, 0.2).all(|success| success == 1.0));
                    for (frames, loss) in [(1, 1e-12), (2, 1e-6), (5, 1e-3), (12, 1e-2)] {
                        let from = certain.one_of(model, &mode, bits, frames);
                        assert!(from <= clear);
                        // Fewer bits do no worse.
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
    fn below_its_limits_a_model_has_no_hope() {
        for model in MODELS {
            for mode in modes() {
                let mut certain = Certain::NEW;
                for bits in BITS {
                    let hopeless = certain.hopeless(model, &mode, bits);
                    let in_parts = certain.hopeless_in_parts(model, &mode, bits);
                    assert!(in_parts <= hopeless && (bits < 3000 || in_parts > 0.0));
                    // No power is so little that some bits could not be guessed.
                    for from in [hopeless, in_parts].into_iter().filter(|&from| from > 0.0) {
                        for bits in BITS.into_iter().filter(|&more| more >= bits) {
                            let nothing = |success: f64| success <= NOTHING && 1.0 - success == 1.0;
                            assert!(answers(model, &mode, bits, from, -0.2).all(nothing));
                        }
                    }
                    // In equal parts, as many as there may be.
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
    fn little_is_left_in_between() {
        for mode in modes() {
            let mut certain = Certain::NEW;
            let from = certain.hopeless(&Nist {}, &mode, 12_000);
            let to = certain.one_of(&Nist {}, &mode, 12_000, 1);
            assert!((0.0..12.0).contains(&decibels(to / from).0), "{mode:?}: {from} to {to}");
        }
    }
}
