//! When an access point asks for the medium to trigger stations.

use super::OfCell;
use crate::cell::Cell;
use crate::mac::{Exchange, ExchangeOutcome};
use crate::{Command, MsduSource};
use kernel::Instant;

impl Cell {
    /// Whether this step is that of the time after which the access point asks, or that of a timer
    /// of MU EDCA. Steps have no contents: of several at one instant, it does not matter which is
    /// first.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn is_step_to_ask(
        &mut self,
        now: Instant,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(triggers) = &mut self.triggers else { return false };
        if triggers.timers.take_step(now) {
            self.end_timers(now, out);
            return true;
        }
        if !triggers.triggering.asking.take_step(now, out) {
            return false;
        }
        self.ask(now, source, out);
        true
    }

    /// Whether the access point triggers stations.
    pub fn triggers(&self) -> bool {
        self.triggers.is_some()
    }

    /// Which stations are awake may have changed: the access point asks for the medium to trigger
    /// them, or no longer does.
    pub fn revise_asking(&mut self, now: Instant, source: &dyn MsduSource, out: &mut Vec<Command>) {
        let Some(triggers) = &self.triggers else { return };
        let asking = &triggers.triggering.asking;
        let (f, has_asked) = (asking.category, asking.has(asking.category));
        if has_asked && !self.acts(f) && self.edcaf(f).is_idle() && !self.may_ask_any(now, source) {
            if let Some(triggers) = &mut self.triggers {
                triggers.triggering.asking.take(f);
            }
            self.contention.withdraw(f);
            return self.schedule_access(out);
        }
        self.ask(now, source, out);
    }

    /// Whether there is a station that is awake and may have packets.
    fn may_ask_any(&self, now: Instant, source: &dyn MsduSource) -> bool {
        let Some(triggers) = &self.triggers else { return false };
        triggers.triggering.may_ask_any(now, &OfCell { cell: self, source })
    }

    /// Whether what is on the air is of this EDCAF, or it sends next.
    pub(super) fn acts(&self, f: u32) -> bool {
        let sends = |exchange: &Exchange| match exchange.outcome {
            ExchangeOutcome::Collision => self.colliders.iter().any(|&(own, _)| own == f),
            _ => self.sender == f,
        };
        self.exchange.as_ref().is_some_and(sends) || self.txop.is_some_and(|txop| txop.holder == f)
    }

    /// The access point asks for the medium, if it is time and there is somebody to trigger. It
    /// backs off if the medium is busy, as with a packet (clause 10.23.2.2).
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn ask(
        &mut self,
        now: Instant,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let Some(triggers) = &self.triggers else { return };
        let asking = &triggers.triggering.asking;
        let f = asking.category;
        if !asking.is_due(now) || self.acts(f) || !self.edcafs[f as usize].is_idle() {
            return;
        }
        if !self.may_ask_any(now, source) {
            return;
        }
        if let Some(triggers) = &mut self.triggers {
            triggers.triggering.asking.note(f);
        }
        if self.watch.is_some() {
            self.record_arrival(now, f);
        }
        if self.contention.wait(now, f) {
            self.back_off(f);
        }
        self.schedule_access(out);
    }

    /// A packet arrives at an EDCAF. Returns whether it waits for the medium already, or triggers.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn has_asked(
        &mut self,
        now: Instant,
        f: u32,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(triggers) = &mut self.triggers else { return false };
        let asking = &mut triggers.triggering.asking;
        if !asking.has_begun() {
            asking.restart(now, out);
        }
        let has_asked = f < self.rules.per_node && asking.has(f);
        if triggers.timers.until(f).is_some() {
            self.note_wait(now, f);
        }
        has_asked
    }

    /// An EDCAF wins the medium where a PPDU may have several users.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn assemble_any(
        &mut self,
        now: Instant,
        f: u32,
        source: &mut dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let within = self.edcaf(f).longest();
        if let Some(groups) = &mut self.groups {
            groups.downlink.protected.begin_access();
            groups.before = None;
        }
        if self.assemble_triggered(now, f, within, true, source, out)
            || self.assemble_group(now, f, within, source, out)
        {
            return;
        }
        let edcaf = &mut self.edcafs[f as usize];
        let rate = Self::rate(&mut self.rates, edcaf.node, edcaf.to());
        edcaf.begin(now, &self.rules, rate, source, out);
        self.tell_backlog(f, source);
    }
}
