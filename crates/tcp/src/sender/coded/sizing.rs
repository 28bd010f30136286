//! The sizes of blocks and units of coded data, and the amount of parity.

use crate::fec::{Fec, MOST_FIRST};

/// The parameters of the next block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizing {
    pub(super) settings: Fec,
    /// Bytes of a full segment.
    mss: u64,
    /// The unit size of the next block in bytes.
    pub(super) unit: u64,
    pub(super) estimate: LossEstimate,
}

impl Sizing {
    pub(super) fn new(settings: &Fec, mss: u64) -> Self {
        let mut settings = *settings;
        settings.granularity.smallest = settings.granularity.smallest.min(mss);
        let window = settings.granularity.units;
        let estimate =
            LossEstimate { value: 0.0, weight: settings.weight, window, units: 0, lost: 0 };
        Self { settings, mss, unit: mss, estimate }
    }

    /// The window was reduced for a congestion mark.
    pub(super) fn on_mark(&mut self) {
        self.unit = self.settings.granularity.after_mark(self.unit);
    }

    /// The numbers of data and parity units of the next block, for a window of this many bytes.
    pub(super) fn cut_window(&mut self, window: u64) -> (u32, u32) {
        let granularity = self.settings.granularity;
        self.unit = granularity.unit(window, self.unit, self.mss);
        loop {
            let units = (window / self.unit).clamp(2, u64::from(MOST_FIRST)) as u32;
            let parity = self.settings.parity.of(units, self.estimate.value);
            let few = u64::from(units - parity) < granularity.units / 2;
            // Smaller units leave room for parity beside at least one data unit.
            if !few || self.unit <= granularity.smallest || units == MOST_FIRST {
                return (units - parity, parity);
            }
            self.unit = self.unit.saturating_sub(granularity.step).max(granularity.smallest);
        }
    }
}

/// Updates the loss probability of a unit by equation (1), once for each window.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossEstimate {
    pub(super) value: f64,
    weight: f64,
    /// The minimum number of units in a window: smaller blocks, which lack data, are counted
    /// together.
    window: u64,
    units: u32,
    lost: u32,
}

impl LossEstimate {
    pub(super) fn count(&mut self, units: u32, lost: u32) {
        self.units += units;
        self.lost += lost;
        if u64::from(self.units) >= self.window {
            let sample = f64::from(self.lost) / f64::from(self.units);
            self.value += self.weight * (sample - self.value);
            (self.units, self.lost) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fec::{Granularity, Normal, Parity};

    /// Units of 50 to 100 bytes, ten in a window of 1000 bytes.
    fn sizing() -> Sizing {
        let granularity = Granularity { units: 5, smallest: 50, step: 20 };
        let parity = Parity::Normal(Normal { margin: 1.0 });
        Sizing::new(&Fec { parity, granularity, ..Fec::default() }, 100)
    }

    #[test]
    fn small_windows_are_cut_into_smaller_units() {
        let mut sizing = sizing();
        assert_eq!(sizing.cut_window(1000), (10, 0));
        assert_eq!((sizing.cut_window(300), sizing.unit), ((5, 0), 60));
        assert_eq!((sizing.cut_window(300), sizing.unit), ((5, 0), 60));
        sizing.estimate.value = 0.5;
        let (data, parity) = sizing.cut_window(1000);
        assert_eq!((sizing.unit, data + parity), (80, 12), "a step larger");
        assert_eq!(parity, 8, "6 and 1.73");
        sizing.estimate.value = 0.9;
        let (data, parity) = sizing.cut_window(1000);
        assert_eq!((sizing.unit, data, parity), (50, 1, 19), "smaller, for the sake of parity");
    }

    #[test]
    fn blocks_smaller_than_a_window_count_together() {
        let mut estimate = sizing().estimate;
        estimate.count(3, 1);
        assert_eq!(estimate.value, 0.0);
        estimate.count(2, 1);
        assert_eq!(estimate.value, 0.2, "half of 2 of 5");
    }
}
