//! Credits: who has had the least airtime comes first.

use kernel::Duration;
use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

/// The most credits that a station can have, in nanoseconds.
const MOST: i64 = 1_000_000_000;

/// The stations in the order of their credits, the most first; of equal ones, who had more before.
///
/// After a PPDU of T, each of N stations gets T/N, and the served ones lose T in proportion to
/// their resource units (as ns-3's `RrMultiUserScheduler`).
#[derive(Debug)]
pub(super) struct Credits {
    stations: Vec<u32>,
    /// The credits of each beyond what all have got.
    own: Vec<i64>,
    /// What all have got since the begin.
    all: i64,
    /// Those who were served, with their new credits, while they have no places.
    moved: Vec<(u32, i64)>,
}

impl Credits {
    pub(super) fn new(stations: RangeInclusive<u32>) -> Self {
        let stations: Vec<u32> = stations.collect();
        Self { own: vec![0; stations.len()], stations, all: 0, moved: Vec::new() }
    }

    pub(super) fn order(&self, into: &mut Vec<u32>) {
        into.extend_from_slice(&self.stations);
    }

    /// Only those who were served change places, so that the others cost nothing.
    pub(super) fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        let lasts = lasts.0 as i64;
        self.all += lasts / (self.stations.len() as i64).max(1);
        let most = MOST - self.all;
        let above = self.own.iter_mut().take_while(|own| **own > most);
        above.for_each(|own| *own = most);
        let tones: i64 = served.iter().map(|&(_, tones)| i64::from(tones)).sum();
        let gap = self.take_out(served, |own| lasts * i64::from(own) / tones.max(1));
        self.put_back(gap);
    }

    /// Those who lose something leave their places. Returns the gap, which begins where the first
    /// of them was: the others close up behind it.
    fn take_out(&mut self, served: &[(u32, u32)], loss: impl Fn(u32) -> i64) -> Range<usize> {
        let Self { stations, own, moved, .. } = self;
        // They were the first in most cases, and served in this order.
        moved.clear();
        let in_order = served.iter().zip(&*stations).take_while(|(of, station)| of.0 == **station);
        let first = served[..in_order.count()].iter().zip(&*own);
        moved.extend(first.map(|(&(station, tones), own)| (station, own - loss(tones))));
        let mut gap = 0..moved.len();
        let (mut found, mut place) = (gap.end, gap.end);
        while found < served.len() && place < stations.len() {
            let station = stations[place];
            if let Some(&(_, tones)) = served.iter().find(|of| of.0 == station) {
                found += 1;
                let loss = loss(tones);
                if loss > 0 {
                    moved.push((station, own[place] - loss));
                    gap = if gap.is_empty() { place..place } else { gap };
                    stations.copy_within(gap.end..place, gap.end + 1);
                    own.copy_within(gap.end..place, gap.end + 1);
                    gap.end += 1;
                }
            }
            place += 1;
        }
        if !moved.is_sorted_by_key(|&(_, own)| Reverse(own)) {
            moved.sort_by_key(|&(_, own)| Reverse(own));
        }
        gap
    }

    /// They come before those who have no more, so that all are in order. Who is before the gap has
    /// more.
    fn put_back(&mut self, gap: Range<usize>) {
        let Self { stations, own, moved, .. } = self;
        let Range { start: mut behind, end: mut place } = gap;
        for &(station, credits) in moved.iter() {
            if own.get(place).is_some_and(|&other| other > credits) {
                let left = &own[place..];
                let passed = match left.last() {
                    Some(&last) if last > credits => left.len(),
                    _ => left.partition_point(|&other| other > credits),
                };
                stations.copy_within(place..place + passed, behind);
                own.copy_within(place..place + passed, behind);
                (behind, place) = (behind + passed, place + passed);
            }
            (stations[behind], own[behind]) = (station, credits);
            behind += 1;
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
        let sum: i64 = credits.own.iter().map(|own| own + credits.all).sum();
        assert!(sum.abs() < 3, "what all get is what the served ones lose: {sum}");
    }

    #[test]
    fn credits_have_a_limit() {
        let mut credits = Credits::new(1..=2);
        for _ in 0..10_000 {
            credits.on_sent(Duration::from_micros(5000), &[(1, 242)]);
        }
        assert_eq!((credits.stations[0], credits.own[0]), (2, MOST - credits.all));
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
                all.sort_by_key(|&(_, own)| Reverse(own));
                let own = credits.own.iter().map(|own| own + credits.all);
                let left = credits.stations.iter().copied().zip(own);
                prop_assert_eq!(left.collect::<Vec<_>>(), all.clone());
            }
        }
    }
}
