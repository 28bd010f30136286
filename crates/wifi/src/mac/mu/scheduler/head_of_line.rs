//! All stations that have frames at once.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule, View};
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
    fn order(&mut self, _: &View<'_>, into: &mut Vec<u32>) {
        self.0.order(into);
    }

    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
        let stations = found.len().min(RuSize::Tones26.number_in(view.channel) as usize);
        if let Some(size) = RuSize::widest_for(view.channel, stations as u32) {
            into.extend((0..stations).map(|_| size));
        }
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
    fn all_with_frames_are_served() {
        let scheduler = HeadOfLine {}.build(1..=9);
        let of = |stations| units(&*scheduler, Width::Mhz20, stations);
        assert!(of(0).is_empty());
        assert_eq!(of(3), [52; 3]);
        assert_eq!(of(5), [26; 5]);
        assert_eq!(of(12), [26; 9]);
    }
}
