//! MU EDCA: stations that were triggered contend by other parameters, or not at all, until their
//! timers end.

use super::Triggers;
use crate::Command;
use crate::cell::Cell;
use crate::mac::TriggerKind;
use crate::mac::mu::{MuEdcaCategory, TriggerCounters, TriggeredExchange};
use crate::phy::AccessCategory;
use kernel::Instant;
use std::ops::Range;

/// The timers of all EDCAFs.
#[derive(Debug)]
pub(super) struct Timers {
    until: Vec<Option<Instant>>,
    /// Since when a packet waits at an EDCAF that does not contend.
    waits_since: Vec<Option<Instant>>,
    /// When a step is scheduled for the first of them.
    step: Option<Instant>,
}

impl Timers {
    pub(super) fn new(functions: u32) -> Self {
        let none = vec![None; functions as usize];
        Self { until: none.clone(), waits_since: none, step: None }
    }

    /// A timer starts, or starts anew. Returns whether it was not running.
    fn start(&mut self, function: u32, until: Instant, out: &mut Vec<Command>) -> bool {
        let own = &mut self.until[function as usize];
        let starts = own.is_none();
        *own = Some(until);
        self.schedule(out);
        starts
    }

    /// Asks for a step when the first timer ends, unless there is one before.
    fn schedule(&mut self, out: &mut Vec<Command>) {
        let first = self.until.iter().flatten().min();
        if let Some(&first) = first.filter(|&&first| self.step.is_none_or(|step| first < step)) {
            self.step = Some(first);
            out.push(Command::Step(first));
        }
    }

    /// Whether the timer of an EDCAF runs.
    pub(super) fn is_running(&self, f: u32) -> bool {
        self.until[f as usize].is_some()
    }

    /// Since when the first of these EDCAFs waits.
    fn first_wait(&self, functions: Range<u32>) -> Option<Instant> {
        functions.filter_map(|f| self.waits_since[f as usize]).min()
    }

    /// Ends a wait of one of a station's EDCAFs, and begins one if it waits.
    fn note_wait(
        &mut self,
        now: Instant,
        f: u32,
        own: Range<u32>,
        waits: bool,
        counters: &mut TriggerCounters,
    ) {
        let first = self.first_wait(own.clone());
        let next = waits.then_some(now);
        let before = std::mem::replace(&mut self.waits_since[f as usize], next);
        if let Some(since) = before {
            counters.waits += 1;
            counters.waited += now.since(since);
        }
        // The time until now, for the station as a whole, is that in which any of them waits.
        if let Some(first) = first {
            let left = self.first_wait(own).unwrap_or(now);
            counters.muted += left.since(first);
        }
    }

    /// Whether this step is for them; it then is over.
    pub(super) fn take_step(&mut self, now: Instant) -> bool {
        let is_own = self.step == Some(now);
        if is_own {
            self.step = None;
        }
        is_own
    }
}

impl Triggers {
    fn parameters(&self, category: u32) -> Option<MuEdcaCategory> {
        let category = AccessCategory::ALL[category as usize];
        self.triggering.mu_edca()?.of(category).copied()
    }
}

impl Cell {
    /// From the begin of the run on, a station sends in answer to Trigger frames only, as in the
    /// service periods of a trigger-enabled TWT (clause 26.8.2).
    pub fn silence(&mut self, station: u32) {
        if let Some(triggers) = &mut self.triggers {
            triggers.silent[station as usize] = true;
            let own = self.edcafs_of(station);
            own.for_each(|f| self.contention.suspend(Instant::ZERO, f));
        }
    }

    /// Until when a category of a station contends by MU EDCA parameters, by the category's index.
    pub fn mu_edca_until(&self, station: u32, category: u8) -> Option<Instant> {
        let f = station * self.rules.per_node + u32::from(category);
        self.triggers.as_ref()?.timers.until[f as usize]
    }

    /// What Trigger frames and MU EDCA have done to a station up to now.
    pub fn trigger_counters(&self, now: Instant, station: u32) -> TriggerCounters {
        let Some(triggers) = &self.triggers else { return TriggerCounters::default() };
        let mut counters = *triggers.triggering.counters_of(station);
        if let Some(since) = triggers.timers.first_wait(self.edcafs_of(station)) {
            counters.muted += now.since(since);
        }
        counters
    }

    /// Whether packets wait at an EDCAF that does not contend may have changed.
    pub(super) fn note_wait(&mut self, now: Instant, f: u32) {
        let (station, has_packets) = (self.node_of(f), !self.edcaf(f).is_idle());
        let own = self.edcafs_of(station);
        let Some(triggers) = &mut self.triggers else { return };
        let Some(parameters) = triggers.parameters(f % self.rules.per_node) else { return };
        let Triggers { timers, triggering, .. } = &mut **triggers;
        let is_muted = timers.is_running(f) && parameters.aifsn == 0;
        let counters = triggering.counters_of_mut(station);
        timers.note_wait(now, f, own, is_muted && has_packets, counters);
    }

    /// Stations that have received the acknowledgement of triggered data start their timers (clause
    /// 26.2.7).
    pub(in crate::cell) fn start_timers(
        &mut self,
        now: Instant,
        triggered: &TriggeredExchange,
        out: &mut Vec<Command>,
    ) {
        let Some(mut triggers) = self.triggers.take() else { return };
        for user in triggered.users.iter().filter(|user| user.is_acknowledged()) {
            let is_data = triggered.kind == TriggerKind::Basic && user.mpdus() > 0;
            let category = u32::from(user.category);
            let Some(own) = triggers.parameters(category) else { continue };
            if !is_data || !user.hears_ack() || triggers.silent[user.station as usize] {
                continue;
            }
            let f = self.function_of(user);
            if triggers.timers.start(f, now + own.lasts(), out) {
                self.edcafs[f as usize].contend_by(self.rules.mu_parameter_set(category));
                self.contention.suspend(now, f);
                if own.aifsn > 0 {
                    self.contend_anew(now, f, own.aifsn);
                }
            }
        }
        self.triggers = Some(triggers);
    }

    /// Timers have ended: the parameters are again those of EDCA.
    pub(super) fn end_timers(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(mut triggers) = self.triggers.take() else { return };
        let mut ended = Vec::new();
        for f in 0..triggers.timers.until.len() as u32 {
            let until = &mut triggers.timers.until[f as usize];
            if until.is_none_or(|until| until > now) {
                continue;
            }
            *until = None;
            let (node, category) = (self.node_of(f), f % self.rules.per_node);
            let set = self.rules.parameter_set(node, false, category);
            self.edcafs[f as usize].contend_by(set);
            self.contention.suspend(now, f);
            let (aifsn, _) = self.rules.parameters(false, category);
            self.contend_anew(now, f, aifsn);
            ended.push(f);
        }
        triggers.timers.schedule(out);
        self.triggers = Some(triggers);
        for f in ended {
            self.note_wait(now, f);
        }
        self.schedule_access(out);
    }

    /// An EDCAF that was suspended contends with this AIFSN.
    fn contend_anew(&mut self, now: Instant, f: u32, aifsn: u32) {
        self.contention.set_spacing(f, aifsn);
        if self.contention.resume(now, f) && self.contention.wait(now, f) {
            self.back_off(f);
        }
    }
}
