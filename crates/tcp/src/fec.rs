//! Forward error correction: `LT-TCP`'s settings and amounts, as pure functions.
//!
//! A block is a window of N units, K of data and P of parity; any K of them give the data back.
//! Where the sources (Tickoo et al., `IWQoS` 2005; US patents 7366132, 7889654 and 8537675) say
//! only "a function of", the function is a reconstruction and says so.

mod verify;

pub(crate) use verify::{Shards, recovers};

use kernel::Bytes;
use settings::{Choice, Range, Settings};

/// Loss rates below this need no parity in advance.
const NEGLIGIBLE: f64 = 1e-3;

/// Units a block can have in all: what a Reed-Solomon code over GF(2^8) has.
pub const MOST_UNITS: u32 = 255;

/// Units of a block's first transmission at most: half are left for what comes later.
pub const MOST_FIRST: u32 = 128;

/// Data in blocks with parity, as in LT-TCP (Tickoo and others 2005); what its sources leave open
/// is a reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Fec {
    /// How much parity goes out with a block, by the estimated loss rate.
    pub parity: Parity,
    /// How much of the loss estimate a new sample is; one half in equation (1) of Subramanian and
    /// others, "Impact of interference and capture effects in 802.11 wireless networks on TCP".
    #[setting(default = 0.5, range = Range::FRACTION)]
    pub weight: f64,
    /// How a window is cut into units.
    #[setting(flatten)]
    pub granularity: Granularity,
    /// Whether holes are filled with more parity, or the missing data is sent again.
    #[setting(default = true)]
    pub reactive: bool,
    /// What the header of each coded segment is longer by: kind, length, K and index, and four
    /// bytes each for the numbers of unit and block.
    #[setting(key = "header_bytes", default = 12, range = 0..=100)]
    pub header: Bytes,
    /// Whether blocks are decoded in earnest, by a Reed-Solomon code over made-up bytes, and
    /// compared, which counts segments only.
    pub verify: bool,
}

/// How much parity goes out with a block.
#[derive(Clone, Copy, Debug, PartialEq, Choice)]
pub enum Parity {
    /// None: parity is sent for holes alone.
    None,
    /// The losses to be expected, and a margin.
    Normal(Normal),
    /// The least that covers the losses with a given probability, were they independent.
    Binomial(Binomial),
}

impl Default for Parity {
    fn default() -> Self {
        Self::Normal(Normal::default())
    }
}

/// The losses to be expected, and a margin.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Normal {
    /// The margin in standard deviations. One covers the losses of nine blocks in ten; 0, the rule
    /// of US 7366132, claims 9 and 10, those of six.
    #[setting(default = 1.0, range = 0.0..=10.0)]
    pub margin: f64,
}

/// As much parity as covers the losses with a given probability.
#[derive(Clone, Copy, Debug, PartialEq, Settings)]
pub struct Binomial {
    /// The probability.
    #[setting(default = 0.9, range = Range::OPEN_UNIT)]
    pub coverage: f64,
}

impl Parity {
    /// How many of `units` are parity at this loss rate. One unit is always data.
    pub fn of(self, units: u32, loss_rate: f64) -> u32 {
        match self {
            Self::None => 0,
            Self::Normal(Normal { margin }) => proactive(units, loss_rate, margin),
            Self::Binomial(Binomial { coverage }) => covering(units, loss_rate, coverage),
        }
    }

    /// How many units carry `data` units of data and their parity.
    pub fn around(self, data: u32, loss_rate: f64) -> u32 {
        let enough = |&units: &u32| units - self.of(units, loss_rate) >= data;
        (data..MOST_FIRST.max(data)).find(enough).unwrap_or(MOST_FIRST.max(data))
    }
}

/// How a window is cut into units; the largest unit is a full segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Granularity {
    /// Segments of a window at least, for which they become smaller (G).
    #[setting(default = 10, range = 2..=u64::from(MOST_FIRST))]
    pub units: u64,
    /// The smallest segment that a small window is cut into (a reconstruction).
    #[setting(key = "unit_min_bytes", default = 200, range = 1..=1_000_000)]
    pub smallest: u64,
    /// How much segments may grow with each block.
    #[setting(key = "unit_step_bytes", default = 200, range = 1..=10_000)]
    pub step: u64,
}

impl Granularity {
    /// The size of the next block's units: smaller where the window would hold too few, a step
    /// larger where it would still hold enough.
    pub fn unit(&self, window: u64, unit: u64, largest: u64) -> u64 {
        if window / unit.max(1) < self.units {
            (window / self.units).clamp(self.smallest, largest)
        } else if window / (unit + self.step) >= self.units {
            (unit + self.step).min(largest)
        } else {
            unit
        }
    }

    /// The size after a mark: halved with the window, so that the window holds as many.
    pub fn after_mark(&self, unit: u64) -> u64 {
        (unit / 2).max(self.smallest)
    }
}

/// How many of `units` are parity at this loss rate: the losses to be expected, and `margin`
/// standard deviations (reconstruction; US 7366132 claims 9 and 10 have the expectation, that is a
/// margin of 0). One unit is always data.
pub fn proactive(units: u32, loss_rate: f64, margin: f64) -> u32 {
    if loss_rate < NEGLIGIBLE || units < 2 {
        return 0;
    }
    let n = f64::from(units);
    let expected = n * loss_rate;
    let deviation = (expected * (1.0 - loss_rate)).max(0.0).sqrt();
    // A hair less, so that an exact number of losses is not rounded up.
    let parity = (expected + margin * deviation - 1e-9).ceil().max(1.0);
    parity.min(n - 1.0) as u32
}

/// The least number of parity units among `units` that covers the losses with probability
/// `coverage`, were they independent: the quantile of the binomial distribution.
fn covering(units: u32, loss_rate: f64, coverage: f64) -> u32 {
    if loss_rate < NEGLIGIBLE || units < 2 {
        return 0;
    }
    let odds = loss_rate / (1.0 - loss_rate).max(NEGLIGIBLE);
    let mut term = (0..units).fold(1.0, |product, _| product * (1.0 - loss_rate));
    let mut sum = term;
    for parity in 0..units - 1 {
        if sum >= coverage {
            return parity.max(1);
        }
        term *= odds * f64::from(units - parity) / f64::from(parity + 1);
        sum += term;
    }
    units - 1
}

/// How many more parity units a block needs: what is missing after all that is still to arrive,
/// with losses among the new units allowed for (reconstruction; US 8537675 claims 5 to 7 have a
/// function of the hole and of the loss rate).
pub fn reactive(needed: u32, arrived: u32, in_flight: u32, loss_rate: f64) -> u32 {
    let kept = (1.0 - loss_rate).max(NEGLIGIBLE);
    let missing = f64::from(needed) - f64::from(arrived) - f64::from(in_flight) * kept;
    if missing <= 1e-9 { 0 } else { (missing / kept - 1e-9).ceil() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_amounts() {
        // Rows: N, margin; columns: E = 1, 5, 10, 20, 30, 50 %.
        let table = [
            (10, 0.0, [1, 1, 1, 2, 3, 5]),
            (10, 1.0, [1, 2, 2, 4, 5, 7]),
            (20, 0.0, [1, 1, 2, 4, 6, 10]),
            (20, 1.0, [1, 2, 4, 6, 9, 13]),
            (40, 0.0, [1, 2, 4, 8, 12, 20]),
            (40, 1.0, [2, 4, 6, 11, 15, 24]),
        ];
        for (units, margin, wanted) in table {
            let rates = [0.01, 0.05, 0.1, 0.2, 0.3, 0.5];
            assert_eq!(rates.map(|rate| proactive(units, rate, margin)), wanted, "{units}");
        }
    }

    #[test]
    fn the_binomial_rule_covers_what_it_says_and_no_more() {
        // Probabilities that P units cover the losses of N, from the table of the binomial
        // distribution: .930, .967, .957, .952 for these at a margin of one deviation.
        for (units, rate, parity, covered) in
            [(10, 0.1, 2, 0.930), (10, 0.2, 4, 0.967), (20, 0.1, 4, 0.957), (20, 0.3, 9, 0.952)]
        {
            let rule = |coverage| Parity::Binomial(Binomial { coverage }).of(units, rate);
            assert_eq!(rule(covered - 0.001), parity, "{units} at {rate}");
            assert_eq!(rule(covered + 0.001), parity + 1, "{units} at {rate}");
        }
        assert_eq!(Parity::Binomial(Binomial { coverage: 0.9 }).of(10, 0.0), 0);
        assert_eq!(Parity::Binomial(Binomial { coverage: 0.9 }).of(128, 1.0), 127);
        assert_eq!(Parity::None.of(10, 0.9), 0);
    }

    #[test]
    fn little_data_gets_parity_of_its_own() {
        let rule = Parity::Normal(Normal { margin: 1.0 });
        for rate in [0.0, 0.01, 0.1, 0.3, 0.5] {
            for data in 1..50 {
                let units = rule.around(data, rate);
                assert!(units - rule.of(units, rate) >= data);
                assert!(units == data || units - 1 - rule.of(units - 1, rate) < data);
            }
        }
        assert_eq!(rule.around(3, 1.0), MOST_FIRST, "all is lost: finite all the same");
    }

    #[test]
    fn parity_leaves_room_for_data() {
        assert_eq!(proactive(10, 0.0, 1.0), 0);
        assert_eq!(proactive(10, 1.0, 1.0), 9);
        assert_eq!(proactive(1, 0.9, 1.0), 0);
        assert_eq!(proactive(2, 0.9, 1.0), 1);
    }

    #[test]
    fn what_is_missing_is_asked_for_with_its_own_losses() {
        assert_eq!(reactive(8, 5, 0, 0.0), 3);
        assert_eq!(reactive(8, 5, 0, 0.5), 6);
        assert_eq!(reactive(8, 5, 3, 0.0), 0, "on its way");
        // 3 - 2·0.75 = 1.5 missing; 1.5/0.75 = 2.
        assert_eq!(reactive(8, 5, 2, 0.25), 2);
        assert_eq!(reactive(8, 9, 0, 0.3), 0);
        assert!(reactive(8, 0, 0, 1.0) > 1000, "all is lost: finite all the same");
    }

    #[test]
    fn units_keep_the_window_granular() {
        let granularity = Granularity::default();
        let unit = |window, unit| granularity.unit(window, unit, 1460);
        assert_eq!(unit(14_600, 1460), 1460);
        assert_eq!(unit(7300, 1460), 730, "ten units of what there is");
        assert_eq!(unit(1000, 730), 200, "and never tiny ones");
        assert_eq!(unit(9300, 730), 930, "a step up where ten remain");
        assert_eq!(unit(9299, 730), 730);
        assert_eq!(unit(1_000_000, 1400), 1460);
        assert_eq!(granularity.after_mark(1460), 730);
        assert_eq!(granularity.after_mark(300), 200);
    }
}
