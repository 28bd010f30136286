//! Users that decode nothing of what a PPDU has for them.

use super::Space;
use super::outcome::Around;
use super::per::{PerCalculator, PpduParts};
use crate::Command;
use kernel::Instant;

impl Space {
    /// A user has decoded nothing of a PPDU to several. If it decodes HE-SIG-A, the TXOP field sets
    /// its NAV (802.11ax-2021 clause 26.2.4), and it defers for no EIFS (clause 10.3.2.3.7).
    #[cold]
    #[inline(never)]
    pub(super) fn hear_signal(
        &mut self,
        now: Instant,
        node: u32,
        id: u32,
        power: f64,
        out: &mut Vec<Command>,
    ) {
        let transmission = *self.signals.transmission(id);
        let (levels, error) = (&self.rules.levels, &*self.signals.radio.error);
        let (timing, per_cache) = (self.rules.timing(), &mut self.per_cache);
        let ppdu = &PpduParts::of_signal_fields(&transmission, timing, error, per_cache);
        let mut per = PerCalculator { levels, error, ppdu, per_cache };
        let interference = &mut self.scratch.interference;
        let mut around = Around { interference, signals: &self.signals };
        let failure = per.failure(around.at(node), power);
        let receiver = &mut self.nodes[node as usize];
        if receiver.noise.chance(failure) {
            return;
        }
        let frame = &transmission.frame;
        if let Some(watch) = &mut self.watch {
            watch.on_signal(now, receiver, frame);
        }
        receiver.overhear(now, frame, None, &self.rules, out);
        self.note_contending(node);
    }
}
