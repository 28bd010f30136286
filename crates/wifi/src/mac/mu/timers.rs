//! The timers of MU EDCA (802.11ax-2021 clause 26.2.7): which EDCAFs of stations contend by other
//! parameters, or not at all, until when; and how long packets wait meanwhile.

use super::{MuEdcaCategory, TriggerCounters, TriggeredExchange, Triggering};
use crate::Command;
use crate::mac::TriggerKind;
use kernel::Instant;
use std::ops::Range;

/// The timers of all EDCAFs, those of a node in succession.
#[derive(Debug)]
pub(crate) struct MuTimers {
    per_node: u32,
    until: Vec<Option<Instant>>,
    /// Since when a packet waits at an EDCAF that does not contend.
    waits_since: Vec<Option<Instant>>,
    /// By node: those that send in answer to Trigger frames only.
    silent: Vec<bool>,
    /// When steps are scheduled, one for each instant: for the first of the timers, and what was
    /// the first before.
    steps: Vec<Instant>,
}

impl MuTimers {
    pub(crate) fn new(nodes: u32, per_node: u32) -> Self {
        let until = vec![None; (nodes * per_node) as usize];
        let silent = vec![false; nodes as usize];
        Self { per_node, waits_since: until.clone(), until, silent, steps: Vec::new() }
    }

    /// A station sends in answer to Trigger frames only, and has no timers. Returns its EDCAFs.
    pub(crate) fn silence(&mut self, station: u32) -> Range<u32> {
        self.silent[station as usize] = true;
        self.edcafs_of(station)
    }

    fn edcafs_of(&self, station: u32) -> Range<u32> {
        station * self.per_node..(station + 1) * self.per_node
    }

    /// Until when an EDCAF contends by MU EDCA parameters.
    pub(crate) fn until(&self, f: u32) -> Option<Instant> {
        self.until[f as usize]
    }

    /// Stations that have received the acknowledgement of triggered data start their timers, or
    /// start them anew. Returns the EDCAFs whose timers did not run, with their parameters.
    pub(crate) fn start(
        &mut self,
        now: Instant,
        triggered: &TriggeredExchange,
        triggering: &Triggering,
        out: &mut Vec<Command>,
    ) -> Vec<(u32, MuEdcaCategory)> {
        let mut started = Vec::new();
        if triggered.kind != TriggerKind::Basic {
            return started;
        }
        let told = triggered.users.iter().filter(|user| user.mpdus() > 0 && user.is_told());
        for user in told {
            let (f, category) = (user.edcaf(self.per_node), u32::from(user.category));
            let Some(own) = triggering.mu_edca(category) else { continue };
            if self.silent[user.station as usize] {
                continue;
            }
            if self.until[f as usize].replace(now + own.lasts()).is_none() {
                started.push((f, own));
            }
        }
        self.schedule(out);
        started
    }

    /// The EDCAFs whose timers have ended by now.
    pub(crate) fn end(&mut self, now: Instant, out: &mut Vec<Command>) -> Vec<u32> {
        let all = (0..).zip(&mut self.until);
        let ended = all.filter_map(|(f, until)| until.take_if(|until| *until <= now).map(|_| f));
        let ended = ended.collect();
        self.schedule(out);
        ended
    }

    /// A station stops its timers. Returns its EDCAFs whose timers ran.
    pub(crate) fn stop(&mut self, station: u32) -> Vec<u32> {
        let own = self.edcafs_of(station);
        own.filter(|&f| self.until[f as usize].take().is_some()).collect()
    }

    /// Asks for a step when the first timer ends, unless there is one before.
    fn schedule(&mut self, out: &mut Vec<Command>) {
        let Some(&first) = self.until.iter().flatten().min() else { return };
        if self.steps.iter().all(|&step| first < step) {
            self.steps.push(first);
            out.push(Command::Step(first));
        }
    }

    /// Whether this step is for them; it then is over.
    pub(crate) fn take_step(&mut self, now: Instant) -> bool {
        let place = self.steps.iter().position(|&step| step == now);
        place.map(|place| self.steps.swap_remove(place)).is_some()
    }

    /// Whether a packet waits at an EDCAF that does not contend.
    pub(crate) fn waits(&self, f: u32) -> bool {
        self.waits_since[f as usize].is_some()
    }

    /// Since when packets of a station wait in a category that does not contend.
    pub(crate) fn waits_since(&self, station: u32) -> Option<Instant> {
        self.edcafs_of(station).filter_map(|f| self.waits_since[f as usize]).min()
    }

    /// Whether an EDCAF `has_packets` may have changed: ends its wait, and begins one if it does
    /// not contend.
    pub(crate) fn note_wait(
        &mut self,
        now: Instant,
        f: u32,
        has_packets: bool,
        parameters: &MuEdcaCategory,
        counters: &mut TriggerCounters,
    ) {
        let station = f / self.per_node;
        let first = self.waits_since(station);
        let is_muted = self.until[f as usize].is_some() && parameters.aifsn == 0;
        let next = (is_muted && has_packets).then_some(now);
        let before = std::mem::replace(&mut self.waits_since[f as usize], next);
        if let Some(since) = before {
            counters.waits += 1;
            counters.waited += now.since(since);
        }
        // The time until now, for the station as a whole, is that in which any of them waits.
        if let Some(first) = first {
            let left = self.waits_since(station).unwrap_or(now);
            counters.muted += left.since(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_that_leaves_stops_its_timers() {
        let mut timers = MuTimers::new(3, 4);
        for f in [4, 6, 8] {
            timers.until[f] = Some(Instant(9));
        }
        assert_eq!(timers.stop(1), [4, 6]);
        assert_eq!([4, 6, 8].map(|f| timers.until(f)), [None, None, Some(Instant(9))]);
        assert_eq!(timers.stop(1), [0_u32; 0]);
    }
}
