//! A loss model that is added as a file and a line: this one, and that of the tests' registry.

use super::{Channel, LossModel};
use kernel::{Instant, Rng};
use settings::Settings;
use wire::Packet;

/// All packets from one on are lost.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct BreakageConfig {
    /// How many packets come through.
    #[setting(range = 1..=1000, required = "as 10")]
    pub after: u64,
}

impl LossModel for BreakageConfig {
    fn build(&self, _channel: Rng, _packets: Rng) -> Box<dyn Channel> {
        Box::new(Breakage { left: self.after })
    }
}

#[derive(Debug)]
struct Breakage {
    left: u64,
}

impl Channel for Breakage {
    fn loses(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let is_broken = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_broken
    }
}
