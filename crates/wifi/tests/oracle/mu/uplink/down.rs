//! What the access point sends to stations that contend beside it.

use super::{Cell, Winner};
use crate::function::Hindrance;
use crate::mu::{BEST_EFFORT, extra};
use kernel::{Duration, Instant};

impl Cell<'_> {
    /// The access point has won the medium, and has packets.
    pub(super) fn serve_in_txop(&mut self, now: Instant) {
        self.freeze(&[Winner { node: 0, category: BEST_EFFORT }]);
        self.exchange_noise();
        let down = self.down.as_mut().expect("it has packets");
        let held = down.hold(now, &mut self.function, &mut self.out);
        self.exchange_noise();
        if self.down.as_ref().is_none_or(|down| !down.has_packets()) {
            self.function.queue.clear();
        }
        self.function.back_off();
        let held = held.expect("the first exchange of a TXOP may outlast it");
        self.hindrance = held.resumes;
        let extra = extra(self.times, &self.mode);
        for station in &mut self.stations {
            let busy_until = held.others.defers(station.node, extra).max(held.at);
            station.hindrance = Hindrance { busy_until, not_before: held.at };
        }
        self.resume(held.at);
    }

    /// The first frame of the access point in a collision, and how long it waits for an answer.
    pub(super) fn data_that_collides(&mut self, now: Instant) -> (Duration, Duration) {
        let limit = self.function.parameters.txop_limit;
        let down = self.down.as_mut().expect("it has packets");
        down.first(now, limit)
    }

    /// Each node has one stream of noise, whether it receives packets or acknowledgements.
    fn exchange_noise(&mut self) {
        let Some(down) = &mut self.down else { return };
        std::mem::swap(&mut self.noise, &mut down.noise);
        for own in &mut down.stations {
            let station = self.stations.iter_mut().find(|station| station.node == own.node);
            std::mem::swap(&mut station.expect("a station").noise, &mut own.noise);
        }
    }
}
