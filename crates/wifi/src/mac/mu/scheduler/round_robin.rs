//! Round robin over equal resource units of which none is empty.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule, View, none_empty};
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
    fn order(&mut self, _: &View<'_>, into: &mut Vec<u32>) {
        self.0.order(into);
    }

    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
        none_empty(view, found, into);
    }

    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        self.0.on_sent(lasts, served);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::units;
    use super::*;
    use crate::phy::Width;

    #[test]
    fn no_resource_unit_is_empty() {
        let scheduler = RoundRobin {}.build(1..=9);
        let of = |stations| units(&*scheduler, Width::Mhz20, stations);
        assert!(of(0).is_empty());
        assert_eq!(of(3), [106; 2]);
        assert_eq!(of(8), [52; 4]);
        assert_eq!(of(12), [26; 9]);
        assert_eq!(units(&*scheduler, Width::Mhz80, 1), [996]);
    }
}
