//! A loss model for the test of extensions: a link that breaks.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::Settings;
use wire::Packet;

/// Loses all packets from a given one on.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct ToyLossConfig {
    /// The number of packets before the first loss.
    #[setting(range = 1..=1000, required = "as 10")]
    pub after: u64,
}

impl LossModel for ToyLossConfig {
    fn build(&self, _channel: Rng, _packets: Rng) -> Box<dyn Channel> {
        Box::new(Toy { left: self.after })
    }
}

#[derive(Debug)]
struct Toy {
    left: u64,
}

impl Channel for Toy {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let is_broken = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_broken
    }
}
