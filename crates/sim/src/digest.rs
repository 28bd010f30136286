//! A fingerprint of what arrived when: of the notices, received, crossed and exchange began.
//!
//! What reaches nobody, a drop or a beacon, is not in it. `benches/results.py` compares all.

use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::WireId;
use kernel::Instant;

/// A fingerprint of a run.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    /// Marks the directions of `[[links]]`. Packets that pass `[wire]` also pass the cell, where
    /// the digest records them.
    listed: Vec<bool>,
    value: u64,
}

impl Digest {
    pub(crate) fn new(plan: &Plan) -> Self {
        let links = plan.links.iter();
        let listed = links.flat_map(|link| [link.number.is_some(); 2]).collect();
        Self { listed, value: 0xcbf2_9ce4_8422_2325 }
    }

    pub(crate) fn value(&self) -> u64 {
        self.value
    }

    /// Mixes in a value by the FNV-1a step, a word at a time.
    fn add(&mut self, value: u64) {
        self.value = (self.value ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Observer for Digest {
    #[allow(clippy::inline_always, reason = "an unread notice is never constructed")]
    #[inline(always)]
    fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        match *notice {
            Notice::Received { packet, .. } => self.add(now.0 ^ packet.size.0 << 48),
            Notice::Crossed { wire: WireId(wire), packet } if self.listed[wire as usize] => {
                self.add(now.0 ^ packet.size.0 << 48 ^ u64::from(wire) << 32);
            }
            Notice::ExchangeBegan { exchange, .. } => {
                self.add(exchange.start.0 ^ u64::from(exchange.sender) << 56);
            }
            _ => {}
        }
    }
}
