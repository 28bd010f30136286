//! The one timer for retransmissions and probes: its purpose, and how the purpose is selected.

use crate::{Command, TimerId};
use kernel::{Duration, Instant};

/// The purpose of the timer, and when it expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Timer {
    #[default]
    Off,
    /// Retransmission (RFC 6298).
    Resend(Instant),
    /// A tail loss probe (RFC 8985 §7).
    Probe(Instant),
    /// The reordering window (RFC 8985 §6.3).
    Reorder(Instant),
    /// A zero-window probe (RFC 9293 §3.8.6.1); or, while the window is open, a segment that silly
    /// window avoidance or the application held back (§3.8.6.2.1).
    Persist(Instant),
    /// A probe of a route that has failed.
    StandBy(Instant),
}

impl Timer {
    /// Sets the timer. Emits no command if it already runs until this time.
    pub(super) fn set(&mut self, wanted: Self, out: &mut Vec<Command>) {
        if let Some(at) = wanted.expiry()
            && self.expiry() != Some(at)
        {
            out.push(Command::Set(TimerId::Retransmit, at));
        }
        *self = wanted;
    }

    /// Stops the timer.
    pub(super) fn cancel(&mut self, out: &mut Vec<Command>) {
        if self.is_running() {
            *self = Self::Off;
            out.push(Command::Cancel(TimerId::Retransmit));
        }
    }

    /// Clears the purpose of the timer without a command. The caller then sets the timer, cancels
    /// it or lets it expire without effect. Returns the cleared timer.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    pub(super) fn is_running(self) -> bool {
        self != Self::Off
    }

    fn expiry(self) -> Option<Instant> {
        match self {
            Self::Off => None,
            Self::Resend(at)
            | Self::Probe(at)
            | Self::Reorder(at)
            | Self::Persist(at)
            | Self::StandBy(at) => Some(at),
        }
    }
}

/// The deadlines of retransmission, probe and reordering window; the timer is set for the earliest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadlines {
    resend: Option<Instant>,
    probe: Option<Instant>,
    /// Set by loss detection by time.
    pub(super) reorder: Option<Instant>,
}

impl Deadlines {
    /// New data was acknowledged, or retransmitted: timeout and probe timeout restart now (RFC 6298
    /// (5.3)).
    pub(super) fn restart(&mut self) {
        (self.resend, self.probe) = (None, None);
    }

    /// The retransmission gets a full timeout.
    pub(super) fn restart_timeout(&mut self) {
        self.resend = None;
    }

    /// New data was sent: the probe timeout restarts now (RFC 8985 §7.2).
    pub(super) fn restart_probe(&mut self) {
        self.probe = None;
    }

    /// Whether the retransmission timeout has passed.
    pub(super) fn is_timed_out(&self, now: Instant) -> bool {
        self.resend.is_some_and(|at| at <= now)
    }

    /// The next purpose of the timer while data is outstanding; `probe` is the probe timeout, if a
    /// tail loss probe may be sent.
    pub(super) fn next(&mut self, now: Instant, rto: Duration, probe: Option<Duration>) -> Timer {
        let resend = self.resend.filter(|&at| at > now).unwrap_or(now + rto);
        self.resend = Some(resend);
        if let Some(at) = self.reorder {
            return Timer::Reorder(at.min(resend));
        }
        let Some(wait) = probe else { return Timer::Resend(resend) };
        let probe = self.probe.filter(|&at| at > now).unwrap_or(now + wait);
        self.probe = Some(probe);
        Timer::Probe(probe.min(resend))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{ms, show};

    const RTO: Duration = Duration(300_000_000);
    const WAIT: Option<Duration> = Some(Duration(200_000_000));

    #[test]
    fn the_world_is_told_only_of_another_time() {
        let (mut timer, mut out) = (Timer::Off, Vec::new());
        timer.set(Timer::Resend(ms(300)), &mut out);
        timer.set(Timer::Probe(ms(300)), &mut out);
        assert_eq!(show(&mut out), "rto@300");
        assert_eq!(timer, Timer::Probe(ms(300)), "but it runs for something else");
        timer.set(Timer::Persist(ms(400)), &mut out);
        timer.cancel(&mut out);
        timer.cancel(&mut out);
        assert_eq!(show(&mut out), "rto@400, rto off", "what does not run is not cancelled");
        timer.set(Timer::Resend(ms(500)), &mut out);
        assert_eq!(timer.take(), Timer::Resend(ms(500)));
        timer.set(Timer::Resend(ms(500)), &mut out);
        assert_eq!(show(&mut out), "rto@500, rto@500");
    }

    #[test]
    fn the_timeout_runs_on_until_new_data_is_acknowledged() {
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.next(ms(0), RTO, None), Timer::Resend(ms(300)));
        assert_eq!(deadlines.next(ms(100), RTO, None), Timer::Resend(ms(300)));
        assert!(!deadlines.is_timed_out(ms(299)) && deadlines.is_timed_out(ms(300)));
        deadlines.restart();
        assert_eq!(deadlines.next(ms(100), RTO, None), Timer::Resend(ms(400)));
        assert_eq!(deadlines.next(ms(400), RTO, None), Timer::Resend(ms(700)), "the last is over");
    }

    #[test]
    fn a_probe_and_a_reordering_window_come_before_the_timeout_and_never_after_it() {
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.next(ms(0), RTO, WAIT), Timer::Probe(ms(200)));
        assert_eq!(deadlines.next(ms(150), RTO, WAIT), Timer::Probe(ms(200)));
        deadlines.restart_probe();
        assert_eq!(deadlines.next(ms(150), RTO, WAIT), Timer::Probe(ms(300)), "not at 350 ms");
        deadlines.reorder = Some(ms(180));
        assert_eq!(deadlines.next(ms(150), RTO, WAIT), Timer::Reorder(ms(180)));
        deadlines.reorder = Some(ms(999));
        assert_eq!(deadlines.next(ms(150), RTO, WAIT), Timer::Reorder(ms(300)));
    }
}
