//! TCP small queues: the sender keeps little data in the queue and the device of its own node, and
//! waits for transmissions to complete (`tcp_small_queue_check` of Linux).
//!
//! The world tells the sender of each segment that a radio has served, that a link has transmitted
//! or that a queue of the node has dropped (`World::complete`), and the sender then sends by a
//! timer that expires at once, as the tasklet of Linux does: a chain of drops and transmissions is
//! no recursion. Bytes are those of packets; Linux counts the memory of buffers.

use super::Sender;
use super::pacer;
use super::tcb::Tcb;
use crate::Command;
use kernel::{BitRate, Bytes, Instant};
use wire::Segment;

/// What waits in the queue and the device of the sender's node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmallQueue {
    /// Bytes of segments with data, with their headers.
    waiting: u64,
    /// Whether a segment that the windows allow waits for a transmission to complete.
    is_throttled: bool,
}

impl SmallQueue {
    /// Whether a segment waits for a transmission to complete.
    pub(super) fn is_throttled(&self) -> bool {
        self.is_throttled
    }
}

impl Tcb {
    /// A segment with this much data enters the queue of the sender's node.
    pub(super) fn on_queued(&mut self, len: u64) {
        if self.config.linux().is_some() && len > 0 {
            self.small_queue.waiting += len + self.config.header().0;
        }
    }

    /// The pacing rate, whether it holds segments back or not; before the first sample of a
    /// round-trip time it is infinite.
    pub(super) fn linux_rate(&self) -> Option<BitRate> {
        self.cwnd.pacing().or_else(|| {
            let (bytes, segments) = (self.cwnd.bytes(), self.cwnd.segments());
            self.rtt.srtt().map(|srtt| pacer::rate_of(bytes, segments, self.cwnd.ssthresh(), srtt))
        })
    }

    /// Whether the queue and the device hold so little of this connection that a segment may
    /// follow. With nothing outstanding it may always.
    pub(super) fn fits_small_queue(&mut self) -> bool {
        let Some(linux) = self.config.linux().filter(|linux| linux.small_queues) else {
            return true;
        };
        let rate = self.linux_rate().filter(|_| self.snd.outstanding() > 0);
        let Some(rate) = rate else { return true };
        let most = linux.small_queue(rate, Bytes(self.snd.mss), self.rtt.least());
        self.small_queue.is_throttled = self.small_queue.waiting > most.0;
        !self.small_queue.is_throttled
    }
}

impl Sender {
    /// A segment has left the node of the sender: its transmission has completed, or a queue there
    /// has dropped it.
    pub fn on_transmitted(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Command>) {
        let tcb = &mut self.tcb;
        if segment.connection != tcb.connection || segment.len == 0 {
            return;
        }
        let bytes = u64::from(segment.len) + tcb.config.header().0;
        tcb.small_queue.waiting = tcb.small_queue.waiting.saturating_sub(bytes);
        if std::mem::take(&mut tcb.small_queue.is_throttled) {
            tcb.bursts.end();
            tcb.pacer.wake(now, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Driven, config, ms, segment};
    use crate::{Command, Config, Endpoint, Linux, TimerId};
    use kernel::Segments;
    use wire::Flags;

    #[test]
    fn two_bursts_wait_in_the_queue_and_each_transmission_lets_more_leave() {
        let initial_window = Some(Segments(20.0));
        // 20 segments of 100 bytes in 100 ms are 160 kbit/s, doubled 320: in 2^-10 s less than two
        // bursts of two segments. More than 400 bytes with headers stop the sender.
        for (gso, first, then) in [(false, 3, [1, 1]), (true, 4, [0, 2])] {
            let endpoint = Endpoint::Linux(Linux { gso, ..Linux::default() });
            let mut tcp = Driven::new(&Config { initial_window, endpoint, ..config() });
            tcp.open(0);
            tcp.syn_ack(100);
            let sent = tcp.write(100, 2000);
            assert_eq!(sent.matches(':').count(), first, "{sent}");
            for (n, count) in (0..).zip(then) {
                let mut out = Vec::new();
                let now = ms(110 + n);
                let done = segment(true, 1 + 100 * n, 100, 1, Flags::ACK);
                tcp.sender.on_transmitted(now, &done, &mut out);
                assert_eq!(out, [Command::Set(TimerId::Pacing, now)]);
                out.clear();
                tcp.sender.on_timer(now, TimerId::Pacing, &mut out);
                let sent = out.iter().filter(|command| matches!(command, Command::Send(_)));
                assert_eq!(sent.count(), count, "{n} with GSO {gso}");
            }
        }
    }
}
