//! Round robin over equal resource units of which none is empty.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule};
use crate::phy::Width;
use crate::phy::he::RuSize;
use kernel::Duration;
use settings::Settings;
use std::ops::RangeInclusive;

/// Those come first who had the least airtime, and all get equal resource units of which none
/// remains empty: 1, 2, 4 or 9 in 20 MHz. Of three stations with frames, two are served. This is
/// the rule of ns-3.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct RoundRobin {}

impl MuSchedulerRule for RoundRobin {
    fn build(&self, stations: RangeInclusive<u32>) -> Box<dyn MuScheduler> {
        Box::new(EqualUnits(Credits::new(stations)))
    }
}

#[derive(Debug)]
struct EqualUnits(Credits);

impl MuScheduler for EqualUnits {
    fn order(&self, into: &mut Vec<u32>) {
        self.0.order(into);
    }

    fn units(&self, width: Width, stations: u32) -> Option<(RuSize, u32)> {
        RuSize::none_empty(width, stations)
    }

    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        self.0.on_sent(lasts, served);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_resource_unit_is_empty() {
        let scheduler = RoundRobin {}.build(1..=9);
        let units = |stations| scheduler.units(Width::Mhz20, stations);
        assert_eq!(units(0), None);
        assert_eq!(units(3), Some((RuSize::Tones106, 2)));
        assert_eq!(units(8), Some((RuSize::Tones52, 4)));
        assert_eq!(units(12), Some((RuSize::Tones26, 9)));
        assert_eq!(scheduler.units(Width::Mhz80, 1), Some((RuSize::Tones996, 1)));
    }
}
