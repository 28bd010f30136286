//! The timer of coded data: timeouts, probes, and detection of late units.

use super::{Coded, Phase};
use crate::rack::Rack;
use crate::sender::tcb::Tcb;
use crate::sender::timer::{Deadlines, Timer};
use crate::sender::window::Congestion;
use crate::{Cause, Command};
use kernel::{Duration, Instant};

impl Coded {
    pub(in crate::sender) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        expired: Timer,
        out: &mut Vec<Command>,
    ) {
        match expired {
            Timer::Probe(_) if !self.deadlines.is_timed_out(now) => self.on_probe(tcb, now, out),
            Timer::Reorder(_) if !self.deadlines.is_timed_out(now) => {
                let flight = self.blocks.in_flight();
                self.find_losses(tcb, now, None, flight);
                self.settle(tcb, now);
            }
            _ => self.on_timeout(tcb, now),
        }
        self.transmit(tcb, now, out);
    }

    pub(super) fn set_timer(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let is_outstanding = !tcb.snd.is_idle() || self.blocks.in_flight() > 0;
        let probe = self.probe_wait(tcb);
        tcb.set_deadline(now, is_outstanding, &mut self.deadlines, probe, out);
    }

    /// The probe timeout; `None` if no probe is to be sent.
    fn probe_wait(&self, tcb: &Tcb) -> Option<Duration> {
        let probes = self.sack.is_some_and(|sack| sack.rack) && self.probe.is_none();
        let may_probe = probes && matches!(self.phase, Phase::Open) && self.blocks.is_waiting();
        let srtt = tcb.rtt.srtt().filter(|_| may_probe)?;
        // The acknowledgement of a single segment may be delayed.
        Some(Rack::probe_delay(Some(srtt), self.blocks.in_flight() <= tcb.snd.mss))
    }

    /// RFC 8985 §7.3: sends another unit of the last block, even beyond the congestion window.
    fn on_probe(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        tcb.counters.probes += 1;
        self.probe = Some(self.blocks.next_unit());
        if let Some(turn) = self.blocks.probe(self.sizing.settings.reactive) {
            self.put_unit(tcb, now, &turn, out);
        }
        self.deadlines.restart();
    }

    /// RFC 6298 (5.4) to (5.6): the retransmission timeout.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant) {
        let flight = self.blocks.in_flight();
        let losses = self.blocks.lose_all();
        self.meter.on_lost(losses.bytes);
        // The timeout of parity that no block needs does not reduce the window.
        if !tcb.snd.is_idle() {
            let repeated = tcb.on_expiry();
            let (cause, lost) = (Cause::Timeout, losses.bytes);
            tcb.cwnd.reduce(&Congestion { now, cause, lost, flight, repeated });
            self.phase = Phase::Loss { expired: self.blocks.next_unit() };
            self.on_reduction(tcb);
        }
        self.settle(tcb, now);
        self.probe = None;
        self.deadlines = Deadlines::default();
    }
}
