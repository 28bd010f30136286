//! How much forward error correction: `LT-TCP`'s amounts, as pure functions.
//!
//! A block is a window of N units, K of data and P of parity; any K of them give the data back.
//! Where the sources (Tickoo et al., `IWQoS` 2005; US patents 7366132, 7889654 and 8537675) say
//! only
//! "a function of", the function is a reconstruction and says so.

/// Loss rates below this need no parity in advance.
const NEGLIGIBLE: f64 = 1e-3;

/// How a window is cut into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granularity {
    /// The least number of units in a window (G).
    pub units: u64,
    /// The smallest unit, in bytes.
    pub smallest: u64,
    /// The largest unit, in bytes.
    pub largest: u64,
    /// How much a unit may grow per block, in bytes.
    pub step: u64,
}

impl Default for Granularity {
    /// Ten units at least; steps of 200 bytes; the smallest is a reconstruction.
    fn default() -> Self {
        Self { units: 10, smallest: 200, largest: 1460, step: 200 }
    }
}

impl Granularity {
    /// The size of the next block's units: smaller where the window would hold too few, a step
    /// larger where it would still hold enough.
    pub fn unit(&self, window: u64, unit: u64) -> u64 {
        if window / unit.max(1) < self.units {
            (window / self.units).clamp(self.smallest, self.largest)
        } else if window / (unit + self.step) >= self.units {
            (unit + self.step).min(self.largest)
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
        assert_eq!(granularity.unit(14_600, 1460), 1460);
        assert_eq!(granularity.unit(7300, 1460), 730, "ten units of what there is");
        assert_eq!(granularity.unit(1000, 730), 200, "and never tiny ones");
        assert_eq!(granularity.unit(9300, 730), 930, "a step up where ten remain");
        assert_eq!(granularity.unit(9299, 730), 730);
        assert_eq!(granularity.unit(1_000_000, 1400), 1460);
        assert_eq!(granularity.after_mark(1460), 730);
        assert_eq!(granularity.after_mark(300), 200);
    }
}
