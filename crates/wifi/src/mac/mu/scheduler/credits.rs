//! Credits: who has had the least airtime comes first.

use kernel::Duration;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// The most credits that a station can have, in nanoseconds.
const MOST: i64 = 1_000_000_000;

/// The stations in the order of their credits, the most first; of equal ones, who had more before.
///
/// After a PPDU of T, each of N stations gets T/N, and the served ones lose T in proportion to
/// their resource units (as ns-3's `RrMultiUserScheduler`).
#[derive(Debug)]
pub(super) struct Credits(Vec<(u32, i64)>);

impl Credits {
    pub(super) fn new(stations: RangeInclusive<u32>) -> Self {
        Self(stations.map(|station| (station, 0)).collect())
    }

    pub(super) fn order(&self, into: &mut Vec<u32>) {
        into.extend(self.0.iter().map(|&(station, _)| station));
    }

    pub(super) fn on_sent(&mut self, lasts: Duration, served: &[(u32, u32)]) {
        let (lasts, number) = (lasts.0 as i64, self.0.len() as i64);
        let all: i64 = served.iter().map(|&(_, tones)| i64::from(tones)).sum();
        for (station, credits) in &mut self.0 {
            let own = served.iter().find(|(of, _)| of == station);
            let share = own.map_or(0, |&(_, tones)| lasts * i64::from(tones) / all.max(1));
            *credits = (*credits + lasts / number.max(1)).min(MOST) - share;
        }
        self.0.sort_by_key(|&(_, credits)| Reverse(credits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let sum: i64 = credits.0.iter().map(|&(_, own)| own).sum();
        assert!(sum.abs() < 3, "what all get is what the served ones lose: {sum}");
    }

    #[test]
    fn credits_have_a_limit() {
        let mut credits = Credits::new(1..=2);
        for _ in 0..10_000 {
            credits.on_sent(Duration::from_micros(5000), &[(1, 242)]);
        }
        assert_eq!(credits.0[0], (2, MOST));
    }
}
