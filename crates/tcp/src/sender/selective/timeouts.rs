//! The timer of recovery by selective acknowledgements: timeouts, tail loss probes and the
//! reordering window.

use super::{AckInfo, Phase, Selective, tell};
use crate::rack::Rack;
use crate::sender::spurious::FRto;
use crate::sender::tcb::Tcb;
use crate::sender::timer::{Deadlines, Timer};
use crate::sender::window::Congestion;
use crate::{Cause, Command};
use kernel::{Duration, Instant};

impl Selective {
    pub(in crate::sender) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        expired: Timer,
        out: &mut Vec<Command>,
    ) {
        if tcb.snd.is_idle() {
            return;
        }
        match expired {
            Timer::Probe(_) => self.on_probe(tcb, now, out),
            Timer::Reorder(_) => self.on_reorder(tcb, now, out),
            Timer::Off | Timer::Resend(_) | Timer::Persist(_) | Timer::StandBy(_) => {
                self.on_timeout(tcb, now, out);
            }
        }
    }

    /// Sets the timer for the earliest of its purposes.
    pub(super) fn set_timer(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let probe = self.probe_wait(tcb);
        tcb.set_deadline(now, !tcb.snd.is_idle(), &mut self.deadlines, probe, out);
    }

    /// The probe timeout; `None` if no probe is to be sent. RFC 8985 §7.2: the tail is probed
    /// outside recovery and while no hole is known.
    fn probe_wait(&self, tcb: &Tcb) -> Option<Duration> {
        let may_probe = self.settings.rack
            && matches!(self.phase, Phase::Open)
            && self.rack.probe.is_none()
            && self.board.sacked() == 0;
        let srtt = tcb.rtt.srtt().filter(|_| may_probe)?;
        let alone = self.board.segments() == 1;
        let wait = Rack::probe_delay(Some(srtt), alone);
        let more = tcb.config.linux().filter(|_| !alone).map(|linux| linux.least_timeout());
        Some(wait + more.unwrap_or_default())
    }

    /// RFC 8985 §7.3: sends a new segment, or the last segment again.
    fn on_probe(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        tcb.counters.probes += 1;
        let (fresh, start) = (tcb.snd.cut(0, u64::MAX), tcb.snd.max);
        if let Some(span) = fresh {
            self.send_fresh(tcb, now, span, out);
        } else if let Some(number) = self.board.last_missing() {
            self.resend(tcb, now, number, false, out);
        }
        self.rack.probe = Some((tcb.snd.max, tcb.snd.max == start));
        self.deadlines.restart();
        self.set_timer(tcb, now, out);
    }

    /// The reordering window of some segments has expired (RFC 8985 §6.3).
    fn on_reorder(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let lost = self.find_losses(tcb, now, &AckInfo::default());
        if lost > 0 && matches!(self.phase, Phase::Open) {
            let outstanding = tcb.snd.outstanding();
            let info = AckInfo { lost, outstanding, ..AckInfo::default() };
            self.enter_recovery(tcb, now, &info);
            self.follow(tcb, &info);
        }
        self.transmit(tcb, now, out);
    }

    /// RFC 6298 (5.4) to (5.6), RFC 6675 §5.1: everything that has not arrived is considered lost
    /// and retransmitted by slow start.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, out: &mut Vec<Command>) {
        let repeated = tcb.on_expiry();
        self.board.lose_all(&mut tell(&mut self.meter, &mut tcb.cwnd, now, 0, tcb.snd.mss));
        let (lost, flight) = (self.board.lost(), tcb.snd.outstanding());
        tcb.on_loss(&Congestion { now, cause: Cause::Timeout, lost, flight, repeated });
        self.recover = tcb.snd.max;
        if !repeated {
            self.resent.begin();
        }
        // RFC 5682 §3.1, step (1).
        let detects = self.settings.f_rto && matches!(self.phase, Phase::Open);
        self.phase = Phase::Loss(if detects { FRto::First } else { FRto::Off });
        (self.duplicates, self.limited) = (0, 0);
        self.rack.probe = None;
        self.deadlines = Deadlines::default();
        self.transmit(tcb, now, out);
    }
}
