//! Signals that take time to arrive.
//!
//! The nodes in range of a transmitter receive a frame one after the other. What arrives at nodes
//! at the same distance is a wave: a transmission of its own, which begins and ends later by the
//! delay, and which receivers, interference and carrier sense treat as any other. The transmission
//! that is its source arrives nowhere; it ends with its last wave, when it is known who has decoded
//! the frame. Without delays there are no waves, and a transmission arrives everywhere at once.
//!
//! A wave reads the frame from its sender, which keeps it as long as it waits for the response:
//! delays are simulated only where they are shorter. One event for all receivers, each with its own
//! times, was given up: carrier sense of nodes between would be wrong.

use super::Space;
use super::frame::Part;
use crate::Command;
use kernel::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Waves that have not yet arrived, and the transmissions of which they are.
#[derive(Debug, Default)]
pub(super) struct Waves {
    /// When each arrives, in the order in which they were sent if they arrive together, and its
    /// number.
    coming: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    sent: u64,
    /// When nodes end to transmit which frames.
    ends: Vec<(Instant, u32)>,
    /// Buffer: the waves of a frame.
    pub(super) of_frame: Vec<(Instant, u32)>,
}

impl Waves {
    /// The frame with this number has begun, which its transmitter ends at this instant. Its waves
    /// are in the buffer.
    fn launch(&mut self, id: u32, end: Instant) {
        self.ends.push((end, id));
        for (at, wave) in self.of_frame.drain(..) {
            self.coming.push(Reverse((at, self.sent, wave)));
            self.sent += 1;
        }
    }

    /// When the next wave arrives.
    pub(super) fn next(&self) -> Option<Instant> {
        self.coming.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes and returns a wave that arrives now.
    fn take(&mut self, now: Instant) -> Option<u32> {
        self.next().filter(|&at| at <= now)?;
        self.coming.pop().map(|Reverse((_, _, wave))| wave)
    }

    /// Removes and returns a frame that its transmitter ends now.
    fn take_ended(&mut self, now: Instant) -> Option<u32> {
        let at = self.ends.iter().position(|(end, _)| *end <= now)?;
        Some(self.ends.remove(at).1)
    }
}

impl Space {
    /// A frame begins, whose waves arrive later.
    #[inline(never)]
    pub(super) fn launch(&mut self, id: u32, out: &mut Vec<Command>) {
        let Some(waves) = &mut self.waves else { return };
        let over = self.signals.spread(id, &mut waves.of_frame);
        waves.launch(id, self.signals.transmission(id).end());
        out.push(Command::Step(over));
    }

    /// Waves arrive at their nodes.
    #[inline(never)]
    pub(super) fn begin_waves(&mut self, now: Instant, out: &mut Vec<Command>) {
        while let Some(wave) = self.waves.as_mut().and_then(|waves| waves.take(now)) {
            self.signals.begin_wave(wave);
            out.push(Command::Step(self.signals.transmission(wave).end()));
            if self.watch.is_some() {
                self.record_arrival(now, wave);
            }
            self.arrive(now, wave, false);
            self.await_color(wave, out);
        }
    }

    /// Nodes end to transmit. What ends an exchange does so only when it has arrived everywhere.
    #[inline(never)]
    pub(super) fn end_sources(&mut self, now: Instant, out: &mut Vec<Command>) {
        while let Some(id) = self.waves.as_mut().and_then(|waves| waves.take_ended(now)) {
            let frame = self.signals.transmission(id).frame;
            self.receivers[frame.from as usize].end_sending();
            if !frame.ends_exchange() {
                self.note_sent(now, id, out);
            }
            self.scratch.touch(frame.from);
        }
    }

    /// Whether the transmitter of a frame has ended its exchange before the frame has arrived, so
    /// that it may send another one meanwhile.
    pub(super) fn is_outdated(&self, id: u32) -> bool {
        let transmission = self.signals.transmission(id);
        let from = &self.nodes[transmission.frame.from as usize];
        transmission.part != Part::Whole && from.exchanges != transmission.exchanges
    }
}
