//! Those first for whom the least waits.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule, View, none_empty};
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
        let alone = vec![Duration::ZERO; *stations.end() as usize + 1];
        let credits = Credits::new(stations);
        Box::new(Shortest { credits, spread: self.spread, alone, sorted: Vec::new() })
    }
}

#[derive(Debug)]
struct Shortest {
    credits: Credits,
    spread: f64,
    /// How long what waits for each station took alone when it was last offered a place.
    alone: Vec<Duration>,
    sorted: Vec<(Duration, u32)>,
}

impl MuScheduler for Shortest {
    fn order(&mut self, view: &View<'_>, into: &mut Vec<u32>) {
        let Self { credits, alone, sorted, .. } = self;
        sorted.clear();
        sorted.extend(credits.stations().iter().map(|&station| {
            let lasts = view.alone(station);
            alone[station as usize] = lasts;
            (lasts, station)
        }));
        sorted.sort_by_key(|&(lasts, _)| lasts);
        into.extend(sorted.iter().map(|&(_, station)| station));
    }

    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
        let Some(&first) = found.first() else { return };
        let alone = |station: u32| self.alone[station as usize].as_secs_f64();
        let most = alone(first) * self.spread;
        let joins = |&&station: &&u32| alone(station) <= most;
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
