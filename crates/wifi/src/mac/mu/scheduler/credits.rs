//! Credits: who has had the least airtime comes first.

use kernel::Duration;
use std::ops::RangeInclusive;

/// The most credits that a station can have, in nanoseconds.
const MOST: i64 = 1_000_000_000;

/// The stations in the order of their credits, the most first; of equal ones, who had more before.
///
/// After a PPDU of T, each of N stations gets T/N, and the served ones lose T in proportion to
/// their resource units (as ns-3's `RrMultiUserScheduler`).
#[derive(Debug)]
pub(super) struct Credits {
    /// Each with its credits beyond what all have got.
    stations: Vec<(u32, i64)>,
    /// What all have got since the begin.
    all: i64,
    /// The places of those who were served, and what each of them loses.
    losses: Vec<(usize, i64)>,
}

impl Credits {
    pub(super) fn new(stations: RangeInclusive<u32>) -> Self {
        let stations = stations.map(|station| (station, 0)).collect();
        Self { stations, all: 0, losses: Vec::new() }
    }

    pub(super) fn order(&self, into: &mut Vec<u32>) {
        into.extend(self.stations.iter().map(|&(station, _)| station));
    }

    /// Only those who were served change places, so that the others cost nothing.
    pub(super) fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        let Self { stations, all, losses } = self;
        let (lasts, number) = (lasts.0 as i64, stations.len() as i64);
        *all += lasts / number.max(1);
        let most = MOST - *all;
        let above = stations.iter_mut().take_while(|(_, own)| *own > most);
        above.for_each(|(_, own)| *own = most);
        let tones: i64 = served.iter().map(|&(_, tones)| i64::from(tones)).sum();
        losses.clear();
        // They were among the first in most cases, and served in this order.
        let mut next = 0;
        for (place, &(station, _)) in stations.iter().enumerate() {
            if losses.len() == served.len() {
                break;
            }
            let is_it = |of: &(u32, u32)| of.0 == station;
            let is_next = served.get(next).is_some_and(is_it);
            let found = if is_next { Some(next) } else { served.iter().position(is_it) };
            if let Some(at) = found {
                next = at + 1;
                losses.push((place, lasts * i64::from(served[at].1) / tones.max(1)));
            }
        }
        // The last one first, so that what stands behind each is in order.
        for &(place, loss) in losses.iter().rev() {
            let left = stations[place].1 - loss;
            let behind = &mut stations[place..];
            // In most cases only the few pass who were not served.
            let first = behind[1..].iter().take(4).position(|&(_, own)| own <= left);
            let all = || behind[1..].partition_point(|&(_, own)| own > left);
            let passed = first.unwrap_or_else(all);
            behind[0].1 = left;
            behind[..=passed].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(credits: &Credits) -> Vec<u32> {
        let mut order = Vec::new();
        credits.order(&mut order);
        order
    }

    #[test]
    fn who_was_served_goes_to_the_end() {
        let mut credits = Credits::new(1..=4);
        assert_eq!(order(&credits), [1, 2, 3, 4]);
        let lasts = Duration::from_micros(1000);
        credits.on_sent(lasts, &[(1, 106), (2, 106)]);
        assert_eq!(order(&credits), [3, 4, 1, 2]);
        credits.on_sent(lasts, &[(3, 106), (4, 106)]);
        assert_eq!(order(&credits), [3, 4, 1, 2], "all have the same again");
    }

    #[test]
    fn a_wider_resource_unit_costs_more() {
        let mut credits = Credits::new(1..=3);
        credits.on_sent(Duration::from_micros(900), &[(1, 106), (2, 52)]);
        assert_eq!(order(&credits), [3, 2, 1]);
        let sum: i64 = credits.stations.iter().map(|&(_, own)| own + credits.all).sum();
        assert!(sum.abs() < 3, "what all get is what the served ones lose: {sum}");
    }

    #[test]
    fn credits_have_a_limit() {
        let mut credits = Credits::new(1..=2);
        for _ in 0..10_000 {
            credits.on_sent(Duration::from_micros(5000), &[(1, 242)]);
        }
        assert_eq!(credits.stations[0], (2, MOST - credits.all));
    }

    proptest! {
        /// The same as to give each station its share, and to sort all.
        #[test]
        fn who_was_served_moves_as_in_a_stable_sort(
            ppdus in prop::collection::vec(
                (0_u64..400_000_000, prop::collection::vec(0_u32..12, 0..6)), 1..60),
        ) {
            const N: i64 = 12;
            let mut credits = Credits::new(1..=N as u32);
            let mut all: Vec<(u32, i64)> = (1..=N as u32).map(|station| (station, 0)).collect();
            for (lasts, mut who) in ppdus {
                who.sort_unstable();
                who.dedup();
                let of = |&nth: &u32| (nth + 1, [26, 52, 52, 106][nth as usize % 4]);
                let served: Vec<(u32, u32)> = who.iter().rev().map(of).collect();
                credits.on_sent(Duration(lasts), &served);
                let (lasts, tones) = (lasts as i64, served.iter().map(|&(_, it)| it).sum::<u32>());
                for (station, own) in &mut all {
                    let share = served.iter().find(|(of, _)| of == station);
                    let loss = share.map_or(0, |&(_, it)| lasts * i64::from(it) / i64::from(tones));
                    *own = (*own + lasts / N).min(MOST) - loss;
                }
                all.sort_by_key(|&(_, own)| std::cmp::Reverse(own));
                let left = credits.stations.iter().map(|&(it, own)| (it, own + credits.all));
                prop_assert_eq!(left.collect::<Vec<_>>(), all.clone());
            }
        }
    }
}
