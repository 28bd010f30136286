//! Those first for whom the least waits.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule, StationView, View, none_empty};
use crate::phy::he::RuSize;
use kernel::Duration;
use settings::Settings;
use std::ops::RangeInclusive;

/// Those come first whose packets would take the least time alone, so that short transfers do not
/// wait for long ones (shortest remaining time first, as in D. Bankov, A. Didenko, E. Khorov,
/// A. Lyakhov, "OFDMA uplink scheduling in IEEE 802.11ax networks", 2018); of equal ones those who
/// had the least airtime. Resource units are those of `round_robin`. As all users of a PPDU end
/// together, only those join the first whose packets take not much longer. What waits for a station
/// that always has more than others may never be sent.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ShortestFirst {
    /// How many times as long as those of the first station the packets of another in the PPDU may
    /// take.
    #[setting(default = 4.0, range = 1.0..=1e6)]
    pub spread: f64,
}

impl MuSchedulerRule for ShortestFirst {
    fn build(&self, stations: RangeInclusive<u32>) -> Box<dyn MuScheduler> {
        let first = *stations.start();
        let alone = vec![(StationView::default(), Duration::ZERO); stations.clone().count()];
        let (credits, seen) = (Credits::new(stations), Vec::new());
        Box::new(Shortest { credits, spread: self.spread, first, alone, seen })
    }
}

#[derive(Debug)]
struct Shortest {
    credits: Credits,
    spread: f64,
    /// The number of the first station.
    first: u32,
    /// What waited for each station when they were last offered a place, and how long that would
    /// have taken alone.
    alone: Vec<(StationView, Duration)>,
    /// What waits now.
    seen: Vec<StationView>,
}

impl Shortest {
    fn alone(&self, station: u32) -> Duration {
        self.alone[(station - self.first) as usize].1
    }
}

impl MuScheduler for Shortest {
    fn order(&mut self, view: &View<'_>, into: &mut Vec<u32>) {
        self.seen.clear();
        view.queues.all(&mut self.seen);
        for (known, &now) in self.alone.iter_mut().zip(&self.seen) {
            if known.0 != now {
                *known = (now, now.alone());
            }
        }
        let first = into.len();
        self.credits.order(into);
        let alone = |&station: &u32| self.alone(station);
        // In a saturated cell the same waits for all.
        if !into[first..].is_sorted_by_key(alone) {
            into[first..].sort_by_key(alone);
        }
    }

    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
        let Some(&first) = found.first() else { return };
        let first = self.alone(first);
        let most = first.as_secs_f64() * self.spread;
        let is_short = |lasts: Duration| lasts <= first || lasts.as_secs_f64() <= most;
        let joins = |&&station: &&u32| is_short(self.alone(station));
        none_empty(view, &found[..found.iter().take_while(joins).count()], into);
    }

    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        self.credits.on_sent(lasts, served);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{view, waiting};
    use super::*;
    use crate::phy::Width;

    #[test]
    fn a_long_queue_joins_no_short_one() {
        let mut scheduler = ShortestFirst { spread: 4.0 }.build(1..=3);
        let mut tones = |bytes: &[u64]| {
            let (stations, mut order, mut sizes) = (waiting(bytes), Vec::new(), Vec::new());
            let view = view(Width::Mhz20, &stations);
            scheduler.order(&view, &mut order);
            scheduler.units(&view, &order, &mut sizes);
            sizes.into_iter().map(RuSize::tones).collect::<Vec<_>>()
        };
        assert_eq!(tones(&[1500, 6000, 6001]), [106; 2]);
        assert_eq!(tones(&[1500, 9000, 9000]), [242]);
        assert_eq!(tones(&[9000, 9000, 9000]), [106; 2]);
    }

    #[test]
    fn who_has_least_is_first_and_of_equal_ones_who_had_least_airtime() {
        let mut scheduler = ShortestFirst { spread: 4.0 }.build(1..=4);
        scheduler.on_sent(Duration::from_micros(100), &[(2, 242)]);
        let stations = waiting(&[9000, 1500, 40_000, 1500]);
        let mut order = Vec::new();
        scheduler.order(&view(Width::Mhz20, &stations), &mut order);
        assert_eq!(order, [4, 2, 1, 3]);
    }
}
