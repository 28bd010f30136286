//! What a node does when its carrier sense changes: it stops to count slots, or begins to.
//!
//! Between the frames of an exchange the medium is idle for a SIFS, in which nobody counts a slot.
//! A node that is in no exchange therefore dozes when its carrier sense becomes idle: it begins to
//! count slots, which sets its timer, only when the medium finds that this timer may be the
//! earliest ([`NodeTimers::must_rouse`](crate::space::timers::NodeTimers::must_rouse)), and while
//! its NAV or an EIFS lasts it is not. Mostly the next frame comes before.
//!
//! A node that has nothing to send follows the medium without slots and timers.

use super::{Node, has};
use crate::Command;
use crate::mac::Counting;
use crate::space::rules::SpaceRules;
use crate::space::sense::EdcafState;
use kernel::{Duration, Instant};

impl Node {
    /// Whether the node has something to send, or asks for the medium to trigger stations.
    pub(in crate::space) fn wants_medium(&self) -> bool {
        !self.is_idle() || self.asks != 0
    }

    /// Whether an EDCAF waits with a frame, and the slots that it counts.
    pub(in crate::space) fn waiting(&self, index: usize) -> (bool, Option<Counting>) {
        let EdcafState { edcaf, slots } = &self.contenders[index];
        let in_exchange = self.own.edcaf() == Some(index) || self.own.goes_on(index);
        let has_frame = (!edcaf.is_idle() || has(self.asks, index)) && !in_exchange;
        (has_frame, slots.counting())
    }

    /// Carrier sense becomes busy: by the receiver, or because the node transmits.
    #[allow(clippy::inline_always, reason = "it runs for many nodes with each frame")]
    #[inline(always)]
    pub(in crate::space) fn freeze(&mut self, now: Instant, rules: &SpaceRules) {
        let Some(idle_since) = self.carrier.end_idle() else { return };
        self.dozing = false;
        let in_exchange = self.own.edcaf();
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            if !has(self.active, index) {
                continue;
            }
            let has_msdus = !contender.edcaf.is_idle() || has(self.asks, index);
            let waits = has_msdus && in_exchange != Some(index);
            if contender.slots.freeze(now, idle_since, waits) {
                contender.back_off(&rules.mac);
            } else if !has_msdus && !contender.slots.is_pending() {
                self.active &= !(1 << index);
            }
        }
    }

    /// Carrier sense becomes idle.
    pub(in crate::space) fn sense_idle(&mut self, now: Instant) {
        self.carrier.begin_idle(now);
        self.listen(now);
    }

    /// Carrier sense becomes idle. Returns whether the node dozes: if so, it counts slots only when
    /// it is roused.
    #[inline]
    pub(in crate::space) fn doze(&mut self, now: Instant) -> bool {
        let dozes = self.carrier.is_sensed() && !self.acts();
        if dozes {
            self.dozing = true;
            self.carrier.begin_idle(now);
        }
        dozes
    }

    /// Carrier sense becomes busy. Returns whether the node has dozed: if so, it has counted no
    /// slot, and nothing else changes.
    #[inline]
    pub(in crate::space) fn end_doze(&mut self) -> bool {
        let dozed = std::mem::take(&mut self.dozing);
        if dozed {
            self.carrier.end_idle();
        }
        dozed
    }

    /// If the node dozes: up to when it counts no slot. Its interframe space is at least `space`.
    pub(in crate::space) fn dozes_until(&self, space: Duration) -> Option<Instant> {
        if self.dozing { self.carrier.first_slot(space) } else { None }
    }

    /// The node does not doze any more: it starts to count slots, as if it had not dozed since
    /// carrier sense became idle. Returns when it acts next, as [`Self::deadline`] does.
    #[inline]
    pub(in crate::space) fn rouse(&mut self) -> Instant {
        if let Some(since) = self.carrier.idle_since() {
            if self.only_contends() {
                self.dozing = false;
                return self.begin_counting(since);
            }
            self.listen(since);
        }
        self.deadline()
    }

    /// Whether the node is in no exchange, and an EDCAF waits with a frame.
    #[inline]
    fn only_contends(&self) -> bool {
        self.active != 0 && self.contends && self.asks == 0 && !self.joins && !self.acts()
    }

    /// Whether the node is in an exchange.
    pub(super) fn acts(&self) -> bool {
        !self.own.is_idle() || self.answer.is_some()
    }

    /// Starts to count slots, if a back-off or a frame waits.
    #[inline]
    pub(super) fn listen(&mut self, now: Instant) {
        self.dozing = false;
        if self.active != 0 && !self.acts() {
            self.begin_counting(now);
        }
    }

    /// Returns when the first back-off ends of an EDCAF with a frame.
    #[inline(never)]
    fn begin_counting(&mut self, now: Instant) -> Instant {
        let mut end = Instant::NEVER;
        for (index, EdcafState { edcaf, slots }) in self.contenders.iter_mut().enumerate() {
            if !has(self.active, index) {
                continue;
            }
            let has_frame = !edcaf.is_idle();
            if slots.is_pending() || has_frame || has(self.asks, index) {
                slots.listen(now, &self.carrier);
                if has_frame && let Some(expiry) = slots.expiry() {
                    end = end.min(expiry);
                }
            }
        }
        end
    }

    /// From now on an EDCAF does not contend. A back-off keeps the slots that are left.
    pub(in crate::space) fn suspend(&mut self, now: Instant, index: usize) {
        self.muted |= 1 << index;
        self.active &= !self.muted;
        let EdcafState { edcaf, slots } = &mut self.contenders[index];
        slots.suspend(now, !edcaf.is_idle());
    }

    /// An EDCAF that was suspended contends again, by a set of contention parameters and with an
    /// AIFSN.
    pub(in crate::space) fn resume(
        &mut self,
        now: Instant,
        index: usize,
        set: u8,
        aifsn: u32,
        rules: &SpaceRules,
    ) {
        self.muted &= !(1 << index);
        let EdcafState { edcaf, slots } = self.activate(index);
        let has_msdus = !edcaf.is_idle();
        edcaf.contend_by(set);
        slots.space_by(rules.timing(), aifsn);
        slots.wait_until(now);
        let EdcafState { slots, .. } = &mut self.contenders[index];
        if has_msdus && slots.wants_backoff(now, &self.carrier) {
            self.contenders[index].back_off(&rules.mac);
        }
        self.listen(now);
    }

    /// The node is receiving a frame whose PHY header ends at `detected`, unless it has waited in
    /// vain for a response. Returns whether it is.
    #[inline]
    pub(in crate::space) fn detects(&mut self, now: Instant, detected: Instant) -> bool {
        if !self.quiet
            && let Some(awaited) = self.own.awaited_mut()
        {
            if awaited.until < now {
                return false;
            }
            awaited.receiving = detected <= awaited.until;
        }
        self.carrier.on_detected(detected);
        true
    }

    /// The node is receiving a frame whose PHY header ends at `detected`. By capture, this frame
    /// may have replaced the response.
    pub(in crate::space) fn on_detected(
        &mut self,
        now: Instant,
        detected: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_detected(detected);
        let Some(awaited) = self.own.awaited_mut() else { return };
        awaited.receiving = detected <= awaited.until;
        if awaited.until < now {
            self.give_up_waiting(now, rules, out);
        }
    }

    /// The reception of a frame ends early.
    pub(in crate::space) fn on_lost(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some(awaited) = self.own.awaited_mut() else { return };
        awaited.receiving = false;
        if awaited.acts_at() <= now {
            self.give_up_waiting(now, rules, out);
        }
    }
}
