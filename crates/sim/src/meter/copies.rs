//! Copies of datagrams: a router that misses acknowledgements sends a packet again that the next
//! hop has.

use std::collections::BTreeMap;

/// The datagrams of a flow that have arrived, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// All that have arrived have smaller numbers.
    next: u64,
    /// The ranges of smaller numbers that have not arrived: first, and one past the last.
    missing: BTreeMap<u64, u64>,
}

impl Arrivals {
    /// A datagram arrives. Returns whether it is the first with its number.
    pub(super) fn is_first(&mut self, number: u64) -> bool {
        if number >= self.next {
            if number > self.next {
                self.missing.insert(self.next, number);
            }
            self.next = number + 1;
            return true;
        }
        let before = self.missing.range(..=number).next_back();
        let Some((&first, &past)) = before.filter(|&(_, &past)| number < past) else {
            return false;
        };
        self.missing.remove(&first);
        for (first, past) in [(first, number), (number + 1, past)] {
            if first < past {
                self.missing.insert(first, past);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_the_first_once_in_any_order() {
        let mut arrivals = Arrivals::default();
        let mut seen = std::collections::BTreeSet::new();
        for number in [0, 1, 5, 3, 3, 4, 2, 5, 0, 9, 20, 10, 10, 19, 11, 9, 6] {
            assert_eq!(arrivals.is_first(number), seen.insert(number), "{number}");
        }
        let missing: Vec<_> = arrivals.missing.into_iter().collect();
        assert_eq!(missing, [(7, 9), (12, 19)]);
    }
}
