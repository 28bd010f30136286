//! When an access point asks for the medium to trigger stations.

use crate::cell::{ACCESS_POINT, Cell};
use crate::mac::TriggerKind;
use crate::mac::mu::Uplink;
use crate::{Command, MsduSource};
use kernel::{Duration, Instant};

/// When the access point asks for the medium without a packet to send.
///
/// The time runs from its last access, or from the first packet in the cell.
#[derive(Debug)]
pub(super) struct Asking {
    /// The EDCAF that asks.
    function: u32,
    interval: Option<Duration>,
    due: Option<Instant>,
    /// When a step is scheduled for it.
    step: Option<Instant>,
    /// The EDCAFs that wait for the medium without a packet, or trigger without one, as bits.
    asked: u8,
}

impl Asking {
    pub(super) fn new(function: u32, settings: &Uplink) -> Self {
        let interval = Some(settings.access_interval).filter(|&it| it > Duration::ZERO);
        Self { function, interval, due: None, step: None, asked: 0 }
    }

    /// The time begins.
    pub(super) fn restart(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(interval) = self.interval else { return };
        self.due = Some(now + interval);
        if self.step.is_none() {
            self.schedule(now + interval, out);
        }
    }

    /// This EDCAF waits for the medium without a packet, or triggers without one.
    pub(super) fn note(&mut self, f: u32) {
        self.asked |= 1 << f;
    }

    fn has(&self, f: u32) -> bool {
        self.asked & 1 << f != 0
    }

    /// Whether this EDCAF does that; it then does no longer.
    pub(super) fn take(&mut self, f: u32) -> bool {
        let had = self.has(f);
        self.asked &= !(1 << f);
        had
    }

    fn schedule(&mut self, at: Instant, out: &mut Vec<Command>) {
        self.step = Some(at);
        out.push(Command::Step(at));
    }
}

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
        let asking = &mut triggers.asking;
        if asking.step != Some(now) {
            return false;
        }
        asking.step = None;
        if let Some(due) = asking.due.filter(|&due| due > now) {
            asking.schedule(due, out);
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
        let f = triggers.asking.function;
        let acts = self.exchange.is_some() && self.sender == f || self.goes_on(f);
        if triggers.asking.has(f)
            && !acts
            && self.edcaf(f).is_idle()
            && !self.may_ask_any(now, source)
        {
            if let Some(triggers) = &mut self.triggers {
                triggers.asking.take(f);
            }
            self.contention.withdraw(f);
            return self.schedule_access(out);
        }
        self.ask(now, source, out);
    }

    /// Whether there is a station that is awake and may have packets.
    fn may_ask_any(&self, now: Instant, source: &dyn MsduSource) -> bool {
        let Some(triggers) = &self.triggers else { return false };
        let settings = &triggers.settings;
        let all = settings.bsrp || settings.random_units(TriggerKind::Basic) > 0;
        (1..self.nodes.len() as u32).any(|station| {
            let may_have = all && self.has_units(station) || self.waits_at(now, station);
            may_have && source.is_awake(ACCESS_POINT, station)
        })
    }

    /// The access point asks for the medium, if it is time and there is somebody to trigger.
    #[cold]
    #[inline(never)]
    pub(in crate::cell) fn ask(
        &mut self,
        now: Instant,
        source: &dyn MsduSource,
        out: &mut Vec<Command>,
    ) {
        let Some(triggers) = &self.triggers else { return };
        let asking = &triggers.asking;
        let f = asking.function;
        let is_due = asking.due.is_some_and(|due| due <= now) && !asking.has(f);
        let is_free = self.exchange.is_none() && self.txop.is_none();
        if !is_due || !is_free || !self.edcafs[f as usize].is_idle() {
            return;
        }
        if !self.may_ask_any(now, source) {
            return;
        }
        if let Some(triggers) = &mut self.triggers {
            triggers.asking.note(f);
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
        if triggers.asking.due.is_none() {
            triggers.asking.restart(now, out);
        }
        let has_asked = f < self.rules.per_node && triggers.asking.has(f);
        if triggers.timers.is_running(f) {
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
