//! Losses by packet number.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::{Faults, Path, Settings, said};
use wire::Packet;

/// Loses the packets with the given numbers.
#[derive(Clone, Debug, PartialEq, Settings)]
#[settings(check = numbers_ascend)]
pub struct ListConfig {
    /// Numbers of the lost packets, ascending, counted from 1 in each direction.
    #[setting(required)]
    pub packets: Vec<u64>,
}

fn numbers_ascend(list: &ListConfig, at: &Path, faults: &mut Faults) {
    let (packets, at) = (&list.packets, at.key("packets"));
    if packets.is_empty() {
        faults.fault(&at, said!("missing", "the numbers of lost packets, as [10, 11, 20]"));
    }
    if packets.contains(&0) {
        faults.fault(&at, "there is no packet 0: packets are counted from 1");
    }
    if !packets.is_sorted_by(|a, b| a < b) {
        faults.fault(&at, "must ascend, each number once");
    }
}

impl LossModel for ListConfig {
    fn build(&self, _channel: Rng, _packets: Rng) -> Box<dyn Channel> {
        let mut numbers = self.packets.clone();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        Box::new(List { numbers, passed: 0 })
    }
}

#[derive(Debug)]
struct List {
    /// The remaining numbers, descending.
    numbers: Vec<u64>,
    passed: u64,
}

impl Channel for List {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.passed += 1;
        self.numbers.pop_if(|next| *next <= self.passed).is_some_and(|next| next == self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lost;
    use super::*;

    #[test]
    fn listed_packets_are_lost_in_whatever_order_they_are_listed() {
        let model = ListConfig { packets: vec![7, 1, 3, 3, 100] };
        assert_eq!(lost(&model, Instant, 50), [1, 3, 7]);
        let zero = ListConfig { packets: vec![0, 2] };
        assert_eq!(lost(&zero, Instant, 5), [2], "packets are counted from 1");
    }
}
