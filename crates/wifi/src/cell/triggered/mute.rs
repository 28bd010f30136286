//! MU EDCA: stations that were triggered contend by other parameters, or not at all, until their
//! timers end.

use super::Triggers;
use crate::Command;
use crate::cell::Cell;
use crate::mac::mu::{TriggerCounters, TriggeredExchange};
use kernel::Instant;

impl Cell {
    /// From the begin of the run on, a station sends in answer to Trigger frames only, as in the
    /// service periods of a trigger-enabled TWT (clause 26.8.2).
    pub fn silence(&mut self, station: u32) {
        if let Some(triggers) = &mut self.triggers {
            let own = triggers.timers.silence(station);
            own.for_each(|f| self.contention.suspend(Instant::ZERO, f));
        }
    }

    /// What Trigger frames and MU EDCA have done to a station up to now.
    pub fn trigger_counters(&self, now: Instant, station: u32) -> TriggerCounters {
        let Some(triggers) = &self.triggers else { return TriggerCounters::default() };
        let mut counters = *triggers.triggering.counters_of(station);
        if let Some(since) = triggers.timers.waits_since(station) {
            counters.muted += now.since(since);
        }
        counters
    }

    /// Whether packets wait at an EDCAF that does not contend may have changed.
    pub(super) fn note_wait(&mut self, now: Instant, f: u32) {
        let (station, has_packets) = (self.node_of(f), !self.edcaf(f).is_idle());
        let Some(triggers) = &mut self.triggers else { return };
        let Triggers { timers, triggering, .. } = &mut **triggers;
        let Some(parameters) = triggering.mu_edca(f % self.rules.per_node) else { return };
        let counters = triggering.counters_of_mut(station);
        timers.note_wait(now, f, has_packets, &parameters, counters);
    }

    /// Stations that have received the acknowledgement of triggered data start their timers (clause
    /// 26.2.7).
    pub(in crate::cell) fn start_timers(
        &mut self,
        now: Instant,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) {
        let Some(triggers) = &mut self.triggers else { return };
        let Triggers { timers, triggering, .. } = &mut **triggers;
        for (f, own) in timers.start(now, triggered, triggering, out) {
            let set = self.rules.mu_parameter_set(f % self.rules.per_node);
            self.edcafs[f as usize].contend_by(set);
            self.contention.suspend(now, f);
            if own.aifsn > 0 {
                self.contend_anew(now, f, own.aifsn);
            }
        }
    }

    /// Timers have ended: the parameters are again those of EDCA.
    pub(super) fn end_timers(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(triggers) = &mut self.triggers else { return };
        for f in triggers.timers.end(now, out) {
            let (node, category) = (self.node_of(f), f % self.rules.per_node);
            let set = self.rules.parameter_set(node, false, category);
            self.edcafs[f as usize].contend_by(set);
            self.contention.suspend(now, f);
            let (aifsn, _) = self.rules.parameters(false, category);
            self.contend_anew(now, f, aifsn);
            self.note_wait(now, f);
        }
        self.schedule_access(out);
    }

    /// An EDCAF that was suspended contends with this AIFSN.
    fn contend_anew(&mut self, now: Instant, f: u32, aifsn: u32) {
        self.contention.set_spacing(f, aifsn);
        // After an exchange of its own it backs off in any case.
        if self.contention.resume(now, f) && !self.acts(f) && self.contention.wait(now, f) {
            self.back_off(f);
        }
    }
}
