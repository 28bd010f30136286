//! All stations that have frames at once.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule};
use crate::phy::Width;
use crate::phy::he::RuSize;
use kernel::Duration;
use settings::Settings;
use std::ops::RangeInclusive;

/// As many stations as have frames are served at once, each on the widest resource unit of which
/// the channel has enough, even if some remain empty: delays are shorter than by `round_robin`, and
/// so is the throughput (`f_hol` of D. Magrin, S. Avallone, S. Roy, M. Zorzi, "Performance
/// evaluation of 802.11ax OFDMA through theoretical analysis and simulations", 2023). Those come
/// first who had the least airtime.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct HeadOfLine {}

impl MuSchedulerRule for HeadOfLine {
    fn build(&self, stations: RangeInclusive<u32>) -> Box<dyn MuScheduler> {
        Box::new(All(Credits::new(stations)))
    }
}

#[derive(Debug)]
struct All(Credits);

impl MuScheduler for All {
    fn order(&self, into: &mut Vec<u32>) {
        self.0.order(into);
    }

    fn units(&self, width: Width, stations: u32) -> Option<(RuSize, u32)> {
        let stations = stations.min(RuSize::Tones26.number_in(width));
        let size = RuSize::widest_for(width, stations)?;
        (stations > 0).then_some((size, stations))
    }

    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        self.0.on_sent(lasts, served);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_with_frames_are_served() {
        let scheduler = HeadOfLine {}.build(1..=9);
        let units = |stations| scheduler.units(Width::Mhz20, stations);
        assert_eq!(units(0), None);
        assert_eq!(units(3), Some((RuSize::Tones52, 3)));
        assert_eq!(units(5), Some((RuSize::Tones26, 5)));
        assert_eq!(units(12), Some((RuSize::Tones26, 9)));
    }
}
