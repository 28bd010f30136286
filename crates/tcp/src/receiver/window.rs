//! The receive window: how much data the receiver accepts and advertises.
//!
//! TCP announces what its header can say: the window is rounded down to units of the window scale,
//! and a SYN announces at most 65,535 bytes. Else a capture would have to show more than there is,
//! or a sender would seem to send beyond what it was told (`crates/sim/tests/receiver/`).

use super::Receiver;
use super::autotuning::Autotuning;
use crate::config::in_header;
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

    /// The window to advertise: what the header can say of the free space.
    pub(super) fn window(&self) -> u64 {
        in_header(self.free(), self.shift, false)
    }

    /// The free space. Its right edge never moves back, and moves forward by at least a segment or
    /// half of the buffer (RFC 9293 §3.8.6.2.2). What the header shows of it may end up to a unit
    /// of the scale earlier than before (RFC 7323 section 2.4).
    pub(super) fn free(&self) -> u64 {
        let open = self.wnd.open();
        if !self.reads() {
            return open;
        }
        let shown = self.edge.saturating_sub(self.next);
        let free = open.min(self.wnd.buffer().saturating_sub(self.unread));
        if free >= shown.saturating_add(self.step()) { free } else { shown }
    }

    /// The least amount by which the right edge of the window moves; the header can show it.
    pub(super) fn step(&self) -> u64 {
        self.mss.min(self.wnd.buffer() / 2).max(1 << self.shift)
    }

    /// Autotuning, after `fresh` bytes came into order or the application has read.
    pub(super) fn tune(&mut self, now: Instant, fresh: u64) {
        let ReceiveWindow::Autotuned(autotuning) = &mut self.wnd else { return };
        let (next, queued) = (self.next, self.unread);
        autotuning.on_read(now, next.saturating_sub(queued), queued, || {
            self.store.runs().last().map_or(0, |(_, end)| end.saturating_sub(next))
        });
        if fresh > 0 {
            autotuning.on_in_order(fresh, autotuning.buffer().saturating_sub(queued));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Listening, config, ms, segment};
    use crate::{Command, Config, TimerId};
    use kernel::{BitRate, Bytes};
    use wire::{Flags, Segment};

    fn of(window: u64) -> Config {
        Config { window: Some(Bytes(window)), ..config() }
    }

    /// The segments that the receiver sends.
    fn sent(tcp: &mut Listening) -> Vec<Segment> {
        let sent = |command| match command {
            Command::Send(segment) => Some(segment),
            _ => None,
        };
        tcp.out.drain(..).filter_map(sent).collect()
    }

    #[test]
    fn the_scale_is_the_smallest_that_holds_the_buffer() {
        let shift = |window| of(window).window_shift();
        assert_eq!([10_000, 65_535, 65_536, 131_070, 131_071].map(shift), [0, 0, 1, 1, 2]);
        let autotuned = Config { window: None, ..config() };
        assert_eq!(autotuned.window_shift(), 9, "16 MiB: 65535 * 2^8 are less");
        assert_eq!([65_535 << 14, 1 << 30].map(shift), [14, 14], "RFC 7323 section 2.3");
    }

    #[test]
    fn a_syn_announces_16_bits_and_later_segments_whole_units() {
        let mut tcp = Listening::new(&of(100_000_001));
        tcp.receiver.on_segment(ms(0), &segment(true, 0, 0, 0, Flags::SYN), &mut tcp.out);
        assert_eq!(sent(&mut tcp)[0].window, 65_535);
        tcp.receiver.on_segment(ms(10), &segment(true, 1, 100, 1, Flags::ACK), &mut tcp.out);
        // 2^11 bytes hold 100 MB in 16 bits; the buffer has 48828 whole units.
        assert_eq!(sent(&mut tcp)[0].window, 48_828 << 11);
        let beyond = segment(true, 101 + (48_828 << 11), 100, 1, Flags::ACK);
        tcp.receiver.on_segment(ms(20), &beyond, &mut tcp.out);
        assert_eq!(tcp.receiver.counters().out_of_order, 0, "beyond what was announced");
    }

    #[test]
    fn a_window_below_a_unit_is_closed_and_opens_by_a_unit() {
        // A buffer of 1 GiB counts units of 16384 bytes. The application reads 100 kB a second.
        let read_rate = Some(BitRate(800_000));
        let mut tcp = Listening::connected(&Config { read_rate, ..of(1 << 30) });
        let (next, edge) = (tcp.receiver.next, tcp.receiver.edge);
        // What is announced but for 92 bytes arrives.
        let all = (edge - next - 92) as u32;
        let data = segment(true, next, all, 1, Flags::ACK);
        tcp.receiver.unread = 1 << 30;
        tcp.receiver.on_segment(ms(0), &data, &mut tcp.out);
        assert_eq!(sent(&mut tcp).last().unwrap().window, 0);
        tcp.receiver.unread = (1 << 30) - 20_000;
        tcp.receiver.on_timer(ms(0), TimerId::Pacing, &mut tcp.out);
        assert_eq!(sent(&mut tcp).last().map(|it| it.window), Some(16_384));
    }
}
