//! The receive window: how much data the receiver accepts and advertises.

use super::Receiver;
use super::autotuning::Autotuning;
use crate::{Command, Config};
use kernel::{Bytes, Instant};
use wire::Segment;

/// The size of the receiver's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReceiveWindow {
    /// Fixed by the settings.
    Fixed(u64),
    /// Grows.
    Autotuned(Autotuning),
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        match config.fixed_window() {
            Some(Bytes(bytes)) => Self::Fixed(bytes),
            None => Self::Autotuned(Autotuning::new(config)),
        }
    }

    /// The size of the application's buffer.
    pub(super) fn buffer(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Autotuned(autotuning) => autotuning.buffer(),
        }
    }

    /// The window that is advertised if the application has read all data.
    pub(super) fn open(&self) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Autotuned(autotuning) => autotuning.open(),
        }
    }

    /// The connection is established.
    pub(super) fn on_established(&mut self, now: Instant) {
        if let Self::Autotuned(autotuning) = self {
            autotuning.on_established(now);
        }
    }

    /// A segment with data arrived; before it, `next` was the next byte expected.
    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment, next: u64) {
        if let Self::Autotuned(autotuning) = self {
            autotuning.on_segment(now, segment, next);
        }
    }
}

impl Receiver {
    /// The application reads this amount of the delivered data (with `reads`). A window that opens
    /// is advertised at once (RFC 9293 §3.8.6.2.2).
    pub fn on_read(&mut self, now: Instant, amount: Bytes, out: &mut Vec<Command>) {
        let before = self.edge;
        self.unread = self.unread.saturating_sub(amount.0);
        self.tune(now, 0);
        let shown = before.saturating_sub(self.next);
        let opened = self.window().saturating_sub(shown);
        if self.is_synchronised() && opened > 0 && (shown < self.mss || opened >= shown) {
            self.acknowledge(now, out);
        }
    }

    /// One past the last byte that is accepted. Data beyond the window is not (RFC 9293 §3.10.7.4),
    /// which also bounds the store.
    pub(super) fn limit(&self) -> u64 {
        (self.next + self.wnd.buffer().min(u64::MAX / 4)).min(self.edge)
    }

    /// The window to advertise. Its right edge never moves back, and moves forward by at least a
    /// segment or half of the buffer (RFC 9293 §3.8.6.2.2).
    pub(super) fn window(&self) -> u64 {
        let open = self.wnd.open();
        if !self.reads() {
            return open;
        }
        let shown = self.edge.saturating_sub(self.next);
        let free = open.min(self.wnd.buffer().saturating_sub(self.unread));
        if free >= shown.saturating_add(self.step()) { free } else { shown }
    }

    /// The least amount by which the right edge of the window moves.
    pub(super) fn step(&self) -> u64 {
        self.mss.min(self.wnd.buffer() / 2).max(1)
    }

    /// Autotuning, after `fresh` bytes came into order or the application has read.
    pub(super) fn tune(&mut self, now: Instant, fresh: u64) {
        let ReceiveWindow::Autotuned(autotuning) = &mut self.wnd else { return };
        let (next, queued) = (self.next, self.unread);
        autotuning.on_read(now, (next.saturating_sub(queued), queued), || {
            self.store.runs().last().map_or(0, |(_, end)| end.saturating_sub(next))
        });
        if fresh > 0 {
            autotuning.on_in_order(fresh, autotuning.buffer().saturating_sub(queued));
        }
    }
}
