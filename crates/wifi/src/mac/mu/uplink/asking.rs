//! When an access point asks for the medium to trigger stations.

use super::Uplink;
use crate::Command;
use kernel::{Duration, Instant};

/// When the access point asks for the medium without a packet to send.
///
/// The time runs from its last access, or from the first packet that it hears of.
#[derive(Debug)]
pub(crate) struct Asking {
    /// The access category that asks.
    pub(crate) category: u32,
    interval: Option<Duration>,
    due: Option<Instant>,
    /// When a step is scheduled to ask.
    step: Option<Instant>,
    /// The EDCAFs that wait for the medium without a packet, or trigger without one, as bits.
    asked: u8,
}

impl Asking {
    pub(super) fn new(category: u32, settings: &Uplink) -> Self {
        let interval = Some(settings.access_interval).filter(|&it| it > Duration::ZERO);
        Self { category, interval, due: None, step: None, asked: 0 }
    }

    /// The time begins.
    pub(crate) fn restart(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(interval) = self.interval else { return };
        self.due = Some(now + interval);
        self.schedule(now + interval, out);
    }

    /// Whether the time has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.due.is_some()
    }

    /// Asks for a step at an instant, unless there will be one before.
    pub(crate) fn schedule(&mut self, at: Instant, out: &mut Vec<Command>) {
        if self.step.is_none() {
            self.step = Some(at);
            out.push(Command::Step(at));
        }
    }

    /// Whether this step is for it, or such a step was before; the next one is that at which the
    /// time ends.
    pub(crate) fn take_step(&mut self, now: Instant, out: &mut Vec<Command>) -> bool {
        let is_own = self.step.take_if(|step| *step <= now).is_some();
        if let Some(due) = self.due.filter(|&due| is_own && due > now) {
            self.schedule(due, out);
        }
        is_own
    }

    /// Whether it asks now, if nothing stands against it.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now) && !self.has(self.category)
    }

    /// This EDCAF waits for the medium without a packet, or triggers without one.
    pub(crate) fn note(&mut self, category: u32) {
        self.asked |= 1 << category;
    }

    pub(crate) fn has(&self, category: u32) -> bool {
        self.asked & 1 << category != 0
    }

    /// Whether this EDCAF does that; it then does no longer.
    pub(crate) fn take(&mut self, category: u32) -> bool {
        let had = self.has(category);
        self.asked &= !(1 << category);
        had
    }
}
