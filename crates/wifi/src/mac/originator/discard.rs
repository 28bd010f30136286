//! MSDUs that are discarded: at the retry limit, at the end of their lifetime, and when their
//! receiver has left.

use super::{Framing, Mpdu, MsduOutcome, Originator, RetryRule, Settled};
use kernel::Instant;

impl Originator {
    /// The retry limit is reached. Without an agreement, all MPDUs are discarded. Under an
    /// agreement, none is discarded (clause 10.23.2.12.1), except for a receiver that has not
    /// responded to the previous BlockAckReq either: then other receivers have their turn, and the
    /// BlockAckReq is postponed until there is data for this receiver again.
    pub(crate) fn on_retry_limit(&mut self, framing: &Framing, settled: &mut Vec<Settled>) {
        let out_of_reach = self.request && (self.doubted || self.mpdus.is_empty());
        if framing.aggregation.is_none() || self.to.is_none() || out_of_reach {
            for place in 0..self.mpdus.len() {
                if !self.mpdus[place].settled {
                    self.settle(place, MsduOutcome::RetryLimit, settled);
                }
            }
        }
        self.trim(settled);
        if out_of_reach {
            (self.request, self.streams.present().owed) = (false, true);
            settled.extend(self.last.take().map(|last| *last));
        }
    }

    /// The receiver has left. What is in service is flushed: `now`, or when the attempt on the air
    /// ends. A receiver that comes back gets a BlockAckReq first, because it may wait for an MPDU.
    pub(crate) fn flush(&mut self, framing: &Framing, now: bool, settled: &mut Vec<Settled>) {
        self.leaves = !now;
        if !now {
            return;
        }
        for place in 0..self.mpdus.len() {
            if !self.mpdus[place].settled {
                self.settle(place, MsduOutcome::Flushed, settled);
                self.mpdus[place].given_up = framing.aggregation.is_some();
            }
        }
        self.trim(settled);
        if std::mem::take(&mut self.request) {
            self.streams.present().owed = true;
            settled.extend(self.last.take().map(|last| *last));
        }
    }

    /// Whether the receiver has left during the attempt on the air.
    pub(crate) fn leaves(&self) -> bool {
        self.leaves
    }

    /// Discards MPDUs whose lifetime or number of attempts has reached its limit.
    pub(super) fn give_up(&mut self, framing: &Framing, now: Instant, settled: &mut Vec<Settled>) {
        let Some(limits) = framing.aggregation else { return };
        for place in 0..self.mpdus.len() {
            let Mpdu { settled: over, expires, attempts, .. } = self.mpdus[place];
            // As long as a BlockAckReq is due, the receiver may have the MPDU.
            let counted = limits.retry_rule == RetryRule::Counted && !self.request;
            let outcome = match () {
                () if over => continue,
                () if now >= expires => MsduOutcome::Lifetime,
                () if counted && attempts >= framing.attempts => MsduOutcome::RetryLimit,
                () => continue,
            };
            self.settle(place, outcome, settled);
            self.mpdus[place].given_up = true;
        }
    }
}
