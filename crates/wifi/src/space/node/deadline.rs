//! When a node acts next.

use super::own::Own;
use super::{EdcafState, Node, has};
use crate::mac::Txop;
use kernel::Instant;

impl Node {
    /// The node has acted, or carrier sense has changed. Returns when the node acts next, if it
    /// receives nothing before; [`Instant::NEVER`] if it does not.
    #[allow(clippy::inline_always, reason = "it runs for many nodes with each frame")]
    #[inline(always)]
    pub(in crate::space) fn deadline(&mut self) -> Instant {
        if self.acts() || self.joins {
            self.quiet = false;
            return self.deadline_in_exchange();
        }
        self.quiet = self.active == 0 && !self.contends;
        self.end_of_slots()
    }

    /// When a back-off of the node ends. While carrier sense is busy, no slots are counted.
    #[inline]
    fn end_of_slots(&self) -> Instant {
        if self.contends && !self.carrier.is_sensed() {
            self.end_of_back_offs()
        } else {
            Instant::NEVER
        }
    }

    #[inline(never)]
    fn end_of_back_offs(&self) -> Instant {
        let mut end = Instant::NEVER;
        for (index, EdcafState { edcaf, slots }) in self.contenders.iter().enumerate() {
            if has(self.active, index)
                && let Some(expiry) = slots.expiry()
                && !edcaf.is_idle()
            {
                end = end.min(expiry);
            }
        }
        if self.asks != 0 {
            end = end.min(self.end_of_asking());
        }
        end
    }

    /// When a node in an exchange, or with a frame to join, acts next.
    #[inline(never)]
    fn deadline_in_exchange(&self) -> Instant {
        let at = match (&self.answer, &self.own) {
            (Some((at, _)), _) => *at,
            (None, Own::Awaiting(_, awaited)) if awaited.receiving => Instant::NEVER,
            (None, Own::Awaiting(_, awaited)) => awaited.acts_at(),
            (None, Own::Holding(Txop { next: Some(next), .. })) => *next,
            _ => self.end_of_slots(),
        };
        if self.joins { self.joins_at().map_or(at, |joins| joins.min(at)) } else { at }
    }
}
