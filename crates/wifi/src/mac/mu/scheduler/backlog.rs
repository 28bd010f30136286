//! Resource units by what waits.

use super::credits::Credits;
use super::{MuScheduler, MuSchedulerRule, View};
use crate::phy::Puncturing;
use crate::phy::he::{Room, RuSize};
use kernel::Duration;
use settings::Settings;
use std::ops::RangeInclusive;

/// All stations with frames are served at once, and the more waits for one the wider is its
/// resource unit, so that a PPDU is as short as it can be and little of it is padding. Those come
/// first who had the least airtime.
///
/// With `single_above_us`, a station for which that much waits is served alone: where it fills a
/// PPDU by itself, OFDMA costs throughput.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Backlog {
    /// A station whose packets would take longer than this alone, without headers, gets PPDUs of a
    /// single user. Default: never.
    #[setting(key = "single_above_us", range = 0.0..=1e6)]
    pub single_above: Option<Duration>,
}

impl MuSchedulerRule for Backlog {
    fn build(&self, stations: RangeInclusive<u32>) -> Box<dyn MuScheduler> {
        let single_above = self.single_above;
        Box::new(ByBacklog { credits: Credits::new(stations), single_above })
    }
}

#[derive(Debug)]
struct ByBacklog {
    credits: Credits,
    single_above: Option<Duration>,
}

impl ByBacklog {
    fn is_single(&self, view: &View<'_>, station: u32) -> bool {
        self.single_above.is_some_and(|most| view.alone(station) > most)
    }
}

impl MuScheduler for ByBacklog {
    /// Those who are served alone are behind all others, but for the first with packets.
    fn order(&mut self, view: &View<'_>, into: &mut Vec<u32>) {
        self.credits.order(into);
        if self.single_above.is_none() {
            return;
        }
        let has_any = |&station: &u32| view.of(station).bytes.0 > 0;
        let first = into.iter().copied().find(has_any);
        into.sort_by_cached_key(|&station| Some(station) != first && self.is_single(view, station));
    }

    fn units(&self, view: &View<'_>, found: &[u32], into: &mut Vec<RuSize>) {
        let short = |&&station: &&u32| !self.is_single(view, station);
        let number = found.iter().take_while(short).count();
        let number = number.min(RuSize::Tones26.number_in(view.channel) as usize);
        widen(view, &found[..number], into);
    }

    fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        self.credits.on_sent(lasts, served);
    }
}

/// Widens the resource unit of whom takes the longest, until there is no room for it.
fn widen(view: &View<'_>, found: &[u32], sizes: &mut Vec<RuSize>) {
    sizes.extend(found.iter().map(|_| RuSize::Tones26));
    if found.len() as u32 == RuSize::Tones26.number_in(view.channel) {
        return;
    }
    let mut room = Room::of(view.channel);
    for &size in &*sizes {
        room.take(size);
    }
    // In femtoseconds, up to five hours.
    let alone = |&station: &u32| view.alone(station).0.saturating_mul(1_000_000);
    let lasts = |alone: u64, size: RuSize| alone / u64::from(size.data_tones());
    // Of each that may grow, how long it takes alone, and in its resource unit.
    let started = |alone| Some((alone, lasts(alone, RuSize::Tones26)));
    let mut growing: Vec<_> = found.iter().map(alone).map(started).collect();
    loop {
        let all = growing.iter().enumerate().rev();
        let longest = all.filter_map(|(nth, own)| own.map(|own| (nth, own)));
        let Some((nth, (alone, _))) = longest.max_by_key(|&(_, (_, lasts))| lasts) else { return };
        let before = sizes[nth];
        growing[nth] = None;
        let Some(size) = next(before, view.channel) else { continue };
        room.put_back(before);
        if room.take(size) {
            sizes[nth] = size;
            growing[nth] = Some((alone, lasts(alone, size)));
        } else {
            room.take(before);
        }
    }
}

/// The next wider resource unit of a channel.
fn next(size: RuSize, channel: Puncturing) -> Option<RuSize> {
    let wider = RuSize::ALL.into_iter().find(|&other| other > size)?;
    (wider.number_in(channel) > 0).then_some(wider)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{view, waiting};
    use super::*;
    use crate::phy::Width;
    use crate::phy::he::Ru;
    use proptest::prelude::*;

    fn of(single_above: Option<f64>, width: Width, bytes: &[u64]) -> (Vec<u32>, Vec<u32>) {
        let single_above = single_above.map(|us| Duration::from_secs_f64(us * 1e-6));
        let mut scheduler = Backlog { single_above }.build(1..=bytes.len() as u32);
        let stations = waiting(bytes);
        let view = view(width, &stations);
        let (mut order, mut sizes) = (Vec::new(), Vec::new());
        scheduler.order(&view, &mut order);
        order.retain(|&station| bytes[station as usize - 1] > 0);
        scheduler.units(&view, &order, &mut sizes);
        (order, sizes.into_iter().map(RuSize::tones).collect())
    }

    #[test]
    fn who_has_more_gets_a_wider_resource_unit() {
        assert_eq!(of(None, Width::Mhz20, &[1500, 9000, 1500]).1, [52, 106, 52]);
        assert_eq!(of(None, Width::Mhz20, &[1500, 1500]).1, [106; 2]);
        assert_eq!(of(None, Width::Mhz20, &[1500]).1, [242]);
        assert_eq!(of(None, Width::Mhz40, &[90_000, 1500, 1500]).1, [242, 106, 106]);
        assert_eq!(of(None, Width::Mhz20, &[1500; 12]).1, [26; 9]);
    }

    #[test]
    fn who_fills_a_ppdu_is_served_alone() {
        // 30 kB take 2.8 ms at 86 Mb/s.
        let bytes = [1500, 30_000, 1500];
        assert_eq!(of(Some(2000.0), Width::Mhz20, &bytes), (vec![1, 3, 2], vec![106; 2]));
        assert_eq!(of(Some(3000.0), Width::Mhz20, &bytes).1.len(), 3);
        let first = [30_000, 1500, 1500];
        assert_eq!(of(Some(2000.0), Width::Mhz20, &first), (vec![1, 2, 3], vec![]));
    }

    proptest! {
        #[test]
        fn resource_units_fit_and_none_could_be_wider(
            bytes in prop::collection::vec(1_u64..100_000, 1..20),
        ) {
            let (_, tones) = of(None, Width::Mhz40, &bytes);
            prop_assert_eq!(tones.len(), bytes.len().min(18));
            let size = |tones: u32| RuSize::ALL.into_iter().find(|s| s.tones() == tones);
            let sizes: Vec<RuSize> = tones.into_iter().filter_map(size).collect();
            prop_assert!(Ru::place(Width::Mhz40, &sizes).is_ok());
            for nth in 0..sizes.len() {
                let mut wider = sizes.clone();
                let Some(next) = next(sizes[nth], Width::Mhz40.into()) else { continue };
                wider[nth] = next;
                prop_assert!(Ru::place(Width::Mhz40, &wider).is_err());
            }
        }
    }
}
