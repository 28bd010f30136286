//! An application that reads at a limited rate, so that the receive window may close.

use super::Receiver;
use crate::{Command, TimerId};
use kernel::{Bytes, Duration, Instant};

impl Receiver {
    /// Whether the application has data to read.
    pub(super) fn reads(&self) -> bool {
        self.config.reads || self.config.read_rate.is_some()
    }

    /// Updates how much the application has read until now.
    pub(super) fn read_on(&mut self, now: Instant) {
        let Some(rate) = self.config.read_rate else { return };
        let bits = u128::from(now.since(self.read_at).0) * u128::from(rate.0) / 1_000_000_000;
        let bytes = u64::try_from(bits / 8).unwrap_or(u64::MAX).min(self.unread);
        self.unread -= bytes;
        self.read_at =
            if self.unread == 0 { now } else { self.read_at + rate.time_for(Bytes(bytes)) };
    }

    /// Sets the timer for the next window update, when reading has opened the window far enough: by
    /// one step if the advertised window is less than a segment, else to twice its size.
    pub(super) fn wait_for_room(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Some(rate) = self.config.read_rate.filter(|_| !self.reading) else { return };
        let shown = self.edge.saturating_sub(self.next);
        let more = if shown < self.mss { self.step() } else { shown };
        let goal = shown.saturating_add(more);
        if self.unread == 0 || goal > self.wnd.open() {
            return;
        }
        let free = self.wnd.buffer().saturating_sub(self.unread);
        let missing = goal.saturating_sub(free).min(self.unread);
        let at = (self.read_at + rate.time_for(Bytes(missing))).max(now + Duration(1));
        self.reading = true;
        out.push(Command::Set(TimerId::Pacing, at));
    }

    /// The timer for free space expired.
    pub(super) fn on_room(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.reading = false;
        if !self.is_synchronised() {
            return;
        }
        self.read_on(now);
        self.on_read(now, Bytes(0), out);
        self.wait_for_room(now, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Listening, config, ms, segment};
    use crate::{Command, Config, TimerId};
    use kernel::{BitRate, Bytes, Instant};
    use wire::Flags;

    /// The advertised window, if a segment was sent, and when the timer for free space expires.
    fn window_and_delay(tcp: &mut Listening) -> (Option<u64>, Option<Instant>) {
        let (mut window, mut room) = (None, None);
        for command in tcp.out.drain(..) {
            match command {
                Command::Send(segment) => window = Some(segment.window),
                Command::Set(TimerId::Pacing, at) => room = Some(at),
                _ => {}
            }
        }
        (window, room)
    }

    #[test]
    fn a_slow_reader_closes_the_window_and_tells_when_it_opens() {
        // 100 bytes each 100 ms, and room for four segments of 100.
        let read_rate = Some(BitRate(8000));
        let mut tcp =
            Listening::connected(&Config { read_rate, window: Some(Bytes(400)), ..config() });
        let data = |tcp: &mut Listening, at, seq| {
            let segment = segment(true, seq, 100, 1, Flags::ACK);
            tcp.receiver.on_segment(ms(at), &segment, &mut tcp.out);
            window_and_delay(tcp)
        };
        assert_eq!(data(&mut tcp, 0, 1), (Some(300), None));
        assert_eq!(
            data(&mut tcp, 0, 101),
            (Some(200), Some(ms(200))),
            "twice the window is advertised"
        );
        assert_eq!(data(&mut tcp, 0, 201), (Some(100), None));
        assert_eq!(data(&mut tcp, 0, 301), (Some(0), None), "the timer runs");
        tcp.receiver.on_timer(ms(200), TimerId::Pacing, &mut tcp.out);
        assert_eq!(window_and_delay(&mut tcp), (Some(200), Some(ms(400))));
        assert_eq!(data(&mut tcp, 210, 401), (Some(100), None));
        assert_eq!(data(&mut tcp, 210, 501), (Some(0), None));
        assert_eq!(data(&mut tcp, 220, 601).0, Some(0), "what is beyond the window is not taken");
        assert_eq!(tcp.receiver.delivered_bytes(), 600);
    }
}
