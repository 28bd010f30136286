//! When an access point asks for the medium to trigger stations.

use super::Uplink;
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
    /// The EDCAFs that wait for the medium without a packet, or trigger without one, as bits.
    asked: u8,
}

impl Asking {
    pub(super) fn new(category: u32, settings: &Uplink) -> Self {
        let interval = Some(settings.access_interval).filter(|&it| it > Duration::ZERO);
        Self { category, interval, due: None, asked: 0 }
    }

    /// The time begins.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.due = self.interval.map(|interval| now + interval);
    }

    /// When it asks, if the time has begun.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
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
