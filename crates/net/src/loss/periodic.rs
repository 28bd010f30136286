//! Losses at equal distances.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::Settings;
use wire::Packet;

/// Loses every n-th packet.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct PeriodicConfig {
    /// Each packet whose number is a multiple of this is lost, counted from 1 in each direction.
    #[setting(range = 1..=1_000_000_000_000, required = "as 100 for each hundredth packet")]
    pub every: u64,
}

impl LossModel for PeriodicConfig {
    /// 0 has the effect of 1.
    fn build(&self, _channel: Rng, _packets: Rng) -> Box<dyn Channel> {
        Box::new(Periodic { every: self.every.max(1), passed: 0 })
    }
}

#[derive(Debug)]
struct Periodic {
    every: u64,
    passed: u64,
}

impl Channel for Periodic {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.passed += 1;
        self.passed.is_multiple_of(self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lost;
    use super::*;

    #[test]
    fn each_nth_packet_is_lost() {
        assert_eq!(lost(&PeriodicConfig { every: 4 }, Instant, 13), [4, 8, 12]);
        assert_eq!(lost(&PeriodicConfig { every: 1 }, Instant, 3), [1, 2, 3]);
        assert_eq!(lost(&PeriodicConfig { every: 0 }, Instant, 3), [1, 2, 3]);
    }
}
